//! Names of files that are not text, which systems other than Windows and macOS allow.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};

use crate::corpus::data;
use crate::edits::Folder;
use crate::tool::{Run, tgm};

/// A path in the folder whose name is not UTF-8.
fn odd(folder: &Folder, end: &str) -> OsString {
    let mut path = folder.path("a").into_bytes();
    path.push(0xff);
    path.extend(end.bytes());
    OsString::from_vec(path)
}

fn run(words: &[&str], paths: &[&OsString]) -> Run {
    let words = words.iter().map(|word| match word.strip_prefix('@').and_then(|number| number.parse::<usize>().ok()) {
        Some(number) => paths[number].as_os_str(),
        None => OsStr::new(*word),
    });
    tgm(words)
}

#[test]
fn every_command_takes_names_that_are_not_text() {
    let folder = Folder::in_memory();
    let (file, out) = (odd(&folder, ".tgm"), odd(&folder, ".out.tgm"));
    std::fs::copy(data("dtypes/float32-little.tgm"), &file).unwrap();
    let listing = odd(&folder, ".txt");
    for words in [
        "ls @0",
        "dump @0",
        "frames @0",
        "get -p dtype @0",
        "info @0",
        "scan @0",
        "stats @0",
        "digest @0",
        "verify @0",
        "validate @0",
        "cat @0",
        "compare @0 @0",
        "ls @0 -O @2",
        "copy @0 -o @1",
        "merge @0 -o @1",
        "reshuffle @0 -o @1",
        "salvage @0 -o @1",
        "upgrade @0 -o @1",
        "repack --compression none @0 -o @1",
        "set -s a=1 @0 @1",
        "split @0 -o @1",
        "catalog @0 -k dtype -o @2",
        "extract @0 -O @3",
        "create @3 --raw f32,1 -o @1",
    ] {
        let words: Vec<_> = words.split(' ').collect();
        let shape = words.contains(&"create");
        let raw = odd(&folder, ".raw");
        if shape {
            std::fs::write(&raw, 1.5_f32.to_ne_bytes()).unwrap();
        }
        let run = run(&words, &[&file, &out, &listing, &raw]);
        assert_eq!(run.code, Some(0), "{words:?}: {}", run.stderr);
    }
}

#[test]
fn every_format_has_names_that_are_not_text() {
    let folder = Folder::in_memory();
    let file = odd(&folder, ".tgm");
    std::fs::copy(data("dtypes/float32-little.tgm"), &file).unwrap();
    let mut ends = vec![".npy", ".csv"];
    for (is_in, end) in [
        (cfg!(feature = "npz"), ".npz"),
        (cfg!(feature = "safetensors"), ".safetensors"),
        (cfg!(feature = "zarr"), ".zarr"),
        (cfg!(feature = "netcdf"), ".nc"),
    ] {
        if is_in {
            ends.push(end);
        }
    }
    for end in ends {
        let (there, back) = (odd(&folder, end), odd(&folder, &format!("{end}.tgm")));
        for words in [["convert", "@0", "-o", "@1"], ["convert", "@1", "-o", "@2"]] {
            let run = run(&words, &[&file, &there, &back]);
            assert_eq!(run.code, Some(0), "{end} {words:?}: {}", run.stderr);
        }
        assert!(back.as_bytes().contains(&0xff) && std::fs::exists(&back).unwrap());
    }
}

/// A key can be filled into text alone. Folders are folders whatever they are called.
#[test]
fn keys_in_names_that_are_not_text_are_refused() {
    let folder = Folder::in_memory();
    let (file, named, of_folder) = (odd(&folder, ".tgm"), odd(&folder, "[name]"), odd(&folder, "/"));
    std::fs::copy(data("dtypes/float32-little.tgm"), &file).unwrap();
    for words in ["convert @0 -o @1", "split @0 -O @1", "copy @0 @1", "extract @0 -O @1"] {
        let run = run(&words.split(' ').collect::<Vec<_>>(), &[&file, &named]);
        assert!(run.code == Some(2) && run.stderr.contains("UTF-8"), "{words}: {}", run.stderr);
    }
    std::fs::create_dir(&of_folder).unwrap();
    assert_eq!(run(&["convert", "@0", "-o", "@1", "--to", "npy"], &[&file, &of_folder]).code, Some(0));
    assert_eq!(std::fs::read_dir(&of_folder).unwrap().count(), 1);
    let absent = odd(&folder, "b/");
    assert_eq!(run(&["convert", "@0", "-o", "@1", "--to", "npy"], &[&file, &absent]).code, Some(1));
}
