//! What threads make is what one makes: each command that takes `--threads`, by each of its ways.

use std::fs;
use std::path::Path;

use tgm_std::{MessageBuilder, ObjectBuilder};

use crate::edits::Folder;
use crate::tool::tgm;

/// A message of `count` objects of 6000 values that are large enough for threads.
fn several(count: usize, seed: u32, shape: &[u64]) -> Vec<u8> {
    let values: Vec<f64> = (0..6000_u32).map(|i| f64::from((i + seed).wrapping_mul(40_503) >> 22)).collect();
    let object = |number: usize| {
        let object = ObjectBuilder::new(shape, &values[..]).unwrap().metadata("name", format!("v{number}"));
        if number.is_multiple_of(2) { object.shuffle().zstd(3) } else { object }
    };
    (0..count).fold(MessageBuilder::new(), |message, number| message.object(object(number))).encode().unwrap()
}

/// Files of a folder with their names, or of one file.
fn files(path: &str) -> Vec<(String, Vec<u8>)> {
    if Path::new(path).is_file() {
        return vec![(String::new(), fs::read(path).unwrap())];
    }
    let entries = fs::read_dir(path).unwrap().map(|entry| entry.unwrap());
    let mut files: Vec<_> = entries
        .map(|entry| (entry.file_name().to_string_lossy().into_owned(), fs::read(entry.path()).unwrap()))
        .collect();
    files.sort();
    files
}

#[test]
fn threads_make_what_one_makes() {
    let folder = Folder::in_memory();
    // Many messages in batches, and few of several objects.
    let many: Vec<u8> = (0..30).flat_map(|seed| several(1, seed, &[6000])).collect();
    let few = [several(5, 3, &[6000]), several(4, 4, &[6000])].concat();
    let one = several(7, 5, &[6000]);
    let inputs = [folder.file("many.tgm", &many), folder.file("few.tgm", &few), folder.file("one.tgm", &one)];
    let to_folder: &[(&str, &[&str])] = &[("npy", &[]), ("csv", &[]), ("npz", &["--deflate"]), ("safetensors", &[])];
    let to_file: &[&[&str]] = &[
        &["repack", "--compression", "zstd"],
        &["repack", "--best"],
        &[
            "repack",
            "--encoding",
            "simple_packing",
            "--bits",
            "12",
            "--filter",
            "none",
            "--compression",
            "none",
            "--verify",
        ],
    ];
    for input in &inputs {
        for (format, more) in to_folder {
            if !has(format) {
                continue;
            }
            let made = ["1", "3"].map(|threads| {
                let out = folder.path(&format!("{format}-{threads}"));
                _ = fs::remove_dir_all(&out);
                fs::create_dir(&out).unwrap();
                let run = ["convert", input, "-o", &out, "--to", format, "--threads", threads, "-q"];
                let run = tgm(run.iter().chain(*more));
                assert_eq!(run.code, Some(0), "{format} {}", run.stderr);
                files(&out)
            });
            assert!(made[0] == made[1] && !made[0].is_empty(), "{input} {format}");
        }
        for command in to_file {
            if command.contains(&"--best") && input.contains("many") {
                continue;
            }
            let made = ["1", "3"].map(|threads| {
                let out = folder.path(&format!("out-{threads}.tgm"));
                let run = tgm(command.iter().chain(&[input.as_str(), "-o", &out, "--threads", threads])).good();
                (out, [run.stdout, run.stderr.into_bytes()].concat())
            });
            let [(first, said), (second, also_said)] = made;
            assert_eq!(String::from_utf8(said), String::from_utf8(also_said), "{command:?}");
            tgm(["compare", "--storage", &first, &second]).good();
            // The bytes of payloads do not depend on threads either.
            assert_eq!(fs::metadata(&first).unwrap().len(), fs::metadata(&second).unwrap().len(), "{command:?}");
        }
        for command in [&["stats", "--histogram=4"][..], &["stats", "--json"], &["digest"], &["verify"]] {
            let said = ["1", "3"].map(|threads| {
                tgm(command.iter().chain(&[input.as_str(), "--threads", threads])).good().text().to_string()
            });
            assert_eq!(said[0], said[1], "{command:?}");
        }
        // These take all processors.
        let out = folder.path("copied.tgm");
        tgm(["copy", input, &out]).good();
        assert!(fs::read(&out).unwrap() == fs::read(input).unwrap());
        tgm(["copy", "-w", "name=v0", input, &out]).good();
        assert!(fs::read(&out).unwrap() == fs::read(input).unwrap());
    }
}

fn has(format: &str) -> bool {
    match format {
        "npz" => cfg!(feature = "npz"),
        "safetensors" => cfg!(feature = "safetensors"),
        _ => true,
    }
}

/// GRIB to messages with other stages, and back.
#[cfg(feature = "grib")]
#[test]
fn threads_convert_grib_as_one_does() {
    let folder = Folder::in_memory();
    let names = ["simple-12", "ccsds-16", "bitmap-ccsds-12", "fields-bitmap", "two-messages", "ieee-32"];
    let sample = |name: &&str| fs::read(crate::corpus::data(&format!("../data-grib/{name}.grib2"))).unwrap();
    let grib: Vec<u8> = names.iter().map(sample).collect::<Vec<_>>().concat().repeat(30);
    let input = folder.file("in.grib2", &grib);
    for more in [&[][..], &["--compression", "zstd"], &["--grib-keys", "few"]] {
        let made = ["1", "3"].map(|threads| {
            let (out, back) = (folder.path(&format!("{threads}.tgm")), folder.path(&format!("{threads}.grib2")));
            tgm(["convert", &input, "-o", &out, "--threads", threads].iter().chain(more)).good();
            tgm(["convert", &out, "-o", &back, "--threads", threads]).good();
            assert!(fs::read(&back).unwrap() == grib, "{more:?}");
            out
        });
        tgm(["compare", "--storage", &made[0], &made[1]]).good();
    }
}

/// Variables and chunks that are read and encoded side by side.
#[cfg(any(feature = "netcdf", feature = "zarr"))]
#[test]
fn threads_read_netcdf_and_zarr_as_one_does() {
    let folder = Folder::in_memory();
    let input = folder.file("in.tgm", &several(9, 1, &[60, 100]));
    for (format, ending, has) in [("netcdf", "nc", cfg!(feature = "netcdf")), ("zarr", "zarr", cfg!(feature = "zarr"))]
    {
        if !has {
            continue;
        }
        let between = folder.path(&format!("between.{ending}"));
        let chunks = ["--chunk-shape", "25x40"];
        let chunks = if format == "zarr" { &chunks[..] } else { &[] };
        tgm(["convert", &input, "-o", &between, "-q"].iter().chain(chunks));
        for more in [&[][..], &["--compression", "lz4"], &["--chunks", "keep"]] {
            if more.contains(&"keep") && format == "netcdf" {
                continue;
            }
            let made = ["1", "3"].map(|threads| {
                let out = folder.path(&format!("{threads}.tgm"));
                let run = tgm(["convert", &between, "-o", &out, "--threads", threads].iter().chain(more));
                assert_eq!(run.code, Some(0), "{format} {}", run.stderr);
                out
            });
            tgm(["compare", "--storage", &made[0], &made[1]]).good();
            let lens = made.map(|path| fs::metadata(path).unwrap().len());
            assert_eq!(lens[0], lens[1], "{format} {more:?}");
        }
    }
}
