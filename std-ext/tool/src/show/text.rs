//! Text from files, made harmless for terminals, and cut to lengths.

use std::iter;

pub(crate) use tgm_std::harmless::{escape, escaped, is_plain, is_unsafe};
pub(crate) use tgm_std::metadata::json::hex;

/// Any number of blanks, in pieces. Widths of format strings end at 65,535.
pub(crate) fn blanks(count: usize) -> impl Iterator<Item = &'static str> {
    const BLANKS: &str = "                                                                ";
    let mut left = count;
    iter::from_fn(move || {
        let some = BLANKS.get(..left).unwrap_or(BLANKS);
        left -= some.len();
        (!some.is_empty()).then_some(some)
    })
}

/// A number of things: `1 file`, `2 files`.
pub(crate) fn counted(count: u64, what: &str) -> String {
    if count == 1 { format!("1 {what}") } else { format!("{count} {what}s") }
}

/// The number of characters.
pub(crate) fn width(text: &str) -> usize {
    if text.is_ascii() { text.len() } else { text.chars().count() }
}

/// The first `limit` characters of `text`, followed by the full length if it was cut.
pub(crate) fn shorten(text: &str, limit: usize) -> String {
    // Each character has at least one byte.
    if text.len() <= limit {
        return text.to_string();
    }
    match text.char_indices().nth(limit) {
        Some((end, _)) => {
            let kept = text.get(..end).unwrap_or_default();
            format!("{kept}… ({} characters)", text.chars().count())
        }
        None => text.to_string(),
    }
}

/// [`shorten`] of a text that the caller gives away. Short ones are not copied.
pub(crate) fn shortened(text: String, limit: usize) -> String {
    if text.len() <= limit { text } else { shorten(&text, limit) }
}

/// `text` with at most `limit` characters. Longer text has an ellipsis in the middle.
pub(crate) fn cut(text: String, limit: usize) -> String {
    // Bytes are compared first, because most texts are short and each character has at least one byte.
    let count = if text.len() <= limit { 0 } else { text.chars().count() };
    if count <= limit {
        return text;
    }
    let kept = limit.saturating_sub(1);
    let (head, tail) = (kept.div_ceil(2), kept / 2);
    let head = text.chars().take(head);
    head.chain(['…']).chain(text.chars().skip(count.saturating_sub(tail))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_width_counts_characters() {
        assert_eq!(["", "abc", "é…"].map(width), [0, 3, 2]);
    }

    #[test]
    fn what_is_cut_keeps_both_ends() {
        let cut = |text: &str, limit| cut(text.to_string(), limit);
        assert_eq!([cut("éééé", 4), cut("abcdef", 5), cut("abcdefg", 4)], ["éééé", "ab…ef", "ab…g"]);
        assert_eq!([cut("abc", 1), cut("abc", 0), cut("", 0)], ["…", "…", ""]);
    }

    #[test]
    fn shortening_counts_characters() {
        assert_eq!(shorten("ééé", 3), "ééé");
        assert_eq!(shorten("éééé", 3), "ééé… (4 characters)");
        assert_eq!(["abc", "ééé", "éééé"].map(|text| shortened(text.into(), 3)), ["abc", "ééé", "ééé… (4 characters)"]);
    }
}
