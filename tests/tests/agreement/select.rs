//! Boxes of tensors are slices of the whole as the crate `ndarray` cuts them, for every codec, every method of masks
//! and every function that selects.
#![allow(clippy::unwrap_used, clippy::panic, clippy::cast_precision_loss, reason = "tests may panic; small numbers")]

use std::num::NonZeroU64;
use std::sync::LazyLock;

use proptest::prelude::*;
use tgm_core::ErrorKind;
use tgm_core::Message as View;
use tgm_core::descriptor::{Dtype, ZfpMode};
use tgm_core::object::DataObject;
use tgm_core::selection::Pick;
use tgm_std::codec::ErrorBound;
use tgm_std::decode::Picks;
use tgm_std::decode::select::{element_ranges, selection};
use tgm_std::deps::ndarray::{ArrayD, Dimension as _, IxDyn, SliceInfoElem};
use tgm_std::{DecodeLimits, DecodeOptions, EncodeOptions, MaskMethod, MessageBuilder, ObjectBuilder, Scratch, read};
use tgm_tests::Rng;
use tgm_tests::builder::{Message, Object};
use tgm_tests::corpus;

/// Shapes of the objects that are made here.
const SHAPES: [&[u64]; 4] = [&[3000], &[10, 12, 25], &[2, 3, 4, 125], &[600, 1, 5]];
const COUNT: u64 = 3000;

