//! `tgm browse` on a terminal, and its errors without one.

use std::process::Command;

use crate::corpus::data;
use crate::terminal::in_terminal;
use crate::tool::tgm;

#[test]
fn without_a_terminal_it_says_so() {
    let run = tgm(["browse", &data("multi/three.tgm")]);
    assert_eq!((run.code, run.text()), (Some(1), ""));
    assert!(run.stderr.contains("tgm browse needs a terminal") && run.stderr.contains("tgm ls"), "{}", run.stderr);
    let run = tgm(["browse", "-"]);
    assert!(run.code == Some(1) && run.stderr.contains("not messages from standard input"), "{}", run.stderr);
}

#[test]
fn on_a_terminal_errors_are_told_before_the_screen_opens() {
    let three = data("multi/three.tgm");
    let shown = |line, variables: &[(&str, &str)]| in_terminal(line, &three, 80, variables);
    let Some(text) = shown("\"$TOOL\" browse \"$IN\"", &[("TERM", "dumb")]) else { return };
    assert!(text.contains("TERM is dumb") && !text.contains('\u{1b}'), "{text:?}");
    for line in ["\"$TOOL\" browse /does/not/exist --color never", "\"$TOOL\" browse /dev/null --color never"] {
        let text = shown(line, &[]).unwrap();
        assert!(text.starts_with("error: cannot read /d") && !text.contains('\u{1b}'), "{text:?}");
    }
}

#[test]
fn keys_and_screens_in_tmux() {
    let (script, corpus) = (concat!(env!("CARGO_MANIFEST_DIR"), "/tests/browse.sh"), data(""));
    let output = Command::new("sh").args([script, env!("CARGO_BIN_EXE_tgm"), &corpus]).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    match output.status.code() {
        Some(77) => eprintln!("{text}"),
        code => assert_eq!(code, Some(0), "{text}{}", String::from_utf8_lossy(&output.stderr)),
    }
}
