//! Element types as text of a label. The table is that of [`crate::dtype_of`].

use tgm_core::descriptor::Dtype;

use crate::wire::dtype_of;

pub(super) use crate::wire::kind_of as to_tens;

/// The dtype of elements of that kind and width, if there is one. Booleans are bytes.
pub(super) fn from_tens(kind: &str, word: u32) -> Option<Dtype> {
    let mut letters = kind.chars();
    let letter = letters.next()?;
    if letters.next().is_some() { None } else { dtype_of(letter, word) }
}

/// Whether numpy has a type of that kind and exactly that width.
pub(super) fn is_known_to_numpy(kind: &str, word: u32) -> bool {
    from_tens(kind, word).is_some() || matches!((kind, word), ("S" | "V", _) | ("M" | "m", 8) | ("f", 16) | ("c", 32))
}
