//! `tgm create`: messages from `.npy` files and raw values.

use std::fs;

use serde_json::{Value as Json, json};

use crate::npy::{doubles, field, npy, write};
use crate::tool::{command, tgm};

/// The tool's output for these arguments. The run must succeed.
fn good(arguments: &[&str]) -> Vec<u8> {
    tgm(arguments).good().stdout
}

/// Values of an object in little-endian order.
fn values(path: &str, object: usize) -> Vec<u8> {
    good(&["extract", path, "-o", &object.to_string(), "--byte-order", "little"])
}

fn objects(path: &str) -> Json {
    tgm(["ls", "--json", path]).good().json()["messages"][0]["objects"].clone()
}

#[test]
fn arrays_of_every_type_come_back_as_they_were() {
    let folder = tempfile::tempdir().unwrap();
    let types = [
        ("f2", "float16", 2, 2),
        ("V2", "bfloat16", 2, 2),
        ("f4", "float32", 4, 4),
        ("f8", "float64", 8, 8),
        ("c8", "complex64", 8, 4),
        ("c16", "complex128", 16, 8),
        ("i1", "int8", 1, 1),
        ("i2", "int16", 2, 2),
        ("i4", "int32", 4, 4),
        ("i8", "int64", 8, 8),
        ("u1", "uint8", 1, 1),
        ("u2", "uint16", 2, 2),
        ("u4", "uint32", 4, 4),
        ("u8", "uint64", 8, 8),
    ];
    for version in 1..=3 {
        let (mut paths, mut expected) = (Vec::new(), Vec::new());
        for (kind, dtype, width, unit) in types {
            for order in ["<", ">"] {
                // No byte gives the exponent of NaN or infinity.
                let data: Vec<u8> = (0..6 * width).map(|i| u8::try_from(i % 97).unwrap()).collect();
                let file = npy(version, &format!("'{order}{kind}'"), false, "(2, 3)", &data);
                paths.push(write(folder.path(), &format!("{}-{kind}.npy", order == "<"), &file));
                let mut little = data;
                if order == ">" {
                    little.chunks_mut(unit).for_each(<[u8]>::reverse);
                }
                expected.push((dtype, if order == ">" && unit > 1 { "big" } else { "little" }, little));
            }
        }
        let target = folder.path().join("out.tgm");
        let target = target.to_str().unwrap();
        let inputs = paths.iter().map(String::as_str);
        tgm(["create", "-o", target].into_iter().chain(inputs)).good();
        let objects = objects(target);
        for (index, (dtype, order, little)) in expected.iter().enumerate() {
            let object = &objects[index];
            assert_eq!((&object["dtype"], &object["shape"]), (&json!(dtype), &json!([2, 3])));
            if little.len() > 6 && cfg!(target_endian = "little") {
                assert_eq!(&object["byte_order"], order, "{dtype}");
            }
            assert!(&values(target, index) == little, "{dtype} {order}");
        }
    }
}

#[test]
fn columns_are_transposed_and_truth_values_are_packed_unless_asked() {
    let folder = tempfile::tempdir().unwrap();
    let fortran = write(folder.path(), "f.npy", &npy(1, "'|u1'", true, "(2, 3)", &[0, 3, 1, 4, 2, 5]));
    let bools = write(folder.path(), "b.npy", &npy(1, "'|b1'", true, "(5, 2)", &[1, 1, 0, 0, 1, 0, 1, 0, 0, 1]));
    let target = folder.path().join("out.tgm").display().to_string();
    good(&["create", "--no-bitmask", "-o", &target, &fortran, &bools]);
    assert_eq!(values(&target, 0), [0, 1, 2, 3, 4, 5]);
    assert_eq!(values(&target, 1), [1, 0, 1, 1, 0, 0, 0, 0, 1, 1]);
    for compression in ["none", "rle", "roaring", "zstd", "lz4"] {
        good(&["create", "-o", &target, &bools, "--compression", compression]);
        assert_eq!(values(&target, 0), [0b1011_0000, 0b1100_0000]);
        let object = &objects(&target)[0];
        assert_eq!((&object["dtype"], &object["compression"]), (&json!("bitmask"), &json!(compression)));
    }
}

