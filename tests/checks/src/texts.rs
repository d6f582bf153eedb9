//! Generated JSON texts for A6: values of every shape, spelled in every legal way, and a share that the rules refuse.
use std::collections::HashSet;
use std::fmt::Write as _;

use crate::support::rng::Rng;

/// Characters at which orders, escapes and ranges differ.
const EDGES: [char; 30] = [
    '\0',
    '\u{1}',
    '\u{8}',
    '\t',
    '\n',
    '\u{c}',
    '\r',
    '\u{1f}',
    ' ',
    '"',
    '\\',
    '/',
    'a',
    'Z',
    '\u{7f}',
    '\u{80}',
    'é',
    '\u{7ff}',
    '\u{800}',
    '\u{2028}',
    '\u{d7ff}',
    '\u{e000}',
    '\u{fb33}',
    '\u{fdd0}',
    '\u{fffe}',
    '\u{ffff}',
    '\u{10000}',
    '\u{1f600}',
    '\u{1fffe}',
    '\u{10ffff}',
];
const NUMBERS: [&str; 34] = [
    "0",
    "-0",
    "-0.0",
    "0e9",
    "0E-9",
    "1",
    "-1",
    "1e0",
    "1E+2",
    "10e-1",
    "123.4560",
    "9007199254740991",
    "9007199254740992",
    "9007199254740993",
    "-9007199254740993",
    "9223372036854775807",
    "-9223372036854775808",
    "18446744073709551615",
    "9007199254740993.0",
    "1e21",
    "1e20",
    "999999999999999999999e0",
    "5e-324",
    "2.2250738585072011e-308",
    "2.2250738585072014e-308",
    "4.9e-324",
    "1e-400",
    "1.7976931348623157e308",
    "1e-7",
    "0.000001",
    "100000000000000000000",
    "-100000000000000000000",
    "0.1e1",
    "333333333.33333329",
];
/// Refused, or kept exactly: which of both the rules say.
const DOUBTFUL: [&str; 12] = [
    "1e309",
    "-1e309",
    "1.7976931348623159e308",
    "18446744073709551616",
    "-9223372036854775809",
    "1e400",
    "123456789012345678901",
    "20000000000000000000",
    "18446744073709552000",
    "1000000000000000000000",
    "99999999999999990000",
    "-20000000000000000000",
];
const BROKEN: [&str; 28] = [
    "",
    " ",
    "{",
    "[",
    "]",
    "[1,]",
    "[,1]",
    "{\"a\":1,}",
    "{\"a\"}",
    "{a:1}",
    "{\"a\":1 \"b\":2}",
    "[1 2]",
    "01",
    "-",
    "-01",
    "+1",
    ".5",
    "1.",
    "1e",
    "1e+",
    "0x1",
    "NaN",
    "-Infinity",
    "tru",
    "'a'",
    "\"\\x\"",
    "\"\\u12G4\"",
    "1 2",
];

/// The text with that number.
pub fn text(seed: u64, number: usize) -> String {
    let mut rng = Rng::for_text(seed, &format!("value {number}"));
    let mut maker = Maker { out: String::new(), doubtful: rng.below(20) == 0 };
    match rng.below(40) {
        0 => maker.out = BROKEN[rng.below(BROKEN.len())].to_owned(),
        1 => maker.broken(&mut rng),
        2 | 3 => maker.duplicate(&mut rng),
        4 => maker.lone(&mut rng),
        5 => maker.deep(&mut rng),
        6 => maker.wide(&mut rng),
        _ => maker.value(&mut rng, 0),
    }
    maker.out
}

struct Maker {
    out: String,
    doubtful: bool,
}

impl Maker {
    fn space(&mut self, rng: &mut Rng) {
        if rng.below(3) == 0 {
            self.out.push_str([" ", "\n", "\t", "\r\n", "  \r "][rng.below(5)]);
        }
    }

    fn value(&mut self, rng: &mut Rng, depth: usize) {
        self.space(rng);
        match rng.below(if depth > 5 { 5 } else { 9 }) {
            0 => self.out.push_str(["true", "false", "null"][rng.below(3)]),
            1 | 2 => self.number(rng),
            3 | 4 => {
                let text = characters(rng);
                self.string(rng, &text);
            }
            5 | 6 => {
                let count = rng.below(5);
                self.array(rng, depth, count);
            }
            _ => {
                let count = rng.below(6);
                self.object(rng, depth, count);
            }
        }
        self.space(rng);
    }

    fn array(&mut self, rng: &mut Rng, depth: usize, count: usize) {
        self.out.push('[');
        self.space(rng);
        for place in 0..count {
            if place > 0 {
                self.out.push(',');
            }
            self.value(rng, depth + 1);
        }
        self.out.push(']');
    }

    fn object(&mut self, rng: &mut Rng, depth: usize, count: usize) {
        let keys: HashSet<String> = (0..count).map(|_| characters(rng)).collect();
        let mut keys: Vec<String> = keys.into_iter().collect();
        // A set has another order in each process; the texts must be the same everywhere.
        keys.sort_unstable();
        rng.shuffle(&mut keys);
        self.out.push('{');
        self.space(rng);
        for (place, key) in keys.iter().enumerate() {
            if place > 0 {
                self.out.push(',');
            }
            self.space(rng);
            self.string(rng, key);
            self.space(rng);
            self.out.push(':');
            self.value(rng, depth + 1);
        }
        self.out.push('}');
    }

    /// More keys than are looked at one by one, most of them where UTF-8 and UTF-16 differ; or many items.
    fn wide(&mut self, rng: &mut Rng) {
        let count = 13 + rng.below(60);
        if rng.below(3) == 0 { self.array(rng, 5, count) } else { self.object(rng, 5, count) }
    }

