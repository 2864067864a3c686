//! `tgm convert` with formats that hold arrays.

use std::fs;
use std::io::Write as _;
use std::process::Stdio;

use crate::corpus::data;
use crate::edits::Folder;
use crate::npy::npy;
use crate::tool::{Run, command, tgm};

fn convert(input: &str, output: &str, more: &[&str]) -> Run {
    tgm(["convert", input, "-o", output].iter().chain(more))
}

/// A file of numpy with four floats, one of them NaN.
fn floats() -> Vec<u8> {
    let values = [1.5, f64::NAN, -0.0, 1e300].map(f64::to_le_bytes).concat();
    npy(1, "'<f8'", false, "(2, 2)", &values)
}

#[test]
fn arrays_return_to_the_byte_through_messages_and_other_formats() {
    let folder = Folder::new();
    let (source, message) = (folder.file("in.npy", &floats()), folder.path("m.tgm"));
    convert(&source, &message, &[]).good();
    let run = tgm(["verify", &message]).good();
    assert!(!run.stdout.is_empty());
    let mut last = message;
    for name in [
        #[cfg(feature = "npz")]
        "a.npz",
        "b.tgm",
        #[cfg(feature = "safetensors")]
        "c.safetensors",
        "d.csv",
    ] {
        let next = folder.path(name);
        let run = convert(&last, &next, &[]);
        assert_eq!(run.code, Some(0), "{name}: {}", run.stderr);
        last = next;
    }
    let text = fs::read_to_string(&last).unwrap();
    assert_eq!(text, "1.5,nan\n-0.0,1e300\n");
    convert(&last, &folder.path("e.npy"), &["--matrix"]).good();
    assert!(fs::read(folder.path("e.npy")).unwrap().ends_with(&floats()[floats().len() - 32..]));
}

#[test]
fn stages_and_masks_are_those_of_the_flags() {
    let folder = Folder::new();
    let (source, message) = (folder.file("in.npy", &floats()), folder.path("m.tgm"));
    convert(&source, &message, &["--compression", "lz4", "--filter", "shuffle"]).good();
    let listing = tgm(["ls", "--objects", "--json", &message]).good();
    assert!(listing.text().contains("lz4") && listing.text().contains("shuffle"), "{}", listing.text());
    let run = convert(&source, &folder.path("x.tgm"), &["--allow-nan=false"]);
    assert_eq!(run.code, Some(1));
    assert!(run.stderr.contains("--allow-nan"), "{}", run.stderr);
    assert!(!fs::exists(folder.path("x.tgm")).unwrap());
    let run = convert(&message, &folder.path("x.npy"), &["--compression", "lz4"]);
    assert_eq!(run.code, Some(2), "{}", run.stderr);
}

#[test]
fn several_objects_need_a_folder_or_a_name_with_a_key() {
    let folder = Folder::new();
    let (a, b) = (folder.file("a.csv", b"x,y\n1,2\n"), folder.path("b.tgm"));
    convert(&a, &b, &[]).good();
    let run = convert(&b, &folder.path("one.npy"), &[]);
    assert_eq!(run.code, Some(1));
    assert!(run.stderr.contains("one file holds one array: name a folder"), "{}", run.stderr);
    assert!(!fs::exists(folder.path("one.npy")).unwrap());

    fs::create_dir(folder.path("all")).unwrap();
    let run = convert(&b, &folder.path("all"), &["--to", "npy"]);
    assert!(run.code == Some(0) && run.stderr.contains("message 0, object 1: not kept: name"), "{}", run.stderr);
    let run = convert(&b, &folder.path("all/[name].npy"), &["--to", "npy"]);
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    let mut names: Vec<_> = fs::read_dir(folder.path("all")).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    names.sort();
    assert_eq!(names, ["0000.npy", "0001.npy", "x.npy", "y.npy"]);
    assert!(fs::read(folder.path("all/x.npy")).unwrap() == fs::read(folder.path("all/0000.npy")).unwrap());
}

/// Formats of which a file holds many arrays take the arrays of all messages and inputs.
#[test]
fn several_messages_become_one_file_with_numbered_names() {
    let folder = Folder::new();
    let (one, two) = (folder.file("a.csv", b"x,y\n1,2\n"), folder.file("b.csv", b"x\n3\n"));
    let (a, b) = (folder.path("a.tgm"), folder.path("b.tgm"));
    convert(&one, &a, &[]).good();
    convert(&two, &b, &[]).good();
    let both = folder.file("ab.tgm", &[fs::read(&a).unwrap(), fs::read(&b).unwrap()].concat());
    for (inputs, place) in
        [(vec![&both], "ab.tgm: message 1"), (vec![&a, &b], "b.tgm: message 0"), (vec![&one, &two], "b.csv")]
    {
        for ending in ["csv", "npz", "safetensors"] {
            if inputs[0] == &one && ending == "csv"
                || tgm(["convert", &a, "-o", &folder.path(&format!("try.{ending}"))]).code != Some(0)
            {
                continue;
            }
            let out = folder.path(&format!("out.{ending}"));
            let words = ["convert"].into_iter().chain(inputs.iter().map(|input| input.as_str()));
            let run = tgm(words.chain(["-o", &out]));
            assert_eq!(run.code, Some(0), "{}", run.stderr);
            let told = format!("{place}, object 0: not kept: the name \"x\", which another has: it is \"x_1\" now");
            assert!(run.stderr.contains(&told), "{}", run.stderr);
            let back = folder.path("back.csv");
            if ending != "csv" {
                convert(&out, &back, &[]).good();
            }
            let text = fs::read_to_string(if ending == "csv" { &out } else { &back }).unwrap();
            assert_eq!(text, "x,y,x_1\n1,2,3\n", "{ending}");
        }
    }
    // Columns of other lengths are not one table.
    let three = folder.file("c.csv", b"z\n1\n2\n");
    convert(&three, &folder.path("c.tgm"), &[]).good();
    let run = tgm(["convert", &a, &folder.path("c.tgm"), "-o", &folder.path("no.csv")]);
    assert!(run.code == Some(1) && run.stderr.contains("name a folder"), "{}", run.stderr);
    assert!(!fs::exists(folder.path("no.csv")).unwrap());
}

