//! Conversion of TENS to Tensogram and back.

use ciborium::Value;
use proptest::prelude::*;
use serde_json::{Value as Json, json};
use tgm_std::{
    ByteOrder, DataObjectDescriptor, DecodeOptions, Dtype, EncodeOptions, GlobalMetadata, MessageBuilder,
    ObjectBuilder, decode, encode, encode_pre_encoded,
};
use tgm_zio::{
    BridgeOptions, Coords, Form, Header, Level, Message, NotKept, Parts, Payload, TensBuilder, TensorBuilder,
    from_tensogram, to_tensogram,
};

use crate::vectors::{id, list, order, parts};

fn options() -> BridgeOptions {
    BridgeOptions::default()
}

fn tensogram<P: AsRef<[u8]>>(parts: &[P], order: ByteOrder) -> Vec<u8> {
    to_tensogram(&Message::from_parts(parts, order).unwrap(), &options()).unwrap()
}

fn back(message: &[u8]) -> Vec<Vec<u8>> {
    from_tensogram(message, &options()).unwrap().0.into_vecs()
}

/// CBOR as JSON, for comparing.
fn json_of(value: &impl serde::Serialize) -> Json {
    serde_json::to_value(value).unwrap()
}

#[test]
fn every_vector_comes_back_to_the_byte_and_lies_where_the_proposal_says() {
    let valid = list("valid.json", "vectors", 53);
    for expected in list("bridge.json", "vectors", 53) {
        let vector = valid.iter().find(|vector| id(vector) == id(&expected)).unwrap();
        let parts = parts(vector);
        let message = tensogram(&parts, order(vector));
        assert_eq!(back(&message), parts, "{}", id(vector));

        let stored = DecodeOptions { native_byte_order: false, ..DecodeOptions::default() };
        let (metadata, objects) = decode(&message, &stored).unwrap();
        let base: Vec<Json> = metadata
            .base
            .iter()
            .map(|entry| {
                let mut entry = entry.clone();
                entry.remove("_reserved_");
                json_of(&entry)
            })
            .collect();
        assert_eq!(Json::Array(base), expected["base"], "{}", id(vector));
        let extra = json_of(&metadata.extra);
        assert_eq!(extra, expected["_extra_"], "{}", id(vector));
        for ((descriptor, values), expected) in objects.iter().zip(expected["objects"].as_array().unwrap()) {
            let payload = &expected["payload"];
            let part = usize::try_from(payload["part"].as_u64().unwrap()).unwrap();
            if payload.get("reversed_axes").is_none() {
                assert_eq!(*values, parts[part + 2], "{}", id(vector));
            } else {
                assert_ne!(*values, parts[part + 2], "{}", id(vector));
            }
            let mut expected = expected.as_object().unwrap().clone();
            expected.shift_remove("payload");
            assert_eq!(json_of(descriptor), Json::Object(expected), "{}", id(vector));
        }
        assert_eq!(objects.len(), expected["objects"].as_array().unwrap().len());
    }
}

#[test]
fn descending_dimensions_are_copied_or_refused() {
    let values = [1_i16, 2, 3, 4, 5, 6];
    let tensor = TensorBuilder::new(&[2, 3], &values).order(&[0, 1]).ascend(&[true, false]);
    let built = TensBuilder::new().byte_order(ByteOrder::Little).tensor(tensor).build().unwrap();
    let slices = built.parts.as_slices();
    let message = Message::from_parts(&slices, ByteOrder::Little).unwrap();
    let refused = to_tensogram(&message, &BridgeOptions { copy_descending: false, ..options() });
    assert!(refused.unwrap_err().to_string().contains("tensor 0"));
    let bytes = to_tensogram(&message, &options()).unwrap();
    let object = tgm_std::core::Message::parse(&bytes).unwrap().object(0).unwrap();
    assert_eq!(object.view::<i16>().unwrap().iter().collect::<Vec<_>>(), [5, 6, 3, 4, 1, 2]);
    assert_eq!(back(&bytes), built.parts.clone().into_vecs());
}

