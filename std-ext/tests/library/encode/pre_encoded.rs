//! Objects whose bytes come encoded: what every route refuses, and what no route writes.

use ciborium::Value;
use tgm_core::Message;
use tgm_core::descriptor::Key;

use super::{bytes, options};
use tgm_std::compat::framing::{self, EncodedObject, HashFramePolicy};
use tgm_std::encode::*;
use tgm_std::{ByteOrder, DataObjectDescriptor, EncodeOptions, GlobalMetadata, MaskDescriptor, MasksMetadata};
use tgm_std::{DecodeOptions, Dtype, Result, TensogramError, decode, decode_object_from_frame};

type Route = fn(&DataObjectDescriptor, &[u8]) -> Result<Vec<u8>>;

/// Every way to make a new frame from a descriptor and encoded bytes. A route returns a message, or the frame alone.
const ROUTES: [(&str, Route); 5] = [
    ("encode_pre_encoded", |descriptor, region| {
        encode_pre_encoded(&GlobalMetadata::default(), &[(descriptor, region)], &options())
    }),
    ("write_object_pre_encoded", |descriptor, region| {
        let mut encoder = StreamingEncoder::new(Vec::new(), &GlobalMetadata::default(), &options())?;
        encoder.write_object_pre_encoded(descriptor, region)?;
        encoder.finish()
    }),
    ("encode_parts", |descriptor, region| {
        let parts = [Part::Region(descriptor, region)];
        Ok(encode_parts(&GlobalMetadata::default(), &parts, &options())?)
    }),
    ("encode_message", |descriptor, region| {
        let object = EncodedObject { descriptor: descriptor.clone(), encoded_payload: region.to_vec() };
        framing::encode_message(&GlobalMetadata::default(), &[object], true, HashFramePolicy::default())
    }),
    ("encode_data_object_frame", |descriptor, region| encode_data_object_frame(descriptor, region, false, true)),
];

/// Decodes what one of [`ROUTES`] made.
fn read_back(made: &[u8]) -> (DataObjectDescriptor, Vec<u8>) {
    if made.starts_with(b"FR") {
        return decode_object_from_frame(made, &DecodeOptions::default()).unwrap();
    }
    decode(made, &DecodeOptions::default()).unwrap().1.remove(0)
}

/// A message as an old release may have written it. Written as float64 first, then renamed to a type whose name is as
/// long.
fn by_hand(descriptor: &DataObjectDescriptor, region: &[u8]) -> Vec<u8> {
    let float64 = DataObjectDescriptor { dtype: Dtype::Float64, ..descriptor.clone() };
    let mut message = encode_pre_encoded(
        &GlobalMetadata::default(),
        &[(&float64, region)],
        &EncodeOptions { hashing: false, ..options() },
    )
    .unwrap();
    let name = descriptor.dtype.name().as_bytes();
    for at in 0..message.len() - 7 {
        if message[at..].starts_with(b"float64") {
            message[at..][..7].copy_from_slice(name);
        }
    }
    message
}

fn packed(dtype: Dtype) -> DataObjectDescriptor {
    let mut descriptor = DataObjectDescriptor::new(dtype, ByteOrder::Little, &[4]);
    descriptor.encoding = "simple_packing".into();
    for (key, value) in [
        (Key::SpReferenceValue, Value::from(1.0)),
        (Key::SpBinaryScaleFactor, 0.into()),
        (Key::SpDecimalScaleFactor, 0.into()),
        (Key::SpBitsPerValue, 8.into()),
    ] {
        descriptor.params.insert(key.name().to_string(), value);
    }
    descriptor
}

