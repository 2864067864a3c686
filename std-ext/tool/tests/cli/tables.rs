//! `tgm convert` for directories of Zarr, and for tables of metadata.

use std::fs;

use crate::corpus::data;
use crate::edits::Folder;
use crate::tool::{Run, tgm};

fn convert(input: &str, output: &str, more: &[&str]) -> Run {
    tgm(["convert", input, "-o", output].iter().chain(more))
}

#[cfg(feature = "zarr")]
fn values(file: &str) -> Vec<u8> {
    tgm(["extract", file, "-O", "-"]).good().stdout
}

#[cfg(feature = "zarr")]
#[test]
fn an_array_of_zarr_returns_and_nothing_is_replaced() {
    let folder = Folder::new();
    let original = data("realistic/surface-181x360.tgm");
    let (first, tensogram, second) = (folder.path("a.zarr"), folder.path("b.tgm"), folder.path("c.zarr"));
    convert(&original, &first, &["--chunk-shape", "50x100", "--variables", "object"]).good();
    for chunks in ["keep", "join"] {
        convert(&first, &tensogram, &["--chunks", chunks]).good();
        if chunks == "join" {
            assert!(values(&tensogram) == values(&original));
        }
        convert(&tensogram, &second, &[]).good();
        let run = convert(&tensogram, &second, &[]);
        assert!(run.code == Some(1) && run.stderr.contains("it exists already"), "{}", run.stderr);
        convert(&second, &folder.path("d.tgm"), &["--chunks", "join"]).good();
        assert!(values(&folder.path("d.tgm")) == values(&original));
        fs::remove_dir_all(&second).unwrap();
    }
    let names = folder.names();
    assert_eq!(names, ["a.zarr", "b.tgm", "d.tgm"], "nothing incomplete stays");
}

#[cfg(feature = "zarr")]
#[test]
fn what_zarr_cannot_give_is_reported_and_the_rest_is_converted() {
    let folder = Folder::new();
    let original = data("metadata/mars.tgm");
    let (store, tensogram) = (folder.path("a.zarr"), folder.path("b.tgm"));
    convert(&original, &store, &["--variables", "object"]).good();
    fs::create_dir(format!("{store}/bits")).unwrap();
    let bits = r#"{"zarr_format": 3, "node_type": "array", "shape": [1], "data_type": "r16", "fill_value": [0, 0],
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [1]}}, "chunk_key_encoding": "default",
        "codecs": [{"name": "bytes"}]}"#;
    fs::write(format!("{store}/bits/zarr.json"), bits).unwrap();
    let run = convert(&store, &tensogram, &[]);
    assert_eq!(run.code, Some(1));
    assert!(run.stderr.contains("data type r16 is not supported"), "{}", run.stderr);
    assert!(run.stderr.contains("a.zarr: bits"), "{}", run.stderr);
    tgm(["validate", &tensogram]).good();
    let run = convert(&folder.path("none.zarr"), &tensogram, &[]);
    assert!(run.code == Some(1) && run.stderr.contains("none.zarr"), "{}", run.stderr);
}

#[cfg(feature = "netcdf")]
#[test]
fn netcdf_comes_back_and_a_file_is_replaced_when_the_new_one_is_complete() {
    let folder = Folder::new();
    let original = data("realistic/surface-181x360.tgm");
    let (file, tensogram) = (folder.file("a.nc", b"old"), folder.path("b.tgm"));
    convert(&original, &file, &["--deflate-level", "1", "--variables", "object"]).good();
    convert(&file, &tensogram, &[]).good();
    assert!(values(&tensogram) == values(&original));
    let before = fs::read(&file).unwrap();
    assert_eq!(convert(&folder.path("none.tgm"), &file, &[]).code, Some(1));
    assert!(fs::read(&file).unwrap() == before);
    assert_eq!(folder.names(), ["a.nc", "b.tgm"], "nothing incomplete stays");
}