#[test]
fn payload_is_borrowed_on_the_way_back() {
    let built = TensBuilder::new().tensor(TensorBuilder::new(&[2], &[1.0_f64, 2.0])).build().unwrap();
    let message = tensogram(&built.parts.as_slices(), ByteOrder::NATIVE);
    let (parts, _) = from_tensogram(&message, &options()).unwrap();
    assert!(matches!(parts.payloads(), [Payload::Borrowed(_)]));
}

/// Decoded objects, in the byte order they are stored in.
type Objects = Vec<(DataObjectDescriptor, Vec<u8>)>;

/// The message with changed metadata, by decoding and encoding.
fn edited(message: &[u8], edit: impl FnOnce(&mut GlobalMetadata, &mut Objects)) -> Vec<u8> {
    let stored = DecodeOptions { native_byte_order: false, ..DecodeOptions::default() };
    let (mut metadata, mut objects) = decode(message, &stored).unwrap();
    metadata.reserved.clear();
    metadata.base.iter_mut().for_each(|entry| drop(entry.remove("_reserved_")));
    edit(&mut metadata, &mut objects);
    let objects: Vec<_> = objects.iter().map(|(descriptor, bytes)| (descriptor, &bytes[..])).collect();
    encode_pre_encoded(&metadata, &objects, &EncodeOptions::default()).unwrap()
}

fn zio_of<'v>(value: &'v mut Value, key: &str) -> &'v mut Value {
    let map = value.as_map_mut().unwrap();
    &mut map.iter_mut().find(|(name, _)| name.as_text() == Some(key)).unwrap().1
}

fn sample() -> Vec<u8> {
    let label =
        br#"ZIO0TENS{"TENS": {"tensors": [{"shape": [2], "word": 1, "dtype": "u", "metadata": {"tag": "old"}}]}}"#;
    tensogram(&[&label[..], &[0; 24], &[1, 2]], ByteOrder::Little)
}

#[test]
fn edited_metadata_wins_over_the_label_text() {
    let message = edited(&sample(), |metadata, _| {
        let entry = zio_of(metadata.base[0].get_mut("zio").unwrap(), "metadata");
        *zio_of(entry, "tag") = "new".into();
    });
    let label = br#"{"TENS":{"tensors":[{"dtype":"u","metadata":{"tag":"new"},"part":0,"shape":[2],"word":1}]}}"#;
    assert_eq!(back(&message)[0][8..], label[..]);
}

#[test]
fn objects_that_were_added_become_tensors() {
    let message = edited(&sample(), |metadata, objects| {
        metadata.base.push([("name".to_string(), Value::from("new"))].into());
        objects.push((DataObjectDescriptor::new(Dtype::Int16, ByteOrder::Big, &[1]), vec![1, 2]));
    });
    let parts = back(&message);
    assert_eq!(parts[2..], [vec![1, 2], vec![2, 1]]);
    let label: Json = serde_json::from_slice(&parts[0][8..]).unwrap();
    assert_eq!(
        label["TENS"]["tensors"][1],
        json!({"dtype": "i", "part": 1, "shape": [1], "word": 2, "metadata": {"name": "new"}})
    );
}

#[test]
fn edits_that_do_not_fit_are_refused_with_the_object() {
    let refused = |edit: &dyn Fn(&mut GlobalMetadata, &mut Objects)| {
        from_tensogram(&edited(&sample(), edit), &options()).unwrap_err().to_string()
    };
    let text = refused(&|metadata, objects| {
        metadata.base.push(metadata.base[0].clone());
        objects.push((DataObjectDescriptor::new(Dtype::Uint8, ByteOrder::Little, &[2]), vec![9, 9]));
    });
    assert!(text.contains("object 1") && text.contains("payload part 0"), "{text}");
    let text = refused(&|_, objects| {
        objects[0] = (DataObjectDescriptor::new(Dtype::Int16, ByteOrder::Little, &[1]), vec![1, 2]);
    });
    assert!(text.contains("object 0 is int16"), "{text}");
    let text = refused(&|metadata, objects| {
        metadata.base.clear();
        objects.clear();
    });
    assert!(text.contains("parts"), "{text}");
}

