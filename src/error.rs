//! The one code registry: every refusal has a code to branch on, a finer reason, a rule, a blame and a remedy.
//!
//! Knows nothing of where it is raised. Messages never hold payload, key or header bytes (B5): what is untrusted stays out, or is bounded
//! and stands in `details` under a name that says so.

use crate::json::{Value, canonical, quote};
use std::fmt;

/// Who must act.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Blame {
    /// The provider broke the protocol or failed.
    Provider,
    /// The program that uses us made a mistake.
    Caller,
    /// A gate, limit, budget or class said no.
    Policy,
    /// The host's storage failed or is held by someone else.
    Store,
    /// Our own bug.
    Internal,
}

impl Blame {
    /// The word in records.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Blame::Provider => "provider",
            Blame::Caller => "caller",
            Blame::Policy => "policy",
            Blame::Store => "store",
            Blame::Internal => "internal",
        }
    }
}

macro_rules! registry {
    ($($variant:ident $reason:literal $code:literal $rule:literal $blame:ident $retriable:literal $what:literal, $remedy:literal;)*) => {
        /// The finest word for what went wrong. `code` groups reasons that a program treats alike.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum Reason { $(#[doc = $what] $variant,)* }

        impl Reason {
            /// Every reason, in the order of the registry.
            pub const ALL: &'static [Reason] = &[$(Reason::$variant,)*];

            fn row(self) -> Row {
                match self {
                    $(Reason::$variant => Row {
                        reason: $reason, code: $code, rule: $rule, blame: Blame::$blame, retriable: $retriable, what: $what, remedy: $remedy,
                    },)*
                }
            }
        }
    };
}

struct Row {
    reason: &'static str,
    code: &'static str,
    rule: &'static str,
    blame: Blame,
    retriable: bool,
    what: &'static str,
    remedy: &'static str,
}

