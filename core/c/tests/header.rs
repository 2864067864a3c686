//! The header, this library and `tgm-core` agree on every number. Sizes are compared by `tgmc_layout_check` in C.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use tgm_c_core::abi::Fault;
use tgm_c_core::kinds::{BOUNDARY, CORE};
use tgm_c_core::{abi, message, object, unpack, value};
use tgm_core::ErrorKind;
use tgm_core::cbor::Kind;
use tgm_core::descriptor::{Compression, Dtype, Encoding, Filter, Key, MaskMethod, Stage};
use tgm_core::phase::DecodePhase;
use tgm_core::wire::FrameType;

fn read(path: &str) -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(path)).unwrap()
}

/// The header's constants whose name begins with `prefix`, without it.
fn constants(prefix: &str) -> BTreeMap<String, i64> {
    let header = read("include/tgm_core.h");
    let lines = header.lines().filter_map(|line| line.strip_prefix("#define ")?.strip_prefix(prefix));
    lines
        .filter_map(|line| {
            let (name, rest) = line.split_once(' ')?;
            let number = rest.trim().split([' ', '/']).next()?.trim_matches(['(', ')', 'u']);
            Some((name.to_owned(), number.parse().ok()?))
        })
        .collect()
}

/// `NoMetadata` is `NO_METADATA`.
fn upper(name: &str) -> String {
    let mut upper = String::new();
    for letter in name.chars() {
        if letter.is_uppercase() && !upper.is_empty() {
            upper.push('_');
        }
        upper.push(letter.to_ascii_uppercase());
    }
    upper
}

#[test]
fn kinds_of_errors_have_one_number_and_one_name() {
    let header = constants("TGMC_E_");
    let rows = CORE.iter().chain(BOUNDARY);
    let library: BTreeMap<String, i64> =
        rows.clone().map(|row| (row.name.to_str().unwrap().to_owned(), row.number.into())).collect();
    assert_eq!(header, library);
    let mut numbers: Vec<i32> = rows.map(|row| row.number).collect();
    numbers.sort_unstable();
    numbers.dedup();
    assert_eq!(numbers.len(), header.len());
}

#[test]
fn every_kind_of_tgm_core_has_a_number() {
    let source = read("../src/error.rs");
    let variants = source.split("pub enum ErrorKind {").nth(1).unwrap().split("\nimpl ").next().unwrap();
    let names: Vec<String> = variants
        .lines()
        .filter_map(|line| line.strip_prefix("    ").filter(|line| line.starts_with(char::is_uppercase)))
        .map(|line| upper(line.split(['(', ',', ' ']).next().unwrap()))
        .collect();
    assert!(names.len() > 70);
    let known: Vec<&str> = CORE.iter().map(|row| row.name.to_str().unwrap()).collect();
    for name in &names {
        assert!(known.contains(&name.as_str()), "{name} has no number");
    }
    assert_eq!(names.len(), known.len());
}

#[test]
fn errors_keep_their_number_detail_and_offset() {
    let cases = [
        (ErrorKind::Truncated, "TRUNCATED", 0),
        (ErrorKind::Version(2), "VERSION", 2),
        (ErrorKind::FrameOrder(FrameType::FooterHash, DecodePhase::Footer), "FRAME_ORDER", 5 | 3 << 16),
        (ErrorKind::PrecederBase(70_000), "PRECEDER_BASE", 70_000),
        (ErrorKind::WrongType { expected: Kind::Text, found: Kind::Bytes }, "WRONG_TYPE", 4 | 5 << 16),
        (ErrorKind::MissingKey(Key::Shape), "MISSING_KEY", 4),
        (ErrorKind::NeedsDecoding(Stage::Compression(Some(Compression::Zstd))), "NEEDS_DECODING", 3 | 3 << 16),
        (ErrorKind::NeedsDecoding(Stage::Filter(None)), "NEEDS_DECODING", 2),
        (ErrorKind::DtypeMismatch { expected: Dtype::Float64, found: Dtype::Bitmask }, "DTYPE_MISMATCH", 4 | 15 << 16),
        (ErrorKind::SelectionRank(1, 2), "SELECTION_RANK", 2 | 1 << 16),
        (ErrorKind::RoaringCookie(u32::MAX), "ROARING_COOKIE", u32::MAX),
        (ErrorKind::SzipBlockMemory, "SZIP_BLOCK_MEMORY", 0),
    ];
    let header = constants("TGMC_E_");
    for (kind, name, detail) in cases {
        let expected = Fault { kind: header[name] as i32, detail, offset: 7 };
        assert_eq!(Fault::from(kind.at(7)), expected);
    }
}

#[test]
fn choices_are_numbered_as_the_format_lists_them() {
    let numbered = |names: Vec<&str>, first: i64| -> BTreeMap<String, i64> {
        names.iter().zip(first..).map(|(name, number)| (name.to_uppercase(), number)).collect()
    };
    let dtypes = numbered(Dtype::ALL.iter().map(|dtype| dtype.name()).collect(), 1);
    let all = constants("TGMC_");
    assert!(dtypes.iter().all(|(name, number)| all.get(name) == Some(number)));
    let names = |all: &[Encoding]| all.iter().map(|choice| choice.name()).collect();
    assert_eq!(constants("TGMC_ENCODING_"), numbered(names(Encoding::ALL), 1));
    assert_eq!(constants("TGMC_FILTER_"), numbered(Filter::ALL.iter().map(|choice| choice.name()).collect(), 1));
    let compressions = Compression::ALL.iter().map(|choice| choice.name()).collect();
    assert_eq!(constants("TGMC_COMPRESSION_"), numbered(compressions, 1));
    assert_eq!(constants("TGMC_METHOD_"), numbered(MaskMethod::ALL.iter().map(|choice| choice.name()).collect(), 1));
    assert_eq!(constants("TGMC_KEY_"), numbered(Key::ALL.iter().map(|key| key.name()).collect(), 0));
    let frames: Vec<i64> = FrameType::ALL.iter().map(|frame| frame.as_u16().into()).collect();
    let mut found: Vec<i64> = constants("TGMC_FRAME_").into_values().collect();
    found.retain(|number| *number <= 9);
    found.sort_unstable();
    found.dedup();
    assert!(frames.iter().all(|number| found.contains(number)));
}

#[test]
fn opaque_structs_have_the_words_of_the_header() {
    let all = constants("TGMC_");
    let words = |name: &str| all[&format!("{name}_WORDS")] as usize * 8;
    assert_eq!(words("MESSAGE"), size_of::<message::Message>());
    assert_eq!(words("FRAMES"), size_of::<message::Frames>());
    assert_eq!(words("OBJECT"), size_of::<object::Object>());
    assert_eq!(words("VALUE"), size_of::<value::Value>());
    assert_eq!(words("UNPACKER"), size_of::<unpack::Unpacker>());
    assert_eq!(words("SZIP_UNPACKER"), size_of::<unpack::SzipUnpacker>());
    assert_eq!(all["INFO_DIMS"] as usize, abi::INFO_DIMS);
    assert_eq!(all["SZIP_BLOCK"] as usize, unpack::SZIP_BLOCK);
}