/// A message that was not made from TENS, with most features of the format.
fn foreign() -> Vec<u8> {
    let floats: Vec<f64> = (0..6).map(f64::from).collect();
    MessageBuilder::new()
        .extra("source", "a model")
        .extra("nested", Value::Map(vec![("list".into(), Value::Array(vec![1.into(), 2.5.into()]))]))
        .object(
            ObjectBuilder::new(&[2, 3], &floats)
                .unwrap()
                .metadata("mars", Value::Map(vec![("param".into(), "2t".into()), ("step".into(), 6.into())])),
        )
        .object(ObjectBuilder::bitmask(&[11], &[0xA5, 0x20]).metadata("levels", Value::Array(vec![1.into()])))
        .object(ObjectBuilder::from_parts(
            DataObjectDescriptor::new(Dtype::Bfloat16, ByteOrder::Big, &[2]),
            vec![0x3F, 0x80, 0x40, 0],
        ))
        .object(ObjectBuilder::from_parts(
            DataObjectDescriptor {
                strides: vec![7, 9],
                ..DataObjectDescriptor::new(Dtype::Int16, ByteOrder::Big, &[1, 2])
            },
            vec![0, 1, 0, 2],
        ))
        .encode()
        .unwrap()
}

/// The content that must survive: objects and their metadata.
fn essence(message: &[u8]) -> (Json, Objects) {
    let (mut metadata, objects) = decode(message, &DecodeOptions::default()).unwrap();
    metadata.base.iter_mut().for_each(|entry| drop(entry.remove("_reserved_")));
    (json!([json_of(&metadata.base), json_of(&metadata.extra)]), objects)
}

fn received(parts: &Parts<'_>) -> Vec<u8> {
    tensogram(&parts.as_slices(), ByteOrder::Little)
}

#[test]
fn other_messages_come_back_with_all_that_is_theirs() {
    let message = foreign();
    let (parts, not_kept) = from_tensogram(&message, &options()).unwrap();
    assert_eq!(not_kept, [NotKept::Provenance]);
    let label: Json = serde_json::from_slice(parts.label()).unwrap();
    let tensors = &label["TENS"]["tensors"];
    assert_eq!(tensors[0]["metadata"], json!({"mars.param": "2t", "mars.step": 6}));
    assert_eq!(tensors[1], json!({"dtype": "u", "part": 1, "shape": [2], "word": 1}));
    assert_eq!((&tensors[2]["dtype"], &tensors[2]["word"]), (&json!("V"), &json!(2)));
    assert_eq!(label["TENS"]["metadata"]["source"], "a model");
    assert_eq!(label["TENS"]["tensogram"]["objects"][3], json!({"byte_order": "big", "strides": [7, 9]}));
    assert_eq!(&*parts.payloads()[3], [1, 0, 2, 0]);
    let again = received(&parts);
    assert_eq!(essence(&again), essence(&message));
    assert_eq!(back(&again), parts.into_vecs());
}

#[test]
fn a_header_of_ones_own_survives_with_other_messages() {
    let header =
        Header { level: Level::Warning, form: Form::FLOW, coords: Coords { origin: 1, granule: u64::MAX, seqno: 3 } };
    let message = foreign();
    let (parts, _) = from_tensogram(&message, &BridgeOptions { header, ..options() }).unwrap();
    let again = received(&parts);
    assert_eq!(essence(&again).1, essence(&message).1);
    assert_eq!(essence(&again).0[0], essence(&message).0[0]);
    assert_eq!(back(&again), parts.into_vecs());
}

#[test]
fn a_form_is_text_whenever_its_bytes_are_ascii() {
    let message = foreign();
    for (form, key, value) in [
        (*b"FLOW", "form", "FLOW"),
        (*b"a\0\0\0", "form", "a\0\0\0"),
        (*b"\0\0\0\0", "form", "\0\0\0\0"),
        (*b"\n\x7F\x1B ", "form", "\n\x7F\x1B "),
        (*b"\x80ABC", "form_hex", "80414243"),
        ("éé".as_bytes().try_into().unwrap(), "form_hex", "c3a9c3a9"),
    ] {
        let header = Header { form: Form(form), ..Header::default() };
        let (parts, _) = from_tensogram(&message, &BridgeOptions { header, ..options() }).unwrap();
        let again = received(&parts);
        let zio = decode(&again, &DecodeOptions::default()).unwrap().0.extra["zio"].clone().into_map().unwrap();
        let forms: Vec<_> = zio.into_iter().filter(|(key, _)| key.as_text().unwrap().starts_with("form")).collect();
        assert_eq!(forms, [(key.into(), value.into())]);
        assert_eq!(back(&again), parts.into_vecs());
    }
}

