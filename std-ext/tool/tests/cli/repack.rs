//! `tgm repack` and `tgm reshuffle`: messages encoded again.

use std::fs;
use std::path::PathBuf;

use serde_json::{Value as Json, json};
use tgm_std::{DecodeOptions, MessageBuilder, ObjectBuilder, decode};

use crate::corpus::{data, files, of_class};
use crate::edits::{Folder, has_junk, together};
use crate::npy::{doubles, field, npy, write};
use crate::tool::{Run, tgm};

/// Digests of all objects' values.
fn digests(path: &str) -> Vec<Json> {
    let json = tgm(["digest", "--json", path]).good().json();
    let messages = json["messages"].as_array().unwrap().iter();
    messages.flat_map(|message| message["objects"].as_array().unwrap().clone()).map(|o| o["sha256"].clone()).collect()
}

fn objects(path: &str) -> Vec<Json> {
    let json = tgm(["ls", "--json", path]).good().json();
    json["messages"].as_array().unwrap().iter().flat_map(|m| m["objects"].as_array().unwrap().clone()).collect()
}

/// Annotations and metadata of all objects, without `_reserved_`.
fn metadata(path: &str) -> Vec<Json> {
    let json = tgm(["dump", "--json", path]).good().json();
    let of = |message: &Json| {
        let objects = message["objects"].as_array().unwrap().iter().map(|object| object["metadata"].clone());
        assert!(message["extra"].is_object() && objects.clone().all(|metadata| metadata.is_object()));
        objects.chain([message["extra"].clone()]).map(strip).collect::<Vec<_>>()
    };
    json["messages"].as_array().unwrap().iter().flat_map(of).collect()
}

fn strip(mut value: Json) -> Json {
    if let Json::Object(map) = &mut value {
        map.remove("_reserved_");
        map.values_mut().for_each(|value| *value = strip(value.take()));
    } else if let Json::Array(items) = &mut value {
        for value in items {
            *value = strip(value.take());
        }
    }
    value
}

fn run(command: &str, input: &str, output: &str, flags: &str) -> Run {
    tgm([command, input, "-o", output].into_iter().chain(flags.split_whitespace()))
}

/// A file of one message of three objects, in a folder.
fn three(folder: &std::path::Path) -> String {
    let path = folder.join("three.tgm").display().to_string();
    let mut gaps = field(3200);
    gaps[7] = f64::NAN;
    let inputs = [
        doubles(folder, "plain.npy", &field(3200)),
        doubles(folder, "gaps.npy", &gaps),
        write(folder, "bools.npy", &npy(1, "'|b1'", false, "(16,)", &[1, 0, 0, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 1, 0])),
    ];
    let json = br#"{"base": [{"n": 0}, {"n": 1}, {"n": 2}], "extra": {"made": "here"}}"#;
    let about = write(folder, "about.json", json);
    let flags = ["--bitmask", "--allow-nan", "--nan-mask-method", "rle", "--metadata", &about];
    tgm(["create", "-o", &path].into_iter().chain(inputs.iter().map(String::as_str)).chain(flags)).good();
    path
}

#[test]
fn only_what_is_asked_for_changes() {
    let folder = tempfile::tempdir().unwrap();
    let path = three(folder.path());
    let target = folder.path().join("out.tgm").display().to_string();
    let report = run("repack", &path, &target, "--filter shuffle --compression zstd --object 0 --object 1 --verify");
    let report = report.good();
    assert!(
        report.text().contains("2 of 3 objects encoded") && report.text().contains("values equal"),
        "{}",
        report.text()
    );
    assert_eq!(digests(&target), digests(&path));
    assert_eq!(metadata(&target), metadata(&path));
    let (before, after) = (objects(&path), objects(&target));
    assert_eq!((&after[0]["compression"], &after[1]["filter"]), (&json!("zstd"), &json!("shuffle")));
    assert_eq!((&after[1]["masks"], &after[2]), (&json!(["nan"]), &before[2]));
    assert!(tgm(["dump", "--json", &target]).good().text().contains("\"method\":\"rle\""));
    // Stages without a flag stay.
    run("repack", &target, &target, "--level 12 --object 1").good();
    assert_eq!(digests(&target), digests(&path));
    assert_eq!(objects(&target)[1]["filter"], "shuffle");
    // Keys select objects. A message without a selected object stays byte for byte.
    run("repack", &path, &target, "-w n=2 --compression rle").good();
    assert_eq!(objects(&target)[2]["compression"], "rle");
    assert_eq!(objects(&target)[..2], before[..2]);
    run("repack", &path, &target, "-w n=7 --compression rle").good();
    assert!(fs::read(&target).unwrap() == fs::read(&path).unwrap());
}

