//! Catalogues beside files and addresses, which commands find by themselves.

use std::fs;

use tgm_dataset::{Catalogs, OpenOptions};
use tgm_std::{DecodeOptions, MessageBuilder, ObjectBuilder};

use crate::edits::Folder;
use crate::loopback::{Blob, Server};
use crate::tool::{Run, tgm};

const COUNT: usize = 40;

/// Messages whose name, step and length differ.
fn archive(first: usize) -> Vec<u8> {
    let message = |number: usize| {
        let values = vec![f32::from(u8::try_from(number).unwrap()); 60_000 + number % 7 * 5000];
        let object = || ObjectBuilder::new(&[values.len() as u64], &values).unwrap();
        let message =
            MessageBuilder::new().object(object().metadata("name", format!("f{number}")).metadata("step", 1_u8));
        message.object(object().metadata("name", "other").metadata("step", 2_u8)).encode().unwrap()
    };
    (first..first + COUNT).flat_map(message).collect()
}

/// A server with an archive and its catalogue beside it.
fn cataloged(folder: &Folder, bytes: &[u8]) -> Server {
    let server = Server::with("/f.tgm", Blob::new(bytes).etag("\"1\""));
    let catalog = folder.path("made.catalog");
    tgm(["catalog", "-k", "name,step", &server.url("/f.tgm"), "-o", &catalog]).good();
    server.put("/f.tgm.catalog", Blob::new(fs::read(&catalog).unwrap()));
    server.take_log();
    server
}

/// Commands that select messages, and how many requests they may make with a catalogue.
const ROWS: &[(&[&str], usize)] = &[
    (&["ls", "-w", "name=f17", "FILE"], 4),
    (&["ls", "--objects", "-w", "name=f17 and step=1", "FILE"], 4),
    (&["get", "-p", "name", "-w", "name=f17", "FILE"], 4),
    (&["extract", "-w", "name=f17", "--format", "raw", "FILE"], 4),
    (&["cat", "-w", "name=f17", "FILE"], 4),
    (&["plot", "-w", "name=f17", "FILE"], 4),
    (&["cube", "--only", "name=f17", "FILE"], 3),
    // Structural keys, which no catalogue has as columns.
    (&["ls", "-w", "message=17", "FILE"], 4),
    (&["get", "-p", "name", "-w", "message=17", "FILE"], 4),
    (&["extract", "-w", "message=17 and object=1", "--format", "raw", "FILE"], 4),
    (&["cat", "-w", "message=17", "FILE"], 4),
    (&["plot", "-w", "message=17", "FILE"], 4),
];

/// Commands that select messages, and have no option for a catalogue.
const BESIDE: &[(&[&str], usize)] = &[
    (&["info", "-w", "name=f17", "FILE"], 4),
    (&["dump", "-w", "name=f17", "FILE"], 4),
    (&["frames", "-w", "name=f17", "FILE"], 4),
    (&["digest", "-w", "name=f17", "FILE"], 4),
    (&["verify", "-w", "name=f17", "FILE"], 4),
    (&["stats", "-w", "name=f17", "FILE"], 4),
    (&["stats", "--objects", "-w", "name=f17 and step=1", "FILE"], 4),
    (&["copy", "-w", "name=f17", "FILE", "-"], 5),
    (&["merge", "-w", "name=f17", "FILE", "-o", "-"], 6),
    (&["compare", "-w", "name=f17", "FILE", "FILE"], 10),
    // The start of the file says which format it has.
    (&["convert", "-w", "name=f17", "--to", "npz", "-o", "-", "FILE"], 6),
    (&["convert", "-w", "message=17", "--to", "npz", "-o", "-", "FILE"], 6),
    (&["zio", "from-tgm", "-w", "name=f17", "FILE", "-o", "-"], 4),
];

/// All commands that select messages.
fn rows() -> impl Iterator<Item = &'static (&'static [&'static str], usize)> {
    ROWS.iter().chain(BESIDE)
}

fn options() -> OpenOptions {
    OpenOptions { only: vec!["name=f17".parse().unwrap()], ..OpenOptions::default() }
}

fn run(command: &[&str], file: &str) -> Run {
    tgm(command.iter().map(|word| if *word == "FILE" { file } else { word }))
}