#[cfg(feature = "netcdf")]
#[test]
fn netcdf_is_read_if_somebody_calls_it_so_and_strict_leaves_nothing() {
    let folder = Folder::new();
    let cycle = fs::read(data("../data-hdf5/cycle.h5")).unwrap();
    let (named, other, out) = (folder.file("a.h5", &cycle), folder.file("a.csv", &cycle), folder.path("out.tgm"));
    let run = convert(&other, &out, &[]);
    assert!(run.code != Some(0) && run.stderr.contains("--from netcdf"), "{}", run.stderr);
    let run = convert(&named, &out, &["--strict"]);
    assert!(run.code == Some(1) && run.stderr.contains("g/up"), "{}", run.stderr);
    assert_eq!(folder.names(), ["a.csv", "a.h5"]);
    for (file, more) in [(&named, &[][..]), (&other, &["--from", "netcdf"])] {
        let run = convert(file, &out, more);
        assert!(run.code == Some(1) && run.stderr.contains("leads back to the root"), "{}", run.stderr);
        tgm(["validate", &out]).good();
        fs::remove_file(&out).unwrap();
    }
}

#[cfg(feature = "parquet")]
#[test]
fn tables_are_written_for_messages_and_damaged_ones_are_reported_once() {
    let folder = Folder::new();
    let mut bytes = fs::read(data("metadata/mars.tgm")).unwrap();
    let whole = bytes.len();
    bytes.extend_from_within(..whole / 2);
    let file = folder.file("in.tgm", &bytes);
    for (name, magic) in [("t.parquet", &b"PAR1"[..]), ("t.arrow", b"ARROW1")] {
        let table = folder.path(name);
        for rows in ["objects", "messages"] {
            let run = convert(&file, &table, &["--rows", rows]);
            assert_eq!(run.code, Some(1), "{}", run.stderr);
            assert_eq!(run.stderr.matches("in.tgm").count(), 1, "{}", run.stderr);
            let table = fs::read(&table).unwrap();
            assert!(table.starts_with(magic) && table.ends_with(magic));
        }
        let run = convert(&table, &folder.path("x.tgm"), &[]);
        assert_ne!(run.code, Some(0));
        let run = convert("-", &table, &["--from", "tgm"]);
        assert!(run.code == Some(2) && run.stderr.contains("standard input can be read once"), "{}", run.stderr);
    }
}

/// An array in chunks is one object, so that commands for one object show all of it.
#[cfg(feature = "zarr")]
#[test]
fn small_arrays_of_zarr_are_whole_and_a_damaged_chunk_is_left_out() {
    let folder = Folder::in_memory();
    let raw = folder.file("v.raw", &[1.5_f32, 2.5, 3.5, 4.5].map(f32::to_le_bytes).concat());
    let (store, tensogram) = (folder.path("a.zarr"), folder.path("b.tgm"));
    let form = ["--dtype", "f32", "--shape", "4", "--byte-order", "little", "--chunk-shape", "2"];
    convert(&raw, &store, &form).good();
    convert(&store, &tensogram, &[]).good();
    assert_eq!(tgm(["cat", &tensogram]).good().text(), "1.5 2.5 3.5 4.5\n");
    convert(&store, &tensogram, &["--chunks", "keep"]).good();
    assert_eq!(tgm(["cat", &tensogram, "--object", "1"]).good().text(), "3.5 4.5\n");
    let names = fs::read_dir(&store).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let arrays: Vec<_> = names.filter(|name| name != "zarr.json").collect();
    let chunks: Vec<_> =
        fs::read_dir(format!("{store}/{}/c", arrays[0])).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert_eq!(chunks.len(), 2);
    fs::write(&chunks[0], "damaged").unwrap();
    let run = convert(&store, &tensogram, &[]);
    assert!(run.code == Some(1) && run.stderr.contains("chunk"), "{}", run.stderr);
    assert!(["1.5 2.5\n", "3.5 4.5\n"].contains(&tgm(["cat", &tensogram]).good().text()));
}
