//! Answers queries from columns: which rows of a leaf a query selects.
//!
//! ```text
//! plainly:  for each row: look its value up in the table of distinct values, and compare it with the query
//! trick:    compare each value of the table once; then each row needs only its code, the value's position in the table
//! ```
//!
//! A mask has one byte for each row, 0 or 1. A bit would do, but the compiler turns loops over bytes into vector
//! instructions that handle many rows at a time.

use tgm_core::cbor::Value;

use super::bad;
use super::cbor::encoded;
use super::column::Column;
use super::leaf::{KeyHead, Leaf, Storage};
use tgm_std::Result;
use tgm_std::metadata::query::Query;
use tgm_std::metadata::query::compare::Number;
use tgm_std::metadata::query::expr::{Condition, Expr};
use tgm_std::metadata::query::version;

/// The most codes that rows are compared with one by one. With more codes, each row is looked up in a table.
const FEW_CODES: usize = 4;

/// What the rows of a mask are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Level {
    Messages,
    Objects,
}

/// For each row of the leaf, 1 if the query selects it, otherwise 0.
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
        Expr::Alias(alias) => of_expr(leaf, &alias.meant, level, rows),
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
                // A leaf may lack the keys of what can change nothing any more.
                if !mask.contains(&1) {
                    break;
                }
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

/// The mask of one condition.
fn of_condition(leaf: &Leaf, condition: &Condition, level: Level, rows: usize) -> Result<Vec<u8>> {
    if condition.is_version() {
        return Ok(vec![u8::from(condition.holds(version()?.as_ref())?); rows]);
    }
    let Some(key) = leaf.keys.iter().find(|key| key.path == condition.key) else {
        return if is_absent(leaf, &condition.key)? {
            Ok(vec![u8::from(condition.holds(None)?); rows])
        } else {
            Err(bad(format!("it has no key {}", condition.key)))
        };
    };
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

/// Whether no message of the leaf has a key that has no column, by the facts of all its objects. Messages without objects have none.
fn is_absent(leaf: &Leaf, key: &str) -> Result<bool> {
    let Ok(facts) = &leaf.facts else { return Ok(false) };
    let is_inside = |path: &str| path.strip_prefix(key).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'));
    let is_told = leaf.first_objects()?.is_none_or(|firsts| firsts.array_windows().all(|[first, next]| first < next));
    Ok(is_told && !facts.iter().any(|fact| is_inside(&fact.path)))
}

/// The mask of a column of codes. `holds` says for each code whether its value satisfies the condition. Any greater
/// code stands for a missing value, and `absent` says whether that satisfies it.
fn of_codes(column: &Column, holds: &[bool], absent: bool, rows: usize) -> Vec<u8> {
    let of_code = |code: u64| {
        let found = usize::try_from(code).ok().and_then(|code| holds.get(code));
        u8::from(*found.unwrap_or(&absent))
    };
    match column {
        Column::Equal(code) => vec![of_code(*code); rows],
        Column::U8(codes) => {
            if let Some((few, negated)) = few_codes(holds, absent) {
                let few: Vec<u8> = few.iter().filter_map(|code| u8::try_from(*code).ok()).collect();
                return equal_to(codes, &few, negated);
            }
            let all: [u8; 256] = std::array::from_fn(|code| of_code(code as u64));
            codes.iter().map(|code| all.get(usize::from(*code)).copied().unwrap_or(0)).collect()
        }
        Column::U16(codes) => {
            if let Some((few, negated)) = few_codes(holds, absent) {
                let few: Vec<u16> = few.iter().filter_map(|code| u16::try_from(*code).ok()).collect();
                return equal_to(codes, &few, negated);
            }
            let mut all = vec![u8::from(absent); 1 << 16];
            all.iter_mut().zip(holds).for_each(|(to, from)| *to = u8::from(*from));
            codes.iter().map(|code| all.get(usize::from(*code)).copied().unwrap_or(0)).collect()
        }
        Column::U32(codes) => codes.iter().map(|code| of_code(u64::from(*code))).collect(),
        Column::U64(codes) => codes.iter().map(|code| of_code(*code)).collect(),
    }
}

/// The codes whose answer differs from that of a missing value, and whether these are the codes that do not hold.
/// `None` if there are more than [`FEW_CODES`].
///
/// ```text
/// a missing value does not hold:  a row holds if its code is one of the few        (false)
/// a missing value holds:          a row holds if its code is not one of the few    (true)
/// ```
fn few_codes(holds: &[bool], absent: bool) -> Option<(Vec<usize>, bool)> {
    let codes = |wanted: bool| {
        let codes = holds.iter().enumerate().filter(move |(_, holds)| **holds == wanted).map(|(code, _)| code);
        codes.take(FEW_CODES + 1).collect::<Vec<_>>()
    };
    // A missing value has no entry in `holds`, so it cannot be in the list: all codes outside of the list must have its
    // answer.
    let found = codes(!absent);
    (found.len() <= FEW_CODES).then_some((found, absent))
}

/// The mask of the rows whose code is in `few`; with `negated`, of the others. Each code is in `few` at most once.
fn equal_to<T: Copy + PartialEq>(codes: &[T], few: &[T], negated: bool) -> Vec<u8> {
    // A row starts with the answer for all other codes. If its code is one of the few, that is flipped, just once.
    let mut mask = vec![u8::from(negated); codes.len()];
    for wanted in few {
        mask.iter_mut().zip(codes).for_each(|(row, code)| *row ^= u8::from(code == wanted));
    }
    mask
}

/// The mask of a column of numbers. If the condition compares text too, each number is turned into CBOR; that is slower.
fn of_numbers(condition: &Condition, key: &KeyHead, column: &Column, rows: usize) -> Result<Vec<u8>> {
    let (absent, missing) = (key.absent(), condition.holds(None)?);
    let is_float = matches!(key.kind, Storage::Floats);
    let mut mask = Vec::with_capacity(rows);
    for row in 0..rows {
        let bits = column.at(row)?;
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

/// Calls `found` with the number of each selected row, in ascending order.
pub(super) fn for_each_row(mask: &[u8], mut found: impl FnMut(usize)) {
    for (number, rows) in mask.chunks(8).enumerate() {
        // Selective queries leave most groups of 8 rows empty. One test skips such a group.
        if rows.iter().fold(0, |all, row| all | row) == 0 {
            continue;
        }
        for (index, row) in rows.iter().enumerate() {
            if *row != 0 {
                found(number * 8 + index);
            }
        }
    }
}
