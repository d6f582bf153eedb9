//! Strict JSON, canonical form and hashes on our own vectors, by rule.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, clippy::arithmetic_side_effects)]
use serde_json::Value as Plain;
use turnkeep::json::{JsonErrorKind, Value, canonical, canonicalize, hash, hex, ordered, parse, parse_bytes};

fn kind(text: &str) -> Option<JsonErrorKind> {
    parse(text).err().map(|error| error.kind)
}

/// N-02, N-03: texts of one meaning have one canonical form and one hash; the digests come from an independent implementation.
#[test]
fn n_02_equal_values_have_one_canonical_text() {
    let groups: Vec<Plain> = serde_json::from_str(include_str!("vectors/own/hash-equality.json")).unwrap();
    let (mut same, mut differ, mut refused) = (0, 0, 0);
    for group in &groups {
        let texts: Vec<&str> = group["texts"].as_array().unwrap().iter().map(|text| text.as_str().unwrap()).collect();
        let forms: Vec<Option<String>> =
            texts.iter().map(|text| parse(text).ok().map(|value| canonical(&value))).collect();
        let id = &group["id"];
        match group["expect"].as_str().unwrap() {
            "same" => {
                for form in &forms {
                    let form = form.as_ref().unwrap_or_else(|| panic!("{id}"));
                    assert_eq!(form, group["canonical"].as_str().unwrap(), "{id}");
                    assert_eq!(hex(form.as_bytes()), group["sha256_of_canonical"].as_str().unwrap(), "{id}");
                    assert_eq!(&canonical(&parse(form).unwrap()), form, "{id}");
                }
                same += 1;
            }
            word if word.starts_with("differ") => {
                // Groups with integers that an independent implementation cannot keep have no given text.
                if let Some(given) = group["canonical"].as_array() {
                    let given: Vec<Option<String>> =
                        given.iter().map(|text| text.as_str().map(str::to_owned)).collect();
                    assert_eq!(forms, given, "{id}");
                }
                let mut seen: Vec<_> = forms.iter().flatten().collect();
                let count = seen.len();
                seen.sort();
                seen.dedup();
                assert_eq!(seen.len(), count, "{id}");
                differ += 1;
            }
            _ => {
                assert!(forms.iter().all(Option::is_none), "{id}: {forms:?}");
                refused += 1;
            }
        }
    }
    println!("{same} same, {differ} different, {refused} refused of {} groups", groups.len());
    assert_eq!((same + differ + refused, groups.len()), (29, 29));
}

