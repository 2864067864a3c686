//! Values as text, and patterns.

use std::fmt::Write as _;

use tgm_core::Result;
use tgm_core::cbor::{Kind, Value};

/// Whether `text` fits `pattern`, in which each `*` stands for any text: O(text × pattern) at worst.
///
/// Plain algorithm: try every length for every `*`. The trick: a pattern fits if each `*` takes as little as possible, so
/// on a mismatch only the last `*` has to take one byte more. Bytes do for characters, as `*` is one byte of UTF-8 and
/// parts of the pattern are whole characters.
pub(super) fn fits(text: &str, pattern: &str) -> bool {
    let (mut text, mut pattern) = (text.as_bytes(), pattern.as_bytes());
    // The text and the pattern after the last `*`.
    let mut last: Option<(&[u8], &[u8])> = None;
    loop {
        match (text, pattern) {
            (_, [b'*', behind @ ..]) => {
                pattern = behind;
                last = Some((text, behind));
            }
            ([], []) => return true,
            ([a, text_rest @ ..], [b, pattern_rest @ ..]) if a == b => (text, pattern) = (text_rest, pattern_rest),
            _ => match last {
                Some(([_, shorter @ ..], behind)) => {
                    (text, pattern) = (shorter, behind);
                    last = Some((shorter, behind));
                }
                _ => return false,
            },
        }
    }
}

/// A value as compact JSON. What JSON lacks is an object with one key, as the tool prints it.
///
/// # Errors
/// The errors of walking an array or a map.
pub(super) fn json(value: &Value<'_>) -> Result<String> {
    let mut text = String::new();
    write(value, &mut text)?;
    Ok(text)
}

/// Writes a value. Recursion is bounded by the nesting that `tgm_core` lets pass.
fn write(value: &Value<'_>, out: &mut String) -> Result<()> {
    if let Ok(integer) = value.as_integer() {
        if u64::try_from(integer).is_ok() || i64::try_from(integer).is_ok() {
            put(out, format_args!("{integer}"));
        } else {
            put(out, format_args!("{{\"$int\":\"{integer}\"}}"));
        }
        return Ok(());
    }
    match value.kind() {
        Kind::Null if value.as_encoded() == [0xf7] => out.push_str("{\"$undefined\":true}"),
        Kind::Null => out.push_str("null"),
        Kind::Bool => out.push_str(if value.as_bool()? { "true" } else { "false" }),
        Kind::Integer | Kind::Float => write_float(value.as_f64()?, out),
        Kind::Text => quote(&value.as_text()?.to_string(), out),
        Kind::Bytes => {
            out.push_str("{\"$bytes\":\"");
            let bytes = value.as_bytes()?;
            bytes.chunks().flatten().for_each(|byte| put(out, format_args!("{byte:02x}")));
            out.push_str("\"}");
        }
        Kind::Array => list(value.as_array()?.iter(), ['[', ']'], out, |item, out| write(&item, out))?,
        Kind::Map => write_map(value, out)?,
        Kind::Tag => {
            let (tag, tagged) = value.as_tag()?;
            put(out, format_args!("{{\"$tag\":{tag},\"value\":"));
            write(&tagged, out)?;
            out.push('}');
        }
    }
    Ok(())
}

fn write_map(value: &Value<'_>, out: &mut String) -> Result<()> {
    let entries = value.as_map()?;
    if entries.iter().all(|entry| entry.is_ok_and(|(key, _)| key.kind() == Kind::Text)) {
        return list(entries.iter(), ['{', '}'], out, |(key, value), out| {
            write(&key, out)?;
            out.push(':');
            write(&value, out)
        });
    }
    out.push_str("{\"$pairs\":");
    list(entries.iter(), ['[', ']'], out, |(key, value), out| {
        out.push('[');
        write(&key, out)?;
        out.push(',');
        write(&value, out)?;
        out.push(']');
        Ok(())
    })?;
    out.push('}');
    Ok(())
}

/// Writes items between brackets, with commas.
fn list<T>(
    items: impl Iterator<Item = Result<T>>,
    [open, close]: [char; 2],
    out: &mut String,
    write: impl Fn(T, &mut String) -> Result<()>,
) -> Result<()> {
    out.push(open);
    for (index, item) in items.enumerate() {
        if index > 0 {
            out.push(',');
        }
        write(item?, out)?;
    }
    out.push(close);
    Ok(())
}

fn write_float(float: f64, out: &mut String) {
    if float.is_finite() {
        put(out, format_args!("{float:?}"));
    } else {
        let name = if float.is_nan() { "nan" } else { "inf" };
        let sign = if float == f64::NEG_INFINITY { "-" } else { "" };
        put(out, format_args!("{{\"$float\":\"{sign}{name}\"}}"));
    }
}

/// Writes text in quotes, with the escapes of JSON.
fn quote(text: &str, out: &mut String) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            c if c < ' ' => put(out, format_args!("\\u{:04x}", u32::from(c))),
            c => out.push(c),
        }
    }
    out.push('"');
}

fn put(out: &mut String, text: std::fmt::Arguments<'_>) {
    // Writing to a String cannot fail.
    let _ = out.write_fmt(text);
}