#[test]
fn packed_values_of_another_type_than_float64_are_refused_by_every_route() {
    for dtype in [Dtype::Float32, Dtype::Float16] {
        for (name, route) in ROUTES {
            let error = route(&packed(dtype), &[1, 2, 3, 4]).unwrap_err();
            let (text, expected) = (error.to_string(), format!("simple_packing only supports float64, got {dtype}"));
            assert!(text.starts_with("encoding error: ") && text.ends_with(&expected), "{name}: {text}");
        }
    }
    for (name, route) in ROUTES {
        let made = route(&packed(Dtype::Float64), &[1, 2, 3, 4]).unwrap();
        assert_eq!(read_back(&made).1, [2.0, 3.0, 4.0, 5.0].map(f64::to_ne_bytes).as_flattened(), "{name}");
    }
}

/// Objects of old releases that no reader decodes can still be copied, kept and looked at.
#[test]
fn reframe_takes_objects_over_as_they_are() {
    for dtype in [Dtype::Float32, Dtype::Float16, Dtype::Float64] {
        let message = by_hand(&packed(dtype), &[1, 2, 3, 4]);
        let object = Message::parse(&message).unwrap().object(0).unwrap();
        let taken = TakenObject::new(&object).unwrap();
        assert_eq!(taken.descriptor(), &packed(dtype));
        let copy = reframe(&GlobalMetadata::default(), vec![taken], &options()).unwrap();
        let copy = Message::parse(&copy).unwrap().object(0).unwrap();
        assert_eq!(copy.region(), object.region(), "{dtype}");
        assert_eq!(copy.descriptor().as_encoded(), object.descriptor().as_encoded(), "{dtype}");
    }
}

/// `reframe` does write it: it takes objects over as they are, with a digest that still belongs to the payload.
#[test]
fn a_digest_of_version_2_is_written_by_no_route() {
    let mut described = bytes(4, "none");
    described.params.insert("hash".into(), "0123456789abcdef".into());
    let mut routes = ROUTES.to_vec();
    routes.extend::<[(&str, Route); 2]>([
        ("encode", |descriptor, data| encode(&GlobalMetadata::default(), &[(descriptor, data)], &options())),
        ("write_object", |descriptor, data| {
            let mut encoder = StreamingEncoder::new(Vec::new(), &GlobalMetadata::default(), &options())?;
            encoder.write_object(descriptor, data)?;
            encoder.finish()
        }),
    ]);
    for (name, route) in routes {
        let (descriptor, values) = read_back(&route(&described, &[1, 2, 3, 4]).unwrap());
        assert_eq!((descriptor, values), (bytes(4, "none"), vec![1, 2, 3, 4]), "{name}");
    }
    // A compressed object takes another way through the code.
    let mut described = bytes(4, "szip");
    described.params.insert("hash".into(), Value::Null);
    let made = encode(&GlobalMetadata::default(), &[(&described, &[1, 2, 3, 4])], &options()).unwrap();
    assert!(!read_back(&made).0.params.contains_key("hash"));
}

/// A file may have the key `hash`; readers return it like any other parameter.
#[test]
fn a_descriptor_that_was_read_with_a_digest_of_version_2_is_written_without_it() {
    let mut noted = bytes(4, "none");
    noted.params.insert("note".into(), "abc".into());
    let unhashed = EncodeOptions { hashing: false, ..options() };
    let mut message = encode(&GlobalMetadata::default(), &[(&noted, &[1, 2, 3, 4])], &unhashed).unwrap();
    let at = message.windows(4).position(|window| window == b"note").unwrap();
    message[at..][..4].copy_from_slice(b"hash");
    let (metadata, objects) = decode(&message, &DecodeOptions::default()).unwrap();
    assert_eq!(objects[0].0.params["hash"], "abc".into());
    let extra = GlobalMetadata { extra: metadata.extra, ..GlobalMetadata::default() };
    let again = encode(&extra, &[(&objects[0].0, &objects[0].1)], &options()).unwrap();
    let (descriptor, values) = decode(&again, &DecodeOptions::default()).unwrap().1.remove(0);
    assert_eq!((descriptor, values), (bytes(4, "none"), vec![1, 2, 3, 4]));
}

