//! No command shows or keeps what is secret in an address.

use std::fs;
use std::path::Path;

use crate::loopback::{Blob, Server};
use crate::tool::{command, subcommands};

/// Stands for what is secret.
const SECRET: &str = "S3CR3T";

/// What each command is given. `FILE` is an address, `LOCAL` a local file of the same bytes, `OUT` a new file,
/// `NC` a file that a process of its own reads. A command
/// without a row gets the address alone, with `--json` too.
const ROWS: &[(&str, &[&str])] = &[
    ("get", &["-p mars.param FILE", "-p nosuch.key FILE", "-p FILE LOCAL"]),
    (
        "ls",
        &["FILE", "-w mars.param=2t FILE", "-w FILE LOCAL", "-w mars.param=2t --catalog FILE LOCAL", "LOCAL -O FILE"],
    ),
    ("cat", &["FILE", "-m 0 -o 0 FILE", "--csv FILE"]),
    ("compare", &["FILE LOCAL", "LOCAL FILE", "FILE FILE"]),
    ("plot", &["FILE -O OUT.svg", "FILE -O OUT.png", "LOCAL -O FILE", "FILE"]),
    ("extract", &["FILE -m 0 -o 0 -O OUT.npy", "FILE -m 0 -o 0 --format npy -O OUT", "LOCAL -m 0 -o 0 -O FILE"]),
    (
        "catalog",
        &[
            "FILE",
            "FILE -O OUT",
            "--auto FILE -O OUT",
            "--check FILE",
            "--check --catalog FILE LOCAL",
            "--update FILE",
            "--compact FILE",
            "--compact --catalog FILE LOCAL",
            "LOCAL -O FILE",
            "--auto LOCAL -O OUT.tree",
            "--auto FILE LOCAL -O OUT.tree",
            "--auto LOCAL -O FILE.tree",
            "--update --catalog FILE.tree LOCAL",
            "--check FILE.tree",
        ],
    ),
    (
        "create",
        &[
            "FILE -O OUT",
            "FILE FILE --raw f32,4 -O OUT",
            "LOCAL --raw u8,8 -O FILE",
            "LOCAL --append --raw u8,8 -O FILE",
            "LOCAL --raw FILE -O OUT",
            "LOCAL --metadata FILE --raw u8,8 -O OUT",
        ],
    ),
    ("repack", &["FILE OUT", "LOCAL FILE", "FILE OUT --compression lz4"]),
    ("reshuffle", &["FILE OUT", "LOCAL FILE"]),
    ("upgrade", &["FILE OUT", "LOCAL FILE"]),
    ("copy", &["FILE OUT", "FILE OUT_[index].tgm", "LOCAL FILE", "FILE -w mars.param=2t OUT"]),
    ("merge", &["FILE FILE -O OUT", "FILE LOCAL OUT", "LOCAL LOCAL FILE"]),
    ("split", &["FILE -O OUT_[index].tgm", "FILE OUT_[index].tgm", "LOCAL -O FILE", "LOCAL -O FILE_[index]"]),
    ("set", &["mars.param=2t FILE OUT", "-s mars.param=2t FILE OUT", "-s mars.param=2t LOCAL FILE", "FILE"]),
    ("salvage", &["FILE OUT", "FILE -O OUT", "LOCAL FILE", "FILE"]),
    (
        "convert",
        &[
            "FILE -O OUT.grib2",
            "FILE -O OUT.npz",
            "FILE -O OUT_[name].npy",
            "FILE -O OUT.csv",
            "FILE -O OUT.nc",
            "FILE -O OUT.zarr",
            "FILE -O OUT.parquet",
            "FILE -O OUT.tgm",
            "--from netcdf FILE -O OUT.tgm",
            "--from zarr FILE -O OUT.tgm",
            "--from csv FILE -O OUT.tgm",
            "--from npy FILE -O OUT.tgm",
            "--from grib2 FILE -O OUT.tgm",
            "LOCAL -O FILE",
            "LOCAL --to zarr -O FILE",
            "LOCAL --to npy -O FILE_[name]",
            "--to kerchunk FILE -O OUT.json",
            "--to kerchunk FILE LOCAL -O OUT.parq",
            "--to kerchunk LOCAL -O FILE",
            "--to kerchunk --strict FILE -O OUT.json",
            "--from netcdf LOCAL FILE -O OUT.tgm",
            "NC -O FILE",
            "NC FILE -O OUT.tgm",
            "FILE",
        ],
    ),
    ("tail", &["FILE", "-n 1 FILE", "--timeout 0.01 FILE"]),
    ("bench", &["FILE", "--time 0.001 FILE"]),
    ("zio to-tgm", &["FILE OUT", "FILE -O OUT", "LOCAL FILE"]),
    ("zio from-tgm", &["FILE OUT", "FILE -O OUT", "LOCAL FILE"]),
    ("completions", &["FILE"]),
    ("man", &["FILE"]),
];

/// Whether bytes hold the secret.
fn is_told(bytes: &[u8]) -> bool {
    String::from_utf8_lossy(bytes).contains(SECRET)
}

