//! Queries from text.

use super::compare::{Literal, Relation};
use super::{Condition, Query, QueryError, Test};

/// What stands between conditions.
const AND: &str = " and ";
/// What other languages have between conditions.
const OR: &str = " or ";

/// The operators; of those that begin alike the longer one is first.
const OPERATORS: [(&str, Operator); 7] = [
    ("!=", Operator::IsNot),
    ("<=", Operator::Order(Relation::LessOrEqual)),
    (">=", Operator::Order(Relation::GreaterOrEqual)),
    ("=", Operator::Is),
    ("<", Operator::Order(Relation::Less)),
    (">", Operator::Order(Relation::Greater)),
    ("?", Operator::Present),
];

#[derive(Clone, Copy)]
enum Operator {
    Is,
    IsNot,
    Order(Relation),
    Present,
}

/// The text from `at` on.
#[derive(Clone, Copy)]
struct Reader<'t> {
    text: &'t str,
    at: usize,
}

impl<'t> Reader<'t> {
    fn rest(self) -> &'t str {
        self.text.get(self.at..).unwrap_or_default()
    }

    const fn error(self, what: &'static str) -> QueryError {
        QueryError { what, offset: self.at }
    }

    const fn step(&mut self, bytes: usize) {
        self.at = self.at.saturating_add(bytes);
    }

    fn skip_blanks(&mut self) {
        let rest = self.rest();
        self.step(rest.len().saturating_sub(rest.trim_start().len()));
    }

    /// Steps over `token` if it comes next.
    fn take(&mut self, token: &str) -> bool {
        let is_next = self.rest().starts_with(token);
        if is_next {
            self.step(token.len());
        }
        is_next
    }

    /// Steps over what stands between two conditions; false at the end of the text.
    fn take_and(&mut self) -> Result<bool, QueryError> {
        if self.rest().trim().is_empty() {
            return Ok(false);
        }
        self.skip_blanks();
        let here = *self;
        if self.take("and") && self.rest().starts_with(' ') {
            return Ok(true);
        }
        Err(here.error("expected `and` or the end"))
    }
}

/// Reads a query.
pub(super) fn query(text: &str) -> Result<Query, QueryError> {
    let mut reader = Reader { text, at: 0 };
    let mut conditions = vec![condition(&mut reader)?];
    while reader.take_and()? {
        conditions.push(condition(&mut reader)?);
    }
    Ok(Query { conditions })
}

/// The operator that `text` begins with.
fn operator_at(text: &str) -> Option<(&'static str, Operator)> {
    OPERATORS.into_iter().find(|(token, _)| text.starts_with(token))
}

/// The first operator of a text, and its position.
fn find_operator(text: &str) -> Option<(usize, &'static str, Operator)> {
    text.char_indices().find_map(|(at, _)| {
        let (token, operator) = operator_at(text.get(at..)?)?;
        Some((at, token, operator))
    })
}

fn condition(reader: &mut Reader<'_>) -> Result<Condition, QueryError> {
    reader.skip_blanks();
    let Some((at, token, operator)) = find_operator(reader.rest()) else {
        return Err(
            reader.error("expected KEY=VALUE, KEY!=VALUE, KEY<VALUE, KEY<=VALUE, KEY>VALUE, KEY>=VALUE or KEY?")
        );
    };
    let key = reader.rest().get(..at).unwrap_or_default().trim_end();
    if key.is_empty() {
        return Err(reader.error("expected a key"));
    }
    if key.contains(AND) {
        return Err(reader.error("expected an operator before `and`"));
    }
    reader.step(at.saturating_add(token.len()));
    let test = match operator {
        Operator::Present => Test::Present,
        Operator::Is => Test::OneOf(alternatives(reader)?),
        Operator::IsNot => Test::NoneOf(alternatives(reader)?),
        Operator::Order(relation) => Test::Ordered(relation, single(reader)?),
    };
    Ok(Condition { key: key.to_string(), test })
}

/// The values of `=` and `!=`.
fn alternatives(reader: &mut Reader<'_>) -> Result<Vec<Literal>, QueryError> {
    let mut literals = vec![literal(reader)?];
    while reader.take("/") {
        literals.push(literal(reader)?);
    }
    Ok(literals)
}

/// The value of an operator of order. A mistake here would never match, so more is refused than for `=`.
fn single(reader: &mut Reader<'_>) -> Result<Literal, QueryError> {
    let start = *reader;
    let is_quoted = reader.rest().trim_start().starts_with('"');
    let found = literal(reader)?;
    let text = start.text.get(start.at..reader.at).unwrap_or_default();
    if text.trim().is_empty() {
        return Err(start.error("expected a value"));
    }
    if reader.rest().starts_with('/') {
        return Err(reader.error("expected one value: only = and != take several, and quotes make / a part of one"));
    }
    match text.find(AND) {
        Some(at) if !is_quoted => {
            let behind = Reader { at: start.at.saturating_add(at).saturating_add(AND.len()), ..start };
            Err(behind.error("expected a condition behind `and`"))
        }
        _ => Ok(found),
    }
}

fn literal(reader: &mut Reader<'_>) -> Result<Literal, QueryError> {
    let mut ahead = *reader;
    ahead.skip_blanks();
    if ahead.take("\"") {
        *reader = ahead;
        return quoted(reader).map(Literal::quoted);
    }
    let text = plain(*reader)?;
    reader.step(text.len());
    Ok(Literal::plain(text.trim()))
}

/// The text up to the closing quote, behind which the reader then stands.
fn quoted(reader: &mut Reader<'_>) -> Result<String, QueryError> {
    let (opening, mut text) = (*reader, String::new());
    let mut chars = opening.rest().char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            '"' => {
                reader.step(at.saturating_add(1));
                let rest = reader.rest().trim_start();
                if rest.starts_with('/') {
                    reader.skip_blanks();
                }
                return Ok(text);
            }
            '\\' => {
                let Some((_, escaped @ ('"' | '\\'))) = chars.next() else {
                    reader.step(at);
                    return Err(reader.error("expected \\\" or \\\\"));
                };
                text.push(escaped);
            }
            other => text.push(other),
        }
    }
    Err(opening.error("expected a closing quote for the text"))
}

/// The text up to what ends a value without quotes.
fn plain(reader: Reader<'_>) -> Result<&str, QueryError> {
    let rest = reader.rest();
    for (at, c) in rest.char_indices() {
        let behind = rest.get(at..).unwrap_or_default();
        if c == '/' || behind.strip_prefix(AND).is_some_and(begins_condition) {
            return Ok(rest.get(..at).unwrap_or_default());
        }
        if behind.strip_prefix(OR).is_some_and(begins_condition) {
            let here = Reader { at: reader.at.saturating_add(at).saturating_add(1), ..reader };
            return Err(here.error("there is no `or`: KEY=A/B takes several values, and quotes make it a part of one"));
        }
    }
    Ok(rest)
}

/// Whether a condition begins here: a key without blanks, then an operator.
fn begins_condition(text: &str) -> bool {
    let text = text.trim_start();
    let is_end =
        |(at, c): &(usize, char)| c.is_whitespace() || operator_at(text.get(*at..).unwrap_or_default()).is_some();
    let Some((key_len, _)) = text.char_indices().find(is_end) else { return false };
    let Some((token, operator)) = operator_at(text.get(key_len..).unwrap_or_default().trim_start()) else {
        return false;
    };
    let behind = text.get(key_len..).and_then(|rest| rest.trim_start().strip_prefix(token)).unwrap_or_default();
    key_len > 0 && (!matches!(operator, Operator::Present) || behind.is_empty() || behind.starts_with(' '))
}
