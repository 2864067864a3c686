//! The rules, case by case: what the stored numbers become.
#![allow(clippy::unwrap_used, clippy::float_cmp, reason = "tests may panic, and values are the same to the bit")]
#![allow(
    clippy::cast_lossless,
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    reason = "small numbers"
)]

use proptest::prelude::*;
use tgm_std::DataObjectDescriptor;

use super::cells::gather;
use super::*;

fn integers(dtype: Dtype, list: &[i128]) -> AttributeValue {
    AttributeValue::Numbers(Numbers { dtype: Some(dtype), list: List::Integers(list.to_vec()) })
}

fn floats(dtype: Dtype, list: &[f64]) -> AttributeValue {
    AttributeValue::Numbers(Numbers { dtype: Some(dtype), list: List::Floats(list.to_vec()) })
}

fn single(value: f32) -> AttributeValue {
    floats(Dtype::Float32, &[value.into()])
}

fn double(value: f64) -> AttributeValue {
    floats(Dtype::Float64, &[value])
}

/// A number of JSON.
fn json(value: f64) -> AttributeValue {
    AttributeValue::Numbers(Numbers { dtype: None, list: List::Floats(vec![value]) })
}

fn text(text: &str) -> AttributeValue {
    AttributeValue::Text(text.into())
}

macro_rules! bytes {
    ($($value:expr),* $(,)?) => { [$($value.to_ne_bytes()),*].concat() };
}

/// The type of the values, and the values.
fn read(stored: Dtype, bytes: Vec<u8>, attributes: &[(&str, AttributeValue)]) -> (Dtype, Vec<f64>) {
    let reading = Reading::of(stored, attributes);
    let bytes = reading.cells(bytes).unwrap().bytes;
    (reading.dtype(), numbers_of(reading.dtype(), &bytes))
}

fn numbers_of(dtype: Dtype, bytes: &[u8]) -> Vec<f64> {
    macro_rules! each {
        ($type:ty) => {
            bytes.as_chunks().0.iter().map(|bytes| <$type>::from_ne_bytes(*bytes) as f64).collect()
        };
    }
    match dtype {
        Dtype::Int8 => each!(i8),
        Dtype::Uint8 => each!(u8),
        Dtype::Int16 => each!(i16),
        Dtype::Uint16 => each!(u16),
        Dtype::Int64 => each!(i64),
        Dtype::Float32 => each!(f32),
        Dtype::Float64 => each!(f64),
        _ => Vec::new(),
    }
}

#[test]
fn the_types_of_scale_and_offset_choose_the_type_of_the_values() {
    let (f4, f8, int) = (single(1.5), double(1.5), integers(Dtype::Int16, &[2]));
    let of = |stored, scale: Option<&AttributeValue>, offset: Option<&AttributeValue>| {
        let pairs = [(SCALE, scale), (OFFSET, offset)];
        let told: Vec<_> = pairs.into_iter().filter_map(|(name, told)| Some((name, told?.clone()))).collect();
        Reading::of(stored, &told).dtype()
    };
    for narrow in [Dtype::Int8, Dtype::Uint8, Dtype::Int16, Dtype::Uint16, Dtype::Float32] {
        assert_eq!(of(narrow, Some(&f4), None), Dtype::Float32);
        assert_eq!(of(narrow, None, Some(&f4)), Dtype::Float64);
        assert_eq!(of(narrow, Some(&f4), Some(&f4)), Dtype::Float32);
        assert_eq!(of(narrow, Some(&f4), Some(&f8)), Dtype::Float64);
        assert_eq!(of(narrow, Some(&f8), Some(&f4)), Dtype::Float64);
    }
    for wide in [Dtype::Int32, Dtype::Uint32, Dtype::Int64, Dtype::Uint64, Dtype::Float64] {
        assert_eq!(of(wide, Some(&f4), None), Dtype::Float64);
        assert_eq!(of(wide, Some(&f4), Some(&f4)), Dtype::Float64);
    }
    assert_eq!(of(Dtype::Int16, Some(&int), None), Dtype::Int64);
    assert_eq!(of(Dtype::Int16, Some(&int), Some(&f4)), Dtype::Float64);
    assert_eq!(of(Dtype::Float32, Some(&int), None), Dtype::Float64);
    assert_eq!(of(Dtype::Int16, Some(&json(0.5)), None), Dtype::Float64);
    assert_eq!(of(Dtype::Bitmask, Some(&f8), None), Dtype::Bitmask);
}