#[test]
fn lossy_stages_say_how_far_values_are_and_are_not_gone_through_twice() {
    let folder = tempfile::tempdir().unwrap();
    let path = three(folder.path());
    let target = folder.path().join("out.tgm").display().to_string();
    let report = run("repack", &path, &target, "--max-error 0.01 -w n!=2 --verify").good();
    let error: f64 = report.text().trim().rsplit(' ').next().unwrap().parse().unwrap();
    assert!(error > 1e-3 && error <= 0.01, "{}", report.text());
    assert!(report.text().contains("ratio"));
    assert_eq!(objects(&target)[1]["masks"], json!(["nan"]));
    let packed = digests(&target);
    // Packed values are packed again to the same bits.
    for flags in ["--compression lz4", "--filter shuffle", "--filter none --compression zstd", ""] {
        let report = run("repack", &target, &target, &format!("{flags} --verify")).good();
        assert!(report.text().contains("values equal"), "{flags}: {}", report.text());
        assert_eq!(digests(&target), packed);
    }
    run("repack", &path, &target, "--zfp rate=12 --object 0").good();
    let lossy = digests(&target);
    let report = run("repack", &target, &target, "--zfp rate=12 --object 0").good();
    assert!(report.text().contains("0 of 3 objects encoded"), "{}", report.text());
    assert_eq!(digests(&target), lossy);
    let both = run("repack", &target, &target, "--bits 12 --zfp rate=12 --object 0");
    assert!(both.stderr.contains("none can stand before it"), "{}", both.stderr);
}

#[test]
fn what_fails_leaves_the_output_as_it_was_and_says_where() {
    let folder = tempfile::tempdir().unwrap();
    let path = three(folder.path());
    let target = folder.path().join("out.tgm").display().to_string();
    fs::write(&target, b"precious").unwrap();
    let mut torn = fs::read(&path).unwrap();
    torn.extend(b"rubbish");
    let torn = write(folder.path(), "torn.tgm", &torn);
    let missing = folder.path().join("missing.tgm").display().to_string();
    let count = fs::read_dir(folder.path()).unwrap().count();
    for (second, flags, text) in [
        (torn.as_str(), "", "7 bytes at offset"),
        (&missing, "", "missing.tgm"),
        (&data("malformed/hash/single-payload-bitflip.tgm"), "", "hash mismatch"),
        (&path, "--compression rle", "three.tgm: message 0, object 0"),
        (&path, "--bits 8 --object 2", "three.tgm: message 0, object 2"),
    ] {
        let run = tgm(["repack", &path, second, "-o", &target].into_iter().chain(flags.split_whitespace()));
        assert_eq!(run.code, Some(1), "{second}");
        assert!(run.stderr.contains(text), "{}", run.stderr);
        assert_eq!(fs::read(&target).unwrap(), b"precious");
    }
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), count);
    assert_eq!(run("repack", &path, &target, "--encoding none --bits 4").code, Some(2));
    assert_eq!(tgm(["repack", &path]).code, Some(2));
    // Standard output gets messages, standard error gets text.
    let piped = run("repack", &path, "-", "--compression lz4");
    assert!(piped.code == Some(0) && piped.stderr.contains("ratio"), "{}", piped.stderr);
    fs::write(&target, &piped.stdout).unwrap();
    assert_eq!(digests(&target), digests(&path));
}

#[test]
fn reshuffled_messages_have_the_same_values_and_metadata_and_an_index_up_front() {
    let folder = tempfile::tempdir().unwrap();
    let target = folder.path().join("out.tgm").display().to_string();
    let decodes = |path: &PathBuf| {
        let bytes = fs::read(path).unwrap();
        let options = DecodeOptions::default();
        let is_good = |(offset, length): (usize, usize)| decode(&bytes[offset..offset + length], &options).is_ok();
        tgm_std::scan(&bytes).into_iter().all(is_good) && !has_junk(path)
    };
    let folders = ["streaming", "masks", "preceder", "zfp", "versions"];
    let paths: Vec<_> = folders.into_iter().flat_map(files).filter(decodes).collect();
    assert!(paths.len() > 20, "{}", paths.len());
    let path = folder.path().join("in.tgm").display().to_string();
    fs::write(&path, together(&paths)).unwrap();
    run("reshuffle", &path, &target, "").good();
    for (index, (found, expected)) in digests(&target).iter().zip(&digests(&path)).enumerate() {
        assert_eq!(found, expected, "object {index}");
    }
    for (found, expected) in metadata(&target).iter().zip(&metadata(&path)) {
        assert_eq!(found, expected);
    }
    let count = |path: &str| tgm_std::scan(&fs::read(path).unwrap()).len();
    assert_eq!(count(&target), count(&path));
    assert!(!tgm(["frames", &target]).good().text().contains("Footer"));
    tgm(["verify", &target]).good();
    let before = fs::read(&target).unwrap();
    run("reshuffle", &target, &target, "").good();
    let after = fs::read(&target).unwrap();
    assert!(after.len() == before.len() && after != before);
}

