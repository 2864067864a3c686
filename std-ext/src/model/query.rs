//! Queries: conditions on metadata, written as text and asked of borrowed views.
//!
//! # Grammar
//! ```text
//! query    = all *( " or " all )
//! all      = operand *( " and " operand )
//! operand  = condition | "not " operand | "(" query ")"
//! condition = key "?" | key " exists"             the key is present
//!           | key "=" value *( "/" value )        its value is one of these
//!           | key "!=" value *( "/" value )       its value is none of these, or the key is missing
//!           | key ( "<" | "<=" | ">" | ">=" ) value
//!           | key " in " bound ".." bound         from the first value on, and before the second one
//!           | key " in " bound "..=" bound        from the first value to the second one
//! value     = text, up to "/", " and ", " or " or the end, in brackets also up to ")"
//!           | '"' text '"'                        with \" and \\ for these characters
//! bound     = text without blanks and ".." | '"' text '"'
//! ```
//!
//! - A key is a dotted path, such as `mars.param`. Blanks around keys, operators and values do not count. A key with
//!   brackets or quotes, and one that is a word of the grammar, can stand in quotes: `"f(x)"=3`. So can
//!   each part of a path: `"a.b".c=3`.
//! - `and` binds closer than `or`, and `not` closer than both.
//! - ` and ` and ` or ` stand between conditions only if a condition follows whose key has no blanks: `name=sea and ice`
//!   is one condition.
//! - `*` in a value of `=` and `!=` stands for any text. So `step!=*` holds where the key is missing. In quotes it stands
//!   for itself.
//!
//! - What is likely a slip is an error: `==`, `&&`, `AND`, `a=1,b=2`, `!a=1`, `shape=10x20`. In quotes all of this is text, but
//!   for the shape, which no text equals.
//!
//! # Comparison
//! | metadata | value | `=`, `!=` | `<`, `<=`, `>`, `>=` |
//! |---|---|---|---|
//! | number | number | as numbers: 24 is 24.0, 024 and 2.4e1 | as numbers, exactly |
//! | text | number | as numbers if the text is a number too, otherwise as text | as numbers if the text is a number too, otherwise false |
//! | number, or text that is one | date | 2026-01-15 is 20260115 | as numbers |
//! | text | other text | as text | as text, by code points: `date<2024-02-01` holds for "2024-01-31" |
//! | number | other text | as text, of the number as JSON has it: `step=2*` holds for 24 | false |
//! | anything else | any | as text, of the metadata as JSON: `levels=[1,2]` | false |
//!
//! A number has an optional sign, digits, an optional fraction and exponent. A date, `2026-01-15` or `2026-1-15`, stands for the number
//! 20260115, in metadata too; with other texts it is compared as text. A value in quotes is text, and is compared as text. NaN in
//! metadata is not equal to, less or greater than any number. A missing key makes every condition false except `!=`.
//!
//! # Where keys are looked up
//! In a message: in the metadata of its objects, where the first that has the key counts, then in the message's
//! annotations. In an object: in its metadata, then in the annotations. `extra.KEY` asks for the annotations alone.
//! `version` is the version of the wire format.
//!
//! Some keys ask for the structure, if there is no metadata under that key:
//!
//! | key | value |
//! |---|---|
//! | `dtype` | the type of the object's elements, such as `float32` |
//! | `shape` | its shape: `shape=[181,360]` |
//! | `ndim` | the number of its dimensions |
//! | `encoding`, `filter`, `compression` | the stages of its pipeline, such as `none` or `zstd` |
//! | `codec` | the stages that are not `none`: `simple_packing+szip` |
//! | `bytes`, `count` | the bytes of its decoded values, and the number of its elements |
//! | `objects` | the number of objects in the message |
//!
//! In a message these are of its first object.
//!
//! The parameter of a field is found as people ask for it, whichever of these its metadata have:
//!
//! | condition | holds too for |
//! |---|---|
//! | `mars.param=167` | `grib.paramId` 167, unless `mars.param` is a number |
//! | `mars.param=167.128` | 167, and parameter 167 of table 128 of GRIB edition 1; `229.140` is 140229 |
//! | `param`, `shortName` | `mars.param`, where there is no such key |
//! | `paramId` | `grib.paramId`, where there is no such key |
//!
//! `!=` is the opposite of `=` here too. A program can answer more keys by itself ([`Query::matches_with`]).

pub mod alias;
pub mod compare;
pub mod expr;
mod meant;
mod parse;
mod print;
mod slips;
pub mod structure;
mod text;

use std::fmt;
use std::str::FromStr;

use tgm_core::Result;
use tgm_core::cbor::Value;
use tgm_core::descriptor::Descriptor;
use tgm_core::message::Objects;
use tgm_core::metadata::{MessageMetadata, ObjectMetadata};
use tgm_core::wire::WIRE_VERSION;

use expr::{Condition, Expr};

pub use meant::similar_keys;
pub use structure::codec;