registry! {
    BlockAfterStopReason "block_after_stop_reason" "STREAM_ORDER" "S-19" Provider false "a block event came after the stop reason", "The turn is dropped; report the stream to the provider.";
    BlockIndexGap "block_index_gap" "STREAM_ORDER" "S-19" Provider false "a block index skips one", "Blocks must be numbered from 0 without a gap.";
    BlockIndexReused "block_index_reused" "STREAM_ORDER" "S-19" Provider false "a block index is opened twice", "Each block index is opened once.";
    CallIdReused "call_id_reused" "CALL_ID_REUSED" "R-04" Provider true "a call id of an earlier turn is used again", "Call ids must be unique over the run.";
    CallsNotRunnable "calls_not_runnable" "FINISH_REASON_MISMATCH" "P-20" Provider false "a cut or refused turn holds calls", "Raise the output limit, then start the run again: such calls are never run.";
    ChoicesMissing "choices_missing" "MALFORMED_EVENT" "S-18" Provider false "the body has no choice", "A Chat body has exactly one choice.";
    ChunkNotObject "chunk_not_object" "MALFORMED_EVENT" "S-18" Provider false "the payload is JSON but not an object", "Check that the URL answers this protocol.";
    ClientsDiffer "clients_differ" "AMBIGUOUS_EVENT" "S-25" Provider false "clients read this differently, so a guard cannot vouch for it", "Report the stream to the provider; the loop (createFetchRuntime) reads it strictly.";
    ContentBlockUnknown "content_block_unknown" "BLOCK_UNKNOWN" "S-19" Provider false "a content block has a type that is not known", "Do not ask for beta features that add block types.";
    ContentInMessageStart "content_in_message_start" "PROGRAMMATIC_CALL_UNSUPPORTED" "P-12" Provider false "message_start already holds content", "Only client-owned calls are supported.";
    DeltaAfterFinish "delta_after_finish" "STREAM_ORDER" "S-18" Provider false "content came after the finish reason", "The turn is dropped; report the stream to the provider.";
    DeltaForUnopenedBlock "delta_for_unopened_block" "BLOCK_UNOPENED" "S-19" Provider false "a delta names a block that is not open", "The turn is dropped; report the stream to the provider.";
    DeltaTypeMismatch "delta_type_mismatch" "DELTA_TYPE_MISMATCH" "S-19" Provider false "a delta does not fit the type of its block", "The turn is dropped; report the stream to the provider.";
    DeltaTypeUnknown "delta_type_unknown" "DELTA_TYPE_MISMATCH" "S-19" Provider false "a delta has a type that is not known", "Do not ask for beta features that add delta types.";
    DoneBeforeFinish "done_before_finish" "FINISH_REASON_MISSING" "S-14" Provider false "[DONE] came before a finish reason", "The turn is dropped: without a reason it may be cut.";
    DuplicateKey "duplicate_key" "JSON_DUPLICATE_KEY" "S-21" Provider false "an object names a member twice", "Report it to the provider; nothing is guessed.";
    DuplicateMessageStart "duplicate_message_start" "STREAM_ORDER" "S-19" Provider false "a second message_start came in one response", "A retry was spliced into the stream; start the run again.";
    EofWithoutDone "eof_without_done" "STREAM_TRUNCATED" "S-20" Provider false "the stream ended after the finish reason without [DONE]", "Start the run again, or choose the quirk profile of this server.";
    EofWithoutFinish "eof_without_finish" "STREAM_TRUNCATED" "S-20" Provider false "the stream ended before a finish reason", "Start the run again: the turn is cut.";
    EofWithoutMessageStop "eof_without_message_stop" "STREAM_TRUNCATED" "S-20" Provider false "the stream ended without message_stop", "Start the run again: the turn is cut.";
    EventBeforeMessageStart "event_before_message_start" "STREAM_ORDER" "S-19" Provider false "an event came before message_start", "Check that the URL answers this protocol.";
    EventTypeMismatch "event_type_mismatch" "MALFORMED_EVENT" "S-19" Provider false "the event field and the type member differ", "Report the stream to the provider.";
    FinishReasonConflict "finish_reason_conflict" "FINISH_REASON_CONFLICT" "S-18" Provider false "two different finish reasons came", "The turn is dropped: neither can be trusted.";
    FinishReasonMissing "finish_reason_missing" "FINISH_REASON_MISSING" "P-19" Provider false "the body has no finish reason", "Without a reason it may be cut.";
    FinishReasonUnknown "finish_reason_unknown" "FINISH_REASON_UNKNOWN" "P-19" Provider false "the finish reason is not known", "Only known reasons make a turn usable.";
    FinishToolCallsWithoutCalls "finish_tool_calls_without_calls" "FINISH_REASON_MISMATCH" "P-18" Provider false "the reason is tool_calls but no call came", "Start the run again.";
    InvalidJson "invalid_json" "JSON_INVALID" "N-01" Provider false "a payload is not JSON", "Check that the URL answers this protocol.";
    InvalidUtf8 "invalid_utf8" "UTF8_INVALID" "S-21" Provider false "bytes are not UTF-8", "Nothing is replaced; report it to the provider.";
    JsonNumberRange "json_number_range" "JSON_NUMBER_RANGE" "N-01" Provider false "a number cannot be kept exactly", "Send long numbers as strings.";
    JsonTooDeep "json_too_deep" "JSON_TOO_DEEP" "N-01" Provider false "JSON is nested too deep", "The limit is max_json_depth.";
    LegacyFunctionCall "legacy_function_call" "LEGACY_FUNCTION_CALL" "P-04" Provider false "the old function_call form was used", "Use a server that answers with tool_calls.";
    LimitContentBlocks "limit_content_blocks" "LIMIT_CONTENT_BLOCKS" "S-05" Provider false "too many content blocks", "Raise max_content_blocks if this is expected.";
    LimitEventBytes "limit_event_bytes" "LIMIT_EVENT_BYTES" "S-03" Provider false "one unfinished event is too large", "Raise max_event_bytes if this is expected.";
    LimitEvents "limit_events" "LIMIT_EVENTS" "S-03" Provider false "too many events", "Raise max_events if this is expected.";
    LimitResponseBytes "limit_response_bytes" "LIMIT_RESPONSE_BYTES" "S-01" Provider false "the body is too large", "Raise max_response_bytes if this is expected.";
    LimitSnapshots "limit_snapshots" "LIMIT_SNAPSHOTS" "S-04" Provider false "too many snapshots", "Raise max_snapshots if this is expected.";
    LimitStreamBytes "limit_stream_bytes" "LIMIT_STREAM_BYTES" "S-02" Provider false "the stream is too large", "Raise max_stream_bytes if this is expected.";
    LimitToolArgumentBytes "limit_tool_argument_bytes" "LIMIT_TOOL_ARGUMENT_BYTES" "S-07" Provider false "too many bytes of tool arguments", "Raise max_tool_argument_bytes if this is expected.";
    LimitToolCalls "limit_tool_calls" "LIMIT_TOOL_CALLS" "S-06" Provider false "too many tool calls in one turn", "Raise max_tool_calls if this is expected.";
    MemberInvalid "member_invalid" "MALFORMED_EVENT" "S-18" Provider false "a known member is absent or has the wrong JSON type", "Check that the URL answers this protocol.";
    MessageStopWithOpenBlocks "message_stop_with_open_blocks" "BLOCK_UNCLOSED" "S-15" Provider false "message_stop came while a block was open", "The turn is dropped: the block may be cut.";
    MessageStopWithoutStopReason "message_stop_without_stop_reason" "FINISH_REASON_MISSING" "S-15" Provider false "message_stop came before a stop reason", "Without a reason it may be cut.";
    NotAnEventStream "not_an_event_stream" "NOT_AN_EVENT_STREAM" "S-24" Provider false "a stream was asked for and something else came", "Check the URL, or set stream: false.";
    PostTerminalData "post_terminal_data" "POST_TERMINAL_DATA" "S-10" Provider false "bytes came after the terminal marker", "The turn is dropped: what follows the end cannot be trusted.";
    ProgrammaticToolCall "programmatic_tool_call" "PROGRAMMATIC_CALL_UNSUPPORTED" "P-12" Provider false "a call was made by provider-side code", "Only client-owned calls are supported.";
    ResponsesApiShape "responses_api_shape" "RESPONSES_API_UNSUPPORTED" "P-11" Provider false "this is the Responses API", "Use /chat/completions or /messages.";
    RoleInvalid "role_invalid" "ROLE_INVALID" "S-18" Provider false "the answer's role is not assistant", "Check that the URL answers this protocol.";
    ServerToolUnsupported "server_tool_unsupported" "SERVER_TOOL_UNSUPPORTED" "P-12" Provider false "a provider-owned tool was used", "Do not enable server tools.";
    StopForUnopenedBlock "stop_for_unopened_block" "BLOCK_UNOPENED" "S-19" Provider false "a stop names a block that is not open", "The turn is dropped; report the stream to the provider.";
    StopReasonConflict "stop_reason_conflict" "FINISH_REASON_CONFLICT" "S-19" Provider false "two different stop reasons came", "The turn is dropped: neither can be trusted.";
    StopReasonMissing "stop_reason_missing" "FINISH_REASON_MISSING" "P-19" Provider false "the body has no stop reason", "Without a reason it may be cut.";
    StopReasonUnknown "stop_reason_unknown" "FINISH_REASON_UNKNOWN" "P-19" Provider false "the stop reason is not known", "Only known reasons make a turn usable.";
    StopToolUseWithoutCalls "stop_tool_use_without_calls" "FINISH_REASON_MISMATCH" "P-18" Provider false "the reason is tool_use but no call came", "Start the run again.";
    ToolArgumentsDuplicateKey "tool_arguments_duplicate_key" "JSON_DUPLICATE_KEY" "N-01" Provider false "the arguments of a call name a member twice", "Start the run again: approval and tool could see different values.";
    ToolArgumentsInvalid "tool_arguments_invalid" "TOOL_ARGUMENTS_INVALID" "P-16" Provider true "the arguments of a call are not JSON", "Ask again: they may be cut. They are never repaired.";
    ToolArgumentsNotObject "tool_arguments_not_object" "TOOL_ARGUMENTS_NOT_OBJECT" "P-16" Provider false "the arguments of a call are not an object", "Start the run again.";
    ToolArgumentsNotString "tool_arguments_not_string" "TOOL_ARGUMENTS_INVALID" "P-16" Provider true "the arguments of a call are not a string", "Choose the quirk profile of this server.";
    ToolArgumentsNumberRange "tool_arguments_number_range" "JSON_NUMBER_RANGE" "N-01" Provider false "a number in the arguments of a call cannot be kept exactly", "Let the tool take long numbers as strings.";
    ToolArgumentsTooDeep "tool_arguments_too_deep" "JSON_TOO_DEEP" "N-01" Provider false "the arguments of a call are nested too deep", "The limit is max_json_depth.";
    ToolCallFragmentAmbiguous "tool_call_fragment_ambiguous" "CALL_INDEX_INVALID" "S-18" Provider false "a call fragment does not say which call it belongs to", "The turn is dropped: nothing is guessed.";
    ToolCallIdConflict "tool_call_id_conflict" "CALL_ID_CONFLICT" "P-03" Provider false "the id of a call changed", "The turn is dropped; report the stream to the provider.";
    ToolCallIdDuplicate "tool_call_id_duplicate" "CALL_ID_DUPLICATE" "P-02" Provider false "two calls share an id", "Results could not be told apart.";
    ToolCallIdInvalid "tool_call_id_invalid" "CALL_ID_MISSING" "P-02" Provider false "the id of a call is not text", "No id is ever invented.";
    ToolCallIdMissing "tool_call_id_missing" "CALL_ID_MISSING" "P-02" Provider false "a call has no id", "No id is ever invented.";
    ToolCallIndexInvalid "tool_call_index_invalid" "CALL_INDEX_INVALID" "S-18" Provider false "an index is absent, out of range or out of order", "Indices are integers from 0 to 1023 in order of first appearance.";
    ToolCallsReordered "tool_calls_reordered" "CALLS_MISMATCH" "P-03" Provider false "requested_tools and content_blocks differ", "Both lists must hold the same calls in the same order.";
    ToolCallsWithFinishStop "tool_calls_with_finish_stop" "FINISH_REASON_MISMATCH" "P-18" Provider false "calls came with the reason stop", "Do not force a named tool_choice.";
    ToolInputConflict "tool_input_conflict" "CALLS_MISMATCH" "S-19" Provider false "the input came whole and in fragments", "The turn is dropped: the two cannot be told apart.";
    ToolInputMissing "tool_input_missing" "TOOL_ARGUMENTS_INVALID" "P-16" Provider true "a tool_use block of a body has no input", "Ask again.";
    ToolInputNotObject "tool_input_not_object" "TOOL_ARGUMENTS_NOT_OBJECT" "P-16" Provider false "the input of a call is not an object", "Start the run again.";
    ToolNameConflict "tool_name_conflict" "CALLS_MISMATCH" "P-03" Provider false "the name of a call changed", "The turn is dropped; report the stream to the provider.";
    ToolNameMissing "tool_name_missing" "CALL_NAME_MISSING" "P-03" Provider false "a call has no name", "The turn is dropped; report it to the provider.";
    ToolTypeUnsupported "tool_type_unsupported" "CALL_TYPE_UNSUPPORTED" "P-16" Provider false "a call is not of type function", "Do not offer custom tools.";
    ToolUseWithStopEndTurn "tool_use_with_stop_end_turn" "FINISH_REASON_MISMATCH" "P-18" Provider false "tool_use blocks came with a reason that ends the turn", "The turn is dropped.";
    UnexpectedChoice "unexpected_choice" "CHOICES_UNSUPPORTED" "P-16" Provider false "more than one choice, or an index other than 0", "Do not send n.";
    ProviderAuth "provider_auth" "PROVIDER_AUTH" "S-24" Provider false "the provider refused the key", "Check the key and its rights.";
    ProviderRateLimited "provider_rate_limited" "PROVIDER_RATE_LIMITED" "S-24" Provider true "the provider limits the rate", "Wait, then ask again.";
    ProviderOverloaded "provider_overloaded" "PROVIDER_OVERLOADED" "S-24" Provider true "the provider is overloaded", "Wait, then ask again.";
    ProviderBadRequest "provider_bad_request" "PROVIDER_BAD_REQUEST" "S-24" Provider false "the provider refused the request", "See details.provider_message; check model, URL and profile.";
    ProviderUnavailable "provider_unavailable" "PROVIDER_UNAVAILABLE" "S-24" Provider true "the provider failed", "Ask again later.";
    ProviderTransport "provider_transport" "PROVIDER_TRANSPORT" "S-24" Provider true "no answer came", "Check the URL and the network.";
    ProviderTimeout "provider_timeout" "PROVIDER_TIMEOUT" "S-23" Provider true "the answer took too long", "Raise the timeout, or ask again.";
    ProviderError "provider_error" "PROVIDER_ERROR" "S-24" Provider false "the provider reports an error", "See details.provider_message.";
    InvalidInput "invalid_input" "INVALID_INPUT" "K-01" Caller false "an argument is not of the documented shape", "Compare the named field with its type; a resumed run starts with resumeMessages().";
    ConfigurationError "configuration_error" "CONFIGURATION_ERROR" "K-01" Caller false "the configuration is not of the documented shape", "Compare the named field with its type: unknown names and values are refused.";
    LimitInvalid "limit_invalid" "LIMIT_INVALID" "B-09" Caller false "a limit is not a usable number", "Give a finite number within the documented range, no finer than its unit.";
    LimitMissing "limit_missing" "LIMIT_INVALID" "B-09" Caller false "a limit is missing and has no ceiling to take", "Give the limit, its ceiling, or null for none.";
    LimitUnknown "limit_unknown" "LIMIT_INVALID" "B-09" Caller false "no such limit", "The limits are max_steps, max_cost_usd and max_duration_s.";
    LimitAboveCeiling "limit_above_ceiling" "LIMIT_ABOVE_CEILING" "B-09" Caller false "a limit is above its ceiling", "Lower the limit or raise packLimits.";
    ModelProfileUnknown "model_profile_unknown" "MODEL_PROFILE_UNKNOWN" "B-07" Caller false "no such model profile", "Add it to agent_runtime.models.";
    ToolNameCollision "tool_name_collision" "TOOL_NAME_COLLISION" "P-14" Caller false "two tools have one name on the wire", "Rename one of them.";
    ToolNameReserved "tool_name_reserved" "TOOL_NAME_RESERVED" "X-05" Caller false "agent-runtime:* names are reserved", "Rename the tool.";
    RuntimeNotGuarded "runtime_not_guarded" "RUNTIME_NOT_GUARDED" "K-03" Caller false "hooks and guardRuntime must be used together", "Pass run.guardRuntime(runtime) and ...run.hooks of the same run.";
    RunEnded "run_ended" "RUN_ENDED" "L-08" Caller false "the run has ended", "Start a new run.";
    InvalidState "invalid_state" "INVALID_STATE" "K-03" Caller false "this is not possible now", "One loop drives one run, one call after another.";
    HookFailed "hook_failed" "HOOK_FAILED" "K-03" Caller false "a host hook failed or gave the wrong type", "See cause.";
    NotInitialized "not_initialized" "NOT_INITIALIZED" "K-01" Caller false "the core has no module yet", "Call init(module) first.";
    ApprovalRequired "approval_required" "APPROVAL_REQUIRED" "G-07" Policy false "the tool declares an approval class and nobody can be asked", "This version cannot raise approvals; drop the class or do not offer the tool.";
    ApprovalNotFound "approval_not_found" "APPROVAL_NOT_FOUND" "G-08" Policy false "no such approval", "List the pending ones.";
    PolicyDenied "policy_denied" "POLICY_DENIED" "C-04" Policy false "policy denies the call", "See toolPolicy and the run's autonomy.";
    LimitExceeded "limit_exceeded" "LIMIT_EXCEEDED" "L-02" Policy false "the batch does not fit", "Ask for fewer calls.";
    BudgetExhausted "budget_exhausted" "budget_exhausted" "B-05" Policy false "a budget is used up", "Resume with a higher limit.";
    ToolNotFound "tool_not_found" "TOOL_NOT_FOUND" "P-15" Policy false "no such tool in this run", "Call one of the offered tools.";
    InvalidToolInput "invalid_tool_input" "INVALID_TOOL_INPUT" "P-17" Policy false "the input does not fit the tool", "Correct the input.";
    ToolFailed "tool_failed" "TOOL_FAILED" "L-03" Policy false "the tool failed", "See the message.";
    ToolTimeout "tool_timeout" "TOOL_TIMEOUT" "R-11" Policy false "the tool took too long", "It may still have had an effect.";
    ToolOutputInvalid "tool_output_invalid" "TOOL_OUTPUT_INVALID" "R-11" Policy false "the tool's output is not JSON", "Return JSON.";
    NotExecuted "not_executed" "NOT_EXECUTED" "L-03" Policy false "the call was not executed", "An earlier call of the batch failed or the run ended.";
    CheckpointVersion "checkpoint_version" "CHECKPOINT_VERSION" "R-09" Policy false "the checkpoint has another version or unknown fields", "Use the version of turnkeep that wrote it.";
    CheckpointForeign "checkpoint_foreign" "CHECKPOINT_FOREIGN" "R-09" Policy false "the checkpoint is of another task", "Use the checkpoint of this task.";
    CheckpointTenant "checkpoint_tenant" "TENANT_SUBJECT_MISMATCH" "G-09" Policy false "the checkpoint is of another tenant", "Use the checkpoint of this tenant.";
    CheckpointInconsistent "checkpoint_inconsistent" "CHECKPOINT_INCONSISTENT" "R-09" Policy false "the checkpoint contradicts itself", "It was changed, or calls are still pending; use an earlier one.";
    ChainGap "chain_gap" "CHAIN_GAP" "R-09" Policy false "a receipt is missing", "The checkpoint was changed; use one that was not.";
    ChainBroken "chain_broken" "CHAIN_BROKEN" "R-09" Policy false "a receipt does not link to the one before", "The checkpoint was changed; use one that was not.";
    ChainChanged "chain_changed" "CHAIN_CHANGED" "R-09" Policy false "a receipt does not have the hash of its fields", "The checkpoint was changed; use one that was not.";
    ChainDuplicate "chain_duplicate" "CHAIN_DUPLICATE" "R-09" Policy false "two receipts are of one attempt", "The checkpoint was changed; use one that was not.";
    CheckpointNotSaved "checkpoint_not_saved" "CHECKPOINT_NOT_SAVED" "R-06" Store false "onCheckpoint failed", "See cause.";
    WasmTrap "wasm_trap" "WASM_TRAP" "N-04" Internal false "the core trapped", "Please report it. Reopen the run; a stream is a failed attempt.";
    Internal "internal" "INTERNAL" "K-04" Internal false "turnkeep is at fault", "Please report it.";
}

