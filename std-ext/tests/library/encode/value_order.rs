//! The byte order of values for codecs that compress numbers, by every way to encode values.

use tgm_core::descriptor::ZfpMode;
use tgm_std::encode::{Part, ValueOrder, encode_parts};
use tgm_std::file::AppendOptions;
use tgm_std::{
    ByteOrder, DataObjectDescriptor, DecodeOptions, Dtype, EncodeOptions, GlobalMetadata, MessageBuilder,
    ObjectBuilder, Result, StreamingEncoder, TensogramFile, decode, encode, encode_into,
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
    let object =
        ObjectBuilder::from_parts(DataObjectDescriptor::new(Dtype::Float64, order, &[count as u64]), Vec::<u8>::new());
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
const ROUTES: [(&str, Route); 7] = [
    ("encode", |descriptor, data, options| encode(&GlobalMetadata::default(), &[(descriptor, data)], options)),
    ("encode_into", |descriptor, data, options| {
        let mut message = Vec::new();
        encode_into(&GlobalMetadata::default(), &[(descriptor, data)], options, &mut message)?;
        Ok(message)
    }),
    ("encode_parts", |descriptor, data, options| {
        Ok(encode_parts(&GlobalMetadata::default(), &[Part::Values(descriptor, data, options)], options)?)
    }),
    ("append_with", |descriptor, data, options| {
        let place = tempfile::tempdir().unwrap();
        let mut file = TensogramFile::create(place.path().join("a.tgm"))?;
        let objects = [(descriptor, data)];
        file.append_with(&GlobalMetadata::default(), &objects, options, &AppendOptions::default())?;
        file.read_message(0)
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
    let declared = bytes(&values, OTHER);
    for order in [ValueOrder::Checked, ValueOrder::Declared, ValueOrder::Native] {
        let message = encode(&GlobalMetadata::default(), &[(&descriptor, &declared)], &options(order)).unwrap();
        assert_close(&message, &values, "none");
    }
}
