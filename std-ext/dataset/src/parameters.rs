//! Names and units of meteorological parameters.
//!
//! The table is made from the definitions of ecCodes 2.50.0, (C) ECMWF, Apache License 2.0, by
//! `tests/peers/dataset/parameters.py`. Each line has a number, the short name, the name of a variable where it differs, the
//! standard name, the units as CF writes them, and a long name.

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

/// The parameter with a number of ECMWF.
pub(crate) fn by_number(number: i64) -> Option<Parameter> {
    tables().0.get(&number).copied()
}

/// The parameter with a short name; of several the one with the least number.
pub(crate) fn by_short_name(name: &str) -> Option<Parameter> {
    tables().1.get(name).copied()
}

type Tables = (HashMap<i64, Parameter>, HashMap<&'static str, Parameter>);

fn tables() -> &'static Tables {
    static TABLES: OnceLock<Tables> = OnceLock::new();
    TABLES.get_or_init(|| {
        let (mut numbers, mut names) = (HashMap::new(), HashMap::new());
        for (number, parameter) in TABLE.lines().filter_map(parse) {
            numbers.insert(number, parameter);
            names.entry(parameter.short).or_insert(parameter);
        }
        (numbers, names)
    })
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
        let found = by_number(167).map(|it| (it.short, it.variable, it.standard, it.units));
        assert_eq!(found, Some(("2t", "t2m", "air_temperature", "K")));
        // Two parameters have this name. The one with the least number is found.
        assert_eq!(by_short_name("tp").map(|it| it.units), Some("m"));
        assert_eq!((by_number(-1), by_short_name("nothing")), (None, None));
    }
}
