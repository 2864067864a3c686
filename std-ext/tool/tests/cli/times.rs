//! Times of datasets: their labels, and how they are picked.

use tgm_std::deps::ciborium::Value;
use tgm_std::{MessageBuilder, ObjectBuilder};

use crate::edits::Folder;
use crate::tool::tgm;

/// An object along time.
fn named<'v>(object: ObjectBuilder<'v>, name: &str) -> ObjectBuilder<'v> {
    object.metadata("name", name).metadata("dimensions", Value::Array(vec!["time".into()]))
}

/// A folder with a file of values 0, 1, 2 … along times that count by some units, and the path of the file.
fn file(times: &[f64], attributes: &[(&str, Value)]) -> (Folder, String) {
    let values: Vec<i16> = (0..).take(times.len()).collect();
    let shape = [times.len() as u64];
    let attributes = attributes.iter().map(|(name, value)| ((*name).into(), value.clone())).collect();
    let v = named(ObjectBuilder::new(&shape, &values).unwrap(), "v");
    let time = named(ObjectBuilder::new(&shape, times).unwrap(), "time");
    let message =
        MessageBuilder::new().allow_nan().object(v).object(time.metadata("attributes", Value::Map(attributes)));
    let folder = Folder::new();
    let path = folder.file("times.tgm", &message.encode().unwrap());
    (folder, path)
}

/// The lines that `cat` prints of what selectors pick.
fn lines(path: &str, selectors: &[&str]) -> Vec<String> {
    let picks = selectors.iter().flat_map(|text| ["--sel", *text]);
    let arguments = ["cat", "--over", "time", "--csv"].into_iter().chain(picks).chain([path]);
    tgm(arguments.collect::<Vec<_>>()).good().text().lines().skip(1).map(str::to_string).collect()
}

#[test]
fn parts_of_a_second_are_shown_and_picked() {
    let (folder, path) = file(&[0.0, 0.1, 0.2, 0.1 + 0.2], &[("units", "seconds since 2024-01-01".into())]);
    let all = ["", ".1", ".2", ".3"].map(|part| format!("2024-01-01T00:00:00{part}"));
    let expected: Vec<String> = all.iter().zip(0..).map(|(label, value)| format!("{label},{value}")).collect();
    assert_eq!(lines(&path, &[]), expected);
    assert_eq!(lines(&path, &["time=2024-01-01T00:00:00"]), expected);
    assert_eq!(lines(&path, &["time=2024-01-01T00:00:00.0"]), expected[..1]);
    assert_eq!(lines(&path, &["time~2024-01-01T00:00:00.21"]), expected[2..3]);
    assert_eq!(lines(&path, &["time=2024-01-01T00:00:00.1..2024-01-01T00:00:00.2"]), expected[1..3]);
    let cut = folder.path("cut.bin");
    tgm(["extract", "--cube", "v", "--sel", "time=2024-01-01T00:00:00.1", "-O", &cut, &path]).good();
    assert_eq!(std::fs::read(&cut).unwrap(), 1_i16.to_ne_bytes());
    let run = tgm(["cube", &path]).good();
    assert!(run.text().contains(&format!("  time(time): {}\n", all.join(", "))), "{}", run.text());
}

/// The labels are as cftime 1.6.6 writes them; a missing one is empty.
#[test]
fn times_of_every_calendar_are_dates() {
    let date = |date: &str| format!("{date}T00:00:00");
    for (units, calendar, times, expected) in [
        ("days since 2000-02-28", "360_day", [1.0, 2.0, 3.0], ["2000-02-29", "2000-02-30", "2000-03-01"]),
        ("days since 2000-02-27", "noleap", [1.0, 2.0, 3.0], ["2000-02-28", "2000-03-01", "2000-03-02"]),
        ("days since 1900-02-28", "julian", [0.0, 1.0, 2.0], ["1900-02-28", "1900-02-29", "1900-03-01"]),
        ("days since 2001-02-28", "366_day", [0.0, 1.0, 2.0], ["2001-02-28", "2001-02-29", "2001-03-01"]),
        ("hours since 1-1-1", "standard", [0.0, 24.0, 17_663_808.0], ["0001-01-01", "0001-01-02", "2016-01-28"]),
        ("days since 1582-10-03", "gregorian", [0.0, 1.0, 2.0], ["1582-10-03", "1582-10-04", "1582-10-15"]),
        ("days since 1582-10-03", "proleptic_gregorian", [0.0, 1.0, 2.0], ["1582-10-03", "1582-10-04", "1582-10-05"]),
        ("Days since 2000", "standard", [0.0, 1.0, 2.0], ["2000-01-01", "2000-01-02", "2000-01-03"]),
        ("h since 2000-01-01 02:00 +02:00", "standard", [0.0, 24.0, 48.0], ["2000-01-01", "2000-01-02", "2000-01-03"]),
    ] {
        let (_folder, path) = file(&times, &[("units", units.into()), ("calendar", calendar.into())]);
        let all: Vec<String> =
            expected.iter().zip(0..).map(|(label, value)| format!("{},{value}", date(label))).collect();
        assert_eq!(lines(&path, &[]), all, "{units} {calendar}");
        for (label, line) in expected.iter().zip(&all) {
            assert_eq!(lines(&path, &[&format!("time={label}")]), [line.as_str()], "{units} {calendar}");
        }
    }
    let (_folder, path) = file(
        &[0.0, f64::NAN, -1.0, 2.0],
        &[("units", "days since 2000-01-01".into()), ("_FillValue", Value::from(-1.0))],
    );
    assert_eq!(lines(&path, &[]), ["2000-01-01T00:00:00,0", ",1", ",2", "2000-01-03T00:00:00,3"]);
    assert_eq!(lines(&path, &["time=..2000-01-03"]), ["2000-01-01T00:00:00,0", "2000-01-03T00:00:00,3"]);
    assert_eq!(lines(&path, &["time~1990-01-01"]), ["2000-01-01T00:00:00,0"]);
}

/// Numbers whose units no calendar counts stay numbers, and are shown with their units.
#[test]
fn other_numbers_have_their_units() {
    let (_folder, path) = file(&[0.0, 1.0], &[("units", "months since 2000-01-01".into())]);
    let run = tgm(["cube", &path]).good();
    assert!(run.text().contains("  time(time): 0, 1 months since 2000-01-01\n"), "{}", run.text());
}