#[test]
fn each_step_rounds_in_the_chosen_type() {
    // The nearest number to 0.1 is another one in each type.
    let (stored, bytes) = (Dtype::Int16, bytes![3_i16, -7_i16]);
    let narrow = [(SCALE, single(0.1)), (OFFSET, single(250.0))];
    assert_eq!(
        read(stored, bytes.clone(), &narrow),
        (Dtype::Float32, [3_f32, -7.0].map(|it| f64::from(it * 0.1 + 250.0)).to_vec())
    );
    let wide = [(SCALE, double(0.1)), (OFFSET, single(250.0))];
    assert_eq!(read(stored, bytes, &wide), (Dtype::Float64, [3.0, -7.0].map(|it| it * 0.1 + 250.0).to_vec()));
    let large = bytes![16_777_217_i32, 3_i32];
    assert_eq!(read(Dtype::Int32, large, &[(SCALE, single(1.5))]), (Dtype::Float64, vec![25_165_825.5, 4.5]));
    let scaled = [(SCALE, single(10.0)), (OFFSET, single(1.0)), (FILL, single(-9.0))];
    let (_, values) = read(Dtype::Float32, bytes![1_f32, 2_f32, -9_f32], &scaled);
    assert_eq!(values[..2], [11.0, 21.0]);
    assert!(values[2].is_nan());
}

#[test]
fn integers_of_a_scale_of_integers_are_exact_or_an_error() {
    let scale = |by| (SCALE, integers(Dtype::Int16, &[by]));
    assert_eq!(read(Dtype::Int16, bytes![1000_i16], &[scale(1000)]), (Dtype::Int64, vec![1e6]));
    let reading = Reading::of(Dtype::Int64, &[scale(3)]);
    assert!(reading.cells(bytes![i64::MAX]).is_err());
    let (dtype, values) = read(Dtype::Int16, bytes![5_i16, -1_i16], &[scale(7), (FILL, integers(Dtype::Int16, &[-1]))]);
    assert_eq!((dtype, values[0], values[1].is_nan()), (Dtype::Float64, 35.0, true));
    let reading = Reading::of(Dtype::Int64, &[scale(1), (FILL, integers(Dtype::Int64, &[-1]))]);
    assert!(reading.cells(bytes![(1_i64 << 53) + 1]).is_err());
}

#[test]
fn signs_are_as_they_are_told() {
    let short = bytes![0_i16, 1_i16, -1_i16, -6_i16];
    let told = [(UNSIGNED, text("true")), (SCALE, double(0.01)), (FILL, integers(Dtype::Int16, &[-1]))];
    let (dtype, values) = read(Dtype::Int16, short.clone(), &told);
    assert_eq!((dtype, values[3]), (Dtype::Float64, 65530.0 * 0.01));
    assert!(values[2].is_nan());
    // Without a scale integers stay, and their fill value is one of the new type.
    let plain =
        [(UNSIGNED, text("True")), (FILL, integers(Dtype::Int16, &[-1])), ("valid_max", integers(Dtype::Int16, &[-2]))];
    assert_eq!(read(Dtype::Int16, short.clone(), &plain), (Dtype::Uint16, vec![0.0, 1.0, 65535.0, 65530.0]));
    let reading = Reading::of(Dtype::Int16, &plain);
    let of = |value| Fate::Becomes(Numbers { dtype: Some(Dtype::Uint16), list: List::Integers(vec![value]) });
    assert_eq!([UNSIGNED, FILL, "valid_max"].map(|name| reading.fate(name)), [&Fate::Dropped, &of(65535), &of(65534)]);
    assert_eq!(read(Dtype::Uint8, vec![255], &[(UNSIGNED, text("false"))]), (Dtype::Int8, vec![-1.0]));
    for other in [text("TRUE"), text("yes"), integers(Dtype::Int8, &[1]), AttributeValue::Other] {
        let reading = Reading::of(Dtype::Int16, &[(UNSIGNED, other)]);
        assert_eq!((reading.dtype(), reading.not_applied().len()), (Dtype::Int16, 1));
    }
    assert_eq!(Reading::of(Dtype::Float32, &[(UNSIGNED, text("true"))]).dtype(), Dtype::Float32);
}

