//! What a dataset is made of.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use tgm_core::descriptor::Dtype;
use tgm_std::deps::ciborium;
use tgm_std::{Result, TensogramError};

use crate::label::{Label, Real};
use crate::moment::{NO_TIME, Times};
use crate::reading::{AttributeValue, List, Numbers, Reading, pack};

/// Values of a coordinate, or of a variable of texts, in row-major order.
#[derive(Clone, Debug, PartialEq)]
pub enum Values {
    /// Whole numbers.
    Integers(Vec<i64>),
    /// Numbers.
    Floats(Vec<f64>),
    /// Texts.
    Texts(Vec<String>),
    /// Times.
    Times(Times),
    /// Seconds. [`i64::MIN`] where one is missing.
    Durations(Vec<i64>),
}

impl Values {
    /// How many they are.
    pub const fn len(&self) -> usize {
        match self {
            Self::Integers(numbers) | Self::Durations(numbers) => numbers.len(),
            Self::Times(times) => times.len(),
            Self::Floats(numbers) => numbers.len(),
            Self::Texts(texts) => texts.len(),
        }
    }

    /// Whether there are none.
    pub const fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The values that labels are. All are of the kind of the first one, if they can be; otherwise they are texts.
    pub(crate) fn of_labels(labels: &[Label]) -> Self {
        let all = |f: fn(&Label) -> Option<i64>| labels.iter().map(f).collect::<Option<Vec<i64>>>();
        let is_number = |label: &Label| matches!(label, Label::Integer(_) | Label::Float(_));
        let found = match labels.first() {
            Some(Label::Time(first)) => {
                let time = |it: &Label| if let Label::Time(time) = it { Some(*time) } else { None };
                Times::of(*first, labels.iter().map(time)).map(Self::Times)
            }
            Some(Label::Duration(_)) => {
                all(|it| if let Label::Duration(step) = it { Some(*step) } else { None }).map(Self::Durations)
            }
            Some(Label::Integer(_)) => {
                all(|it| if let Label::Integer(number) = it { Some(*number) } else { None }).map(Self::Integers)
            }
            _ => None,
        };
        found
            .or_else(|| {
                let numbers = labels.iter().filter(|label| is_number(label)).map(Label::as_number);
                let numbers: Vec<f64> = numbers.collect::<Option<_>>()?;
                (numbers.len() == labels.len()).then_some(Self::Floats(numbers))
            })
            .unwrap_or_else(|| Self::Texts(labels.iter().map(Label::to_string).collect()))
    }
}

/// An attribute of a variable, a coordinate or a dataset.
#[derive(Clone, Debug, PartialEq)]
pub enum Attribute {
    /// A text.
    Text(String),
    /// A whole number.
    Integer(i64),
    /// A number.
    Float(f64),
    /// A list of whole numbers.
    Integers(Vec<i64>),
    /// A list of numbers.
    Floats(Vec<f64>),
    /// A list of texts.
    Texts(Vec<String>),
    /// Anything else that metadata have: a map, a list of lists or of different kinds, or nothing.
    Nested(ciborium::Value),
}

impl Attribute {
    /// What it says as an attribute of stored numbers.
    pub(crate) fn told(&self) -> AttributeValue {
        let integers = |list: &[i64]| List::Integers(list.iter().map(|number| i128::from(*number)).collect());
        let list = match self {
            Self::Text(text) => return AttributeValue::Text(text.clone()),
            Self::Texts(_) | Self::Nested(_) => return AttributeValue::Other,
            Self::Integer(number) => integers(&[*number]),
            Self::Integers(numbers) => integers(numbers),
            Self::Float(number) => List::Floats(vec![*number]),
            Self::Floats(numbers) => List::Floats(numbers.clone()),
        };
        AttributeValue::Numbers(Numbers { dtype: None, list })
    }
}

