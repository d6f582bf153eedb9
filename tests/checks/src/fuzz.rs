//! What the fuzz targets check (B1). Bytes go in; a promise that does not hold is a panic, which both the fuzzer and the replay of the
//! corpus see. A target's input has a head of four bytes (limits and profile, how it ends, and the seed of the cuts), then what a provider sent.
use turnkeep::json::{MAX_DEPTH, canonical, canonicalize, parse_with_depth};
use turnkeep::provider::{Decoder, DecoderConfig, DeltaKind, End, Hold, Outcome, PROFILES, Protocol, Quirks, Status};
use turnkeep::turn::Turn;

use crate::sse;
use crate::support::case::Case;
use crate::support::rng::Rng;
use crate::support::splits::{pieces, random};

/// Bytes in front of what a provider sent.
pub const HEAD: usize = 4;
/// Blocks that are asked for their call.
const BLOCKS: u32 = 16;

/// A target: its name is that of its program and its corpus.
pub type Target = (&'static str, fn(&[u8]));

/// All of them.
pub const TARGETS: [Target; 6] = [
    ("sse", sse_frames),
    ("chat_body", |data| response(data, Protocol::Chat, false)),
    ("chat_stream", |data| response(data, Protocol::Chat, true)),
    ("messages_body", |data| response(data, Protocol::Messages, false)),
    ("messages_stream", |data| response(data, Protocol::Messages, true)),
    ("canonical_json", canonical_json),
];

/// Runs one target.
///
/// # Panics
/// When a promise does not hold, or there is no such target.
pub fn run(name: &str, data: &[u8]) {
    let (_, target) = TARGETS.iter().find(|(known, _)| *known == name).expect("a target of that name");
    target(data);
}

struct Plan<'a> {
    options: u8,
    end: u8,
    cuts: Vec<usize>,
    body: &'a [u8],
}

fn plan(data: &[u8]) -> Option<Plan<'_>> {
    let (head, body) = data.split_at_checked(HEAD)?;
    let seed = u64::from(u16::from_le_bytes([head[2], head[3]]));
    // Small seeds are the plain ways: whole, then byte by byte.
    let cuts = match seed {
        0 => Vec::new(),
        1 => (1..body.len()).collect(),
        _ => random(body.len(), &mut Rng::new(seed)),
    };
    Some(Plan { options: head[0], end: head[1], cuts, body })
}

/// Frames are the same however the bytes are cut (S-22).
fn sse_frames(data: &[u8]) {
    let Some(Plan { cuts, body, .. }) = plan(data) else { return };
    assert_eq!(sse::read(body, &cuts), sse::read(body, &[]), "cut at {cuts:?}");
}

/// One canonical form, with and without a tree, and it is a fixed point (N-02).
fn canonical_json(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let tree = parse_with_depth(text, MAX_DEPTH).map(|value| canonical(&value));
    let direct = canonicalize(text, MAX_DEPTH);
    assert_eq!(direct, tree, "two readers of one text");
    if let Ok(form) = direct {
        assert_eq!(canonicalize(&form, MAX_DEPTH).as_ref(), Ok(&form), "the canonical form is not its own");
        assert!(serde_json::from_str::<serde_json::Value>(&form).is_ok(), "no JSON: {form}");
    }
}

fn config(options: u8, protocol: Protocol, stream: bool, hold: Hold) -> DecoderConfig {
    let mut config = DecoderConfig::new(protocol, stream);
    let limits = &mut config.limits;
    match options & 3 {
        1 => {
            (limits.max_event_bytes, limits.max_stream_bytes, limits.max_response_bytes) = (256, 2048, 1024);
            (limits.max_events, limits.max_tool_argument_bytes) = (12, 64);
        }
        2 => (limits.max_snapshots, limits.max_content_blocks, limits.max_tool_calls) = (4, 2, 1),
        3 => limits.max_json_depth = 4,
        _ => {}
    }
    if let Some(profile) = PROFILES.get(usize::from(options >> 2 & 7)) {
        config.quirks = Quirks::of_profile(profile.name, protocol).unwrap_or_default();
    }
    config.hold = hold;
    config
}

/// What a reading came to, as text.
fn told(outcome: &Outcome) -> Result<String, String> {
    match outcome {
        Outcome::Turn(turn) => Ok(turn.to_json()),
        Outcome::Error(error) => Err(error.to_json()),
    }
}

/// A reading with its text deltas, each step of a guard checked on the way.
struct Reading {
    outcome: Outcome,
    text: String,
}

