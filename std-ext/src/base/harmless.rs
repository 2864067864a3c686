//! Text from files, made harmless for terminals and readers.
//!
//! Names, units and other texts of a file are whatever its writer chose. Printed as they are, they can move the cursor, clear the screen
//! or turn the direction of writing.
//!
//! ```
//! assert_eq!(tgm_std::harmless::escape("2t\u{1b}[2J"), "2t\\u{1b}[2J");
//! ```

use std::fmt::Write as _;

/// `text` with control characters, and characters that change the direction of writing, as escapes: `\n`, `\u{1b}`.
pub fn escape(text: &str) -> String {
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
pub fn escaped(text: String) -> String {
    if is_plain(&text) { text } else { escape(&text) }
}

/// Whether nothing has to be escaped, as far as that shows without a look at each character.
pub fn is_plain(text: &str) -> bool {
    text.bytes().all(|byte| matches!(byte, b' '..=b'~'))
}

/// Whether this character could mislead a terminal or a reader: it moves the cursor, changes the direction of writing, or
/// is not seen. U+200C and U+200D change how the letters beside them look, and words of many languages need them.
pub fn is_unsafe(c: char) -> bool {
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
}
