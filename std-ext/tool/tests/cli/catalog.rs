//! `tgm catalog`, and the commands that use a catalogue when they are asked to.

use std::fs;
#[cfg(unix)]
use std::process::{Command, Stdio};

use tgm_catalog::Catalog;

use crate::corpus::data;
use crate::edits::Folder;
#[cfg(unix)]
use crate::tool::command;
use crate::tool::{Run, tgm};

/// A folder with a file of many messages, and their catalogue.
fn cataloged(arguments: &[&str]) -> (Folder, String, String) {
    let folder = Folder::new();
    let path = folder.file("data.tgm", &fs::read(data("multi/many.tgm")).unwrap());
    tgm([&["catalog", &*path], arguments].concat()).good();
    let catalog = folder.path("data.tgm.catalog");
    (folder, path, catalog)
}

/// The same run with and without a catalogue. Returns that with it.
fn same(line: &[&str], path: &str, catalog: &str) -> Run {
    let without = tgm([line, &[path]].concat());
    let with = tgm([line, &["--catalog", catalog, path]].concat());
    assert_eq!((with.code, with.text()), (without.code, without.text()), "{line:?}");
    with
}

#[test]
fn a_catalogue_lies_beside_its_file_and_gives_the_same_listings() {
    let (folder, path, catalog) = cataloged(&["--auto", "-k", "dtype"]);
    assert_eq!(folder.names(), ["data.tgm", "data.tgm.catalog"]);
    let keys: Vec<String> = Catalog::open(&catalog).unwrap().keys().map(str::to_string).collect();
    assert!(keys.contains(&"dtype".to_string()) && keys.len() > 1, "{keys:?}");
    let key = keys.iter().find(|key| *key != "dtype" && !key.contains(' ')).unwrap();
    for line in [
        vec!["ls", "-w", "dtype=float32"],
        vec!["ls", "--objects", "-w", "not dtype=float32"],
        vec!["ls", "--json", "-w", &*format!("{key}? and dtype!=int8"), "-w", "version=3"],
        vec!["get", "-p", "version", "-w", "dtype=float32 or dtype=float64"],
        vec!["ls", "-m", "1", "-w", "dtype=float32"],
    ] {
        assert_eq!(same(&line, &path, &catalog).stderr, "");
    }
    let run = same(&["ls", "-w", "no.such!=1"], &path, &catalog);
    assert!(run.stderr.contains("is not used") && run.stderr.contains("no key no.such"), "{}", run.stderr);
}

#[test]
fn a_catalogue_that_does_not_fit_is_not_used() {
    let (folder, path, catalog) = cataloged(&["-k", "dtype"]);
    let run = tgm(["catalog", "--check", &path]).good();
    assert!(run.text().contains(": fresh; ") && run.text().contains("keys: dtype"), "{}", run.text());

    let other = folder.file("other.tgm", &fs::read(data("multi/three.tgm")).unwrap());
    let run = tgm(["catalog", "--check", &other, "--catalog", &catalog]);
    assert!(run.code == Some(1) && run.text().contains("stale: "), "{}", run.text());
    let run = same(&["ls", "-w", "dtype=float32"], &other, &catalog);
    assert!(run.stderr.starts_with("warning: ") && run.stderr.contains("stale"), "{}", run.stderr);
    let run = same(&["ls", "-w", "dtype=float32"], &path, &folder.path("nothing"));
    assert!(run.stderr.contains("is not used"), "{}", run.stderr);

    // What was appended is found too, before and after the catalogue is brought up to date.
    let grown = [fs::read(&path).unwrap(), fs::read(&other).unwrap()].concat();
    fs::write(&path, &grown).unwrap();
    let run = tgm(["catalog", "--check", &path]);
    assert!(run.code == Some(1) && run.text().contains("grown: "), "{}", run.text());
    assert_eq!(same(&["ls", "-w", "dtype=float32"], &path, &catalog).stderr, "");
    assert!(tgm(["catalog", "--update", &path]).good().text().contains("3 new messages"));
    assert!(tgm(["catalog", "--update", &path]).good().text().contains("0 new messages"));
    tgm(["catalog", "--check", &path]).good();
    assert_eq!(Catalog::open(&catalog).unwrap().leaf_count(), 2);
    tgm(["catalog", "--compact", &path]).good();
    assert_eq!(Catalog::open(&catalog).unwrap().leaf_count(), 1);
    tgm(["catalog", "--check", &path]).good();
    assert_eq!(same(&["ls", "-w", "dtype=float32"], &path, &catalog).stderr, "");

    let run = tgm(["catalog", "--update", &other, "--catalog", &catalog]);
    assert!(run.code == Some(1) && run.stderr.contains("stale"), "{}", run.stderr);
    tgm(["catalog", "--check", &path]).good();
}