/// The texts are those that programs look for (FORMAT §4.7).
#[test]
fn offsets_of_szip_that_cannot_be_are_refused_and_say_why() {
    let list = |offsets: &[u64]| Value::Array(offsets.iter().map(|offset| (*offset).into()).collect());
    let cases = [
        ("lz4", list(&[0]), "szip_block_offsets provided but compression"),
        ("none", list(&[0]), "szip_block_offsets provided but compression"),
        ("szip", 0.into(), "szip_block_offsets must be an array"),
        ("szip", Value::Null, "szip_block_offsets must be an array"),
        ("szip", list(&[]), "must not be empty; first offset must be 0"),
        ("szip", Value::Array(vec![0.0.into()]), "must be an integer"),
        ("szip", Value::Array(vec![0.into(), "8".into()]), "must be an integer"),
        ("szip", Value::Array(vec![0.into(), (-8).into()]), "must be an integer"),
        ("szip", list(&[7]), "szip_block_offsets[0] must be 0, got 7"),
        ("szip", list(&[7]), "first offset must be 0"),
        ("szip", list(&[0, 9, 9]), "must be strictly increasing"),
        ("szip", list(&[0, 9, 3]), "must be strictly increasing"),
        ("szip", list(&[0, 33]), "exceeds bit bound"),
        ("szip", list(&[0, u64::MAX]), "exceeds bit bound"),
    ];
    let routes = ROUTES.iter().filter(|(name, _)| name.ends_with("pre_encoded"));
    for ((name, route), (compression, offsets, text)) in
        routes.flat_map(|route| cases.iter().map(move |case| (route, case)))
    {
        let mut descriptor = bytes(4, compression);
        descriptor.params.insert(Key::SzipBlockOffsets.name().into(), offsets.clone());
        let error = route(&descriptor, &[0; 4]).unwrap_err();
        assert!(matches!(error, TensogramError::Metadata(_)), "{name} {compression} {offsets:?}: {error}");
        assert!(error.to_string().contains(text), "{name} {compression} {offsets:?}: {error}");
    }
    for offsets in [list(&[0]), list(&[0, 31, 32])] {
        let mut descriptor = bytes(4, "szip");
        descriptor.params.insert(Key::SzipBlockOffsets.name().into(), offsets);
        assert!(ROUTES[0].1(&descriptor, &[0; 4]).is_ok() && ROUTES[1].1(&descriptor, &[0; 4]).is_ok());
    }
}

/// FORMAT §3.5: a reader must know the method, and the parameters belong to it. Routes that copy objects keep what they find.
#[test]
fn masks_of_unknown_methods_and_parameters_are_refused_and_copied() {
    let described = |kind: usize, method: &str, params: &[&str]| {
        let params = params.iter().map(|key| ((*key).to_string(), Value::from(3))).collect();
        let mask = MaskDescriptor { method: method.into(), offset: 4, length: 1, params };
        let [mut nan, mut pos_inf, mut neg_inf] = [const { None }; 3];
        *[&mut nan, &mut pos_inf, &mut neg_inf][kind] = Some(mask);
        let mut descriptor = packed(Dtype::Float64);
        descriptor.masks = Some(MasksMetadata { nan, pos_inf, neg_inf });
        descriptor
    };
    let region = [1, 2, 3, 4, 0x80];
    for (name, route) in ROUTES {
        let result = |kind, method, params: &[&str]| route(&described(kind, method, params), &region).map(|_| ());
        let is_copy = !name.ends_with("pre_encoded");
        result(0, "none", &[]).expect(name);
        result(1, "zstd", &["level"]).expect(name);
        for kind in 0..3 {
            for (method, params, expected) in [
                ("lzma", &[][..], "masks: unknown method \"lzma\""),
                ("none", &["level"], "masks: unknown param \"level\" for method \"none\""),
                ("zstd", &["codec"], "masks: unknown param \"codec\" for method \"zstd\""),
            ] {
                match result(kind, method, params) {
                    Ok(()) => assert!(is_copy, "{name}"),
                    Err(error) => assert!(!is_copy && error.to_string().ends_with(expected), "{name}: {error}"),
                }
            }
        }
    }
}
