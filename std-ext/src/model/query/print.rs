//! Queries as text. Reading the text again gives the same query.

use std::fmt::{self, Display, Formatter, Write as _};

use super::compare::{Literal, Relation};
use super::expr::{Condition, Expr, Test};
use super::parse::is_plain_key;

impl Display for Expr {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let joined = |f: &mut Formatter<'_>, inner: &[Self], word: &str, needs_bracket: fn(&Self) -> bool| {
            for (index, expr) in inner.iter().enumerate() {
                if index > 0 {
                    f.write_str(word)?;
                }
                bracketed(expr, needs_bracket(expr), f)?;
            }
            Ok(())
        };
        match self {
            Self::Is(condition) => condition.fmt(f),
            Self::Alias(alias) => alias.asked.fmt(f),
            Self::Not(inner) => {
                f.write_str("not ")?;
                bracketed(inner, matches!(**inner, Self::All(_) | Self::Any(_)), f)
            }
            Self::All(inner) => joined(f, inner, " and ", |expr| matches!(expr, Self::All(_) | Self::Any(_))),
            Self::Any(inner) => joined(f, inner, " or ", |expr| matches!(expr, Self::Any(_))),
        }
    }
}

fn bracketed(expr: &Expr, needs_bracket: bool, f: &mut Formatter<'_>) -> fmt::Result {
    if needs_bracket { write!(f, "({expr})") } else { expr.fmt(f) }
}

impl Display for Condition {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        if is_plain_key(&self.key) {
            f.write_str(&self.key)?;
        } else {
            quote(&self.key, f)?;
        }
        match &self.test {
            Test::Present => f.write_char('?'),
            // Only what an alias stands for has it, and an alias is printed as it was written.
            Test::Number => f.write_str(" is a number"),
            Test::OneOf(literals) => alternatives("=", literals, f),
            Test::NoneOf(literals) => alternatives("!=", literals, f),
            Test::Ordered(relation, literal) => write!(f, "{}{literal}", relation.sign()),
            Test::Within(low, relation, high) => {
                let sign = if *relation == Relation::Less { ".." } else { "..=" };
                write!(f, " in {low}{sign}{high}")
            }
        }
    }
}

fn alternatives(sign: &str, literals: &[Literal], f: &mut Formatter<'_>) -> fmt::Result {
    for (index, literal) in literals.iter().enumerate() {
        write!(f, "{}{literal}", if index == 0 { sign } else { "/" })?;
    }
    Ok(())
}

impl Display for Literal {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let text = self.text();
        let is_plain = |c: char| c.is_alphanumeric() || "._-:".contains(c);
        // A dot at an end could be taken for a dot of a range.
        let ends_plainly = text.starts_with(char::is_alphanumeric) && text.ends_with(char::is_alphanumeric);
        let is_simple = ends_plainly && text.chars().all(is_plain) && !text.contains("..");
        if !self.is_text() || (is_simple && !self.looks_like_number()) { f.write_str(text) } else { quote(text, f) }
    }
}

fn quote(text: &str, f: &mut Formatter<'_>) -> fmt::Result {
    f.write_char('"')?;
    for c in text.chars() {
        if matches!(c, '"' | '\\') {
            f.write_char('\\')?;
        }
        f.write_char(c)?;
    }
    f.write_char('"')
}