/// A run that went well. Some formats do not keep all metadata, which is said.
fn good(command: &[&str], file: &str) -> Run {
    let run = run(command, file);
    if !matches!(command[0], "convert" | "zio") {
        return run.good();
    }
    assert_eq!(run.code, Some(0), "{command:?}: {}", run.stderr);
    run
}

/// What a command printed. A message that was made anew has a number of its own: its objects are shown.
fn shown(command: &[&str], run: &Run) -> String {
    if command[0] == "merge" {
        return format!("{:?}", tgm_std::decode(&run.stdout, &DecodeOptions::default()).unwrap().1);
    }
    String::from_utf8_lossy(&run.stdout).into_owned()
}

#[test]
fn every_command_that_selects_finds_the_catalogue_beside_an_address() {
    let (folder, bytes) = (Folder::new(), archive(0));
    let local = folder.file("f.tgm", &bytes);
    let server = cataloged(&folder, &bytes);
    let address = server.url("/f.tgm");
    for (command, most) in rows() {
        let found = good(command, &address);
        let requests = server.take_log().len();
        assert!(requests <= *most, "{requests} requests of at most {most}: {command:?}");
        let expected = good(command, &local);
        // What a format does not keep is said of both.
        assert_eq!(found.stderr.replace(&address, "FILE"), expected.stderr.replace(&local, "FILE"), "{command:?}");
        let text = |run: &Run, file: &str| shown(command, run).replace(file, "FILE");
        assert_eq!(text(&found, &address), text(&expected, &local), "{command:?}");
    }
    tgm_dataset::open(&[&address], &options()).unwrap();
    assert!(server.take_log().len() <= 3, "a dataset");
}

#[test]
fn a_catalogue_that_is_not_there_takes_one_request_and_is_no_error() {
    let server = Server::with("/f.tgm", Blob::new(archive(0)).etag("\"1\""));
    let address = server.url("/f.tgm");
    // Or the server answers with a page.
    for page in [None, Some([&b"<!doctype html>"[..], &vec![b' '; 300_000]].concat())] {
        if let Some(page) = page {
            server.put("/f.tgm.catalog", Blob::new(page));
        }
        for (command, _) in rows() {
            server.take_log();
            let found = good(command, &address);
            let asked = server.take_log().iter().filter(|request| request.path.ends_with(".catalog")).count();
            // `compare` reads it twice.
            let files = command.iter().filter(|word| **word == "FILE").count();
            assert_eq!((asked, found.stderr.contains("catalog")), (files, false), "{command:?}: {}", found.stderr);
        }
    }
}

#[test]
fn a_catalogue_that_does_not_fit_is_not_used_and_that_is_said_once() {
    let (folder, bytes) = (Folder::new(), archive(0));
    let server = cataloged(&folder, &bytes);
    // The messages of the names that are looked for stand elsewhere.
    let edited = archive(3);
    server.put("/f.tgm", Blob::new(&edited[..]).etag("\"2\""));
    let (address, local) = (server.url("/f.tgm?signature=secret"), folder.file("f.tgm", &edited));
    for (command, _) in rows() {
        let found = run(command, &address);
        assert_eq!(found.code, Some(0), "{command:?}: {}", found.stderr);
        let said = found.stderr.lines().filter(|line| line.contains(".catalog")).count();
        let files = command.iter().filter(|word| **word == "FILE").count();
        assert_eq!(said, files, "{command:?}: {}", found.stderr);
        assert!(found.stderr.contains("stale") && !found.stderr.contains("secret"), "{command:?}: {}", found.stderr);
        let text = |run: &Run, file: &str| shown(command, run).replace(file, "FILE");
        let shown = text(&found, &address).replace(&server.url("/f.tgm"), "FILE");
        assert_eq!(shown, text(&good(command, &local), &local), "{command:?}");
    }
}