/// Runs a command in `folder`, and looks for the secret in all that it says.
fn check(name: &str, arguments: &[String], folder: &Path, found: &mut Vec<String>) {
    let words = name.split(' ').map(str::to_string).chain(arguments.iter().cloned());
    let output = command(words)
        .current_dir(folder)
        .env("AWS_ACCESS_KEY_ID", SECRET)
        .env("AWS_SECRET_ACCESS_KEY", SECRET)
        .output()
        .unwrap();
    assert!(output.status.code().is_some(), "{name} {arguments:?}: {output:?}");
    let mut look = |place: &str, bytes: &[u8]| {
        if is_told(bytes) {
            found.push(format!("{name} {arguments:?}: {place}: {}", String::from_utf8_lossy(bytes)));
        }
    };
    look("stdout", &output.stdout);
    look("stderr", &output.stderr);
}

/// Files below `folder` that hold the secret, in their names or in their bytes.
fn files_with_secret(folder: &Path, found: &mut Vec<String>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if is_told(path.file_name().unwrap().as_encoded_bytes()) || path.is_file() && is_told(&fs::read(&path).unwrap())
        {
            found.push(path.display().to_string());
        }
        if path.is_dir() {
            files_with_secret(&path, found);
        }
    }
}

/// Calls `with` with each command line of each command, for one address.
fn command_lines(mut with: impl FnMut(&str, &[String])) {
    for name in subcommands() {
        let rows: &[&str] = ROWS.iter().find(|(row, _)| *row == name).map_or(&["FILE"], |(_, rows)| rows);
        for row in rows {
            with(&name, &row.split(' ').map(str::to_string).collect::<Vec<_>>());
        }
        // Each of them with a word too many, and with a flag that does not exist.
        with(&name, &["FILE", "FILE", "FILE", "--nosuch=FILE"].map(str::to_string));
    }
}

#[test]
fn no_command_shows_the_secret_of_an_address() {
    let folder = tempfile::tempdir().unwrap();
    let local = folder.path().join("local.tgm");
    let data = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/data/multi/three.tgm");
    fs::copy(data, &local).unwrap();
    fs::write(folder.path().join("damaged.nc"), b"\x89HDF\r\n\x1a\n and no more").unwrap();
    let server = Server::with("/file.tgm", Blob::new(fs::read(data).unwrap()));
    let base = server.url("/file.tgm");
    let host = base.strip_prefix("http://").unwrap().strip_suffix("/file.tgm").unwrap();
    let addresses = [
        format!("http://{SECRET}:{SECRET}@{host}/file.tgm?sig={SECRET}&{SECRET}=1#{SECRET}"),
        format!("http://{SECRET}@[bad/x.tgm?sig={SECRET}"),
    ];
    let mut runs = Vec::new();
    command_lines(|name, words| {
        for (address, flag) in [(&addresses[0], "-v"), (&addresses[0], "--json"), (&addresses[1], "-v")] {
            // Errors of other flags are the same with and without one.
            if flag == "--json" && words != ["FILE"] {
                continue;
            }
            let out = format!("out{}", runs.len());
            let put = |word: &String| {
                word.replace("FILE", address)
                    .replace("LOCAL", "local.tgm")
                    .replace("OUT", &out)
                    .replace("NC", "damaged.nc")
            };
            runs.push((
                name.to_string(),
                [flag.to_string()].into_iter().chain(words.iter().map(put)).collect::<Vec<_>>(),
            ));
        }
    });
    let (tried, folder_path) = (runs.len(), folder.path());
    let of_some = |some: &[(String, Vec<String>)]| {
        let mut found = Vec::new();
        for (name, words) in some {
            check(name, words, folder_path, &mut found);
        }
        found
    };
    let mut found: Vec<String> = std::thread::scope(|scope| {
        let parts: Vec<_> = runs.chunks(tried.div_ceil(4)).map(|some| scope.spawn(move || of_some(some))).collect();
        parts.into_iter().flat_map(|part| part.join().unwrap()).collect()
    });
    files_with_secret(folder.path(), &mut found);
    assert!(found.is_empty(), "{} of {tried}:\n{}", found.len(), found.join("\n"));
}

/// Parts of addresses that secrets stand in, where addresses are right, not known, and wrong.
#[test]
fn no_place_of_an_address_is_shown() {
    let folder = tempfile::tempdir().unwrap();
    let mut found = Vec::new();
    for address in [
        "ftp://S3CR3T:S3CR3T@host/x?S3CR3T",
        "http:/u:S3CR3T@host/x",
        "http:u:S3CR3T@host/x#S3CR3T",
        "http://u:S3C/S3CR3T@host/x",
        "http://u:S3CR3T@host:port/x",
        "http://host:99999/x?S3CR3T",
        "s3://bucket?S3CR3T",
        "s3://u:S3CR3T@bucket/key?S3CR3T",
        "gs:///key?S3CR3T",
        "az://c:S3CR3T@account/key?x",
        "HTTP://u:S3CR3T@/",
        "file:///nosuch?S3CR3T",
        "http://?S3CR3T",
        " http://u:S3CR3T@host/x",
    ] {
        for name in ["ls", "get", "convert", "validate", "dump"] {
            let rest: &[&str] = if name == "get" { &["-p", "x"] } else { &[] };
            let arguments = [address].iter().chain(rest).map(ToString::to_string).collect::<Vec<_>>();
            check(name, &arguments, folder.path(), &mut found);
        }
    }
    files_with_secret(folder.path(), &mut found);
    assert!(found.is_empty(), "{}", found.join("\n"));
}
