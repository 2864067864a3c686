//! Lines that are broken where the terminal ends, so that what goes on stands below its beginning.

use std::io::{self, Write};

/// The deepest indentation of a line that goes on. Deeper, little room would be left.
const DEEPEST: usize = 12;

/// A writer of lines for a terminal of some width. A line is written when its end has come, or at a flush.
#[derive(Debug)]
pub(crate) struct Wrap {
    columns: usize,
    line: Vec<u8>,
}

impl Wrap {
    /// A writer for this width.
    pub(crate) const fn new(columns: usize) -> Self {
        Self { columns, line: Vec::new() }
    }

    /// Writes `bytes` to `sink`, except a last line without its end.
    pub(crate) fn write(&mut self, bytes: &[u8], sink: &mut dyn Write) -> io::Result<()> {
        for part in bytes.split_inclusive(|byte| *byte == b'\n') {
            self.line.extend_from_slice(part);
            if part.ends_with(b"\n") {
                self.flush(sink)?;
            }
        }
        Ok(())
    }

    /// Writes what is held back.
    pub(crate) fn flush(&mut self, sink: &mut dyn Write) -> io::Result<()> {
        let line = std::mem::take(&mut self.line);
        if line.len() <= self.columns {
            return sink.write_all(&line);
        }
        // Text of the tool is UTF-8. Other bytes are values, and are not wrapped.
        match std::str::from_utf8(&line) {
            Ok(text) => sink.write_all(wrapped(text, self.columns).as_bytes()),
            Err(_) => sink.write_all(&line),
        }
    }
}

/// `line` in lines of at most `columns` characters. It is broken at blanks if there are any. Escape sequences take no
/// room.
pub(crate) fn wrapped(line: &str, columns: usize) -> String {
    let leading = line.chars().take_while(|c| *c == ' ').count();
    let indent = (leading + 2).min(DEEPEST).min(columns / 2);
    let going_on = format!("\n{:indent$}", "");
    let (mut out, mut width) = (String::with_capacity(line.len() + 16), 0);
    // The last place where the line can be broken: its position in `out`, and the width up to after its blanks.
    let mut gap: Option<(usize, usize, usize)> = None;
    let mut in_escape = false;
    for c in line.chars() {
        if in_escape || c == '\u{1b}' {
            in_escape = c == '\u{1b}' || c == '[' || !c.is_ascii_alphabetic();
            out.push(c);
            continue;
        }
        if c == '\n' {
            out.push(c);
            continue;
        }
        if width >= columns {
            match gap.take().filter(|(start, ..)| *start > 0) {
                Some((start, end, before)) => {
                    out.replace_range(start..end, &going_on);
                    width = width - before + indent;
                }
                None if c != ' ' => {
                    out.push_str(&going_on);
                    width = indent;
                }
                None => {}
            }
            // What was carried over may fill the new line already.
            if width >= columns {
                out.push_str(&going_on);
                width = indent;
            }
        }
        let start = out.len();
        out.push(c);
        width += 1;
        if c == ' ' && width > leading {
            gap = match gap {
                Some((first, end, _)) if end == start => Some((first, out.len(), width)),
                _ => Some((start, out.len(), width)),
            };
        }
    }
    let ends_line = out.ends_with('\n');
    let mut lines: Vec<_> = out.trim_end_matches('\n').split('\n').map(|line| line.trim_end_matches(' ')).collect();
    lines.retain(|line| !line.is_empty());
    lines.join("\n") + if ends_line { "\n" } else { "" }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &str, columns: usize) -> Vec<String> {
        wrapped(text, columns).lines().map(str::to_string).collect()
    }

    #[test]
    fn lines_are_broken_at_blanks_or_where_they_must_be() {
        assert_eq!(lines("one two three four", 10), ["one two", "  three", "  four"]);
        assert_eq!(lines("  a  abcdefghijkl", 10), ["  a", "    abcdef", "    ghijkl"]);
        assert_eq!(lines("0123456789abcdef", 10), ["0123456789", "  abcdef"]);
        assert_eq!(lines("short", 10), ["short"]);
        assert_eq!(lines("éééé éééé éé", 10), ["éééé éééé", "  éé"]);
        assert_eq!(lines("\u{1b}[1mone two\u{1b}[0m three", 10), ["\u{1b}[1mone two\u{1b}[0m", "  three"]);
    }

    #[test]
    fn no_line_is_longer_and_nothing_but_blanks_is_lost() {
        let text = "key  value of some words, andonelongwordwithoutanyblanks   and  more of them, to the very end";
        for columns in 2..120 {
            let broken = wrapped(text, columns);
            assert!(broken.lines().all(|line| line.chars().count() <= columns), "{columns}: {broken}");
            let solid = |text: &str| text.split_whitespace().collect::<String>();
            assert_eq!(solid(&broken), solid(text), "{columns}");
        }
    }

    #[test]
    fn lines_come_whole_whatever_the_pieces_are() {
        let (mut wrap, mut sink) = (Wrap::new(10), Vec::new());
        for byte in "one two three\nfour\nfive".as_bytes() {
            wrap.write(&[*byte], &mut sink).unwrap();
        }
        assert_eq!(sink, b"one two\n  three\nfour\n");
        wrap.flush(&mut sink).unwrap();
        assert_eq!(sink, b"one two\n  three\nfour\nfive");
    }
}
