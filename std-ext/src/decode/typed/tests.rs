use half::{bf16, f16};
use tgm_core::Message;
use tgm_core::tensor::Complex;

use super::*;
use crate::encode::{EncodeOptions, MessageBuilder, ObjectBuilder};
use crate::model::number::Number;
use crate::{ByteOrder, DataObjectDescriptor, read};

fn message(object: ObjectBuilder<'_>) -> Vec<u8> {
    MessageBuilder::new().object(object).encode().unwrap()
}

fn floats<T: Float>(message: &[u8]) -> Result<Vec<T>> {
    read(&Message::parse(message).unwrap().object(0).unwrap()).values()
}

/// Through no codec, and through two.
fn each_way<T: Number>(values: &[T], expected: &[f64]) {
    let object = || ObjectBuilder::new(&[values.len() as u64], values).unwrap();
    for object in [object(), object().shuffle(), object().shuffle().szip()] {
        let bytes = message(object);
        assert_eq!(floats::<f64>(&bytes).unwrap(), expected, "{values:?}");
        #[allow(clippy::cast_possible_truncation, reason = "what is asked for")]
        let narrow: Vec<f32> = expected.iter().map(|value| *value as f32).collect();
        assert_eq!(floats::<f32>(&bytes).unwrap(), narrow, "{values:?}");
        let object = Message::parse(&bytes).unwrap().object(0).unwrap();
        assert_eq!(read(&object).values::<T>().unwrap(), values);
    }
}

#[test]
fn values_of_every_real_type_are_floats() {
    each_way(&[1_i8, -2, i8::MIN], &[1.0, -2.0, -128.0]);
    each_way(&[1_u8, 2, u8::MAX], &[1.0, 2.0, 255.0]);
    each_way(&[1_i16, -2, i16::MIN], &[1.0, -2.0, -32768.0]);
    each_way(&[1_u16, u16::MAX], &[1.0, 65535.0]);
    each_way(&[1_i32, i32::MIN, i32::MAX], &[1.0, -2_147_483_648.0, 2_147_483_647.0]);
    each_way(&[1_u32, u32::MAX], &[1.0, 4_294_967_295.0]);
    each_way(&[f16::from_f32(0.5), f16::from_f32(-65504.0)], &[0.5, -65504.0]);
    each_way(&[bf16::from_f32(0.5), bf16::from_f32(-3.0)], &[0.5, -3.0]);
    each_way(&[0.1_f32, -1e30], &[f64::from(0.1_f32), f64::from(-1e30_f32)]);
    each_way(&[0.1_f64, 1e300], &[0.1, 1e300]);
}

#[test]
fn wide_integers_are_rounded_to_the_nearest_float() {
    let odd = (1_u64 << 53) + 1;
    each_way(
        &[odd, odd + 2, u64::MAX],
        &[9_007_199_254_740_992.0, 9_007_199_254_740_996.0, 18_446_744_073_709_551_616.0],
    );
    each_way(&[i64::MIN, 3], &[-9_223_372_036_854_775_808.0, 3.0]);
}

#[test]
fn a_bitmask_is_zeros_and_ones() {
    let bytes = message(ObjectBuilder::bitmask(&[2, 5], &[0b1010_0000, 0b1100_0000]));
    let expected = [1.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 1.0];
    assert_eq!(floats::<f64>(&bytes).unwrap(), expected);
    let rle = message(ObjectBuilder::bitmask(&[2, 5], &[0b1010_0000, 0b1100_0000]).rle());
    assert_eq!(floats::<f64>(&rle).unwrap(), expected);
}

#[test]
fn complex_values_are_an_error_that_names_their_type() {
    let bytes = message(ObjectBuilder::new(&[1], &[Complex { re: 1.0_f32, im: 2.0 }]).unwrap());
    assert!(floats::<f32>(&bytes).unwrap_err().to_string().contains("complex64"));
    let object = Message::parse(&bytes).unwrap().object(0).unwrap();
    let values: Vec<Complex<f32>> = read(&object).values().unwrap();
    assert_eq!(values, [Complex { re: 1.0, im: 2.0 }]);
}

