//! Ranges in any order are slices of the whole, for every codec, every method of masks and every function for ranges.
#![allow(clippy::unwrap_used, clippy::panic, clippy::cast_precision_loss, reason = "tests may panic; small numbers")]

use std::sync::LazyLock;

use proptest::prelude::*;
use tgm_core::Message as View;
use tgm_core::descriptor::{Dtype, ZfpMode};
use tgm_core::object::DataObject;
use tgm_std::codec::ErrorBound;
use tgm_std::{
    DecodeOptions, EncodeOptions, MaskMethod, MessageBuilder, ObjectBuilder, Scratch, TensogramFile, decode_range, read,
};
use tgm_tests::builder::{Message, Object};
use tgm_tests::corpus;

/// The number of values in most objects.
const COUNT: u64 = 3000;

type How = fn(ObjectBuilder<'_>) -> ObjectBuilder<'_>;

/// Whether the value at this place is masked.
fn is_masked(at: u64) -> bool {
    at % 7 == 3 || (500..900).contains(&at) || at % 1000 == 999
}

/// One message for each pipeline and each method of masks; each holds one object.
fn messages() -> Vec<(String, Vec<u8>)> {
    let plain: Vec<f64> = (0..COUNT).map(|at| if at % 300 < 200 { (at * at % 977) as f64 } else { 0.0 }).collect();
    let masked: Vec<f64> =
        plain.iter().zip(0..).map(|(value, at)| if is_masked(at) { f64::NAN } else { *value }).collect();
    let bits: Vec<bool> = (0..COUNT).map(is_masked).collect();
    let pipelines: [(&str, How); 14] = [
        ("none", |object| object),
        ("shuffle", |object| object.shuffle()),
        ("zstd", |object| object.zstd(1)),
        ("lz4", |object| object.lz4()),
        ("shuffled lz4", |object| object.shuffle().lz4()),
        ("sz3", |object| object.sz3(ErrorBound::Absolute(0.0))),
        ("zfp of a rate", |object| object.zfp(ZfpMode::FixedRate(16.0))),
        ("zfp of a precision", |object| object.zfp(ZfpMode::FixedPrecision(20))),
        ("packed", |object| object.simple_packing_of_finite(12, 0).unwrap()),
        ("packed zstd", |object| object.simple_packing_of_finite(5, 0).unwrap().zstd(1)),
        ("packed szip", |object| object.simple_packing_of_finite(16, 0).unwrap().szip().parameter("szip_rsi", 3)),
        ("packed szip, 24 bits", |object| object.simple_packing_of_finite(24, 0).unwrap().szip()),
        ("packed, shuffled szip", |object| object.simple_packing_of_finite(16, 0).unwrap().shuffle().szip()),
        ("shuffled szip", |object| object.shuffle().szip().parameter("szip_rsi", 2)),
    ];
    let methods = ["none", "rle", "roaring", "lz4", "zstd"].map(|name| MaskMethod::from_name(name).unwrap());
    let mut messages = Vec::new();
    for (name, how) in pipelines {
        let encode = |values: &[f64], options| {
            MessageBuilder::new().object(how(ObjectBuilder::new(&[COUNT], values).unwrap())).options(options).encode()
        };
        // Combinations that a codec refuses are left out. A test below lists those that must be here.
        messages.extend(encode(&plain, EncodeOptions::default()).ok().map(|bytes| (name.to_string(), bytes)));
        for method in &methods {
            let options = EncodeOptions {
                allow_nan: true,
                nan_mask_method: method.clone(),
                small_mask_threshold_bytes: 0,
                ..EncodeOptions::default()
            };
            messages
                .extend(encode(&masked, options).ok().map(|bytes| (format!("{name}, mask {}", method.name()), bytes)));
        }
    }
    let singles: Vec<f32> = (0..COUNT).map(|at| (at * 31 % 613) as f32).collect();
    for rsi in [1, 2, 128] {
        let object = ObjectBuilder::new(&[COUNT], &singles).unwrap().szip().parameter("szip_rsi", rsi);
        messages.push((format!("szip, {rsi} blocks"), MessageBuilder::new().object(object).encode().unwrap()));
    }
    for method in ["none", "rle", "roaring", "lz4", "zstd"] {
        let object = Object::f32(&[COUNT], &singles).masked("nan", method, &bits).masked("inf-", method, &bits);
        messages.push((format!("two masks {method}"), Message::buffered([object]).build().bytes));
    }
    for codec in ["rle", "roaring", "zstd", "none"] {
        let object = Object::plain("bitmask", &[COUNT], vec![0x3c; 375]);
        let object = if codec == "none" { object } else { object.compressed(codec) };
        messages.push((format!("bitmask {codec}"), Message::buffered([object]).build().bytes));
    }
    for sample in corpus::samples_where(false) {
        let is_wanted = ["ranges/", "codecs/blosc2", "codecs/none-blosc2", "codecs/szip"].iter();
        if is_wanted.clone().any(|prefix| sample.name.starts_with(prefix)) {
            messages.push((sample.name.clone(), sample.bytes));
        }
    }
    messages
}

static MESSAGES: LazyLock<Vec<(String, Vec<u8>)>> = LazyLock::new(messages);

/// The elements of a range of decoded values: bytes, or for bitmasks bits from the first bit on.
fn slice(object: &DataObject<'_>, whole: &[u8], (start, count): (u64, u64)) -> Vec<u8> {
    let at = |element: u64| usize::try_from(element).unwrap();
    if object.descriptor().dtype() != Dtype::Bitmask {
        let width = object.descriptor().dtype().byte_width();
        return whole[at(start) * width..at(start + count) * width].to_vec();
    }
    let mut bits = vec![0; at(count.div_ceil(8))];
    for element in 0..count {
        let from = at(start + element);
        bits[at(element) / 8] |= (whole[from / 8] >> (7 - from % 8) & 1) << (7 - element % 8);
    }
    bits
}

/// Asserts that every function for ranges gives slices of the whole.
fn check(name: &str, bytes: &[u8], places: &[(u64, u64)]) {
    let message = View::parse(bytes).unwrap();
    let object = message.object(0).unwrap();
    let count = object.descriptor().element_count();
    let wanted: Vec<(u64, u64)> = places
        .iter()
        .map(|(start, len)| {
            let start = start % (count + 1);
            (start, len % (count - start + 1))
        })
        .collect();
    let options = DecodeOptions::default();
    let whole = read(&object).options(&options).bytes().unwrap();
    let expected: Vec<Vec<u8>> = wanted.iter().map(|range| slice(&object, &whole, *range)).collect();
    // A range of a whole bitmask keeps the stored padding bits, which `slice` clears.
    if object.descriptor().dtype() == Dtype::Bitmask && wanted.contains(&(0, count)) {
        return;
    }
    assert!(
        *read(&object).ranges(&wanted).options(&options).bytes().unwrap() == expected.concat(),
        "{name}: {wanted:?}"
    );
    assert!(decode_range(bytes, 0, &wanted, &options).unwrap().1 == expected, "{name}: {wanted:?}");
    let mut out = vec![0xa5; expected.iter().map(Vec::len).sum()];
    let mut scratch = Scratch::default();
    // What the first call leaves in memory must not show in the second.
    for _ in 0..2 {
        read(&object).ranges(&wanted).options(&options).scratch(&mut scratch).bytes_into(&mut out).unwrap();
        assert!(out == expected.concat(), "{name}: {wanted:?}");
    }
    if object.descriptor().dtype() == Dtype::Float64 {
        let mut numbers = vec![0.5_f64; out.len() / 8];
        read(&object).ranges(&wanted).options(&options).scratch(&mut scratch).values_into(&mut numbers).unwrap();
        assert!(numbers.iter().flat_map(|number| number.to_ne_bytes()).eq(out.iter().copied()), "{name}");
        if let (Some(&(start, len)), Some(first)) = (wanted.first(), expected.first())
            && name.starts_with("packed")
        {
            let mut numbers = vec![0.5_f64; usize::try_from(len).unwrap()];
            read(&object)
                .ranges(&[(start, numbers.len() as u64)])
                .options(&options)
                .scratch(&mut scratch)
                .values_into(&mut numbers)
                .unwrap();
            assert!(numbers.iter().flat_map(|number| number.to_ne_bytes()).eq(first.iter().copied()), "{name}");
        }
    }
}

#[test]
fn every_codec_that_this_build_encodes_has_an_object() {
    let names: Vec<&str> = MESSAGES.iter().map(|(name, _)| name.as_str()).collect();
    for wanted in [
        "none",
        "shuffle",
        "zstd",
        "lz4",
        "sz3",
        "zfp of a rate",
        "zfp of a precision",
        "packed",
        "packed szip",
        "packed szip, mask rle",
        "packed szip, 24 bits",
        "szip, 1 blocks",
        "codecs/blosc2-multichunk",
        "ranges/masked-blosc2",
        "zstd, mask roaring",
        "two masks rle",
        "bitmask roaring",
    ] {
        assert!(names.contains(&wanted), "{wanted} of {names:?}");
    }
}

#[test]
fn ranges_read_from_a_file_are_slices_of_the_whole() {
    let wanted: Vec<(u64, u64)> = (0..50_u64).map(|n| (n * 7919 % 2900, n % 90)).collect();
    let dir = tempfile::tempdir().unwrap();
    let options = DecodeOptions::default();
    for (number, (name, bytes)) in MESSAGES.iter().enumerate() {
        let object = View::parse(bytes).unwrap().object(0).unwrap();
        if object.descriptor().element_count() < COUNT {
            continue;
        }
        let path = dir.path().join(format!("{number}.tgm"));
        std::fs::write(&path, bytes).unwrap();
        let whole = read(&object).options(&options).bytes().unwrap();
        let expected: Vec<Vec<u8>> = wanted.iter().map(|range| slice(&object, &whole, *range)).collect();
        let (_, parts) = TensogramFile::open(&path).unwrap().decode_range(0, 0, &wanted, &options).unwrap();
        assert!(parts == expected, "{name}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(tgm_tests::cases(8)))]

    #[test]
    fn ranges_in_any_order_are_slices_of_the_whole(
        places in proptest::collection::vec((any::<u64>(), prop_oneof![0..4_u64, 0..300_u64, any::<u64>()]), 0..40),
        repeated in 0..3_usize,
        is_sorted in any::<Option<bool>>(),
    ) {
        let mut places: Vec<(u64, u64)> = places.repeat(repeated + 1);
        match is_sorted {
            Some(true) => places.sort_unstable(),
            Some(false) => places.sort_unstable_by(|a, b| b.cmp(a)),
            None => {}
        }
        tgm_tests::on_all_cores(&MESSAGES, |(name, bytes)| check(name, bytes, &places));
    }
}