/// N-03: no concatenation; another split, count, purpose or type is another hash.
#[test]
fn n_03_hashes_keep_purposes_and_parts_apart() {
    let vectors: Vec<Plain> = serde_json::from_str(include_str!("vectors/own/domain-separation.json")).unwrap();
    let digest = |tag: &str, parts: &Plain| {
        let text = parts.to_string();
        let value = parse(&text).unwrap();
        hash(tag, &value.as_array().unwrap().iter().collect::<Vec<_>>())
    };
    let mut checked = 0;
    for vector in vectors.iter().filter(|vector| !vector["a"].is_null()) {
        assert_ne!(digest("t", &vector["a"]), digest("t", &vector["b"]), "{}", vector["id"]);
        checked += 1;
    }
    let one = Value::text("x");
    let mut all: Vec<String> =
        ["turnkeep/action/v1", "turnkeep/receipt/v1", "turnkeep/checkpoint/v1", "turnkeep/entry/v1"]
            .iter()
            .map(|tag| hash(tag, &[&one]))
            .collect();
    all.sort();
    all.dedup();
    assert_eq!((checked, all.len()), (7, 4));
    assert_eq!(hash("turnkeep/action/v1", &[&one]), format!("sha256:{}", hex(br#"["turnkeep/action/v1","x"]"#)));
}

/// N-01: what is refused, with its place.
#[test]
fn n_01_refusals_have_a_kind_and_a_place() {
    for (text, kind, offset) in [
        ("{\"a\":1,\"\\u0061\":2}", JsonErrorKind::DuplicateKey, 7),
        ("[01]", JsonErrorKind::Syntax, 2),
        ("[1,]", JsonErrorKind::Syntax, 3),
        ("{a\":1}", JsonErrorKind::Syntax, 1),
        ("{\"a\":1,}", JsonErrorKind::Syntax, 7),
        ("{\"a\" 1}", JsonErrorKind::Syntax, 5),
        ("-", JsonErrorKind::Syntax, 1),
        ("[-]", JsonErrorKind::Syntax, 2),
        ("[-.5]", JsonErrorKind::Syntax, 2),
        ("[-e5]", JsonErrorKind::Syntax, 2),
        ("[1.]", JsonErrorKind::Syntax, 3),
        ("[1.e5]", JsonErrorKind::Syntax, 3),
        ("[1e]", JsonErrorKind::Syntax, 3),
        ("[1e-]", JsonErrorKind::Syntax, 4),
        ("[1e400]", JsonErrorKind::NumberRange, 1),
        ("[123456789012345678901234567890]", JsonErrorKind::NumberRange, 1),
        ("\"\\ud83d\"", JsonErrorKind::Syntax, 3),
        ("\"\\ude00\"", JsonErrorKind::Syntax, 3),
        ("\"\\ud83d\\u0041\"", JsonErrorKind::Syntax, 3),
        ("\"a\tb\"", JsonErrorKind::Syntax, 2),
        ("NaN", JsonErrorKind::Syntax, 0),
        ("\u{feff}1", JsonErrorKind::Syntax, 0),
        ("", JsonErrorKind::Syntax, 0),
        ("1 2", JsonErrorKind::Syntax, 2),
    ] {
        let error = parse(text).unwrap_err();
        assert_eq!((error.kind, error.offset), (kind, offset), "{text}");
    }
    assert_eq!(parse_bytes(b"[\"\xff\"]").unwrap_err().kind, JsonErrorKind::Utf8);
    assert_eq!(kind(&("[".repeat(64) + &"]".repeat(64))), None);
    assert_eq!(kind(&("[".repeat(65) + &"]".repeat(65))), Some(JsonErrorKind::TooDeep));
    assert_eq!(kind(&"{\"a\":".repeat(1_000_000)), Some(JsonErrorKind::TooDeep));
}

/// N-01: a second key is found among few and among many.
#[test]
fn n_01_a_duplicate_key_is_refused_however_far_apart() {
    let mut checked = 0;
    for members in [2, 3, 8, 9, 16, 17, 64, 300] {
        for first in [0, members / 2, members - 2] {
            let mut keys: Vec<String> = (0..members).map(|n| format!("k{n}")).collect();
            let last = members - 1;
            if first == last {
                continue;
            }
            assert!(kind(&object(&keys)).is_none());
            // The second spelling is an escape: keys are compared after unescaping.
            keys[last] = keys[first].replace('k', "\\u006b");
            let refused = parse(&object(&keys)).unwrap_err();
            assert_eq!(refused.kind, JsonErrorKind::DuplicateKey, "{members} members, the last as number {first}");
            checked += 1;
        }
    }
    assert_eq!(checked, 23);
}

fn object(keys: &[String]) -> String {
    let members: Vec<String> = keys.iter().map(|key| format!("\"{key}\":1")).collect();
    format!("{{{}}}", members.join(","))
}

/// N-02: keys sort by UTF-16 code units, which is not the order of bytes.
#[test]
fn n_02_keys_sort_by_utf16() {
    let value = parse("{\"\u{fb33}\":1,\"\u{1f600}\":2,\"b\":3,\"a\":4}").unwrap();
    assert_eq!(canonical(&value), "{\"a\":4,\"b\":3,\"\u{1f600}\":2,\"\u{fb33}\":1}");
    assert_eq!(ordered(&value), "{\"\u{fb33}\":1,\"\u{1f600}\":2,\"b\":3,\"a\":4}");
}

/// Texts with every way to write the same: white space, escapes, numbers, keys out of order.
struct Texts(u64);

impl Texts {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % bound
    }

    fn pick<'t>(&mut self, of: &[&'t str]) -> &'t str {
        of[usize::try_from(self.below(of.len() as u64)).unwrap()]
    }

    fn space(&mut self) -> &'static str {
        self.pick(&["", "", "", " ", "\n", "\t ", "\r\n"])
    }

    fn string(&mut self) -> String {
        let parts = [
            "a",
            "b",
            "key",
            "\\u0061",
            "\\n",
            "\\\"",
            "\\\\",
            "\\/",
            "/",
            "\u{e9}",
            "\\u00e9",
            "\u{1f600}",
            "\\ud83d\\ude00",
            "\u{fb33}",
            "\\u0000",
            "\\b",
            "{",
            "]",
            ",",
            ":",
            " ",
        ];
        let length = self.below(6);
        format!("\"{}\"", (0..length).map(|_| self.pick(&parts)).collect::<String>())
    }

    fn value(&mut self, depth: u64) -> String {
        let numbers = [
            "0",
            "-0",
            "1.0",
            "1e3",
            "-12.50",
            "9007199254740993",
            "-9223372036854775808",
            "1e21",
            "5e-324",
            "1E+2",
            "0.1",
        ];
        let (left, right) = (self.space(), self.space());
        let inner = match self.below(if depth == 0 { 3 } else { 5 }) {
            0 => self.pick(&["true", "false", "null"]).to_owned(),
            1 => self.pick(&numbers).to_owned(),
            2 => self.string(),
            3 => {
                let items: Vec<String> = (0..self.below(4)).map(|_| self.value(depth - 1)).collect();
                format!("[{}{}]", self.space(), items.join(","))
            }
            _ => {
                let count = self.below(16);
                let members: Vec<String> = (0..count)
                    .map(|_| {
                        let (key, before, after) = (self.string(), self.space(), self.space());
                        format!("{before}{key}{after}:{}", self.value(depth - 1))
                    })
                    .collect();
                format!("{{{}{}}}", self.space(), members.join(","))
            }
        };
        format!("{left}{inner}{right}")
    }
}

/// N-02: the canonical form is the same with a tree in between and without, and it reads back to itself.
#[test]
fn n_02_a_text_and_its_tree_have_one_canonical_form() {
    let mut texts = Texts(20_261_201);
    let (mut good, mut refused) = (0, 0);
    for _ in 0..20_000 {
        let text = texts.value(3);
        match (parse(&text), canonicalize(&text, 64)) {
            (Ok(value), Ok(direct)) => {
                assert_eq!(canonical(&value), direct, "{text}");
                assert_eq!(canonicalize(&direct, 64).unwrap(), direct, "{text}");
                assert_eq!(canonical(&parse(&ordered(&value)).unwrap()), direct, "{text}");
                let naive: serde_json::Value = serde_json::from_str(&text).unwrap();
                let again: serde_json::Value = serde_json::from_str(&direct).unwrap();
                assert!(
                    naive == again
                        || text.contains("1.0")
                        || text.contains("1e")
                        || text.contains("1E")
                        || text.contains("-0"),
                    "{text}"
                );
                good += 1;
            }
            (Err(one), Err(two)) => {
                assert_eq!((one, one.kind), (two, JsonErrorKind::DuplicateKey), "{text}");
                refused += 1;
            }
            other => panic!("{text}: {other:?}"),
        }
    }
    assert!(good > 12_000 && refused > 500, "{good} {refused}");
}