#[test]
fn cells_are_missing_that_equal_a_number_exactly() {
    let missing = |stored, bytes: Vec<u8>, told: AttributeValue| {
        let reading = Reading::of(stored, &[(MISSING, told), (SCALE, double(2.0))]);
        let values = numbers_of(Dtype::Float64, &reading.cells(bytes).unwrap().bytes);
        (values.iter().map(|value| value.is_nan()).collect::<Vec<_>>(), reading.not_applied().len())
    };
    let short = || bytes![-999_i16, 0_i16, 7_i16];
    assert_eq!(missing(Dtype::Int16, short(), double(-999.0)), (vec![true, false, false], 0));
    assert_eq!(missing(Dtype::Int16, short(), integers(Dtype::Int64, &[7, 0])), (vec![false, true, true], 0));
    for other in [double(-999.5), double(1e9), double(f64::NAN), text("-999"), integers(Dtype::Int32, &[-999, 1 << 20])]
    {
        assert_eq!(missing(Dtype::Int16, short(), other), (vec![false; 3], 1));
    }
    let float = || bytes![-999.9_f32, f32::NAN, 1e36_f32];
    assert_eq!(missing(Dtype::Float32, float(), double(-999.9)), (vec![false, true, false], 1));
    assert_eq!(missing(Dtype::Float32, float(), single(-999.9)), (vec![true, true, false], 0));
    assert_eq!(missing(Dtype::Float32, float(), double(f64::NAN)), (vec![false, true, false], 0));
}

#[test]
fn integers_without_a_scale_stay_with_their_fill_value() {
    let reading = Reading::of(Dtype::Int16, &[(FILL, integers(Dtype::Int16, &[-1])), (MISSING, double(7.0))]);
    assert!(reading.is_as_stored());
    assert_eq!([FILL, MISSING].map(|name| reading.fate(name)), [&Fate::Stays, &Fate::Stays]);
    // Flags that are scaled by nothing are integers too.
    let told = [("flag_values", integers(Dtype::Int8, &[0, 1])), (SCALE, double(1.0)), (OFFSET, double(0.0))];
    let reading = Reading::of(Dtype::Int8, &told);
    assert_eq!(
        (reading.dtype(), reading.fate(SCALE), reading.fate("flag_values")),
        (Dtype::Int8, &Fate::Dropped, &Fate::Stays)
    );
}

#[test]
fn factors_that_are_not_a_number_leave_all_as_it_is() {
    for told in [text("0.1"), floats(Dtype::Float64, &[1.0, 2.0]), AttributeValue::Other] {
        let reading = Reading::of(Dtype::Int16, &[(SCALE, told), (OFFSET, double(1.0))]);
        assert_eq!(
            (reading.dtype(), reading.not_applied().len(), reading.fate(OFFSET)),
            (Dtype::Int16, 1, &Fate::Stays)
        );
    }
}

#[test]
fn bounds_are_values_too() {
    let told = [(SCALE, double(0.5)), (OFFSET, double(250.0)), ("valid_range", integers(Dtype::Int16, &[0, 100]))];
    let of = |list: &[f64]| Fate::Becomes(Numbers { dtype: Some(Dtype::Float64), list: List::Floats(list.to_vec()) });
    assert_eq!(Reading::of(Dtype::Int16, &told).fate("valid_range"), &of(&[250.0, 300.0]));
    let told = [
        (SCALE, double(-0.5)),
        ("valid_range", integers(Dtype::Int16, &[0, 100])),
        ("valid_min", integers(Dtype::Int16, &[4])),
    ];
    let reading = Reading::of(Dtype::Int16, &told);
    assert_eq!(reading.fate("valid_range"), &of(&[-50.0, 0.0]));
    assert_eq!([reading.fate("valid_max"), reading.fate("valid_min")], [&of(&[-2.0]), &Fate::Dropped]);
    let told = [(SCALE, double(0.5)), ("valid_range", floats(Dtype::Float64, &[0.0, 10.0]))];
    let reading = Reading::of(Dtype::Int16, &told);
    assert_eq!((reading.fate("valid_range"), reading.not_applied().len()), (&Fate::Stays, 1));
    // Zarr: numbers of JSON, which xarray writes as 0.0 if they are bounds of values.
    let json = |list| AttributeValue::Numbers(Numbers { dtype: None, list });
    let told = |list| [(SCALE, double(0.5)), ("valid_range", json(list))];
    let reading = Reading::of(Dtype::Int16, &told(List::Floats(vec![0.0, 10.0])));
    assert_eq!((reading.fate("valid_range"), reading.not_applied().len()), (&Fate::Stays, 1));
    let reading = Reading::of(Dtype::Int16, &told(List::Integers(vec![0, 10])));
    assert_eq!(reading.fate("valid_range"), &of(&[0.0, 5.0]));
}

