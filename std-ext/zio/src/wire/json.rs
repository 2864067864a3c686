//! JSON in place: one strict pass over the text, then views that borrow it.
//!
//! The pass needs no stack: a bit for each open level says whether it is an object. So nesting is bounded by a number,
//! and hostile text costs time in proportion to its length.
//!
//! Views walk the text when they are asked. To find the end of a value they count brackets outside of strings, which is
//! enough for text that passed.

use core::fmt::{self, Write as _};
use core::iter::FusedIterator;

use super::error::{ErrorKind, Result};

/// The deepest nesting that is read.
const MAX_DEPTH: u32 = 127;

/// A JSON value, borrowed from valid text.
///
/// ```
/// use tgm_zio::Json;
///
/// let json = Json::parse(br#" {"a": [1, "\u00b5V"], "b": null} "#)?;
/// let mut items = json.get("a").and_then(|a| a.items()).unwrap();
/// assert_eq!(items.next().and_then(|one| one.as_u64()), Some(1));
/// assert!(items.next().and_then(|unit| unit.as_str()).is_some_and(|unit| unit == "µV"));
/// assert!(json.get("b").is_some_and(|b| b.is_null()));
/// # Ok::<(), tgm_zio::Error>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Json<'a>(&'a str);

impl<'a> Json<'a> {
    /// The value that is the whole of `text`, with white space around it. O(length), no recursion.
    ///
    /// Strict: no byte order mark, comment, trailing comma, NaN or lone surrogate, and at most 127 levels of nesting. Numbers
    /// of any size pass, because they stay text.
    ///
    /// # Errors
    /// [`ErrorKind::LabelNotUtf8`] and [`ErrorKind::LabelNotJson`], with the byte.
    pub fn parse(text: &'a [u8]) -> Result<Self> {
        let text = core::str::from_utf8(text).map_err(|error| ErrorKind::LabelNotUtf8.at_byte(error.valid_up_to()))?;
        let mut reader = Reader { bytes: text.as_bytes(), at: 0 };
        match reader.document() {
            Some(()) => Ok(Self(text.trim_matches(is_space))),
            None => Err(ErrorKind::LabelNotJson.at_byte(reader.at)),
        }
    }

    /// The text of the value, as it was written.
    pub const fn as_text(&self) -> &'a str {
        self.0
    }

    /// Whether this is null.
    pub fn is_null(&self) -> bool {
        self.0 == "null"
    }

    /// The truth value, if this is one.
    pub fn as_bool(&self) -> Option<bool> {
        match self.0 {
            "true" => Some(true),
            "false" => Some(false),
            _ => None,
        }
    }

    /// The number, if this is a non-negative integer of 64 bits, written without fraction and exponent.
    pub fn as_u64(&self) -> Option<u64> {
        // `parse` takes a sign and leading zeros; of these JSON has the minus sign only.
        if self.0.starts_with(|first: char| first.is_ascii_digit()) { self.0.parse().ok() } else { None }
    }

    /// The text, if this is a string.
    pub fn as_str(&self) -> Option<JsonStr<'a>> {
        self.0.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).map(JsonStr)
    }

    /// The items, if this is an array.
    pub fn items(&self) -> Option<JsonItems<'a>> {
        let inside = self.0.strip_prefix('[')?.strip_suffix(']')?;
        Some(JsonItems(Reader { bytes: inside.as_bytes(), at: 0 }, inside))
    }

    /// The members, if this is an object. A key may occur more than once.
    pub fn members(&self) -> Option<JsonMembers<'a>> {
        let inside = self.0.strip_prefix('{')?.strip_suffix('}')?;
        Some(JsonMembers(JsonItems(Reader { bytes: inside.as_bytes(), at: 0 }, inside)))
    }

    /// The member with this key, if this is an object that has one. The last of repeated keys counts. O(length).
    pub fn get(&self, key: &str) -> Option<Self> {
        self.members()?.filter(|(name, _)| *name == *key).last().map(|(_, value)| value)
    }

    /// [`Self::get`], with null taken for absent.
    pub(super) fn given(&self, key: &str) -> Option<Self> {
        self.get(key).filter(|value| !value.is_null())
    }
}

/// Shows the text.
impl fmt::Debug for Json<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

/// A string of JSON, borrowed with its escapes. It compares as the text that it means.
///
/// ```
/// use tgm_zio::Json;
///
/// let text = Json::parse(br#""\u0054ENS""#)?;
/// let text = text.as_str().unwrap();
/// assert!(text == "TENS" && text.plain().is_none());
/// assert!(text.chars().eq("TENS".chars()));
/// # Ok::<(), tgm_zio::Error>(())
/// ```
#[derive(Clone, Copy)]
pub struct JsonStr<'a>(&'a str);

