//! Each pair of formats does what the table in the documentation says.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::Value as Json;

use crate::edits::Folder;
use crate::tool::{Run, tgm};

/// The formats that this build has, with the end of their names.
const FORMATS: [(&str, &str, bool); 12] = [
    ("tgm", "tgm", true),
    ("grib2", "grib2", cfg!(feature = "grib")),
    ("npy", "npy", true),
    ("npz", "npz", cfg!(feature = "npz")),
    ("safetensors", "safetensors", cfg!(feature = "safetensors")),
    ("csv", "csv", true),
    ("netcdf", "nc", cfg!(feature = "netcdf")),
    ("zarr", "zarr", cfg!(feature = "zarr")),
    ("raw", "raw", true),
    ("tables", "arrow", cfg!(feature = "arrow")),
    ("tables", "parquet", cfg!(feature = "parquet")),
    ("kerchunk", "kerchunk", true),
];
const AS_RAW: [&str; 6] = ["--dtype", "f32", "--shape", "6", "--byte-order", "little"];
const VALUES: [f32; 6] = [1.5, -2.5, 3.5, 0.0, 5.25, 1e6];

/// What the table says of each pair.
fn table() -> BTreeMap<(String, String), String> {
    let text = include_str!("../../doc/CONVERTING.md");
    let rows =
        text.lines().skip_while(|line| !line.starts_with("| from / to |")).take_while(|line| line.starts_with('|'));
    let rows: Vec<Vec<&str>> = rows.map(|row| row.trim_matches('|').split('|').map(str::trim).collect()).collect();
    let mut found = BTreeMap::new();
    for row in rows.iter().skip(2) {
        for (to, said) in rows[0].iter().zip(row).skip(1) {
            found.insert((row[0].to_string(), (*to).to_string()), (*said).to_string());
        }
    }
    assert_eq!(found.len(), 121);
    found
}

fn convert(input: &str, output: &str) -> Run {
    tgm(["convert", input, "-o", output].iter().chain(as_raw(input)))
}

/// How many numbers there are, the least and the greatest: of each object of a file, and of all together.
fn extent(folder: &Folder, path: &str) -> Vec<[Json; 3]> {
    let messages = if is_called(path, "tgm") {
        path.to_string()
    } else {
        let messages = folder.path("extent.tgm");
        // Values of CSV and GRIB are float64.
        let is_wide = ["csv.", "grib2."].iter().any(|from| path.contains(&format!("/{from}")));
        let shape = (std::fs::metadata(path).unwrap().len() / 8).to_string();
        let wide = ["--dtype", "f64", "--shape", &shape, "--byte-order", "little"];
        let more = if is_wide && is_called(path, "raw") { &wide } else { as_raw(path) };
        tgm(["convert", path, "-o", &messages].iter().chain(more)).good();
        messages
    };
    let stats = tgm(["stats", "--json", &messages]).good().json();
    let objects =
        stats["messages"].as_array().unwrap().iter().flat_map(|message| message["objects"].as_array().unwrap());
    let of = |found: &Json| ["count", "min", "max"].map(|key| found[key].clone());
    objects.chain([&stats["all"]]).map(of).collect()
}

fn is_called(path: &str, ending: &str) -> bool {
    Path::new(path).extension().is_some_and(|found| found == ending)
}

/// The form of bare values.
fn as_raw<'a>(path: &str) -> &'a [&'a str] {
    if is_called(path, "raw") { &AS_RAW } else { &[] }
}

/// Checks what becomes of files of one format.
fn check(from: &str, input: &str, folder: &Folder) {
    let table = table();
    let sent = if from == "tables" { Vec::new() } else { extent(folder, input) };
    for (to, end, _) in FORMATS.iter().filter(|(.., is_in)| *is_in) {
        let said = &table[&(from.to_string(), (*to).to_string())];
        let output = folder.path(&format!("{from}.out.{end}"));
        let run = convert(input, &output);
        let is_written = Path::new(&output).exists();
        // Inputs that were not made from GRIB do not become GRIB.
        if said == "no" || said == "copy" || said == "GRIB" {
            assert!(run.code != Some(0) && !is_written, "{from} to {to}: {}", run.stderr);
            let name = match *to {
                "tables" => "tables",
                "kerchunk" => "references",
                _ => "GRIB",
            };
            let is_told = said != "no" || from == *to || from == "tables" || run.stderr.contains(name);
            assert!(is_told, "{from} to {to}: {}", run.stderr);
            continue;
        }
        assert!(run.code == Some(0) && is_written, "{from} to {to}: {}", run.stderr);
        if said == "yes" {
            // Places of a grid may be beside the values.
            let arrived = extent(folder, &output);
            assert!(arrived.contains(&sent[0]), "{from} to {to}: {arrived:?} {sent:?}");
        } else {
            assert!(said == "keys" || said == "places", "{from} to {to}: {said}");
        }
    }
}

