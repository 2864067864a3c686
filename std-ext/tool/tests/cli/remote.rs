//! The tool reads addresses as it reads files.

use std::process::{Command, Output};

use crate::loopback::{Blob, Server};

fn tgm(arguments: &[&str], file: &str) -> Output {
    let arguments = arguments.iter().map(|argument| argument.replace("FILE", file));
    Command::new(env!("CARGO_BIN_EXE_tgm")).args(arguments).output().unwrap()
}

/// What a run said, with the file's name taken out.
fn said(output: &Output, file: &str) -> (Option<i32>, String, String) {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).replace(file, "FILE");
    (output.status.code(), text(&output.stdout), text(&output.stderr))
}

#[test]
fn commands_say_of_an_address_what_they_say_of_the_file() {
    let data = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/data");
    let sound = ["realistic/surface-181x360", "multi/three", "multi/garbage-between", "multi/truncated-tail-0304"];
    let commands: &[&[&str]] = &[
        &["ls", "FILE"],
        &["ls", "--json", "FILE"],
        &["get", "-p", "mars.param", "FILE"],
        &["dump", "FILE"],
        &["frames", "FILE"],
        &["scan", "FILE"],
        &["info", "FILE"],
        &["verify", "FILE"],
        &["validate", "FILE"],
        &["digest", "FILE"],
        &["extract", "FILE", "-m", "0", "-o", "0", "--format", "raw"],
        &["copy", "FILE", "-"],
    ];
    for name in sound {
        let path = format!("{data}/{name}.tgm");
        let server = Server::with("/file.tgm", Blob::new(std::fs::read(&path).unwrap()));
        let address = server.url("/file.tgm");
        for command in commands {
            let (local, remote) = (tgm(command, &path), tgm(command, &address));
            assert!(local.status.code().is_some());
            assert_eq!(said(&remote, &address), said(&local, &path), "{command:?} {name}");
        }
    }
}

#[test]
fn an_address_that_cannot_be_read_is_reported() {
    let server = Server::start();
    let output = tgm(&["ls", "FILE"], &server.url("/missing.tgm"));
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stderr).contains("missing.tgm"), "{output:?}");
}
