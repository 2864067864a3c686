//! Each option of each command has an effect: none is accepted and then ignored.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::sync::OnceLock;

use tgm_std::{EncodeOptions, GlobalMetadata, MessageBuilder, ObjectBuilder, decode_descriptors, scan};

use crate::edits::Folder;
use crate::npy::{npy, write};
use crate::tool::{SPELLINGS, command, subcommands, tgm};

/// Options that each command has.
const OF_ALL: [&str; 6] = ["color", "help", "no-clobber", "progress", "quiet", "verbose"];
/// Options of listings, and the name of an output. `grammar.rs` tries them in each command.
const OF_LISTINGS: [&str; 4] = ["csv", "json", "jsonl", "output"];
/// Options of `convert` that only builds with NetCDF or Zarr have. Their formats' tests try them.
const OF_FORMATS: [&str; 10] = [
    "chunk-shape",
    "chunks",
    "deflate-level",
    "float64",
    "grid",
    "keep-packed",
    "name-key",
    "rows",
    "split",
    "variables",
];
fn is_of_formats(name: &str, option: &str) -> bool {
    name == "convert" && OF_FORMATS.contains(&option)
}

/// Bytes of a number in the samples: 280.37, which is stored as it is.
const MARKED: f64 = 280.37;

/// A row of the table of pairs.
struct Pair {
    /// With its value.
    option: String,
    /// The line that the option is added to.
    line: String,
    /// Why the option changes nothing that can be seen.
    why: Option<String>,
}

impl Pair {
    /// The option without its value.
    fn name(&self) -> &str {
        self.option.trim_start_matches("--").split([' ', '=']).next().unwrap()
    }
}

/// The table of pairs, by command.
fn table() -> BTreeMap<String, Vec<Pair>> {
    let mut found: BTreeMap<String, Vec<Pair>> = BTreeMap::new();
    let (mut command, mut usual) = (String::new(), String::new());
    for row in include_str!("options.txt").lines().filter(|row| !row.starts_with('#') && !row.is_empty()) {
        if let Some((name, line)) = row.strip_prefix('[').and_then(|row| row.split_once("] ")) {
            (command, usual) = (name.to_string(), line.to_string());
            found.entry(command.clone()).or_default();
            continue;
        }
        let (row, why) = match row.split_once(" @ ") {
            Some((row, why)) => (row, Some(why.to_string())),
            None => (row, None),
        };
        let (option, line) = row.split_once(" : ").unwrap_or((row, &usual));
        let pair = Pair { option: option.to_string(), line: line.to_string(), why };
        found.get_mut(&command).unwrap().push(pair);
    }
    found
}

/// The long options in a command's help.
fn options_of(command: &str) -> BTreeSet<String> {
    let run = tgm(command.split(' ').chain(["--help"])).good();
    let lines = run.text().lines().filter(|line| line.trim_start().starts_with('-'));
    let longs = lines.filter_map(|line| line.split([' ', ',', '=', '[', ';']).find_map(|word| word.strip_prefix("--")));
    longs.filter(|name| !name.is_empty()).map(str::to_string).collect()
}

