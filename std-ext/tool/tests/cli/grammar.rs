//! Options that commands share: each command understands them, or there is a reason why not.

use std::fs;

use serde_json::{Value as Json, json};

use crate::corpus::data;
use crate::edits::Folder;
use crate::tool::{subcommands, tgm};

const SURFACE: &str = "realistic/surface-181x360.tgm";

/// The shared options.
const OPTIONS: [&str; 19] = [
    "output",
    "object",
    "objects",
    "where",
    "message",
    "at",
    "keys",
    "sort",
    "limit",
    "csv",
    "json",
    "jsonl",
    "quiet",
    "verbose",
    "color",
    "no-clobber",
    "progress",
    "threads",
    "help",
];

/// Why an option does not make sense in a command. `None` if the command understands it.
#[allow(clippy::match_same_arms, reason = "the first row that fits decides")]
fn why_not(command: &str, option: &str) -> Option<&'static str> {
    let is_listing = matches!(option, "sort" | "limit" | "csv");
    let is_choice = matches!(option, "where" | "message" | "at" | "object" | "objects");
    let is_json = matches!(option, "json" | "jsonl");
    match (command, option) {
        (_, "quiet" | "verbose" | "color" | "no-clobber" | "progress" | "help")
        | ("doctor", "output" | "json" | "jsonl") => None,
        ("browse", "threads") => None,
        ("browse", _) => Some("it shows everything, and keys choose"),
        ("serve", "threads") => None,
        ("serve", _) => Some("it serves whole files, and addresses choose"),
        ("doctor" | "completions" | "man", _) => Some("it reads no messages"),
        ("salvage" | "ls" | "get" | "stats" | "set", "objects") => None,
        ("convert", "where") => None,
        ("create" | "zio ls" | "zio dump" | "zio to-tgm", _) if is_choice => {
            Some("its input has no messages of this format")
        }
        ("cube", _) if is_choice => Some("its variables are chosen by their names and labels"),
        ("cube", "keys") => Some("its columns are its own"),
        ("cube", "threads") => Some("all processors read metadata"),
        ("cube", "output") => None,
        ("cube", "sort" | "limit" | "csv") => Some("it lists no rows"),
        ("cube", _) if is_json => None,
        ("scan", _) if is_choice => Some("it says where all of a file is, and reads no metadata"),
        ("catalog", _) if is_choice => Some("a catalogue is of a whole file"),
        ("convert", _) if is_choice => Some("a file of another format is converted whole"),
        ("upgrade", _) if is_choice => Some("messages of version 2 have other metadata, and all are written"),
        ("validate", _) if is_choice => Some("it judges a whole file, where metadata may be damaged"),
        ("salvage", "where" | "message" | "at" | "object") => {
            Some("metadata and numbers of a damaged file mean little")
        }
        ("tail", "message" | "at" | "object" | "objects" | "output") => Some("it goes on, message by message"),
        ("tail", "json" | "jsonl" | "sort" | "csv") => Some("it prints lines of JSON"),
        ("tail", "keys" | "limit") => None,
        ("bench", "object" | "objects") => Some("it measures whole messages"),
        ("info", "message" | "at" | "object") => Some("it sums up whole files"),
        ("copy", "object") => Some("messages are copied as they are: split and merge take objects"),
        ("frames" | "verify" | "reshuffle" | "zio from-tgm", "object") => Some("it is about whole messages"),
        ("repack" | "compare", "objects") => Some("-w is about objects, where it is about any"),
        (_, "objects") => Some("no rows of objects, or one for each already"),
        ("ls" | "get" | "dump" | "stats" | "catalog" | "digest" | "verify", "keys") => None,
        (_, "keys") => Some("its columns are its own"),
        ("info" | "ls" | "get" | "stats" | "digest" | "scan" | "verify" | "bench" | "zio ls", _)
            if is_listing || is_json =>
        {
            None
        }
        ("dump" | "frames" | "compare" | "validate" | "salvage" | "upgrade" | "zio dump", _) if is_json => None,
        ("cat", "csv") => None,
        (_, _) if is_listing || is_json => Some("it lists no rows"),
        (
            "cat" | "plot" | "stats" | "compare" | "digest" | "extract" | "create" | "repack" | "reshuffle" | "catalog"
            | "bench" | "convert" | "validate" | "verify",
            "threads",
        ) => None,
        (_, "threads") => Some("it decodes no values"),
        _ => None,
    }
}

