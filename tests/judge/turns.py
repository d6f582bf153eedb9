"""A response of a provider by the rules of docs/rules.md (P, S): what must come of it.

`judge` gives `{"outcome", "text", "calls", "usage", "reason"}`, or `{"codes"}` where it must be refused with one of those: faults of one
event, and faults that may be told at the reason or at the end, have no order in the rules. The earliest event with a fault decides.
"""
from chat import Chat
from messages import Messages
from strict import Refused


def judge(protocol, stream, body):
    kind = {"chat": Chat, "messages": Messages}[protocol]
    try:
        turn = kind()
        if stream:
            follow(turn, body)
        else:
            turn.body(whole(body))
        return turn.seal()
    except Refused as refused:
        return {"codes": sorted(refused.codes)}


def whole(body):
    try:
        return body.decode()
    except UnicodeDecodeError as error:
        # A body cut inside of a character is bad UTF-8 and bad JSON.
        codes = {"UTF8_INVALID"} | ({"JSON_INVALID"} if error.end == len(body) else set())
        raise Refused(codes) from None


# The stream: framing of the WHATWG (S-22), the terminal marker and what may follow (S-10), the end (S-20).


def follow(turn, body):
    text, broken, cut = characters(body)
    events, _ = frames(text)
    for name, data, end in events:
        # Once there is a reason, what sealing would find may be told first.
        try:
            done = turn.event(name, data)
        except Refused as refused:
            raise Refused(refused.codes | turn.late_faults()) from None
        if done:
            if text[end:] or broken or cut:
                raise Refused({"POST_TERMINAL_DATA"} | turn.late_faults())
            return
    codes = {"UTF8_INVALID"} if broken else {"STREAM_TRUNCATED", "UTF8_INVALID"} if cut else {"STREAM_TRUNCATED"}
    raise Refused(codes | turn.late_faults())


def characters(body):
    """The text up to the first byte that is no UTF-8; whether there is one; whether the end cuts a character."""
    try:
        return body.decode(), False, False
    except UnicodeDecodeError as error:
        cut = error.reason == "unexpected end of data"
        return body[: error.start].decode(), not cut, cut


def frames(text):
    """Events as (name, data, where the event ends)."""
    at = 1 if text.startswith("\ufeff") else 0
    name, data, found = "", [], []
    while True:
        ends = [place for place in (text.find("\n", at), text.find("\r", at)) if place >= 0]
        if not ends:
            return found, at
        end = min(ends)
        line, at = text[at:end], end + 1
        if text[end] == "\r" and text[at : at + 1] == "\n":
            at += 1
        if line == "":
            if data:
                found.append((name, "\n".join(data), at))
            name, data = "", []
            continue
        field, _, value = line.partition(":")
        value = value[1:] if value.startswith(" ") else value
        if field == "data":
            data.append(value)
        elif field == "event":
            name = value
