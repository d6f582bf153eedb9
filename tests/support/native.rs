//! The core itself as a runner: natively, and compiled to wasm32 in the browser test.
use turnkeep::provider::{Cause, Decoder, DecoderConfig, End, Outcome, Protocol, Quirks, http_error};

use super::case::{Ending, Job};
use super::verdict::{SeenCall, Verdict};

/// Decodes the job's body, read up to each of the cuts.
///
/// # Errors
/// Names what the core does not know (a protocol, a limit).
pub fn run(job: &Job, cuts: &[usize]) -> Result<Verdict, String> {
    run_as(job, cuts, "strict")
}

/// As [`run`], under a quirk profile.
///
/// # Errors
/// As [`run`], and names a profile that the protocol does not have.
pub fn run_as(job: &Job, cuts: &[usize], profile: &str) -> Result<Verdict, String> {
    if let Some(status) = job.status.filter(|status| !(200..300).contains(status)) {
        let body = String::from_utf8_lossy(&job.body);
        return Ok(of_error("provider_error", &http_error(Cause::Http(status), None, Some(&body))));
    }
    let mut config = config(job)?;
    config.quirks = Quirks::of_profile(profile, config.protocol)
        .ok_or_else(|| format!("no profile `{profile}` for {}", job.protocol))?;
    let mut decoder = Decoder::new(config);
    for piece in super::splits::pieces(&job.body, cuts) {
        decoder.feed(piece);
        if decoder.is_failed() {
            break;
        }
    }
    let end = match job.ending {
        Ending::HeldOpen if decoder.terminal_seen() => End::DrainDeadline,
        Ending::HeldOpen | Ending::Eof => End::Eof,
        Ending::Abort => End::Abort,
        Ending::ConsumerLeft => End::Consumer,
    };
    let outcome = decoder.finish(end);
    let label = outcome.label();
    Ok(match outcome {
        Outcome::Error(error) => of_error(label, &error),
        Outcome::Turn(turn) => {
            let mut verdict = Verdict {
                outcome: label.to_owned(),
                text: turn.assistant_text(),
                usage: turn.usage().and_then(|usage| serde_json::from_str(&usage.raw_json).ok()),
                ..Verdict::default()
            };
            for call in turn.calls() {
                verdict.calls.push(SeenCall {
                    id: call.id.clone(),
                    name: call.name.clone(),
                    input_json: call.input_json.clone(),
                });
            }
            for state in turn.provider_state() {
                verdict.provider_state.push(state.to_owned());
            }
            verdict
        }
    })
}

fn of_error(outcome: &str, error: &turnkeep::error::Error) -> Verdict {
    Verdict {
        outcome: outcome.to_owned(),
        code: Some(error.code().to_owned()),
        reason: Some(error.reason().to_owned()),
        rule: Some(error.rule().to_owned()),
        ..Verdict::default()
    }
}

/// What a job is decoded as.
///
/// # Errors
/// As [`run`].
pub fn config(job: &Job) -> Result<DecoderConfig, String> {
    let protocol = match job.protocol.as_str() {
        "chat" => Protocol::Chat,
        "messages" => Protocol::Messages,
        other => return Err(format!("no protocol `{other}`")),
    };
    let mut config = DecoderConfig::new(protocol, job.stream);
    let limits = &mut config.limits;
    for (name, value) in &job.limits {
        *match name.as_str() {
            "response_bytes" => &mut limits.max_response_bytes,
            "stream_bytes" => &mut limits.max_stream_bytes,
            "event_bytes" => &mut limits.max_event_bytes,
            "events" => &mut limits.max_events,
            "snapshots" => &mut limits.max_snapshots,
            "content_blocks" => &mut limits.max_content_blocks,
            "tool_calls" => &mut limits.max_tool_calls,
            "tool_argument_bytes" => &mut limits.max_tool_argument_bytes,
            "json_depth" => &mut limits.max_json_depth,
            other => return Err(format!("no limit `{other}`")),
        } = *value;
    }
    Ok(config)
}