#[test]
fn truth_values_come_back_as_they_were() {
    let folder = tempfile::tempdir().unwrap();
    let target = folder.path().join("out.tgm").display().to_string();
    let npy_of = |shape: &str, data: &[u8]| {
        let path = write(folder.path(), "b.npy", &npy(1, "'|b1'", false, shape, data));
        good(&["create", "-o", &target, &path]);
        good(&["extract", &target, "--format", "npy"])
    };
    let data: Vec<u8> = (0..3 * 7 * 5).map(|i| u8::from(i % 3 == 0 || i % 7 == 2)).collect();
    let back = npy_of("(3, 7, 5)", &data);
    let (header, values) = back.split_at(back.len() - data.len());
    assert!(String::from_utf8_lossy(header).contains("{'descr': '|b1', 'fortran_order': False, 'shape': (3, 7, 5), }"));
    assert!(values == data);
    // The written file reads back byte for byte.
    let again = write(folder.path(), "again.npy", &back);
    good(&["create", "-o", &target, &again]);
    assert!(good(&["extract", &target, "--format", "npy"]) == back);
    let ranges = ["extract", &target, "--format", "npy", "--range", "3:9", "--range", "50:2"];
    assert!(good(&ranges).ends_with(&[&data[3..12], &data[50..52]].concat()));
    for (shape, data) in [("()", &[1_u8][..]), ("(0, 4)", &[]), ("(9,)", &[1; 9])] {
        let back = npy_of(shape, data);
        assert!(String::from_utf8_lossy(&back).contains(shape) && back.ends_with(data), "{shape}");
        assert_eq!(back.len() % 64, data.len(), "{shape}");
    }
}

#[test]
fn szip_does_not_store_other_bits_than_were_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    let target = folder.path().join("out.tgm").display().to_string();
    let values = doubles(folder.path(), "v.npy", &field(64));
    for bits in ["0", "12", "33"] {
        for szip in [&["--compression", "szip"][..], &["--szip", "128,16,8"]] {
            let run = tgm(["create", "-o", &target, &values, "--bits", bits].iter().chain(szip));
            assert_eq!(run.code, Some(2));
            assert!(run.stderr.contains("8, 16, 24 or 32 bits"), "{}", run.stderr);
        }
    }
    let run = tgm(["create", "-o", &target, &values, "--max-error", "1e-9", "--compression", "szip"]);
    assert!(run.code == Some(1) && run.stderr.contains("8, 16, 24 or 32 bits, not of 40"), "{}", run.stderr);
    assert!(run.stderr.starts_with("error: "), "{}", run.stderr);
    for (bits, compression) in
        [("8", "szip"), ("16", "szip"), ("24", "szip"), ("32", "szip"), ("12", "none"), ("12", "lz4")]
    {
        good(&["create", "-o", &target, &values, "--bits", bits, "--compression", compression]);
        let dump = tgm(["dump", "--json", &target]).good().json();
        let descriptor = &dump["messages"][0]["objects"][0]["descriptor"];
        assert_eq!(descriptor["sp_bits_per_value"].to_string(), bits, "{compression}");
    }
}

/// Samples of szip have at most 32 bits. For wider values, and for single bits, it gets the bytes.
#[test]
fn szip_takes_values_of_every_type() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let (plain, target) =
        (folder.join("plain.tgm").display().to_string(), folder.join("out.tgm").display().to_string());
    let bytes: Vec<u8> = (0..96).map(|byte| byte / 3).collect();
    for dtype in tgm_core::descriptor::Dtype::ALL {
        let count = if dtype.byte_width() == 0 { 8 * bytes.len() } else { bytes.len() / dtype.byte_width() };
        let input = write(folder, "in.bin", &bytes);
        let form = format!("{},{count}", dtype.name());
        good(&["create", "-o", &plain, &input, "--raw", &form]);
        for flags in [["--compression", "szip"], ["--szip", "64,16,8"]] {
            let made = [&["create", "-o", &target, &input, "--raw", &form][..], &flags].concat();
            let again = [&["repack", "-O", &target, &plain][..], &flags].concat();
            for command in [made, again] {
                good(&command);
                assert_eq!(values(&target, 0), bytes, "{command:?}");
                assert_eq!(objects(&target)[0]["compression"], "szip", "{command:?}");
            }
        }
    }
    let run = tgm(["repack", "-O", &target, &plain, "--filter", "none", "--compression", "szip"]);
    assert!(run.code == Some(1) && run.stderr.contains("bits_per_sample"), "{}", run.stderr);
}

