"""JSON by the rules N-01 and N-02, as simply as Python lets us: `json` reads, `rfc8785` writes.

`read` gives a value or raises Refused with every reason that it sees; which of several is told first, the rules leave open.
"""
import hashlib
import json
import re

import rfc8785

DEPTH = 64
SAFE = 2**53 - 1


class Refused(Exception):
    def __init__(self, codes):
        super().__init__(codes)
        self.codes = set(codes)


class Exact(int):
    """An integer that keeps its digits, although a double would not."""


def read(text, depth=DEPTH):
    faults = set()

    def pairs(members):
        names = [name for name, _ in members]
        if len(set(names)) != len(names):
            faults.add("JSON_DUPLICATE_KEY")
        return dict(members)

    def integer(literal):
        number = int(literal)
        if -(2**63) <= number < 2**64:
            return Exact(number) if abs(number) > SAFE else number
        double = real(literal)
        if "JSON_NUMBER_RANGE" not in faults and rfc8785.dumps(double).decode() != literal:
            faults.add("JSON_NUMBER_RANGE")
        return double

    def real(literal):
        number = float(literal)
        if number in (float("inf"), float("-inf")):
            faults.add("JSON_NUMBER_RANGE")
            return 0.0
        return number

    def constant(_):
        raise Refused(["JSON_INVALID"])

    # Python's own reader strips a byte order mark nowhere and takes the same four kinds of white space as RFC 8259.
    try:
        value = json.loads(text, object_pairs_hook=pairs, parse_int=integer, parse_float=real, parse_constant=constant)
    except Refused as refused:
        raise Refused(refused.codes | faults) from None
    except ValueError:
        # What was seen before the grammar broke may be told instead.
        raise Refused({"JSON_INVALID"} | faults | unfinished(text, depth)) from None
    except RecursionError:
        raise Refused(["JSON_TOO_DEEP"]) from None
    look(value, depth, faults)
    # Half of a pair in a key that stands twice is in `value` only once, so the text is looked at too.
    if any(lone(string) for string in strings(text)):
        faults.add("JSON_INVALID")
    if faults:
        raise Refused(faults)
    return value


def look(value, depth, faults):
    """How deep containers stand."""
    if isinstance(value, (dict, list)):
        if depth == 0:
            faults.add("JSON_TOO_DEEP")
            return
        for inner in value.values() if isinstance(value, dict) else value:
            look(inner, depth - 1, faults)


def unfinished(text, depth):
    """What containers that never end already show: a key that stands twice, too many levels."""
    faults, names = set(), []
    for token in re.finditer(r'"(?:[^"\\]|\\.)*"|[{}\[\]]', text, re.DOTALL):
        if token[0] in "{[":
            names.append(set() if token[0] == "{" else None)
        elif token[0] in "}]":
            names = names[:-1]
        elif names and names[-1] is not None and text[: token.start()].rstrip()[-1:] in ("{", ","):
            try:
                name = json.loads(token[0], strict=False)
            except ValueError:
                break
            if name in names[-1]:
                faults.add("JSON_DUPLICATE_KEY")
            names[-1].add(name)
        if len(names) > depth:
            faults.add("JSON_TOO_DEEP")
    return faults


def strings(text):
    for literal in re.findall(r'"(?:[^"\\]|\\.)*"', text, re.DOTALL):
        yield json.loads(literal)


def lone(string):
    return any("\ud800" <= character <= "\udfff" for character in string)


def canonical(value):
    """RFC 8785; long integers stand as a string of their digits while rfc8785 works, since it refuses them."""
    digits = {}

    def plain(value):
        if isinstance(value, Exact):
            mark = f"\ue000exact {int(value)}\ue000"
            digits[mark] = str(int(value))
            return mark
        if isinstance(value, dict):
            return {name: plain(inner) for name, inner in value.items()}
        if isinstance(value, list):
            return [plain(inner) for inner in value]
        return value

    text = rfc8785.dumps(plain(value)).decode()
    for mark, written in digits.items():
        text = text.replace(f'"{mark}"', written)
    return text


def answer(text):
    """What must come of a text: its canonical form and digest, or the codes of which one is told."""
    try:
        form = canonical(read(text))
    except Refused as refused:
        return {"codes": sorted(refused.codes)}
    return {"canonical": form, "digest": "sha256:" + hashlib.sha256(form.encode()).hexdigest()}