/// The files that lines name.
fn samples() -> &'static Folder {
    static SAMPLES: OnceLock<Folder> = OnceLock::new();
    SAMPLES.get_or_init(|| {
        let folder = Folder::in_memory();
        let doubles = |values: &[f64]| values.iter().flat_map(|value| value.to_le_bytes()).collect::<Vec<_>>();
        let place = Path::new(&folder.path("")).to_path_buf();
        let field: Vec<f64> = (0..24).map(|i| (28000.0 + f64::from(i) * 37.0) / 100.0).collect();
        let singles: Vec<f32> = (0_u8..24).map(f32::from).collect();
        let bytes: Vec<u8> = singles.iter().flat_map(|value| value.to_le_bytes()).collect();
        write(&place, "f.npy", &npy(1, "'<f8'", false, "(4, 6)", &doubles(&field)));
        write(&place, "g.npy", &npy(1, "'<f4'", false, "(4, 6)", &bytes));
        let mut special: Vec<f64> = (0..2000).map(f64::from).collect();
        (special[1], special[5], special[7], special[9]) = (f64::NAN, f64::NAN, f64::INFINITY, f64::NEG_INFINITY);
        write(&place, "n.npy", &npy(1, "'<f8'", false, "(2000,)", &doubles(&special)));
        write(&place, "b.npy", &npy(1, "'|b1'", false, "(3,)", &[1, 0, 1]));
        let numbers: Vec<u8> = (0_i32..6).flat_map(i32::to_le_bytes).collect();
        write(&place, "i.npy", &npy(1, "'<i4'", false, "(6,)", &numbers));
        write(&place, "r.raw", &numbers);
        for (name, text) in [
            ("t.csv", "a,b\n1,2\n3,4\n"),
            ("t.txt", "a,b\n1,2\n3,4\n"),
            ("t2.csv", "a,b\n1,2\n3\n"),
            ("meta.json", "{\"extra\":{\"q\":1}}"),
        ] {
            write(&place, name, text.as_bytes());
        }
        let message = |step: i64, hashing: bool, key: Option<i64>| {
            let area = ciborium::Value::Array([50, 0, 47, 5].map(ciborium::Value::from).to_vec());
            let one = ObjectBuilder::new(&[4, 6], &field).unwrap().metadata("step", step).metadata("mars.area", area);
            let other = ObjectBuilder::new(&[4, 6], &singles).unwrap().metadata("step", step);
            let options = EncodeOptions { hashing, ..EncodeOptions::default() };
            let built = MessageBuilder::new().object(one).object(other).options(options);
            key.into_iter().fold(built, |built, key| built.extra("k", key)).encode().unwrap()
        };
        let messages = [0, 1, 2].map(|step| message(step, true, None));
        let many = messages.concat();
        let plain = MessageBuilder::new().object(ObjectBuilder::new(&[6], &[1_i32, 2, 0x7a7b_7c7d, 4, 5, 6]).unwrap());
        let plain = plain.encode().unwrap();
        let unhashed = message(0, false, None);
        let nan = replaced(&unhashed, &MARKED.to_le_bytes(), &f64::NAN.to_le_bytes());
        let infinite = replaced(&nan, &field[2].to_le_bytes(), &f64::INFINITY.to_le_bytes());
        let swapped = [&messages[2][..], &messages[1], &messages[0]].concat();
        for (name, bytes) in [
            ("m0.tgm", &messages[0]),
            ("many.tgm", &many),
            ("swapped.tgm", &swapped),
            ("nohash.tgm", &unhashed),
            ("damaged.tgm", &replaced(&many, &MARKED.to_le_bytes(), &0.5_f64.to_le_bytes())),
            ("meta.tgm", &replaced(&many, b"step", b"stop")),
            ("junk.tgm", &[&many[..600], b"junk", &many[600..]].concat()),
            ("annotated.tgm", &[message(0, true, Some(1)), message(0, true, Some(2))].concat()),
            ("rawnan.tgm", &nan),
            ("rawinf.tgm", &infinite),
            ("plain.tgm", &plain),
            ("dplain.tgm", &replaced(&plain, &0x7a7b_7c7d_i32.to_le_bytes(), &7_i32.to_le_bytes())),
            ("steps.tgm", &crate::datasets::steps()),
            ("files.tgm", &files()),
            ("cells.tgm", &cells()),
            ("grid.tgm", &grid()),
            ("old.tgm", &fs::read(crate::corpus::data("v2/0.14.0-two-messages.tgm")).unwrap()),
            ("p.grib2", &fs::read(crate::corpus::data("../data-grib/png-8.grib2")).unwrap()),
            ("s.grib2", &fs::read(crate::corpus::data("../data-grib/simple-12.grib2")).unwrap()),
        ] {
            write(&place, name, bytes);
        }
        for line in [
            "create f.npy --compression zstd -o z.tgm",
            "create i.npy -o t3.tgm",
            "create i.npy --compression zstd -o packed.tgm",
            "create n.npy --allow-nan --allow-inf -o n.tgm",
            "repack --object 0 --bits 12 many.tgm -o other0.tgm",
            "set -s mars.a=1 other0.tgm other.tgm",
            "repack --bits 4 steps.tgm -o rough.tgm",
            "catalog -k step other.tgm -o other.catalog",
            "catalog -k step many.tgm -o many.catalog",
            "zio from-tgm plain.tgm -o x.zio",
            "zio from-tgm packed.tgm -o packed.zio",
        ] {
            if cfg!(feature = "zio") || !line.starts_with("zio") {
                let run = command(line.split(' ')).current_dir(&place).output().unwrap();
                assert!(run.status.success(), "{line}: {}", String::from_utf8_lossy(&run.stderr));
            }
        }
        descending(&place);
        folder
    })
}

