//! What a query consists of: conditions, and how they are joined.

use std::cmp::Ordering;

use tgm_core::Result;
use tgm_core::cbor::Value;

use super::compare::{self, Literal, Number, Relation};
use super::structure::Structure;

/// The key that asks for the version of the wire format.
pub const VERSION_KEY: &str = "version";

/// A condition, or conditions that are joined.
#[derive(Clone, Debug, PartialEq)]
pub enum Expr {
    /// A condition.
    Is(Condition),
    /// A condition that stands for several.
    Alias(Alias),
    /// The opposite.
    Not(Box<Self>),
    /// All of these hold.
    All(Vec<Self>),
    /// One of these holds, or several.
    Any(Vec<Self>),
}

impl Expr {
    /// Whether the expression holds, where `test` says which conditions do. It is asked no more than necessary.
    ///
    /// # Errors
    /// The errors of `test`.
    pub fn holds<E>(&self, test: &mut impl FnMut(&Condition) -> Result<bool, E>) -> Result<bool, E> {
        match self {
            Self::Is(condition) => test(condition),
            Self::Alias(alias) => alias.meant.holds(test),
            Self::Not(inner) => Ok(!inner.holds(test)?),
            Self::All(inner) => {
                for expr in inner {
                    if !expr.holds(test)? {
                        return Ok(false);
                    }
                }
                Ok(true)
            }
            Self::Any(inner) => {
                for expr in inner {
                    if expr.holds(test)? {
                        return Ok(true);
                    }
                }
                Ok(false)
            }
        }
    }

    /// Whether a condition asks for the structure of objects.
    pub fn has_structure(&self) -> bool {
        match self {
            Self::Is(condition) => condition.structure.is_some(),
            Self::Alias(alias) => alias.meant.has_structure(),
            Self::Not(inner) => inner.has_structure(),
            Self::All(inner) | Self::Any(inner) => inner.iter().any(Self::has_structure),
        }
    }

    /// The conditions that are tested, in the order of their numbers.
    pub fn conditions(&self) -> Vec<&Condition> {
        let mut found = Vec::new();
        self.collect(&mut found, &|alias, found| alias.meant.collect(found, &|_, _| ()));
        found
    }

    /// The conditions as they were written, in the order of the text.
    pub fn asked(&self) -> Vec<&Condition> {
        let mut found = Vec::new();
        self.collect(&mut found, &|alias, found| found.push(&alias.asked));
        found
    }

    fn collect<'e>(&'e self, found: &mut Vec<&'e Condition>, of_alias: &dyn Fn(&'e Alias, &mut Vec<&'e Condition>)) {
        match self {
            Self::Is(condition) => found.push(condition),
            Self::Alias(alias) => of_alias(alias, found),
            Self::Not(inner) => inner.collect(found, of_alias),
            Self::All(inner) | Self::Any(inner) => inner.iter().for_each(|expr| expr.collect(found, of_alias)),
        }
    }

    /// Numbers the conditions that are tested in their order, from `next` on. Returns the number after the last one.
    pub(super) fn number(&mut self, next: usize) -> usize {
        match self {
            Self::Is(condition) => {
                condition.number = next;
                next + 1
            }
            Self::Alias(alias) => alias.meant.number(next),
            Self::Not(inner) => inner.number(next),
            Self::All(inner) | Self::Any(inner) => inner.iter_mut().fold(next, |next, expr| expr.number(next)),
        }
    }
}

/// A condition that stands for several.
#[derive(Clone, Debug, PartialEq)]
pub struct Alias {
    /// The condition as it was written.
    pub asked: Condition,
    /// What it stands for. It has no aliases in it.
    pub meant: Box<Expr>,
}

/// One condition on one key.
#[derive(Clone, Debug, PartialEq)]
pub struct Condition {
    /// The dotted path that is looked up.
    pub key: String,
    /// The path under which a message has the key as an annotation.
    pub annotation: String,
    /// What the key says of an object or message that has no such metadata.
    pub structure: Option<Structure>,
    /// Which condition of its query this is.
    pub number: usize,
    pub(super) test: Test,
}

/// What a condition asks of the value of its key.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Test {
    Present,
    /// It is a number, or a text that is one.
    Number,
    OneOf(Vec<Literal>),
    NoneOf(Vec<Literal>),
    Ordered(Relation, Literal),
    /// From the first value on, and before the second one. The relation says whether the second one counts too.
    Within(Literal, Relation, Literal),
}

impl Condition {
    pub(super) fn new(key: &str, test: Test) -> Self {
        let annotation = annotation_path(key);
        Self { structure: Structure::of_key(key), key: key.to_string(), annotation, number: 0, test }
    }

    /// Whether the key asks for the version of the format.
    pub fn is_version(&self) -> bool {
        self.key == VERSION_KEY
    }

