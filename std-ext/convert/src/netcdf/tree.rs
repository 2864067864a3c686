//! What a file holds, whichever library reads it.

use std::collections::BTreeSet;
use std::ops::Range;

use ciborium::Value;
use tgm_core::descriptor::Dtype;
use tgm_std::Result;

use super::types;
use crate::dimensions::path_in;
use crate::streamed::{Chosen, of_numbers};
use tgm_dataset::reading::{AttributeValue, Numbers, told};

/// The variables of a file, and what is said about them.
pub(super) struct Tree<'f> {
    /// Attributes of the file.
    pub(super) attributes: Vec<Attribute>,
    /// Groups and their attributes, by path, groups before what they hold.
    pub(super) groups: Vec<(String, Vec<Attribute>)>,
    pub(super) variables: Vec<Variable<'f>>,
    pub(super) texts: Vec<Text>,
    /// Dimensions that no variable has: paths, lengths, and whether they are unlimited.
    pub(super) dimensions: Vec<(String, u64, bool)>,
    /// Further names of what is in the file: paths, and the paths of what they name.
    pub(super) links: Vec<(String, String)>,
}

/// A variable. Its values are read when they are asked for.
pub(super) struct Variable<'f> {
    pub(super) path: String,
    pub(super) kind: Kind,
    pub(super) dimensions: Vec<Dimension>,
    pub(super) attributes: Vec<Attribute>,
    /// The path of the variable of which this is a field.
    pub(super) compound: Option<String>,
    pub(super) layout: Layout,
    /// The stages of its pieces.
    pub(super) stages: Chosen,
    /// Reads the values, or a box of them, in the byte order of the machine.
    pub(super) read: Box<Read<'f>>,
}

pub(super) type Read<'f> = dyn Fn(Option<&[Range<usize>]>) -> Result<Vec<u8>> + Sync + 'f;

/// How values lie in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Layout {
    /// In chunks of this shape, each of which is read as a whole.
    Chunks(Vec<usize>),
    /// Row by row. Any box can be read.
    Rows,
    /// A box costs as much as all values.
    Whole,
}

/// A variable of texts.
pub(super) struct Text {
    pub(super) path: String,
    pub(super) dimensions: Vec<Dimension>,
    pub(super) attributes: Vec<Attribute>,
    pub(super) values: Vec<String>,
    /// Characters, if that is how the file has them.
    pub(super) characters: Option<Characters>,
}

/// Characters of a variable, which [`Tree::join`] makes texts of.
pub(super) struct Characters {
    /// The stored bytes. Empty when they are texts.
    bytes: Vec<u8>,
    /// The dimension that is the length of each text. `None` for texts of one character each.
    pub(super) length: Option<Dimension>,
    /// Whether the bytes are not UTF-8, and were taken for Latin-1.
    pub(super) is_latin: bool,
}

impl Characters {
    pub(super) const fn new(bytes: Vec<u8>) -> Self {
        Self { bytes, length: None, is_latin: false }
    }
}

impl Tree<'_> {
    /// Makes texts of characters: the last dimension is the length of each, unless something else has that dimension too.
    pub(super) fn join(&mut self) {
        let of_variables = self.variables.iter().flat_map(|variable| &variable.dimensions);
        let of_texts = self.texts.iter().flat_map(|text| {
            let count = text.dimensions.len().saturating_sub(usize::from(text.characters.is_some()));
            text.dimensions.iter().take(count)
        });
        let used: BTreeSet<String> = of_variables.chain(of_texts).filter_map(Dimension::path).collect();
        for text in &mut self.texts {
            let Some(characters) = text.characters.as_mut() else { continue };
            let bytes = std::mem::take(&mut characters.bytes);
            let is_used = |last: &Dimension| last.path().is_some_and(|path| used.contains(&path));
            // Texts of no characters stay without one: nothing stored bounds their number.
            if text.dimensions.last().is_some_and(|last| last.len > 0 && !is_used(last)) {
                characters.length = text.dimensions.pop();
            }
            let len = characters.length.as_ref().map_or(1, |length| length.len);
            // One encoding for all of them, so that they can be written as they were.
            characters.is_latin = bytes.chunks(len).any(|text| std::str::from_utf8(text).is_err());
            let decode = if characters.is_latin { latin } else { decoded };
            text.values = bytes.chunks(len).map(decode).collect();
        }
    }
}

/// Bytes as text, without NUL at the end. What is not UTF-8 is taken for Latin-1.
pub(super) fn decoded(bytes: &[u8]) -> String {
    std::str::from_utf8(bytes).map_or_else(|_| latin(bytes), |text| text.trim_end_matches('\0').to_string())
}

/// Bytes of Latin-1 as text, without NUL at the end.
fn latin(bytes: &[u8]) -> String {
    let text: String = bytes.iter().map(|byte| char::from(*byte)).collect();
    text.trim_end_matches('\0').to_string()
}

/// What values are.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Kind {
    Numbers(Dtype),
    /// Truth values, in a byte each.
    Bools,
    /// Integers with names.
    Named(Dtype, Vec<(String, i128)>),
}

impl Kind {
    /// The type of the stored numbers.
    pub(super) const fn dtype(&self) -> Dtype {
        match self {
            Self::Numbers(dtype) | Self::Named(dtype, _) => *dtype,
            Self::Bools => Dtype::Int8,
        }
    }
}

/// A dimension as a variable has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Dimension {
    /// Its name, and the path of the group that has it. `None` if it has no name.
    pub(super) name: Option<(String, String)>,
    pub(super) len: usize,
    pub(super) is_unlimited: bool,
}

impl Dimension {
    /// The path of the dimension in the file.
    pub(super) fn path(&self) -> Option<String> {
        self.name.as_ref().map(|(name, group)| path_in(group, name))
    }

    /// The name, or null.
    pub(super) fn value(&self) -> Value {
        self.name.as_ref().map_or(Value::Null, |(name, _)| name.as_str().into())
    }
}

/// An attribute as metadata has it, and the name of its type.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Attribute {
    pub(super) name: String,
    pub(super) value: Value,
    pub(super) kind: &'static str,
}

impl Attribute {
    /// The attribute for the rules of CF.
    pub(super) fn told(&self) -> AttributeValue {
        told(&self.value, Some(self.kind))
    }
}

/// Numbers as metadata, and the name of their type.
pub(super) fn value_of(numbers: &Numbers) -> (Value, &'static str) {
    let kind = numbers.dtype.and_then(types::of_file).map_or("double", |(name, _)| name);
    (of_numbers(numbers, false), kind)
}