#[test]
fn tables_with_tabs_are_read_and_not_written() {
    let folder = Folder::new();
    let tabs = folder.file("a.tsv", b"x\ty\n1\t2\n");
    convert(&tabs, &folder.path("a.csv"), &["--to", "tgm"]).good();
    convert(&tabs, &folder.path("a.tgm"), &[]).good();
    let run = convert(&folder.path("a.tgm"), &folder.path("b.tsv"), &[]);
    assert!(run.code == Some(2) && run.stderr.contains("not written"), "{}", run.stderr);
}

#[test]
fn names_that_lead_elsewhere_are_refused() {
    let folder = Folder::new();
    let (a, b) = (folder.file("a.csv", b"../x\n1\n"), folder.path("b.tgm"));
    convert(&a, &b, &[]).good();
    let run = convert(&b, &folder.path("[name].npy"), &[]);
    assert!(run.code == Some(1) && run.stderr.contains("cannot be part of a file's name"), "{}", run.stderr);
}

#[test]
fn with_strict_what_is_not_kept_is_an_error_and_nothing_is_written() {
    let folder = Folder::new();
    let source = data("metadata/mars.tgm");
    let run = convert(&source, &folder.path("[index].npy"), &[]);
    assert!(run.code == Some(0) && run.stderr.contains("not kept: mars"), "{}", run.stderr);
    let run = convert(&source, &folder.path("strict-[index].npy"), &["--strict"]);
    assert!(run.code == Some(1) && run.stderr.contains("not kept: "), "{}", run.stderr);
    assert!(!fs::exists(folder.path("strict-0000.npy")).unwrap());
    let odd = npy(1, "'<f8'", false, "(1,)", &0xfff8_0000_0000_0001_u64.to_le_bytes());
    let odd = folder.file("odd.npy", &odd);
    let run = convert(&odd, &folder.path("odd.tgm"), &["--strict"]);
    assert!(run.code == Some(1) && run.stderr.contains("the bits of 1 values"), "{}", run.stderr);
}

#[test]
fn formats_are_found_by_content_of_files_and_pipes() {
    let folder = Folder::new();
    let expected = folder.path("expected.tgm");
    convert(&folder.file("without-suffix", &floats()), &expected, &[]).good();
    let mut child = command(["convert", "-", "-o", "-", "--to", "tgm"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(&floats()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(output.stdout.len() as u64, fs::metadata(&expected).unwrap().len());
    let run = convert(&folder.file("raw", &[0, 0, 1, 0]), &folder.path("raw.tgm"), &["--dtype", "i16", "--shape", "2"]);
    run.good();
    convert(&folder.path("raw.tgm"), &folder.path("raw.raw"), &["--byte-order", "big"]).good();
    assert_eq!(fs::read(folder.path("raw.raw")).unwrap(), [0, 0, 0, 1]);
}

#[test]
fn damaged_empty_and_lying_files_are_reported_and_leave_nothing() {
    let folder = Folder::new();
    let good = floats();
    let cut = folder.file("cut.npy", &good[..good.len() - 1]);
    let empty = folder.file("empty.csv", b"");
    let structure = folder.file("structure.npy", &npy(1, "[('a', '<f8'), ('b', '<i4')]", false, "(1,)", &[0; 12]));
    let tensors = folder.file("cut.safetensors", b"\xff\xff\0\0\0\0\0\0{");
    let archive = folder.file("cut.npz", b"PK\x03\x04");
    let texts = [
        (&cut, "31 bytes of values, and float64 of shape [2, 2] has 32"),
        (&empty, "it is empty"),
        (&structure, "elements of several fields are not a tensor: a, b"),
        #[cfg(feature = "safetensors")]
        (&tensors, "the header has 65535 bytes, by the first bytes of a file of 9"),
        #[cfg(feature = "npz")]
        (&archive, "not a .npz file"),
    ];
    let _ = (&tensors, &archive);
    for (path, text) in texts {
        let output = folder.path("out.tgm");
        let run = convert(path, &output, &[]);
        assert_eq!(run.code, Some(1), "{path}");
        assert!(run.stderr.contains(text), "{path}: {}", run.stderr);
        assert!(!fs::exists(&output).unwrap(), "{path}");
    }
    // One bad file does not hide the others.
    let run = tgm(["convert", &cut, &folder.file("good.npy", &good), "-o", &folder.path("both.tgm")]);
    assert_eq!(run.code, Some(1), "{}", run.stderr);
    assert!(fs::metadata(folder.path("both.tgm")).unwrap().len() > 100);
}

#[cfg(target_os = "linux")]
#[test]
fn huge_files_with_holes_are_refused_at_once() {
    let folder = Folder::new();
    for (name, start) in [("a.npy", floats()), ("b.safetensors", b"\xff\xff\xff\xff\xff\0\0\0{".to_vec())] {
        let path = folder.file(name, &start);
        fs::File::options().write(true).open(&path).unwrap().set_len(1 << 40).unwrap();
        let run = convert(&path, &folder.path("out.tgm"), &["--from", name.split_once('.').unwrap().1]);
        assert!(run.code == Some(1) || (name.starts_with('b') && !cfg!(feature = "safetensors")), "{}", run.stderr);
    }
}