/// The long options in a command's help.
fn options_of(command: &str) -> Vec<String> {
    let run = tgm(command.split(' ').chain(["--help"])).good();
    let lines = run.text().lines().filter(|line| line.trim_start().starts_with('-'));
    let longs = lines.filter_map(|line| line.split([' ', ',', '=', '[']).find_map(|word| word.strip_prefix("--")));
    longs.map(str::to_string).collect()
}

#[test]
fn every_command_understands_the_shared_options_or_there_is_a_reason() {
    for command in subcommands() {
        let understood = options_of(&command);
        for option in OPTIONS {
            let is_there = understood.iter().any(|name| name == option);
            match why_not(&command, option) {
                Some(reason) => assert!(!is_there, "tgm {command} --{option} is understood, and here stands: {reason}"),
                None => assert!(is_there, "tgm {command} --{option} is not understood"),
            }
        }
    }
}

/// Listings of a file, with `IN` where it stands.
const LISTINGS: [&str; 12] = [
    "info IN",
    "ls IN",
    "dump IN",
    "frames IN",
    "get -p version IN",
    "cat IN",
    "stats IN",
    "digest IN",
    "scan IN",
    "verify IN",
    "compare IN IN",
    "validate IN",
];

fn call(line: &str, input: &str, more: &[&str]) -> crate::tool::Run {
    let words = line.split(' ').map(|word| if word == "IN" { input } else { word });
    tgm(words.chain(more.iter().copied()))
}

#[test]
fn a_listing_goes_to_a_file_which_appears_whole() {
    let folder = Folder::new();
    let input = data("multi/three.tgm");
    for line in LISTINGS {
        let printed = call(line, &input, &[]).good().stdout;
        for flag in ["-O", "-o", "--output"] {
            let out = folder.path("out");
            let run = call(line, &input, &[flag, &out]).good();
            assert_eq!((run.text(), fs::read(&out).unwrap() == printed), ("", true), "{line} {flag}");
            call(line, &input, &["--no-clobber", flag, &out]).failed_with("exists: --no-clobber");
            fs::remove_file(&out).unwrap();
        }
        let copy = folder.file("copy", &fs::read(&input).unwrap());
        call(line, &copy, &["-O", &copy]).failed_with("is a file that is read");
        assert!(fs::read(&copy).unwrap() == fs::read(&input).unwrap(), "{line}");
    }
}

impl crate::tool::Run {
    fn failed_with(&self, text: &str) {
        assert!(matches!(self.code, Some(1 | 2)) && self.stderr.contains(text), "{:?} {}", self.code, self.stderr);
    }
}

#[test]
fn outputs_have_the_same_flags_everywhere() {
    let folder = Folder::new();
    let input = data("multi/three.tgm");
    for line in ["copy IN", "set -s a=1 IN", "merge IN", "repack --compression none IN", "reshuffle IN", "salvage IN"] {
        for flag in ["-O", "-o", "--output"] {
            let out = folder.path("out.tgm");
            let run = call(line, &input, &[flag, &out]);
            assert_eq!((run.code, &*run.stderr), (Some(0), ""), "{line} {flag}");
            call(line, &input, &["--no-clobber", flag, &out]).failed_with("exists: --no-clobber");
            fs::remove_file(&out).unwrap();
        }
    }
    let out = folder.path("out.tgm");
    let copy = folder.file("copy.tgm", &fs::read(&input).unwrap());
    tgm(["catalog", "--auto", &copy]).good();
    for flag in ["--update", "--compact"] {
        tgm(["catalog", flag, "--no-clobber", &copy]).failed_with("exists: --no-clobber");
        tgm(["catalog", flag, &copy]).good();
    }
    assert_eq!(tgm(["copy", &input, &out, "-O", &out]).code, Some(2));
    assert_eq!(tgm(["copy", &input]).code, Some(2));
}