#[test]
fn bare_values_are_what_raw_says_and_may_come_from_a_pipe() {
    let folder = tempfile::tempdir().unwrap();
    let target = folder.path().join("out.tgm").display().to_string();
    let one = write(folder.path(), "one.bin", &[0, 1, 0, 2, 0, 3, 0, 4]);
    let two = write(folder.path(), "two.bin", &[1, 2, 3, 4, 5, 6, 7, 8]);
    good(&["create", "-o", &target, &one, &two, "--raw", "u16,2x2,big"]);
    assert_eq!(values(&target, 0), [1, 0, 2, 0, 3, 0, 4, 0]);
    good(&["create", "-o", &target, &one, &two, "--raw", "int8,8", "--raw", "float64,scalar,little"]);
    assert_eq!(objects(&target)[1]["shape"], json!([]));
    assert_eq!(values(&target, 1), [1, 2, 3, 4, 5, 6, 7, 8]);
    for (forms, text) in [
        (vec![], "--raw says"),
        (vec!["--raw", "u8,7"], "8 bytes of values, and uint8 of shape [7] has 7"),
        (vec!["--raw", "u8,8", "--raw", "u8,8", "--raw", "u8,8"], "given 3 times"),
    ] {
        let run = tgm(["create", "-o", &target, &one, &two].into_iter().chain(forms));
        assert!(run.code == Some(1) && run.stderr.contains(text), "{}", run.stderr);
    }
    let mut piped = command(["create", "-o", "-", "-", "--raw", "bitmask,9"]);
    let child = piped.stdin(fs::File::open(&two).unwrap()).output().unwrap();
    // Nine bits have two bytes.
    assert_eq!((child.status.code(), child.stdout.len()), (Some(1), 0));
    let mut piped = command(["create", "-o", "-", "-", "--raw", "bitmask,8x8"]);
    let child = piped.stdin(fs::File::open(&two).unwrap()).output().unwrap();
    fs::write(&target, &child.stdout).unwrap();
    assert_eq!(values(&target, 0), [1, 2, 3, 4, 5, 6, 7, 8]);
}

#[test]
fn every_pipeline_gives_back_what_it_promises() {
    let folder = tempfile::tempdir().unwrap();
    let input = field(5000);
    let path = doubles(folder.path(), "field.npy", &input);
    let target = folder.path().join("out.tgm").display().to_string();
    let pipelines = [
        ("", 0.0, "none none none"),
        ("--compression zstd --level 9", 0.0, "none none zstd"),
        ("--filter shuffle --compression zstd", 0.0, "none shuffle zstd"),
        ("--compression lz4", 0.0, "none none lz4"),
        ("--filter shuffle --compression szip", 0.0, "none shuffle szip"),
        ("--filter shuffle --szip 64,32,8", 0.0, "none shuffle szip"),
        ("--blosc2 zstd --level 3", 0.0, "none none blosc2"),
        ("--compression blosc2", 0.0, "none none blosc2"),
        ("--sz3 abs=0", 0.0, "none none sz3"),
        ("--sz3 abs=0.01", 0.01, "none none sz3"),
        ("--zfp tolerance=0.01", 0.01, "none none zfp"),
        ("--zfp rate=32", 1e-3, "none none zfp"),
        ("--zfp precision=40", 1e-6, "none none zfp"),
        ("--bits 16", 3e-4, "simple_packing none none"),
        ("--encoding simple_packing", 3e-4, "simple_packing none none"),
        ("--bits 24 --compression szip", 2e-6, "simple_packing none szip"),
        ("--max-error 0.01", 0.01, "simple_packing none none"),
        ("--max-error 0.01 --compression szip", 0.01, "simple_packing none szip"),
        ("--bits 20 --decimal-scale 2", 2e-5, "simple_packing none none"),
        ("--bits 12 --filter shuffle --compression lz4", 5e-3, "simple_packing shuffle lz4"),
    ];
    let mut done = 0;
    for (flags, error, stages) in pipelines {
        let run = tgm(["create", "-o", &target, &path].into_iter().chain(flags.split_whitespace()));
        // Encoders that a build may lack.
        if (flags.contains("blosc2") || flags.contains("sz3")) && run.code == Some(1) {
            assert!(run.stderr.contains(" compression: "), "{}", run.stderr);
            continue;
        }
        run.good();
        let object = &objects(&target)[0];
        let found = ["encoding", "filter", "compression"].map(|stage| object[stage].as_str().unwrap()).join(" ");
        assert_eq!(found, stages, "{flags}");
        let decoded = values(&target, 0);
        let decoded = decoded.as_chunks().0.iter().map(|bytes| f64::from_le_bytes(*bytes));
        assert_eq!(decoded.len(), input.len());
        let greatest = decoded.zip(&input).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        assert!(greatest <= error, "{flags}: {greatest}");
        assert_eq!(tgm(["verify", &target]).good().code, Some(0));
        done += 1;
    }
    assert!(done >= 17, "{done}");
    // The fewest bits that suffice.
    good(&["create", "-o", &target, &path, "--max-error", "0.01"]);
    let dump = tgm(["dump", "--json", &target]).good().text().to_string();
    assert!(dump.contains("\"sp_bits_per_value\":11"), "{dump}");
}

