//! NaN and infinities: refused, or stored as masks by any method and restored (PIPELINE §6).

use half::{bf16, f16};
use tgm_core::ErrorKind;
use tgm_core::descriptor::Dtype;
use tgm_core::tensor::Complex;
use tgm_std::{
    ByteOrder, DataObjectDescriptor, DecodeOptions, EncodeOptions, MaskMethod, MessageBuilder, ObjectBuilder, decode,
    decode_object, decode_range, decode_with_masks,
};
use tgm_tests::builder::{Message, Object};

const INF: f64 = f64::INFINITY;
const METHODS: [&str; 5] = ["none", "rle", "roaring", "lz4", "zstd"];

fn allowing(method: &str, small: usize) -> EncodeOptions {
    let method = MaskMethod::from_name(method).unwrap();
    EncodeOptions {
        allow_nan: true,
        allow_inf: true,
        nan_mask_method: method.clone(),
        pos_inf_mask_method: method.clone(),
        neg_inf_mask_method: method,
        small_mask_threshold_bytes: small,
        ..EncodeOptions::default()
    }
}

fn error_of(object: ObjectBuilder<'_>, options: EncodeOptions) -> String {
    MessageBuilder::new().object(object).options(options).encode().unwrap_err().to_string()
}

#[test]
fn the_first_value_that_is_not_allowed_is_named() {
    let refused = |values: &[f64], allow_nan, allow_inf| {
        let options = EncodeOptions { allow_nan, allow_inf, ..EncodeOptions::default() };
        error_of(ObjectBuilder::new(&[values.len() as u64], values).unwrap(), options)
    };
    for (values, allow_nan, allow_inf, expected) in [
        (&[1.0, f64::NAN, INF][..], false, false, "strict-NaN check: NaN at element 1 of float64 array"),
        (&[1.0, INF, f64::NAN], false, false, "strict-Inf check: +Inf at element 1 of float64 array"),
        (&[-INF, f64::NAN], true, false, "strict-Inf check: -Inf at element 0 of float64 array"),
        (&[INF, f64::NAN], false, true, "strict-NaN check: NaN at element 1 of float64 array"),
    ] {
        let error = refused(values, allow_nan, allow_inf);
        assert!(error.starts_with(&format!("encoding error: object 0: {expected}; pass allow_")), "{error}");
    }
    // Far behind the first block of values that are checked together.
    let mut values = vec![0.5_f32; 100_000];
    values[77_777] = f32::NEG_INFINITY;
    let error = error_of(ObjectBuilder::new(&[100_000], &values).unwrap(), EncodeOptions::default());
    assert!(error.contains("-Inf at element 77777 of float32 array"), "{error}");
}

#[test]
fn parts_of_complex_values_are_named() {
    let values = [Complex { re: 1.0, im: 2.0 }, Complex { re: 1.0, im: f32::INFINITY }];
    let error = error_of(ObjectBuilder::new(&[2], &values).unwrap(), EncodeOptions::default());
    assert!(error.contains("+Inf at element 1 of complex64 array (imaginary component)"), "{error}");
    let values = [Complex { re: f64::NAN, im: 2.0 }];
    let error = error_of(ObjectBuilder::new(&[1], &values).unwrap(), EncodeOptions::default());
    assert!(error.contains("NaN at element 0 of complex128 array (real component)"), "{error}");
}