#[test]
fn a_catalogue_is_named_as_a_file_or_an_address_in_every_command_that_uses_one() {
    let (folder, bytes) = (Folder::new(), archive(0));
    let local = folder.file("f.tgm", &bytes);
    let server = cataloged(&folder, &bytes);
    let (elsewhere, named) = (server.url("/other.tgm"), server.url("/f.tgm.catalog"));
    server.put("/other.tgm", Blob::new(&bytes[..]).etag("\"1\""));
    let made = folder.path("made.catalog");
    for (command, most) in ROWS {
        let expected = run(command, &local).good();
        for catalog in [&named, &made] {
            server.take_log();
            let found = run(&[command, &["--catalog", catalog][..]].concat(), &elsewhere).good();
            let requests = server.take_log().len();
            assert!(requests <= *most, "{requests} requests of at most {most}: {command:?} {catalog}");
            let text = |run: &Run, file: &str| shown(command, run).replace(file, "FILE");
            assert_eq!(text(&found, &elsewhere), text(&expected, &local), "{command:?}");
        }
    }
    let options = OpenOptions { catalogs: Catalogs::Named(vec![named.into()]), ..options() };
    tgm_dataset::open(&[&elsewhere], &options).unwrap();
}

/// The answers are those without a catalogue, of a file and of an address.
#[test]
fn structural_keys_have_the_same_answers_with_a_catalogue_and_without() {
    let (folder, bytes) = (Folder::new(), archive(0));
    let local = folder.file("f.tgm", &bytes);
    let second = tgm_std::scan(&bytes)[1].0.to_string();
    let filters = [
        "message=17".to_string(),
        "message!=17".into(),
        "message in 3..5".into(),
        "message=3/17 and name=f17".into(),
        "message=3 or name=f17".into(),
        "not message>2".into(),
        "message=17.0".into(),
        "message=none".into(),
        "message?".into(),
        "object=1 and message<2".into(),
        "objects=2 and message<2".into(),
        "objects=3".into(),
        "offset=0".into(),
        format!("offset={second}"),
        format!("offset<{second} or message=39"),
        "stored>0 and message=2".into(),
    ];
    let list = |objects: bool, filter: &str, file: &str| {
        let flags = if objects { &["--objects"][..] } else { &[] };
        let run = tgm([&["ls", "--json"][..], flags, &["-w", filter, file]].concat());
        String::from_utf8_lossy(&run.stdout).replace(file, "FILE")
    };
    let mut before = Vec::new();
    for filter in &filters {
        before.extend([false, true].map(|objects| list(objects, filter, &local)));
    }
    tgm(["catalog", "-k", "name", &local]).good();
    let server = cataloged(&folder, &bytes);
    for (number, filter) in filters.iter().enumerate() {
        for objects in [false, true] {
            let expected = &before[2 * number + usize::from(objects)];
            assert_eq!(&list(objects, filter, &local), expected, "{filter} {objects}");
            assert_eq!(&list(objects, filter, &server.url("/f.tgm")), expected, "{filter} {objects}, of an address");
        }
    }
}

/// Long files of other programs, which are not searched to their end, and short ones.
#[test]
fn a_file_of_another_program_is_named_with_what_helps() {
    let folder = Folder::new();
    let commands: &[&[&str]] = &[
        &["ls", "FILE"],
        &["get", "-p", "name", "FILE"],
        &["info", "FILE"],
        &["cube", "FILE"],
        &["dump", "FILE"],
        &["frames", "FILE"],
        &["extract", "FILE"],
        &["cat", "FILE"],
        &["plot", "FILE"],
        &["stats", "FILE"],
        &["verify", "FILE"],
        &["copy", "FILE", "-"],
        &["catalog", "FILE", "-o", "-"],
        &["digest", "FILE"],
    ];
    for (start, kind) in
        [(&b"GRIB\0\0\0\x02"[..], "GRIB"), (b"\x89HDF\r\n\x1a\n", "HDF5 or NetCDF"), (b"CDF\x01", "NetCDF")]
    {
        for len in [500, 3_000_000] {
            let bytes: Vec<u8> = start.iter().copied().chain((0..len).map(|i: u32| i.to_le_bytes()[1])).collect();
            let local = folder.file("x.nc", &bytes);
            let server = Server::with("/x.nc", Blob::new(bytes));
            for file in [local, server.url("/x.nc")] {
                for command in commands {
                    let said = run(command, &file).stderr;
                    let is_said = said.contains(kind) && said.contains("`tgm convert` reads that");
                    assert!(is_said, "{command:?} {file} {len}: {said}");
                }
            }
        }
    }
}
