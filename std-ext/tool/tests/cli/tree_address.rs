//! A tree on a server: which of its files are opened, and what that takes.
#![allow(clippy::cast_precision_loss, clippy::cast_possible_truncation, reason = "small numbers")]

use std::collections::BTreeMap;
use std::fs;

use tgm_std::deps::ciborium::Value;
use tgm_std::{MessageBuilder, ObjectBuilder};

use crate::edits::Folder;
use crate::loopback::{Blob, Server};
use crate::tool::{Run, tgm};

const STEPS: [i64; 4] = [0, 6, 12, 18];
const LEVELS: [i64; 5] = [1000, 850, 700, 500, 300];
/// Rows and columns of a field.
const SHAPE: [usize; 2] = [61, 100];

/// A file of a day: a field for each step and level. Their values tell day, step and level.
fn day(day: i64) -> Vec<u8> {
    let mut all = Vec::new();
    for step in STEPS {
        for level in LEVELS {
            let values = vec![(day * 1000 + step) as f64 + level as f64 / 10_000.0; SHAPE[0] * SHAPE[1]];
            let object = ObjectBuilder::new(&SHAPE.map(|len| len as u64), &values).unwrap();
            let object = object.metadata("mars.param", "t").metadata("mars.date", 20_240_100 + day);
            let object = object.metadata("mars.time", 0).metadata("mars.step", step);
            let object = object.metadata("mars.levtype", "pl").metadata("mars.levelist", level);
            all.extend(MessageBuilder::new().object(object).encode().unwrap());
        }
    }
    all
}

/// A server with files of seven days, their catalogues and a tree. The files were catalogued there.
fn served(folder: &Folder) -> Server {
    let server = Server::start();
    let names: Vec<String> = (1..8).map(|number| format!("{number}.tgm")).collect();
    let mut paths = Vec::new();
    for (number, name) in (1..).zip(&names) {
        let bytes = day(number);
        paths.push(folder.file(name, &bytes));
        server.put(&format!("/{name}"), Blob::new(bytes).etag(&format!("\"{number}\"")));
        let catalog = folder.path(&format!("{name}.catalog"));
        let keys = "mars.date,mars.step,mars.levelist,mars.param";
        tgm(["catalog", "-k", keys, &server.url(&format!("/{name}")), "-o", &catalog]).good();
        server.put(&format!("/{name}.catalog"), Blob::new(fs::read(&catalog).unwrap()).etag("\"c\""));
    }
    let tree = folder.path("all.tree");
    let line = ["catalog", "-o", &tree].into_iter().chain(paths.iter().map(String::as_str));
    tgm(line.collect::<Vec<_>>()).good();
    server.put("/all.tree", Blob::new(fs::read(&tree).unwrap()).etag("\"t\""));
    server.take_log();
    server
}

/// Requests for each path, and bytes of all answers.
fn asked(server: &Server) -> (BTreeMap<String, usize>, usize) {
    let (mut requests, mut bytes) = (BTreeMap::new(), 0);
    for request in server.take_log() {
        *requests.entry(request.path).or_insert(0) += 1;
        bytes += request.sent;
    }
    (requests, bytes)
}

#[test]
fn only_the_files_that_may_match_are_asked_for() {
    let folder = Folder::new();
    let server = served(&folder);
    let tree = server.url("/all.tree");
    let expected = |most: usize| {
        let files = ["3.tgm", "4.tgm"].map(|name| [(format!("/{name}.catalog"), 1), (format!("/{name}"), most)]);
        files.into_iter().flatten().chain([("/all.tree".to_string(), 1)]).collect::<BTreeMap<_, _>>()
    };
    let only = "mars.date in 20240103..=20240104 and mars.step=6/12";
    let Run { stdout, stderr, .. } = tgm(["cube", "--json", "--only", only, &tree]).good();
    let cube: serde_json::Value = serde_json::from_slice(&stdout).unwrap();
    assert_eq!(cube["datasets"][0]["variables"][0]["shape"], serde_json::json!([2, 2, 5, 61, 100]), "{cube}");
    let note = "5 files at addresses do not match and were not asked whether they changed";
    assert!(cube["datasets"][0]["notes"][0].as_str().unwrap().contains(note), "{cube} {stderr}");
    let (requests, bytes) = asked(&server);
    // The first bytes of each file tell its version.
    assert_eq!(requests, expected(1));
    let most = fs::metadata(folder.path("all.tree")).unwrap().len() as usize
        + 2 * fs::metadata(folder.path("3.tgm.catalog")).unwrap().len() as usize
        + (2 << 16);
    assert!(bytes <= most, "{bytes} bytes of at most {most}");

    // A box of rows of four fields.
    let out = folder.path("box.npy");
    let line = ["extract", "--cube", "t", "--only", only, "--sel", "isobaricInhPa=500", "-O", &out, &tree];
    tgm(line).good();
    let found = fs::read(&out).unwrap();
    let floats = found[found.len() - 4 * SHAPE[0] * SHAPE[1] * 8..].chunks_exact(SHAPE[0] * SHAPE[1] * 8);
    let first: Vec<f64> = floats.map(|field| f64::from_le_bytes(field[..8].try_into().unwrap())).collect();
    assert_eq!(first, [3006.05, 3012.05, 4006.05, 4012.05]);
    let (requests, bytes) = asked(&server);
    assert_eq!(requests, expected(3));
    let wanted = 4 * SHAPE[0] * SHAPE[1] * 8;
    assert!(bytes <= most + wanted * 6 / 5, "{bytes} bytes");
}