type How = fn(ObjectBuilder<'_>) -> ObjectBuilder<'_>;

/// Whether the value at this place is masked.
fn is_masked(at: u64) -> bool {
    at % 7 == 3 || (500..900).contains(&at) || at % 1000 == 999
}

const PIPELINES: [(&str, How); 15] = [
    ("none", |object| object),
    ("shuffle", |object| object.shuffle()),
    ("zstd", |object| object.zstd(1)),
    ("lz4", |object| object.lz4()),
    ("shuffled lz4", |object| object.shuffle().lz4()),
    ("sz3", |object| object.sz3(ErrorBound::Absolute(0.0))),
    ("zfp of a rate", |object| object.zfp(ZfpMode::FixedRate(16.0))),
    ("zfp of a precision", |object| object.zfp(ZfpMode::FixedPrecision(20))),
    ("packed", |object| object.simple_packing_of_finite(12, 0).unwrap()),
    ("packed, shuffled", |object| object.simple_packing_of_finite(16, 0).unwrap().shuffle()),
    ("packed zstd", |object| object.simple_packing_of_finite(5, 0).unwrap().zstd(1)),
    ("packed szip", |object| object.simple_packing_of_finite(16, 0).unwrap().szip().parameter("szip_rsi", 3)),
    ("packed szip, 24 bits", |object| object.simple_packing_of_finite(24, 0).unwrap().szip()),
    ("packed, shuffled szip", |object| object.simple_packing_of_finite(16, 0).unwrap().shuffle().szip()),
    ("shuffled szip", |object| object.shuffle().szip().parameter("szip_rsi", 2)),
];

/// One message for each shape, pipeline and method of masks; each holds one object.
fn messages() -> Vec<(String, Vec<u8>)> {
    let plain: Vec<f64> = (0..COUNT).map(|at| if at % 300 < 200 { (at * at % 977) as f64 } else { 0.0 }).collect();
    let masked: Vec<f64> =
        plain.iter().zip(0..).map(|(value, at)| if is_masked(at) { f64::NAN } else { *value }).collect();
    let bits: Vec<bool> = (0..COUNT).map(is_masked).collect();
    let methods = ["none", "rle", "roaring", "lz4", "zstd"].map(|name| MaskMethod::from_name(name).unwrap());
    let singles: Vec<f32> = (0..COUNT).map(|at| (at * 31 % 613) as f32).collect();
    let mut messages = Vec::new();
    for (number, shape) in SHAPES.into_iter().enumerate() {
        for (name, how) in PIPELINES {
            let encode = |values: &[f64], options| {
                MessageBuilder::new().object(how(ObjectBuilder::new(shape, values).unwrap())).options(options).encode()
            };
            // Combinations that a codec refuses are left out.
            let bytes = encode(&plain, EncodeOptions::default()).ok();
            messages.extend(bytes.map(|bytes| (format!("{name} {shape:?}"), bytes)));
            let method = &methods[(number + name.len()) % methods.len()];
            let options = EncodeOptions {
                allow_nan: true,
                nan_mask_method: method.clone(),
                small_mask_threshold_bytes: 0,
                ..EncodeOptions::default()
            };
            let bytes = encode(&masked, options).ok();
            messages.extend(bytes.map(|bytes| (format!("{name} {shape:?}, mask {}", method.name()), bytes)));
        }
        for rsi in [1, 2, 128] {
            let object = ObjectBuilder::new(shape, &singles).unwrap().szip().parameter("szip_rsi", rsi);
            messages.push((format!("szip, {rsi} blocks"), MessageBuilder::new().object(object).encode().unwrap()));
        }
        for method in ["none", "rle", "roaring", "lz4", "zstd"] {
            let object = Object::f32(shape, &singles).masked("nan", method, &bits).masked("inf-", method, &bits);
            messages.push((format!("two masks {method}"), Message::buffered([object]).build().bytes));
        }
        for codec in ["rle", "roaring", "zstd", "none"] {
            let object = Object::plain("bitmask", shape, (0..=255).cycle().take(375).collect::<Vec<u8>>());
            let object = if codec == "none" { object } else { object.compressed(codec) };
            messages.push((format!("bitmask {codec}"), Message::buffered([object]).build().bytes));
        }
    }
    messages
}

static MESSAGES: LazyLock<Vec<(String, Vec<u8>)>> = LazyLock::new(messages);

/// Picks out of numbers that look like chance.
fn picks(shape: &[u64], random: &mut Rng) -> Vec<Pick> {
    let mut pick = |len: &u64| {
        let (start, kind) = (random.below(*len), random.below(8));
        let rest = len - start;
        match kind {
            0 | 1 => Pick::All,
            2 if *len > 0 => Pick::Index(start),
            3 => Pick::from(start..start + random.below(rest + 1)),
            4 => Pick::from(start..start + rest.min(1 + random.below(3))),
            5 => Pick::from(start..*len),
            _ => {
                // Small steps and large ones: their gaps are decoded or gone around.
                let most = if kind == 6 { 4 } else { *len / 2 };
                let step = NonZeroU64::new(1 + random.below(most)).unwrap();
                Pick::Range { start, end: *len, step }
            }
        }
    };
    shape.iter().map(|len| if *len == 0 { Pick::All } else { pick(len) }).collect()
}

/// The numbers of the elements that `ndarray` selects, and the shape.
fn sliced(shape: &[u64], picks: &[Pick]) -> (Vec<u64>, Vec<u64>) {
    let dims: Vec<usize> = shape.iter().map(|dim| usize::try_from(*dim).unwrap()).collect();
    let count = dims.iter().product::<usize>() as u64;
    let numbers = ArrayD::from_shape_vec(IxDyn(&dims), (0..count).collect()).unwrap();
    let int = |number: u64| isize::try_from(number).unwrap();
    let info: Vec<SliceInfoElem> = picks
        .iter()
        .map(|pick| match *pick {
            Pick::Index(index) => SliceInfoElem::Index(int(index)),
            Pick::All => SliceInfoElem::Slice { start: 0, end: None, step: 1 },
            Pick::Range { start, end, step } => {
                SliceInfoElem::Slice { start: int(start), end: Some(int(end)), step: int(step.get()) }
            }
        })
        .collect();
    let slice = numbers.slice(&info[..]);
    let shape = slice.raw_dim().slice().iter().map(|dim| *dim as u64).collect();
    (slice.iter().copied().collect(), shape)
}

/// The elements with these numbers: bytes, or bits from the first bit on.
fn taken(dtype: Dtype, whole: &[u8], elements: &[u64]) -> Vec<u8> {
    let at = |element: u64| usize::try_from(element).unwrap();
    if dtype != Dtype::Bitmask {
        let width = dtype.byte_width();
        return elements.iter().flat_map(|element| &whole[at(*element) * width..][..width]).copied().collect();
    }
    let mut bits = vec![0; elements.len().div_ceil(8)];
    for (place, element) in elements.iter().enumerate() {
        let from = at(*element);
        bits[place / 8] |= (whole[from / 8] >> (7 - from % 8) & 1) << (7 - place % 8);
    }
    bits
}

/// Asserts that every function that selects gives a slice of the whole.
fn check(name: &str, object: &DataObject<'_>, picks: &[Pick], scratch: &mut Scratch) {
    let name = format!("{name}: {picks:?}");
    let (descriptor, options) = (object.descriptor(), DecodeOptions::default());
    let (dtype, shape) = (descriptor.dtype(), descriptor.shape().iter().collect::<Vec<_>>());
    let (elements, expected_shape) = sliced(&shape, picks);
    for native_byte_order in [true, false] {
        for restore_non_finite in [true, false] {
            let options = DecodeOptions { native_byte_order, restore_non_finite, ..DecodeOptions::default() };
            let whole = read(object).options(&options).bytes().unwrap();
            let expected = taken(dtype, &whole, &elements);
            // A bitmask that is selected whole comes out as it is stored, padding too.
            let expected = if elements.len() as u64 == descriptor.element_count() { whole.to_vec() } else { expected };
            let found = read(object).select(picks).options(&options).bytes().unwrap();
            assert!(*found == *expected, "{name}");
            let mut out = vec![0xa5; expected.len()];
            read(object).select(picks).options(&options).scratch(scratch).bytes_into(&mut out).unwrap();
            assert!(out == expected, "{name}");
        }
    }
    if !matches!(dtype, Dtype::Complex64 | Dtype::Complex128) {
        let whole = read(object).options(&options).values::<f64>().unwrap();
        let expected = elements.iter().map(|element| whole[usize::try_from(*element).unwrap()].to_bits());
        let found = read(object).select(picks).options(&options).values::<f64>().unwrap();
        assert!(found.iter().map(|value| value.to_bits()).eq(expected), "{name}");
        let whole = read(object).options(&options).values::<f32>().unwrap();
        let expected = elements.iter().map(|element| whole[usize::try_from(*element).unwrap()].to_bits());
        let mut found = vec![1.0_f32; elements.len()];
        read(object).select(picks).options(&options).scratch(scratch).values_into(&mut found).unwrap();
        assert!(found.iter().map(|value| value.to_bits()).eq(expected), "{name}");
    }
    let selection = selection(descriptor, picks).unwrap();
    assert!(selection.shape().eq(expected_shape), "{name}");
    assert!(element_ranges(&selection, 0).flatten().eq(elements), "{name}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn boxes_are_slices_of_the_whole(which in any::<prop::sample::Index>(), seed in any::<u64>()) {
        let (name, bytes) = which.get(&MESSAGES);
        let object = View::parse(bytes).unwrap().object(0).unwrap();
        let shape: Vec<u64> = object.descriptor().shape().iter().collect();
        let mut scratch = Scratch::default();
        let mut random = Rng(seed);
        for _ in 0..4 {
            check(name, &object, &picks(&shape, &mut random), &mut scratch);
        }
    }
}

#[test]
fn every_pipeline_is_tried() {
    let names: Vec<&str> = MESSAGES.iter().map(|(name, _)| name.as_str()).collect();
    for (name, _) in PIPELINES {
        assert!(names.iter().any(|found| found.starts_with(&format!("{name} ["))), "{name}");
    }
    assert!(names.iter().filter(|name| name.contains(", mask ")).count() > 40, "{names:?}");
}

#[test]
fn boxes_of_the_corpus_are_slices_of_the_whole() {
    let (mut random, mut scratch, mut objects) = (Rng(7), Scratch::default(), 0);
    for sample in corpus::samples_where(false) {
        let folder = sample.name.split('/').next().unwrap();
        if !["bitmask", "codecs", "dtypes", "masks", "ranges", "shapes", "simple_packing", "zfp"].contains(&folder) {
            continue;
        }
        for object in View::parse(&sample.bytes).unwrap().objects() {
            let object = object.unwrap();
            if read(&object).bytes().is_err() {
                continue;
            }
            let shape: Vec<u64> = object.descriptor().shape().iter().collect();
            for _ in 0..6 {
                check(&sample.name, &object, &picks(&shape, &mut random), &mut scratch);
            }
            objects += 1;
        }
    }
    assert!(objects > 300, "{objects}");
}

/// A field of two dimensions.
fn field() -> (Vec<f64>, Vec<u8>) {
    let values: Vec<f64> = (0..COUNT).map(|at| at as f64).collect();
    let bytes = MessageBuilder::new().object(ObjectBuilder::new(&[60, 50], &values).unwrap()).encode().unwrap();
    (values, bytes)
}

#[test]
fn what_lies_side_by_side_is_borrowed() {
    let (_, bytes) = field();
    let object = View::parse(&bytes).unwrap().object(0).unwrap();
    let is_borrowed = |object: &DataObject<'_>, text: &str, options: &DecodeOptions| {
        let picks = Picks::parse(text).unwrap().resolve(object.descriptor().shape().iter()).unwrap();
        matches!(read(object).select(&picks).options(options).bytes().unwrap(), std::borrow::Cow::Borrowed(_))
    };
    let options = DecodeOptions::default();
    for (text, expected) in
        [("..", true), ("3:9", true), ("3, 5:9", true), ("3:4, 5", true), ("3:5, 5:9", false), ("::2", false)]
    {
        assert_eq!(is_borrowed(&object, text, &options), expected, "{text}");
    }
    // Bits are borrowed where they begin and end with a byte.
    let bits = Message::buffered([Object::plain("bitmask", &[5, 16], [0x5a; 10])]).build().bytes;
    let bits = View::parse(&bits).unwrap().object(0).unwrap();
    for (text, expected) in [("1:4", true), ("1, 8:", true), ("1, :8", true), ("1, 4:", false), ("1, :9", false)] {
        assert_eq!(is_borrowed(&bits, text, &options), expected, "{text}");
    }
    let masked = Object::f32(&[4], &[1.0; 4]).masked("nan", "none", &[false, true, false, false]);
    let masked = Message::buffered([masked]).build().bytes;
    let masked = View::parse(&masked).unwrap().object(0).unwrap();
    assert!(!is_borrowed(&masked, "2:", &options));
    assert!(is_borrowed(
        &masked,
        "2:",
        &DecodeOptions { restore_non_finite: false, native_byte_order: false, ..options }
    ));
}