    /// Around the deepest level allowed, of arrays and objects mixed.
    fn deep(&mut self, rng: &mut Rng) {
        let levels = [20, 63, 64, 64, 65, 66, 100][rng.below(7)];
        let mut ends = Vec::new();
        for _ in 0..levels {
            if rng.below(2) == 0 {
                self.out.push('[');
                ends.push(']');
            } else {
                self.out.push_str("{\"a\":");
                ends.push('}');
            }
        }
        self.out.push_str(["1", "\"[[[\"", "null"][rng.below(3)]);
        self.out.extend(ends.into_iter().rev());
    }

    /// One key twice, next to each other or far apart, the second time written in another way.
    fn duplicate(&mut self, rng: &mut Rng) {
        let key = characters(rng);
        let between = [0, 1, 3, 14, 40][rng.below(5)];
        let mut keys: Vec<String> = (0..between).map(|at| format!("{}{at}#", characters(rng))).collect();
        keys.insert(rng.below(keys.len() + 1), key.clone());
        keys.push(key);
        let inside = rng.below(3);
        self.out.push_str(["", "[0,", "{\"x\":{},\"y\":"][inside]);
        self.out.push('{');
        for (place, key) in keys.iter().enumerate() {
            if place > 0 {
                self.out.push(',');
            }
            self.string(rng, key);
            self.out.push(':');
            self.value(rng, 6);
        }
        self.out.push_str(["}", "}]", "}}"][inside]);
    }

    /// Half of a surrogate pair, in a value or a key.
    fn lone(&mut self, rng: &mut Rng) {
        let half = ["\\ud800", "\\uDFFF", "\\udbffx", "\\ud83d\\u0041", "\\ude00\\ud83d", "\\ud83d\\n"][rng.below(6)];
        let before = ["", "a", "\\ud83d\\ude00"][rng.below(3)];
        let text = format!("\"{before}{half}\"");
        self.out = match rng.below(3) {
            0 => text,
            1 => format!("[1,{text}]"),
            _ => format!("{{{text}:1}}"),
        };
    }

    /// A legal text with one byte of its grammar taken away or put in.
    fn broken(&mut self, rng: &mut Rng) {
        self.object(rng, 3, 3);
        let marks: Vec<usize> =
            self.out.char_indices().filter(|(_, mark)| "{}[]:,\"".contains(*mark)).map(|(at, _)| at).collect();
        let at = marks[rng.below(marks.len())];
        match rng.below(3) {
            0 => drop(self.out.remove(at)),
            1 => self.out.insert(at, [',', ':', '}', ']', 'x', '\u{b}', '\u{a0}', '\u{feff}'][rng.below(8)]),
            _ => self.out.truncate(at),
        }
    }

    fn number(&mut self, rng: &mut Rng) {
        if self.doubtful && rng.below(2) == 0 {
            self.out.push_str(DOUBTFUL[rng.below(DOUBTFUL.len())]);
            return;
        }
        let double = loop {
            let double = f64::from_bits(rng.next_u64());
            if double.is_finite() {
                break double;
            }
        };
        let written = match rng.below(9) {
            0 | 1 => write!(self.out, "{}", NUMBERS[rng.below(NUMBERS.len())]),
            2 => write!(self.out, "{}", rng.next_u64()),
            3 => write!(self.out, "{}", i64::from_ne_bytes(rng.next_u64().to_ne_bytes())),
            4 => write!(self.out, "{}.{}", rng.below(100_000), rng.below(1000)),
            5 => write!(self.out, "{double:e}"),
            6 => write!(self.out, "{double:.20E}"),
            // Fixed point, in a range where that is not too long, around the places where the layout changes.
            7 => write!(self.out, "{:.1}", (rng.next_u64() % (1 << 53)) as f64 * [1.0, 1e3, 1e5, 1e6][rng.below(4)]),
            _ => {
                write!(
                    self.out,
                    "{:.30}",
                    (rng.next_u64() % (1 << 53)) as f64 * [1e-16, 1e-19, 1e-21, 1e-23][rng.below(4)]
                )
            }
        };
        debug_assert!(written.is_ok(), "a text takes everything");
    }

    fn string(&mut self, rng: &mut Rng, text: &str) {
        let escape_rate = [1, 3, 100][rng.below(3)];
        self.out.push('"');
        for one in text.chars() {
            let short = "\"\\/\u{8}\u{c}\n\r\t".chars().zip("\"\\/bfnrt".chars()).find(|(plain, _)| *plain == one);
            let must = matches!(one, '"' | '\\' | '\0'..='\u{1f}');
            match short {
                Some((_, letter)) if (must || one == '/') && rng.below(2) == 0 => self.out.extend(['\\', letter]),
                _ if must || rng.below(escape_rate) == 0 => {
                    for unit in one.encode_utf16(&mut [0; 2]) {
                        let hex = if rng.below(2) == 0 { format!("{unit:04x}") } else { format!("{unit:04X}") };
                        self.out.push_str("\\u");
                        self.out.push_str(&hex);
                    }
                }
                _ => self.out.push(one),
            }
        }
        self.out.push('"');
    }
}

/// Up to six characters, of the edges, of ASCII, of anything.
fn characters(rng: &mut Rng) -> String {
    let count = rng.below(7);
    let any = |rng: &mut Rng| char::from_u32(u32::try_from(rng.below(0x11_0000)).unwrap_or(0)).unwrap_or('?');
    (0..count)
        .map(|_| match rng.below(4) {
            0 => EDGES[rng.below(EDGES.len())],
            1 => any(rng),
            _ => char::from(u8::try_from(0x20 + rng.below(0x5f)).unwrap_or(b'a')),
        })
        .collect()
}
