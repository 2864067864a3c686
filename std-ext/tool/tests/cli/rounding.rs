//! What packing does to values, told by each command that packs.

use std::fs;
use std::path::Path;

use tgm_std::{DecodeOptions, MessageBuilder, ObjectBuilder, decode};

use crate::npy::{doubles, field};
use crate::tool::{Run, tgm};

/// The values of a file with one object.
fn values(path: &str) -> Vec<f64> {
    let (_, objects) = decode(&fs::read(path).unwrap(), &DecodeOptions::default()).unwrap();
    objects[0].1.as_chunks().0.iter().map(|bytes| f64::from_ne_bytes(*bytes)).collect()
}

/// The greatest difference, and its part of the range, as they are printed.
fn told(run: &Run) -> (f64, f64) {
    let line = run.stderr.lines().find(|line| line.starts_with("packed ")).unwrap_or_else(|| panic!("{}", run.stderr));
    let (_, numbers) = line.split_once("the greatest error is ").unwrap_or_else(|| panic!("{line}"));
    let (absolute, relative) = numbers.split_once(", and at most ").unwrap();
    (absolute.parse().unwrap(), relative.strip_suffix(" of an object's range").unwrap().parse().unwrap())
}

/// Checks what a command told against the values before and after.
fn check(run: &Run, before: &[f64], path: &str, how: &str) {
    assert_eq!(run.code, Some(0), "{how}: {}", run.stderr);
    let finite = || before.iter().zip(values(path)).filter(|(before, _)| before.is_finite());
    let (least, most) = finite().fold((f64::MAX, f64::MIN), |(a, b), (value, _)| (a.min(*value), b.max(*value)));
    let greatest = finite().map(|(before, after)| (before - after).abs()).fold(0.0, f64::max);
    let (absolute, relative) = told(run);
    assert!(greatest > 0.0 && (absolute / greatest - 1.0).abs() < 1e-3, "{how}: {absolute} {greatest}");
    assert!((relative * (most - least) / greatest - 1.0).abs() < 0.06, "{how}: {relative}");
}

fn path(folder: &Path, name: &str) -> String {
    folder.join(name).display().to_string()
}

/// A file as those formats that are read piece by piece have it.
fn others(folder: &Path, path: &str) -> Vec<String> {
    let endings = [("nc", cfg!(feature = "netcdf")), ("zarr", cfg!(feature = "zarr"))];
    let made = |(ending, _): (&str, bool)| {
        let other = folder.join(format!("other.{ending}")).display().to_string();
        tgm(["convert", path, "-o", &other]).good();
        other
    };
    endings.into_iter().filter(|(_, is_read)| *is_read).map(made).collect()
}

/// Each command that packs values, with each flag that asks for it.
#[test]
fn commands_that_pack_tell_the_error_that_they_make() {
    let folder = tempfile::tempdir().unwrap();
    let (folder, mut before) = (folder.path(), field(70_000));
    before[69_000] = f64::NAN;
    before[5] = 320.0;
    let (array, plain) = (doubles(folder, "array.npy", &before), path(folder, "plain.tgm"));
    tgm(["create", &array, "--allow-nan", "-o", &plain]).good();
    let flags: [&[&str]; 7] = [
        &["--bits", "12"],
        &["--bits", "16", "--compression", "szip"],
        &["--bits", "8", "--best"],
        &["--bits", "10", "--threads", "2"],
        &["--max-error", "0.01"],
        &["--decimal-scale", "1"],
        &["--encoding", "simple_packing"],
    ];
    let made = path(folder, "made.tgm");
    let others = others(folder, &plain);
    for flags in flags {
        let others = others.iter().map(|other| ("convert", other));
        for (command, input) in [("create", &array), ("convert", &array), ("repack", &plain)].into_iter().chain(others)
        {
            let run = tgm([command, input, "-o", &made, "--allow-nan"].iter().chain(flags));
            check(&run, &before, &made, &format!("{command} {input} {flags:?}"));
            assert!(run.stderr.starts_with("packed 1 object: "), "{}", run.stderr);
        }
    }
    let run = tgm(["repack", "--dry-run", "--bits", "12", &plain]);
    assert_eq!(told(&run), told(&tgm(["repack", "--bits", "12", &plain, "-o", &made])));
}

