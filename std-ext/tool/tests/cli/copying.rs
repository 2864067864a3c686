//! `tgm copy`, and files that are written whole or not at all.

use std::fs;
#[cfg(unix)]
use std::process::Command;

use crate::corpus::{data, files};
use crate::edits::{Folder, digests, has_junk};
use crate::tool::tgm;

#[test]
fn copies_are_verbatim() {
    let folder = Folder::new();
    let out = folder.path("out.tgm");
    for path in files("multi").into_iter().chain(files("streaming")).chain(files("versions")) {
        let run = tgm(["copy", path.to_str().unwrap(), &out]);
        if path.ends_with("corrupt-middle.tgm") {
            run.failed("message 1: hash mismatch");
            tgm(["copy", "--ignore-hash", path.to_str().unwrap(), &out]).good();
            assert!(fs::read(&out).unwrap() == fs::read(&path).unwrap(), "{path:?}");
        } else if has_junk(&path) {
            run.failed("belong to no message");
            assert!(!has_junk(out.as_ref()), "{path:?}");
        } else {
            run.good();
            assert!(fs::read(&out).unwrap() == fs::read(&path).unwrap(), "{path:?}");
        }
    }
}

#[test]
fn only_selected_messages_are_copied_also_of_streams() {
    let folder = Folder::new();
    let (path, out) = (folder.path("in.tgm"), folder.path("out.tgm"));
    let merged = ["multi/three.tgm", "preceder/every-object.tgm"].map(|name| fs::read(data(name)).unwrap()).concat();
    fs::write(&path, merged).unwrap();
    let steps = tgm(["get", "-p", "step", &data("multi/three.tgm")]).good();
    let last = steps.text().lines().last().unwrap().to_string();
    tgm(["copy", "-w", &format!("step={last}"), &path, &out]).good();
    assert_eq!(digests(&out), digests(data("multi/three.tgm")).last().into_iter().cloned().collect::<Vec<_>>());
    tgm(["copy", "-w", &format!("step!={last}"), &path, &path]).good();
    assert_eq!(tgm(["get", "-p", "version", &path]).good().text(), "3\n3\n3\n");
}

#[test]
fn messages_are_appended_to_the_files_that_their_values_name() {
    let folder = Folder::new();
    let path = data("multi/three.tgm");
    let template = folder.path("step[step]-[no.such].tgm");
    tgm(["copy", &path, &template]).good();
    let steps = tgm(["get", "-p", "step", &path]).good();
    let names: Vec<_> = steps.text().lines().map(|step| format!("step{step}-unknown.tgm")).collect();
    assert_eq!(folder.names(), names);
    let expected = digests(&path);
    for (name, object) in names.iter().zip(&expected) {
        assert_eq!(digests(folder.path(name)), std::slice::from_ref(object));
    }
    tgm(["copy", &path, &template]).good();
    assert_eq!(digests(folder.path(&names[0])), [expected[0].clone(), expected[0].clone()]);
    // Streamed messages can be appended to as well.
    let stream = data("streaming/plain-0.24.0.tgm");
    for _ in 0..3 {
        tgm(["copy", &stream, &folder.path("s[version]")]).good();
    }
    assert_eq!(fs::read(folder.path("s3")).unwrap(), fs::read(&stream).unwrap().repeat(3));
}

#[test]
fn values_do_not_lead_out_of_the_folder_and_folders_are_not_made() {
    let folder = Folder::new();
    let (source, path) = (data("dtypes/float32-little.tgm"), folder.path("in.tgm"));
    for value in ["../out", "/tmp/out", "..", "."] {
        tgm(["set", "-s", &format!("extra.name={value}"), &source, &path]).good();
        tgm(["copy", &path, &folder.path("[name]")]).failed("cannot be part of a file's name");
    }
    tgm(["copy", &source, &folder.path("[version]/x")]).failed("cannot append");
    tgm(["copy", &source, &folder.path("no/x")]).failed("cannot write");
    assert_eq!(folder.names(), ["in.tgm"]);
}

