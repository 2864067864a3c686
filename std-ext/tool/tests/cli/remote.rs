//! The tool reads addresses as it reads files.

use std::process::{Command, Output};

use tgm_dataset::OpenOptions;
use tgm_std::{Archive, DecodeOptions, MessageBuilder, ObjectBuilder, TensogramFile};

use crate::loopback::{Blob, Server};

fn tgm(arguments: &[&str], file: &str) -> Output {
    let arguments = arguments.iter().map(|argument| argument.replace("FILE", file));
    Command::new(env!("CARGO_BIN_EXE_tgm")).args(arguments).output().unwrap()
}

/// What a run said, with the file's name taken out. Lost bytes of a source at an address are reported at the end, those in a file first.
fn said(output: &Output, file: &str) -> (Option<i32>, String, Vec<String>) {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).replace(file, "FILE");
    let mut errors: Vec<_> = text(&output.stderr).lines().map(str::to_string).collect();
    errors.sort();
    (output.status.code(), text(&output.stdout), errors)
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
            if command.contains(&"-m") {
                // What lies after the message is not looked at.
                let code = Some(i32::from(local.stdout.is_empty()));
                assert_eq!((remote.status.code(), &remote.stdout), (code, &local.stdout), "{command:?} {name}");
            } else {
                assert_eq!(said(&remote, &address), said(&local, &path), "{command:?} {name}");
            }
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

/// Messages of so many objects of about `len` bytes each, which are named `f0`, `f1` … as their message, each message of another
/// length, and where they begin.
fn fields(count: usize, objects: usize, len: usize) -> (Vec<u8>, Vec<usize>) {
    let (mut bytes, mut offsets) = (Vec::new(), Vec::new());
    for number in 0..count {
        let values: Vec<u8> = (0..len + number * 53 % 401).map(|i| (i * 7 % 251).to_le_bytes()[0]).collect();
        let object = || ObjectBuilder::new(&[values.len() as u64], &values).unwrap();
        let message = (0..objects)
            .fold(MessageBuilder::new(), |message, _| message.object(object().metadata("name", format!("f{number}"))));
        offsets.push(bytes.len());
        bytes.extend(message.encode().unwrap());
    }
    (bytes, offsets)
}

/// Each row: a command, and how many requests it may make.
#[test]
fn a_command_makes_few_requests() {
    let folder = tempfile::tempdir().unwrap();
    for (count, objects, len) in
        [(40, 1, 17_000), (15, 1, 190_000), (6, 1, 1_200_000), (4, 20, 100_000), (2, 3, 900_000)]
    {
        let (bytes, offsets) = fields(count, objects, len);
        let path = folder.path().join("fields.tgm");
        std::fs::write(&path, &bytes).unwrap();
        let catalog = folder.path().join(format!("{len}.tgmc"));
        let catalog = catalog.to_str().unwrap();
        assert!(tgm(&["catalog", "-k", "name", "FILE", "-o", catalog], path.to_str().unwrap()).status.success());
        let server = Server::with("/fields.tgm", Blob::new(bytes.clone()));
        server.put("/fields.tgmc", Blob::new(std::fs::read(catalog).unwrap()));
        let (address, index) = (server.url("/fields.tgm"), count * 3 / 4);
        let (number, at, name) = (index.to_string(), offsets[index].to_string(), format!("name=f{index}"));
        let distant_catalog = server.url("/fields.tgmc");
        // A whole file that is read from start to end comes in requests of up to 8 MiB; long messages are hopped over.
        // The first part of a long message says where the objects lie, of which another request reads the descriptors.
        let all = match bytes.len() / count {
            ..64_000 => 5 + bytes.len().div_ceil(8 << 20),
            _ => count * objects.min(2) + 2,
        };
        // What is read to its end by all means takes as many requests as its bytes take.
        let whole = 1 + bytes.len().div_ceil(8 << 20);
        let rows: &[(&[&str], usize)] = &[
            (&["get", "-p", "name", "--at", &at, "FILE"], 2),
            (&["cat", "--at", &at, "FILE"], 3),
            (&["get", "-p", "name", "-w", &name, "--catalog", catalog, "FILE"], 2),
            (&["ls", "-w", &name, "--catalog", &distant_catalog, "FILE"], 3),
            // Metadata of many objects do not come with the hop to their message.
            (&["get", "-p", "name", "-m", &number, "FILE"], index + if objects > 1 { 3 } else { 2 }),
            (&["cat", "-m", &number, "FILE"], index + 3),
            (&["ls", "FILE"], all),
            (&["extract", "--at", &at, "FILE"], 3),
            (&["extract", "-m", &number, "FILE"], index + 3),
            // Where the walk ends is not known: hops are made side by side, also after the message.
            (&["extract", "-w", &name, "FILE"], if bytes.len() / count < 64_000 { index + 3 } else { all + 2 }),
            (&["verify", "FILE"], whole),
            (&["compare", "FILE", path.to_str().unwrap()], whole),
            (&["compare", "--by", "name", "FILE", "FILE"], 2 * whole),
        ];
        for (command, most) in rows {
            server.take_log();
            let distant = tgm(command, &address);
            let requests = server.take_log().len();
            assert!(requests <= *most, "{requests} requests of at most {most}: {len} {command:?}");
            let local: Vec<_> =
                command.iter().map(|word| if *word == distant_catalog { catalog } else { word }).collect();
            let local = tgm(&local, path.to_str().unwrap());
            assert!(local.status.success() && distant.status.success(), "{command:?} {distant:?}");
            // A message that only its offset names has a number that is not known.
            if !command.contains(&"ls") {
                assert_eq!(distant.stdout, local.stdout, "{command:?}");
            }
        }
    }
}