/// A part of a ramp has a shorter range than all of it.
#[test]
fn the_error_is_that_of_all_values() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let before: Vec<f64> = (900_000..1_000_000).map(f64::from).collect();
    let (array, plain, made) = (doubles(folder, "a.npy", &before), path(folder, "plain.tgm"), path(folder, "made.tgm"));
    tgm(["create", &array, "-o", &plain]).good();
    for (command, input) in [("create", &array), ("convert", &array), ("repack", &plain)] {
        check(&tgm([command, input, "-o", &made, "--bits", "12"]), &before, &made, command);
    }
}

/// A variable with the names of its dimensions.
fn variable<'v>(name: &str, values: &'v [f64], dims: &[(&str, u64)]) -> ObjectBuilder<'v> {
    let shape: Vec<u64> = dims.iter().map(|(_, len)| *len).collect();
    let names: Vec<_> = dims.iter().map(|(name, _)| (*name).into()).collect();
    let object = ObjectBuilder::new(&shape, values).unwrap().metadata("name", name);
    object.metadata("dimensions", ciborium::Value::Array(names))
}

/// Times, and their bounds, which have another name than their dimension.
#[test]
fn coordinates_and_codes_keep_their_values_unless_they_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let hours: Vec<f64> = (900_000..901_000).map(f64::from).collect();
    let bounds: Vec<f64> = hours.iter().flat_map(|hour| [hour - 1.0, *hour]).collect();
    let counts: Vec<i32> = (0..1000).map(|index| if index % 3 == 0 { -9999 } else { index }).collect();
    let attributes = |name: &str, value: ciborium::Value| ciborium::Value::Map(vec![(name.into(), value)]);
    let of_time = |name: &'static str| ObjectBuilder::new(&[1000], &counts).unwrap().metadata("name", name);
    let of_time = |name| of_time(name).metadata("dimensions", vec![ciborium::Value::from("time")]);
    let field = field(1000);
    let all = || {
        [
            variable("t", &field, &[("time", 1000)]),
            variable("time", &hours, &[("time", 1000)])
                .metadata("attributes", attributes("bounds", "time_bnds".into())),
            variable("time_bnds", &bounds, &[("time", 1000), ("bnds", 2)]),
            variable("valid", &hours, &[("time", 1000)])
                .metadata("attributes", attributes("units", "Hours Since 1900-01-01".into())),
            of_time("count").metadata("attributes", attributes("_FillValue", (-9999).into())),
            of_time("state").metadata("attributes", attributes("flag_meanings", "bad good".into())),
        ]
    };
    let message = all().into_iter().fold(MessageBuilder::new(), MessageBuilder::object).encode().unwrap();
    let messages = all().map(|object| MessageBuilder::new().object(object).encode().unwrap());
    let (plain, apart, made) = (path(folder, "plain.tgm"), path(folder, "apart.tgm"), path(folder, "made.tgm"));
    fs::write(&plain, message).unwrap();
    fs::write(&apart, messages.concat()).unwrap();
    let objects = |path: &str| -> Vec<(String, Vec<u8>)> {
        let bytes = fs::read(path).unwrap();
        let mut all = Vec::new();
        for (offset, len) in tgm_std::scan(&bytes) {
            let (metadata, objects) = decode(&bytes[offset..offset + len], &DecodeOptions::default()).unwrap();
            for (entry, (_, values)) in metadata.base.iter().zip(objects) {
                let name = entry["name"].as_text().unwrap().to_string();
                all.push((name, values));
            }
        }
        all.sort_by(|one, other| one.0.cmp(&other.0));
        all
    };
    let expected = objects(&plain);
    let inputs = others(folder, &plain);
    let routes = inputs.iter().map(|input| ("convert", input)).chain([("repack", &plain), ("repack", &apart)]);
    for (command, input) in routes {
        for flags in [&["--bits", "8"][..], &["--max-error", "2"], &["--encoding", "simple_packing", "--best"]] {
            let run = tgm([command, input, "-o", &made].iter().chain(flags));
            assert!(run.code == Some(0) && run.stderr.contains("packed 1 object"), "{command} {input}: {}", run.stderr);
            assert!(
                run.stderr.contains("5 coordinates or codes keep their values"),
                "{command} {input}: {}",
                run.stderr
            );
            for (found, expected) in objects(&made).into_iter().zip(&expected) {
                let is_exact = found == *expected;
                assert_eq!(is_exact, found.0 != "t", "{command} {input} {flags:?}: {}", found.0);
            }
        }
    }
    for chosen in [["--object", "1"], ["-w", "name=time"]] {
        let run = tgm(["repack", "--bits", "8", &plain, "-o", &made].iter().chain(&chosen)).good();
        assert!(run.stderr.contains("packed 1 object: the greatest"), "{}", run.stderr);
        let time = |all: Vec<(String, Vec<u8>)>| all.into_iter().find(|(name, _)| name == "time");
        assert_ne!(time(objects(&made)), time(expected.clone()));
    }
}