/// A file of the format, made from bare values.
fn sample(folder: &Folder, end: &str) -> String {
    let raw = folder.file("sample.raw", &VALUES.map(f32::to_le_bytes).concat());
    let path = folder.path(&format!("sample.{end}"));
    if end != "raw" {
        convert(&raw, &path);
    }
    path
}

#[test]
fn messages_become_what_the_table_says() {
    let folder = Folder::in_memory();
    check("tgm", &sample(&folder, "tgm"), &folder);
}

#[test]
fn arrays_of_numpy_become_what_the_table_says() {
    let folder = Folder::in_memory();
    check("npy", &sample(&folder, "npy"), &folder);
    if cfg!(feature = "npz") {
        check("npz", &sample(&folder, "npz"), &folder);
    }
}

#[test]
fn plain_numbers_become_what_the_table_says() {
    let folder = Folder::in_memory();
    check("raw", &sample(&folder, "raw"), &folder);
    check("csv", &sample(&folder, "csv"), &folder);
}

#[cfg(feature = "safetensors")]
#[test]
fn tensors_become_what_the_table_says() {
    let folder = Folder::in_memory();
    check("safetensors", &sample(&folder, "safetensors"), &folder);
}

#[cfg(feature = "netcdf")]
#[test]
fn variables_become_what_the_table_says() {
    let folder = Folder::in_memory();
    check("netcdf", &sample(&folder, "nc"), &folder);
}

#[cfg(feature = "zarr")]
#[test]
fn stores_become_what_the_table_says() {
    let folder = Folder::in_memory();
    check("zarr", &sample(&folder, "zarr"), &folder);
}

#[cfg(feature = "grib")]
#[test]
fn fields_become_what_the_table_says() {
    let folder = Folder::in_memory();
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/data-grib/keys.grib2");
    let whole = folder.path("all.tgm");
    convert(path.to_str().unwrap(), &whole).good();
    // One field is enough.
    let (one, input) = (folder.path("one.tgm"), folder.path("one.grib2"));
    tgm(["copy", "-m", "0", &whole, "-o", &one]).good();
    convert(&one, &input).good();
    check("grib2", &input, &folder);
}

#[cfg(feature = "parquet")]
#[test]
fn tables_are_not_read() {
    let folder = Folder::in_memory();
    let sample = sample(&folder, "tgm");
    for end in ["arrow", "parquet"] {
        let table = folder.path(&format!("table.{end}"));
        convert(&sample, &table).good();
        check("tables", &table, &folder);
    }
}

/// Commands that write messages, with outputs whose names say another format.
#[test]
fn messages_are_not_written_under_the_name_of_another_format() {
    let folder = Folder::in_memory();
    let input = sample(&folder, "tgm");
    let raw = folder.path("sample.raw");
    let [nc, gz, keyed] = ["x.nc", "x.tgm.gz", "[name].grib2"].map(|name| folder.path(name));
    let tries: [&[&str]; 11] = [
        &["copy", &input, "-o", &nc],
        &["copy", &input, "-o", &keyed],
        &["repack", "--compression", "none", &input, "-o", &nc],
        &["merge", &input, "-o", &gz],
        &["reshuffle", &input, "-o", &nc],
        &["set", "-s", "a=1", &input, &nc],
        &["split", &input, "-o", &nc],
        &["salvage", &input, "-o", &gz],
        &["upgrade", &input, "-o", &nc],
        &["create", "--raw", "f32,6,little", &raw, "-o", &nc],
        &["create", "--append", "--raw", "f32,6,little", &raw, "-o", &nc],
    ];
    let before = folder.names();
    for args in tries {
        let run = tgm(args);
        assert!(run.code != Some(0) && run.stderr.contains("the ending of another format"), "{args:?}: {}", run.stderr);
        assert_eq!(folder.names(), before, "{args:?}");
    }
    // Whoever says the format may use any name, and a file that has such a name already can be changed.
    tgm(["convert", &raw, "-o", &nc, "--to", "tgm"].iter().chain(&AS_RAW)).good();
    tgm(["set", "-s", "a=1", &nc, &nc]).good();
}
