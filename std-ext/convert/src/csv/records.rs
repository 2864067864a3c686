//! The lines of a table, and their fields.

use std::borrow::Cow;

/// A line: several, if a field in quotes has line feeds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Record<'t> {
    /// The number of its first line, from 1.
    pub(super) line: usize,
    pub(super) fields: Vec<Cow<'t, str>>,
}

/// What a line begins and does not end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fault {
    /// A field in quotes without an end, that begins in this line.
    Unclosed(usize),
    /// A field of more than [`MAX_FIELD`] bytes, in this line.
    Long(usize),
}

/// The most bytes of a field: what is longer is not a table, but one line without an end.
pub(super) const MAX_FIELD: usize = if cfg!(test) { 1 << 10 } else { 16 << 20 };

/// The records of a text. Blank lines are left out. It ends after a fault.
pub(super) struct Records<'t> {
    rest: &'t str,
    line: usize,
    /// What stands between fields.
    separator: char,
}

impl<'t> Records<'t> {
    pub(super) fn new(text: &'t str, separator: char) -> Self {
        Self { rest: text.strip_prefix('\u{feff}').unwrap_or(text), line: 1, separator }
    }

    /// The length of a field at the start of `text`.
    fn end(&self, text: &str) -> Result<usize, Fault> {
        // Separators and line ends are ASCII, and so a byte of their own.
        let is_end = |byte: &u8| matches!(byte, b'\n' | b'\r') || char::from(*byte) == self.separator;
        let bytes = text.as_bytes();
        match bytes.iter().take(MAX_FIELD + 1).position(is_end) {
            Some(end) => Ok(end),
            None if bytes.len() > MAX_FIELD => Err(Fault::Long(self.line)),
            None => Ok(bytes.len()),
        }
    }

    /// Takes a field, and says whether the line ends after it.
    fn field(&mut self) -> Result<(Cow<'t, str>, bool), Fault> {
        if let Some(inner) = self.rest.strip_prefix('"') {
            return self.quoted(inner);
        }
        let end = self.end(self.rest)?;
        let (field, rest) = self.rest.split_at(end);
        self.rest = rest;
        Ok((Cow::Borrowed(field.trim()), self.separator()))
    }

    /// Takes a field in quotes, whose opening one was before `inner`.
    fn quoted(&mut self, inner: &'t str) -> Result<(Cow<'t, str>, bool), Fault> {
        let line = self.line;
        let (mut text, mut rest) = (String::new(), inner);
        loop {
            let (before, behind) = rest.split_once('"').ok_or(Fault::Unclosed(line))?;
            if before.len() > MAX_FIELD - text.len().min(MAX_FIELD) {
                return Err(Fault::Long(line));
            }
            text.push_str(before);
            self.line += lines(before);
            // Two quotes stand for one.
            let Some(more) = behind.strip_prefix('"') else {
                rest = behind;
                break;
            };
            text.push('"');
            rest = more;
        }
        // What stands between the quote and the comma belongs to the field, as in other readers.
        let end = self.end(rest)?;
        let (more, rest) = rest.split_at(end);
        text.push_str(more.trim_end());
        self.rest = rest;
        Ok((Cow::Owned(text), self.separator()))
    }

    /// Takes the separator or the line end after a field. Returns whether the line ends.
    fn separator(&mut self) -> bool {
        if let Some(rest) = self.rest.strip_prefix(self.separator) {
            self.rest = rest;
            return false;
        }
        if let Some(rest) = ["\r\n", "\n", "\r"].iter().find_map(|end| self.rest.strip_prefix(end)) {
            self.rest = rest;
            self.line += 1;
        }
        true
    }
}

/// The line ends in a text.
fn lines(text: &str) -> usize {
    text.matches(['\n', '\r']).count() - text.matches("\r\n").count()
}

/// What stands between the fields of a table: a comma, unless a semicolon or a tab alone gives the same number of fields, of
/// two at least, in each of the first lines.
pub(super) fn separator(text: &str) -> char {
    let divides = |separator: &char| {
        let first: Result<Vec<_>, _> = Records::new(text, *separator).take(20).collect();
        let counts: Vec<usize> = first.into_iter().flatten().map(|record| record.fields.len()).collect();
        counts.first().is_some_and(|count| *count > 1 && counts.iter().all(|other| other == count))
    };
    let others: Vec<char> = [';', '\t'].into_iter().filter(divides).collect();
    match others.as_slice() {
        [one] if !divides(&',') => *one,
        _ => ',',
    }
}

impl<'t> Iterator for Records<'t> {
    type Item = Result<Record<'t>, Fault>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if self.rest.is_empty() {
                return None;
            }
            let line = self.line;
            let mut fields = Vec::new();
            loop {
                match self.field() {
                    Ok((field, is_last)) => {
                        fields.push(field);
                        if is_last {
                            break;
                        }
                    }
                    Err(error) => {
                        self.rest = "";
                        return Some(Err(error));
                    }
                }
            }
            // An empty field in quotes is a value, which is missing.
            if !matches!(fields.as_slice(), [Cow::Borrowed("")]) {
                return Some(Ok(Record { line, fields }));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Vec<Row> {
        let record = |Record { line, fields }| (line, fields.iter().map(ToString::to_string).collect());
        Records::new(text, ',').map(|found| found.map(record)).collect()
    }

    type Row = Result<(usize, Vec<String>), Fault>;

    fn line(number: usize, fields: &[&str]) -> (usize, Vec<String>) {
        (number, fields.iter().map(ToString::to_string).collect())
    }

    #[test]
    fn fields_stand_between_commas_and_may_have_quotes() {
        assert_eq!(read("\u{feff}a, b ,\r\n\n1,2,3"), [Ok(line(1, &["a", "b", ""])), Ok(line(3, &["1", "2", "3"]))]);
        assert_eq!(read("\"a,\"\"b\"\"\n\",1\n2,\"\""), [Ok(line(1, &["a,\"b\"\n", "1"])), Ok(line(3, &["2", ""]))]);
        assert_eq!(read("\"\"\n"), [Ok(line(1, &[""]))]);
        assert_eq!(read(""), []);
    }

    #[test]
    fn lines_end_in_any_way_and_separators_are_found() {
        let expected = [Ok(line(1, &["a", "b"])), Ok(line(2, &["1", "2"])), Ok(line(4, &["x\ry", "4"]))];
        assert_eq!(read("a,b\r1,2\r\n\r\"x\ry\",4\r"), expected);
        assert_eq!(read("a\n\"x\r\ny\"\n1")[2], Ok(line(4, &["1"])));
        for (text, expected) in [
            ("a;b\n1,5;2,5\n", ';'),
            ("a\tb\n1\t2\n", '\t'),
            ("a,b\n1;2,3;4\n", ','),
            ("a;b\n1;2;3\n", ','),
            ("a;b\tc\n1;2\t3\n", ','),
            ("a\n1\n", ','),
        ] {
            assert_eq!(separator(text), expected, "{text:?}");
        }
    }

    #[test]
    fn a_field_has_an_end() {
        let long = "x".repeat(MAX_FIELD);
        assert_eq!(read(&format!("a\n{long}\n"))[1], Ok(line(2, &[&long])));
        for text in [format!("a\n{long}x"), format!("a\n\"{long}x\"\n"), format!("a\n\"\"{long}x\n")] {
            assert_eq!(read(&text)[1], Err(Fault::Long(2)));
        }
    }

    #[test]
    fn a_quote_without_an_end_is_an_error_at_its_line() {
        assert_eq!(read("1\n\"a\n\n"), [Ok(line(1, &["1"])), Err(Fault::Unclosed(2))]);
    }
}
