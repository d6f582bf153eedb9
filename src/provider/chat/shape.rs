//! The members of a Chat response that mean anything here. Everything else is checked and passed over (S-18).

use crate::json::{Raw, Shape};

pub(super) const ERROR: usize = 0;
pub(super) const TYPE: usize = 1;
pub(super) const OBJECT: usize = 2;
pub(super) const ID: usize = 3;
pub(super) const MODEL: usize = 4;
pub(super) const USAGE: usize = 5;
pub(super) const CHOICES: usize = 6;
pub(super) const CHOICE: usize = 7;
pub(super) const INDEX: usize = 8;
pub(super) const CHOICE_ERROR: usize = 9;
pub(super) const FINISH: usize = 10;
pub(super) const NATIVE_FINISH: usize = 11;
/// `delta` of a stream, `message` of a body.
pub(super) const MESSAGE: usize = 12;
pub(super) const ROLE: usize = 13;
pub(super) const FUNCTION_CALL: usize = 14;
pub(super) const REFUSAL: usize = 15;
pub(super) const REASONING: usize = 16;
pub(super) const REASONING_CONTENT: usize = 17;
pub(super) const DETAILS: usize = 18;
pub(super) const CONTENT: usize = 19;
pub(super) const CALLS: usize = 20;
pub(super) const CALL: usize = 21;
pub(super) const CALL_INDEX: usize = 22;
pub(super) const CALL_TYPE: usize = 23;
pub(super) const CALL_ID: usize = 24;
pub(super) const FUNCTION: usize = 25;
pub(super) const NAME: usize = 26;
pub(super) const ARGUMENTS: usize = 27;
/// Whether a call has members of the provider's own.
pub(super) const CALL_REST: usize = 28;
/// `message` in a choice of a stream, where it means nothing to us.
pub(super) const STRAY_MESSAGE: usize = 29;
const COUNT: usize = 30;

/// One response or event, as far as it means anything.
pub(super) type Slots<'a> = [Raw<'a>; COUNT];

/// Nothing yet.
pub(super) fn slots<'a>() -> Slots<'a> {
    [Raw::Absent; COUNT]
}

/// One element of `tool_calls`.
pub(super) static CALL_SHAPE: Shape = Shape {
    fields: &[
        ("index", CALL_INDEX, None),
        ("id", CALL_ID, None),
        ("type", CALL_TYPE, None),
        ("function", FUNCTION, Some(&Shape::of(&[("name", NAME, None), ("arguments", ARGUMENTS, None)]))),
    ],
    item: Some(CALL),
    rest: Some(CALL_REST),
};

static MESSAGE_SHAPE: Shape = Shape::of(&[
    ("content", CONTENT, None),
    ("role", ROLE, None),
    ("tool_calls", CALLS, Some(&CALL_SHAPE)),
    ("refusal", REFUSAL, None),
    ("function_call", FUNCTION_CALL, None),
    ("reasoning", REASONING, None),
    ("reasoning_content", REASONING_CONTENT, None),
    ("reasoning_details", DETAILS, None),
]);

static STREAM_CHOICE: Shape = Shape {
    fields: &[
        ("index", INDEX, None),
        ("delta", MESSAGE, Some(&MESSAGE_SHAPE)),
        ("message", STRAY_MESSAGE, None),
        ("finish_reason", FINISH, None),
        ("native_finish_reason", NATIVE_FINISH, None),
        ("error", CHOICE_ERROR, None),
    ],
    item: Some(CHOICE),
    rest: None,
};

static BODY_CHOICE: Shape = Shape {
    fields: &[
        ("index", INDEX, None),
        ("message", MESSAGE, Some(&MESSAGE_SHAPE)),
        ("finish_reason", FINISH, None),
        ("native_finish_reason", NATIVE_FINISH, None),
        ("error", CHOICE_ERROR, None),
    ],
    item: Some(CHOICE),
    rest: None,
};

/// An event of a stream.
pub(super) static STREAM: Shape = Shape::of(&[
    ("id", ID, None),
    ("object", OBJECT, None),
    ("model", MODEL, None),
    ("choices", CHOICES, Some(&STREAM_CHOICE)),
    ("usage", USAGE, None),
    ("error", ERROR, None),
    ("type", TYPE, None),
]);

/// A whole body.
pub(super) static BODY: Shape = Shape::of(&[
    ("id", ID, None),
    ("object", OBJECT, None),
    ("model", MODEL, None),
    ("choices", CHOICES, Some(&BODY_CHOICE)),
    ("usage", USAGE, None),
    ("error", ERROR, None),
    ("type", TYPE, None),
]);
