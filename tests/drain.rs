//! S-10: the marker's event ends with its own blank line, the LF of a split CRLF included; every byte after that is
//! refused, whatever the line ends and however the bytes are read.
#![allow(clippy::unwrap_used, clippy::panic)]
mod support;

use support::case::{Ending, Job};
use support::native;

const START: &str = "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Hi\"},\"finish_reason\":\"stop\"}]}";

fn job(line_end: &str, after: &str) -> Job {
    let body = format!("{START}{line_end}{line_end}data: [DONE]{line_end}{line_end}{after}");
    Job {
        protocol: "chat".into(),
        stream: true,
        limits: Vec::new(),
        body: body.into_bytes(),
        ending: Ending::Eof,
        status: None,
    }
}

/// The outcome at every single cut, byte by byte and whole; all must agree.
fn outcome(line_end: &str, after: &str) -> String {
    let job = job(line_end, after);
    let len = job.body.len();
    let mut cuts: Vec<Vec<usize>> = vec![Vec::new(), (1..len).collect()];
    cuts.extend((1..len).map(|cut| vec![cut]));
    let outcomes: Vec<String> = cuts
        .iter()
        .map(|cuts| {
            let verdict = native::run(&job, cuts).unwrap();
            verdict.code.unwrap_or(verdict.outcome)
        })
        .collect();
    let first = outcomes.first().unwrap().clone();
    let other = outcomes.iter().zip(&cuts).find(|(outcome, _)| **outcome != first);
    assert!(other.is_none(), "{line_end:?} {after:?}: {first} when read whole, {other:?}");
    first
}

#[test]
fn nothing_after_the_marker_is_a_reply() {
    for line_end in ["\n", "\r\n", "\r"] {
        assert_eq!(outcome(line_end, ""), "reply", "{line_end:?}");
    }
}

#[test]
fn any_byte_after_the_marker_is_refused() {
    for line_end in ["\n", "\r\n", "\r"] {
        for after in ["x", " ", "\r", ": comment\n", "data: {}\n\n", "\n\n"] {
            assert_eq!(outcome(line_end, after), "POST_TERMINAL_DATA", "{line_end:?} {after:?}");
        }
    }
}

/// After a bare CR one LF is the other half of a CRLF.
#[test]
fn one_line_feed_after_a_carriage_return_belongs_to_it() {
    assert_eq!(outcome("\r", "\n"), "reply");
    assert_eq!(outcome("\n", "\n"), "POST_TERMINAL_DATA");
    assert_eq!(outcome("\r\n", "\n"), "POST_TERMINAL_DATA");
}