/// The number of a message at an offset is not known without a walk, and is not made up.
#[test]
fn a_message_at_an_offset_has_no_number() {
    let (bytes, offsets) = fields(3, 1, 1000);
    let server = Server::with("/fields.tgm", Blob::new(bytes));
    let at = offsets[1].to_string();
    let listed = tgm(&["ls", "--json", "--at", &at, "FILE"], &server.url("/fields.tgm"));
    let listed: serde_json::Value = serde_json::from_slice(&listed.stdout).unwrap();
    assert_eq!(listed["messages"][0]["message"], serde_json::Value::Null);
    assert_eq!(listed["messages"][0]["offset"], offsets[1]);
    let missing = tgm(&["ls", "--at", "5", "FILE"], &server.url("/fields.tgm"));
    assert_eq!(missing.status.code(), Some(1));
    let text = String::from_utf8_lossy(&missing.stderr).into_owned();
    assert!(text.contains("no message begins at byte 5 (near: message 0 at 0, message 1 at"), "{text}");
}

/// Commands that need every byte read each once, in requests as long as they may be.
#[test]
fn a_command_that_needs_all_reads_all_once() {
    let folder = tempfile::tempdir().unwrap();
    for (count, len) in [(40, 17_000), (15, 190_000), (12, 1_200_000)] {
        let (bytes, _) = fields(count, 1, len);
        let path = folder.path().join("fields.tgm");
        std::fs::write(&path, &bytes).unwrap();
        let server = Server::with("/fields.tgm", Blob::new(bytes.clone()));
        let address = server.url("/fields.tgm");
        let most = 2 + bytes.len().div_ceil(8 << 20);
        for command in WHOLE {
            server.take_log();
            let distant = tgm(command, &address);
            let log = server.take_log();
            let read: usize = log.iter().map(|request| request.sent).sum();
            let said = format!("{} requests of at most {most}, {read} bytes: {len} {command:?}", log.len());
            assert!(log.len() <= most && read <= bytes.len() + (64 << 10), "{said}");
            let local = tgm(command, path.to_str().unwrap());
            assert!(local.status.success() && distant.status.success(), "{command:?} {distant:?}");
            let name = path.to_str().unwrap();
            assert_eq!(said_of(&distant, &address), said_of(&local, name), "{command:?}");
        }
    }
}

/// Commands that look through all messages read no byte twice, also of a file that is larger than what a reader keeps.
#[test]
fn what_was_read_to_find_messages_is_not_read_again() {
    let (bytes, _) = fields(500, 1, 60_000);
    let server = Server::with("/fields.tgm", Blob::new(bytes.clone()));
    let address = server.url("/fields.tgm");
    for command in [&["info", "FILE"][..], &["frames", "FILE"], &["ls", "FILE"], &["catalog", "FILE", "-o", "-"]] {
        server.take_log();
        assert!(tgm(command, &address).status.success(), "{command:?}");
        let log = server.take_log();
        let read: usize = log.iter().map(|request| request.sent).sum();
        assert!(read <= bytes.len() && log.len() <= 30, "{} requests, {read} bytes: {command:?}", log.len());
    }
}

