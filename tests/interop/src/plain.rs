//! Results of reading, in a form that can be compared.

use std::cell::Cell;
use std::fmt::Write as _;
use std::sync::Once;

use ciborium::Value;

use crate::case::Entries;

/// A read message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decoded {
    /// Base, reserved and extra entries as text.
    pub metadata: String,
    /// Each object's descriptor as text, and its values.
    pub objects: Vec<(String, Vec<u8>)>,
}

/// Three optional masks of booleans.
pub type BoolMasks = [Option<Vec<bool>>; 3];

/// A message that was read with its masks apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DecodedWithMasks {
    /// Base, reserved and extra entries as text.
    pub metadata: String,
    /// Each object's descriptor as text, its values, its masks.
    pub objects: Vec<(String, Vec<u8>, BoolMasks)>,
}

/// An error, in a form that can be compared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The error's variant, by the words that its text begins with; "panic" if there was no error.
    pub kind: String,
    /// The rest of the text.
    pub text: String,
}

impl Refusal {
    /// From an error's text.
    pub fn new(error: &impl std::fmt::Display) -> Self {
        let error = error.to_string();
        // The texts of two variants begin with a sentence instead of a word and a colon.
        let kinds = ["hash mismatch", "hash verification requested"];
        let (kind, text) = match kinds.into_iter().find(|kind| error.starts_with(kind)) {
            Some(kind) => (kind, error.as_str()),
            None => error.split_once(": ").unwrap_or((&error, "")),
        };
        Self { kind: kind.to_owned(), text: text.to_owned() }
    }
}

/// The result of an operation.
pub type Answer<T> = Result<T, Refusal>;

thread_local! {
    static CATCHING: Cell<bool> = const { Cell::new(false) };
}

/// Runs `work`. A panic counts as a refusal, and prints nothing.
pub fn caught<T>(work: impl FnOnce() -> Answer<T>) -> Answer<T> {
    static QUIET: Once = Once::new();
    QUIET.call_once(|| {
        let hook = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            if !CATCHING.get() {
                hook(panic)
            }
        }));
    });
    CATCHING.set(true);
    let answer = std::panic::catch_unwind(std::panic::AssertUnwindSafe(work));
    CATCHING.set(false);
    answer.unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<String>().cloned();
        let text = text.or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned()));
        Err(Refusal { kind: "panic".into(), text: text.unwrap_or_default() })
    })
}

/// A value as text. Different values have different texts, and so do NaNs with different bits.
pub fn show(value: &Value) -> String {
    let mut out = String::new();
    write_value(&mut out, value);
    out
}

/// Entries as text.
pub fn show_entries(entries: &Entries) -> String {
    let mut out = String::from("{");
    for (key, value) in entries {
        let _ = write!(out, "{key:?}: {}, ", show(value));
    }
    out + "}"
}

fn write_value(out: &mut String, value: &Value) {
    let _ = match value {
        Value::Float(float) => write!(out, "{float:?}({:#x})", float.to_bits()),
        Value::Integer(integer) => write!(out, "{}", i128::from(*integer)),
        Value::Bytes(bytes) => write!(out, "h{bytes:?}"),
        Value::Text(text) => write!(out, "{text:?}"),
        Value::Tag(tag, inner) => write!(out, "{tag}({})", show(inner)),
        Value::Array(items) => write!(out, "[{}]", items.iter().map(show).collect::<Vec<_>>().join(", ")),
        Value::Map(pairs) => {
            let pairs: Vec<_> = pairs.iter().map(|(key, value)| format!("{}: {}", show(key), show(value))).collect();
            write!(out, "{{{}}}", pairs.join(", "))
        }
        Value::Null => write!(out, "null"),
        Value::Bool(bool) => write!(out, "{bool}"),
        other => write!(out, "{other:?}"),
    };
}
