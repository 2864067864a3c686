//! The worst expansion of each codec, in decoded bytes per payload byte. Inputs reach the bounds in the table of
//! `std-ext/src/base/limits.rs`; codecs without a bound are stopped by `DecodeLimits`.

use ciborium::Value;
use tgm_core::Message;
use tgm_core::descriptor::ZfpMode;
use tgm_std::{DecodeLimits, DecodeOptions, MessageBuilder, ObjectBuilder, decode};
use tgm_tests::builder::{self, Object, array};

/// The file that holds the table.
const DOCUMENTED: &str = include_str!("../../../std-ext/src/base/limits.rs");
/// A number of values large enough that a payload's header does not matter.
const COUNT: usize = 1 << 20;

/// The bound of `codec` in the table; `None` if its row has no number.
fn documented(codec: &str) -> Option<u64> {
    let row = DOCUMENTED.lines().find(|line| line.starts_with(&format!("//! | {codec} |")));
    let cell = row.unwrap_or_else(|| panic!("no row for {codec}")).split('|').nth(2).unwrap();
    cell.trim().replace(',', "").parse().ok()
}

/// Decoded bytes per payload byte, for `COUNT` zeros encoded as `how` says.
fn expansion_of_zeros(how: impl FnOnce(ObjectBuilder<'_>) -> ObjectBuilder<'_>, is_f64: bool) -> u64 {
    let shape = [COUNT as u64];
    let (doubles, words) = (vec![0.0_f64; COUNT], vec![0_u32; COUNT]);
    let object =
        if is_f64 { ObjectBuilder::new(&shape, &doubles) } else { ObjectBuilder::new(&shape, &words) }.unwrap();
    let bytes = MessageBuilder::new().object(how(object)).encode().unwrap();
    let payload = Message::parse(&bytes).unwrap().object(0).unwrap().payload().len();
    let (_, objects) = decode(&bytes, &DecodeOptions::default()).unwrap();
    (objects[0].1.len() / payload) as u64
}

/// szip with its largest blocks and intervals.
fn widest_szip(object: ObjectBuilder<'_>) -> ObjectBuilder<'_> {
    object.szip().parameter("szip_block_size", 256).parameter("szip_flags", 64).parameter("szip_rsi", 4096)
}

#[test]
#[allow(
    clippy::redundant_closure_for_method_calls,
    reason = "a method's path is bound to one lifetime, and `how` needs any"
)]
fn codecs_with_a_bound_reach_it_and_stay_within() {
    for (codec, found) in [
        ("none", expansion_of_zeros(|object| object, true)),
        ("shuffle", expansion_of_zeros(|object| object.shuffle(), true)),
        (
            "simple_packing, 1 bit and more",
            expansion_of_zeros(
                |object| {
                    object
                        .simple_packing(1)
                        .parameter("sp_reference_value", 0.0)
                        .parameter("sp_binary_scale_factor", 0)
                        .parameter("sp_decimal_scale_factor", 0)
                },
                true,
            ),
        ),
        ("lz4", expansion_of_zeros(|object| object.lz4(), true)),
        ("zstd", expansion_of_zeros(|object| object.zstd(1), true)),
        ("zfp", expansion_of_zeros(|object| object.zfp(ZfpMode::FixedAccuracy(1.0)), true)),
        ("szip", expansion_of_zeros(widest_szip, false)),
    ] {
        let bound = documented(codec).unwrap_or_else(|| panic!("no number for {codec}"));
        println!("{codec}: {found} of {bound}");
        // A bound far above what is reached would promise nothing.
        assert!(found <= bound && found >= bound * 9 / 10, "{codec}: {found}, the table states {bound}");
    }
}

/// Objects of 2^23 elements in a few bytes.
fn unbounded() -> Vec<(&'static str, Object)> {
    let count = 8_u64 << 20;
    let claim = |object: Object| {
        let dims = || array([Value::from(count)]);
        object.set("shape", dims()).set("strides", dims())
    };
    let counted = |blob: &[u8]| [&u32::try_from(count).unwrap().to_be_bytes(), blob].concat();
    // One run of 2^23 zeros, and a bitmap that lists nothing.
    let one_run = counted(&[0, 0x80, 0x80, 0x80, 4]);
    let empty_bitmap = counted(&[0x3a, 0x30, 0, 0, 0, 0, 0, 0]);
    vec![
        ("simple_packing, 0 bits", claim(Object::packed(&[1], [], 1.0, (0, 0), 0))),
        ("rle", claim(Object::plain("bitmask", &[8], one_run).set("compression", "rle"))),
        ("roaring", claim(Object::plain("bitmask", &[8], empty_bitmap).set("compression", "roaring"))),
    ]
}

#[test]
fn codecs_without_a_bound_are_stopped_by_the_limits() {
    let decode_within = |object: Object, limits: DecodeLimits| {
        let bytes = builder::Message::buffered([object]).build().bytes;
        decode(&bytes, &DecodeOptions { limits, ..DecodeOptions::default() }).map(|(_, objects)| objects[0].1.len())
    };
    for (codec, object) in unbounded() {
        assert_eq!(documented(codec), None, "{codec}");
        assert!(decode_within(object, DecodeLimits::default()).unwrap() >= 1 << 20, "{codec}");
    }
    for (codec, object) in unbounded() {
        let limits = DecodeLimits { free_bytes: 0, max_expansion: 1000, ..DecodeLimits::default() };
        let error = decode_within(object, limits).expect_err(codec).to_string();
        assert!(error.contains("max_expansion"), "{codec}: {error}");
    }
    for codec in ["blosc2", "sz3"] {
        assert_eq!(documented(codec), None, "{codec}");
    }
}