#[test]
fn default_fill_values_are_counted_and_stay() {
    let cells = |attributes: &[(&str, AttributeValue)]| {
        Reading::of(Dtype::Int16, attributes).cells(bytes![-32767_i16, 1_i16, -32767_i16]).unwrap()
    };
    assert_eq!((cells(&[]).default_fills, cells(&[]).bytes), (2, bytes![-32767_i16, 1_i16, -32767_i16]));
    assert_eq!(cells(&[(FILL, integers(Dtype::Int16, &[1]))]).default_fills, 0);
}

/// What the encoder makes of packed values, and the decoder of that.
fn through_simple_packing(packed: Packed, values: &[u8]) -> Vec<u8> {
    let len = values.len() as u64 / 8;
    let mut descriptor = DataObjectDescriptor::new(Dtype::Float64, tgm_core::descriptor::ByteOrder::NATIVE, &[len]);
    packed.describe(&mut descriptor);
    let options = tgm_std::EncodeOptions { allow_nan: true, ..tgm_std::EncodeOptions::default() };
    let message = tgm_std::encode(&tgm_std::GlobalMetadata::default(), &[(&descriptor, values)], &options).unwrap();
    tgm_std::decode(&message, &tgm_std::DecodeOptions::default()).unwrap().1.remove(0).1
}

#[test]
fn packed_integers_stay_packed_where_no_value_changes() {
    let is_packed = |scale: f64, offset: f64, integers: &[i16]| {
        let reading = Reading::of(Dtype::Int16, &[(SCALE, double(scale)), (OFFSET, double(offset))]);
        let bytes = integers.iter().flat_map(|integer| integer.to_ne_bytes()).collect();
        Packed::of(&reading, &reading.cells(bytes).unwrap().bytes).is_some()
    };
    let (positive, any): (Vec<i16>, Vec<i16>) = ((0..=i16::MAX).collect(), (i16::MIN..=i16::MAX).collect());
    for scale in [0.1, 0.01, 0.001, 0.02, 0.25, 0.05, 0.0125, 10.0, 1e-22] {
        assert!(is_packed(scale, 0.0, &positive), "{scale}");
        assert!(is_packed(scale, 273.15, &positive) || scale < 1e-10, "{scale}");
    }
    for scale in [0.25, 1.0, 8.0] {
        assert!(is_packed(scale, -4.0, &any), "{scale}");
    }
    for scale in [0.3, 0.003, 3.0, 1.0 / 3.0, f64::from(0.01_f32), -0.1, 0.0, f64::NAN, f64::INFINITY] {
        assert!(!is_packed(scale, 0.0, &positive), "{scale}");
    }
    assert!(!is_packed(0.1, 0.0, &any));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn packing_gives_each_value_again(
        integers in proptest::collection::vec(any::<i16>(), 1..30),
        scale in prop_oneof![Just(0.1), Just(0.01), Just(0.25), Just(3.0), (-40_i32..40).prop_map(|it| 2_f64.powi(it)), -1e3..1e3],
        offset in prop_oneof![Just(0.0), Just(273.15), -1e6..1e6],
        is_single in any::<bool>(), is_unsigned in any::<bool>(), fill in any::<i16>(),
    ) {
        let factor = |value: f64| if is_single { single(value as f32) } else { double(value) };
        let told = [
            (SCALE, factor(scale)), (OFFSET, factor(offset)),
            (UNSIGNED, text(if is_unsigned { "true" } else { "no" })),
            (FILL, tests::integers(Dtype::Int16, &[fill.into()])),
        ];
        let stored: Vec<u8> = integers.iter().chain([&fill]).flat_map(|integer| integer.to_ne_bytes()).collect();
        let reading = Reading::of(Dtype::Int16, &told);
        let cells = reading.cells(stored).unwrap().bytes;
        if let Some(packed) = Packed::of(&reading, &cells) {
            let again = numbers_of(Dtype::Float64, &through_simple_packing(packed, &cells));
            let values = numbers_of(Dtype::Float64, &cells);
            prop_assert!(values.iter().zip(&again).all(|(one, other)| one.to_bits() == other.to_bits()));
        }
        // Other integers may give the same values: then these are stored.
        if let Some(again) = pack(&reading, &cells) {
            let values = numbers_of(reading.dtype(), &reading.cells(again).unwrap().bytes);
            let expected = numbers_of(reading.dtype(), &cells);
            prop_assert!(values.iter().zip(&expected).all(|(a, b)| a == b || a.is_nan() && b.is_nan()));
        }
    }
}

