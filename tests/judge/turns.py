"""A response of a provider by the rules of docs/rules.md (P, S): what must come of it.

`judge` gives `{"outcome", "text", "calls", "usage", "reason"}`, or `{"codes"}` where it must be refused with one of those: faults of one
event, and faults that may be told at the reason or at the end, have no order in the rules. The earliest event with a fault decides.
"""
from strict import Refused, canonical, read

ABSENT = object()


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


# What both protocols share.


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


# Chat Completions-style (S-18).


class Chat(Turn):
    def counts(self, faults):
        usage = self.usage
        if usage is None:
            return None
        return [
            canonical(usage),
            count(usage, "prompt_tokens", faults),
            part(usage, "prompt_tokens_details", "cached_tokens", faults),
            None,
            count(usage, "completion_tokens", faults),
            part(usage, "completion_tokens_details", "reasoning_tokens", faults),
        ]

    def event(self, _name, data):
        if data.strip(" \t\r\n") == "":
            return False
        if data.strip(" \t\r\n") == "[DONE]":
            if self.reason is None:
                raise Refused({"FINISH_REASON_MISSING"})
            return True
        self.chunk(read(data), "delta")
        return False

    def body(self, text):
        self.chunk(read(text), "message")
        if self.reason is None:
            raise Refused({"FINISH_REASON_MISSING"})

    def chunk(self, value, inside):
        faults = Faults()
        faults.error(member(value, "error"))
        if not isinstance(value, dict):
            faults.add("MALFORMED_EVENT")
            faults.done()
        kind = member(value, "type")
        if member(value, "object") == "response" or (inside == "delta" and isinstance(kind, str) and kind.startswith("response.")):
            faults.add("RESPONSES_API_UNSUPPORTED")
        faults.text(member(value, "id"))
        faults.text(member(value, "model"))
        usage = member(value, "usage")
        if isinstance(usage, dict):
            self.usage = usage
            self.counts(faults)
        elif not nothing(usage):
            faults.add("MALFORMED_EVENT")
        choices = member(value, "choices")
        if nothing(choices) or choices == []:
            if inside == "message":
                faults.add("MALFORMED_EVENT")
        elif not isinstance(choices, list):
            faults.add("MALFORMED_EVENT")
        elif len(choices) > 1:
            faults.add("CHOICES_UNSUPPORTED")
            for choice in choices:
                faults.error(member(choice, "error"))
        else:
            self.choice(choices[0], inside, faults)
        faults.done()

    def choice(self, choice, inside, faults):
        if not isinstance(choice, dict):
            faults.add("MALFORMED_EVENT")
            return
        faults.error(member(choice, "error"))
        index = member(choice, "index")
        if not nothing(index) and not (whole_number(index) and index == 0):
            faults.add("CHOICES_UNSUPPORTED")
        said = member(choice, inside)
        if isinstance(said, dict):
            self.message(said, inside == "delta", faults)
        elif inside == "message" or not nothing(said):
            faults.add("MALFORMED_EVENT")
        native = faults.text(member(choice, "native_finish_reason"))
        self.truncated |= native in ("length", "max_tokens", "max_output_tokens", "MAX_TOKENS")
        reason = faults.text(member(choice, "finish_reason"), "FINISH_REASON_UNKNOWN")
        if reason == "error":
            faults.provider.add("PROVIDER_ERROR")
        elif reason and self.reason not in (None, reason):
            faults.add("FINISH_REASON_CONFLICT")
        elif reason:
            self.reason = reason

    def message(self, said, streamed, faults):
        # After the reason only what is empty may come.
        late = streamed and self.reason is not None
        news = []
        role = member(said, "role")
        if not nothing(role) and role not in ("", "assistant"):
            faults.add("ROLE_INVALID")
        if not nothing(member(said, "function_call")):
            faults.add("LEGACY_FUNCTION_CALL")
        refusal = faults.text(member(said, "refusal"))
        if refusal:
            self.refusal = True
            news.append(refusal)
        for name in ("reasoning", "reasoning_content"):
            news.append(faults.text(member(said, name)))
        details = member(said, "reasoning_details")
        if isinstance(details, list):
            news.append(details)
            for detail in details:
                self.detail(detail, faults)
        elif not nothing(details):
            faults.add("MALFORMED_EVENT")
        content = member(said, "content")
        if isinstance(content, list):
            for one in content:
                news.append(self.content_part(one, faults))
        else:
            text = faults.text(content)
            news.append(text)
            self.texts.append(text or "")
        calls = member(said, "tool_calls")
        if isinstance(calls, list):
            news.append(calls)
            for fragment in calls:
                self.fragment(fragment, streamed, faults)
        elif not nothing(calls):
            faults.add("MALFORMED_EVENT")
        if late and any(news):
            # What comes late may be complained about for that alone.
            faults.add("STREAM_ORDER")

    def detail(self, detail, faults):
        if not isinstance(detail, dict):
            faults.add("MALFORMED_EVENT")
            return
        for name in ("type", "text", "summary", "data", "signature"):
            faults.text(member(detail, name))
        index = member(detail, "index")
        if not nothing(index) and not (whole_number(index) and index >= 0):
            faults.add("MALFORMED_EVENT")

    def content_part(self, one, faults):
        kind = member(one, "type")
        if not isinstance(kind, str):
            faults.add("MALFORMED_EVENT")
            return None
        if kind != "text":
            return one
        text = member(one, "text")
        if not isinstance(text, str):
            faults.add("MALFORMED_EVENT")
            return None
        self.texts.append(text)
        return text

    def fragment(self, given, streamed, faults):
        if not isinstance(given, dict):
            faults.add("MALFORMED_EVENT")
            return
        own = Faults()
        index = member(given, "index")
        index = None if nothing(index) else index
        if index is not None and not (whole_number(index) and 0 <= index <= 1023):
            own.add("CALL_INDEX_INVALID")
        kind = member(given, "type")
        if not nothing(kind) and kind not in ("", "function"):
            own.add("CALL_TYPE_UNSUPPORTED")
        identity = own.text(member(given, "id"), "CALL_ID_MISSING") or None
        function = member(given, "function")
        if not nothing(function) and not isinstance(function, dict):
            own.add("MALFORMED_EVENT")
        name = own.text(member(function, "name"), "CALL_NAME_MISSING") or None
        text = own.text(member(function, "arguments"), "TOOL_ARGUMENTS_INVALID") or ""
        faults.codes |= own.codes
        if own.codes:
            return
        call = self.owner(index, identity, name, streamed, faults)
        if call is None:
            return
        if identity is not None and call["id"] not in (None, identity):
            faults.add("CALL_ID_CONFLICT")
        if name is not None and call["name"] not in (None, name):
            faults.add("CALLS_MISMATCH")
        call["id"], call["name"] = call["id"] or identity, call["name"] or name
        call["arguments"] += text

    def owner(self, index, identity, name, streamed, faults):
        def new():
            self.calls.append({"index": index, "id": None, "name": None, "arguments": ""})
            return self.calls[-1]

        if not streamed or index is not None:
            known = [call["index"] for call in self.calls if call["index"] is not None]
            if streamed and index in known:
                return next(call for call in self.calls if call["index"] == index)
            if index is not None and any(other >= index for other in known):
                faults.add("CALL_INDEX_INVALID")
                return None
            return new()
        # "A whole call without index is its own call; a fragment whose owner is ambiguous rejects."
        if not self.calls or (identity is not None and name is not None):
            return new()
        named = [call for call in self.calls if identity is not None and call["id"] == identity]
        if named:
            return named[0]
        if len(self.calls) == 1 and (identity is None or self.calls[0]["id"] is None):
            return self.calls[0]
        faults.add("CALL_INDEX_INVALID")
        if len(self.calls) == 1:
            faults.add("CALL_ID_CONFLICT")
        return None

    def seal(self):
        known = ("tool_calls", "stop", "length", "content_filter")
        if self.reason == "function_call":
            raise Refused({"LEGACY_FUNCTION_CALL"})
        if self.reason not in known:
            raise Refused({"FINISH_REASON_UNKNOWN"})
        if self.refusal or self.reason == "content_filter":
            return self.said("refused", [])
        if self.reason == "length" or (self.reason == "tool_calls" and self.truncated):
            return self.said("incomplete", [])
        if (self.reason == "tool_calls") != bool(self.calls):
            raise Refused({"FINISH_REASON_MISMATCH"})
        return self.said("tool_request", self.inputs()) if self.calls else self.said("reply", [])