#[test]
fn what_is_not_kept_is_listed() {
    let floats: Vec<f64> = (0..60).map(f64::from).collect();
    let builder = MessageBuilder::new()
        .object(ObjectBuilder::new(&[60], &floats).unwrap().simple_packing(16))
        .object(ObjectBuilder::new(&[2], &[1.0_f32, f32::NAN]).unwrap().parameter("note", "mine"))
        .options(EncodeOptions { allow_nan: true, ..EncodeOptions::default() });
    let message = builder.encode().unwrap();
    let (parts, not_kept) = from_tensogram(&message, &options()).unwrap();
    let expected = [
        NotKept::Provenance,
        NotKept::Pipeline { object: 0 },
        NotKept::Masks { object: 1 },
        NotKept::Parameter { object: 1, key: "note".into() },
    ];
    assert_eq!(not_kept, expected);
    assert_eq!(parts.payloads()[1][4..], f32::NAN.to_le_bytes());
    let again = received(&parts);
    assert_eq!(back(&again), parts.into_vecs());
}

#[test]
fn metadata_without_json_is_refused_with_its_path() {
    for (value, path) in [
        (Value::Float(f64::NAN), "base[0].a"),
        (Value::Bytes(vec![1]), "base[0].a"),
        (Value::Array(vec![Value::Null, Value::Tag(1, Box::new(Value::Null))]), "base[0].a[1]"),
        (Value::Map(vec![(1.into(), 2.into())]), "base[0].a"),
    ] {
        let descriptor = DataObjectDescriptor::new(Dtype::Uint8, ByteOrder::Little, &[1]);
        let metadata = GlobalMetadata { base: vec![[("a".to_string(), value)].into()], ..GlobalMetadata::default() };
        let message = encode(&metadata, &[(&descriptor, &[1][..])], &EncodeOptions::default()).unwrap();
        let error = from_tensogram(&message, &options()).unwrap_err().to_string();
        assert!(error.contains(path), "{error}");
    }
}

#[test]
fn dimensions_that_overflow_before_their_zero_survive() {
    let label = br#"ZIO0TENS{"TENS":{"tensors":[{"shape":[4294967296,4294967296,2,0],"word":3,"dtype":"V","ascend":[false,true,true,true]}]}}"#;
    let parts = [&label[..], &[0; 24], b""];
    assert_eq!(back(&tensogram(&parts, ByteOrder::Little)), parts);
}

#[test]
fn metadata_may_be_nested_as_deeply_as_labels() {
    // The label, TENS and arrays are 127 levels together; or the label and arrays, one level more.
    for (before, after, depth) in [(r#"{"TENS":{"metadata":"#, "}}", 125), (r#"{"TENS":{},"x":"#, "}", 126)] {
        let label = format!("ZIO0TENS{before}{}{}{after}", "[".repeat(depth), "]".repeat(depth));
        let parts = [label.as_bytes(), &[0; 24]];
        assert_eq!(back(&tensogram(&parts, ByteOrder::Little)), parts);
    }
    let deep = (0..127).fold(Value::Null, |inner, _| Value::Array(vec![inner]));
    let message = MessageBuilder::new().extra("deep", deep).encode().unwrap();
    assert!(from_tensogram(&message, &options()).unwrap_err().to_string().contains("too deeply"));
}

/// Any JSON value, not too large.
fn any_json() -> impl Strategy<Value = Json> {
    let leaf = prop_oneof![
        Just(Json::Null),
        any::<bool>().prop_map(Json::from),
        any::<u64>().prop_map(Json::from),
        any::<i64>().prop_map(Json::from),
        any::<f64>().prop_filter("JSON has no others", |value| value.is_finite()).prop_map(Json::from),
        "[a-zµ.\"]{0,4}".prop_map(Json::from),
    ];
    leaf.prop_recursive(3, 12, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(Json::from),
            prop::collection::vec(("[a-c.]{0,2}", inner), 0..3)
                .prop_map(|members| Json::Object(members.into_iter().collect())),
        ]
    })
}

