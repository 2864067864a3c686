//! Keys as people type them, and the parameter of a field by other keys and numbers than its metadata have.
//!
//! Listings have columns `name`, `level`, `date`, `step` and `number`. Fields have these as keys of MARS. So a condition on such a key
//! stands for one on the first of several keys that an object has:
//!
//! ```text
//! step=6              step=6 or (not step? and mars.step=6)
//! level=500           level=500 or (not level? and (mars.levelist=500 or (not mars.levelist? and levelist=500)))
//! ```
//!
//! People ask for a parameter by its short name, its number (`paramId`), or as `PARAMETER.TABLE` of GRIB edition 1. A field that was
//! converted from GRIB has the short name as `mars.param` and the number as `grib.paramId`; other programs write the number as
//! `mars.param`. So a condition on one of these keys stands for several:
//!
//! ```text
//! mars.param=167      mars.param=167 or (mars.param is not a number and grib.paramId=167)
//! mars.param=11.3     mars.param=11.3/3011 or (mars.param is not a number and
//!                     (grib.paramId=3011 or (grib.table2Version=3 and grib.indicatorOfParameter=11)))
//! param>1             param>1 or (not param? and mars.param>1)
//! KEY!=…              not KEY=…
//! ```
//!
//! A `mars.param` that is a number decides by itself. Values in quotes and with `*` are texts, and no numbers of parameters.

use tgm_core::metadata::NAME_KEYS;

use super::compare::Literal;
use super::expr::{Alias, Condition, Expr, Test};

const MARS_PARAM: &str = "mars.param";
const PARAM_ID: &str = "grib.paramId";
const TABLE: &str = "grib.table2Version";
const INDICATOR: &str = "grib.indicatorOfParameter";
/// The table whose parameters have their own numbers as `paramId`. Parameters of other tables have a thousand of the table in front.
const MAIN_TABLE: u32 = 128;

/// Keys that people type, each with the keys that are asked one after the other: the first that an object has counts.
const BARE: [(&str, &[&str]); 11] = [
    ("name", &NAME_KEYS),
    ("param", &["param", MARS_PARAM]),
    ("shortName", &["shortName", MARS_PARAM]),
    ("paramId", &["paramId", PARAM_ID]),
    ("level", &["level", "mars.levelist", "levelist"]),
    ("levelist", &["levelist", "mars.levelist"]),
    ("levtype", &["levtype", "mars.levtype"]),
    ("date", &["date", "mars.date"]),
    ("time", &["time", "mars.time"]),
    ("step", &["step", "mars.step"]),
    ("number", &["number", "mars.number"]),
];

/// The keys that a key stands for as people type it, itself first. The first that an object has counts. `None` for a key that stands
/// for itself alone.
pub fn spellings(key: &str) -> Option<&'static [&'static str]> {
    BARE.into_iter().find(|(name, _)| *name == key).map(|(_, keys)| keys)
}

/// The keys under which what `key` asks for can stand: itself, and others if there are any.
pub fn names(key: &str) -> impl Iterator<Item = &str> {
    let others = spellings(key).and_then(|keys| keys.split_first()).map_or(&[][..], |(_, others)| others);
    let number = (key == MARS_PARAM).then_some(PARAM_ID);
    std::iter::once(key).chain(others.iter().copied()).chain(number)
}

impl Condition {
    /// The condition as an expression, with what else it stands for.
    pub(super) fn expr(self) -> Expr {
        let (positive, is_negated) = match &self.test {
            Test::NoneOf(literals) => (Test::OneOf(literals.clone()), true),
            other => (other.clone(), false),
        };
        let meant = match spellings(&self.key) {
            Some(keys) => Some(first_of(keys, self.key == "param", &positive)),
            None if self.key == MARS_PARAM => mars_param(&positive),
            None => None,
        };
        match meant {
            None => Expr::Is(self),
            Some(meant) => {
                let meant = if is_negated { Expr::Not(Box::new(meant)) } else { meant };
                Expr::Alias(Alias { asked: self, meant: Box::new(meant) })
            }
        }
    }
}

fn is(key: &str, test: Test) -> Expr {
    Expr::Is(Condition::new(key, test))
}

/// A test of the first of several keys that an object has. `by_number` lets numbers of parameters stand for `mars.param`.
fn first_of(keys: &[&str], by_number: bool, test: &Test) -> Expr {
    let of_key = |key: &str| {
        let by_number = if by_number && key == MARS_PARAM { mars_param(test) } else { None };
        by_number.unwrap_or_else(|| is(key, test.clone()))
    };
    let with_rest = |rest: Option<Expr>, key: &&str| {
        let Some(rest) = rest else { return Some(of_key(key)) };
        let is_missing = Expr::Not(Box::new(is(key, Test::Present)));
        Some(Expr::Any(vec![of_key(key), Expr::All(vec![is_missing, rest])]))
    };
    // Without keys nothing holds.
    keys.iter().rev().fold(None, with_rest).unwrap_or_else(|| Expr::Any(Vec::new()))
}

/// `mars.param`, and what values that are numbers of parameters ask for beside it. `None` if no value is one.
fn mars_param(test: &Test) -> Option<Expr> {
    let Test::OneOf(literals) = test else { return None };
    let numbers: Vec<Number> = literals.iter().filter_map(Number::of).collect();
    if numbers.is_empty() {
        return None;
    }
    let ids = numbers.iter().map(|number| literal(number.id())).collect();
    let in_tables = numbers.iter().filter_map(|number| {
        let (parameter, table) = (literal(number.parameter), literal(number.table?));
        Some(Expr::All(vec![is(TABLE, Test::OneOf(vec![table])), is(INDICATOR, Test::OneOf(vec![parameter]))]))
    });
    let by_number = Expr::Any(std::iter::once(is(PARAM_ID, Test::OneOf(ids))).chain(in_tables).collect());
    // A field without a short name can have the number as `mars.param`.
    let ids_of_tables = numbers.iter().filter(|number| number.table.is_some()).map(|number| literal(number.id()));
    let own = literals.iter().cloned().chain(ids_of_tables).collect();
    let is_word = Expr::Not(Box::new(is(MARS_PARAM, Test::Number)));
    Some(Expr::Any(vec![is(MARS_PARAM, Test::OneOf(own)), Expr::All(vec![is_word, by_number])]))
}

fn literal(number: u32) -> Literal {
    Literal::plain(&number.to_string())
}

/// The number of a parameter: `paramId`, or the parameter of a table.
struct Number {
    parameter: u32,
    table: Option<u32>,
}

impl Number {
    /// `167` and `167.128`. A parameter and a table of edition 1 have one byte each.
    fn of(literal: &Literal) -> Option<Self> {
        if literal.is_text() {
            return None;
        }
        let number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok()).flatten();
        let byte = |text: &str| number(text).filter(|number| *number <= 255);
        match literal.text().split_once('.') {
            None => Some(Self { parameter: number(literal.text())?, table: None }),
            Some((parameter, table)) => Some(Self { parameter: byte(parameter)?, table: Some(byte(table)?) }),
        }
    }

    /// The number as `paramId`.
    fn id(&self) -> u32 {
        match self.table {
            None | Some(MAIN_TABLE) => self.parameter,
            Some(table) => table * 1000 + self.parameter,
        }
    }
}