#[test]
fn rows_are_sorted_cut_and_printed_as_csv_or_lines_of_json() {
    let three = data("multi/three.tgm");
    let csv = |more: &[&str]| {
        let run = tgm(["ls", "--csv", &three, &three, "-p", "step,dtype"].iter().chain(more)).good();
        run.text().lines().skip(1).map(str::to_string).collect::<Vec<_>>()
    };
    let step = |row: &String| row.split(',').nth(2).unwrap().parse::<i64>().unwrap();
    let steps = |more: &[&str]| csv(more).iter().map(step).collect::<Vec<_>>();
    assert_eq!(steps(&[]), [0, 1, 2, 0, 1, 2]);
    assert_eq!(steps(&["-n", "2"]), [0, 1]);
    assert_eq!(steps(&["-B", "step"]), [0, 0, 1, 1, 2, 2]);
    assert_eq!(steps(&["--sort", "step:desc", "-n", "3"]), [2, 2, 1]);
    // A key that is not a column sorts too.
    assert_eq!(steps(&["-B", "offset:desc,file"]), [2, 2, 1, 1, 0, 0]);
    for line in ["ls", "get -p version", "stats", "digest", "scan", "verify", "info", "dump", "frames", "validate"] {
        let whole = tgm(line.split(' ').chain(["--json", &three])).good().json();
        let items = whole.as_array().or_else(|| whole.as_object().unwrap().values().find_map(Json::as_array)).unwrap();
        let lines = tgm(line.split(' ').chain(["--jsonl", &three])).good();
        let lines: Vec<Json> = lines.text().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_eq!(lines[..items.len()], items[..], "{line}");
    }
    for line in ["ls", "get -p version", "stats", "digest", "scan", "verify"] {
        let run = tgm(line.split(' ').chain(["--csv", "-n", "2", &three])).good();
        assert_eq!(run.text().lines().count(), 3, "{line}: {}", run.text());
        let columns: Vec<_> = run.text().lines().map(|line| line.split(',').count()).collect();
        assert!(columns.iter().all(|count| *count == columns[0]), "{line}: {}", run.text());
        let run = tgm(line.split(' ').chain(["--json", "-n", "2", &three])).good().json();
        assert_eq!(run.as_object().unwrap().values().find_map(Json::as_array).unwrap().len(), 2, "{line}");
    }
    tgm(["verify", "--json", "-B", "none", &three]).failed_with("cannot sort by none: 0 of 3 have it");
    tgm(["scan", "-B", "none", &three]).failed_with("cannot sort by none: the columns are ");
    assert_eq!(
        tgm(["get", "-p", "step", "-B", "step:desc", &three]).good().text().split_whitespace().last(),
        Some("0")
    );
    assert_eq!(tgm(["ls", "--csv", "--json", &three]).code, Some(2));
}

#[test]
fn values_in_csv_are_whole_and_quoted() {
    let folder = Folder::new();
    let out = folder.path("out.tgm");
    let long = "x".repeat(100);
    let set = format!("note=\"a, \\\"b\\\"\",long={long}");
    tgm(["set", "-s", &set, &data("dtypes/float32-little.tgm"), &out]).good();
    let run = tgm(["ls", "--csv", "-p", "note,long,none", &out]).good();
    assert_eq!(run.text(), format!("message,note,long,none\n0,\"a, \"\"b\"\"\",{long},\n"));
}