#[test]
fn of_long_objects_only_parts_are_asked_for_wherever_they_lie() {
    let folder = Folder::new();
    let shape = [400_u64, 200];
    let message = |step: i64| {
        let values: Vec<f64> = (0..80_000).map(|at| step as f64 + f64::from(at) / 1e5).collect();
        let object =
            ObjectBuilder::new(&shape, &values).unwrap().metadata("mars.param", "t").metadata("mars.step", step);
        let area = [50.0, 0.0, 10.1, 19.9].map(Value::from).to_vec();
        MessageBuilder::new().object(object.metadata("mars.area", Value::Array(area))).encode().unwrap()
    };
    let bytes: Vec<u8> = (0..12).flat_map(message).collect();
    let file = folder.file("long.tgm", &bytes);
    let server = Server::with("/long.tgm", Blob::new(bytes).etag("\"1\""));
    let (catalog, tree) = (folder.path("long.tgm.catalog"), folder.path("all.tree"));
    tgm(["catalog", "-k", "mars.step", &server.url("/long.tgm"), "-o", &catalog]).good();
    tgm(["catalog", "-o", &tree, &file]).good();
    for path in [&catalog, &tree] {
        let name = format!("/{}", path.rsplit('/').next().unwrap());
        server.put(&name, Blob::new(fs::read(path).unwrap()));
    }
    server.take_log();
    let out = folder.path("point.npy");
    let pick = "step=5/11,latitude=10.1,longitude=19.9";
    tgm(["extract", "--cube", "t", "--sel", pick, "-O", &out, &server.url("/all.tree")]).good();
    let found = fs::read(&out).unwrap();
    let values: Vec<f64> =
        found[found.len() - 16..].chunks(8).map(|value| f64::from_le_bytes(value.try_into().unwrap())).collect();
    assert_eq!(values, [5.0 + 0.79999, 11.0 + 0.79999]);
    let (requests, bytes) = asked(&server);
    // The messages before them, of 640 kB each, are not looked at.
    assert!(requests["/long.tgm"] <= 7 && bytes < 400_000, "{requests:?}: {bytes} bytes");
}

#[test]
fn a_file_that_was_changed_on_the_server_is_read_and_told() {
    let folder = Folder::new();
    let server = served(&folder);
    let line = ["cube", "--only", "mars.date=20240103", &server.url("/all.tree")];
    let contents = |text: &str| text.split("note").next().map(str::to_string);
    let before = contents(tgm(line).good().text());
    server.put("/3.tgm", Blob::new([day(3), day(8)].concat()).etag("\"other\""));
    let run = tgm(line);
    assert_eq!((run.code, contents(run.text())), (Some(0), before), "{}", run.stderr);
    assert!(run.stderr.contains("3.tgm.catalog is not used: it is stale"), "{}", run.stderr);
    let (requests, _) = asked(&server);
    assert_eq!(requests.keys().filter(|path| path.ends_with("tgm")).count(), 1, "{requests:?}");
    // Its catalogue is gone: its messages are read, and a note says so.
    server.put("/3.tgm.catalog", Blob::new(b"nothing".to_vec()));
    let run = tgm(["cube", "--json", "--only", "mars.date=20240103", &server.url("/all.tree")]);
    assert!(run.code == Some(0) && run.stderr.contains("3.tgm.catalog is not used"), "{}", run.stderr);
    // The tree itself is damaged.
    server.put("/all.tree", Blob::new(b"nothing".to_vec()));
    let run = tgm(line);
    assert!(run.code == Some(1) && run.stderr.contains("all.tree: not a Tensogram file"), "{}", run.stderr);
}
