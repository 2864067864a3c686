//! The byte order of values for codecs that compress numbers and not bytes: zfp and sz3.

use tgm_codec::CodecError;
use tgm_codec::about::Input;
use tgm_core::descriptor::{ByteOrder, Compression, Dtype};

use crate::base::error::Result;
use crate::base::hint::Hint;
use crate::base::options::ValueOrder;
use crate::model::types::DataObjectDescriptor;

/// The check needs at least this many values. Fewer could look plausible in either order by chance.
const LEAST: usize = 16;
/// Magnitudes of measurements and model values. Bytes in the wrong order rarely have them, because the last digits of a
/// number become its exponent.
const USUAL: std::ops::RangeInclusive<f64> = 1e-100..=1e100;

/// The byte order of the values in `data`.
///
/// # Errors
/// [`TensogramError::Encoding`](crate::TensogramError::Encoding) for values that seem to be in another order than the
/// declared one, unless the caller has said which order it is.
pub(super) fn determine(descriptor: &DataObjectDescriptor, data: &[u8], said: ValueOrder) -> Result<ByteOrder> {
    let declared = descriptor.byte_order;
    if !codes_numbers(&descriptor.compression) || descriptor.dtype != Dtype::Float64 || declared == ByteOrder::NATIVE {
        return Ok(declared);
    }
    match said {
        ValueOrder::Native => Ok(ByteOrder::NATIVE),
        ValueOrder::Checked if look_native(data.as_chunks().0) => {
            let (native, declared) = (ByteOrder::NATIVE.name(), declared.name());
            let text = format!(
                "the values are of usual magnitudes as {native} endian, which this machine is, and not as the \
                 {declared} endian that the descriptor says: {}",
                Hint::ValueOrder
            );
            Err(CodecError::new(text).in_codec(&descriptor.compression).into())
        }
        ValueOrder::Checked | ValueOrder::Declared => Ok(declared),
    }
}

/// Whether a compression is of numbers, and not of bytes.
pub(crate) fn codes_numbers(compression: &str) -> bool {
    let codec = Compression::from_name(compression).and_then(tgm_codec::find);
    codec.is_some_and(|codec| codec.about().input == Input::Numbers)
}