#[test]
fn damaged_files_are_not_made_anew() {
    let folder = tempfile::tempdir().unwrap();
    let target = folder.path().join("out.tgm").display().to_string();
    let mut refused = 0;
    for (path, _) in of_class("malformed") {
        let path = path.to_str().unwrap();
        let run = run("reshuffle", path, &target, "");
        let is_good = tgm(["verify", "--allow-missing", path]).code == Some(0);
        assert!(matches!(run.code, Some(0 | 1)), "{path}: {}", run.stderr);
        if run.code == Some(1) {
            assert!(!run.stderr.is_empty() && !fs::exists(&target).unwrap(), "{path}");
            refused += 1;
        } else {
            assert!(is_good, "{path}");
            fs::remove_file(&target).unwrap();
        }
    }
    assert!(refused > 20, "{refused}");
}

#[test]
fn repack_with_a_check_is_reshuffle() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("in.tgm").display().to_string();
    let target = folder.path().join("out.tgm").display().to_string();
    let input = doubles(folder.path(), "plain.npy", &field(3200));
    tgm(["create", &input, "-o", &path, "--compression", "zstd", "--no-hash"]).good();
    for (command, flags) in [("reshuffle", ""), ("repack", "--check")] {
        run(command, &path, &target, flags).code.filter(|code| *code == 0).unwrap();
        assert_eq!(digests(&target), digests(&path), "{command}");
        fs::remove_file(&target).unwrap();
    }
    // The end of the payload, which no digest covers.
    let mut bytes = fs::read(&path).unwrap();
    let zstd = bytes.windows(4).position(|bytes| bytes == [0x28, 0xB5, 0x2F, 0xFD]).unwrap();
    bytes[zstd + 40..zstd + 60].fill(0xFF);
    fs::write(&path, bytes).unwrap();
    for (command, flags, code) in [("reshuffle", "", 1), ("repack", "--check", 1), ("repack", "", 0)] {
        let run = run(command, &path, &target, flags);
        assert_eq!(run.code, Some(code), "{command} {flags}: {}", run.stderr);
    }
}

#[test]
fn descriptors_come_first_if_that_is_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    let path = three(folder.path());
    let out = folder.path().join("out.tgm").display().to_string();
    for flags in ["", "--compression zstd", "--object 1 --compression lz4"] {
        for (flag, is_first) in [("--descriptor-first", true), ("", false)] {
            run("repack", &path, &out, &format!("{flags} {flag} --verify"));
            assert_eq!(digests(&path), digests(&out), "{flags}");
            assert_eq!(metadata(&path), metadata(&out), "{flags}");
            tgm(["verify", &out]).good();
            let json = tgm(["dump", "--json", &out]).good().json();
            let objects = json["messages"][0]["objects"].as_array().unwrap().clone();
            assert_eq!(objects.len(), 3);
            for object in objects {
                let place = |key: &str| object["layout"][key].as_u64().unwrap();
                assert_eq!(place("descriptor_offset") < place("payload_offset"), is_first, "{flags} {flag}");
            }
        }
    }
}

#[test]
fn unsuitable_objects_are_copied_on_demand_and_named() {
    let folder = Folder::new();
    // The second object has float32, which would become float64.
    let message = MessageBuilder::new()
        .object(ObjectBuilder::new(&[3], &[1.5_f64, 2.5, 4.0]).unwrap())
        .object(ObjectBuilder::new(&[3], &[1.5_f32, 2.5, 4.0]).unwrap());
    let (path, out) = (folder.path("both.tgm"), folder.path("out.tgm"));
    fs::write(&path, message.encode().unwrap()).unwrap();
    let arguments =
        ["repack", "--encoding", "simple_packing", "--bits", "12", "--compression", "none", &path, "-O", &out];
    let run = tgm(arguments);
    assert_eq!((run.code, folder.names().len()), (Some(1), 1), "{}", run.stderr);
    let run = tgm(arguments.iter().chain(&["--skip-unsuitable"]));
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    assert!(run.stderr.contains("left as it is: ") && run.stderr.contains("message 0, object 1: "), "{}", run.stderr);
    assert!(run.text().contains("1 of 2 objects encoded"), "{}", run.text());
    let last = |path: &str| digests(path).pop();
    assert_eq!(last(&out), last(&path));
}

