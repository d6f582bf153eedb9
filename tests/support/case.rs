//! One case file: what the provider sends, how the read ends, what must come out.
use serde_json::Value;

/// What ends the response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    Eof,
    /// The socket stays open after the last chunk: the drain deadline ends it.
    HeldOpen,
    /// Our side aborts.
    Abort,
    /// The consumer of the stream leaves.
    ConsumerLeft,
}

/// One response to decode, independent of the runner.
#[derive(Debug, Clone)]
pub struct Job {
    /// `chat` or `messages`.
    pub protocol: String,
    pub stream: bool,
    /// `ProviderLimits` fields without their `max_`.
    pub limits: Vec<(String, u64)>,
    pub body: Vec<u8>,
    pub ending: Ending,
    /// A status that is no success goes through the HTTP error path, and its body is not decoded as a turn.
    pub status: Option<u16>,
}

#[derive(Debug, Clone)]
pub struct Case {
    pub id: String,
    pub job: Job,
    /// Offsets in the body where the file's own reads end.
    pub reads: Vec<usize>,
    /// `control` names a chunk: only the file's own reads mean anything.
    pub fixed_reads: bool,
    pub expect: Value,
}

impl Case {
    /// Reads the text of a case file.
    ///
    /// # Errors
    /// Says what in the file is not as its README describes.
    pub fn parse(text: &str) -> Result<Case, String> {
        let file: Value = serde_json::from_str(text).map_err(|error| format!("not JSON: {error}"))?;
        Case::of(&file)
    }

    /// # Errors
    /// As [`Case::parse`].
    pub fn of(file: &Value) -> Result<Case, String> {
        let word = |name: &str| file[name].as_str().map(str::to_owned).ok_or_else(|| format!("no `{name}`"));
        let id = word("id")?;
        let mut chunks = chunks(file)?;
        let (ending, fixed_reads) = match &file["control"] {
            Value::Null => match file["eof"].as_str() {
                Some("held_open") => (Ending::HeldOpen, false),
                None | Some("natural") => (Ending::Eof, false),
                Some(other) => return Err(format!("eof `{other}` is not known")),
            },
            control => {
                let after = control["after_chunk"].as_u64().ok_or("control without after_chunk")?;
                chunks.truncate(usize::try_from(after).unwrap_or(usize::MAX));
                match control["action"].as_str() {
                    Some("abort") => (Ending::Abort, true),
                    Some("client_disconnect") => (Ending::ConsumerLeft, true),
                    other => return Err(format!("control action {other:?} is not known")),
                }
            }
        };
        let reads = chunks
            .iter()
            .scan(0, |end, chunk| {
                *end += chunk.len();
                Some(*end)
            })
            .collect();
        let limits = match &file["limits"] {
            Value::Null => Vec::new(),
            Value::Object(limits) => limits
                .iter()
                .map(|(name, value)| {
                    value.as_u64().map(|value| (name.clone(), value)).ok_or_else(|| format!("limit `{name}`"))
                })
                .collect::<Result<_, _>>()?,
            _ => return Err("limits is no object".into()),
        };
        let stream = file["stream"].as_bool().ok_or("no `stream`")?;
        let job = Job { protocol: word("protocol")?, stream, limits, body: chunks.concat(), ending, status: None };
        Ok(Case { id, job, reads, fixed_reads, expect: file["expect"].clone() })
    }
}

fn chunks(file: &Value) -> Result<Vec<Vec<u8>>, String> {
    let texts = |value: &Value| -> Result<Vec<String>, String> {
        value
            .as_array()
            .ok_or("chunks is no list")?
            .iter()
            .map(|text| text.as_str().map(str::to_owned).ok_or_else(|| "a chunk is no text".to_owned()))
            .collect()
    };
    if !file["chunks"].is_null() {
        Ok(texts(&file["chunks"])?.into_iter().map(String::into_bytes).collect())
    } else if !file["chunks_b64"].is_null() {
        texts(&file["chunks_b64"])?.iter().map(|text| base64_decode(text)).collect()
    } else if let Some(body) = file["body"].as_str() {
        Ok(vec![body.as_bytes().to_vec()])
    } else if let Some(body) = file["body_b64"].as_str() {
        Ok(vec![base64_decode(body)?])
    } else {
        Err("neither chunks, chunks_b64, body nor body_b64".into())
    }
}

/// # Errors
/// Names the letter that base64 does not have.
pub fn base64_decode(text: &str) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::with_capacity(text.len() / 4 * 3);
    let (mut bits, mut count) = (0_u32, 0_u32);
    for letter in text.bytes().filter(|letter| *letter != b'=') {
        let value = match letter {
            b'A'..=b'Z' => letter - b'A',
            b'a'..=b'z' => letter - b'a' + 26,
            b'0'..=b'9' => letter - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            _ => return Err(format!("base64 has no letter {letter:#x}")),
        };
        bits = bits << 6 | u32::from(value);
        count += 6;
        if count >= 8 {
            count -= 8;
            bytes.push((bits >> count & 0xFF) as u8);
        }
    }
    Ok(bytes)
}