/// Every way to look through long messages reads where one ends and the next begins, and no payload. Where their lengths are alike,
/// several requests are under way at once.
#[test]
fn long_messages_are_hopped_over() {
    const COUNT: usize = 60;
    for len in [200_000, 1_000_000] {
        let (bytes, _) = fields(COUNT, 1, len);
        let server = Server::with("/fields.tgm", Blob::new(bytes.clone()).etag("\"1\""));
        let address = server.url("/fields.tgm");
        // A long request may show how fast bytes come.
        let (most, most_bytes) = (COUNT + 10, COUNT * (64 << 10) + (1 << 20));
        let check = |route: &str| {
            let log = server.take_log();
            let read: usize = log.iter().map(|request| request.sent).sum();
            let said = format!(
                "{} requests of at most {most}, {read} bytes of at most {most_bytes}: {len} {route}",
                log.len()
            );
            assert!(log.len() <= most && read <= most_bytes, "{said}");
        };
        for command in [
            &["ls", "FILE"][..],
            &["get", "-p", "name", "FILE"],
            &["info", "FILE"],
            &["cube", "FILE"],
            &["catalog", "FILE", "-k", "name", "-o", "-"],
            &["frames", "FILE"],
            &["dump", "FILE"],
        ] {
            let output = tgm(command, &address);
            assert!(output.status.success(), "{command:?} {output:?}");
            check(command[0]);
        }
        let archive = Archive::open(&address).unwrap();
        assert_eq!(archive.messages().unwrap().map(|message| message.unwrap().len().unwrap()).sum::<usize>(), COUNT);
        check("the messages of an archive");
        let archive = Archive::open(&address).unwrap();
        assert_eq!(archive.query(&"name=f9".parse().unwrap()).unwrap().len(), 1);
        check("a query of an archive");
        tgm_dataset::open(&[&address], &OpenOptions::default()).unwrap();
        check("a dataset of an address");
        tgm_dataset::open_archives(&[Archive::open(&address).unwrap().into()], &OpenOptions::default()).unwrap();
        check("a dataset of archives");
    }
}

/// A caller who reads payloads in order gets them with what is read to find the messages.
#[test]
fn payloads_that_are_read_in_order_come_with_the_search() {
    let (bytes, _) = fields(60, 1, 500_000);
    let server = Server::with("/fields.tgm", Blob::new(bytes.clone()));
    let file = TensogramFile::open_source(server.url("/fields.tgm"), None).unwrap();
    for number in 0..60 {
        file.decode_object(number, 0, &DecodeOptions::default()).unwrap();
    }
    let requests = server.take_log().len();
    assert!(requests <= 20, "{requests} requests");
}

fn said_of(output: &Output, file: &str) -> String {
    String::from_utf8_lossy(&output.stdout).replace(file, "FILE")
}

/// Commands that need every byte of a file.
const WHOLE: &[&[&str]] = &[
    &["verify", "FILE"],
    &["validate", "FILE"],
    &["validate", "--full", "FILE"],
    &["stats", "FILE"],
    &["digest", "FILE"],
    &["copy", "FILE", "-"],
];

/// The environment of all tests switches it off.
#[test]
fn a_cloud_instance_is_asked_for_credentials_with_a_word_and_can_be_left_alone() {
    let off = tgm(&["ls", "FILE"], "s3://bucket/key.tgm");
    let text = String::from_utf8_lossy(&off.stderr).into_owned();
    assert!(off.status.code() == Some(1) && text.contains("the cloud instance is not asked"), "{text}");
    assert!(!text.contains("note:"), "{text}");
    let server = Server::start();
    let on = |variables: &[(&str, &str)]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_tgm"));
        command.args(["ls", "s3://bucket/key.tgm"]).env_remove("TGM_INSTANCE_CREDENTIALS");
        command.env("AWS_METADATA_ENDPOINT", server.url("")).env("AWS_EC2_METADATA_DISABLED", "false");
        let output = command.envs(variables.iter().copied()).output().unwrap();
        String::from_utf8_lossy(&output.stderr).into_owned()
    };
    let told = on(&[]);
    let notes = told.lines().filter(|line| line.starts_with("note: s3://bucket/key.tgm: no credentials are in"));
    assert_eq!(notes.count(), 1, "{told}");
    assert!(!on(&[("AWS_SKIP_SIGNATURE", "true"), ("AWS_ENDPOINT", "https://127.0.0.1:1")]).contains("note:"));
}
