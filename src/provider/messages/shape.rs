//! The members of a Messages response that mean anything here. Everything else is checked and passed over (S-19).

use crate::json::{Raw, Shape};

pub(super) const ERROR: usize = 0;
pub(super) const TYPE: usize = 1;
pub(super) const INDEX: usize = 2;
/// `message` of `message_start`.
pub(super) const MESSAGE: usize = 3;
/// Of a started message, or of a body.
pub(super) const ROLE: usize = 4;
pub(super) const CONTENT: usize = 5;
pub(super) const MODEL: usize = 6;
pub(super) const ID: usize = 7;
pub(super) const START_USAGE: usize = 8;
pub(super) const BLOCK: usize = 9;
pub(super) const DELTA: usize = 10;
pub(super) const DELTA_TYPE: usize = 11;
/// `text`, `partial_json`, `thinking` or `signature`: each belongs to its own type of delta.
pub(super) const DELTA_TEXT: usize = 12;
pub(super) const DELTA_JSON: usize = 13;
pub(super) const DELTA_THINKING: usize = 14;
pub(super) const DELTA_SIGNATURE: usize = 15;
pub(super) const STOP_REASON: usize = 16;
pub(super) const USAGE: usize = 17;
pub(super) const OBJECT: usize = 18;
const COUNT: usize = 19;

/// One response or event, as far as it means anything.
pub(super) type Slots<'a> = [Raw<'a>; COUNT];

/// Nothing yet.
pub(super) fn slots<'a>() -> Slots<'a> {
    [Raw::Absent; COUNT]
}

/// An event of a stream.
pub(super) static STREAM: Shape = Shape::of(&[
    ("type", TYPE, None),
    ("index", INDEX, None),
    (
        "delta",
        DELTA,
        Some(&Shape::of(&[
            ("type", DELTA_TYPE, None),
            ("text", DELTA_TEXT, None),
            ("partial_json", DELTA_JSON, None),
            ("thinking", DELTA_THINKING, None),
            ("signature", DELTA_SIGNATURE, None),
            ("stop_reason", STOP_REASON, None),
        ])),
    ),
    ("content_block", BLOCK, None),
    (
        "message",
        MESSAGE,
        Some(&Shape::of(&[
            ("role", ROLE, None),
            ("content", CONTENT, None),
            ("model", MODEL, None),
            ("id", ID, None),
            ("usage", START_USAGE, None),
        ])),
    ),
    ("usage", USAGE, None),
    ("error", ERROR, None),
]);

/// A whole body.
pub(super) static BODY: Shape = Shape::of(&[
    ("id", ID, None),
    ("type", TYPE, None),
    ("role", ROLE, None),
    ("content", CONTENT, None),
    ("model", MODEL, None),
    ("stop_reason", STOP_REASON, None),
    ("usage", USAGE, None),
    ("error", ERROR, None),
    ("object", OBJECT, None),
]);

pub(super) const BLOCK_TYPE: usize = 0;
pub(super) const BLOCK_TEXT: usize = 1;
pub(super) const BLOCK_THINKING: usize = 2;
pub(super) const BLOCK_SIGNATURE: usize = 3;
pub(super) const BLOCK_DATA: usize = 4;
pub(super) const BLOCK_CALLER: usize = 5;
pub(super) const BLOCK_ID: usize = 6;
pub(super) const BLOCK_NAME: usize = 7;
pub(super) const BLOCK_INPUT: usize = 8;
const BLOCK_COUNT: usize = 9;

/// One content block, as far as it means anything.
pub(super) type BlockSlots<'a> = [Raw<'a>; BLOCK_COUNT];

/// Nothing yet.
pub(super) fn block_slots<'a>() -> BlockSlots<'a> {
    [Raw::Absent; BLOCK_COUNT]
}

/// A content block.
pub(super) static BLOCK_SHAPE: Shape = Shape::of(&[
    ("type", BLOCK_TYPE, None),
    ("text", BLOCK_TEXT, None),
    ("thinking", BLOCK_THINKING, None),
    ("signature", BLOCK_SIGNATURE, None),
    ("data", BLOCK_DATA, None),
    ("caller", BLOCK_CALLER, None),
    ("id", BLOCK_ID, None),
    ("name", BLOCK_NAME, None),
    ("input", BLOCK_INPUT, None),
]);
