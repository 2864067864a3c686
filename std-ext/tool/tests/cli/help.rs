//! The help: its examples run, and completions and man pages have what it has.

use std::fs;
use std::process::Command;

use tgm_std::{MessageBuilder, ObjectBuilder};

use crate::corpus::data;
use crate::datasets::steps;
use crate::edits::Folder;
use crate::npy::npy;
use crate::tool::{SPELLINGS, listed, subcommands, tgm};

/// The examples in a command's help.
fn examples(command: &str) -> Vec<String> {
    let run = tgm(command.split(' ').chain(["--help"])).good();
    let lines = run.text().lines().skip_while(|line| *line != "Examples:");
    lines.filter_map(|line| line.strip_prefix("  tgm ")).map(str::to_string).collect()
}

/// The words of a line, as a shell divides them. Only quotes like these count: '
fn words(line: &str) -> Vec<String> {
    let parts = line.split('\'').enumerate();
    let divided = parts.map(|(number, part)| if number % 2 == 1 { part.replace(' ', "\0") } else { part.to_string() });
    divided.collect::<String>().split_whitespace().map(|word| word.replace('\0', " ")).collect()
}

/// A folder with the files that examples name.
fn folder() -> Folder {
    let folder = Folder::new();
    let good = fs::read(data("multi/three.tgm")).unwrap();
    let field = fs::read(data("realistic/surface-181x360.tgm")).unwrap();
    folder.file("field.tgm", &field);
    folder.file("copy.tgm", &field);
    folder.file("steps.tgm", &steps());
    folder.file("three.tgm", &good);
    folder.file("damaged.tgm", &[&good[..568], b"junk", &good[568..]].concat());
    folder.file("old.tgm", &fs::read(data("v2/0.14.0-two-messages.tgm")).unwrap());
    let values = [1.0_f64, 2.0].map(f64::to_le_bytes).concat();
    folder.file("values.npy", &npy(1, "'<f8'", false, "(2,)", &values));
    folder.file("in.grib2", &fs::read(data("../data-grib/simple-12.grib2")).unwrap());
    folder.file("table.csv", b"time,value\n1,0.5\n2,\n");
    #[cfg(feature = "zio")]
    {
        let plain = MessageBuilder::new().object(ObjectBuilder::new(&[2], &[1_u8, 2]).unwrap()).encode().unwrap();
        let plain = folder.file("plain.tgm", &plain);
        assert_eq!(tgm(["zio", "from-tgm", &plain, "-O", &folder.path("field.zio")]).code, Some(0));
    }
    folder
}

#[test]
fn every_example_runs() {
    for command in subcommands() {
        let examples = examples(&command);
        assert!(!examples.is_empty(), "tgm {command}");
        let is_in = |example: &String| {
            let formats = [
                (".grib2", cfg!(feature = "grib")),
                (".npz", cfg!(feature = "npz")),
                (".safetensors", cfg!(feature = "safetensors")),
            ];
            formats.iter().all(|(format, is_in)| *is_in || !example.contains(format))
        };
        // `serve` goes on until it is interrupted.
        for example in examples.into_iter().filter(is_in).filter(|example| !example.starts_with("serve")) {
            let folder = folder();
            let run = Command::new(env!("CARGO_BIN_EXE_tgm"))
                .args(words(&example))
                .current_dir(folder.path("."))
                .output()
                .unwrap();
            // The exit code says damage, and a catalogue that is not there; `browse` has no terminal here.
            let is_excused = ["damaged", "--check", "browse"].iter().any(|word| example.contains(word));
            let codes: &[i32] = if is_excused { &[0, 1] } else { &[0] };
            let code = run.status.code().unwrap();
            assert!(codes.contains(&code), "tgm {example}: {code} {}", String::from_utf8_lossy(&run.stderr));
        }
    }
}