impl Reason {
    /// The fine word.
    #[must_use]
    pub fn word(self) -> &'static str {
        self.row().reason
    }

    /// The code a program branches on.
    #[must_use]
    pub fn code(self) -> &'static str {
        self.row().code
    }

    /// The rule that is broken, as in `docs/rules.md`.
    #[must_use]
    pub fn rule(self) -> &'static str {
        self.row().rule
    }

    /// Who must act.
    #[must_use]
    pub fn blame(self) -> Blame {
        self.row().blame
    }

    /// One clause that says what happened.
    #[must_use]
    pub fn what(self) -> &'static str {
        self.row().what
    }

    /// What to do about it.
    #[must_use]
    pub fn remedy(self) -> &'static str {
        self.row().remedy
    }

    /// Whether the same request may succeed when sent again (L-09).
    #[must_use]
    pub fn retriable(self) -> bool {
        self.row().retriable
    }

    /// The reason of that fine word.
    #[must_use]
    pub fn of_word(word: &str) -> Option<Reason> {
        Reason::ALL.iter().copied().find(|reason| reason.word() == word)
    }
}

/// Where it happened. Never payload.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Place {
    /// Bytes from the start of the response or text.
    pub byte_offset: Option<u64>,
    /// Events from 1.
    pub event: Option<u64>,
    /// Name of an argument or configuration member.
    pub field: Option<String>,
    /// Position of the call in its turn, from 0.
    pub call: Option<u64>,
}