#[test]
fn command_lines_that_make_no_sense_are_usage_errors() {
    let (_folder, path, catalog) = cataloged(&[]);
    for arguments in [
        vec!["catalog", "-"],
        vec!["catalog", "--check", "--update", &path],
        vec!["catalog", "--check", "-k", "a", &path],
        vec!["catalog", "--catalog", &catalog, &path],
        vec!["ls", "--catalog", &catalog, &path],
        vec!["ls", "-w", "a=1", "--catalog", &catalog, &path, &path],
    ] {
        assert_eq!(tgm(&arguments).code, Some(2), "{arguments:?}");
    }
}

/// Files with a field of each step, in folders, and what the tool prints of a run.
fn forest(folder: &Folder) -> Vec<String> {
    let field = |param: &str, step: u32| {
        let values = [f64::from(step), 1.0];
        let object = tgm_std::ObjectBuilder::new(&[2], &values).unwrap();
        let object = object.metadata("mars.param", param).metadata("mars.step", step).metadata("mars.date", 20_240_101);
        tgm_std::MessageBuilder::new().object(object).encode().unwrap()
    };
    fs::create_dir(folder.path("run")).unwrap();
    let names = ["a.tgm", "run/b.tgm", "run/c.tgm"];
    let write = |(number, name): (u32, &&str)| {
        let steps = number * 6..number * 6 + 6;
        folder.file(
            name,
            &steps.flat_map(|step| ["t", "q"].map(|param| field(param, step))).flatten().collect::<Vec<_>>(),
        )
    };
    (0..).zip(&names).map(write).collect()
}

#[test]
fn a_tree_leads_to_the_files_that_may_match() {
    let folder = Folder::new();
    let files = forest(&folder);
    let tree = folder.path("all.tree");
    let line = |first: &[&str], last: &[&str]| -> Vec<String> {
        [first, last].concat().iter().map(|it| (*it).into()).collect()
    };
    let all: Vec<&str> = files.iter().map(String::as_str).collect();
    // Without catalogues it must be said which keys they get.
    let run = tgm(line(&["catalog", "-o", &tree], &all));
    assert!(run.code == Some(1) && run.stderr.contains("-k or --auto"), "{}", run.stderr);
    tgm(line(&["catalog", "--auto", "-o", &tree], &all[..2])).good();
    let run = tgm(line(&["catalog", "--update", "--catalog", &tree], &all[1..])).good();
    assert!(run.text().ends_with(": 1 new files, 0 changed, 3 in all\n"), "{}", run.text());
    let run = tgm(["catalog", "--check", &tree]).good();
    assert!(
        run.text().contains("fresh; 3 files, 36 messages; keys: mars.date, mars.param, mars.step"),
        "{}",
        run.text()
    );

    for filter in
        ["mars.step in 4..8 and mars.param=t", "mars.step=17", "not mars.step<16", "mars.step=99", "message=1"]
    {
        for command in [&["ls"][..], &["ls", "--objects"], &["get", "-p", "mars.step"], &["ls", "--json"]] {
            let by_files = tgm(line(&[command, &["-w", filter]].concat(), &all));
            let by_tree = tgm(line(&[command, &["-w", filter]].concat(), &[&*tree]));
            assert_eq!((by_tree.code, by_tree.stderr.as_str()), (by_files.code, by_files.stderr.as_str()), "{filter}");
            if command != ["ls", "--json"] {
                assert_eq!(by_tree.text(), by_files.text(), "{command:?} {filter}");
            }
        }
    }
    let run = tgm(["ls", "-w", "mars.none=1", &tree]);
    assert!(run.code == Some(1) && run.stderr.contains("the tree has no key mars.none"), "{}", run.stderr);
    let cube = |line: &[&str]| {
        let text = tgm([&["cube", "--only", "mars.step in 4..8"], line].concat()).good().text().to_string();
        text.lines().skip(1).map(str::to_string).collect::<Vec<_>>()
    };
    assert_eq!(cube(&[&tree]), cube(&all));
    assert!(cube(&[&tree]).iter().any(|line| line.contains("step = 4")), "{:?}", cube(&[&tree]));

    // A file that does not match is changed, and then found; the check tells it.
    fs::write(&files[2], fs::read(&files[0]).unwrap()).unwrap();
    let run = tgm(["ls", "-w", "mars.step=1", &tree]);
    assert!(
        run.text().contains("c.tgm") && run.stderr.contains("was changed since the tree was written"),
        "{}",
        run.stderr
    );
    let run = tgm(["catalog", "--check", &tree]);
    assert!(run.code == Some(1) && run.text().contains("stale; 3 files"), "{}", run.text());
    let run = tgm(["catalog", "--update", "--catalog", &tree, &files[2]]).good();
    assert!(run.text().ends_with(": 0 new files, 1 changed, 3 in all\n"), "{}", run.text());
    tgm(["catalog", "--check", &tree]).good();
}

