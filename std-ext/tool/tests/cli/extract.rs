//! `tgm extract`: values whole and by range, in both byte orders, raw and for numpy.

use std::fs;

use crate::corpus::{data, files, of_class, sha256, sidecar};
use crate::tool::tgm;

/// The output for these arguments.
fn extract(path: &str, arguments: &[&str]) -> Vec<u8> {
    tgm(["extract", path].iter().chain(arguments)).good().stdout
}

/// Header text and values of a file in numpy's format 1.0.
fn parse_npy(bytes: &[u8]) -> (&str, &[u8]) {
    let (magic, rest) = bytes.split_at(8);
    assert_eq!(magic, b"\x93NUMPY\x01\x00");
    let (length, rest) = rest.split_first_chunk::<2>().unwrap();
    let (header, values) = rest.split_at(usize::from(u16::from_le_bytes(*length)));
    assert_eq!((bytes.len() - values.len()) % 64, 0);
    assert!(header.ends_with(b"\n"));
    (std::str::from_utf8(header).unwrap().trim_end(), values)
}

#[test]
fn whole_objects_are_the_recorded_values_in_both_orders() {
    for (path, sidecar) in
        of_class("valid").filter(|(path, _)| path.components().any(|part| part.as_os_str() == "dtypes"))
    {
        let path = path.to_str().unwrap();
        for (index, object) in sidecar["messages"][0]["objects"].as_array().unwrap().iter().enumerate() {
            let of = |order: &str| extract(path, &["-o", &index.to_string(), "--byte-order", order]);
            let (mut little, mut big) = (of("little"), of("big"));
            assert_eq!(object["decoded"]["sha256"], sha256(&little), "{path}");
            let native = if cfg!(target_endian = "little") { &little } else { &big };
            assert_eq!(&of("native"), native);
            let unit = match object["descriptor"]["dtype"].as_str().unwrap() {
                "bitmask" | "int8" | "uint8" => 1,
                "float16" | "bfloat16" | "int16" | "uint16" => 2,
                "float32" | "complex64" | "int32" | "uint32" => 4,
                _ => 8,
            };
            little.chunks_mut(unit).for_each(<[u8]>::reverse);
            assert!(little == big, "{path}");
            big.clear();
        }
    }
}

#[test]
fn recorded_ranges_come_out_as_recorded() {
    let mut equal = 0;
    for path in files("ranges") {
        for request in sidecar(&path)["messages"][0]["ranges"].as_array().unwrap() {
            let ranges = request["ranges"].as_array().unwrap().iter();
            let ranges: Vec<_> =
                ranges.flat_map(|range| ["--range".to_string(), format!("{}:{}", range[0], range[1])]).collect();
            // Without a range everything is written.
            if ranges.is_empty() {
                continue;
            }
            let object = request["object"].to_string();
            let arguments = ["extract", path.to_str().unwrap(), "-o", &object, "--byte-order", "little"];
            let run = tgm(arguments.into_iter().map(String::from).chain(ranges));
            if run.stderr.contains("not compiled in") {
                continue;
            }
            let message = request["error"]["message"].as_str().unwrap_or_default();
            if request["sha256"].is_string() {
                assert_eq!(request["sha256"], sha256(&run.stdout), "{path:?}: {request} {}", run.stderr);
                equal += 1;
            } else if message.contains("exceeds payload size") {
                assert_eq!((run.code, run.stdout.len()), (Some(1), 0), "{path:?}: {request}");
            }
        }
    }
    assert!(equal > 50, "{equal}");
}

#[test]
fn ranges_are_slices_of_the_whole() {
    for (name, width) in [
        ("ranges/masked-none.tgm", 8),
        ("dtypes/complex128-big.tgm", 16),
        ("ranges/sp12.tgm", 8),
        ("codecs/shuffle-zstd-int16-big.tgm", 2),
    ] {
        let path = data(name);
        let whole = extract(&path, &["--byte-order", "big"]);
        let count = whole.len() / width;
        let expected = [&whole[2 * width..5 * width], &whole[(count - 1) * width..], &whole[..2 * width]].concat();
        let last = format!("{}:1", count - 1);
        // Ranges may be given one by one or together.
        assert!(
            extract(&path, &["--byte-order", "big", "--range", "2:3", "--range", &last, "--range", "0:2"]) == expected,
            "{name}"
        );
        assert!(extract(&path, &["--byte-order", "big", "--range", "2:3", &last, "0:2"]) == expected, "{name}");
        let beyond = tgm(["extract", &path, "--range", &format!("{}:2", count - 1)]);
        assert_eq!((beyond.code, beyond.stdout.len()), (Some(1), 0), "{name}");
    }
}

#[test]
fn npy_headers_say_what_follows() {
    let header = |name: &str, arguments: &[&str]| {
        let bytes = extract(&data(name), &[&["--format", "npy"], arguments].concat());
        let (header, values) = parse_npy(&bytes);
        (header.to_string(), values.len())
    };
    let expected =
        |descr: &str, shape: &str| format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}");
    let little = &["--byte-order", "little"];
    let (text, len) = header("shapes/rank8.tgm", little);
    assert!(text.contains("'shape': (") && text.matches(',').count() >= 8 && len > 0, "{text}");
    assert_eq!(header("shapes/scalar-f64.tgm", little), (expected("<f8", "()"), 8));
    assert_eq!(header("shapes/empty-3-0-5.tgm", little).1, 0);
    assert_eq!(header("masks/bfloat16-little.tgm", little), (expected("<V2", "(6, 20)"), 240));
    assert_eq!(header("masks/complex64-little-mix.tgm", &["--byte-order", "big"]), (expected(">c8", "(6, 20)"), 960));
    assert_eq!(
        header("masks/float16-little.tgm", &["--byte-order", "little", "--range", "3:4"]),
        (expected("<f2", "(4,)"), 8)
    );
    assert_eq!(header("realistic/surface-181x360.tgm", &["-o", "2"]), (expected("|b1", "(181, 360)"), 181 * 360));
    assert_eq!(header("realistic/surface-181x360.tgm", &["-o", "2", "--range", "5:9"]), (expected("|b1", "(9,)"), 9));
}

