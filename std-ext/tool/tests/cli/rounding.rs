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

/// The greatest difference, and its part of the range, as they are told.
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

/// Of a file with integers and doubles, neither part is written.
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
