//! Queries from text.

use super::QueryError;
use super::compare::{Literal, Relation};
use super::expr::{Condition, Expr, Test};
use super::slips;

/// What stands between expressions that must all hold.
const AND: &str = " and ";
/// What stands between expressions of which one must hold.
const OR: &str = " or ";
/// How deep brackets and `not` may be nested.
const DEEPEST: usize = 64;

/// What is expected where a condition begins.
const CONDITION: &str =
    "expected KEY=VALUE, KEY!=VALUE, KEY<VALUE, KEY<=VALUE, KEY>VALUE, KEY>=VALUE, KEY in LOW..HIGH or KEY?";

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
    /// Brackets that are open.
    brackets: usize,
    /// Brackets and `not`s around this place.
    nesting: usize,
}

impl<'t> Reader<'t> {
    fn rest(self) -> &'t str {
        // A reader steps over whole tokens, so it never stands inside of a character.
        self.text.get(self.at..).unwrap_or("")
    }

    const fn error(self, what: &'static str) -> QueryError {
        QueryError { what, offset: self.at }
    }

    const fn step(&mut self, bytes: usize) {
        self.at += bytes;
    }

    /// Steps to `behind`, with which `rest` ends, the text from here on.
    const fn step_to(&mut self, rest: &str, behind: &str) {
        self.step(rest.len() - behind.len());
    }

    fn skip_blanks(&mut self) {
        let rest = self.rest();
        self.step_to(rest, rest.trim_start());
    }

    /// Steps over `token` if it comes next.
    fn take(&mut self, token: &str) -> bool {
        let is_next = self.rest().starts_with(token);
        if is_next {
            self.step(token.len());
        }
        is_next
    }

    /// Steps over `word` if it comes next between blanks.
    fn take_word(&mut self, word: &str) -> bool {
        let mut ahead = *self;
        ahead.skip_blanks();
        let is_next = ahead.take(word) && ahead.rest().starts_with(' ');
        if is_next {
            *self = ahead;
        }
        is_next
    }

    /// Goes into a bracket or after a `not`.
    fn deeper(&mut self) -> Result<(), QueryError> {
        self.nesting += 1;
        if self.nesting > DEEPEST { Err(self.error("expected at most 64 brackets inside each other")) } else { Ok(()) }
    }
}

/// Reads an expression that is the whole text.
pub(super) fn query(text: &str) -> Result<Expr, QueryError> {
    let mut reader = Reader { text, at: 0, brackets: 0, nesting: 0 };
    let mut expr = any(&mut reader)?;
    reader.skip_blanks();
    if !reader.rest().is_empty() {
        return Err(reader.error("expected `and`, `or` or the end"));
    }
    expr.number(0);
    Ok(expr)
}

/// Expressions joined by `or`.
fn any(reader: &mut Reader<'_>) -> Result<Expr, QueryError> {
    joined(reader, "or", all, Expr::Any)
}

/// Expressions joined by `and`.
fn all(reader: &mut Reader<'_>) -> Result<Expr, QueryError> {
    joined(reader, "and", operand, Expr::All)
}

fn joined(
    reader: &mut Reader<'_>,
    word: &str,
    read: fn(&mut Reader<'_>) -> Result<Expr, QueryError>,
    join: fn(Vec<Expr>) -> Expr,
) -> Result<Expr, QueryError> {
    let first = read(reader)?;
    if !reader.take_word(word) {
        return Ok(first);
    }
    let mut inner = vec![first, read(reader)?];
    while reader.take_word(word) {
        inner.push(read(reader)?);
    }
    Ok(join(inner))
}

/// A condition, a bracket, or the opposite of one of these.
fn operand(reader: &mut Reader<'_>) -> Result<Expr, QueryError> {
    reader.skip_blanks();
    let outer = *reader;
    if reader.take("(") {
        reader.deeper()?;
        reader.brackets += 1;
        let expr = any(reader)?;
        reader.skip_blanks();
        if !reader.take(")") {
            return Err(reader.error("expected `and`, `or` or `)`"));
        }
        *reader = Reader { at: reader.at, ..outer };
        return Ok(expr);
    }
    if let Some(behind) = behind_not(reader.rest()) {
        reader.step_to(reader.rest(), behind);
        reader.deeper()?;
        let expr = operand(reader)?;
        *reader = Reader { at: reader.at, ..outer };
        return Ok(Expr::Not(Box::new(expr)));
    }
    condition(reader).map(Condition::expr)
}

/// The text after a `not`, if `text` begins with one. A key may have that name too: then an operator follows it.
fn behind_not(text: &str) -> Option<&str> {
    let behind = text.strip_prefix("not")?;
    let next = behind.trim_start();
    let is_separate = next.len() < behind.len() || next.starts_with('(');
    let is_key = operator_at(next).is_some() || word_behind_key(text).is_some_and(|(key, _, _)| key == "not");
    (is_separate && !is_key).then_some(next)
}

/// The operator that `text` begins with.
fn operator_at(text: &str) -> Option<(&'static str, Operator)> {
    OPERATORS.into_iter().find(|(token, _)| text.starts_with(token))
}

/// The first operator of a text, and what stands before it.
fn find_operator(text: &str) -> Option<(&str, &'static str, Operator)> {
    text.char_indices().find_map(|(at, _)| {
        let (before, rest) = text.split_at_checked(at)?;
        let (token, operator) = operator_at(rest)?;
        Some((before, token, operator))
    })
}

/// An operator that is a word.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Word {
    In,
    Exists,
}