/// The attribute as metadata have it.
impl From<&Attribute> for ciborium::Value {
    fn from(attribute: &Attribute) -> Self {
        fn list<T: Clone + Into<ciborium::Value>>(items: &[T]) -> ciborium::Value {
            items.iter().cloned().map(Into::into).collect::<Vec<_>>().into()
        }
        match attribute {
            Attribute::Text(text) => text.as_str().into(),
            Attribute::Integer(number) => (*number).into(),
            Attribute::Float(number) => (*number).into(),
            Attribute::Integers(numbers) => list(numbers),
            Attribute::Floats(numbers) => list(numbers),
            Attribute::Texts(texts) => list(texts),
            Attribute::Nested(value) => value.clone(),
        }
    }
}

impl From<&str> for Attribute {
    fn from(text: &str) -> Self {
        Self::Text(text.into())
    }
}

impl From<&Label> for Attribute {
    fn from(label: &Label) -> Self {
        match label {
            Label::Integer(number) => Self::Integer(*number),
            Label::Float(number) => Self::Float(number.0),
            other => Self::Text(other.to_string()),
        }
    }
}

/// Attributes by their names, in order.
pub type Attributes = Vec<(String, Attribute)>;

/// The text of an attribute. `None` if there is none, or if it is not a text.
pub fn text_attribute<'a>(attributes: &'a Attributes, name: &str) -> Option<&'a str> {
    let (_, found) = attributes.iter().find(|(known, _)| known == name)?;
    if let Attribute::Text(text) = found { Some(text) } else { None }
}

/// A coordinate: values along some dimensions, or a single one.
#[derive(Clone, Debug, PartialEq)]
pub struct Coordinate {
    /// Its name. A coordinate with the name of its only dimension labels that dimension.
    pub name: String,
    /// Its dimensions.
    pub dims: Vec<String>,
    /// Its values, row-major.
    pub values: Values,
    /// What is known of it.
    pub attributes: Attributes,
}

/// What stands where no object is.
#[derive(Clone, Debug, PartialEq)]
pub enum Hole {
    /// NaN. The values are floats or complex numbers.
    Nan,
    /// NaN, for which whole numbers become `float64`, which can hold all of them.
    Widened,
    /// This element, in the byte order of the machine.
    Fill(Vec<u8>),
    /// An error: nothing that whole numbers of 64 bits become can hold all of them and NaN.
    Refused,
}

/// A variable: an array over many objects, or texts.
#[derive(Clone, Debug)]
pub struct Variable {
    /// Its name.
    pub name: String,
    /// Its dimensions, the slowest first.
    pub dims: Vec<String>,
    /// The lengths of its dimensions.
    pub shape: Vec<u64>,
    /// What is known of it.
    pub attributes: Attributes,
    pub(crate) content: Content,
}

/// Where the values of a variable are.
#[derive(Clone, Debug)]
pub(crate) enum Content {
    Pieces(Pieces),
    Texts(Vec<String>),
    Joined(Joined),
    Held(Held),
}

/// Numbers in memory: times that files count differently, counted alike.
#[derive(Clone, Debug)]
pub(crate) struct Held {
    /// The dimension along which files follow each other, and where each begins along it.
    pub(crate) axis: usize,
    pub(crate) starts: Vec<u64>,
    /// All of them, row-major.
    pub(crate) numbers: Arc<[i64]>,
}

/// Variables of several files, one after the other along a dimension, whose pieces do not make one array.
#[derive(Clone, Debug)]
pub(crate) struct Joined {
    /// The dimension along which they follow each other.
    pub(crate) axis: usize,
    /// The type of the values of all of them.
    pub(crate) dtype: Dtype,
    /// Where each begins along the dimension, and its variable. One that lacks the dimension has the same values at each index.
    pub(crate) parts: Vec<(u64, Variable)>,
}

/// How decoded elements become the elements of a variable.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Conversion {
    /// Stored numbers become values.
    ToValues(Reading),
    /// Values become the numbers again that a file stored.
    ToStored(Reading),
}

impl Conversion {
    /// The type of what they become.
    pub(crate) const fn dtype(&self) -> Dtype {
        match self {
            Self::ToValues(reading) => reading.dtype(),
            Self::ToStored(reading) => reading.stored(),
        }
    }

