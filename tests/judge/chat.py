"""Chat Completions-style responses (S-18)."""
from shared import Faults, Turn, count, member, nothing, part, whole_number
from strict import Refused, canonical, read


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