#[test]
fn slices_have_the_values_and_the_shape_that_python_gives() {
    let path = data("masks/float16-little.tgm");
    // A field of 6 rows and 20 columns.
    let whole = extract(&path, &["--byte-order", "big"]);
    assert_eq!(whole.len(), 2 * 6 * 20);
    let taken = |rows: &[usize], columns: &[usize]| {
        let places = rows.iter().flat_map(|row| columns.iter().map(move |column| 2 * (row * 20 + column)));
        places.flat_map(|at| &whole[at..at + 2]).copied().collect::<Vec<u8>>()
    };
    for (slice, shape, rows, columns) in [
        ("1:3, -2:", "(2, 2)", &[1, 2][..], &[18, 19][..]),
        ("-1, ::9", "(3,)", &[5], &[0, 9, 18]),
        ("..,7", "(6,)", &[0, 1, 2, 3, 4, 5], &[7]),
        ("2,3", "()", &[2], &[3]),
        ("4:2", "(0, 20)", &[], &[]),
    ] {
        let raw = extract(&path, &["--byte-order", "big", "--slice", slice]);
        assert!(raw == taken(rows, columns), "{slice}");
        let npy = extract(&path, &["--byte-order", "big", "--format", "npy", "--slice", slice]);
        let (header, values) = parse_npy(&npy);
        assert!(header.contains(&format!("'shape': {shape}, ")) && values == raw, "{slice}: {header}");
    }
    assert!(extract(&path, &["--byte-order", "big", "--slice", ".."]) == whole);
    // Truth values, one byte each.
    let bits = data("realistic/surface-181x360.tgm");
    let bits = |arguments: &[&str]| extract(&bits, &[&["-o", "2", "--format", "npy"], arguments].concat());
    let (whole, part) = (bits(&[]), bits(&["--slice", "10:12, 5:8"]));
    let ((_, whole), (header, part)) = (parse_npy(&whole), parse_npy(&part));
    assert!(header.contains("'shape': (2, 3), "), "{header}");
    assert!(part == [&whole[10 * 360 + 5..][..3], &whole[11 * 360 + 5..][..3]].concat());
}

#[test]
fn slices_that_are_wrong_are_errors_that_name_the_dimension() {
    let path = data("masks/float16-little.tgm");
    for (slice, code, part) in [
        ("x", 2, "part 0 (counted from 0): `x` is not a number"),
        ("0,::-1", 2, "part 1 (counted from 0): the step of `::-1` is less than 1"),
        ("0,20", 1, "dimension 1 (counted from 0): there is no index 20, the length is 20"),
        ("0,0,0", 1, "selection of 3 dimensions, the tensor has 2"),
    ] {
        let failed = tgm(["extract", &path, "--slice", slice]);
        assert!(failed.code == Some(code) && failed.stderr.contains(part), "{slice}: {}", failed.stderr);
        assert!(failed.stdout.is_empty());
    }
    let both = tgm(["extract", &path, "--slice", "0", "--range", "0:1"]);
    assert!(both.code == Some(2) && both.stderr.contains("cannot be used with"), "{}", both.stderr);
}

#[test]
fn output_files_appear_whole_or_not_at_all() {
    let folder = tempfile::tempdir().unwrap();
    let target = folder.path().join("values.bin");
    let target = target.to_str().unwrap();
    let path = data("dtypes/float32-little.tgm");
    let whole = extract(&path, &[]);
    assert_eq!(extract(&path, &["-O", target]), b"");
    assert!(fs::read(target).unwrap() == whole);
    let failed = tgm(["extract", &path, "-o", "7", "-O", target]);
    assert_eq!(failed.code, Some(1));
    assert!(failed.stderr.contains("there is no such object (1 objects)"), "{}", failed.stderr);
    assert!(fs::read(target).unwrap() == whole);
    let failed = tgm(["extract", &path, "-O", &format!("{}/nowhere/x", folder.path().display())]);
    assert!(failed.code == Some(1) && failed.stderr.contains("cannot write"), "{}", failed.stderr);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    #[cfg(unix)]
    {
        extract(&path, &["-O", "/dev/null"]);
        assert!(!fs::metadata("/dev/null").unwrap().is_file());
    }
}

#[test]
fn an_index_that_leads_nowhere_does_not_hide_the_object() {
    for path in files("malformed/index") {
        let digest = tgm([&"digest".into(), &"--json".into(), &path]);
        if digest.code == Some(0) {
            let expected = digest.json()["messages"][0]["objects"][0]["sha256"].clone();
            let values = extract(path.to_str().unwrap(), &["--byte-order", "little"]);
            assert_eq!(expected, sha256(&values), "{path:?}");
        }
    }
}

#[test]
fn what_is_not_there_is_an_error_and_nonsense_is_usage() {
    let path = data("dtypes/float32-little.tgm");
    let run = tgm(["extract", &path, "-m", "3"]);
    assert_eq!(run.code, Some(1));
    assert!(run.stderr.contains("there is no message 3 (1 messages)"), "{}", run.stderr);
    for arguments in
        [["--range", "5"], ["--range", "a:b"], ["--format", "csv"], ["--byte-order", "middle"], ["-o", "-1"]]
    {
        assert_eq!(tgm(["extract", &path].iter().chain(&arguments)).code, Some(2), "{arguments:?}");
    }
}