/// Whoever opens a pipe waits until another program writes to it. Nobody named this one.
#[cfg(unix)]
#[test]
fn what_lies_in_the_place_of_a_trees_file_is_refused_and_not_waited_for() {
    let folder = Folder::new();
    let files = forest(&folder);
    let (tree, place) = (folder.path("all.tree"), &files[1]);
    let all: Vec<&str> = files.iter().map(String::as_str).collect();
    tgm([&["catalog", "--auto", "-o", &tree][..], &all].concat()).good();
    let catalog = format!("{place}.catalog");
    let make = |what: &str, path: &str| {
        let _ = fs::remove_file(path);
        match what {
            "a pipe" => assert!(Command::new("mkfifo").arg(path).status().unwrap().success()),
            "a socket" => drop(std::os::unix::net::UnixListener::bind(path).unwrap()),
            "a device" => std::os::unix::fs::symlink("/dev/zero", path).unwrap(),
            _ => fs::create_dir(path).unwrap(),
        }
    };
    let out = folder.path("out.npy");
    for what in ["a pipe", "a socket", "a device", "a folder"] {
        make(what, place);
        for line in [
            vec!["ls", &tree],
            vec!["ls", "-w", "mars.step=7", &tree],
            vec!["ls", "-p", "mars.step", &tree],
            vec!["get", "-p", "mars.step", &tree],
            vec!["cube", &tree],
            vec!["stats", "--over", "step", &tree],
            vec!["cat", "--over", "step", "--cube", "t", &tree],
            vec!["extract", "--cube", "t", "-O", &out, &tree],
            vec!["catalog", "--update", "--catalog", &tree, place],
            vec!["catalog", "--auto", "-o", &tree, place],
        ] {
            let run = within_a_minute(&line);
            assert!(
                run.code == Some(1) && run.stderr.contains("run/b.tgm"),
                "{what} {line:?} {:?}: {}",
                run.code,
                run.stderr
            );
            if matches!(line[0], "ls" | "get" | "catalog") {
                assert!(run.stderr.contains(&format!("this is {what}")), "{line:?}: {}", run.stderr);
            }
        }
        if what == "a folder" { fs::remove_dir(place).unwrap() } else { fs::remove_file(place).unwrap() }
    }
    // The same in the place of a catalogue, and of a tree.
    fs::write(place, fs::read(&files[0]).unwrap()).unwrap();
    make("a pipe", &catalog);
    let run = within_a_minute(&["catalog", "--auto", "-o", &folder.path("new.tree"), place]);
    assert!(run.code == Some(1) && run.stderr.contains("b.tgm.catalog: a regular file"), "{}", run.stderr);
    assert_eq!(within_a_minute(&["ls", "-w", "mars.step=1", &tree]).code, Some(0));
    make("a pipe", &folder.path("run/other.tree"));
    for line in [
        ["catalog", "--auto", "-o", &folder.path("new.tree"), &folder.path("run/other.tree")].to_vec(),
        ["ls", &folder.path("run/other.tree")].to_vec(),
    ] {
        let run = within_a_minute(&line);
        assert!(run.code == Some(1) && run.stderr.contains("a pipe has no positions"), "{line:?}: {}", run.stderr);
    }
}

/// A run that is stopped after a minute, which gives it the exit code 124.
#[cfg(unix)]
fn within_a_minute(line: &[&str]) -> Run {
    let tool = command(line);
    let mut timed = Command::new("timeout");
    let output = timed.arg("60").arg(tool.get_program()).args(tool.get_args()).stdin(Stdio::null()).output().unwrap();
    Run { code: output.status.code(), stdout: output.stdout, stderr: String::from_utf8(output.stderr).unwrap() }
}