/// A field on a grid that it does not have.
fn cells() -> Vec<u8> {
    let object = ObjectBuilder::new(&[4], &[1.0, 2.0, 3.0, 7.0]).unwrap().metadata("mars.param", "t");
    MessageBuilder::new().object(object).encode().unwrap()
}

/// The coordinates of that grid.
fn grid() -> Vec<u8> {
    let of = |name: &str, values: [f64; 4]| {
        let object = ObjectBuilder::new(&[4], &values).unwrap().metadata("name", name);
        MessageBuilder::new().object(object).encode().unwrap()
    };
    [of("clat", [0.0, 10.0, 50.0, 60.0]), of("clon", [0.0, 10.0, 5.0, -10.0])].concat()
}

/// Variables of a file, one at its root and one in a group.
fn files() -> Vec<u8> {
    let dims = ciborium::Value::Array(vec!["x".into()]);
    let variable = |name: &str, values: &[f64]| {
        let object = ObjectBuilder::new(&[values.len() as u64], values).unwrap();
        let object = object.metadata("name", name).metadata("dimensions", dims.clone());
        MessageBuilder::new().object(object).encode().unwrap()
    };
    [variable("v", &[1.0, 2.0]), variable("g/v", &[3.0, 4.0, 5.0])].concat()
}

/// A ZIO message whose elements must be copied into another order.
#[cfg(feature = "zio")]
fn descending(place: &Path) {
    let tensor = tgm_zio::TensorBuilder::new(&[2, 3], &[1_i16, 2, 3, 4, 5, 6]).order(&[0, 1]).ascend(&[true, false]);
    let built = tgm_zio::TensBuilder::new().byte_order(tgm_std::ByteOrder::Little).tensor(tensor).build().unwrap();
    let mut bytes = Vec::new();
    tgm_zio::file::write(&mut bytes, &built.parts).unwrap();
    write(place, "desc.zio", &bytes);
}

#[cfg(not(feature = "zio"))]
fn descending(_: &Path) {}

fn replaced(bytes: &[u8], from: &[u8], to: &[u8]) -> Vec<u8> {
    let at = bytes.windows(from.len()).position(|part| part == from).unwrap();
    [&bytes[..at], to, &bytes[at + from.len()..]].concat()
}

/// What a run left behind.
#[derive(Debug, PartialEq)]
struct Effect {
    code: Option<i32>,
    stdout: Vec<u8>,
    stderr: Vec<u8>,
    files: BTreeMap<String, Vec<u8>>,
}

/// A file without what differs from run to run: who wrote a message, when, and digests over that.
fn content(bytes: Vec<u8>) -> Vec<u8> {
    let messages = scan(&bytes);
    if messages.is_empty() {
        return bytes;
    }
    let mut found = Vec::new();
    for (offset, length) in messages {
        let message = &bytes[offset..offset + length];
        let (metadata, descriptors) = decode_descriptors(message).unwrap();
        let metadata = GlobalMetadata { reserved: BTreeMap::default(), ..metadata };
        let regions = tgm_core::Message::parse(message).unwrap();
        // The heads of frames: type, flags and length.
        let heads: Vec<_> = regions.frames().map(|frame| frame.unwrap().offset()).collect();
        let heads: Vec<_> = heads.iter().map(|at| &message[usize::try_from(*at).unwrap()..][..16]).collect();
        let regions: Vec<_> = regions.objects().map(|object| object.unwrap().region().to_vec()).collect();
        found.push(format!("{length} {heads:?} {metadata:?} {descriptors:?} {regions:?}\n"));
    }
    found.concat().into_bytes()
}

