//! Looking for one of a few bytes, eight at a time: most of the work on a stream is passing over bytes that mean nothing.

const ONES: u64 = 0x0101_0101_0101_0101;
const HIGHS: u64 = 0x8080_8080_8080_8080;

/// The high bit of each byte that is below `bound` (at most 128). A borrow can mark more bytes, but only above one that is rightly marked.
#[inline(always)]
const fn below(word: u64, bound: u64) -> u64 {
    word.wrapping_sub(ONES.wrapping_mul(bound)) & !word & HIGHS
}

#[inline(always)]
const fn equal(word: u64, byte: u8) -> u64 {
    below(word ^ ONES.wrapping_mul(byte as u64), 1)
}

/// `marks` and `is` say the same of eight bytes and of one.
#[inline(always)]
fn find(bytes: &[u8], marks: impl Fn(u64) -> u64, is: impl Fn(u8) -> bool) -> Option<usize> {
    let (words, tail) = bytes.as_chunks::<8>();
    let mut at = 0_usize;
    for word in words {
        let marked = marks(u64::from_le_bytes(*word));
        if marked != 0 {
            // The lowest mark is right in each set of marks, so the lowest of all is too.
            return Some(at.saturating_add(usize::try_from(marked.trailing_zeros() >> 3).unwrap_or(0)));
        }
        at = at.saturating_add(8);
    }
    tail.iter().position(|byte| is(*byte)).map(|place| at.saturating_add(place))
}

/// The first LF or CR.
pub(crate) fn line_end(bytes: &[u8]) -> Option<usize> {
    find(bytes, |word| equal(word, b'\n') | equal(word, b'\r'), |byte| byte == b'\n' || byte == b'\r')
}

/// The first byte inside a JSON string that does not stand for itself: quote, backslash or control character.
pub(crate) fn special(bytes: &[u8]) -> Option<usize> {
    find(
        bytes,
        |word| below(word, 0x20) | equal(word, b'"') | equal(word, b'\\'),
        |byte| byte < 0x20 || byte == b'"' || byte == b'\\',
    )
}

#[cfg(test)]
mod tests {
    #![allow(clippy::indexing_slicing, clippy::arithmetic_side_effects)]
    use super::{line_end, special};

    /// Every byte value at every place of a word, with every neighbour that could borrow.
    #[test]
    fn words_and_bytes_say_the_same() {
        let mut checked = 0_u32;
        for byte in 0..=u8::MAX {
            for neighbour in [b'a', 0, 0x0B, 0x1F, 0x20, 0x7F, 0x80, 0xFF, byte] {
                for place in 0..17 {
                    let mut text = vec![b'a'; 17];
                    if let Some(slot) = text.get_mut(place + 1) {
                        *slot = neighbour;
                    }
                    text[place] = byte;
                    let naive = text.iter().position(|one| matches!(one, b'\n' | b'\r'));
                    assert_eq!(line_end(&text), naive, "{byte} {neighbour} {place}");
                    let naive = text.iter().position(|one| *one < 0x20 || matches!(one, b'"' | b'\\'));
                    assert_eq!(special(&text), naive, "{byte} {neighbour} {place}");
                    checked += 1;
                }
            }
        }
        assert_eq!(checked, 256 * 9 * 17);
    }
}