/// The key at the front of `text` if an operator that is a word comes after it, that operator, and the text after it.
/// Keys in quotes do not count.
fn word_behind_key(text: &str) -> Option<(&str, Word, &str)> {
    let key = key_at(text);
    let (word, behind) = word_at(text.get(key.len()..)?)?;
    (!key.is_empty() && !key.starts_with('"')).then_some((key, word, behind))
}

/// The operator that is a word at the front of `text`, after at least one blank, and the text after it.
fn word_at(text: &str) -> Option<(Word, &str)> {
    let word = text.trim_start();
    if word.len() == text.len() {
        return None;
    }
    if let Some(behind) = word.strip_prefix("in") {
        let range = behind.trim_start();
        let is_range = range.len() < behind.len() && operator_at(range).is_none();
        return is_range.then_some((Word::In, range));
    }
    let behind = word.strip_prefix("exists")?;
    let is_last = behind.is_empty() || behind.starts_with([' ', ')']);
    (is_last && operator_at(behind.trim_start()).is_none()).then_some((Word::Exists, behind))
}

/// The key that `text` begins with, if it has no blanks.
fn key_at(text: &str) -> &str {
    let key = text.char_indices().find_map(|(at, c)| {
        let (key, rest) = text.split_at_checked(at)?;
        (c.is_whitespace() || operator_at(rest).is_some()).then_some(key)
    });
    key.unwrap_or(text)
}

/// Whether a key can stand in a query without quotes, wherever a condition can.
pub(super) fn is_plain_key(key: &str) -> bool {
    !key.is_empty()
        && key_at(key) == key
        && !key.contains(['(', ')', '"', '\\'])
        && !key.starts_with('!')
        && !matches!(key, "and" | "exists" | "in" | "not" | "or")
}

fn condition(reader: &mut Reader<'_>) -> Result<Condition, QueryError> {
    reader.skip_blanks();
    if let Some(len) = quoted_path(reader.rest()) {
        let key = reader.rest().get(..len).unwrap_or_default();
        reader.step(len);
        return behind_quoted_key(reader, key);
    }
    if let Some((key, word, behind)) = word_behind_key(reader.rest()) {
        let mut ahead = *reader;
        ahead.step_to(reader.rest(), behind);
        if word == Word::Exists {
            *reader = ahead;
            return Ok(Condition::new(key, Test::Present));
        }
        if is_range(behind) {
            let test = range(&mut ahead)?;
            *reader = ahead;
            return Ok(Condition::new(key, test));
        }
        if find_operator(reader.rest()).is_none() {
            return Err(ahead.error("expected LOW..HIGH or LOW..=HIGH"));
        }
    }
    if reader.rest().starts_with('"') {
        reader.step(1);
        let key = quoted(reader)?;
        return behind_quoted_key(reader, &key);
    }
    let Some((before, token, operator)) = find_operator(reader.rest()) else { return Err(reader.error(CONDITION)) };
    let key = before.trim_end();
    if key.is_empty() {
        return Err(reader.error("expected a key"));
    }
    if key.contains(AND) {
        return Err(reader.error("expected an operator before `and`"));
    }
    if key.contains(OR) {
        return Err(reader.error("expected an operator before `or`"));
    }
    if key.starts_with('!') || key.get(..4).is_some_and(|word| word.eq_ignore_ascii_case("not ")) {
        return Err(reader.error("expected `not ` in small letters, or a key (a key that begins so stands in quotes)"));
    }
    reader.step(before.len() + token.len());
    let start = *reader;
    let test = test(reader, operator)?;
    slips::check(key, &test).map_err(|what| start.error(what))?;
    Ok(Condition::new(key, test))
}