/// Neither part of a file with integers and doubles is written.
#[test]
fn a_file_with_a_variable_that_cannot_have_the_stages_is_not_written() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let message = MessageBuilder::new()
        .object(ObjectBuilder::new(&[3], &[1.5, 2.5, 4.0]).unwrap().metadata("name", "a"))
        .object(ObjectBuilder::new(&[3], &[1_i32, 2, 3]).unwrap().metadata("name", "n"))
        .encode()
        .unwrap();
    let (plain, made) = (path(folder, "plain.tgm"), path(folder, "made.tgm"));
    fs::write(&plain, message).unwrap();
    for input in others(folder, &plain) {
        let run = tgm(["convert", &input, "-o", &made, "--bits", "12"]);
        assert!(
            run.code == Some(1) && run.stderr.contains("n: encoding error: simple_packing takes float64 only"),
            "{}",
            run.stderr
        );
        assert!(!Path::new(&made).exists(), "{input}");
        tgm(["convert", &input, "-o", &made, "--bits", "12", "--convert", "--quiet"]).good();
        let listed = tgm(["ls", &made]).good().text().to_string();
        assert_eq!(listed.matches("simple_packing").count(), 2, "{listed}");
        fs::remove_file(&made).unwrap();
    }
}

/// With stages and without.
#[test]
fn nan_that_is_not_allowed_is_an_error_of_each_format() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let (array, plain) = (doubles(folder, "array.npy", &[1.5, f64::NAN, 3.0]), path(folder, "plain.tgm"));
    tgm(["create", &array, "--allow-nan", "-o", &plain]).good();
    let made = path(folder, "made.tgm");
    for input in others(folder, &plain) {
        for stages in [&[][..], &["--bits", "12"], &["--compression", "lz4"]] {
            let run = tgm(["convert", &input, "-o", &made, "--allow-nan=false"].iter().chain(stages));
            assert!(run.code == Some(1) && run.stderr.contains("NaN at element 1"), "{stages:?}: {}", run.stderr);
            tgm(["convert", &input, "-o", &made].iter().chain(stages)).good();
        }
    }
}

/// Objects are summed up: the greatest error of any.
#[test]
fn the_greatest_error_of_all_objects_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let wide: Vec<f64> = field(1000).iter().map(|value| value * 1000.0).collect();
    let (narrow, wide, made) =
        (doubles(folder, "a.npy", &field(1000)), doubles(folder, "b.npy", &wide), path(folder, "made.tgm"));
    let one = told(&tgm(["create", &wide, "-o", &made, "--bits", "8"]));
    for each in [&["--each"][..], &[]] {
        let run = tgm(["create", &narrow, &wide, "-o", &made, "--bits", "8"].iter().chain(each));
        assert!(
            run.stderr.starts_with("packed 2 objects: ") && told(&run).0.to_bits() == one.0.to_bits(),
            "{}",
            run.stderr
        );
    }
}

/// What loses nothing says so, and what packs nothing says nothing.
#[test]
fn values_that_packing_keeps_are_told_too() {
    let folder = tempfile::tempdir().unwrap();
    let whole: Vec<f64> = (0..256).map(f64::from).collect();
    let (array, made, again) =
        (doubles(folder.path(), "a.npy", &whole), path(folder.path(), "made.tgm"), path(folder.path(), "again.tgm"));
    let run = tgm(["create", &array, "-o", &made, "--bits", "8"]);
    assert_eq!(run.stderr, "packed 1 object: all values stay as they were\n");
    for silent in [
        &["create", &array, "-o", &again, "--compression", "zstd"][..],
        &["create", &array, "-o", &again, "--bits", "4", "-q"],
        &["repack", &made, "-o", &again, "--compression", "szip"],
        &["repack", &made, "-o", &again, "--encoding", "none"],
    ] {
        let run = tgm(silent);
        assert_eq!((run.code, run.stderr.as_str()), (Some(0), ""), "{silent:?}");
    }
}
