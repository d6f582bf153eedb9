//! Reading `DIR/cases/turns/*.json` and `DIR/corpus/index.jsonl`.
use std::path::Path;

use anyhow::{Context, Result, anyhow};
use serde_json::Value;

use crate::shell::{self, files_below};
use crate::support::case::{Case, Ending, Job};

pub struct Data {
    pub cases: Vec<CaseFile>,
    pub recordings: Vec<Recording>,
}

pub struct CaseFile {
    pub case: Case,
    /// The file's own JSON, for renaming.
    pub json: Value,
}

pub struct Recording {
    /// Path below `corpus/`.
    pub file: String,
    pub job: Job,
    /// Its line of the index.
    pub entry: Value,
}

pub fn read_case(json: Value) -> Result<CaseFile> {
    Ok(CaseFile { case: Case::of(&json).map_err(|error| anyhow!("{}: {error}", json["id"]))?, json })
}

pub fn read_data_file(path: &Path) -> Result<String> {
    String::from_utf8(shell::read(path)?).with_context(|| format!("{} is not UTF-8", path.display()))
}

pub fn read_all_cases(dir: &Path) -> Result<Vec<CaseFile>> {
    files_below(&dir.join("cases/turns"), ".json")?
        .iter()
        .map(|path| {
            let json = serde_json::from_str(&read_data_file(path)?)
                .with_context(|| format!("{} is not JSON", path.display()))?;
            read_case(json)
        })
        .collect()
}

pub fn read(dir: &Path) -> Result<Data> {
    Ok(Data { cases: read_all_cases(dir)?, recordings: read_recordings(&dir.join("corpus"))? })
}

fn read_recordings(corpus: &Path) -> Result<Vec<Recording>> {
    let index = corpus.join("index.jsonl");
    if !index.is_file() {
        return Ok(Vec::new());
    }
    read_data_file(&index)?
        .lines()
        .filter(|line| !line.trim().is_empty())
        .map(|line| {
            let entry: Value = serde_json::from_str(line).context("a line of corpus/index.jsonl is not JSON")?;
            let file = entry["file"].as_str().context("a recording without `file`")?.to_owned();
            let protocol = match entry["protocol"].as_str() {
                Some("openai_chat" | "chat") => "chat",
                Some("anthropic_messages" | "messages") => "messages",
                other => return Err(anyhow!("{file}: protocol {other:?} is not known")),
            };
            let job = Job {
                protocol: protocol.to_owned(),
                stream: entry["stream"].as_bool().context("a recording without `stream`")?,
                limits: Vec::new(),
                body: shell::read(&corpus.join(&file))?,
                ending: Ending::Eof,
                status: entry["status"].as_u64().and_then(|status| u16::try_from(status).ok()),
            };
            Ok(Recording { file, job, entry })
        })
        .collect::<Result<_>>()
}
