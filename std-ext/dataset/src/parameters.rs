//! Names and units of meteorological parameters.
//!
//! The table is made from the definitions of ecCodes 2.50.0, (C) ECMWF, Apache License 2.0, by
//! `tests/peers/dataset/parameters.py`. Each line has a number, the short name, the name of a variable where it differs, the
//! standard name, the units as CF writes them, and a long name. Lines are in the order of their numbers.

use std::cmp::Ordering;
use std::collections::HashMap;
use std::sync::OnceLock;

static TABLE: &str = include_str!("parameters.txt");

/// What the table says of a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Parameter {
    /// The short name: `2t`.
    pub(crate) short: &'static str,
    /// The name of its variable: `t2m`.
    pub(crate) variable: &'static str,
    /// The standard name of CF, or nothing.
    pub(crate) standard: &'static str,
    /// Units as CF writes them.
    pub(crate) units: &'static str,
    /// A name for people.
    pub(crate) long: &'static str,
}

/// The parameter with a number of ECMWF. Some lines are read: reading all of them takes longer than opening a file.
pub(crate) fn by_number(number: i64) -> Option<Parameter> {
    let mut rest = TABLE;
    while !rest.is_empty() {
        let middle =
            rest.as_bytes().get(..rest.len() / 2)?.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        let (before, from) = rest.split_at_checked(middle)?;
        let (line, behind) = from.split_once('\n').unwrap_or((from, ""));
        let (found, parameter) = parse(line)?;
        match number.cmp(&found) {
            Ordering::Equal => return Some(parameter),
            Ordering::Less => rest = before,
            Ordering::Greater => rest = behind,
        }
    }
    None
}

/// The parameter with a short name; of several the one with the least number.
pub(crate) fn by_short_name(name: &str) -> Option<Parameter> {
    static LINES: OnceLock<HashMap<&'static str, &'static str>> = OnceLock::new();
    let lines = LINES.get_or_init(|| {
        let named = |line: &'static str| line.split('\t').nth(1).map(|name| (name, line));
        // The last one that is put in counts.
        TABLE.lines().rev().filter_map(named).collect()
    });
    parse(lines.get(name)?).map(|(_, parameter)| parameter)
}

fn parse(line: &'static str) -> Option<(i64, Parameter)> {
    let mut cells = line.split('\t');
    let number = cells.next()?.parse().ok()?;
    let (short, own) = (cells.next()?, cells.next()?);
    let variable = if own.is_empty() { short } else { own };
    Some((number, Parameter { short, variable, standard: cells.next()?, units: cells.next()?, long: cells.next()? }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_lines_are_parameters() {
        assert!(TABLE.lines().all(|line| parse(line).is_some()) && TABLE.lines().count() > 5000);
        for (number, parameter) in TABLE.lines().filter_map(parse) {
            assert_eq!(by_number(number), Some(parameter));
            assert!(by_short_name(parameter.short).is_some());
        }
        let found = by_number(167).map(|it| (it.short, it.variable, it.standard, it.units));
        assert_eq!(found, Some(("2t", "t2m", "air_temperature", "K")));
        // Two parameters have this name. The one with the least number is found.
        assert_eq!(by_short_name("tp").map(|it| it.units), Some("m"));
        assert_eq!(
            (by_number(-1), by_number(i64::MAX), by_number(2_000), by_short_name("nothing")),
            (None, None, None, None)
        );
    }
}