    /// Whether the condition holds for a value. `None` is a missing key.
    ///
    /// # Errors
    /// The errors of walking an array or a map.
    pub fn holds(&self, value: Option<&Value<'_>>) -> Result<bool> {
        let is_one_of = |literals: &[Literal]| match value {
            Some(value) => compare::is_one_of(value, literals),
            None => Ok(false),
        };
        let is_ordered = |relation: &Relation, literal: &Literal| {
            value.and_then(|value| compare::order(value, literal)).is_some_and(|order| relation.allows(order))
        };
        match &self.test {
            Test::Present => Ok(value.is_some()),
            Test::Number => Ok(value.is_some_and(compare::is_number)),
            Test::OneOf(literals) => is_one_of(literals),
            Test::NoneOf(literals) => Ok(!is_one_of(literals)?),
            Test::Ordered(relation, literal) => Ok(is_ordered(relation, literal)),
            Test::Within(low, relation, high) => {
                Ok(is_ordered(&Relation::GreaterOrEqual, low) && is_ordered(relation, high))
            }
        }
    }

    /// The value of the condition that keeps it from holding for any value of the form that this one has: a word where the metadata
    /// has a number, or a number where an order is asked of a text that is none. `None` if the form is not the reason.
    pub(super) fn misfit(&self, value: &Value<'_>) -> Option<&str> {
        let text = value.as_text().ok().map(|text| text.to_string());
        let form = match (&text, Number::of(value)) {
            (Some(text), _) => compare::Form::Text(text),
            (None, Some(_)) => compare::Form::Number,
            (None, None) => compare::Form::Other,
        };
        let found = match &self.test {
            Test::Present | Test::Number | Test::NoneOf(_) => None,
            Test::OneOf(literals) => compare::misfit(form, literals),
            Test::Ordered(_, literal) => compare::without_order(form, literal),
            Test::Within(low, _, high) => {
                compare::without_order(form, low).or_else(|| compare::without_order(form, high))
            }
        };
        found.map(Literal::text)
    }

    /// [`Self::holds`] for a number, without CBOR. `None` if text must be compared too.
    pub fn holds_for(&self, number: Number) -> Option<bool> {
        let is_one_of = |literals: &[Literal]| -> Option<bool> {
            let mut found = false;
            for literal in literals {
                found |= literal.equals(number)?;
            }
            Some(found)
        };
        let is_ordered = |relation: &Relation, literal: &Literal| {
            literal.order_of(number).is_some_and(|order| relation.allows(order))
        };
        match &self.test {
            Test::Present | Test::Number => Some(true),
            Test::OneOf(literals) => is_one_of(literals),
            Test::NoneOf(literals) => is_one_of(literals).map(|found| !found),
            Test::Ordered(relation, literal) => Some(is_ordered(relation, literal)),
            Test::Within(low, relation, high) => {
                Some(is_ordered(&Relation::GreaterOrEqual, low) && is_ordered(relation, high))
            }
        }
    }

    /// Whether the condition may hold for a number from `low` to `high`, and whether it may not. Where that is not known, both
    /// are true.
    pub fn may_hold_within(&self, low: Number, high: Number) -> (bool, bool) {
        let is_one = low.order(high) == Some(Ordering::Equal);
        let of_ends = |holds: &dyn Fn(Number) -> bool| (holds(low) || holds(high), !holds(low) || !holds(high));
        // Whether a literal is a number of the range. Text can be the text of one of its numbers.
        let may_equal = |literal: &Literal| match (literal.order_of(low), literal.order_of(high)) {
            (Some(from_low), Some(from_high)) => from_low.is_le() && from_high.is_ge(),
            _ => true,
        };
        let is_ordered = |relation: Relation, literal: &Literal| {
            of_ends(&|number| literal.order_of(number).is_some_and(|order| relation.allows(order)))
        };
        let one_of = |literals: &[Literal]| {
            let may = literals.iter().any(may_equal);
            (may, !(may && is_one && literals.iter().any(|literal| literal.equals(low) == Some(true))))
        };
        match &self.test {
            Test::Present | Test::Number => (true, false),
            Test::OneOf(literals) => one_of(literals),
            Test::NoneOf(literals) => {
                let (may, may_not) = one_of(literals);
                (may_not, may)
            }
            Test::Ordered(relation, literal) => is_ordered(*relation, literal),
            // Both ends of the asked range must be passed. A number may lie in it unless all lie on one side.
            Test::Within(first, relation, last) => {
                let (from, not_from) = is_ordered(Relation::GreaterOrEqual, first);
                let (to, not_to) = is_ordered(*relation, last);
                (from && to, not_from || not_to)
            }
        }
    }
}

/// The path under which a message has `key` as an annotation.
pub fn annotation_path(key: &str) -> String {
    if key.starts_with("extra.") || key.starts_with("_extra_.") { key.to_string() } else { format!("extra.{key}") }
}