/// Runs a line in a folder with nothing of other runs in it.
fn effect(folder: &Folder, words: &[String]) -> Effect {
    let place = Path::new(&folder.path("")).to_path_buf();
    for name in folder.names().iter().filter(|name| name.starts_with("out") || *name == "many.tgm.catalog") {
        let path = folder.path(name);
        fs::remove_file(&path).or_else(|_| fs::remove_dir_all(&path)).unwrap();
    }
    for word in words {
        if let Some(name) = word.strip_prefix("out").filter(|name| Path::new(&folder.path(name)).is_file()) {
            fs::copy(folder.path(name), folder.path(word)).unwrap();
        }
    }
    let mut run = command(words).current_dir(&place).output().unwrap();
    if words[0] == "bench" {
        // Times and rates are never the same twice.
        run.stdout = String::from_utf8(run.stdout)
            .unwrap()
            .lines()
            .map(|line| line.split_whitespace().filter(|word| !word.contains('.')).collect::<Vec<_>>().join(" ") + "\n")
            .collect::<String>()
            .into_bytes();
    }
    let mut files = BTreeMap::new();
    for name in folder.names().into_iter().filter(|name| name.starts_with("out") || name == "many.tgm.catalog") {
        let path = folder.path(&name);
        if Path::new(&path).is_dir() {
            for inner in fs::read_dir(&path).unwrap() {
                let inner = inner.unwrap();
                files.insert(format!("{name}/{:?}", inner.file_name()), content(fs::read(inner.path()).unwrap()));
            }
        } else {
            files.insert(name, content(fs::read(&path).unwrap()));
        }
    }
    Effect { code: run.status.code(), stdout: run.stdout, stderr: run.stderr, files }
}

/// Tries the pairs of some commands.
fn try_pairs(is_meant: impl Fn(&str) -> bool) {
    let samples = samples();
    let folder = Folder::in_memory();
    for name in samples.names() {
        fs::copy(samples.path(&name), folder.path(&name)).unwrap();
    }
    let offset = fs::metadata(samples.path("m0.tgm")).unwrap().len().to_string();
    let data = crate::corpus::data("");
    let known = subcommands();
    let mut lines: BTreeMap<String, Effect> = BTreeMap::new();
    let mut ignored = Vec::new();
    for (name, pairs) in table() {
        if !is_meant(&name) || !known.contains(&name) {
            continue;
        }
        for pair in pairs {
            let fill = |text: &str| text.replace("OFFSET", &offset).replace("DATA/", &data);
            let words: Vec<String> = fill(&pair.line).split(' ').map(str::to_string).collect();
            let without = lines.entry(pair.line.clone()).or_insert_with(|| effect(&folder, &words));
            if words.iter().any(|word| *word == format!("--{}", pair.name())) {
                // All lines of the command have it.
                assert!(pair.why.is_some(), "tgm {name} {}", pair.option);
                continue;
            }
            let (start, rest) = words.split_at(name.split(' ').count());
            let option: Vec<String> = fill(&pair.option).split(' ').map(str::to_string).collect();
            let with = effect(&folder, &[start, &option, rest].concat());
            // A line that is wrong by itself would hide what an option does.
            let is_wrong = without.code == Some(2) && with.code == Some(2) && name != "compare";
            assert!(!is_wrong, "tgm {name} {}: {}", pair.option, String::from_utf8_lossy(&with.stderr));
            match pair.why {
                Some(_) => assert_eq!(with.code, without.code, "tgm {name} {}", pair.option),
                None if with == *without => ignored.push(format!("tgm {name} {} ({})", pair.option, pair.line)),
                None => {}
            }
        }
    }
    assert!(ignored.is_empty(), "accepted, and ignored:\n{}", ignored.join("\n"));
}

#[test]
fn options_of_listings_have_an_effect() {
    try_pairs(|name| {
        matches!(name, "info" | "ls" | "cube" | "dump" | "frames" | "get" | "scan" | "verify" | "validate")
    });
}

#[test]
fn options_of_values_have_an_effect() {
    try_pairs(|name| matches!(name, "cat" | "stats" | "digest" | "extract"));
}

#[test]
fn options_of_plot_compare_tail_and_bench_have_an_effect() {
    try_pairs(|name| matches!(name, "plot" | "compare" | "tail" | "bench"));
}

#[test]
fn options_of_create_have_an_effect() {
    try_pairs(|name| matches!(name, "create"));
}

#[test]
fn options_of_convert_have_an_effect() {
    try_pairs(|name| matches!(name, "convert"));
}

#[test]
fn options_of_repack_and_reshuffle_have_an_effect() {
    try_pairs(|name| matches!(name, "repack" | "reshuffle"));
}

#[test]
fn options_of_other_commands_have_an_effect() {
    try_pairs(|name| {
        name.starts_with("zio")
            || matches!(name, "catalog" | "upgrade" | "copy" | "merge" | "split" | "set" | "salvage")
    });
}

/// Commands that this table says nothing of: they need a terminal, go on until they are interrupted, or print about the tool itself.
const APART: [&str; 5] = ["browse", "serve", "doctor", "completions", "man"];