#[test]
fn structural_keys_are_keys_like_any_other() {
    let path = data(SURFACE);
    let keys = "message,shape,dtype,codec,bytes,count,objects,offset";
    let run = tgm(["get", "-p", keys, &path]).good();
    assert_eq!(run.text(), "0 [181,360] float64 simple_packing+szip 521280 65160 3 0\n");
    let objects = tgm(["ls", "--json", &path]).good().json()["messages"][0]["objects"].clone();
    let run = tgm(["get", "--objects", "--json", "-p", "object,stored,ratio,offset", &path]).good().json();
    for (number, values) in run["messages"][0]["objects"].as_array().unwrap().iter().enumerate() {
        assert_eq!((&values["object"], &values["stored"]), (&json!(number), &objects[number]["stored"]));
        assert!(values["ratio"].is_f64() && values["offset"].as_u64().unwrap() > 0, "{values}");
    }
    let one = tgm(["get", "--object", "1", "-p", "object,mars.param", &path]).good();
    assert_eq!(one.text(), "1 tp\n");
    tgm(["get", "--object", "9", "-p", "object", &path]).failed_with("no such object (3 objects)");
    let selected = |filter: &str| tgm(["get", "-p", "count", "-w", filter, &path]).good().text().lines().count();
    assert_eq!([selected("bytes>=521280 and count=65160"), selected("codec=*szip"), selected("codec=none")], [1, 1, 0]);
    // Metadata under such a key comes first.
    let folder = Folder::new();
    let out = folder.path("out.tgm");
    tgm(["set", "-s", "extra.count=7", &path, &out]).good();
    assert_eq!(tgm(["get", "-p", "count", &out]).good().text(), "7\n");
}

/// Filters that hold for message 1 of three only, with keys that are computed. `OFFSET` is where it begins.
const COMPUTED: [&str; 5] = [
    "message=1",
    "offset=OFFSET",
    "message>0 and offset<=OFFSET",
    "not message in 0..1 and message!=2",
    "message=1 and object=0",
];

#[test]
fn computed_keys_are_keys_like_any_other_in_filters() {
    let folder = Folder::new();
    let three = data("multi/three.tgm");
    let out = folder.path("out");
    let offset = tgm(["get", "-m", "1", "-p", "offset", &three]).good().text().trim().to_string();
    for filter in COMPUTED.map(|filter| filter.replace("OFFSET", &offset)) {
        // The offset of an object is not that of its message.
        let by_object = (!filter.contains("offset")).then_some("ls --objects");
        for line in
            ["info", "frames", "digest", "verify", "stats", "dump", "get -p step", "ls"].into_iter().chain(by_object)
        {
            let run = tgm(line.split(' ').chain(["--json", "-w", &filter, &three])).good().json();
            let list = run.as_object().unwrap().values().find_map(Json::as_array).unwrap();
            assert_eq!(list.len(), 1, "{line} {filter}");
            assert!(list[0]["messages"] == 1 || list[0]["message"] == 1, "{line} {filter}: {}", list[0]);
        }
        let second = tgm(["copy", "-m", "1", &three, "-O", "-"]).good().stdout;
        for line in ["copy -O -", "merge -O -", "cat", "extract", "plot --format svg"] {
            let by_filter = tgm(line.split(' ').chain(["-w", &filter, &three])).good().stdout;
            let by_number = tgm(line.split(' ').chain(["-m", "1", &three])).good().stdout;
            assert!(line.starts_with("merge") || by_filter == by_number, "{line} {filter}");
        }
        assert!(tgm(["copy", "-w", &filter, &three, "-O", "-"]).good().stdout == second);
        tgm(["set", "-s", "step=7", "-w", &filter, &three, &out]).good();
        assert_eq!(tgm(["get", "-p", "step", &out]).good().text(), "0\n7\n2\n", "{filter}");
    }
    // Objects, with the values that are printed.
    let surface = data(SURFACE);
    let printed = tgm(["get", "--objects", "--json", "-p", "object,stored,ratio,offset", &surface]).good().json();
    let objects = printed["messages"][0]["objects"].as_array().unwrap().clone();
    for values in &objects {
        for key in ["object", "stored", "ratio", "offset"] {
            for filter in [format!("{key}={}", values[key]), format!("{key} in {0}..={0}", values[key])] {
                let run = tgm(["get", "--objects", "-p", "object", "-w", &filter, &surface]).good();
                assert_eq!(run.text(), format!("{}\n", values["object"]), "{filter}");
            }
        }
    }
    let filter = format!("stored={}", objects[1]["stored"]);
    let values = |command: &str| tgm([command, "--objects", "--json", "-w", &filter, &surface]).good().json();
    for command in ["ls", "stats"] {
        let found = values(command)["messages"][0]["objects"].as_array().unwrap().clone();
        assert!(found.len() == 1 && found[0]["object"] == 1, "{command}");
    }
    // repack encodes the objects for which a filter holds.
    tgm(["repack", "--encoding", "none", "--compression", "none", "-w", &filter, &surface, "-O", &out]).good();
    let codecs = tgm(["get", "--objects", "-p", "codec", &out]).good();
    assert_eq!(codecs.text().lines().map(|codec| codec == "none").collect::<Vec<_>>(), [false, true, false]);
    // A catalogue does not hold such keys, and hides nothing.
    let catalog = folder.path("catalog");
    tgm(["catalog", "--keys", "step", &three, "-O", &catalog]).good();
    let run = tgm(["ls", "-p", "step", "--catalog", &catalog, "-w", "message>=1", "-w", "step<2", &three]).good();
    assert_eq!(run.text().lines().count(), 2, "{}", run.text());
    // Metadata under such a key comes first.
    tgm(["set", "-s", "message=9", &three, &out]).good();
    assert_eq!(tgm(["get", "-p", "step", "-w", "message=9", &out]).good().text(), "0\n1\n2\n");
}