#[test]
fn bits_are_not_packed_unless_they_are_named() {
    let folder = Folder::new();
    let (path, out) = (data("realistic/surface-181x360.tgm"), folder.path("out.tgm"));
    let run = tgm(["repack", "--bits", "12", "--compression", "none", &path, "-O", &out]);
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    assert!(run.stderr.contains("1 coordinate or code keeps its values"), "{}", run.stderr);
    let last = |path: &str| digests(path).pop();
    assert_eq!(last(&out), last(&path));
    let run = tgm(["repack", "--bits", "12", "--compression", "none", "--object", "2", &path, "-O", &out]);
    assert_eq!(run.code, Some(1), "{}", run.stderr);
}

#[test]
fn levels_that_the_compression_lacks_are_refused() {
    let folder = Folder::new();
    let (path, out) = (data("dtypes/float64-little.tgm"), folder.path("out.tgm"));
    for (compression, level) in [("zstd", "99"), ("zstd", "23"), ("blosc2", "10"), ("lz4", "1")] {
        let run = tgm(["repack", "--compression", compression, "--level", level, &path, "-O", &out]);
        assert_eq!((run.code, run.stderr.contains("level")), (Some(2), true), "{compression} {level}: {}", run.stderr);
    }
    assert_eq!(tgm(["repack", "--compression", "zstd", "--level", "22", &path, "-O", &out]).code, Some(0));
    // Without --compression, the compression of each object decides.
    let run = tgm(["repack", "--level", "99", &out, "-O", &out]);
    assert!(run.code == Some(1) && run.stderr.contains("levels of zstd are"), "{}", run.stderr);
}

/// Sizes before and after in the line of `repack`.
fn sizes(run: &Run) -> (u64, u64) {
    let line = String::from_utf8(run.stdout.clone()).unwrap();
    let sizes = line.split(", ").find(|part| part.contains(" -> ")).unwrap();
    let (before, after) = sizes.trim_end_matches(" bytes").split_once(" -> ").unwrap();
    (before.parse().unwrap(), after.parse().unwrap())
}

/// A smooth field of 16 bits with szip.
fn smooth(folder: &Folder) -> String {
    let (array, packed) = (doubles(folder.path("").as_ref(), "smooth.npy", &field(200_000)), folder.path("smooth.tgm"));
    tgm(["create", "-O", &packed, "--bits", "16", "--compression", "szip", &array]).good();
    packed
}

#[test]
fn best_takes_the_smallest_lossless_stages_and_a_dry_run_writes_nothing() {
    let folder = Folder::new();
    let packed = smooth(&folder);
    for input in [packed.clone(), three(folder.path("").as_ref())] {
        let (out, before) = (folder.path("best.tgm"), digests(&input));
        let best = sizes(&run("repack", &input, &out, "--best").good());
        assert_eq!(digests(&out), before);
        let dry = tgm(["repack", &input, "--dry-run", "--best"]).good();
        assert_eq!(sizes(&dry), best);
        for flags in ["--compression zstd", "--filter shuffle --compression zstd", "--compression none"] {
            let other = sizes(&run("repack", &input, &folder.path("other.tgm"), flags));
            assert!(best.1 <= other.1 + 200, "{flags}: {best:?} {other:?}");
        }
        // Without time, objects keep their stages.
        assert_eq!(sizes(&tgm(["repack", &input, "--dry-run", "--best", "--budget", "0"]).good()).1, best.0);
    }
    assert_eq!(
        fs::read_dir(folder.path("")).unwrap().filter(|file| file.as_ref().unwrap().file_name() == "-").count(),
        0
    );
    for flags in ["--best --compression zstd", "--budget 3", "--best --budget -1"] {
        assert_eq!(run("repack", &packed, &folder.path("x"), flags).code, Some(2), "{flags}");
    }
    let run = tgm(["repack", &packed]);
    assert_eq!(run.code, Some(2), "{}", run.stderr);
}

