//! One value of metadata compared with what a query says.

use std::borrow::Cow;
use std::cmp::Ordering;

use tgm_core::Result;
use tgm_core::cbor::{Text, Value};

use super::text;

/// An operator of order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Relation {
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

impl Relation {
    /// The operator as text.
    pub(super) const fn sign(self) -> &'static str {
        match self {
            Self::Less => "<",
            Self::LessOrEqual => "<=",
            Self::Greater => ">",
            Self::GreaterOrEqual => ">=",
        }
    }

    /// Whether metadata that stands in this order to the literal satisfies the operator.
    pub(super) const fn allows(self, order: Ordering) -> bool {
        match self {
            Self::Less => order.is_lt(),
            Self::LessOrEqual => order.is_le(),
            Self::Greater => order.is_gt(),
            Self::GreaterOrEqual => order.is_ge(),
        }
    }
}

/// A value of a query.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Literal {
    text: String,
    /// The number that the text is, or stands for as a date.
    number: Option<Number>,
    is_date: bool,
    is_pattern: bool,
}

impl Literal {
    /// A value in quotes: this text and nothing else.
    pub(super) const fn quoted(text: String) -> Self {
        Self { text, number: None, is_date: false, is_pattern: false }
    }

    /// A value without quotes: a number, a pattern if it has a `*`, or text.
    pub(super) fn plain(text: &str) -> Self {
        Self { is_pattern: text.contains('*'), ..Self::bound(text) }
    }

    /// A value of a range without quotes: a number or text.
    pub(super) fn bound(text: &str) -> Self {
        let date = Number::of_date(text);
        Self {
            text: text.to_string(),
            number: Number::parse(text).or(date),
            is_date: date.is_some(),
            is_pattern: false,
        }
    }

    /// The text, without quotes.
    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// Whether this is text and nothing else: neither a number nor a pattern.
    pub(super) const fn is_text(&self) -> bool {
        self.number.is_none() && !self.is_pattern
    }

    /// Whether the text would be a number without quotes.
    pub(super) fn looks_like_number(&self) -> bool {
        Number::of_text(&self.text).is_some()
    }

    /// Whether this is the number. `None` if this is not a number: then texts have to be compared.
    pub(super) fn equals(&self, number: Number) -> Option<bool> {
        Some(number.order(self.number?) == Some(Ordering::Equal))
    }

    /// How the number stands to this one; `None` if they have no order.
    pub(super) fn order_of(&self, number: Number) -> Option<Ordering> {
        number.order(self.number?)
    }

    fn is(&self, text: &str) -> bool {
        if self.is_pattern { text::fits(text, &self.text) } else { text == self.text }
    }

    /// Whether this is a text that spells out no number. It is compared as text alone.
    fn is_word(&self) -> bool {
        self.is_text() && !self.looks_like_number()
    }
}

/// A number, of metadata or of a query.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Number {
    /// An integer, exactly.
    Integer(i128),
    /// A float.
    Float(f64),
}

impl Number {
    fn parse(text: &str) -> Option<Self> {
        // Rust reads "inf" and "nan" as floats; here they are text.
        if !text.ends_with(|c: char| c.is_ascii_digit() || c == '.') || !text.contains(|c: char| c.is_ascii_digit()) {
            return None;
        }
        match text.parse() {
            Ok(integer) => Some(Self::Integer(integer)),
            Err(_) => text.parse().ok().map(Self::Float),
        }
    }

    /// The number that a date stands for, as people write it: 20260115 for `2026-01-15` and `2026-1-15`.
    fn of_date(text: &str) -> Option<Self> {
        let mut parts = text.split('-').map(|part| {
            let is_number = !part.is_empty() && part.len() <= 4 && part.bytes().all(|byte| byte.is_ascii_digit());
            is_number.then(|| part.parse::<u32>().ok()).flatten().map(|number| (part.len(), number))
        });
        let ((4, year), (1..=2, month @ 1..=12), (1..=2, day @ 1..=31), None) =
            (parts.next()??, parts.next()??, parts.next()??, parts.next())
        else {
            return None;
        };
        Some(Self::Integer(i128::from(year) * 10_000 + i128::from(month) * 100 + i128::from(day)))
    }

    /// The number that a text of metadata is, or stands for as a date.
    fn of_text(text: &str) -> Option<Self> {
        Self::parse(text).or_else(|| Self::of_date(text))
    }

    /// The number that an item of metadata is. `None` for an item of another kind.
    pub fn of(value: &Value<'_>) -> Option<Self> {
        if let Ok(integer) = value.as_integer() {
            return Some(Self::Integer(integer));
        }
        value.as_f64().ok().map(Self::Float)
    }