#[test]
fn listings_print_keys_and_sort_by_them() {
    let three = data("multi/three.tgm");
    for line in ["ls", "stats", "digest", "verify"] {
        let run = tgm([line, "--csv", "-p", "step,none,codec", "-B", "step:desc", &three]).good();
        let titles: Vec<_> = run.text().lines().next().unwrap().split(',').collect();
        let step = titles.iter().position(|title| *title == "step").unwrap_or_else(|| panic!("{line}: {titles:?}"));
        assert_eq!(titles[step..step + 3], ["step", "none", "codec"], "{line}");
        let steps: Vec<_> = run.text().lines().skip(1).map(|row| row.split(',').nth(step).unwrap()).collect();
        assert_eq!(steps, ["2", "1", "0"], "{line}");
        // A key that only sorts is not a column.
        let sorted = tgm([line, "--csv", "-B", "offset:desc", &three]).good();
        let messages: Vec<_> = sorted.text().lines().skip(1).map(|row| row.split(',').next().unwrap()).collect();
        assert_eq!(messages, ["2", "1", "0"], "{line}: {}", sorted.text());
        assert!(!sorted.text().contains("offset"), "{line}: {}", sorted.text());
        let json = tgm([line, "--json", "-p", "step,none", &three]).good().json();
        let second = &json["messages"][1];
        let values = if second["values"].is_null() { &second["objects"][0]["values"] } else { &second["values"] };
        assert_eq!(values, &json!({"step": 1}), "{line}");
    }
    // What is wrong is reported, and keys that cannot be read are blank.
    let damaged = data("malformed/hash-mismatch.tgm");
    if std::path::Path::new(&damaged).exists() {
        let run = tgm(["verify", "--csv", "-p", "version", &damaged]);
        assert_eq!(run.code, Some(1), "{}", run.text());
    }
}