/// Conditions on metadata, such as `mars.param=2t/10u and step>=24`. The [module](crate::metadata::query) has the
/// grammar.
///
/// `Display` gives a text that reads back as the same query.
///
/// ```
/// use tgm_std::metadata::query::Query;
/// use tgm_std::core::Message;
///
/// let bytes = std::fs::read("../tests/data/realistic/surface-181x360.tgm")?;
/// let metadata = Message::parse(&bytes)?.metadata()?;
/// let query: Query = "mars.param=2t/10u and mars.step>=24".parse()?;
/// assert!(query.matches(&metadata)?);
///
/// let by_object = query.for_objects(&metadata)?;
/// let matching: Vec<_> = metadata.objects().map(|object| by_object.matches(&object?)).collect::<Result<_, _>>()?;
/// assert_eq!(matching, [true, false, false]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Query {
    root: Expr,
}

/// The version of the wire format as CBOR: an integer below 24 is one byte.
#[expect(clippy::cast_possible_truncation, reason = "3 fits")]
const VERSION: [u8; 1] = [WIRE_VERSION as u8];

/// The value of the key `version`.
///
/// # Errors
/// None: the CBOR is a constant.
pub fn version() -> Result<Option<Value<'static>>> {
    Value::parse(&VERSION, 0).map(Some)
}

impl Query {
    /// The keys of the query, in its order.
    pub fn keys(&self) -> impl Iterator<Item = &str> {
        self.root.asked().into_iter().map(|condition| condition.key.as_str())
    }

    /// The tree of conditions.
    pub const fn root(&self) -> &Expr {
        &self.root
    }

    /// Whether the query holds for a message. Walks its metadata once for each condition whose answer is needed;
    /// allocates only to compare values that are neither text nor numbers, or with `*`, and for structural keys.
    ///
    /// # Errors
    /// The errors of [`MessageMetadata::get`]; for structural keys the errors of the first object.
    pub fn matches(&self, message: &MessageMetadata<'_>) -> Result<bool> {
        self.matches_with(message, |_| Ok(None))
    }

    /// [`Self::matches`], where the program knows more of the message. `known` is asked for keys that neither metadata
    /// nor structure have, such as the message's place in a file.
    ///
    /// # Errors
    /// The errors of [`Self::matches`] and `known`.
    ///
    /// ```
    /// use tgm_std::core::Message;
    /// use tgm_std::metadata::query::{Known, Query};
    ///
    /// let bytes = std::fs::read("../tests/data/realistic/surface-181x360.tgm")?;
    /// let metadata = Message::parse(&bytes)?.metadata()?;
    /// let query: Query = "mars.param=2t and offset>=4096".parse()?;
    /// let at = |offset| move |key: &str| Ok((key == "offset").then_some(Known::Integer(offset)));
    /// assert!(query.matches_with(&metadata, at(5000))? && !query.matches_with(&metadata, at(0))?);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn matches_with(
        &self,
        message: &MessageMetadata<'_>,
        mut known: impl FnMut(&str) -> Result<Option<Known>>,
    ) -> Result<bool> {
        self.root.holds(&mut |condition| {
            let found = if condition.is_version() { version()? } else { message.get(&condition.key)? };
            match (found, condition.structure) {
                (None, Some(structure)) => {
                    let count = message.object_count();
                    let first = || next_descriptor(&mut message.data_objects());
                    holds_encoded(condition, structure.of_message(count, first)?.as_deref())
                }
                (None, None) => holds_known(condition, known(&condition.key)?),
                (found, _) => condition.holds(found.as_ref()),
            }
        })
    }

    /// Calls `found` with the number of each object of `message` for which the query holds.
    ///
    /// # Errors
    /// The errors of [`Self::for_objects`] and [`ObjectQuery::matches_object`].
    pub fn objects_of(&self, message: &MessageMetadata<'_>, mut found: impl FnMut(usize)) -> Result<()> {
        let mut objects = self.root.has_structure().then(|| message.data_objects());
        if message.object_count() == 1 {
            // Annotations are looked up only where the object lacks a key.
            let Some(object) = message.object(0)? else { return Ok(()) };
            let descriptor = objects.as_mut().map_or(Ok(None), next_descriptor)?;
            let annotation = |condition: &Condition| message.get(&condition.annotation);
            if self.root.holds(&mut |condition| {
                holds_for_object(condition, &object, annotation, descriptor.as_ref(), 1, |_| Ok(None))
            })? {
                found(0);
            }
            return Ok(());
        }
        let query = self.for_objects(message)?;
        for (index, object) in message.objects().enumerate() {
            let descriptor = objects.as_mut().map_or(Ok(None), next_descriptor)?;
            if query.matches_with(&object?, descriptor.as_ref(), |_| Ok(None))? {
                found(index);
            }
        }
        Ok(())
    }

    /// The query for the objects of `message`: looks the keys up in the annotations once, for all objects.
    ///
    /// # Errors
    /// The errors of [`MessageMetadata::get`].
    pub fn for_objects<'f, 'a>(&'f self, message: &MessageMetadata<'a>) -> Result<ObjectQuery<'f, 'a>> {
        let annotations = self.root.conditions().into_iter().map(|condition| message.get(&condition.annotation));
        Ok(ObjectQuery { query: self, annotations: annotations.collect::<Result<_>>()?, count: message.object_count() })
    }
}

