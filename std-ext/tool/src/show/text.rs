//! Text from files, made harmless for terminals.

use std::fmt::Write as _;
use std::iter;

/// `text` with control characters, and characters that change the direction of writing, as escapes: `\n`, `\u{1b}`.
pub(crate) fn escape(text: &str) -> String {
    if is_plain(text) {
        return text.to_string();
    }
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' | '\r' | '\t' => escaped.extend(c.escape_default()),
            c if is_unsafe(c) => {
                // Writing to a string cannot fail.
                let _ = write!(escaped, "\\u{{{:x}}}", u32::from(c));
            }
            c => escaped.push(c),
        }
    }
    escaped
}

/// [`escape`] of a text that the caller gives away. Most texts are plain, and are not copied.
pub(crate) fn escaped(text: String) -> String {
    if is_plain(&text) { text } else { escape(&text) }
}

/// Whether nothing has to be escaped, as far as that shows without a look at each character.
pub(crate) fn is_plain(text: &str) -> bool {
    text.bytes().all(|byte| matches!(byte, b' '..=b'~'))
}

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

/// The number of characters.
pub(crate) fn width(text: &str) -> usize {
    if text.is_ascii() { text.len() } else { text.chars().count() }
}

/// Whether this character could mislead a terminal or a reader: it moves the cursor, changes the direction of writing, or
/// is not seen. U+200C and U+200D change how the letters beside them look, and words of many languages need them.
pub(crate) fn is_unsafe(c: char) -> bool {
    c.is_control()
        || matches!(
            c,
            '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{180e}'
                | '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
                | '\u{3164}' | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}'
                | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}'
        )
        // The last two of each plane are not characters.
        || u32::from(c) & 0xfffe == 0xfffe
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

/// Lower-case hexadecimal digits of `bytes`.
pub(crate) fn hex<'b>(bytes: impl IntoIterator<Item = &'b u8>) -> String {
    bytes.into_iter().fold(String::new(), |mut text, byte| {
        // Writing to a string cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_moves_the_cursor_is_escaped() {
        assert_eq!(escape("a\u{1b}[31mb\nc\u{9b}d\u{202e}e\u{7f}é"), "a\\u{1b}[31mb\\nc\\u{9b}d\\u{202e}e\\u{7f}é");
        for text in ["", " ~a", "é", "\t", "a\u{7f}", "b\u{1f}"] {
            assert_eq!(escaped(text.to_string()), escape(text));
        }
        assert_eq!(escape(" ~a"), " ~a");
    }

    /// One of each kind that is not seen, and letters that are.
    #[test]
    fn what_is_not_seen_is_escaped() {
        for c in [
            '\u{ad}',
            '\u{61c}',
            '\u{200b}',
            '\u{2060}',
            '\u{2064}',
            '\u{206f}',
            '\u{180e}',
            '\u{3164}',
            '\u{fff9}',
            '\u{fffe}',
            '\u{ffff}',
            '\u{1ffff}',
            '\u{e0000}',
            '\u{e0041}',
            '\u{e01ef}',
        ] {
            assert_eq!(escape(&format!("a{c}b")), format!("a\\u{{{:x}}}b", u32::from(c)));
        }
        for text in ["é", "日本", "\u{200d}", "\u{301}", "\u{fffd}", "🌍"] {
            assert_eq!(escape(text), text);
        }
    }

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