#[test]
fn filters_numbers_and_objects_choose_everywhere() {
    let folder = Folder::new();
    let three = data("multi/three.tgm");
    for line in ["info", "frames", "digest", "verify", "stats", "dump", "get -p step", "ls"] {
        let run = tgm(line.split(' ').chain(["--json", "-w", "step=1", &three])).good().json();
        let list = run.as_object().unwrap().values().find_map(Json::as_array).unwrap();
        assert_eq!(list.len(), 1, "{line}");
        assert!(list[0]["messages"] == 1 || list[0]["message"] == 1, "{line}: {}", list[0]);
    }
    let extracted = tgm(["extract", "-m", "1", &three]).good().stdout;
    assert_eq!(tgm(["extract", "-w", "step=1", &three]).good().stdout, extracted);
    assert_eq!(tgm(["cat", "-w", "step=1", &three]).good().stdout, tgm(["cat", "-m", "1", &three]).good().stdout);
    tgm(["extract", "-w", "step=9", &three]).failed_with("no message matches");
    let second = &fs::read(&three).unwrap()[568..1136];
    let out = folder.path("out");
    tgm(["split", "-w", "step=1", &three, "-O", &out]).good();
    assert_eq!(folder.names(), ["out_0000"]);
    assert!(fs::read(folder.path("out_0000")).unwrap() == second);
    let objects = |path: &str| tgm(["get", "-p", "objects", path]).good().text().to_string();
    for (flags, expected) in [(&["-m", "1"][..], "1\n"), (&["-w", "step>=1"], "2\n"), (&[], "3\n")] {
        tgm(["merge", &three, "-O", &out].iter().chain(flags)).good();
        assert_eq!(objects(&out), expected);
    }
    let surface = data(SURFACE);
    tgm(["merge", "--object", "0", "--object", "2", &surface, "-O", &out]).good();
    assert_eq!(objects(&out), "2\n");
    for line in ["merge -O OUT", "repack --filter shuffle -O OUT", "split -O OUT", "digest", "ls", "stats", "dump"] {
        let words = line.split(' ').map(|word| if word == "OUT" { folder.path("none") } else { word.to_string() });
        let run = tgm(words.chain(["--object".into(), "9".into(), surface.clone()]));
        run.failed_with("no such object (3 objects)");
    }
    assert!(!folder.names().contains(&"none".to_string()));
    let run = tgm(["compare", "-w", "step=1", &three, &out]);
    assert!(run.text().contains("only in the first file"), "{}", run.text());
    assert_eq!(tgm(["compare", "-m", "1", &three, &three]).good().text(), "");
}

#[test]
fn what_is_told_can_be_less_or_more_and_has_colours_on_demand() {
    let path = data("multi/three.tgm");
    for line in LISTINGS {
        assert_eq!(call(line, &path, &["-q"]).good().text(), "", "{line}");
    }
    let folder = Folder::new();
    let run = tgm(["repack", "-q", "--compression", "none", &path, "-O", &folder.path("out")]).good();
    assert_eq!(run.text(), "");
    assert_eq!(tgm(["ls", "-q", "/does/not/exist"]).code, Some(1));
    let run = tgm(["ls", "-v", &path]);
    assert_eq!((run.code, run.stderr.contains("three.tgm: 3 messages, 1712 bytes")), (Some(0), true), "{}", run.stderr);
    assert!(tgm(["ls", "--color", "always", &path]).good().text().contains("\u{1b}[1m"));
    assert!(!tgm(["ls", "--color", "never", &path]).good().text().contains('\u{1b}'));
    assert_eq!(tgm(["ls", "--color", "sometimes", &path]).code, Some(2));
}

#[test]
fn threads_do_not_change_what_is_printed() {
    for path in [data(SURFACE), data("multi/three.tgm")] {
        for line in
            ["digest IN", "stats IN", "cat IN", "extract IN", "verify IN", "validate --full IN", "compare IN IN"]
        {
            let one = call(line, &path, &["--threads", "1"]).good().stdout;
            assert!(call(line, &path, &["--threads", "3"]).good().stdout == one, "{line}");
        }
    }
}