/// A refusal or failure as data.
#[derive(Debug, Clone, PartialEq)]
pub struct Error(Box<Data>);

#[derive(Debug, Clone, PartialEq)]
struct Data {
    reason: Reason,
    at: Place,
    details: Vec<(&'static str, Value<'static>)>,
    retry_after_ms: Option<u64>,
    retriable: bool,
}

/// Untrusted text in `details` is cut to this many bytes (S-24).
pub const MAX_DETAIL_BYTES: usize = 300;

/// Cuts a text at a character boundary.
#[must_use]
pub fn bounded(text: &str, max: usize) -> &str {
    let mut end = max.min(text.len());
    while !text.is_char_boundary(end) {
        end = end.saturating_sub(1);
    }
    text.get(..end).unwrap_or("")
}

impl Error {
    /// An error of that reason, nowhere in particular.
    #[must_use]
    #[cold]
    #[inline(never)]
    pub fn new(reason: Reason) -> Error {
        Error(Box::new(Data {
            reason,
            at: Place::default(),
            details: Vec::new(),
            retry_after_ms: None,
            retriable: reason.retriable(),
        }))
    }

    /// At a byte of the response or text.
    #[must_use]
    #[cold]
    #[inline(never)]
    pub fn at_byte(mut self, offset: u64) -> Error {
        self.0.at.byte_offset = Some(offset);
        self
    }

