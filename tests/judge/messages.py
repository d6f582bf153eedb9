"""Messages-style responses (S-19)."""
from shared import ABSENT, Faults, Turn, count, member, nothing, whole_number
from strict import Refused, canonical, read


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
