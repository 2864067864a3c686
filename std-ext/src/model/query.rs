//! Queries: conditions on metadata, written as text and asked of borrowed views.
//!
//! # Grammar
//! ```text
//! query    = condition *( " and " condition )
//! condition = key "?"                             the key is present
//!           | key "=" value *( "/" value )        its value is one of these
//!           | key "!=" value *( "/" value )       its value is none of these, or the key is missing
//!           | key ( "<" | "<=" | ">" | ">=" ) value
//! value     = text, up to "/", " and " or the end
//!           | '"' text '"'                        with \" and \\ for these characters
//! ```
//!
//! - A key is a dotted path, such as `mars.param`. Blanks around keys, operators and values do not count.
//! - ` and ` stands between conditions only if a key without blanks and an operator follow it: `name=sea and ice` is one
//!   condition.
//! - `*` in a value of `=` and `!=` stands for any text. So `step!=*` holds where the key is missing. In quotes it stands
//!   for itself.
//! - There is no `or`, `not` or bracket.
//!
//! # Comparison
//! | metadata | value | `=`, `!=` | `<`, `<=`, `>`, `>=` |
//! |---|---|---|---|
//! | number | number | as numbers: 24 is 24.0 and 2.4e1 | as numbers, exactly |
//! | text | number | as text: "024" is not 24 | as numbers if the text is a number too, otherwise false |
//! | text | other text | as text | as text, by code points: `date<2024-02-01` holds for "2024-01-31" |
//! | number | other text | as text, of the number as JSON has it: `step=2*` holds for 24 | false |
//! | anything else | any | as text, of the metadata as JSON: `levels=[1,2]` | false |
//!
//! A number has an optional sign, digits, an optional fraction and exponent. A value in quotes is no number. NaN in
//! metadata is not equal to, less or greater than any number. A missing key makes every condition false except `!=`.
//!
//! # Where keys are looked up
//! In a message: in the metadata of its objects, where the first that has the key counts, then in the message's
//! annotations. In an object: in its metadata, then in the annotations. `extra.KEY` asks for the annotations alone.
//! `version` is the version of the wire format.

mod compare;
mod parse;
mod text;

use std::fmt;
use std::str::FromStr;

use tgm_core::Result;
use tgm_core::cbor::Value;
use tgm_core::metadata::{MessageMetadata, ObjectMetadata};
use tgm_core::wire::WIRE_VERSION;

use compare::{Literal, Relation};

/// Conditions on metadata, such as `mars.param=2t/10u and step>=24`, all of which must hold. The
/// [module](crate::metadata::query) has the grammar.
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
    conditions: Vec<Condition>,
}

/// One condition on one key.
#[derive(Clone, Debug, PartialEq)]
struct Condition {
    key: String,
    test: Test,
}

/// What a condition asks of the value of its key.
#[derive(Clone, Debug, PartialEq)]
enum Test {
    Present,
    OneOf(Vec<Literal>),
    NoneOf(Vec<Literal>),
    Ordered(Relation, Literal),
}

impl Condition {
    fn holds(&self, value: Option<&Value<'_>>) -> Result<bool> {
        let is_one_of = |literals: &[Literal]| match value {
            Some(value) => compare::is_one_of(value, literals),
            None => Ok(false),
        };
        match &self.test {
            Test::Present => Ok(value.is_some()),
            Test::OneOf(literals) => is_one_of(literals),
            Test::NoneOf(literals) => Ok(!is_one_of(literals)?),
            Test::Ordered(relation, literal) => {
                Ok(value.and_then(|value| compare::order(value, literal)).is_some_and(|order| relation.allows(order)))
            }
        }
    }
}

/// The key that asks for the version of the wire format.
const VERSION_KEY: &str = "version";
/// That version as CBOR: an integer below 24 is one byte.
#[expect(clippy::cast_possible_truncation, reason = "3 fits")]
const VERSION: [u8; 1] = [WIRE_VERSION as u8];

impl Query {
    /// The keys that the query looks up, in its order.
    pub fn keys(&self) -> impl Iterator<Item = &str> {
        self.conditions.iter().map(|condition| condition.key.as_str())
    }

    /// Whether all conditions hold for a message. Walks its metadata once for each condition; allocates only to compare
    /// values that are neither text nor numbers, or with `*`.
    ///
    /// # Errors
    /// Those of [`MessageMetadata::get`].
    pub fn matches(&self, message: &MessageMetadata<'_>) -> Result<bool> {
        self.all(|condition| {
            if condition.key == VERSION_KEY {
                return Value::parse(&VERSION, 0).map(Some);
            }
            message.get(&condition.key)
        })
    }

    /// The query for the objects of `message`: looks the keys up in the annotations once, for all objects.
    ///
    /// # Errors
    /// Those of [`MessageMetadata::get`].
    pub fn for_objects<'f, 'a>(&'f self, message: &MessageMetadata<'a>) -> Result<ObjectQuery<'f, 'a>> {
        let annotation = |key: &str| match key {
            VERSION_KEY => Value::parse(&VERSION, 0).map(Some),
            _ if key.starts_with("extra.") || key.starts_with("_extra_.") => message.get(key),
            _ => message.get(&format!("extra.{key}")),
        };
        let annotations = self.keys().map(annotation).collect::<Result<_>>()?;
        Ok(ObjectQuery { query: self, annotations })
    }

    fn all<'v>(&self, mut find: impl FnMut(&Condition) -> Result<Option<Value<'v>>>) -> Result<bool> {
        for condition in &self.conditions {
            if !condition.holds(find(condition)?.as_ref())? {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

/// A [`Query`] for the objects of one message.
#[derive(Clone, Debug)]
pub struct ObjectQuery<'f, 'a> {
    query: &'f Query,
    /// For each condition, the annotation of its key.
    annotations: Vec<Option<Value<'a>>>,
}

impl ObjectQuery<'_, '_> {
    /// Whether all conditions hold for an object of the message.
    ///
    /// # Errors
    /// Those of [`ObjectMetadata::get`].
    pub fn matches(&self, object: &ObjectMetadata<'_>) -> Result<bool> {
        for (condition, annotation) in self.query.conditions.iter().zip(&self.annotations) {
            let own = if condition.key == VERSION_KEY { None } else { object.get(&condition.key)? };
            if !condition.holds(own.as_ref().or(annotation.as_ref()))? {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

impl FromStr for Query {
    type Err = QueryError;

    fn from_str(text: &str) -> Result<Self, QueryError> {
        parse::query(text)
    }
}

/// Why a text is no query, and where.
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
