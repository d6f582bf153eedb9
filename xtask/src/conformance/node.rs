//! The packed package in Node as a runner: one long-lived process, one JSON line per job.
//!
//! `tests/js/lib/worker.mjs` answers (over real HTTP: `http-worker.mjs`) with the texts that the border gave; they are read here, so that integers of
//! 64 bits keep their digits.
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Stdio};
use std::sync::mpsc::{Receiver, channel};

use anyhow::{Context, Result, anyhow};
use serde_json::{Value, json};

use super::runner::{ONE_JOB, Outcome, Runner};
use crate::shell::{command, root};
use crate::support::case::{Ending, Job};
use crate::support::splits::Cuts;
use crate::support::verdict::{SeenCall, Verdict};
use crate::{build, npm, tools};

pub struct Node {
    process: Process,
}

struct Process {
    worker: &'static str,
    child: Child,
    stdin: ChildStdin,
    answers: Receiver<String>,
}

impl Node {
    /// The core of the package, through its own border.
    pub fn start() -> Result<Node> {
        Node::with("worker.mjs")
    }

    /// The package's runtime and guard, over HTTP on loopback.
    pub fn over_http() -> Result<Node> {
        Node::with("http-worker.mjs")
    }

    fn with(worker: &'static str) -> Result<Node> {
        build::build_if_stale()?;
        npm::installed()?;
        Ok(Node { process: Process::start(worker)? })
    }
}

impl Process {
    fn start(worker: &'static str) -> Result<Process> {
        let mut child = command(tools::node()?)
            .arg(root().join("tests/js/lib").join(worker))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .context("cannot start node")?;
        let stdin = child.stdin.take().context("no pipe to node")?;
        let stdout = child.stdout.take().context("no pipe from node")?;
        let (send, answers) = channel();
        std::thread::spawn(move || {
            for line in BufReader::new(stdout).lines().map_while(Result::ok) {
                if send.send(line).is_err() {
                    break;
                }
            }
        });
        Ok(Process { worker, child, stdin, answers })
    }

    fn stop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.stop();
    }
}

impl Runner for Node {
    fn run(&mut self, job: &Job, plans: &[Cuts]) -> Result<Outcome> {
        let ending = match job.ending {
            Ending::Eof => "eof",
            Ending::HeldOpen => "held_open",
            Ending::Abort => "abort",
            Ending::ConsumerLeft => "consumer",
        };
        let limits: serde_json::Map<String, Value> =
            job.limits.iter().map(|(name, value)| (format!("max_{name}"), json!(value))).collect();
        let request = json!({
            "protocol": job.protocol, "stream": job.stream, "limits": limits, "ending": ending,
            "status": job.status, "body": build::base64(&job.body), "plans": plans,
        });
        writeln!(self.process.stdin, "{request}")?;
        self.process.stdin.flush()?;
        let Ok(answer) = self.process.answers.recv_timeout(ONE_JOB) else {
            self.process.stop();
            self.process = Process::start(self.process.worker)?;
            return Ok(Err(format!("no answer from node in {} s, or it ended", ONE_JOB.as_secs())));
        };
        let answer: Value = serde_json::from_str(&answer).context("the node worker gave no JSON")?;
        if let Some(trouble) = answer["trouble"].as_str() {
            return Ok(Err(trouble.to_owned()));
        }
        let texts = answer["texts"].as_array().ok_or_else(|| anyhow!("the node worker gave no texts"))?;
        let verdicts: Vec<Verdict> =
            texts.iter().map(|text| read_verdict(text.as_str().unwrap_or_default())).collect::<Result<_>>()?;
        let of_plan = answer["of_plan"].as_array().ok_or_else(|| anyhow!("the node worker gave no plans"))?;
        let each: Option<Vec<Verdict>> =
            of_plan.iter().map(|place| verdicts.get(usize::try_from(place.as_u64()?).ok()?).cloned()).collect();
        let each = each.context("the node worker named a text that it did not give")?;
        if each.len() != plans.len() {
            return Ok(Err(format!("{} answers for {} ways of reading", each.len(), plans.len())));
        }
        Ok(Ok(each))
    }
}

/// Reads what `Decoder.finish` or `http_error` gave: `{"ok": Turn}` or `{"error": ErrorRecord}`.
fn read_verdict(text: &str) -> Result<Verdict> {
    let value: Value = serde_json::from_str(text).with_context(|| format!("not JSON from the border: {text}"))?;
    let word = |value: &Value| value.as_str().map(str::to_owned);
    if let Some(error) = value.get("error") {
        let code = word(&error["code"]).context("an error without a code")?;
        let outcome = if code.starts_with("PROVIDER_") { "provider_error" } else { "rejected" };
        return Ok(Verdict {
            outcome: outcome.to_owned(),
            code: Some(code),
            reason: word(&error["reason"]),
            rule: word(&error["rule"]),
            ..Verdict::default()
        });
    }
    let turn = value.get("ok").context("neither ok nor error from the border")?;
    let mut verdict = Verdict {
        outcome: word(&turn["status"]).context("a turn without a status")?,
        text: word(&turn["assistant_text"]).unwrap_or_default(),
        usage: turn["usage"]["raw_json"].as_str().and_then(|raw| serde_json::from_str(raw).ok()),
        ..Verdict::default()
    };
    for call in turn["requested_tools"].as_array().map_or(&[][..], Vec::as_slice) {
        let input = call["input"].to_string();
        let input = turnkeep::json::parse(&input).map_err(|error| anyhow!("an input that is not JSON: {error:?}"))?;
        verdict.calls.push(SeenCall {
            id: word(&call["id"]).context("a call without an id")?,
            name: word(&call["name"]).context("a call without a name")?,
            input_json: turnkeep::json::canonical(&input),
        });
    }
    for block in turn["content_blocks"].as_array().map_or(&[][..], Vec::as_slice) {
        if block["type"] == "provider_state" {
            verdict.provider_state.push(word(&block["json"]).context("provider state without json")?);
        }
    }
    Ok(verdict)
}