#[test]
fn elements_are_of_their_own_type_or_an_error() {
    let (values, bytes) = field();
    let object = View::parse(&bytes).unwrap().object(0).unwrap();
    let (options, picks) = (DecodeOptions::default(), [Pick::Index(7), Pick::from(40..43)]);
    assert_eq!(read(&object).select(&picks).options(&options).values::<f64>().unwrap(), values[390..393]);
    assert_eq!(read(&object).select(&picks).values::<f32>().unwrap(), [390.0, 391.0, 392.0]);
    let error = read(&object).select(&picks).options(&options).values::<u64>().unwrap_err();
    assert!(matches!(error.cause().unwrap().kind(), ErrorKind::DtypeMismatch { .. }));
    for len in [2, 4] {
        let (mut out, mut scratch) = (vec![9.0_f64; len], Scratch::default());
        let error = read(&object)
            .select(&picks)
            .options(&options)
            .scratch(&mut scratch)
            .values_into(&mut out)
            .unwrap_err()
            .to_string();
        assert!(error.contains(&format!("output has {len} values, the selection has 3")), "{error}");
        let mut narrow = vec![9.0_f32; len];
        let error = read(&object)
            .select(&picks)
            .options(&options)
            .scratch(&mut scratch)
            .values_into(&mut narrow)
            .unwrap_err()
            .to_string();
        assert!(error.contains(&format!("output has {len} values, the selection has 3")), "{error}");
        assert!(out == vec![9.0; len] && narrow == vec![9.0; len]);
    }
}