#[test]
fn packed_values_are_either_float() {
    let values: Vec<f64> = (0..1000).map(|i| 250.0 + f64::from(i) / 8.0).collect();
    let bytes = message(ObjectBuilder::new(&[1000], &values).unwrap().simple_packing(24).szip());
    let wide = floats::<f64>(&bytes).unwrap();
    #[allow(clippy::cast_possible_truncation, reason = "what is asked for")]
    let narrow: Vec<f32> = wide.iter().map(|value| *value as f32).collect();
    assert_eq!(floats::<f32>(&bytes).unwrap(), narrow);
}

#[test]
fn masked_values_are_restored_in_the_other_float() {
    let values = [1.0_f32, f32::NAN, f32::INFINITY, f32::NEG_INFINITY];
    let options = EncodeOptions { allow_nan: true, allow_inf: true, ..EncodeOptions::default() };
    let object = ObjectBuilder::new(&[4], &values).unwrap();
    let bytes = MessageBuilder::new().object(object).options(options).encode().unwrap();
    let found = floats::<f64>(&bytes).unwrap();
    assert!(found[1].is_nan());
    assert_eq!([found[0], found[2], found[3]], [1.0, f64::INFINITY, f64::NEG_INFINITY]);
    let object = Message::parse(&bytes).unwrap().object(0).unwrap();
    let options = DecodeOptions { restore_non_finite: false, ..DecodeOptions::default() };
    assert_eq!(read(&object).options(&options).values::<f64>().unwrap(), [1.0, 0.0, 0.0, 0.0]);
}

#[test]
fn foreign_byte_orders_are_read_where_values_lie() {
    let other = if ByteOrder::NATIVE == ByteOrder::Big { ByteOrder::Little } else { ByteOrder::Big };
    let data =
        [1_i16, -300].map(|value| if other == ByteOrder::Big { value.to_be_bytes() } else { value.to_le_bytes() });
    let descriptor = DataObjectDescriptor::new(Dtype::Int16, other, &[2]);
    let bytes = message(ObjectBuilder::from_parts(descriptor, data.as_flattened()));
    assert_eq!(floats::<f32>(&bytes).unwrap(), [1.0, -300.0]);
}

#[test]
fn outputs_of_another_length_and_type_are_errors() {
    let bytes = message(ObjectBuilder::new(&[2], &[1_i16, 2]).unwrap());
    let object = Message::parse(&bytes).unwrap().object(0).unwrap();
    let mut scratch = Scratch::default();
    for len in [1, 3] {
        let error = read(&object).scratch(&mut scratch).values_into(&mut vec![0.0_f64; len]);
        assert_eq!(
            error.unwrap_err().to_string(),
            format!("encoding error: output has {len} values, the object has 2")
        );
    }
    assert!(read(&object).values::<u16>().unwrap_err().to_string().contains("int16"));
}

#[test]
fn memory_of_converted_values_is_within_the_limits() {
    // A constant field: eight bytes for each value, and no byte in the message.
    let descriptor = DataObjectDescriptor::new(Dtype::Bitmask, ByteOrder::NATIVE, &[1 << 20]);
    let bits = vec![0; 1 << 17];
    let bytes = message(ObjectBuilder::from_parts(descriptor, &bits[..]).rle());
    let object = Message::parse(&bytes).unwrap().object(0).unwrap();
    let mut options = DecodeOptions::default();
    assert_eq!(read(&object).options(&options).values::<f64>().unwrap().len(), 1 << 20);
    options.limits.max_decoded_bytes = 1 << 20;
    assert!(read(&object).options(&options).values::<f64>().unwrap_err().to_string().contains("8388608 bytes"));
}
