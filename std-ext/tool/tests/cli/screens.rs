//! What listings look like on terminals of several widths: recorded, one file a screen, in the folder `screens`.
//!
//! `TGM_RENEW=1 cargo nextest run -p tgm-std --test cli screens` records them again. Look at the difference before it is
//! committed.

use std::fs;
use std::path::PathBuf;

use crate::corpus::data;
use crate::datasets::steps;
use crate::edits::Folder;
use crate::terminal::in_terminal;
use crate::tool::tgm;

/// The listings: the name of the record, and the command.
const LISTINGS: [(&str, &str); 33] = [
    ("info", "info field.tgm three.tgm"),
    ("info-damaged", "info damaged.tgm"),
    ("cube", "cube steps.tgm"),
    ("cube-series", "cat --nearest 51,0 --over step,number steps.tgm"),
    ("cube-stats", "stats --over grid steps.tgm"),
    ("ls", "ls field.tgm"),
    ("ls-files", "ls three.tgm field.tgm"),
    ("ls-keys", "ls -p mars.date,mars.param,shape,codec,ratio field.tgm"),
    ("ls-objects", "ls --objects -p object,mars.param,units,bytes field.tgm"),
    ("ls-csv", "ls --csv three.tgm"),
    ("ls-coloured", "ls --color always three.tgm"),
    ("get", "get -p step,shape three.tgm"),
    ("dump", "dump field.tgm"),
    ("dump-object", "dump -m 1 three.tgm"),
    ("dump-keys", "dump -p mars.date,shape field.tgm"),
    ("frames", "frames three.tgm"),
    ("frames-damaged", "frames damaged.tgm"),
    ("scan", "scan three.tgm"),
    ("scan-damaged", "scan damaged.tgm"),
    ("cat", "cat --slice 0,:3 field.tgm"),
    ("stats", "stats field.tgm"),
    ("stats-quantiles", "stats --quantiles 0.05,0.5,0.95 field.tgm"),
    ("stats-histogram", "stats --object 0 --histogram 5 field.tgm"),
    ("digest", "digest field.tgm"),
    ("verify", "verify field.tgm"),
    ("verify-wrong", "verify wrong.tgm"),
    ("validate", "validate --full field.tgm"),
    ("validate-damaged", "validate damaged.tgm wrong.tgm"),
    ("compare", "compare three.tgm field.tgm"),
    ("catalog-check", "catalog --check three.tgm"),
    ("salvage", "salvage damaged.tgm -o saved.tgm"),
    ("plot", "plot field.tgm"),
    ("plot-line", "plot --slice 90,: field.tgm"),
];

/// Listings of ZIO files.
const ZIO: [(&str, &str); 2] = [("zio-ls", "zio ls field.zio"), ("zio-dump", "zio dump field.zio")];

/// Commands whose lines are values, for the clipboard: they are never broken.
const VALUES: [&str; 4] = ["get", "cat", "cube-series", "ls-csv"];

/// The folder of the files that the listings are of.
fn folder() -> Folder {
    let folder = Folder::new();
    let three = fs::read(data("multi/three.tgm")).unwrap();
    let field = fs::read(data("realistic/surface-181x360.tgm")).unwrap();
    folder.file("three.tgm", &three);
    folder.file("field.tgm", &field);
    folder.file("steps.tgm", &steps());
    folder.file("damaged.tgm", &[&three[..568], b"junk", &three[568..], &three[..300]].concat());
    let mut wrong = field;
    let middle = wrong.len() / 2;
    wrong[middle] ^= 0xff;
    folder.file("wrong.tgm", &wrong);
    tgm(["catalog", "--auto", &folder.path("three.tgm")]).good();
    #[cfg(feature = "zio")]
    fs::copy(data("../data-zio/encoded/py-coords-max.zio"), folder.path("field.zio")).unwrap();
    folder
}

/// What a listing shows on a terminal.
fn shown(folder: &Folder, line: &str, columns: usize) -> Option<String> {
    let colour = if line.contains("--color") { "" } else { "--color never" };
    // The order of the two streams is that of a user's screen.
    let line = format!("cd '{}'; rm -f saved.tgm; \"$TOOL\" {colour} {line}", folder.path("."));
    in_terminal(&line, "", columns, &[])
}

/// Characters of a line on the screen, without escape sequences.
fn width(line: &str) -> usize {
    let mut count = 0;
    let mut in_escape = false;
    for c in line.chars() {
        match (in_escape, c) {
            (_, '\u{1b}') => in_escape = true,
            (true, c) => in_escape = !c.is_ascii_alphabetic(),
            (false, _) => count += 1,
        }
    }
    count
}

fn listings() -> impl Iterator<Item = (&'static str, &'static str)> {
    let zio: &[_] = if cfg!(feature = "zio") { &ZIO } else { &[] };
    LISTINGS.into_iter().chain(zio.iter().copied())
}

#[test]
fn listings_look_as_recorded() {
    let folder = folder();
    let records = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/cli/screens"));
    let is_renewed = std::env::var_os("TGM_RENEW").is_some();
    let mut different = Vec::new();
    for (name, line) in listings() {
        for columns in [80, 120] {
            let Some(text) = shown(&folder, line, columns) else { return };
            let record = records.join(format!("{name}-{columns}.txt"));
            if is_renewed {
                fs::write(&record, &text).unwrap();
            } else if fs::read_to_string(&record).unwrap_or_default() != text {
                different.push(format!("{}:\n{text}", record.display()));
            }
        }
    }
    assert!(different.is_empty(), "TGM_RENEW=1 records these screens:\n{}", different.join("\n"));
}

#[test]
fn no_line_is_longer_than_the_terminal() {
    let folder = folder();
    for (name, line) in listings().filter(|(name, _)| !VALUES.contains(name)) {
        for columns in [40, 80, 120] {
            // Errors are for logs too, and stay on one line.
            let Some(text) = shown(&folder, &format!("{line} 2>/dev/null"), columns) else { return };
            let long: Vec<_> = text.lines().filter(|line| width(line) > columns).collect();
            assert!(long.is_empty(), "{name} at {columns}: {long:#?}");
        }
    }
}

#[test]
fn a_pipe_gets_all_whole() {
    let folder = folder();
    for (_, line) in listings().filter(|(name, _)| !name.contains("plot")) {
        let whole = std::process::Command::new(env!("CARGO_BIN_EXE_tgm"))
            .args(line.split(' '))
            .current_dir(folder.path("."))
            .output()
            .unwrap();
        let Some(piped) = shown(&folder, &format!("{line} 2>/dev/null | cat"), 40) else { return };
        if !line.contains("--color") && !line.contains("salvage") {
            assert_eq!(piped, String::from_utf8_lossy(&whole.stdout), "{line}");
        }
    }
    // A file does too, whatever the terminal is.
    for line in ["ls field.tgm", "frames three.tgm", "dump field.tgm"] {
        shown(&folder, &format!("{line} -O out.txt"), 40).unwrap();
        let listed = fs::read_to_string(folder.path("out.txt")).unwrap();
        let longest = listed.lines().map(width).max();
        assert!(longest > Some(60), "{line}: {listed}");
    }
}