#[test]
fn values_are_restored_from_masks_of_every_method() {
    for len in [1_usize, 2, 9, 1025, 70_000] {
        let kind = |i: usize| [1.5, f64::NAN, INF, -INF, 0.0][(i as u64 * i as u64 / 7 % 5) as usize];
        let values: Vec<f64> = (0..len).map(kind).collect();
        for method in METHODS {
            for small in [0, 128] {
                let object = ObjectBuilder::new(&[len as u64], &values).unwrap().shuffle().lz4();
                let bytes = MessageBuilder::new().object(object).options(allowing(method, small)).encode().unwrap();
                let (_, objects) = decode(&bytes, &DecodeOptions::default()).unwrap();
                let (descriptor, found) = &objects[0];
                let expected: Vec<u8> = values.iter().flat_map(|value| value.to_ne_bytes()).collect();
                assert!(*found == expected, "{len} values, {method}");
                for mask in descriptor.masks.iter().flat_map(|masks| [&masks.nan, &masks.pos_inf, &masks.neg_inf]) {
                    let Some(mask) = mask else { continue };
                    let is_small = len.div_ceil(8) <= small;
                    assert_eq!(mask.method, if is_small { "none" } else { method }, "{len} values");
                }
                let (_, parts) =
                    decode_range(&bytes, 0, &[(len as u64 / 2, 1), (0, len as u64)], &DecodeOptions::default())
                        .unwrap();
                assert!(parts[1] == expected && parts[0] == expected[len / 2 * 8..len / 2 * 8 + 8]);
            }
        }
    }
}

#[test]
fn masks_tell_the_kind_of_each_value_and_the_payload_holds_zeros() {
    let values = [1.0, f64::NAN, INF, -INF, -0.0];
    let object = || ObjectBuilder::new(&[5], &values).unwrap();
    let bytes = MessageBuilder::new().object(object()).options(allowing("rle", 0)).encode().unwrap();
    let (_, objects) = decode_with_masks(&bytes, &DecodeOptions::default()).unwrap();
    let masks = &objects[0].masks;
    assert_eq!(masks.nan, Some(vec![false, true, false, false, false]));
    assert_eq!(masks.pos_inf, Some(vec![false, false, true, false, false]));
    assert_eq!(masks.neg_inf, Some(vec![false, false, false, true, false]));
    let zeros: Vec<u8> = [1.0_f64, 0.0, 0.0, 0.0, -0.0].iter().flat_map(|value| value.to_ne_bytes()).collect();
    assert_eq!(objects[0].payload, zeros);
    let stored = DecodeOptions { restore_non_finite: false, ..DecodeOptions::default() };
    assert_eq!(decode(&bytes, &stored).unwrap().1[0].1, zeros);
}

#[test]
fn a_complex_value_is_restored_as_one_kind_in_both_parts() {
    let nan = f32::NAN;
    let inf = f32::INFINITY;
    let part = |re, im| Complex { re, im };
    let values = [part(nan, inf), part(-inf, inf), part(-inf, 3.0), part(1.0, nan), part(2.0, 3.0)];
    let object = ObjectBuilder::new(&[5], &values).unwrap();
    let bytes = MessageBuilder::new().object(object).options(allowing("none", 0)).encode().unwrap();
    let (_, objects) = decode_with_masks(&bytes, &DecodeOptions::default()).unwrap();
    assert_eq!(objects[0].masks.nan, Some(vec![true, false, false, true, false]));
    assert_eq!(objects[0].masks.pos_inf, Some(vec![false, true, false, false, false]));
    assert_eq!(objects[0].masks.neg_inf, Some(vec![false, false, true, false, false]));
    let (_, objects) = decode(&bytes, &DecodeOptions::default()).unwrap();
    let parts: Vec<f32> = objects[0].1.as_chunks().0.iter().map(|bytes| f32::from_ne_bytes(*bytes)).collect();
    assert!(parts[0].is_nan() && parts[1].is_nan() && parts[6].is_nan() && parts[7].is_nan());
    assert_eq!(parts[2..6], [inf, inf, -inf, -inf]);
    assert_eq!(parts[8..], [2.0, 3.0]);
}

