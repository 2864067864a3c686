//! `tgm catalog`, and the commands that use a catalogue when they are told to.

use std::fs;

use tgm_catalog::Catalog;

use crate::corpus::data;
use crate::edits::Folder;
use crate::tool::{Run, tgm};

/// A folder with a file of many messages, and their catalogue.
fn cataloged(arguments: &[&str]) -> (Folder, String, String) {
    let folder = Folder::new();
    let path = folder.file("data.tgm", &fs::read(data("multi/many.tgm")).unwrap());
    tgm([&["catalog", &*path], arguments].concat()).good();
    let catalog = folder.path("data.tgm.catalog");
    (folder, path, catalog)
}

/// The same run with and without a catalogue. Returns that with it.
fn same(line: &[&str], path: &str, catalog: &str) -> Run {
    let without = tgm([line, &[path]].concat());
    let with = tgm([line, &["--catalog", catalog, path]].concat());
    assert_eq!((with.code, with.text()), (without.code, without.text()), "{line:?}");
    with
}

#[test]
fn a_catalogue_lies_beside_its_file_and_gives_the_same_listings() {
    let (folder, path, catalog) = cataloged(&["--auto", "-k", "dtype"]);
    assert_eq!(folder.names(), ["data.tgm", "data.tgm.catalog"]);
    let keys: Vec<String> = Catalog::open(&catalog).unwrap().keys().map(str::to_string).collect();
    assert!(keys.contains(&"dtype".to_string()) && keys.len() > 1, "{keys:?}");
    let key = keys.iter().find(|key| *key != "dtype" && !key.contains(' ')).unwrap();
    for line in [
        vec!["ls", "-w", "dtype=float32"],
        vec!["ls", "--objects", "-w", "not dtype=float32"],
        vec!["ls", "--json", "-w", &*format!("{key}? and dtype!=int8"), "-w", "version=3"],
        vec!["get", "-p", "version", "-w", "dtype=float32 or dtype=float64"],
        vec!["ls", "-m", "1", "-w", "dtype=float32"],
    ] {
        assert_eq!(same(&line, &path, &catalog).stderr, "");
    }
    let run = same(&["ls", "-w", "no.such!=1"], &path, &catalog);
    assert!(run.stderr.contains("is not used") && run.stderr.contains("no key no.such"), "{}", run.stderr);
}

#[test]
fn a_catalogue_that_does_not_fit_is_not_used() {
    let (folder, path, catalog) = cataloged(&["-k", "dtype"]);
    let run = tgm(["catalog", "--check", &path]).good();
    assert!(run.text().contains(": fresh; ") && run.text().contains("keys: dtype"), "{}", run.text());

    let other = folder.file("other.tgm", &fs::read(data("multi/three.tgm")).unwrap());
    let run = tgm(["catalog", "--check", &other, "--catalog", &catalog]);
    assert!(run.code == Some(1) && run.text().contains("stale: "), "{}", run.text());
    let run = same(&["ls", "-w", "dtype=float32"], &other, &catalog);
    assert!(run.stderr.starts_with("warning: ") && run.stderr.contains("stale"), "{}", run.stderr);
    let run = same(&["ls", "-w", "dtype=float32"], &path, &folder.path("nothing"));
    assert!(run.stderr.contains("is not used"), "{}", run.stderr);

    // What was appended is found too, before and after the catalogue is brought up to date.
    let grown = [fs::read(&path).unwrap(), fs::read(&other).unwrap()].concat();
    fs::write(&path, &grown).unwrap();
    let run = tgm(["catalog", "--check", &path]);
    assert!(run.code == Some(1) && run.text().contains("grown: "), "{}", run.text());
    assert_eq!(same(&["ls", "-w", "dtype=float32"], &path, &catalog).stderr, "");
    assert!(tgm(["catalog", "--update", &path]).good().text().contains("3 new messages"));
    assert!(tgm(["catalog", "--update", &path]).good().text().contains("0 new messages"));
    tgm(["catalog", "--check", &path]).good();
    assert_eq!(Catalog::open(&catalog).unwrap().leaf_count(), 2);
    tgm(["catalog", "--compact", &path]).good();
    assert_eq!(Catalog::open(&catalog).unwrap().leaf_count(), 1);
    tgm(["catalog", "--check", &path]).good();
    assert_eq!(same(&["ls", "-w", "dtype=float32"], &path, &catalog).stderr, "");

    let run = tgm(["catalog", "--update", &other, "--catalog", &catalog]);
    assert!(run.code == Some(1) && run.stderr.contains("stale"), "{}", run.stderr);
    tgm(["catalog", "--check", &path]).good();
}

#[test]
fn command_lines_that_make_no_sense_are_usage_errors() {
    let (_folder, path, catalog) = cataloged(&[]);
    for arguments in [
        vec!["catalog", "-"],
        vec!["catalog", "--check", "--update", &path],
        vec!["catalog", "--check", "-k", "a", &path],
        vec!["catalog", "--catalog", &catalog, &path],
        vec!["ls", "--catalog", &catalog, &path],
        vec!["ls", "-w", "a=1", "--catalog", &catalog, &path, &path],
    ] {
        assert_eq!(tgm(&arguments).code, Some(2), "{arguments:?}");
    }
}
