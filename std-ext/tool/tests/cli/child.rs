//! Files that libraries of C read are read in a child process: what crashes is the child.

use std::os::unix::process::ExitStatusExt as _;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

use crate::corpus::data;
use crate::edits::Folder;
use crate::tool::command;

/// A conversion that waits for a reader of its output, and its child.
fn waiting(folder: &Folder) -> (Child, String) {
    let pipe = folder.path("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let words = ["convert", &data("../data-hdf5/kinds.h5"), "-o", &pipe, "--to", "tgm"].map(str::to_string);
    let parent = command(words).stderr(Stdio::piped()).spawn().unwrap();
    let children = format!("/proc/{0}/task/{0}/children", parent.id());
    let child = (0..1000).find_map(|_| {
        sleep(Duration::from_millis(5));
        let found = std::fs::read_to_string(&children).unwrap_or_default();
        found.split_whitespace().next().map(str::to_string)
    });
    (parent, child.unwrap())
}

fn send(signal: &str, process: &str) {
    assert!(Command::new("kill").args([signal, process]).status().unwrap().success());
}

/// SIGKILL is what the system sends where memory runs out.
#[test]
fn a_child_that_a_signal_ended_is_an_error_that_names_the_signal() {
    let signals = [
        ("-SEGV", "the library that reads it crashed", 11),
        ("-ABRT", "the library that reads it crashed", 6),
        ("-KILL", "memory runs out", 9),
        ("-USR1", "was ended by the system", 10),
    ];
    for (name, why, number) in signals {
        let folder = Folder::in_memory();
        let (parent, child) = waiting(&folder);
        send(name, &child);
        let done = parent.wait_with_output().unwrap();
        let said = String::from_utf8(done.stderr).unwrap();
        assert_eq!(done.status.code(), Some(1), "{name}: {said}");
        assert!(said.starts_with("error: ") && said.contains("kinds.h5: the ") && said.contains(why), "{said}");
        assert!(said.contains(&format!("(signal {number})")) && said.lines().count() == 1, "{said}");
    }
}

#[test]
fn a_signal_for_the_tool_ends_both() {
    let folder = Folder::in_memory();
    let (mut parent, child) = waiting(&folder);
    send("-TERM", &parent.id().to_string());
    assert_eq!(parent.wait().unwrap().signal(), Some(15));
    let state = std::fs::read_to_string(format!("/proc/{child}/stat")).unwrap_or_default();
    assert!(state.is_empty() || state.contains(") Z "), "{state}");
}

#[test]
fn the_variable_keeps_the_work_in_one_process() {
    let folder = Folder::in_memory();
    let out = folder.path("out.tgm");
    let words = ["convert", &data("../data-hdf5/kinds.h5"), "-o", &out].map(str::to_string);
    let [with, without] = [false, true].map(|is_alone| {
        let mut command = command(&words);
        if is_alone {
            command.env("TGM_IN_PROCESS", "1");
        }
        let done = command.output().unwrap();
        (done.status.code(), done.stdout, done.stderr)
    });
    assert_eq!(with, without);
    assert_eq!(with.0, Some(1));
}