#[test]
fn a_torn_file_is_not_appended_to_nor_truncated() {
    let folder = Folder::new();
    let torn = folder.path("t3");
    fs::copy(data("multi/truncated-tail-0607.tgm"), &torn).unwrap();
    let before = fs::read(&torn).unwrap();
    tgm(["copy", &data("multi/three.tgm"), &folder.path("t[version]")]).failed("belong to no message");
    assert!(fs::read(&torn).unwrap() == before);
}

#[test]
fn in_place_nothing_is_lost_that_could_not_be_judged() {
    let folder = Folder::new();
    for name in ["multi/corrupt-middle.tgm", "multi/garbage-between.tgm"] {
        let path = folder.path("in.tgm");
        fs::copy(data(name), &path).unwrap();
        tgm(["copy", "-w", "version=3", &path, &path]).failed("left as it was");
        assert!(fs::read(&path).unwrap() == fs::read(data(name)).unwrap());
        // Copying to another file copies the readable messages.
        tgm(["copy", "-w", "version=3", &path, &folder.path("out.tgm")]).failed("");
        assert!(!digests(folder.path("out.tgm")).is_empty());
    }
}

/// Where a file must not grow beyond a kilobyte or so, writing fails half-way.
#[cfg(unix)]
#[test]
fn a_write_that_fails_half_way_leaves_what_was_there() {
    let folder = Folder::new();
    let out = folder.file("out.tgm", b"what was here before");
    let path = data("realistic/surface-181x360.tgm");
    for arguments in [
        ["copy", &path, &out].map(String::from).to_vec(),
        ["set", "-s", "a=b", &path, &out].map(String::from).to_vec(),
        ["merge", &path, "-o", &out].map(String::from).to_vec(),
        ["salvage", &path, "-o", &out].map(String::from).to_vec(),
    ] {
        let mut limited = Command::new("sh");
        limited.args(["-c", "trap '' XFSZ; ulimit -f 2; exec \"$@\"", "sh", env!("CARGO_BIN_EXE_tgm")]);
        let output = limited.args(&arguments).output().unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{arguments:?}: {stderr}");
        assert!(stderr.contains("cannot write"), "{stderr}");
        assert_eq!(fs::read(&out).unwrap(), b"what was here before");
        assert_eq!(folder.names(), ["out.tgm"]);
    }
}

/// A file that is named by keys appears with its first message or not at all.
#[cfg(unix)]
#[test]
fn an_append_that_fails_leaves_no_empty_file() {
    let folder = Folder::new();
    let path = data("realistic/surface-181x360.tgm");
    for arguments in [
        ["copy", &path, &folder.path("[version].tgm")].map(String::from).to_vec(),
        ["split", &path, "-o", &folder.path("[dtype].tgm")].map(String::from).to_vec(),
        ["split", &path, "-o", &folder.path("[index].tgm")].map(String::from).to_vec(),
    ] {
        let mut limited = Command::new("sh");
        limited.args(["-c", "trap '' XFSZ; ulimit -f 2; exec \"$@\"", "sh", env!("CARGO_BIN_EXE_tgm")]);
        let output = limited.args(&arguments).output().unwrap();
        assert_eq!(output.status.code(), Some(1), "{arguments:?}");
        assert_eq!(folder.names(), [""; 0], "{arguments:?}");
    }
}

#[test]
fn split_names_files_by_keys() {
    let folder = Folder::new();
    let path = data("realistic/surface-181x360.tgm");
    let template = |name: &str| folder.path(name);
    tgm(["split", &path, "-o", &template("[mars.param]_[index].tgm")]).good();
    assert_eq!(folder.names(), ["2t_0000.tgm", "lsm_0002.tgm", "tp_0001.tgm"]);
    let folder = Folder::new();
    let both = folder.path("[mars.class]-[dtype].tgm");
    tgm(["split", &path, "-o", &both]).good();
    let names = folder.names();
    assert!(names.len() == 2 && names.iter().all(|name| name.starts_with("od-")), "{names:?}");
    let sizes = |names: &[String]| names.iter().map(|name| fs::read(folder.path(name)).unwrap().len()).sum::<usize>();
    let before = sizes(&names);
    let run = tgm(["split", "--no-clobber", &path, "-o", &both]);
    assert_eq!((run.code, sizes(&names)), (Some(1), before), "{}", run.stderr);
}
