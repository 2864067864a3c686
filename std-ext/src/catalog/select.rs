//! Queries answered from columns: which rows of a leaf they select.
//!
//! ```text
//! plainly:  for each row: look its value up in the table, compare it with the query
//! trick:    compare each value of the table once; a row then needs only its code
//! ```
//!
//! A mask has a byte for each row, 0 or 1, because bytes are compared and joined many at a time.

use tgm_core::cbor::Value;

use super::bad;
use super::column::Column;
use super::leaf::{KeyHead, Leaf, Storage};
use crate::base::error::Result;
use crate::model::query::compare::Number;
use crate::model::query::expr::{Condition, Expr};
use crate::model::query::{Query, version};

/// Codes up to which rows are compared with each code in turn.
const FEW_CODES: usize = 4;

/// What the rows of a mask are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Level {
    Messages,
    Objects,
}

/// For each row, 1 if it is selected, and otherwise 0.
pub(super) fn mask(leaf: &Leaf, query: &Query, level: Level) -> Result<Vec<u8>> {
    let rows = match level {
        Level::Messages => leaf.covers.messages,
        Level::Objects => leaf.covers.objects,
    };
    of_expr(leaf, query.root(), level, rows)
}

fn of_expr(leaf: &Leaf, expr: &Expr, level: Level, rows: usize) -> Result<Vec<u8>> {
    match expr {
        Expr::Is(condition) => of_condition(leaf, condition, level, rows),
        Expr::Not(inner) => {
            let mut mask = of_expr(leaf, inner, level, rows)?;
            for row in &mut mask {
                *row ^= 1;
            }
            Ok(mask)
        }
        Expr::All(inner) => {
            let mut mask = vec![1; rows];
            for expr in inner {
                let other = of_expr(leaf, expr, level, rows)?;
                mask.iter_mut().zip(other).for_each(|(row, other)| *row &= other);
            }
            Ok(mask)
        }
        Expr::Any(inner) => {
            let mut mask = vec![0; rows];
            for expr in inner {
                let other = of_expr(leaf, expr, level, rows)?;
                mask.iter_mut().zip(other).for_each(|(row, other)| *row |= other);
            }
            Ok(mask)
        }
    }
}

fn of_condition(leaf: &Leaf, condition: &Condition, level: Level, rows: usize) -> Result<Vec<u8>> {
    if condition.is_version() {
        return Ok(vec![u8::from(condition.holds(version()?.as_ref())?); rows]);
    }
    let key = leaf.keys.iter().find(|key| key.path == condition.key);
    let key = key.ok_or_else(|| bad(format!("it has no key {}", condition.key)))?;
    let column = match level {
        Level::Messages => leaf.message_column(key)?,
        Level::Objects => leaf.object_column(key)?,
    };
    match &key.kind {
        Storage::Codes(table) => {
            let mut holds = Vec::with_capacity(table.len());
            for value in table.iter() {
                holds.push(condition.holds(Some(&Value::parse(value, 0)?))?);
            }
            Ok(of_codes(column, &holds, condition.holds(None)?, rows))
        }
        Storage::Integers | Storage::Floats => of_numbers(condition, key, column, rows),
    }
}

/// The rows whose code holds. Codes without an entry are the missing value.
fn of_codes(column: &Column, holds: &[bool], absent: bool, rows: usize) -> Vec<u8> {
    let of_code = |code: u64| {
        let found = usize::try_from(code).ok().and_then(|code| holds.get(code));
        u8::from(*found.unwrap_or(&absent))
    };
    match column {
        Column::Equal(code) => vec![of_code(*code); rows],
        Column::U8(codes) => {
            if let Some((few, negated)) = few(holds, absent) {
                let few: Vec<u8> = few.iter().filter_map(|code| u8::try_from(*code).ok()).collect();
                return equal_to(codes, &few, negated);
            }
            let all: [u8; 256] = std::array::from_fn(|code| of_code(code as u64));
            codes.iter().map(|code| all.get(usize::from(*code)).copied().unwrap_or_default()).collect()
        }
        Column::U16(codes) => {
            if let Some((few, negated)) = few(holds, absent) {
                let few: Vec<u16> = few.iter().filter_map(|code| u16::try_from(*code).ok()).collect();
                return equal_to(codes, &few, negated);
            }
            let mut all = vec![u8::from(absent); 1 << 16];
            all.iter_mut().zip(holds).for_each(|(to, from)| *to = u8::from(*from));
            codes.iter().map(|code| all.get(usize::from(*code)).copied().unwrap_or_default()).collect()
        }
        Column::U32(codes) => codes.iter().map(|code| of_code(u64::from(*code))).collect(),
        Column::U64(codes) => codes.iter().map(|code| of_code(*code)).collect(),
    }
}

/// The codes that hold if they are few, or those that do not. `None` if both are many.
fn few(holds: &[bool], absent: bool) -> Option<(Vec<usize>, bool)> {
    let codes = |wanted: bool| {
        let codes = holds.iter().enumerate().filter(move |(_, holds)| **holds == wanted).map(|(code, _)| code);
        codes.take(FEW_CODES + 1).collect::<Vec<_>>()
    };
    // The missing value has no code here, so it has to be on the side of the many.
    let found = codes(!absent);
    (found.len() <= FEW_CODES).then_some((found, absent))
}

/// For each code, whether it is one of a few; or whether it is none of them.
fn equal_to<T: Copy + PartialEq>(codes: &[T], few: &[T], negated: bool) -> Vec<u8> {
    let mut mask = vec![u8::from(negated); codes.len()];
    for wanted in few {
        mask.iter_mut().zip(codes).for_each(|(row, code)| *row ^= u8::from(code == wanted));
    }
    mask
}

/// The rows whose number holds.
fn of_numbers(condition: &Condition, key: &KeyHead, column: &Column, rows: usize) -> Result<Vec<u8>> {
    let (absent, missing) = (key.absent(), condition.holds(None)?);
    let is_float = matches!(key.kind, Storage::Floats);
    let mut mask = Vec::with_capacity(rows);
    for row in 0..rows {
        let bits = column.at(row);
        let holds = if Some(bits) == absent {
            missing
        } else {
            let number =
                if is_float { Number::Float(f64::from_bits(bits)) } else { Number::Integer(bits.cast_signed().into()) };
            match condition.holds_for(number) {
                Some(holds) => holds,
                None => condition.holds(Some(&Value::parse(&encoded(bits, is_float), 0)?))?,
            }
        };
        mask.push(u8::from(holds));
    }
    Ok(mask)
}

/// A number as CBOR.
pub(super) fn encoded(bits: u64, is_float: bool) -> [u8; 9] {
    let (first, argument) = match (is_float, bits.cast_signed()) {
        (true, _) => (0xfb, bits),
        (false, 0..) => (0x1b, bits),
        (false, ..0) => (0x3b, !bits),
    };
    let mut encoded = [first; 9];
    if let Some(last) = encoded.last_chunk_mut() {
        *last = argument.to_be_bytes();
    }
    encoded
}

/// Calls `found` with the numbers of the rows that are selected.
pub(super) fn for_each_row(mask: &[u8], mut found: impl FnMut(usize)) {
    for (number, rows) in mask.chunks(8).enumerate() {
        // Most groups of a selective query have no row.
        if rows.iter().fold(0, |all, row| all | row) == 0 {
            continue;
        }
        for (index, row) in rows.iter().enumerate() {
            if *row != 0 {
                found(number.saturating_mul(8).saturating_add(index));
            }
        }
    }
}