    /// What elements in the byte order of the machine become.
    ///
    /// # Errors
    /// Numbers without a value, and values that no stored number gives.
    pub(crate) fn apply(&self, elements: Vec<u8>) -> Result<Vec<u8>> {
        match self {
            Self::ToValues(reading) => Ok(reading.cells(elements)?.bytes),
            Self::ToStored(reading) => pack(reading, &elements).ok_or_else(|| {
                let text =
                    "a value is not what a stored number gives: its values are read, and not what its file stored";
                TensogramError::Metadata(text.into())
            }),
        }
    }
}

/// An array cut into pieces of one shape, as chunks of Zarr are. Each piece that is there is an object.
#[derive(Clone, Debug)]
pub(crate) struct Pieces {
    /// The type of decoded elements.
    pub(crate) dtype: Dtype,
    /// How these become the elements of the variable, if they are not.
    pub(crate) packed: Option<Arc<Conversion>>,
    /// The lengths of a piece, one for each dimension. Pieces at the end are cut to the shape.
    pub(crate) chunk: Vec<u64>,
    /// Row-major numbers of pieces, in order, each with the number of its object.
    pub(crate) places: Vec<(u64, u32)>,
    /// The leading dimensions that objects do not have. A piece has one index of each.
    pub(crate) leading: usize,
    pub(crate) hole: Hole,
}

impl Pieces {
    /// The number of pieces along each dimension.
    pub(crate) fn counts(&self, shape: &[u64]) -> Vec<u64> {
        shape.iter().zip(&self.chunk).map(|(len, chunk)| len.div_ceil((*chunk).max(1))).collect()
    }
}

impl Variable {
    /// The type of its elements as they are read. `None` for texts.
    pub fn dtype(&self) -> Option<Dtype> {
        match &self.content {
            Content::Pieces(Pieces { packed: Some(conversion), .. }) => Some(conversion.dtype()),
            Content::Pieces(Pieces { hole: Hole::Widened, .. }) if self.hole_count() > 0 => Some(Dtype::Float64),
            Content::Pieces(pieces) => Some(pieces.dtype),
            Content::Joined(joined) => Some(joined.dtype),
            Content::Held(_) => Some(Dtype::Int64),
            Content::Texts(_) => None,
        }
    }

    /// The variables that it is made of, one after the other along a dimension: itself, unless it goes on in other files.
    pub(crate) fn parts(&self) -> Vec<&Self> {
        match &self.content {
            Content::Joined(joined) => joined.parts.iter().flat_map(|(_, part)| part.parts()).collect(),
            _ => vec![self],
        }
    }

    /// Its pieces, of each file by themselves.
    pub(crate) fn all_pieces(&self) -> impl Iterator<Item = &Pieces> {
        self.parts()
            .into_iter()
            .filter_map(|part| if let Content::Pieces(pieces) = &part.content { Some(pieces) } else { None })
    }

    /// Where it goes on in other files: the number of a dimension, and the first index of each file along it. `None` where its
    /// objects are pieces of one array, also if these lie in several files.
    pub fn seams(&self) -> Option<(usize, Vec<u64>)> {
        match &self.content {
            Content::Joined(joined) => Some((joined.axis, joined.parts.iter().map(|(start, _)| *start).collect())),
            Content::Held(held) => Some((held.axis, held.starts.clone())),
            _ => None,
        }
    }

    /// Whether its objects hold other elements than it has: integers that `scale_factor` and `add_offset` make values of, or values of
    /// which it has the stored numbers. [`Dataset::read_into`] converts them; [`Dataset::piece_frame`] gives what is stored.
    ///
    /// [`Dataset::read_into`]: crate::Dataset::read_into
    /// [`Dataset::piece_frame`]: crate::Dataset::piece_frame
    pub fn is_packed(&self) -> bool {
        self.all_pieces().any(|pieces| pieces.packed.is_some())
    }