#[test]
fn other_types_are_converted_for_stages_that_want_float64_if_allowed() {
    let folder = tempfile::tempdir().unwrap();
    let data: Vec<u8> = [1.5_f32, -2.0, 1e6].iter().flat_map(|value| value.to_be_bytes()).collect();
    let path = write(folder.path(), "x.npy", &npy(1, "'>f4'", false, "(3,)", &data));
    let target = folder.path().join("out.tgm").display().to_string();
    for flags in [["--bits", "32"], ["--zfp", "tolerance=0.001"]] {
        let run = tgm(["create", "-o", &target, &path].iter().chain(&flags));
        assert!(run.code == Some(1) && run.stderr.contains("--convert"), "{}", run.stderr);
        tgm(["create", "-o", &target, &path, "--convert"].iter().chain(&flags)).good();
        assert_eq!(objects(&target)[0]["dtype"], "float64");
        let value = f64::from_le_bytes(values(&target, 0)[..8].try_into().unwrap());
        assert!((value - 1.5).abs() < 1e-3, "{value}");
    }
}

#[test]
fn nan_and_infinities_need_leave_and_become_masks() {
    let folder = tempfile::tempdir().unwrap();
    let mut input = field(2000);
    input[3] = f64::NAN;
    input[5] = f64::NEG_INFINITY;
    let path = doubles(folder.path(), "gaps.npy", &input);
    let target = folder.path().join("out.tgm").display().to_string();
    let of = |flags: &[&str]| tgm(["create", "-o", &target, &path].iter().chain(flags));
    for (flags, text) in [
        (&[][..], "NaN at element 3 of float64 array; --allow-nan stores"),
        (&["--allow-inf"], "NaN at element 3 of float64 array; --allow-nan stores"),
        (&["--allow-nan"], "-Inf at element 5 of float64 array; --allow-inf stores"),
        (&["--allow-nan", "--allow-inf=false"], "-Inf at element 5 of float64 array; --allow-inf stores"),
        (&["--bits", "16"], "NaN at element 3 of float64 array; --allow-nan stores"),
    ] {
        let run = of(flags);
        assert!(run.code == Some(1) && run.stderr.contains(text), "{flags:?}: {}", run.stderr);
        assert!(run.stderr.contains("gaps.npy") && run.stderr.contains("object 0"), "{}", run.stderr);
        assert!(!fs::exists(&target).unwrap());
    }
    let whole: Vec<u8> = input.iter().flat_map(|value| value.to_le_bytes()).collect();
    for method in ["none", "rle", "roaring", "lz4", "zstd"] {
        of(&["--allow-nan", "--allow-inf=true", "--nan-mask-method", method]).good();
        assert!(values(&target, 0) == whole, "{method}");
        let dump = tgm(["dump", "--json", &target]).good().text().to_string();
        assert!(dump.contains(&format!("\"method\":\"{method}\"")), "{dump}");
    }
    for flags in [&["--bits", "16"][..], &["--max-error", "0.001"], &["--max-error", "0.001", "--compression", "szip"]]
    {
        of(&[&["--allow-nan", "--allow-inf"], flags].concat()).good();
        let decoded = values(&target, 0);
        for (bytes, value) in decoded.as_chunks().0.iter().zip(&input) {
            let decoded = f64::from_le_bytes(*bytes);
            let is_near = (decoded - value).abs() < 1e-3;
            assert!(is_near || decoded.to_bits() == value.to_bits(), "{decoded} {value}");
        }
    }
    let mut by_environment = command(["create", "-o", &target, &path]);
    by_environment.env("TENSOGRAM_ALLOW_NAN", "1").env("TENSOGRAM_ALLOW_INF", "true");
    by_environment.env("TENSOGRAM_NAN_MASK_METHOD", "rle").env("TENSOGRAM_SMALL_MASK_THRESHOLD", "0");
    assert_eq!(by_environment.output().unwrap().status.code(), Some(0));
    assert!(tgm(["dump", "--json", &target]).good().text().contains("\"method\":\"rle\""));
}

