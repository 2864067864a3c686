//! Values of structural keys that no object can have, as people write them by mistake. A filter with one would select nothing.

use tgm_core::descriptor::{Compression, Dtype, Encoding, Filter};

use super::compare::Literal;
use super::expr::Test;

/// Finds a value that is written as no object has it: a shape without its brackets, a dtype by the name that it has in other
/// programs, a stage in capital letters. Values of other keys can be anything, and so can texts with a `*`.
///
/// # Errors
/// What was expected.
pub(super) fn check(key: &str, test: &Test) -> Result<(), &'static str> {
    let (Test::OneOf(literals) | Test::NoneOf(literals)) = test else { return Ok(()) };
    let has =
        |is_slip: fn(&str) -> bool| literals.iter().map(Literal::text).any(|text| !text.contains('*') && is_slip(text));
    match key {
        "shape" if has(is_other_shape) => Err("expected a shape as [181,360], without blanks,"),
        "dtype" if has(is_other_dtype) => Err("expected the name of a dtype, such as float32 or bitmask,"),
        "encoding" | "filter" | "compression" if has(is_loud_stage) => {
            Err("expected the name of a stage in small letters,")
        }
        _ => Ok(()),
    }
}

/// Lengths in another form than `[181,360]`: as listings, Python and C write them.
fn is_other_shape(text: &str) -> bool {
    let is_of_lengths = text.bytes().any(|c| c.is_ascii_digit())
        && text.bytes().all(|c| c.is_ascii_digit() || matches!(c, b'x' | b',' | b' ' | b'(' | b')' | b'[' | b']'));
    let inner = text.strip_prefix('[').and_then(|text| text.strip_suffix(']'));
    let is_right = inner
        .is_some_and(|inner| inner.split(',').all(|len| !len.is_empty() && len.bytes().all(|c| c.is_ascii_digit())));
    is_of_lengths && !is_right
}

/// A dtype by another name: in capital letters, or of numpy, C or Rust.
fn is_other_dtype(text: &str) -> bool {
    const OTHERS: [&str; 13] = [
        "float", "double", "single", "half", "int", "uint", "long", "short", "byte", "bool", "boolean", "complex",
        "str",
    ];
    let small = text.to_ascii_lowercase();
    let short = small.trim_start_matches(['<', '>', '=', '|']);
    let is_short = |kind: &str| {
        short.strip_prefix(kind).is_some_and(|width| !width.is_empty() && width.bytes().all(|c| c.is_ascii_digit()))
    };
    Dtype::from_name(text).is_none()
        && (Dtype::from_name(&small).is_some()
            || OTHERS.contains(&&*small)
            || ["f", "i", "u", "c", "b", "bf"].into_iter().any(is_short))
}

/// The name of a stage with capital letters in it.
fn is_loud_stage(text: &str) -> bool {
    let small = text.to_ascii_lowercase();
    let is_name = Encoding::from_name(&small).is_some()
        || Filter::from_name(&small).is_some()
        || Compression::from_name(&small).is_some();
    small != text && is_name
}