#[test]
fn trees_lie_below_trees_and_above_their_files() {
    let folder = Folder::new();
    let files = forest(&folder);
    let (below, tree) = (folder.path("run/run.tree"), folder.path("all.tree"));
    tgm(["catalog", "-k", "mars.step", "-o", &below, &files[1], &files[2]]).good();
    tgm(["catalog", "-k", "mars.step", "-o", &tree, &files[0], &below]).good();
    let run = tgm(["get", "-p", "mars.step", "-w", "mars.step=17/3", &tree]).good();
    assert_eq!(run.text(), "3\n3\n17\n17\n");
    let run = tgm(["catalog", "-k", "mars.step", "-o", &folder.path("run/other.tree"), &files[0]]);
    assert!(run.code == Some(1) && run.stderr.contains("does not lie in the folder of the tree"), "{}", run.stderr);
    for arguments in [
        vec!["catalog", &*files[0], &*files[1]],
        vec!["catalog", "--compact", &*tree],
        vec!["catalog", "-k", "a", &*tree],
        vec!["catalog", "-k", "a", "-o", &*tree, "-"],
        vec!["ls", "-w", "a=1", "--catalog", &*tree, &*tree],
    ] {
        assert_eq!(tgm(&arguments).code, Some(2), "{arguments:?}");
    }
    fs::write(&tree, b"nothing").unwrap();
    let run = tgm(["ls", "-w", "mars.step=1", &tree]);
    assert!(run.code == Some(1) && run.stderr.contains("not a tree"), "{}", run.stderr);
}

/// A file in which no key differs has a catalogue and a tree as others have.
#[test]
fn a_tree_of_one_message_needs_no_key_that_differs() {
    let folder = Folder::new();
    let path = folder.file("one.tgm", &fs::read(data("dtypes/float32-little.tgm")).unwrap());
    let tree = folder.path("one.tree");
    tgm(["catalog", "--auto", "-o", &tree, &path]).good();
    let listed = tgm(["ls", "--csv", "-p", "dtype", &path]).good().text().lines().count();
    assert_eq!(tgm(["ls", "--csv", "-p", "dtype", &tree]).good().text().lines().count(), listed);
    tgm(["catalog", "--check", &tree]).good();
}

/// The fields are 2t of edition 1, and t of edition 2.
#[cfg(feature = "grib")]
#[test]
fn a_parameter_is_found_by_name_number_and_table() {
    let folder = Folder::new();
    let grib = folder.file("in.grib", &fs::read(data("../data-grib/edition-1-and-2.grib2")).unwrap());
    let path = folder.path("data.tgm");
    tgm(["convert", &grib, "-o", &path]).good();
    let [auto, names] = ["auto", "names"].map(|name| folder.path(name));
    tgm(["catalog", "--auto", "-o", &auto, &path]).good();
    tgm(["catalog", "-k", "mars.param", "-o", &names, &path]).good();
    for (filter, first, second) in [
        ("mars.param=2t", true, false),
        ("mars.param=167", true, false),
        ("mars.param=167.128", true, false),
        ("mars.param=130", false, true),
        ("mars.param!=167", false, true),
        ("mars.param=167/130.128", true, true),
        ("param=2t", true, false),
        ("param!=167.128", false, true),
        ("shortName=t", false, true),
        ("paramId=167", true, false),
        ("paramId<167", false, true),
    ] {
        let line = ["ls", "-p", "mars.param", "-w", filter];
        let run = same(&line, &path, &auto);
        assert_eq!(run.stderr, "", "{filter}");
        let found = |name| run.text().lines().any(|line| line.split_whitespace().any(|word| word == name));
        assert_eq!((found("2t"), found("t")), (first, second), "{filter}: {}", run.text());
        // It lacks the numbers, and cannot tell.
        same(&line, &path, &names);
    }
    let run = same(&["ls", "-w", "mars.param=167"], &path, &names);
    assert!(run.stderr.contains("is not used") && run.stderr.contains("no key grib.paramId"), "{}", run.stderr);
}

#[test]
fn a_catalogue_of_an_archive_without_numbers_of_parameters_is_used() {
    let folder = Folder::new();
    let path = folder.file("data.tgm", &fs::read(data("realistic/surface-181x360.tgm")).unwrap());
    let catalog = folder.path("catalog");
    tgm(["catalog", "-k", "mars.param", "-o", &catalog, &path]).good();
    for filter in ["mars.param=167", "mars.param!=167.128", "param=2t", "shortName!=2t"] {
        let run = same(&["ls", "--objects", "-w", filter], &path, &catalog);
        assert_eq!(run.stderr, "", "{filter}");
    }
}