# Messages-style (S-19).


class Messages(Turn):
    def __init__(self):
        super().__init__()
        self.started, self.blocks = False, []

    def counts(self, faults, usage=None):
        usage = usage or self.usage
        if usage is None:
            return None
        cached = count(usage, "cache_read_input_tokens", faults)
        written = count(usage, "cache_creation_input_tokens", faults)
        fresh = count(usage, "input_tokens", faults)
        total = None if fresh is None else fresh + (cached or 0) + (written or 0)
        return [canonical(usage), total, cached, written, count(usage, "output_tokens", faults), None]

    def add_usage(self, given, faults):
        if isinstance(given, dict):
            self.counts(faults, given)
            # "Whose usage is a running total": a later count takes the place of an earlier one; null reports none.
            self.usage = (self.usage or {}) | {name: value for name, value in given.items() if value is not None}
        elif not nothing(given):
            faults.add("MALFORMED_EVENT")

    def body(self, text):
        value, faults = read(text), Faults()
        faults.error(member(value, "error"))
        if not isinstance(value, dict):
            faults.add("MALFORMED_EVENT")
            faults.done()
        if member(value, "type") == "error" and not faults.provider:
            faults.error(True)
        if member(value, "object") == "response":
            faults.add("RESPONSES_API_UNSUPPORTED")
        self.opening(value, faults)
        content = member(value, "content")
        if isinstance(content, list):
            for block in content:
                self.block(block, True, faults)
        else:
            faults.add("MALFORMED_EVENT")
        usage = member(value, "usage")
        if isinstance(usage, dict):
            self.usage = usage
            self.counts(faults)
        elif not nothing(usage):
            faults.add("MALFORMED_EVENT")
        self.reason = faults.text(member(value, "stop_reason"), "FINISH_REASON_UNKNOWN")
        if self.reason is None and not faults.codes:
            faults.add("FINISH_REASON_MISSING")
        faults.done()

    def opening(self, message, faults):
        role = member(message, "role")
        if role is not ABSENT and role != "assistant":
            faults.add("ROLE_INVALID")
            if not isinstance(role, str):
                faults.add("MALFORMED_EVENT")
        faults.text(member(message, "id"))
        faults.text(member(message, "model"))

    def event(self, name, data):
        if data.strip(" \t\r\n") == "":
            return False
        value, faults = read(data), Faults()
        faults.error(member(value, "error"))
        kind = member(value, "type")
        if not isinstance(kind, str):
            faults.add("MALFORMED_EVENT")
            faults.done()
        if kind == "error" and not faults.provider:
            faults.error(True)
        if kind.startswith("response."):
            faults.add("RESPONSES_API_UNSUPPORTED")
        if name not in ("", kind):
            faults.add("MALFORMED_EVENT")
        known = {
            "message_start": self.start,
            "content_block_start": self.block_start,
            "content_block_delta": self.block_delta,
            "content_block_stop": self.block_stop,
            "message_delta": self.message_delta,
            "message_stop": self.message_stop,
        }
        if kind in known:
            known[kind](value, faults)
        faults.done()
        return kind == "message_stop"

    def start(self, value, faults):
        if self.started:
            faults.add("STREAM_ORDER")
        self.started = True
        message = member(value, "message")
        if not isinstance(message, dict):
            faults.add("MALFORMED_EVENT")
            return
        self.opening(message, faults)
        content = member(message, "content")
        if isinstance(content, list):
            if content:
                faults.add("PROGRAMMATIC_CALL_UNSUPPORTED")
        elif not nothing(content):
            faults.add("MALFORMED_EVENT")
        self.add_usage(member(message, "usage"), faults)

    def index(self, value, faults):
        """Where a block event belongs; it needs a start before it and no reason."""
        if not self.started or self.reason is not None:
            faults.add("STREAM_ORDER")
        index = member(value, "index")
        if not whole_number(index) or index < 0:
            faults.add("CALL_INDEX_INVALID")
            return None
        return index

    def block_start(self, value, faults):
        index = self.index(value, faults)
        if index is not None and index != len(self.blocks):
            faults.add("STREAM_ORDER")
        self.block(member(value, "content_block"), False, faults)

    def block(self, block, in_body, faults):
        kind = member(block, "type")
        made = {"kind": kind, "open": True}
        self.blocks.append(made)
        if not isinstance(kind, str):
            faults.add("MALFORMED_EVENT")
        elif kind == "text":
            text = member(block, "text")
            if not isinstance(text, str):
                faults.add("MALFORMED_EVENT")
                text = ""
            made["text"] = len(self.texts)
            self.texts.append(text)
        elif kind == "tool_use":
            self.tool_use(block, in_body, made, faults)
        elif kind == "thinking":
            for name in ("thinking", "signature"):
                if member(block, name) is None:
                    faults.add("MALFORMED_EVENT")
                faults.text(member(block, name))
        elif kind == "redacted_thinking":
            if not isinstance(member(block, "data"), str):
                faults.add("MALFORMED_EVENT")
        elif kind in ("server_tool_use", "mcp_tool_use") or kind.endswith("tool_result"):
            faults.add("SERVER_TOOL_UNSUPPORTED")
        else:
            faults.add("BLOCK_UNKNOWN")

    def tool_use(self, block, in_body, made, faults):
        caller = member(block, "caller")
        if not nothing(caller) and caller != "direct" and member(caller, "type") != "direct":
            faults.add("PROGRAMMATIC_CALL_UNSUPPORTED")
        call = {"arguments": "", "input": None}
        call["id"] = faults.text(member(block, "id"), "CALL_ID_MISSING")
        call["name"] = faults.text(member(block, "name"), "CALL_NAME_MISSING")
        given = member(block, "input")
        if isinstance(given, dict):
            call["input"] = given if given or in_body else None
        elif given is not ABSENT:
            faults.add("TOOL_ARGUMENTS_NOT_OBJECT")
        elif in_body:
            faults.add("TOOL_ARGUMENTS_INVALID")
        made["call"] = call
        self.calls.append(call)

    def opened(self, value, faults):
        index = self.index(value, faults)
        if index is None:
            return None
        if index >= len(self.blocks) or not self.blocks[index]["open"]:
            faults.add("BLOCK_UNOPENED")
            return None
        return self.blocks[index]

    def block_delta(self, value, faults):
        block = self.opened(value, faults)
        delta = member(value, "delta")
        kind = member(delta, "type")
        if not isinstance(kind, str):
            faults.add("MALFORMED_EVENT")
            return
        fits = {
            "text_delta": "text", "citations_delta": "text", "input_json_delta": "tool_use",
            "thinking_delta": "thinking", "signature_delta": "thinking",
        }
        if kind not in fits or (block is not None and block["kind"] != fits[kind]):
            faults.add("DELTA_TYPE_MISMATCH")
            return
        names = {"text_delta": "text", "input_json_delta": "partial_json", "thinking_delta": "thinking", "signature_delta": "signature"}
        if kind not in names:
            return
        text = member(delta, names[kind])
        if not isinstance(text, str):
            faults.add("TOOL_ARGUMENTS_INVALID" if kind == "input_json_delta" and text is not ABSENT else "MALFORMED_EVENT")
        elif kind == "text_delta" and block is not None:
            self.texts[block["text"]] += text
        elif kind == "input_json_delta" and block is not None and text:
            if block["call"]["input"] is not None:
                faults.add("CALLS_MISMATCH")
            block["call"]["arguments"] += text

    def block_stop(self, value, faults):
        block = self.opened(value, faults)
        if block is not None:
            block["open"] = False

    def message_delta(self, value, faults):
        if not self.started:
            faults.add("STREAM_ORDER")
        delta = member(value, "delta")
        if not isinstance(delta, dict):
            faults.add("MALFORMED_EVENT")
        reason = faults.text(member(delta, "stop_reason"), "FINISH_REASON_UNKNOWN")
        if reason is not None and self.reason not in (None, reason):
            faults.add("FINISH_REASON_CONFLICT")
        elif reason is not None:
            self.reason = reason
        self.add_usage(member(value, "usage"), faults)

    def message_stop(self, _value, faults):
        if not self.started:
            faults.add("STREAM_ORDER")
        if any(block["open"] for block in self.blocks):
            faults.add("BLOCK_UNCLOSED")
        if self.reason is None:
            faults.add("FINISH_REASON_MISSING")

    def seal(self):
        if self.reason in ("end_turn", "stop_sequence", "tool_use"):
            if (self.reason == "tool_use") != bool(self.calls):
                raise Refused({"FINISH_REASON_MISMATCH"})
            return self.said("tool_request", self.inputs()) if self.calls else self.said("reply", [])
        if self.reason in ("max_tokens", "model_context_window_exceeded", "pause_turn"):
            return self.said("incomplete", [])
        if self.reason == "refusal":
            return self.said("refused", [])
        raise Refused({"FINISH_REASON_UNKNOWN"})