#[test]
fn stages_that_make_a_file_larger_are_told() {
    let folder = Folder::new();
    let packed = smooth(&folder);
    let larger = run("repack", &packed, &folder.path("x.tgm"), "--compression lz4");
    assert_eq!(larger.code, Some(0));
    assert!(larger.stderr.contains("times as large as before"), "{}", larger.stderr);
    run("repack", &packed, &folder.path("x.tgm"), "--compression none").good();
}

/// Integers of 12 bits become samples of 16 bits.
#[test]
fn packed_values_of_any_width_get_szip_with_the_same_values() {
    let folder = Folder::new();
    let (array, packed) = (doubles(folder.path("").as_ref(), "in.npy", &field(3200)), folder.path("in.tgm"));
    for bits in ["1", "7", "12", "20", "31"] {
        tgm(["create", "-O", &packed, "--bits", bits, &array]).good();
        for flags in ["--compression szip", "--filter shuffle --compression szip"] {
            let out = folder.path("out.tgm");
            run("repack", &packed, &out, flags).good();
            assert_eq!(digests(&out), digests(&packed), "{bits} {flags}");
        }
    }
}

/// What an object had before does not stand in the way.
#[test]
fn any_stages_become_any_others() {
    let folder = Folder::new();
    let input = field(999);
    let array = doubles(folder.path("").as_ref(), "in.npy", &input);
    let stages = [
        "--encoding none --filter none --compression none",
        "--compression szip",
        "--compression zstd",
        "--filter shuffle --compression lz4",
        "--bits 16",
        "--bits 24 --filter shuffle",
        "--max-error 0.01 --compression szip",
        #[cfg(feature = "full")]
        "--zfp tolerance=0.01",
        #[cfg(feature = "full")]
        "--sz3 abs=0.01",
    ];
    let (first, second) = (folder.path("first.tgm"), folder.path("second.tgm"));
    for before in stages {
        tgm(["create", &array, "-O", &first].into_iter().chain(before.split(' '))).good();
        for after in stages {
            run("repack", &first, &second, after).good();
            let (_, objects) = decode(&fs::read(&second).unwrap(), &DecodeOptions::default()).unwrap();
            let found = objects[0].1.as_chunks().0.iter().map(|bytes| f64::from_ne_bytes(*bytes));
            assert!(found.zip(&input).all(|(found, value)| (found - value).abs() <= 0.03), "{before}, {after}");
        }
    }
}

/// They are packed to no bits, as constant fields of GRIB are.
#[test]
fn constant_values_have_nothing_to_compress() {
    let folder = Folder::new();
    let (array, packed) = (doubles(folder.path("").as_ref(), "in.npy", &[1.5; 99]), folder.path("in.tgm"));
    tgm(["create", "-O", &packed, "--bits", "0", &array]).good();
    let out = folder.path("out.tgm");
    for flags in
        ["--compression szip", "--szip 64,16,8", "--filter shuffle --compression szip", "--compression zstd --level 9"]
    {
        run("repack", &packed, &out, flags).good();
        assert_eq!(digests(&out), digests(&packed), "{flags}");
        let listing = tgm(["ls", &out]).good().text().to_string();
        assert!(!listing.contains("szip") && !listing.contains("zstd"), "{flags}");
    }
}

#[test]
fn messages_come_in_order_with_any_number_of_threads() {
    let folder = Folder::new();
    let inputs: Vec<_> =
        (0..40_u32).map(|at| doubles(folder.path("").as_ref(), &format!("{at}.npy"), &[f64::from(at); 9])).collect();
    let all = folder.path("all.tgm");
    tgm(["create", "-O", &all, "--each"].into_iter().chain(inputs.iter().map(String::as_str))).good();
    let expected = digests(&all);
    for threads in ["0", "1", "2", "5"] {
        let out = folder.path("out.tgm");
        run("repack", &all, &out, &format!("--compression zstd --threads {threads}")).good();
        assert_eq!(digests(&out), expected, "{threads}");
        let stats = tgm(["stats", "--json", "--threads", threads, &all]).good().json();
        let means: Vec<_> =
            stats["messages"].as_array().unwrap().iter().map(|m| m["objects"][0]["mean"].clone()).collect();
        assert_eq!(means, (0..40_u32).map(|at| json!(f64::from(at))).collect::<Vec<_>>());
    }
    let set = folder.path("set.tgm");
    tgm(["set", "-s", "run=7", &all, &set]).good();
    assert_eq!(digests(&set), expected);
}
