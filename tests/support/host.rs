//! A host that drives a run: every output in order, every append acknowledged before anything that follows it.
#![allow(
    dead_code,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects
)]
use serde_json::{Value, json};
use turnkeep::run::{Run, Tick};

pub struct Host {
    pub run: Run,
    pub tick: Tick,
    /// Everything the run put out, in order.
    pub seen: Vec<Value>,
    pub entries: Vec<Value>,
}

pub fn config(limits: Value) -> Value {
    json!({"task_id": "t", "tenant_subject": "acme", "actor_ref": "user:7", "governed": true, "limits": limits,
        "has_cost": false, "classes": ["money"], "checkpoints": false})
}

pub fn open_limits() -> Value {
    json!({"max_steps": 50, "max_cost_usd": null, "max_duration_s": 600})
}

impl Host {
    pub fn open(config: &Value) -> Host {
        let run = Run::open(&config.to_string()).unwrap();
        Host { run, tick: Tick { now_ms: 1_767_225_600_000, mono_ms: 1000 }, seen: Vec::new(), entries: Vec::new() }
    }

    /// Opened and started, with a reading tool, a writing tool and a classed one.
    pub fn started(config: &Value) -> Host {
        let mut host = Host::open(config);
        host.start(&json!({"input_usd_per_mtok": 1, "output_usd_per_mtok": 2}));
        host
    }

    pub fn start(&mut self, prices: &Value) {
        let tools = json!([
            {"name": "shop:lookup", "policy": {"side_effecting": false}},
            {"name": "shop:refund", "policy": {}},
            {"name": "shop:classed", "policy": {"approval_class": "money"}},
            {"name": "shop:odd", "policy": {"approval_class": "unheard"}},
            {"name": "shop:broken", "policy": null, "policy_failed": true},
            {"name": "shop:gone", "policy": null},
            {"name": "shop:long", "policy": {"side_effecting": false, "big_integers": true}},
        ]);
        let model = json!({"model_profile": "main", "protocol": "chat", "model": "m", "prices": prices});
        self.push(
            &json!({"type": "start", "messages": [{"role": "user", "content": "Hi"}], "tools": tools, "model": model}),
        );
    }

    /// Sends an input; gives what came of it.
    pub fn push(&mut self, input: &Value) -> Vec<Value> {
        let from = self.seen.len();
        self.run.handle_input(self.tick, &input.to_string());
        while let Some(output) = self.run.poll_output() {
            let value: Value = serde_json::from_str(output.to_json()).unwrap();
            if let Some(seq) = output.append_seq() {
                self.entries.push(serde_json::from_str(value["entry"].as_str().unwrap()).unwrap());
                assert!(self.run.poll_output().is_none(), "nothing may be visible before the append is acknowledged");
                self.run.handle_input(self.tick, &json!({"type": "appended", "seq": seq}).to_string());
            }
            self.seen.push(value);
        }
        self.seen[from..].to_vec()
    }

    pub fn clear(&mut self) -> Vec<Value> {
        self.push(&json!({"type": "clear"}))
    }

    pub fn key(&self) -> String {
        let asked = self.seen.iter().rev().find(|output| output["type"] == "call_model").unwrap();
        asked["key"].as_str().unwrap().to_owned()
    }

    pub fn answer(&mut self, turn: &Value) -> Vec<Value> {
        let key = self.key();
        self.push(&json!({"type": "turn", "key": key, "turn_json": turn.to_string(), "cost_usd": null}))
    }

    /// Asks the model and answers with calls `(id, name)`.
    pub fn calls(&mut self, calls: &[(&str, &str)]) -> Vec<Value> {
        self.clear();
        self.answer(&tool_turn(calls, json!({})))
    }

    pub fn result(&mut self, id: &str, output: &str) -> Vec<Value> {
        self.push(&json!({"type": "tool_result", "key": format!("tool:{id}"), "output_json": output}))
    }

    pub fn history(&self) -> Vec<Value> {
        serde_json::from_str(&self.run.messages_json()).unwrap()
    }

    pub fn steps(&self) -> Vec<Value> {
        serde_json::from_str(&self.run.steps_json()).unwrap()
    }

    pub fn spend(&self) -> Value {
        serde_json::from_str(&self.run.spend_json()).unwrap()
    }

    pub fn results(&self) -> Vec<(String, Value)> {
        let tools = self.history().into_iter().filter(|message| message["role"] == "tool");
        tools
            .map(|message| {
                let content = serde_json::from_str(message["content"].as_str().unwrap()).unwrap();
                (message["tool_call_id"].as_str().unwrap().to_owned(), content)
            })
            .collect()
    }

    pub fn done(&self) -> Value {
        self.seen.iter().find(|output| output["type"] == "done").expect("the run has ended")["result"].clone()
    }
}

pub fn usage() -> Value {
    json!({"input_tokens": 1000, "cached_input_tokens": null, "cache_write_tokens": null, "output_tokens": 500, "reasoning_tokens": null, "raw_json": "{}"})
}

pub fn turn(status: &str, unified: &str, raw: &str, blocks: Value, requested: Value, text: &str) -> Value {
    json!({"status": status, "requested_tools": requested, "content_blocks": blocks, "assistant_text": text, "usage": usage(), "dropped_calls": 0,
        "finish_reason": {"unified": unified, "raw": raw}, "quirks": {},
        "provider": {"protocol": "chat", "model_profile": "main", "model": "m", "response_id": null}})
}

pub fn tool_turn(calls: &[(&str, &str)], input: Value) -> Value {
    let requested: Vec<Value> =
        calls.iter().map(|(id, name)| json!({"id": id, "name": name, "input": input})).collect();
    let mut blocks = vec![json!({"type": "text", "text": "Let me see."})];
    blocks.extend(calls.iter().map(|(id, name)| json!({"type": "tool_call", "id": id, "name": name, "input": input})));
    turn("tool_request", "tool_calls", "tool_calls", json!(blocks), json!(requested), "Let me see.")
}

pub fn reply(text: &str) -> Value {
    turn("reply", "stop", "stop", json!([{"type": "text", "text": text}]), json!([]), text)
}

pub fn kinds(outputs: &[Value]) -> Vec<&str> {
    outputs.iter().map(|output| output["type"].as_str().unwrap()).filter(|kind| *kind != "event").collect()
}

pub fn codes(host: &Host) -> Vec<String> {
    let steps = host.steps();
    let refs = steps.iter().flat_map(|step| step["evidence_refs"].as_array().unwrap().clone());
    refs.filter_map(|one| one.as_str().unwrap().strip_prefix("code:").map(str::to_owned)).collect()
}

/// Writes a checkpoint's digest anew, as someone would who changed it.
pub fn redigested(mut checkpoint: Value) -> Value {
    checkpoint.as_object_mut().unwrap().remove("digest");
    let text = checkpoint.to_string();
    let digest =
        turnkeep::json::hash("turnkeep/checkpoint/v1", &[&turnkeep::json::parse_with_depth(&text, 80).unwrap()]);
    checkpoint["digest"] = json!(digest);
    checkpoint
}