#[test]
fn every_option_of_every_command_is_tried() {
    let table = table();
    for name in subcommands().iter().filter(|name| !APART.contains(&name.as_str())) {
        let pairs = table.get(name).unwrap_or_else(|| panic!("tgm {name} is not in options.txt"));
        let tried: BTreeSet<String> = pairs.iter().map(|pair| pair.name().to_string()).collect();
        let shared = OF_ALL.iter().chain(&OF_LISTINGS);
        let mut there = options_of(name);
        shared.for_each(|option| _ = there.remove(*option));
        there.retain(|option| !is_of_formats(name, option));
        assert_eq!(tried, there, "tgm {name}: options.txt, and the help");
    }
}

/// The table in the documentation: each option, and the commands that have it.
#[test]
fn the_documentation_lists_options_and_their_commands() {
    let mut commands: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for name in subcommands() {
        for option in options_of(&name).into_iter().filter(|option| !is_of_formats(&name, option)) {
            let spelling = SPELLINGS.iter().find(|(known, _)| *known == name).map_or(&*name, |(_, spelling)| spelling);
            commands.entry(option).or_default().push(spelling.to_string());
        }
    }
    let mut rows: BTreeMap<Vec<String>, Vec<String>> = BTreeMap::new();
    for (option, names) in commands {
        if !OF_ALL.contains(&option.as_str()) {
            rows.entry(names).or_default().push(format!("`--{option}`"));
        }
    }
    let mut rows: Vec<_> =
        rows.iter().map(|(names, all)| format!("| {} | {} |", all.join(", "), names.join(", "))).collect();
    rows.sort();
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/doc/OPTIONS.md");
    let page = fs::read_to_string(path).unwrap();
    let head = "| option | commands |\n|---|---|\n";
    let (before, rest) = page.split_once(head).unwrap_or_else(|| panic!("OPTIONS.md has no table {head}"));
    let length: usize = rest.split_inclusive('\n').take_while(|line| line.starts_with("| `--")).map(str::len).sum();
    let (shown, after) = rest.split_at(length);
    let is_all = cfg!(all(feature = "browse", feature = "plot", feature = "serve", feature = "zio"));
    let expected: String = rows.iter().flat_map(|row| [row.as_str(), "\n"]).collect();
    if std::env::var_os("TGM_RENEW").is_some() && is_all {
        fs::write(path, [before, head, &expected, after].concat()).unwrap();
        return;
    }
    assert!(!is_all || shown == expected, "OPTIONS.md: TGM_RENEW=1 writes\n{expected}");
}

/// Options that some formats have, with formats that do not have them. Nothing is written.
#[test]
fn options_without_an_effect_on_the_formats_are_refused() {
    let mut lines = vec![
        "f.npy -o out.npz --byte-order big",
        "t.csv -o out.tgm --no-bitmask",
        "m0.tgm -o out.npy --deflate",
        "f.npy -o out.tgm --matrix",
        "f.npy -o out.tgm --indices",
        "m0.tgm -o out.npz --no-hash",
        "f.npy -o out.tgm --ignore-hash",
        "f.npy -o out.tgm --drop-original",
        "f.npy -o out.tgm --keep-stages",
        "f.npy -o out.tgm --grib-keys few",
    ];
    if cfg!(feature = "arrow") {
        lines.push("f.npy -o out.tgm --rows messages");
    }
    if cfg!(feature = "netcdf") {
        lines.extend(["f.npy -o out.tgm --split record", "m0.tgm -o out.npz --deflate-level 1"]);
    }
    if cfg!(feature = "zarr") {
        lines.extend([
            "f.npy -o out.tgm --chunk-shape 2x2",
            "f.npy -o out.tgm --name-key k",
            "f.npy -o out.tgm --keep-packed",
            "f.npy -o out.tgm --chunks keep",
            "m0.tgm -o out.npz --variables object",
            "m0.tgm -o out.npz --float64",
            "m0.tgm -o out.npz --grid f.npy",
        ]);
    }
    let folder = samples();
    for line in lines {
        let option = line.split(' ').find(|word| word.starts_with("--")).unwrap();
        let words = ["convert"].into_iter().chain(line.split(' '));
        let run = command(words).current_dir(folder.path("")).output().unwrap();
        let said = String::from_utf8_lossy(&run.stderr);
        assert!(run.status.code() == Some(2) && said.contains(&format!("{option} has no effect")), "{line}: {said}");
        assert!(!folder.names().iter().any(|name| name.starts_with("out.")), "{line}");
    }
}