/// The length of the path at the front of `text` if it has several parts, and some of them stand in quotes: `a."b.c"`. What is
/// in quotes ends nothing.
fn quoted_path(text: &str) -> Option<usize> {
    let mut reader = Reader { text, at: 0, brackets: 0, nesting: 0 };
    let (mut parts, mut has_quotes) = (0, false);
    loop {
        if reader.rest().starts_with('"') {
            reader.step(1);
            quoted(&mut reader).ok()?;
            has_quotes = true;
        } else {
            let part = key_at(reader.rest());
            reader.step(part.find('.').unwrap_or(part.len()));
        }
        parts += 1;
        if !reader.rest().starts_with('.') {
            return (has_quotes && parts > 1).then_some(reader.at);
        }
        reader.step(1);
    }
}

/// A condition whose key, which has quotes, was read.
fn behind_quoted_key(reader: &mut Reader<'_>, key: &str) -> Result<Condition, QueryError> {
    let rest = reader.rest();
    reader.skip_blanks();
    if let Some((token, operator)) = operator_at(reader.rest()) {
        reader.step(token.len());
        let start = *reader;
        let test = test(reader, operator)?;
        slips::check(key, &test).map_err(|what| start.error(what))?;
        return Ok(Condition::new(key, test));
    }
    let Some((word, behind)) = word_at(rest) else { return Err(reader.error("expected an operator after the key")) };
    reader.step_to(reader.rest(), behind);
    let test = if word == Word::In { range(reader)? } else { Test::Present };
    Ok(Condition::new(key, test))
}

/// What stands after an operator.
fn test(reader: &mut Reader<'_>, operator: Operator) -> Result<Test, QueryError> {
    Ok(match operator {
        Operator::Present => Test::Present,
        Operator::Is => Test::OneOf(alternatives(reader)?),
        Operator::IsNot => Test::NoneOf(alternatives(reader)?),
        Operator::Order(relation) => Test::Ordered(relation, single(reader)?),
    })
}

/// Whether a range begins here: two dots in the first word, or after a text in quotes.
fn is_range(text: &str) -> bool {
    if text.starts_with('"') {
        let mut reader = Reader { text, at: 1, brackets: 0, nesting: 0 };
        return quoted(&mut reader).is_ok() && reader.rest().starts_with("..");
    }
    text.split(char::is_whitespace).next().is_some_and(|word| word.contains(".."))
}

/// The two values of `in`.
fn range(reader: &mut Reader<'_>) -> Result<Test, QueryError> {
    const EXPECTED: &str = "expected LOW..HIGH or LOW..=HIGH";
    let low = bound(reader, |rest| rest.find("..").filter(|at| !rest.get(..*at).unwrap_or(" ").contains(' ')))?;
    let relation = if reader.take("..=") {
        Relation::LessOrEqual
    } else if reader.take("..") {
        Relation::Less
    } else {
        return Err(reader.error(EXPECTED));
    };
    let is_inside = reader.brackets > 0;
    let is_end = |c: char| c.is_whitespace() || (is_inside && c == ')');
    let high = bound(reader, |rest| Some(rest.find(is_end).unwrap_or(rest.len())))?;
    Ok(Test::Within(low, relation, high))
}

