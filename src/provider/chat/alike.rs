//! What every client of a guard reads alike in an event of a Chat stream (S-25).
//!
//! Clients check an event before they use it, and each drops one that does not please it: the fragment of a call that is in it is then missing
//! from what they run. So behind a guard the members that any of them looks at have the documented types wherever a call is.

use super::shape::{CALLS, STRAY_MESSAGE, Slots};
use crate::error::Error;
use crate::json::Raw;
use crate::provider::meter::{Meter, ambiguous};
use crate::wire::sse::SseEvent;

/// The type of a member. Every one may be null or absent, but for those of [`Form::Required`].
enum Form {
    Text,
    Number,
    Word(&'static str),
    Members(&'static [(&'static str, Form)]),
    Items(&'static Form),
    Required(&'static Form),
    /// Not there, not even as null.
    Absent,
}

const PROBABILITIES: Form = Form::Items(&Form::Members(&[
    ("token", Form::Required(&Form::Text)),
    ("logprob", Form::Required(&Form::Number)),
    (
        "top_logprobs",
        Form::Required(&Form::Items(&Form::Members(&[
            ("token", Form::Required(&Form::Text)),
            ("logprob", Form::Required(&Form::Number)),
        ]))),
    ),
]));

static ANNOTATION: Form = Form::Members(&[
    ("type", Form::Required(&Form::Word("url_citation"))),
    (
        "url_citation",
        Form::Required(&Form::Members(&[
            ("start_index", Form::Required(&Form::Number)),
            ("end_index", Form::Required(&Form::Number)),
            ("url", Form::Required(&Form::Text)),
            ("title", Form::Required(&Form::Text)),
        ])),
    ),
]);

static CALL_FORM: Form = Form::Members(&[
    ("index", Form::Number),
    ("id", Form::Text),
    ("type", Form::Word("function")),
    ("function", Form::Required(&Form::Members(&[("name", Form::Text), ("arguments", Form::Text)]))),
    ("extra_content", Form::Members(&[("google", Form::Members(&[("thought_signature", Form::Text)]))])),
]);

const USAGE_FORM: Form = Form::Members(&[
    ("prompt_tokens", Form::Number),
    ("completion_tokens", Form::Number),
    ("total_tokens", Form::Number),
    ("prompt_tokens_details", Form::Members(&[("cached_tokens", Form::Number), ("cache_write_tokens", Form::Number)])),
    (
        "completion_tokens_details",
        Form::Members(&[
            ("reasoning_tokens", Form::Number),
            ("accepted_prediction_tokens", Form::Number),
            ("rejected_prediction_tokens", Form::Number),
        ]),
    ),
]);

static EVENT: Form = Form::Members(&[
    ("id", Form::Text),
    ("created", Form::Number),
    ("model", Form::Text),
    ("error", Form::Absent),
    (
        "choices",
        Form::Items(&Form::Members(&[
            ("index", Form::Required(&Form::Number)),
            (
                "delta",
                Form::Members(&[
                    ("role", Form::Word("assistant")),
                    ("content", Form::Text),
                    ("refusal", Form::Text),
                    ("reasoning", Form::Text),
                    ("reasoning_content", Form::Text),
                    ("annotations", Form::Items(&ANNOTATION)),
                    ("tool_calls", Form::Items(&CALL_FORM)),
                ]),
            ),
            ("finish_reason", Form::Text),
            ("logprobs", Form::Members(&[("content", PROBABILITIES), ("refusal", PROBABILITIES)])),
            ("usage", USAGE_FORM),
        ])),
    ),
    ("usage", USAGE_FORM),
]);

impl Form {
    /// The place in a value that has another form, as a path below it.
    fn misfit(&self, value: Raw<'_>) -> Option<String> {
        let other = Some(String::new());
        match (self, value) {
            (Form::Absent, Raw::Absent) => None,
            (Form::Absent, _) => other,
            (Form::Required(_), Raw::Absent | Raw::Null) => other,
            (Form::Required(form), value) => form.misfit(value),
            (_, Raw::Absent | Raw::Null) | (Form::Text, Raw::String(..)) | (Form::Number, Raw::Number(_)) => None,
            (Form::Word(word), Raw::String(..)) if value.is_text(word) => None,
            (Form::Items(form), Raw::Array(..)) => value
                .items()
                .find_map(|item| if item == Raw::Null { Some(String::new()) } else { form.misfit(item) })
                .map(|path| format!("[]{path}")),
            (Form::Members(fields), Raw::Object(_)) => members(fields, value),
            _ => other,
        }
    }
}

fn members(fields: &[(&'static str, Form)], value: Raw<'_>) -> Option<String> {
    let required = |field: &&(&'static str, Form)| matches!(field.1, Form::Required(_));
    // One pass over the members: a look for each field would read a long fragment as often as there are fields.
    let mut missing = fields.iter().filter(required).count();
    for (key, value) in value.members() {
        let Some(field) = fields.iter().find(|(name, _)| key.is_text(name)) else {
            continue;
        };
        if let Some(path) = field.1.misfit(value) {
            return Some(format!(".{}{path}", field.0));
        }
        if required(&field) {
            missing = missing.saturating_sub(1);
        }
    }
    if missing == 0 { None } else { Some(String::new()) }
}

/// Whether a message beside a delta holds nothing that a client could run.
fn is_harmless(message: Raw<'_>) -> bool {
    matches!(message, Raw::Object(_))
        && matches!(message.get("tool_calls"), Raw::Absent | Raw::Null | Raw::Array(_, 0))
        && message.get("function_call").is_none()
}

/// Refuses an event with a choice that a client may read otherwise than we do.
pub(super) fn check(event: &SseEvent<'_>, value: Raw<'_>, slots: &Slots<'_>, meter: &Meter) -> Result<(), Error> {
    let calls = matches!(slots[CALLS], Raw::Array(_, 1..));
    let message = slots[STRAY_MESSAGE];
    // Clients that copy the members of a choice put it in the place of what the deltas gave.
    if !message.is_none() && (calls || meter.has_calls() || !is_harmless(message)) {
        return Err(ambiguous("choices[0].message"));
    }
    if !calls {
        return Ok(());
    }
    if !(event.event.is_empty() || event.event == "message") {
        return Err(ambiguous("event"));
    }
    EVENT.misfit(value).map_or(Ok(()), |path| Err(ambiguous(path.trim_start_matches('.'))))
}