    /// In the event of that number, unless another is known already.
    #[must_use]
    #[cold]
    #[inline(never)]
    pub fn at_event(mut self, event: u64) -> Error {
        self.0.at.event.get_or_insert(event);
        self
    }

    /// At a named argument.
    #[must_use]
    #[cold]
    #[inline(never)]
    pub fn at_field(mut self, field: &str) -> Error {
        self.0.at.field = Some(bounded(field, MAX_DETAIL_BYTES).to_owned());
        self
    }

    /// At the call of that position.
    #[must_use]
    #[cold]
    #[inline(never)]
    pub fn at_call(mut self, position: usize) -> Error {
        self.0.at.call = u64::try_from(position).ok();
        self
    }

    /// With a fact. Strings are bounded.
    #[must_use]
    #[cold]
    #[inline(never)]
    pub fn with(mut self, name: &'static str, value: Value<'static>) -> Error {
        let value = match value {
            Value::String(text) => Value::text(bounded(&text, MAX_DETAIL_BYTES)),
            other => other,
        };
        self.0.details.push((name, value));
        self
    }

    /// With a number as a fact.
    #[must_use]
    #[cold]
    #[inline(never)]
    pub fn with_number(self, name: &'static str, value: u64) -> Error {
        self.with(name, Value::Number(crate::json::Number::Uint(value)))
    }