#[test]
fn picks_that_a_tensor_does_not_have_are_errors() {
    let (_, bytes) = field();
    let object = View::parse(&bytes).unwrap().object(0).unwrap();
    let kind = |picks: &[Pick]| read(&object).select(picks).bytes().unwrap_err().cause().map(|error| error.kind());
    assert_eq!(kind(&[Pick::All]), Some(ErrorKind::SelectionRank(1, 2)));
    assert_eq!(kind(&[Pick::All; 3]), Some(ErrorKind::SelectionRank(3, 2)));
    assert_eq!(kind(&[Pick::All, Pick::Index(50)]), Some(ErrorKind::SelectionBounds(1)));
    assert_eq!(kind(&[Pick::from(0..61), Pick::All]), Some(ErrorKind::SelectionBounds(0)));
}

#[test]
fn a_selection_of_nothing_is_empty() {
    for (name, bytes) in MESSAGES.iter() {
        let object = View::parse(bytes).unwrap().object(0).unwrap();
        let rank = object.descriptor().shape().len();
        let mut picks = vec![Pick::All; rank];
        picks[rank - 1] = Pick::from(2..2);
        let found = read(&object).select(&picks).bytes().unwrap();
        assert!(found.is_empty(), "{name}");
        assert!(read(&object).select(&picks).values::<f32>().unwrap().is_empty());
    }
}

