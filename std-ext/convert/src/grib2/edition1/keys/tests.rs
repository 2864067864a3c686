#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::cast_precision_loss, reason = "tests may panic")]

use std::fs;
use std::path::PathBuf;

use serde_json::Value as Json;

use super::*;

/// A message of the sample files: section 1, and section 2 if it is there.
struct Sections<'a> {
    first: &'a [u8],
    second: Option<&'a [u8]>,
}

fn length(bytes: &[u8]) -> usize {
    u32::from_be_bytes([0, bytes[0], bytes[1], bytes[2]]) as usize
}

/// The sections of each message.
fn messages(mut bytes: &[u8]) -> Vec<Sections<'_>> {
    let mut found = vec![];
    while !bytes.is_empty() {
        let (message, rest) = bytes.split_at(length(&bytes[4..]));
        let (first, behind) = message[8..].split_at(length(&message[8..]));
        let second = (first[7] & 128 != 0).then(|| &behind[..length(behind)]);
        found.push(Sections { first, second });
        bytes = rest;
    }
    found
}

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/data-grib")
}

fn find<'m>(map: &'m Entries, key: &str) -> Option<&'m Value> {
    map.iter().find(|(name, _)| name.as_text() == Some(key)).map(|(_, value)| value)
}

/// Whether a value is what ecCodes writes as text.
#[expect(clippy::float_cmp, reason = "the very same number is asked for")]
fn is(found: &Value, text: &str) -> bool {
    match found {
        Value::Text(found) => found == text,
        Value::Integer(number) => text.parse().is_ok_and(|text: f64| text == i128::from(*number) as f64),
        Value::Float(number) => text.parse().is_ok_and(|text: f64| text == *number),
        _ => false,
    }
}

#[test]
fn archives_find_the_keys_of_eccodes() {
    let bytes = fs::read(folder().join("keys.grib1")).unwrap();
    let messages = messages(&bytes);
    let expected: Vec<serde_json::Map<String, Json>> =
        serde_json::from_slice(&fs::read(folder().join("keys-1.json")).unwrap()).unwrap();
    assert_eq!(messages.len(), expected.len());
    for (index, (message, expected)) in messages.iter().zip(expected).enumerate() {
        let maps = maps(message.first, message.second, GribKeys::All);
        for (key, value) in &expected {
            let map = if ["paramId", "typeOfLevel", "level", "stepRange"].contains(&key.as_str()) {
                &maps.grib
            } else {
                &maps.mars
            };
            let found = find(map, key);
            let is_equal = found.is_some_and(|found| is(found, value.as_str().unwrap()));
            assert!(is_equal, "message {index}: {key} is {found:?}, and ecCodes says {value}");
        }
        // What the archive does not have is not there either.
        let more = maps.mars.iter().filter_map(|(key, _)| key.as_text()).find(|key| !expected.contains_key(*key));
        assert_eq!(more, None, "message {index}");
    }
}

/// Section 1 of 2 metre temperature of 2007-03-23, 12 UTC, without a local part; octets are changed.
fn section(changes: &[(usize, u8)]) -> Vec<u8> {
    let mut section = vec![
        0, 0, 28, // length
        128, 98, 128, 255, 128, // table, centre, process, grid, flags
        167, 1, 0, 0, // parameter, type of level, level
        7, 3, 23, 12, 0, // year, month, day, hour, minute
        1, 0, 0, 0, // unit, P1, P2, time range
        0, 0, 0, 21, 0, 0, 0, // number in average, missing ones, century, sub-centre, decimal scale
    ];
    for (octet, value) in changes {
        section[octet - 1] = *value;
    }
    section
}

fn key(map: &str, key: &str, changes: &[(usize, u8)]) -> Option<Value> {
    let maps = maps(&section(changes), None, GribKeys::All);
    find(if map == "mars" { &maps.mars } else { &maps.grib }, key).cloned()
}