    /// Which number is greater, without rounding. `None` for NaN.
    pub fn order(self, other: Self) -> Option<Ordering> {
        match (self, other) {
            (Self::Integer(a), Self::Integer(b)) => Some(a.cmp(&b)),
            (Self::Float(a), Self::Float(b)) => a.partial_cmp(&b),
            (Self::Integer(a), Self::Float(b)) => order_mixed(a, b),
            (Self::Float(a), Self::Integer(b)) => order_mixed(b, a).map(Ordering::reverse),
        }
    }
}

/// The order of an integer and a float, without rounding the integer: first by the float's whole part, then by its
/// fraction.
// Inlined into a loop over literals, the whole part is computed ahead of the loop, even if the metadata is not a float
// and these bytes were never written. The result is not used then, but Valgrind reports it to users of the C library.
#[inline(never)]
fn order_mixed(integer: i128, float: f64) -> Option<Ordering> {
    // 2¹²⁷, which is above every i128; its negative is the least i128.
    const LIMIT: f64 = 170_141_183_460_469_231_731_687_303_715_884_105_728.0;
    if float.is_nan() {
        return None;
    }
    if float >= LIMIT {
        return Some(Ordering::Less);
    }
    if float < -LIMIT {
        return Some(Ordering::Greater);
    }
    #[expect(clippy::cast_possible_truncation, reason = "the float was found to be in range")]
    let whole = float.trunc() as i128;
    match integer.cmp(&whole) {
        Ordering::Equal => 0.0.partial_cmp(&float.fract()),
        unequal => Some(unequal),
    }
}

/// Whether the value is a number, or a text that is one.
pub(super) fn is_number(value: &Value<'_>) -> bool {
    value.as_text().map_or_else(|_| Number::of(value), |text| Number::of_text(&in_one_piece(text))).is_some()
}

/// Whether the value is one of the literals.
///
/// # Errors
/// The errors of walking an array or a map.
pub(super) fn is_one_of(value: &Value<'_>, literals: &[Literal]) -> Result<bool> {
    if let Ok(text) = value.as_text() {
        let text = in_one_piece(text);
        // Few texts are numbers, and most literals are texts.
        let has_numbers = literals.iter().any(|literal| literal.number.is_some());
        let number = if has_numbers { Number::of_text(&text) } else { None };
        let is_equal = |literal: &Literal| number.is_some_and(|number| literal.equals(number) == Some(true));
        return Ok(literals.iter().any(|literal| literal.is(&text) || is_equal(literal)));
    }
    let number = Number::of(value);
    let is_equal = |literal: &Literal| match (number, literal.number) {
        (Some(number), Some(wanted)) => number.order(wanted) == Some(Ordering::Equal),
        _ => false,
    };
    if literals.iter().any(is_equal) {
        return Ok(true);
    }
    let mut rest = literals.iter().filter(|literal| number.is_none() || literal.number.is_none()).peekable();
    if rest.peek().is_none() {
        return Ok(false);
    }
    let json = text::json(value)?;
    Ok(rest.any(|literal| literal.is(&json)))
}

/// How the value stands to the literal; `None` if they have no order.
pub(super) fn order(value: &Value<'_>, literal: &Literal) -> Option<Ordering> {
    let Ok(text) = value.as_text() else { return Number::of(value)?.order(literal.number?) };
    let by_text = || text.chunks().flat_map(str::bytes).cmp(literal.text.bytes());
    let Some(wanted) = literal.number else { return Some(by_text()) };
    match Number::of_text(&in_one_piece(text)) {
        Some(number) => number.order(wanted),
        // A time has its date in front.
        None => literal.is_date.then(by_text),
    }
}

/// What a value of metadata is, for [`misfit`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form<'v> {
    Number,
    Text(&'v str),
    Other,
}

/// The literal that keeps values of this form from being one of these, whatever the value is. `None` if one of them can be.
pub(super) fn misfit<'l>(form: Form<'_>, literals: &'l [Literal]) -> Option<&'l Literal> {
    literals.first().filter(|_| form == Form::Number && literals.iter().all(Literal::is_word))
}

/// The literal, if values of this form have no order with it.
pub(super) fn without_order<'l>(form: Form<'_>, literal: &'l Literal) -> Option<&'l Literal> {
    let has_none = match form {
        Form::Number => literal.number.is_none(),
        Form::Text(text) => literal.number.is_some() && !literal.is_date && Number::of_text(text).is_none(),
        Form::Other => true,
    };
    has_none.then_some(literal)
}

/// The text, borrowed if it lies in one piece.
fn in_one_piece(text: Text<'_>) -> Cow<'_, str> {
    text.as_str().map_or_else(|| Cow::Owned(text.to_string()), Cow::Borrowed)
}