#[test]
fn metadata_comes_from_a_file_and_from_settings() {
    let folder = tempfile::tempdir().unwrap();
    let paths = ["a.npy", "b.npy"].map(|name| doubles(folder.path(), name, &[1.0]));
    let target = folder.path().join("out.tgm").display().to_string();
    let get = |keys: &str| tgm(["get", "-p", keys, &target]).good().text().to_string();
    let json = |text: &str| write(folder.path(), "m.json", text.as_bytes());
    let create = |flags: &[&str]| {
        tgm(["create", "-o", &target].into_iter().chain(paths.iter().map(String::as_str)).chain(flags.iter().copied()))
    };
    let each = json(r#"{"base": [{"mars": {"param": "2t"}}, {"mars": {"param": "10u"}}], "extra": {"source": "x"}}"#);
    create(&["--metadata", &each, "-s", "mars.step=6,extra.run=[1,2],text=a b", "--each"]).good();
    assert_eq!(get("mars.param,mars.step,source,run,text"), "2t 6 x [1,2] a b\n10u 6 x [1,2] a b\n");
    create(&["--metadata", &json(r#"{"base": {"k": null}}"#), "-s", "k=1"]).good();
    assert_eq!(get("k"), "1\n");
    for (text, problem) in [
        (r#"{"base": [{}]}"#, "base has 1 entries, and there are 2 objects"),
        (r#"{"bases": []}"#, "no place for"),
        ("{", "m.json"),
        (r#"{"base": {"_reserved_": 1}}"#, "_reserved_"),
    ] {
        let run = create(&["--metadata", &json(text)]);
        assert!(run.code == Some(1) && run.stderr.contains(problem), "{}", run.stderr);
    }
}

#[test]
fn messages_are_appended_whole_or_not_at_all() {
    let folder = tempfile::tempdir().unwrap();
    let paths = ["a.npy", "b.npy"].map(|name| doubles(folder.path(), name, &field(10)));
    let bad = write(folder.path(), "bad.npy", b"\x93NUMPY\x01\x00");
    let target = folder.path().join("out.tgm").display().to_string();
    let count = || tgm(["digest", "--json", &target]).good().json()["messages"].as_array().unwrap().len();
    good(&["create", "--append", "-o", &target, &paths[0], &paths[1]]);
    good(&["create", "--append", "--each", "-o", &target, &paths[0], &paths[1]]);
    assert_eq!(count(), 3);
    let before = fs::read(&target).unwrap();
    for flags in [&["--append", "--each"][..], &["--append"], &["--each"], &[]] {
        let run = tgm(["create", "-o", &target, &paths[0], &bad].iter().chain(flags));
        assert!(run.code == Some(1) && run.stderr.contains("bad.npy"), "{}", run.stderr);
        assert!(fs::read(&target).unwrap() == before, "{flags:?}");
    }
    // The folder holds the inputs and the old file, nothing else.
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 4);
    good(&["create", "-o", &target, &paths[0], "--no-hash"]);
    assert_eq!(count(), 1);
    assert_eq!(tgm(["verify", &target]).code, Some(1));
}

#[test]
fn command_lines_that_contradict_themselves_are_usage_errors() {
    let folder = tempfile::tempdir().unwrap();
    let path = doubles(folder.path(), "a.npy", &[1.0]);
    let target = folder.path().join("out.tgm").display().to_string();
    for flags in [
        "--bits 65",
        "--bits 8 --max-error 0.1",
        "--max-error 0",
        "--max-error nan",
        "--encoding none --bits 8",
        "--compression zfp",
        "--compression sz3",
        "--zfp rate=8 --compression zstd",
        "--zfp rate=8 --szip 1,8,8",
        "--zfp speed=8",
        "--zfp rate=-1",
        "--sz3 abs=-1",
        "--szip 1,2",
        "--blosc2 gzip",
        "--blosc2 zstd --level 10",
        "--level 3",
        "--compression lz4 --level 3",
        "--compression gzip",
        "--filter bitshuffle",
        "--allow-nan=perhaps",
        "--nan-mask-method gzip",
        "--raw u8",
        "-s key",
        "-s _reserved_.x=1",
    ] {
        let run = tgm(["create", "-o", &target, &path].into_iter().chain(flags.split_whitespace()));
        assert_eq!(run.code, Some(2), "{flags}: {}", run.stderr);
    }
    assert_eq!(tgm(["create", "--append", "-o", "-", &path]).code, Some(2));
    assert_eq!(tgm(["create", &path]).code, Some(2));
    assert!(!fs::exists(&target).unwrap());
}