#[test]
fn steps_are_in_all_units_of_the_manual() {
    let step = |unit, first, second, range| {
        let changes = [(18, unit), (19, first), (20, second), (21, range)];
        (key("mars", "step", &changes), key("grib", "stepRange", &changes))
    };
    let text = |text: &str| Some(Value::from(text));
    // 90 minutes, three quarters of an hour, half an hour, 30 seconds: ecCodes has no step in hours for these.
    assert_eq!(step(0, 90, 0, 0), (text("90m"), text("90m")));
    assert_eq!(step(13, 3, 0, 0), (text("45m"), text("45m")));
    assert_eq!(step(14, 1, 3, 3), (text("90m"), text("30m-90m")));
    assert_eq!(step(254, 30, 0, 0), (text("30s"), text("30s")));
    assert_eq!(step(1, 1, 4, 10), (Some(260.into()), text("260")));
    assert_eq!(step(1, 6, 12, 4), (Some(12.into()), text("6-12")));
    // Time ranges, and units, without a step.
    assert_eq!([step(1, 6, 12, 51), step(9, 6, 12, 0)], [(None, None), (None, None)]);
}

#[test]
fn a_climatology_has_a_date_without_a_year() {
    let date = |year, month, day, century| key("mars", "date", &[(13, year), (14, month), (15, day), (25, century)]);
    assert_eq!(date(255, 3, 255, 20), Some(3.into()));
    assert_eq!(date(255, 3, 15, 20), Some(315.into()));
    assert_eq!([date(100, 1, 1, 19), date(100, 1, 1, 20)], [Some(19_000_101.into()), Some(20_000_101.into())]);
    assert_eq!(date(20, 5, 0, 21), Some(20_200_500.into()));
}

#[test]
fn statistics_are_said_where_the_time_range_says_them() {
    let statistic = |range, centre| key("grib", "typeOfStatisticalProcessing", &[(21, range), (5, centre)]);
    assert_eq!([statistic(3, 7), statistic(4, 98), statistic(5, 98)], [Some(0.into()), Some(1.into()), Some(4.into())]);
    // A maximum and a minimum of ECMWF; elsewhere these numbers are a variance and a deviation.
    assert_eq!([statistic(118, 98), statistic(119, 98), statistic(118, 7)], [Some(2.into()), Some(3.into()), None]);
    // Not: a moment, and a range whose parameter alone says what it is.
    assert_eq!([statistic(0, 98), statistic(10, 98), statistic(2, 98), statistic(2, 7)], [None, None, None, None]);
}

#[test]
fn a_parameter_that_no_table_has_keeps_its_number_and_its_table() {
    assert_eq!(key("mars", "param", &[(4, 2), (5, 7), (9, 254)]), Some("254.2".into()));
    assert_eq!(key("grib", "paramId", &[(4, 2), (5, 7), (9, 254)]), None);
    assert_eq!((key("mars", "param", &[]), key("grib", "paramId", &[])), (Some("2t".into()), Some(167.into())));
}

#[test]
fn old_versions_of_experiments_are_numbers() {
    let version = |octets: [u8; 4]| {
        let mut bytes = section(&[]);
        bytes.resize(52, 0);
        bytes[2] = 52;
        bytes[40..49].copy_from_slice(&[1, 1, 2, 4, 1, octets[0], octets[1], octets[2], octets[3]]);
        find(&maps(&bytes, None, GribKeys::All).mars, "expver").cloned()
    };
    assert_eq!([version(*b"0005"), version([0, 0, 0, 1])], [Some("0005".into()), Some("0001".into())]);
    assert_eq!(version(*b"1\0\0\0"), Some("1".into()));
}

#[test]
fn few_keys_tell_fields_apart() {
    let few = |changes: &[(usize, u8)]| {
        let names = maps(&section(changes), None, GribKeys::Few).grib;
        names.iter().filter_map(|(key, _)| key.as_text()).map(String::from).collect::<Vec<_>>()
    };
    assert_eq!(few(&[]), ["centre", "date", "time", "paramId", "typeOfLevel", "level", "stepRange"]);
    let unknown = few(&[(4, 2), (5, 7), (9, 254), (10, 204)]);
    assert!(
        ["table2Version", "indicatorOfParameter", "indicatorOfTypeOfLevel"]
            .iter()
            .all(|key| unknown.iter().any(|name| name == key))
    );
}

#[test]
fn every_beginning_of_sections_is_read() {
    let bytes = fs::read(folder().join("keys.grib1")).unwrap();
    for message in messages(&bytes).iter().step_by(29) {
        for len in 0..message.first.len() {
            maps(&message.first[..len], message.second, GribKeys::All);
        }
        let second = message.second.unwrap_or_default();
        for len in 0..second.len() {
            maps(message.first, Some(&second[..len]), GribKeys::All);
        }
    }
}