/// The descriptor of the next object.
fn next_descriptor<'a>(objects: &mut Objects<'a>) -> Result<Option<Descriptor<'a>>> {
    objects.next().map(|object| Ok(*object?.descriptor())).transpose()
}

/// [`Condition::holds`] for a value that is CBOR.
fn holds_encoded(condition: &Condition, encoded: Option<&[u8]>) -> Result<bool> {
    let value = encoded.map(|encoded| Value::parse(encoded, 0)).transpose()?;
    condition.holds(value.as_ref())
}

/// [`Condition::holds`] for a number that the program knows.
fn holds_known(condition: &Condition, known: Option<Known>) -> Result<bool> {
    // As CBOR: a byte that says which number it is, and eight bytes.
    let encode = |known| {
        let (first, bits) = match known {
            Known::Integer(integer) => (0x1b, integer),
            Known::Float(float) => (0xfb, float.to_bits()),
        };
        let mut encoded = [first; 9];
        if let Some(last) = encoded.last_chunk_mut() {
            *last = bits.to_be_bytes();
        }
        encoded
    };
    holds_encoded(condition, known.map(encode).as_ref().map(<[u8; 9]>::as_slice))
}

/// Whether a condition holds for an object of a message of `count` objects: in its metadata, then in the annotations,
/// then in its structure, then by what is `known` beyond it.
fn holds_for_object<'a>(
    condition: &Condition,
    object: &ObjectMetadata<'a>,
    annotation: impl FnOnce(&Condition) -> Result<Option<Value<'a>>>,
    descriptor: Option<&Descriptor<'_>>,
    count: usize,
    known: impl FnOnce(&str) -> Result<Option<Known>>,
) -> Result<bool> {
    if condition.is_version() {
        return condition.holds(version()?.as_ref());
    }
    let found = match object.get(&condition.key)? {
        None => annotation(condition)?,
        own => own,
    };
    match (found, condition.structure) {
        (None, Some(structure)) => holds_encoded(condition, structure.of_object(descriptor, count).as_deref()),
        (None, None) => holds_known(condition, known(&condition.key)?),
        (found, _) => condition.holds(found.as_ref()),
    }
}

/// A number that a program knows under a key, see [`Query::matches_with`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Known {
    /// An integer.
    Integer(u64),
    /// A float.
    Float(f64),
}

impl fmt::Display for Query {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.root.fmt(f)
    }
}

/// A [`Query`] for the objects of one message.
#[derive(Clone, Debug)]
pub struct ObjectQuery<'f, 'a> {
    query: &'f Query,
    /// For each condition, the annotation of its key.
    annotations: Vec<Option<Value<'a>>>,
    /// The number of objects of the message.
    count: usize,
}

impl<'a> ObjectQuery<'_, 'a> {
    /// Whether the query holds for an object of the message, by its metadata. Only `objects` of the structural keys is
    /// known here: [`Self::matches_object`] knows all of them.
    ///
    /// # Errors
    /// The errors of [`ObjectMetadata::get`].
    pub fn matches(&self, object: &ObjectMetadata<'a>) -> Result<bool> {
        self.matches_with(object, None, |_| Ok(None))
    }

    /// Whether the query holds for an object of the message, by its metadata and its descriptor.
    ///
    /// # Errors
    /// The errors of [`ObjectMetadata::get`].
    pub fn matches_object(&self, object: &ObjectMetadata<'a>, descriptor: &Descriptor<'_>) -> Result<bool> {
        self.matches_with(object, Some(descriptor), |_| Ok(None))
    }

    /// [`Self::matches_object`], where the program knows more of the object. `known` is asked for keys that neither
    /// metadata nor structure have. Without a descriptor, of the structural keys only `objects` is known.
    ///
    /// # Errors
    /// The errors of [`ObjectMetadata::get`] and `known`.
    pub fn matches_with(
        &self,
        object: &ObjectMetadata<'a>,
        descriptor: Option<&Descriptor<'_>>,
        mut known: impl FnMut(&str) -> Result<Option<Known>>,
    ) -> Result<bool> {
        let annotation = |condition: &Condition| Ok(self.annotations.get(condition.number).copied().flatten());
        self.query
            .root
            .holds(&mut |condition| holds_for_object(condition, object, annotation, descriptor, self.count, &mut known))
    }
}

impl FromStr for Query {
    type Err = QueryError;

    fn from_str(text: &str) -> Result<Self, QueryError> {
        parse::query(text).map(|root| Self { root })
    }
}

/// Why a text is not a query, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueryError {
    what: &'static str,
    offset: usize,
}

impl QueryError {
    /// The byte of the text at which something else was expected.
    pub const fn offset(&self) -> usize {
        self.offset
    }
}

impl fmt::Display for QueryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at byte {}", self.what, self.offset)
    }
}

impl std::error::Error for QueryError {}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests may panic")]
mod tests;