impl<'a> JsonStr<'a> {
    /// The text in place, if it has no escapes.
    pub fn plain(&self) -> Option<&'a str> {
        if self.0.contains('\\') { None } else { Some(self.0) }
    }

    /// The characters, with escapes resolved.
    pub fn chars(&self) -> JsonChars<'a> {
        JsonChars(self.0.chars())
    }
}

impl PartialEq<str> for JsonStr<'_> {
    fn eq(&self, text: &str) -> bool {
        self.chars().eq(text.chars())
    }
}

impl PartialEq<&str> for JsonStr<'_> {
    fn eq(&self, text: &&str) -> bool {
        *self == **text
    }
}

/// Shows the text, with escapes resolved.
impl fmt::Display for JsonStr<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.chars().try_for_each(|one| f.write_char(one))
    }
}

/// Shows the text as it was written.
impl fmt::Debug for JsonStr<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\"{}\"", self.0)
    }
}

/// The characters of a [`JsonStr`].
///
/// ```
/// # use tgm_zio::Json;
/// let text = Json::parse(br#""a\n\u00e9""#)?;
/// assert!(text.as_str().unwrap().chars().eq(['a', '\n', 'é']));
/// # Ok::<(), tgm_zio::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct JsonChars<'a>(core::str::Chars<'a>);

impl JsonChars<'_> {
    fn hex(&mut self) -> Option<u32> {
        (0..4).try_fold(0_u32, |code, _| Some(code.wrapping_shl(4) | self.0.next()?.to_digit(16)?))
    }

    fn escaped(&mut self) -> Option<char> {
        Some(match self.0.next()? {
            'b' => '\u{8}',
            'f' => '\u{C}',
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            'u' => {
                let code = self.hex()?;
                if code & 0xFC00 != 0xD800 {
                    return char::from_u32(code);
                }
                // The second half of a pair follows, after the two characters of its escape.
                self.0.nth(1)?;
                let low = self.hex()?;
                let code = (code & 0x3FF).wrapping_shl(10) | (low & 0x3FF);
                return char::from_u32(code.wrapping_add(0x1_0000));
            }
            other => other,
        })
    }
}

impl Iterator for JsonChars<'_> {
    type Item = char;

    fn next(&mut self) -> Option<char> {
        match self.0.next()? {
            '\\' => self.escaped(),
            plain => Some(plain),
        }
    }
}

/// The items of an array, in order. See [`Json::items`].
///
/// ```
/// # use tgm_zio::Json;
/// let list = Json::parse(b"[1, [2, 3], 4]")?;
/// assert!(list.items().unwrap().map(|item| item.as_text()).eq(["1", "[2, 3]", "4"]));
/// # Ok::<(), tgm_zio::Error>(())
/// ```
#[derive(Clone)]
pub struct JsonItems<'a>(Reader<'a>, &'a str);

impl<'a> JsonItems<'a> {
    /// Steps over white space and `separator`.
    fn step_past(&mut self, separator: u8) {
        while self.0.peek().is_some_and(|byte| is_space(char::from(byte)) || byte == separator) {
            self.0.bump();
        }
    }

    fn value(&mut self) -> Option<Json<'a>> {
        let start = self.0.at;
        self.0.step_over()?;
        Some(Json(self.1.get(start..self.0.at)?))
    }
}

impl<'a> Iterator for JsonItems<'a> {
    type Item = Json<'a>;

    fn next(&mut self) -> Option<Json<'a>> {
        self.step_past(b',');
        self.value()
    }
}

impl FusedIterator for JsonItems<'_> {}

/// Shows the text that is left.
impl fmt::Debug for JsonItems<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.1.get(self.0.at..).unwrap_or_default())
    }
}

/// The members of an object, in order: key and value. See [`Json::members`].
///
/// ```
/// # use tgm_zio::Json;
/// let object = Json::parse(br#"{"a": 1, "b": {"c": 2}}"#)?;
/// let (key, value) = object.members().unwrap().nth(1).unwrap();
/// assert!(key == "b" && value.get("c").and_then(|c| c.as_u64()) == Some(2));
/// # Ok::<(), tgm_zio::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct JsonMembers<'a>(JsonItems<'a>);

impl<'a> Iterator for JsonMembers<'a> {
    type Item = (JsonStr<'a>, Json<'a>);