/// A tensor's entry, with a payload that fits it.
fn any_tensor() -> impl Strategy<Value = (Json, Vec<u8>)> {
    let kinds = prop::sample::select(vec![
        ("f", 2),
        ("f", 4),
        ("f", 8),
        ("i", 2),
        ("u", 1),
        ("c", 8),
        ("b", 1),
        ("S", 3),
        ("f", 16),
    ]);
    let shape = prop::collection::vec(0_u64..4, 0..4);
    let pieces = (
        any::<bool>(),
        any::<bool>(),
        any::<bool>(),
        any::<bool>(),
        prop::option::of(any_json()),
        prop::option::of(any_json()),
    );
    (kinds, shape, pieces, any::<u64>()).prop_perturb(|((kind, word), shape, pieces, seed), mut rng| {
        let (ordered, ascending, packing, null, metadata, ext) = pieces;
        let mut entry = json!({"word": word, "shape": shape, "dtype": kind});
        if ordered {
            let mut order: Vec<_> = (0..shape.len()).collect();
            for i in (1..order.len()).rev() {
                order.swap(i, usize::try_from(rng.random::<u64>() % (i as u64 + 1)).unwrap());
            }
            entry["order"] = json!(order);
        }
        if ascending {
            entry["ascend"] = shape.iter().map(|_| Json::from(rng.random::<bool>())).collect();
        }
        if packing {
            entry["packing"] = json!("dense");
        }
        if null {
            entry["pointer"] = Json::Null;
        }
        if let Some(metadata) = metadata {
            entry["metadata"] = metadata;
        }
        if let Some(ext) = ext {
            entry["other"] = ext;
        }
        let len = shape.iter().product::<u64>() * word;
        let bytes = (0..len).map(|i| (seed.wrapping_mul(i + 1) >> 13).to_le_bytes()[0]).collect();
        (entry, bytes)
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_message_comes_back_to_the_byte(
        tensors in prop::collection::vec(any_tensor(), 0..4),
        extra in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..5), 0..3),
        (metadata, tens_ext, label_ext) in (any_json(), any_json(), any_json()),
        header in (0_u8..9, any::<[u8; 4]>(), any::<[u8; 24]>()),
        (style, big, names, shared) in (0_u8..4, any::<bool>(), any::<bool>(), any::<bool>()),
    ) {
        let order = if big { ByteOrder::Big } else { ByteOrder::Little };
        // Tensors come last or first. A tensor without `part` must be in its own part.
        let lead = if names { extra.len() } else { 0 };
        let mut entries = Vec::new();
        let mut payloads = if names { extra.clone() } else { Vec::new() };
        for (index, (mut entry, bytes)) in tensors.into_iter().enumerate() {
            if names || style == 1 {
                entry["part"] = json!(index + lead);
            }
            if shared && names {
                // The same tensor again.
                let mut twin = entry.clone();
                twin["metadata"] = json!("twin");
                entries.push(twin);
            }
            entries.push(entry);
            payloads.push(bytes);
        }
        if !names {
            payloads.extend(extra);
        }
        let label = json!({"x": label_ext, "TENS": {"tensors": entries, "metadata": metadata, "app": tens_ext}});
        let label = match style {
            0 => label.to_string(),
            1 => { let mut sorted = label; sorted.sort_all_objects(); sorted.to_string() }
            2 => serde_json::to_string_pretty(&label).unwrap(),
            _ => format!(" {label}\n"),
        };
        let (level, form, coords) = header;
        let mut prefix = vec![b'Z', b'I', b'O', b'0' + level];
        prefix.extend(form);
        prefix.extend(label.bytes());
        let mut parts = vec![prefix, coords.to_vec()];
        parts.extend(payloads);
        let message = tensogram(&parts, order);
        prop_assert_eq!(back(&message), parts);
    }
}