/// Whether values look plausible in this machine's byte order, and not in the other.
///
/// If values are in the other order, the first few decide. Read in this machine's order, two of three numbers with
/// random digits have an unusual magnitude, and so do all numbers with few digits.
fn look_native(values: &[[u8; 8]]) -> bool {
    let (mut seen, mut odd) = (0_usize, 0_usize);
    for bytes in values {
        let native = f64::from_ne_bytes(*bytes);
        // Zeros and values for masks say nothing about the order.
        if native == 0.0 || !native.is_finite() {
            continue;
        }
        if !USUAL.contains(&native.abs()) {
            return false;
        }
        let mut swapped = *bytes;
        swapped.reverse();
        seen += 1;
        odd += usize::from(!USUAL.contains(&f64::from_ne_bytes(swapped).abs()));
    }
    seen >= LEAST && odd >= seen / 4
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests may panic")]
mod tests {
    use tgm_core::descriptor::ZfpMode;

    use super::*;
    use crate::encode::{Part, encode_parts};
    use crate::{
        DecodeOptions, EncodeOptions, GlobalMetadata, MessageBuilder, ObjectBuilder, StreamingEncoder, decode, encode,
        encode_into,
    };

    const OTHER: ByteOrder = match ByteOrder::NATIVE {
        ByteOrder::Big => ByteOrder::Little,
        ByteOrder::Little => ByteOrder::Big,
    };

    fn values() -> Vec<f64> {
        (0..400).map(|i| 273.15 + f64::from(i % 37) / 3.0 - f64::from(i) * 0.01).collect()
    }

    fn bytes(values: &[f64], order: ByteOrder) -> Vec<u8> {
        let bytes = values.iter().map(|value| match order {
            ByteOrder::Big => value.to_be_bytes(),
            ByteOrder::Little => value.to_le_bytes(),
        });
        bytes.flatten().collect()
    }

    /// zfp with an error of up to 1/1000, or sz3 without loss, which needs no C library.
    fn descriptor(compression: &str, order: ByteOrder, count: usize) -> DataObjectDescriptor {
        let object = ObjectBuilder::from_parts(
            DataObjectDescriptor::new(Dtype::Float64, order, &[count as u64]),
            Vec::<u8>::new(),
        );
        let object = match compression {
            "zfp" => object.zfp(ZfpMode::FixedAccuracy(1e-3)),
            _ => object.sz3(tgm_codec::ErrorBound::new("abs", 0.0).unwrap()),
        };
        object.descriptor().clone()
    }

    fn options(value_order: ValueOrder) -> EncodeOptions {
        EncodeOptions { value_order, ..EncodeOptions::default() }
    }

    type Route = fn(&DataObjectDescriptor, &[u8], &EncodeOptions) -> Result<Vec<u8>>;

    /// Every way to encode values.
    const ROUTES: [(&str, Route); 6] = [
        ("encode", |descriptor, data, options| encode(&GlobalMetadata::default(), &[(descriptor, data)], options)),
        ("encode_into", |descriptor, data, options| {
            let mut message = Vec::new();
            encode_into(&GlobalMetadata::default(), &[(descriptor, data)], options, &mut message)?;
            Ok(message)
        }),
        ("encode_parts", |descriptor, data, options| {
            Ok(encode_parts(&GlobalMetadata::default(), &[Part::Values(descriptor, data, options)], options)?)
        }),
        ("write_object", |descriptor, data, options| {
            let mut encoder = StreamingEncoder::new(Vec::new(), &GlobalMetadata::default(), options)?;
            encoder.write_object(descriptor, data)?;
            encoder.finish()
        }),
        ("MessageBuilder::encode", |descriptor, data, options| {
            let object = ObjectBuilder::from_parts(descriptor.clone(), data.to_vec());
            MessageBuilder::new().object(object).options(options.clone()).encode()
        }),
        ("MessageBuilder::stream_to", |descriptor, data, options| {
            let object = ObjectBuilder::from_parts(descriptor.clone(), data.to_vec());
            MessageBuilder::new().object(object).options(options.clone()).stream_to(Vec::new())
        }),
    ];

    fn codecs() -> impl Iterator<Item = &'static str> {
        ["zfp", "sz3"].into_iter().filter(|codec| *codec == "zfp" || cfg!(feature = "sz3-decode"))
    }

    fn assert_close(message: &[u8], values: &[f64], what: &str) {
        let (found, decoded) = decode(message, &DecodeOptions::default()).unwrap().1.remove(0);
        assert_eq!(found.byte_order, OTHER, "{what}");
        let decoded: Vec<f64> = decoded.as_chunks().0.iter().map(|bytes| f64::from_ne_bytes(*bytes)).collect();
        assert_eq!(decoded.len(), values.len());
        assert!(decoded.iter().zip(values).all(|(one, other)| (one - other).abs() <= 1e-3), "{what}");
    }

    #[test]
    fn native_bytes_under_the_other_order_are_noticed_and_can_be_said_to_be_so() {
        let values = values();
        let (native, declared) = (bytes(&values, ByteOrder::NATIVE), bytes(&values, OTHER));
        for (codec, (name, route)) in codecs().flat_map(|codec| ROUTES.map(|route| (codec, route))) {
            let (what, descriptor) = (format!("{codec}, {name}"), descriptor(codec, OTHER, values.len()));
            let error = route(&descriptor, &native, &options(ValueOrder::Checked)).unwrap_err().to_string();
            let expected = format!("encoding error: object 0: {codec} compression: the values are");
            assert!(error.starts_with(&expected), "{what}: {error}");
            assert!(error.contains("ValueOrder::Native"), "{what}: {error}");
            assert_close(&route(&descriptor, &native, &options(ValueOrder::Native)).unwrap(), &values, &what);
            for order in [ValueOrder::Checked, ValueOrder::Declared] {
                assert_close(&route(&descriptor, &declared, &options(order)).unwrap(), &values, &what);
            }
        }
    }

    #[test]
    fn masks_are_of_the_values_as_they_are_read() {
        let mut values = values();
        values[7] = f64::NAN;
        let native = bytes(&values, ByteOrder::NATIVE);
        for codec in codecs() {
            let descriptor = descriptor(codec, OTHER, values.len());
            let masking = EncodeOptions { allow_nan: true, ..options(ValueOrder::Native) };
            let message = encode(&GlobalMetadata::default(), &[(&descriptor, &native)], &masking).unwrap();
            let (found, decoded) = decode(&message, &DecodeOptions::default()).unwrap().1.remove(0);
            assert!(found.masks.unwrap().nan.is_some());
            let decoded: Vec<f64> = decoded.as_chunks().0.iter().map(|bytes| f64::from_ne_bytes(*bytes)).collect();
            assert!(decoded[7].is_nan() && (decoded[8] - values[8]).abs() <= 1e-3);
            // NaN says nothing about the order, but the other values do.
            let masking = EncodeOptions { allow_nan: true, ..options(ValueOrder::Checked) };
            assert!(encode(&GlobalMetadata::default(), &[(&descriptor, &native)], &masking).is_err());
        }
    }

    /// Codecs of bytes keep them in the declared order.
    #[test]
    fn other_codecs_do_not_ask() {
        let values = values();
        let descriptor = DataObjectDescriptor::new(Dtype::Float64, OTHER, &[values.len() as u64]);
        let (native, declared) = (bytes(&values, ByteOrder::NATIVE), bytes(&values, OTHER));
        for order in [ValueOrder::Checked, ValueOrder::Declared, ValueOrder::Native] {
            assert_eq!(determine(&descriptor, &native, order).unwrap(), OTHER);
            let message = encode(&GlobalMetadata::default(), &[(&descriptor, &declared)], &options(order)).unwrap();
            assert_close(&message, &values, "none");
        }
    }

    #[test]
    fn values_in_their_order_pass_whatever_they_are() {
        let mut state = 1_u64;
        let mut random = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            f64::from_bits(state)
        };
        let many = |value: f64| vec![value; 100];
        let cases = [
            (0..2000).map(|_| random()).collect(),
            (0..100).map(f64::from).collect(),
            many(0.0),
            many(1.0),
            many(273.15),
            many(f64::MIN_POSITIVE),
            many(f64::NAN),
            many(5e-324),
            vec![1e300; LEAST - 1],
        ];
        for values in cases {
            assert!(!look_native(bytes(&values, OTHER).as_chunks().0), "{:?}", values.first());
        }
        assert!(look_native(bytes(&many(1.0), ByteOrder::NATIVE).as_chunks().0));
        assert!(!look_native(bytes(&[1.0; LEAST - 1], ByteOrder::NATIVE).as_chunks().0));
        assert!(look_native(bytes(&[1.0; LEAST], ByteOrder::NATIVE).as_chunks().0));
    }

    #[test]
    fn a_quarter_of_values_that_are_odd_the_other_way_round_tells_the_order() {
        // A number that is the same both ways, and of usual magnitude.
        let same = f64::from_bits(0x4045_4545_4545_4540);
        assert_eq!(same.to_bits(), same.to_bits().swap_bytes());
        for (odd, is_native) in [(0, false), (4, false), (5, true), (6, true), (20, true)] {
            let values = [vec![1.0; odd], vec![same; 20 - odd]].concat();
            assert_eq!(look_native(bytes(&values, ByteOrder::NATIVE).as_chunks().0), is_native, "{odd}");
        }
    }
}