/// A flag of one command that stands for another: the help names it, and each has the same options and does the same.
#[test]
fn names_that_the_help_does_not_list_are_flags_of_other_commands() {
    let (folder, listed) = (folder(), listed());
    for (name, spelling) in SPELLINGS {
        let (of, flag) = spelling.split_once(' ').unwrap();
        assert!(!listed.iter().any(|other| other == name), "{name}");
        let about = tgm([of, "--help"]).good();
        assert!(about.text().lines().any(|line| line.trim().split("  ").next() == Some(flag)), "{spelling}");
        let help = |name: &str| tgm(name.split(' ').chain(["--help"])).good().text().to_string();
        let usage = |name: &str| format!("Usage: tgm {name} ");
        assert_eq!(help(name).replace(&usage(name), ""), help(spelling).replace(&usage(spelling), ""));
        assert!(help(spelling).contains(&usage(spelling)));
        // The flag may stand after other words, and after `--` it is a file.
        let line = |words: &[&str]| {
            Command::new(env!("CARGO_BIN_EXE_tgm")).args(words).current_dir(folder.path(".")).output().unwrap()
        };
        let [direct, spelled] =
            [&[name, "-q", "none.tgm"][..], &["--color", "never", of, "-q", "none.tgm", flag]].map(line);
        assert_eq!((direct.status, direct.stdout), (spelled.status, spelled.stdout), "{spelling}");
        assert!(!line(&[of, "--", flag]).status.success(), "{spelling}");
    }
}

/// The page has the list of the help.
#[test]
fn the_documentation_lists_the_commands() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/doc/TOOL.md");
    let page = fs::read_to_string(path).unwrap();
    let (before, rest) = page.split_once("```text\n").unwrap();
    let (shown, after) = rest.split_once("```").unwrap();
    let help = tgm(["help"]).good();
    let list = help.text().split_once("Usage: ").unwrap().1.split_once("\n\n").unwrap().1;
    let list = list.split_once("\n\n`tgm help").unwrap().0;
    let is_all = cfg!(all(feature = "browse", feature = "plot", feature = "serve", feature = "zio"));
    if std::env::var_os("TGM_RENEW").is_some() && is_all {
        fs::write(path, [before, "```text\n", list, "\n```", after].concat()).unwrap();
    } else {
        assert!(!is_all || shown.trim_end() == list, "TOOL.md: TGM_RENEW=1 writes\n{list}");
    }
}

#[test]
fn a_wrong_flag_shows_the_usage_of_its_command() {
    for command in subcommands() {
        let run = tgm(command.split(' ').chain(["--no-such-flag"]));
        let usage = format!("Usage: tgm {command}");
        assert!(run.code == Some(2) && run.stderr.contains(&usage), "{}", run.stderr);
    }
    let run = tgm(["salvage", "--json", "in.tgm", "-o", "-"]);
    assert!(run.code == Some(2) && run.stderr.contains("Usage: tgm salvage "), "{}", run.stderr);
}

#[test]
fn completions_and_man_pages_have_every_command() {
    let folder = Folder::new();
    for shell in ["bash", "zsh", "fish"] {
        let run = tgm(["completions", shell]).good();
        for command in listed() {
            let name = command.split(' ').next_back().unwrap();
            assert!(run.text().contains(name) && run.text().contains("no-clobber"), "{shell} {command}");
        }
        let script = folder.file(shell, run.text().as_bytes());
        // A shell that is not there checks nothing.
        if let Ok(checked) = Command::new(shell).args(["-n", &script]).output() {
            assert!(checked.status.success(), "{shell}: {}", String::from_utf8_lossy(&checked.stderr));
        }
    }
    assert_eq!(tgm(["completions", "cmd"]).code, Some(2));
    let pages = folder.path("pages");
    tgm(["man", &pages]).good();
    for command in subcommands() {
        let page = fs::read_to_string(format!("{pages}/tgm-{}.1", command.replace(' ', "-"))).unwrap();
        assert!(page.starts_with(".ie") && page.contains("Examples:"), "{command}: {page}");
    }
    let page = tgm(["man"]).good();
    assert!(page.text().contains(".TH tgm 1") && page.text().contains("Look at files"), "{}", page.text());
}