#[test]
fn a_lattice_of_a_thousand_million_rows_is_refused_or_takes_what_it_returns() {
    // All values are one, so that the payload has no bytes: 2³² elements, of which rows have two.
    let object = Object::plain("float64", &[1 << 30, 4], [])
        .set("encoding", "simple_packing")
        .set("sp_reference_value", 1.5)
        .set("sp_binary_scale_factor", 0)
        .set("sp_decimal_scale_factor", 0)
        .set("sp_bits_per_value", 0);
    let bytes = Message::buffered([object]).build().bytes;
    let object = View::parse(&bytes).unwrap().object(0).unwrap();
    let two = |end| [Pick::from(0..end), Pick::from(1..3)];
    let limits = DecodeLimits::UNLIMITED;
    let options = DecodeOptions { limits, ..DecodeOptions::default() };
    let all = two(1 << 30);
    let selection = selection(object.descriptor(), &all).unwrap();
    assert_eq!((selection.row_count(), selection.element_count()), (1 << 30, 1 << 31));
    assert_eq!(element_ranges(&selection, 0).nth(5), Some(21..23));
    let refused = read(&object).select(&all).bytes().unwrap_err().to_string();
    assert!(refused.contains("0 bytes decode to 17179869184"), "{refused}");
    assert!(read(&object).select(&all).values::<f32>().is_err());
    let first = read(&object).select(&two(1000)).options(&options).bytes().unwrap();
    assert!(first.len() == 16_000);
    assert!(first.chunks_exact(8).all(|value| value == 1.5_f64.to_ne_bytes()));
    let far = [Pick::Range { start: 0, end: 1 << 30, step: NonZeroU64::new(1 << 27).unwrap() }, Pick::Index(3)];
    assert_eq!(read(&object).select(&far).options(&options).values::<f32>().unwrap(), [1.5; 8]);
}