#[test]
fn half_precision_values_are_checked_in_both_byte_orders() {
    let f16s = [f16::NAN, f16::NEG_INFINITY, f16::MAX, f16::MIN_POSITIVE_SUBNORMAL];
    let bf16s = [bf16::INFINITY, bf16::MAX, bf16::NAN, bf16::ZERO];
    for order in [ByteOrder::Big, ByteOrder::Little] {
        let bytes_of = |bits: u16| match order {
            ByteOrder::Big => bits.to_be_bytes(),
            ByteOrder::Little => bits.to_le_bytes(),
        };
        let f16s: Vec<u8> = f16s.iter().flat_map(|value| bytes_of(value.to_bits())).collect();
        let bf16s: Vec<u8> = bf16s.iter().flat_map(|value| bytes_of(value.to_bits())).collect();
        for (dtype, data, first) in
            [(Dtype::Float16, f16s, "NaN at element 0"), (Dtype::Bfloat16, bf16s, "+Inf at element 0")]
        {
            let descriptor = DataObjectDescriptor::new(dtype, order, &[4]);
            let object = || ObjectBuilder::from_parts(descriptor.clone(), data.clone());
            let error = error_of(object(), EncodeOptions::default());
            assert!(error.contains(first), "{error}");
            let bytes = MessageBuilder::new().object(object()).options(allowing("none", 0)).encode().unwrap();
            let as_stored = DecodeOptions { native_byte_order: false, ..DecodeOptions::default() };
            assert_eq!(decode(&bytes, &as_stored).unwrap().1[0].1, data);
        }
    }
}

#[test]
fn integers_and_finite_values_have_no_masks() {
    let integers = [i32::MAX, i32::MIN, -1];
    let object = ObjectBuilder::new(&[3], &integers).unwrap();
    assert!(MessageBuilder::new().object(object).encode().is_ok());
    let values = [f64::MAX, f64::MIN_POSITIVE / 2.0, -0.0];
    let region = |options| {
        let object = ObjectBuilder::new(&[3], &values).unwrap();
        let bytes = MessageBuilder::new().object(object).options(options).encode().unwrap();
        tgm_core::Message::parse(&bytes).unwrap().object_frame(0).unwrap().body().to_vec()
    };
    assert_eq!(region(allowing("roaring", 0)), region(EncodeOptions::default()));
}

#[test]
fn masks_on_bits_are_refused_by_every_route_to_whole_values() {
    for method in METHODS {
        let object = Object::plain("bitmask", &[3], [0]).masked("nan", method, &[true, false, true]);
        let built = Message::buffered([object]).build();
        let options = DecodeOptions::default();
        let routes = [
            decode(&built.bytes, &options).map(drop),
            decode_with_masks(&built.bytes, &options).map(drop),
            decode_object(&built.bytes, 0, &options).map(drop),
        ];
        for (route, found) in routes.into_iter().enumerate() {
            let error = found.unwrap_err();
            let kind = error.cause().map(|cause| cause.kind());
            assert_eq!(kind, Some(ErrorKind::MaskDtype(Dtype::Bitmask)), "{method}, route {route}: {error}");
        }
    }
}

#[test]
fn packed_values_have_masks_if_their_parameters_are_given() {
    let values = [250.0, f64::NAN, 251.0, INF];
    let object = || ObjectBuilder::new(&[4], &values).unwrap().simple_packing(16);
    let error = error_of(object(), allowing("none", 0));
    assert!(error.contains("NaN value encountered at index 1"), "{error}");
    let given = object().parameter("sp_reference_value", 200.0).parameter("sp_binary_scale_factor", -8);
    let bytes = MessageBuilder::new().object(given).options(allowing("none", 0)).encode().unwrap();
    let (_, objects) = decode(&bytes, &DecodeOptions::default()).unwrap();
    let found: Vec<f64> = objects[0].1.as_chunks().0.iter().map(|bytes| f64::from_ne_bytes(*bytes)).collect();
    assert!(found[1].is_nan());
    let bits = |values: [f64; 3]| values.map(f64::to_bits);
    assert_eq!(bits([found[0], found[2], found[3]]), bits([250.0, 251.0, INF]));
}
