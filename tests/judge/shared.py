"""What the two protocols share: members, faults of one event, counts, calls."""
from strict import Refused, canonical, read

ABSENT = object()


class Faults:
    """All faults of one event."""

    def __init__(self):
        self.codes, self.provider = set(), set()

    def add(self, code):
        self.codes.add(code)

    def text(self, value, code="MALFORMED_EVENT"):
        """A member that is a text, or absent or null."""
        if value is not ABSENT and value is not None and not isinstance(value, str):
            self.add(code)
            return None
        return value if isinstance(value, str) else None

    def error(self, value):
        """An `error` member that is one (S-18), by its family (S-24)."""
        if value is ABSENT or value is None or value is False or value == "":
            return
        words = [value.get(name) for name in ("type", "code", "status", "status_code")] if isinstance(value, dict) else []
        families = set()
        for word in words:
            word = str(word) if not isinstance(word, bool) else ""
            if word in ("authentication_error", "permission_error", "401", "403"):
                families.add("PROVIDER_AUTH")
            elif word in ("rate_limit_error", "429"):
                families.add("PROVIDER_RATE_LIMITED")
            elif word in ("overloaded_error", "529"):
                families.add("PROVIDER_OVERLOADED")
        self.provider |= families or {"PROVIDER_ERROR"}

    def done(self):
        # "Precedence: limits, then provider error, then P-12, then this table": the table is that of the reasons.
        if self.provider:
            raise Refused(self.provider)
        if self.codes & {"SERVER_TOOL_UNSUPPORTED", "PROGRAMMATIC_CALL_UNSUPPORTED"}:
            self.codes = {code for code in self.codes if not code.startswith("FINISH_REASON_")}
        if self.codes:
            raise Refused(self.codes)


def member(value, name):
    return value.get(name, ABSENT) if isinstance(value, dict) else ABSENT


def nothing(value):
    return value is ABSENT or value is None


def whole_number(value):
    return isinstance(value, int) and not isinstance(value, bool)


def count(usage, name, faults):
    value = usage.get(name)
    if value is None:
        return None
    if not whole_number(value) or value < 0:
        faults.add("MALFORMED_EVENT")
        return None
    return value


def part(usage, outer, name, faults):
    inner = usage.get(outer)
    if inner is None:
        return None
    if not isinstance(inner, dict):
        faults.add("MALFORMED_EVENT")
        return None
    return count(inner, name, faults)


class Turn:
    def __init__(self):
        self.texts, self.calls, self.reason, self.usage = [], [], None, None
        self.refusal = self.truncated = False

    def late_faults(self):
        """What sealing would find, where a reason is already there."""
        if self.reason is None:
            return set()
        try:
            self.seal()
            return set()
        except Refused as refused:
            return refused.codes

    def inputs(self):
        """Ids, names and inputs of a turn that may run (P-02, P-03, P-16)."""
        codes, calls, ids = set(), [], set()
        for call in self.calls:
            if not call["id"]:
                codes.add("CALL_ID_MISSING")
            elif call["id"] in ids:
                codes.add("CALL_ID_DUPLICATE")
            ids.add(call["id"])
            if not call["name"]:
                codes.add("CALL_NAME_MISSING")
            try:
                calls.append([call["id"], call["name"], canonical(arguments(call))])
            except Refused as refused:
                codes |= refused.codes
        if codes:
            raise Refused(codes)
        return calls

    def said(self, outcome, calls):
        return {"outcome": outcome, "text": "".join(self.texts), "calls": calls, "usage": self.counts(Faults()), "reason": self.reason}


def arguments(call):
    if call.get("input") is not None:
        return call["input"]
    if call["arguments"] == "":
        return {}
    try:
        value = read(call["arguments"])
    except Refused as refused:
        raise Refused({"TOOL_ARGUMENTS_INVALID" if code == "JSON_INVALID" else code for code in refused.codes}) from None
    if not isinstance(value, dict):
        raise Refused({"TOOL_ARGUMENTS_NOT_OBJECT"})
    return value