fn read(config: DecoderConfig, end: u8, body: &[u8], cuts: &[usize]) -> Reading {
    let (hold, stream) = (config.hold, config.stream);
    let plain = DecoderConfig { hold: Hold::None, ..config.clone() };
    let mut decoder = Decoder::new(DecoderConfig { deltas: true, ..config });
    let (mut fed, mut free, mut text) = (0_usize, 0_usize, String::new());
    for piece in pieces(body, cuts) {
        decoder.feed(piece);
        fed += piece.len();
        let (deltas, said) = decoder.deltas();
        let mut at = 0;
        for delta in deltas {
            let units = delta.utf16 as usize;
            let here: String = char::decode_utf16(said.encode_utf16().skip(at).take(units))
                .map(|c| c.expect("whole characters"))
                .collect();
            at += units;
            if delta.kind == DeltaKind::Text {
                text.push_str(&here);
            }
        }
        assert_eq!(at, said.encode_utf16().count(), "the records and the text of a chunk");
        if hold != Hold::None {
            let held = usize::try_from(decoder.held()).expect("a size");
            assert!(held <= fed && fed - held >= free, "what had passed is held back again");
            free = fed - held;
        }
        if decoder.is_failed() {
            break;
        }
    }
    if hold == Hold::Calls && stream {
        let mut seen = Decoder::new(plain);
        seen.feed(&body[..free]);
        assert!((0..BLOCKS).all(|block| seen.call(block).is_none()), "a call passed before the seal");
        assert!(!seen.terminal_seen(), "the marker passed before the seal");
    }
    let failed = decoder.error().cloned();
    let sealed = decoder.terminal_seen() || !stream;
    let end = match end & 7 {
        0..4 => End::Eof,
        4 if decoder.terminal_seen() => End::DrainDeadline,
        5 => End::Abort,
        6 => End::Consumer,
        _ => End::Provider,
    };
    let outcome = decoder.finish(end);
    if let Some(error) = failed {
        assert_eq!(outcome, Outcome::Error(error), "a failure is final");
    }
    assert_eq!(decoder.finish(End::Eof), outcome, "one outcome");
    if let Outcome::Turn(turn) = &outcome {
        let whole = matches!(end, End::Eof | End::DrainDeadline);
        assert!(turn.calls().is_empty() || whole && sealed_enough(turn, sealed), "calls of a cut turn");
        if whole && stream {
            assert_eq!(text, turn.assistant_text(), "the deltas and the text");
        }
    }
    Reading { outcome, text }
}

/// Without its marker a stream only ends well where a profile says so, and the turn counts that.
fn sealed_enough(turn: &Turn, sealed: bool) -> bool {
    sealed || turn.quirks().contains_key("missing_done")
}

/// One outcome however the bytes are cut, and a turn that keeps its contract (P-01, P-02, P-06, P-20, S-22).
fn response(data: &[u8], protocol: Protocol, stream: bool) {
    let Some(Plan { options, end, cuts, body }) = plan(data) else { return };
    let hold = match options >> 5 {
        0..3 => Hold::None,
        3 | 4 => Hold::Terminal,
        _ => Hold::Calls,
    };
    let whole = read(config(options, protocol, stream, hold), end, body, &[]);
    let cut = read(config(options, protocol, stream, hold), end, body, &cuts);
    assert_eq!(told(&cut.outcome), told(&whole.outcome), "cut at {cuts:?}");
    assert_eq!(cut.text, whole.text, "deltas, cut at {cuts:?}");
    if let Outcome::Turn(turn) = &whole.outcome {
        contract(turn);
    }
}

fn contract(turn: &Turn) {
    let calls = turn.calls();
    assert_eq!(turn.status() == Status::ToolRequest, !calls.is_empty(), "only a tool request has calls");
    for (position, call) in calls.iter().enumerate() {
        assert!(!call.id.is_empty() && !call.name.is_empty(), "a call without an id or a name");
        assert!(calls.iter().skip(position + 1).all(|other| other.id != call.id), "an id twice");
        assert!(call.input_json.starts_with('{'), "an input that is no object");
        assert_eq!(
            canonicalize(&call.input_json, MAX_DEPTH).as_ref(),
            Ok(&call.input_json),
            "an input that is not canonical"
        );
    }
    let text = turn.to_json();
    let again = Turn::check(&text).unwrap_or_else(|error| panic!("our own turn is refused: {} {text}", error.reason()));
    assert_eq!(again.to_json(), text, "a turn that crosses the border");
}

/// The inputs a case file gives: what its provider sends, under each choice of limits and each hold, and each of its texts as JSON.
///
/// # Errors
/// What in the file is no case.
pub fn seeds(case: &str) -> Result<Vec<(&'static str, Vec<u8>)>, String> {
    let job = Case::parse(case)?.job;
    let target = match (job.protocol.as_str(), job.stream) {
        ("chat", false) => "chat_body",
        ("chat", true) => "chat_stream",
        ("messages", false) => "messages_body",
        ("messages", true) => "messages_stream",
        (other, _) => return Err(format!("no protocol `{other}`")),
    };
    let with_head = |options: u8, cuts: u8| [&[options, 0, cuts, 0], job.body.as_slice()].concat();
    let holds = [0, 3, 5].map(|hold| hold << 5);
    let mut all: Vec<_> = holds
        .iter()
        .flat_map(|hold| (0..4).map(move |limits| hold | limits))
        .map(|options| (target, with_head(options, options)))
        .collect();
    if job.stream {
        all.push(("sse", with_head(0, 1)));
        let lines = job.body.split(|byte| *byte == b'\n').filter_map(|line| line.strip_prefix(b"data: "));
        all.extend(lines.filter(|line| line.starts_with(b"{")).take(4).map(|line| ("canonical_json", line.to_vec())));
    } else {
        all.push(("canonical_json", job.body));
    }
    Ok(all)
}