#[test]
fn values_become_the_same_stored_numbers_again() {
    let told = [(SCALE, double(0.01)), (OFFSET, double(273.15)), (FILL, integers(Dtype::Int16, &[-32767]))];
    let reading = Reading::of(Dtype::Int16, &told);
    let stored: Vec<u8> = (-32767..=i16::MAX).flat_map(i16::to_ne_bytes).collect();
    let cells = reading.cells(stored.clone()).unwrap().bytes;
    assert_eq!(pack(&reading, &cells), Some(stored));
    assert_eq!(pack(&reading, &bytes![1.000_1_f64]), None);
    let reading = Reading::of(Dtype::Float32, &[(FILL, single(-9.0))]);
    assert_eq!(pack(&reading, &bytes![1_f32, f32::NAN]), Some(bytes![1_f32, -9_f32]));
    assert_eq!(pack(&reading, &bytes![1_f32, -9_f32]), None);
}

/// A file says how many values it has: memory that is not there is an error.
#[test]
fn memory_for_values_is_reserved_and_an_error_where_there_is_none() {
    let bytes = gather([Ok([1_u8, 2]), Ok([3, 4])].into_iter()).unwrap();
    assert_eq!((bytes.capacity(), &*bytes), (4, &[1, 2, 3, 4][..]));
    for count in [usize::MAX / 16, usize::MAX] {
        let error = gather((0..count).map(|_| Ok([0_u8; 8]))).unwrap_err().to_string();
        assert!(error.contains("cannot allocate") || error.contains("addresses"), "{error}");
    }
}

/// Values are the numbers again that they were made of, of each type and with each kind of scale.
#[test]
#[expect(clippy::cast_sign_loss, reason = "the numbers are not negative")]
fn values_become_the_stored_numbers_again() {
    let scales = [
        vec![("scale_factor", double(0.1))],
        vec![("scale_factor", double(-0.25)), ("add_offset", double(273.15))],
        vec![("scale_factor", single(0.01)), ("add_offset", single(3.5))],
        vec![("scale_factor", integers(Dtype::Int16, &[3])), ("add_offset", integers(Dtype::Int16, &[-7]))],
        vec![],
    ];
    let numbers: Vec<i8> = (0..=100).collect();
    let of = |dtype: Dtype| -> Vec<u8> {
        macro_rules! each {
            ($type:ty) => {
                numbers.iter().flat_map(|number| (*number as $type).to_ne_bytes()).collect()
            };
        }
        match dtype {
            Dtype::Int8 => each!(i8),
            Dtype::Uint16 => each!(u16),
            Dtype::Int16 => each!(i16),
            Dtype::Int32 => each!(i32),
            Dtype::Uint32 => each!(u32),
            Dtype::Int64 => each!(i64),
            Dtype::Float32 => each!(f32),
            _ => each!(f64),
        }
    };
    for dtype in [
        Dtype::Int8,
        Dtype::Uint16,
        Dtype::Int16,
        Dtype::Int32,
        Dtype::Uint32,
        Dtype::Int64,
        Dtype::Float32,
        Dtype::Float64,
    ] {
        for scale in &scales {
            for fill in [None, Some(5_i128)] {
                let mut told = scale.clone();
                told.extend(fill.map(|fill| ("_FillValue", integers(dtype, &[fill]))));
                let reading = Reading::of(dtype, &told);
                let values = reading.cells(of(dtype)).unwrap().bytes;
                assert_eq!(pack(&reading, &values), Some(of(dtype)), "{dtype} {told:?}");
                // A value that is none is refused, also among integers.
                let Some(wrong) = values.first_chunk().copied().filter(|_| reading.dtype() == Dtype::Float64) else {
                    continue;
                };
                let wrong = (f64::from_ne_bytes(wrong) + 1e-3).to_ne_bytes();
                let is_refused = dtype.is_float() || pack(&reading, &wrong).is_none();
                assert!(is_refused, "{dtype} {told:?}");
            }
        }
    }
}