    /// To be sent again after that time.
    #[must_use]
    pub fn retry_after(mut self, milliseconds: Option<u64>) -> Error {
        self.0.retry_after_ms = milliseconds;
        self
    }

    /// What went wrong.
    #[must_use]
    pub fn kind(&self) -> Reason {
        self.0.reason
    }

    /// The code a program branches on.
    #[must_use]
    pub fn code(&self) -> &'static str {
        self.0.reason.code()
    }

    /// The fine word.
    #[must_use]
    pub fn reason(&self) -> &'static str {
        self.0.reason.word()
    }

    /// The rule.
    #[must_use]
    pub fn rule(&self) -> &'static str {
        self.0.reason.rule()
    }

    /// Where.
    #[must_use]
    pub fn place(&self) -> &Place {
        &self.0.at
    }

    /// Whether asking again can help.
    #[must_use]
    pub fn retriable(&self) -> bool {
        self.0.retriable
    }

    /// One line for a developer: code, what, where, rule, remedy. No untrusted text.
    #[must_use]
    pub fn message(&self) -> String {
        let row = self.0.reason.row();
        let mut out = format!("{}: {}", row.code, row.what);
        if let Some(event) = self.0.at.event {
            out.push_str(&format!(", event {event}"));
        }
        if let Some(call) = self.0.at.call {
            out.push_str(&format!(", call {call}"));
        }
        if let Some(offset) = self.0.at.byte_offset {
            out.push_str(&format!(", byte {offset}"));
        }
        if let Some(field) = &self.0.at.field {
            out.push_str(&format!(", field {field}"));
        }
        out.push_str(&format!(" ({}). {}", row.rule, row.remedy));
        out
    }

    /// The record of the public API, as JSON text.
    #[must_use]
    pub fn to_json(&self) -> String {
        let row = self.0.reason.row();
        let mut at = Vec::new();
        if let Some(offset) = self.0.at.byte_offset {
            at.push(format!("\"byte_offset\":{offset}"));
        }
        if let Some(event) = self.0.at.event {
            at.push(format!("\"event\":{event}"));
        }
        if let Some(call) = self.0.at.call {
            at.push(format!("\"call\":{call}"));
        }
        if let Some(field) = &self.0.at.field {
            at.push(format!("\"field\":{}", quote(field)));
        }
        let details: Vec<String> =
            self.0.details.iter().map(|(name, value)| format!("{}:{}", quote(name), canonical(value))).collect();
        let retry = self.0.retry_after_ms.map_or(String::new(), |ms| format!(",\"retry_after_ms\":{ms}"));
        format!(
            "{{\"code\":{},\"blame\":{},\"reason\":{},\"rule\":{},\"message\":{},\"at\":{{{}}},\"details\":{{{}}},\"retriable\":{}{retry}}}",
            quote(row.code),
            quote(row.blame.word()),
            quote(row.reason),
            quote(row.rule),
            quote(&self.message()),
            at.join(","),
            details.join(","),
            self.0.retriable,
        )
    }
}

impl fmt::Display for Error {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.message())
    }
}

impl std::error::Error for Error {}