    /// Its values, if they are texts.
    pub fn texts(&self) -> Option<&[String]> {
        if let Content::Texts(texts) = &self.content { Some(texts) } else { None }
    }

    /// The shape of the part that one object has: of the first object, where several files have others ([`Self::seams`]).
    pub fn piece_shape(&self) -> Cow<'_, [u64]> {
        match &self.content {
            Content::Pieces(pieces) => Cow::Borrowed(&pieces.chunk),
            Content::Texts(_) | Content::Held(_) => Cow::Borrowed(&self.shape),
            Content::Joined(joined) => {
                let Some((_, first)) = joined.parts.first() else { return Cow::Borrowed(&self.shape) };
                let mut shape = first.piece_shape().into_owned();
                if shape.len() < self.shape.len() {
                    shape.insert(joined.axis.min(shape.len()), 1);
                }
                Cow::Owned(shape)
            }
        }
    }

    /// How many of the first dimensions the objects do not have: each has one index of them.
    pub const fn leading(&self) -> usize {
        if let Content::Pieces(pieces) = &self.content { pieces.leading } else { 0 }
    }

    /// The number of objects.
    pub fn object_count(&self) -> usize {
        self.all_pieces().map(|pieces| pieces.places.len()).sum()
    }

    /// The number of places without an object.
    pub fn hole_count(&self) -> u64 {
        let parts = self.parts().into_iter().map(|part| {
            let Content::Pieces(pieces) = &part.content else { return 0 };
            // A variable with more places is not made.
            product(&pieces.counts(&part.shape)).unwrap_or(0).saturating_sub(pieces.places.len() as u64)
        });
        parts.fold(0, u64::saturating_add)
    }

    /// What stands in the places without an object: of the first file, where several have it.
    pub fn hole(&self) -> Option<&Hole> {
        self.parts()
            .into_iter()
            .find_map(|part| if let Content::Pieces(pieces) = &part.content { Some(&pieces.hole) } else { None })
    }
}

/// Why a variable is left out that has no [`product`].
pub(crate) const UNCOUNTED: &str = "it would have more than 2^64 elements";

/// The product of lengths. `None` if it has more than 64 bits.
pub(crate) fn product(lens: &[u64]) -> Option<u64> {
    if lens.contains(&0) {
        return Some(0);
    }
    lens.iter().try_fold(1_u64, |all, len| all.checked_mul(*len))
}

/// A part of the data that is not in a dataset, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeftOut {
    /// The variable.
    pub name: String,
    /// What it has, in words.
    pub what: String,
    /// Why it is not in the dataset.
    pub why: String,
    /// How many objects these are.
    pub objects: usize,
}

impl fmt::Display for LeftOut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, what, why, objects } = self;
        let s = if *objects == 1 { "" } else { "s" };
        write!(f, "{name}")?;
        if !what.is_empty() {
            write!(f, " ({what})")?;
        }
        write!(f, ", {objects} object{s}: {why}")
    }
}

/// The hole of elements of a type.
pub(crate) const fn hole_of(dtype: Dtype) -> Hole {
    match dtype {
        Dtype::Int64 | Dtype::Uint64 | Dtype::Bitmask => Hole::Refused,
        Dtype::Int8 | Dtype::Uint8 | Dtype::Int16 | Dtype::Uint16 | Dtype::Int32 | Dtype::Uint32 => Hole::Widened,
        _ => Hole::Nan,
    }
}

impl Values {
    /// A value as a label. `None` for a time or a duration that is missing, and beyond the last one.
    pub fn label(&self, at: usize) -> Option<Label> {
        match self {
            Self::Integers(numbers) => numbers.get(at).copied().map(Label::Integer),
            Self::Floats(numbers) => numbers.get(at).map(|number| Label::Float(Real(*number))),
            Self::Texts(texts) => texts.get(at).map(|text| Label::Text(text.as_str().into())),
            Self::Times(times) => times.at(at).map(Label::Time),
            Self::Durations(steps) => steps.get(at).copied().filter(|step| *step != NO_TIME).map(Label::Duration),
        }
    }
}