#[test]
fn stored_objects_pass_through_with_their_descriptors() {
    let floats: Vec<f64> = (0..60).map(f64::from).collect();
    let builder = MessageBuilder::new()
        .object(ObjectBuilder::new(&[60], &floats).unwrap().simple_packing(16).szip().metadata("name", "packed"))
        .object(ObjectBuilder::new(&[60], &floats).unwrap().shuffle().parameter("note", "mine"))
        .object(ObjectBuilder::new(&[2], &[1_u16, 2]).unwrap());
    let message = builder.encode().unwrap();
    let options = BridgeOptions { pass_through: true, ..options() };
    let (parts, not_kept) = from_tensogram(&message, &options).unwrap();
    assert_eq!(not_kept, [NotKept::Provenance]);
    let stored = tgm_std::core::Message::parse(&message).unwrap().object(0).unwrap().payload();
    assert_eq!(parts.payloads()[0].as_ptr(), stored.as_ptr());
    let label: Json = serde_json::from_slice(parts.label()).unwrap();
    assert_eq!(label["TENS"]["tensors"][0]["shape"], json!([stored.len()]));
    assert!(label["TENS"]["tensors"][0].get("packing").is_none());
    assert_eq!(label["TENS"]["tensogram"]["objects"][0]["stored"]["compression"], "szip");
    let again = received(&parts);
    assert_eq!(essence(&again), essence(&message));
    let (_, descriptors) = tgm_std::decode_descriptors(&message).unwrap();
    assert_eq!(tgm_std::decode_descriptors(&again).unwrap().1, descriptors);
    let (back, _) = from_tensogram(&again, &options).unwrap();
    assert_eq!(back, parts);
}

#[test]
fn a_stored_descriptor_that_no_encoder_takes_is_carried_as_it_is() {
    let parts = {
        let object = ObjectBuilder::new(&[60], &[1.0_f64; 60]).unwrap().simple_packing(16);
        let message = MessageBuilder::new().object(object).encode().unwrap();
        let parts = from_tensogram(&message, &BridgeOptions { pass_through: true, ..options() }).unwrap().0;
        parts.into_vecs()
    };
    let text = String::from_utf8(parts[0].clone()).unwrap();
    assert!(text.contains("float64"));
    let wrong = text.replace("\"float64\"", "\"int32\"");
    let parts = [wrong.into_bytes(), parts[1].clone(), parts[2].clone()];
    assert_eq!(back(&tensogram(&parts, ByteOrder::Little)), parts);
}

#[test]
fn messages_without_tensors_come_back_to_the_byte() {
    for order in [ByteOrder::Little, ByteOrder::Big] {
        for (prefix, payload) in [
            (&b"ZIO4TEXThello"[..], &[&b"a"[..], b""][..]),
            (b"ZIO0BUFF\xFF\x80", &[b"bytes"]),
            (br#"ZIO0FLOW{"flow":"EOT"}"#, &[]),
            (br#"ZIO0FLOW{"flow": "BOT", "credit": 18446744073709551615, "x": 1.50}"#, &[b"x"]),
            (b"ZIO0JSON[1,2]", &[]),
            (b"ZIO8    ", &[]),
        ] {
            let coords = Coords { origin: 1, granule: u64::MAX, seqno: 3 }.to_bytes(order);
            let parts = [&[prefix, &coords][..], payload].concat();
            assert_eq!(back(&tensogram(&parts, order)), parts);
        }
    }
}

#[test]
fn a_packed_tensor_comes_back_to_the_byte_with_its_siblings() {
    let label = br#"ZIO0TENS{"TENS":{"tensors":[{"shape":[9,9],"word":4,"dtype":"f","packing":"csr","ascend":[false,true],"part":1},{"shape":[2],"word":1,"dtype":"u","packing":"dense"}, {"shape":[3],"word":8,"dtype":"V","packing":"bits"}]}}"#;
    let parts = [&label[..], &[0; 24], b"", b"packed", b"xyz"];
    // The second tensor has no part of its length.
    assert!(to_tensogram(&Message::from_parts(&parts, ByteOrder::Little).unwrap(), &options()).is_err());
    let label = String::from_utf8(label.to_vec()).unwrap().replace("\"packing\":\"dense\"", "\"part\":0");
    let parts = [label.as_bytes(), &[0; 24], &[7, 8], b"packed", b"xyz"];
    assert_eq!(back(&tensogram(&parts, ByteOrder::Little)), parts);
}