/// One value of a range. `end` says where a value without quotes ends.
fn bound(reader: &mut Reader<'_>, end: impl FnOnce(&str) -> Option<usize>) -> Result<Literal, QueryError> {
    if reader.rest().starts_with('"') {
        reader.step(1);
        return quoted(reader).map(Literal::quoted);
    }
    let text = end(reader.rest()).and_then(|end| reader.rest().get(..end)).filter(|text| !text.is_empty());
    let Some(text) = text else { return Err(reader.error("expected a value")) };
    reader.step(text.len());
    Ok(Literal::bound(text))
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
    let text = start.text.get(start.at..reader.at).filter(|text| !text.trim().is_empty());
    let Some(text) = text else { return Err(start.error("expected a value")) };
    if reader.rest().starts_with('/') {
        return Err(reader.error("expected one value: only = and != take several, and quotes make / a part of one"));
    }
    let words = [(AND, "expected a condition after `and`"), (OR, "expected a condition after `or`")].into_iter();
    let first = words.filter_map(|(word, what)| Some((text.find(word)? + word.len(), what))).min();
    match first {
        Some((at, what)) if !is_quoted => Err(Reader { at: start.at + at, ..start }.error(what)),
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
    let text = plain(*reader);
    if let Some((at, what)) = mistake(text) {
        reader.step(at);
        return Err(reader.error(what));
    }
    reader.step(text.len());
    Ok(Literal::plain(text.trim()))
}

/// What cannot be meant as a value without quotes, and where: habits of other languages, which would match nothing.
fn mistake(text: &str) -> Option<(usize, &'static str)> {
    const JOINED: &str = "expected ` and ` or ` or ` between conditions (quotes make all of it a value)";
    let blanks = text.len() - text.trim_start().len();
    if text.trim_start().starts_with(['=', '<', '>']) {
        return Some((
            blanks,
            "expected a value: the operators are =, !=, <, <=, > and >= (quotes make all of it a value)",
        ));
    }
    if let Some(found) = dangling(text) {
        return Some(found);
    }
    text.char_indices().find_map(|(at, c)| {
        let behind = text.get(at + c.len_utf8()..)?;
        let is_mistake = match c {
            '&' | '|' => behind.starts_with(c) || (behind.starts_with(' ') && begins_condition(behind)),
            ',' | ';' => begins_condition(behind),
            ' ' => ["and ", "or "].iter().any(|word| {
                let is_word = behind.get(..word.len()).is_some_and(|found| found.eq_ignore_ascii_case(word));
                is_word && !behind.starts_with(word) && behind.get(word.len()..).is_some_and(begins_condition)
            }),
            _ => false,
        };
        is_mistake.then_some((at, JOINED))
    })
}

/// An `and`, an `or` or a `not` that ends a value, and the place after it, where a condition is missing.
fn dangling(text: &str) -> Option<(usize, &'static str)> {
    let text = text.trim_end();
    let last = text.trim_start().rsplit_once(' ')?.1;
    let what = match &*last.to_ascii_lowercase() {
        "and" => "expected a condition after `and` (quotes make all of it a value)",
        "or" => "expected a condition after `or` (quotes make all of it a value)",
        "not" => "expected a condition after `not` (quotes make all of it a value)",
        _ => return None,
    };
    Some((text.len(), what))
}

/// The text up to the closing quote, after which the reader then stands.
fn quoted(reader: &mut Reader<'_>) -> Result<String, QueryError> {
    let (opening, mut text) = (*reader, String::new());
    let mut chars = opening.rest().char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            '"' => {
                reader.step(at + 1);
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

/// The text up to what ends a value without quotes. Inside of brackets that is also a closing one, unless it was opened
/// in the value.
fn plain(reader: Reader<'_>) -> &str {
    let rest = reader.rest();
    let mut opened = 0_usize;
    for (at, c) in rest.char_indices() {
        let Some((before, behind)) = rest.split_at_checked(at) else { continue };
        let is_end = match c {
            '/' => true,
            ' ' => [AND, OR].iter().any(|word| behind.strip_prefix(word).is_some_and(begins_condition)),
            ')' => reader.brackets > 0 && opened == 0,
            _ => false,
        };
        if is_end {
            return before;
        }
        match c {
            '(' => opened += 1,
            // One that closes nothing is a character of the value.
            ')' => opened = opened.saturating_sub(1),
            _ => {}
        }
    }
    rest
}

/// Whether a condition begins here, after any number of brackets and `not`s: a key without blanks or in quotes, then
/// an operator.
fn begins_condition(text: &str) -> bool {
    let mut text = text.trim_start();
    while let Some(behind) = text.strip_prefix('(').or_else(|| behind_not(text)) {
        text = behind.trim_start();
    }
    if let Some(len) = quoted_path(text) {
        return condition_follows(text.get(len..).unwrap_or_default());
    }
    if text.starts_with('"') {
        let mut reader = Reader { text, at: 1, brackets: 0, nesting: 0 };
        return quoted(&mut reader).is_ok() && condition_follows(reader.rest());
    }
    let key = key_at(text);
    !key.is_empty() && text.strip_prefix(key).is_some_and(condition_follows)
}

/// Whether an operator comes next, after a key.
fn condition_follows(text: &str) -> bool {
    if word_at(text).is_some_and(|(word, behind)| word == Word::Exists || is_range(behind)) {
        return true;
    }
    let Some((token, operator)) = operator_at(text.trim_start()) else { return false };
    let is_last = |behind: &str| behind.is_empty() || behind.starts_with([' ', ')']);
    !matches!(operator, Operator::Present) || text.trim_start().strip_prefix(token).is_some_and(is_last)
}