    fn next(&mut self) -> Option<Self::Item> {
        let key = self.0.next()?.as_str()?;
        self.0.step_past(b':');
        Some((key, self.0.value()?))
    }
}

impl FusedIterator for JsonMembers<'_> {}

/// White space of JSON.
const fn is_space(one: char) -> bool {
    matches!(one, ' ' | '\t' | '\n' | '\r')
}

/// Reads bytes one by one. `None` from a method means: not JSON, at this byte.
#[derive(Clone)]
struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Reader<'_> {
    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    const fn bump(&mut self) {
        self.at = self.at.saturating_add(1);
    }

    /// Steps over `byte`, if it is there.
    fn take(&mut self, byte: u8) -> bool {
        let is_there = self.peek() == Some(byte);
        if is_there {
            self.bump();
        }
        is_there
    }

    fn expect(&mut self, byte: u8) -> Option<()> {
        self.take(byte).then_some(())
    }

    fn space(&mut self) {
        while self.peek().is_some_and(|byte| is_space(char::from(byte))) {
            self.bump();
        }
    }

    /// One value and white space, to the end.
    fn document(&mut self) -> Option<()> {
        // Bit d-1 says that level d is an object.
        let (mut depth, mut objects) = (0_u32, 0_u128);
        loop {
            self.space();
            let opens = match self.peek()? {
                b'{' => Some(true),
                b'[' => Some(false),
                _ => None,
            };
            if let Some(is_object) = opens {
                self.bump();
                self.space();
                if depth >= MAX_DEPTH {
                    return None;
                }
                if !self.take(if is_object { b'}' } else { b']' }) {
                    let level = 1_u128.wrapping_shl(depth);
                    objects = if is_object { objects | level } else { objects & !level };
                    depth = depth.saturating_add(1);
                    if is_object {
                        self.key()?;
                    }
                    continue;
                }
            } else {
                self.scalar()?;
            }
            // A value is complete. What it ends is closed.
            loop {
                self.space();
                let Some(top) = depth.checked_sub(1) else {
                    return (self.at >= self.bytes.len()).then_some(());
                };
                let is_object = objects.wrapping_shr(top) & 1 == 1;
                if self.take(b',') {
                    if is_object {
                        self.space();
                        self.key()?;
                    }
                    break;
                }
                self.expect(if is_object { b'}' } else { b']' })?;
                depth = top;
            }
        }
    }

    fn key(&mut self) -> Option<()> {
        self.string()?;
        self.space();
        self.expect(b':')
    }

    fn scalar(&mut self) -> Option<()> {
        match self.peek()? {
            b'"' => self.string(),
            b't' => self.word(b"true"),
            b'f' => self.word(b"false"),
            b'n' => self.word(b"null"),
            _ => self.number(),
        }
    }

    fn word(&mut self, word: &[u8]) -> Option<()> {
        word.iter().try_for_each(|byte| self.expect(*byte))
    }

    fn digits(&mut self) -> Option<()> {
        let is_digit = |byte: u8| byte.is_ascii_digit();
        if !self.peek().is_some_and(is_digit) {
            return None;
        }
        while self.peek().is_some_and(is_digit) {
            self.bump();
        }
        Some(())
    }

    fn number(&mut self) -> Option<()> {
        self.take(b'-');
        if !self.take(b'0') {
            self.digits()?;
        }
        if self.take(b'.') {
            self.digits()?;
        }
        if self.take(b'e') || self.take(b'E') {
            let _has_sign = self.take(b'+') || self.take(b'-');
            self.digits()?;
        }
        Some(())
    }

    fn string(&mut self) -> Option<()> {
        self.expect(b'"')?;
        loop {
            match self.peek()? {
                0..=0x1F => return None,
                b'"' => {
                    self.bump();
                    return Some(());
                }
                b'\\' => {
                    self.bump();
                    self.escape()?;
                }
                _ => self.bump(),
            }
        }
    }

    fn escape(&mut self) -> Option<()> {
        match self.peek()? {
            b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => self.bump(),
            b'u' => {
                self.bump();
                match self.hex()? & 0xFC00 {
                    0xD800 => {
                        self.word(b"\\u")?;
                        if self.hex()? & 0xFC00 != 0xDC00 {
                            return None;
                        }
                    }
                    0xDC00 => return None,
                    _ => {}
                }
            }
            _ => return None,
        }
        Some(())
    }

    fn hex(&mut self) -> Option<u32> {
        (0..4).try_fold(0_u32, |code, _| {
            let digit = char::from(self.peek()?).to_digit(16)?;
            self.bump();
            Some(code.wrapping_shl(4) | digit)
        })
    }

    /// Steps over a value that was read before.
    fn step_over(&mut self) -> Option<()> {
        let mut depth = 0_usize;
        loop {
            match self.peek()? {
                b'"' => self.string()?,
                b'{' | b'[' => {
                    depth = depth.saturating_add(1);
                    self.bump();
                }
                b'}' | b']' => {
                    depth = depth.saturating_sub(1);
                    self.bump();
                }
                b',' | b':' | b' ' | b'\t' | b'\n' | b'\r' => self.bump(),
                _ => self.scalar()?,
            }
            if depth == 0 {
                return Some(());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::format;
    use std::string::{String, ToString as _};
    use std::vec::Vec;

    use super::*;

    #[test]
    fn only_json_passes() {
        for good in [
            "{}",
            " [ ] ",
            "0",
            "-0.5e+7",
            "\"\"",
            "true",
            "null",
            "[[],{}]",
            "{\"a\":{\"b\":[1,2]},\"c\":\"\\\"\"}",
            "\"\\uD83D\\uDE00\"",
            "[1 , 2\n]",
            "1E2",
            "1e-5",
            "0.5E+07",
        ] {
            assert!(Json::parse(good.as_bytes()).is_ok(), "{good}");
        }
        for (bad, at) in [
            ("", 0),
            ("{", 1),
            ("{}x", 2),
            ("[1,]", 3),
            ("{\"a\" 1}", 5),
            ("{\"a\":1,}", 7),
            ("01", 1),
            ("1.", 2),
            ("-", 1),
            ("NaN", 0),
            ("\"\u{1}\"", 1),
            ("\"\\x\"", 2),
            ("\"\\uD800\"", 7),
            ("\"\\uDC00\"", 7),
            ("[1}", 2),
            ("tru", 3),
            ("{}\0", 2),
            ("\u{FEFF}{}", 0),
            ("+1", 0),
        ] {
            let error = Json::parse(bad.as_bytes()).unwrap_err();
            assert_eq!((error.kind(), error.offset()), (ErrorKind::LabelNotJson, Some(at)), "{bad}");
        }
        assert_eq!(Json::parse(b"{\"a\xFF").unwrap_err(), ErrorKind::LabelNotUtf8.at_byte(3));
    }

    #[test]
    fn nesting_is_bounded() {
        let nested = |depth| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        assert!(Json::parse(nested(127).as_bytes()).is_ok());
        assert!(Json::parse(nested(128).as_bytes()).is_err());
        let filled = |depth| format!("{}0{}", "[".repeat(depth), "]".repeat(depth));
        assert!(Json::parse(filled(127).as_bytes()).is_ok() && Json::parse(filled(128).as_bytes()).is_err());
        assert!(Json::parse("[".repeat(100_000).as_bytes()).is_err());
    }

    #[test]
    fn values_are_found_where_they_lie() {
        let json =
            Json::parse(b" {\"a\":1, \"b\" : [true, {\"c\":\"]}\"}, -3] , \"a\":18446744073709551615} ").unwrap();
        assert_eq!(json.get("a").and_then(|a| a.as_u64()), Some(u64::MAX));
        let items: Vec<_> = json.get("b").unwrap().items().unwrap().map(|item| item.as_text().to_string()).collect();
        assert_eq!(items, ["true", "{\"c\":\"]}\"}", "-3"]);
        let mut items = json.get("b").unwrap().items().unwrap();
        assert_eq!(items.next().and_then(|one| one.as_bool()), Some(true));
        assert!(items.next().and_then(|one| one.get("c")).and_then(|c| c.as_str()).is_some_and(|c| c == "]}"));
        assert_eq!(items.next().and_then(|one| one.as_u64()), None);
        assert_eq!((items.next(), json.get("c"), json.items().is_none()), (None, None, true));
        for not in ["2.0", "2e0", "-0", "18446744073709551616", "true"] {
            assert_eq!(Json::parse(not.as_bytes()).unwrap().as_u64(), None, "{not}");
        }
    }

    #[test]
    fn escapes_are_resolved() {
        let json = Json::parse(br#""\b\f\n\r\t\/\\\"\u00B5\ud83d\ude00x""#).unwrap();
        let text: String = json.as_str().unwrap().chars().collect();
        assert_eq!(text, "\u{8}\u{C}\n\r\t/\\\"µ😀x");
        assert_eq!(json.as_str().unwrap().to_string(), text);
    }
}
