//! Messages of builders.

use ciborium::Value;
use tgm_core::descriptor::{ByteOrder, Dtype};
use zerocopy::IntoBytes as _;

use tgm_std::{
    DataObjectDescriptor, EncodeOptions, GlobalMetadata, MessageBuilder, ObjectBuilder, Result, decode_metadata,
};

fn object(metadata: &[(&str, Value)]) -> ObjectBuilder<'static> {
    let object = ObjectBuilder::new(&[2], &[1_u8, 2]).unwrap();
    metadata.iter().fold(object, |object, (key, value)| object.metadata(*key, value.clone()))
}

/// Both ways to make a message: what each says is the same.
fn made(message: &MessageBuilder<'_>) -> Result<GlobalMetadata> {
    let (whole, streamed) = (message.clone().encode(), message.clone().stream_to(Vec::new()));
    match (whole, streamed) {
        (Ok(whole), Ok(streamed)) => {
            let streamed = tgm_std::decode(&streamed, &tgm_std::DecodeOptions::default())?.0;
            assert_eq!(decode_metadata(&whole)?.base, streamed.base);
            decode_metadata(&whole)
        }
        (Err(whole), Err(streamed)) => {
            assert_eq!(whole.to_string(), streamed.to_string());
            Err(whole)
        }
        (whole, streamed) => panic!("{whole:?}, {streamed:?}"),
    }
}

#[test]
fn dotted_keys_are_found_as_they_were_said() {
    let message = MessageBuilder::new()
        .extra("run.model.name", "ifs")
        .extra("run.id", 7)
        .object(object(&[("mars.param", "2t".into()), ("mars.step", 6.into()), ("plain", true.into())]))
        .object(object(&[("mars.param", "msl".into()), ("base", 1.into())]));
    let metadata = made(&message).unwrap();
    for (key, value) in [("mars.param", "2t"), ("extra.run.model.name", "ifs")] {
        assert_eq!(metadata.get(key).and_then(|found| found.as_str()), Some(value), "{key}");
    }
    assert_eq!(metadata.get_at(0, "mars.step").unwrap().as_i64(), Some(6));
    assert_eq!(metadata.get_at(1, "mars.param").unwrap().as_str(), Some("msl"));
    assert_eq!(metadata.get("run.id").unwrap().as_i64(), Some(7));
    assert!(metadata.base[0].keys().eq(["_reserved_", "mars", "plain"]));
}

#[test]
fn keys_that_cannot_be_set_are_errors_of_the_message() {
    let of_object = |keys: &[(&str, Value)]| {
        let message = MessageBuilder::new().object(object(&[])).object(object(keys));
        made(&message).unwrap_err().to_string()
    };
    for (keys, text) in [
        (&[("a", Value::from(1)), ("a.b", 2.into())][..], "object 1: cannot set a.b: a is not a map"),
        (&[("a.b", 2.into()), ("a", 1.into())], "object 1: cannot set a: it is a map; write a.KEY"),
        (&[("a..b", 2.into())], "object 1: \"a..b\" is not a key: a segment is empty"),
        (&[("", 2.into())], "object 1: \"\" is not a key"),
        (&[("extra.a", 2.into())], "object 1: extra.a is the message's: write MessageBuilder::extra(\"a\", ...)"),
        (&[("base.0.a", 2.into())], "object 1: base.0.a: what `metadata` sets is of this object already"),
        (&[("base[1].a", 2.into())], "object 1: base[1].a: what `metadata` sets is of this object already"),
        (&[("a..b", 1.into()), ("c..d", 1.into())], "object 1: \"a..b\" is not a key"),
    ] {
        let error = of_object(keys);
        assert!(error.starts_with(&format!("metadata error: {text}")), "{error}");
    }
    let of_message = |key: &str| made(&MessageBuilder::new().extra("a", 1).extra(key, 2)).unwrap_err().to_string();
    assert_eq!(of_message("a.b"), "metadata error: cannot set a.b: a is not a map");
    assert_eq!(
        of_message("extra.b"),
        "metadata error: extra.b: what `extra` sets is the message's already: write \"b\""
    );
    let mut sink = Vec::new();
    assert!(MessageBuilder::new().extra("", 1).stream_to(&mut sink).is_err());
    assert_eq!(sink, b"", "nothing is written");
}

/// What is stored of an object.
fn region(object: ObjectBuilder<'_>) -> Vec<u8> {
    let message = MessageBuilder::new().object(object).encode().unwrap();
    tgm_core::Message::parse(&message).unwrap().object(0).unwrap().region().to_vec()
}

#[test]
fn narrow_floats_are_packed_as_what_they_are() {
    type Pack = fn(ObjectBuilder<'_>) -> Result<ObjectBuilder<'_>>;
    let values: Vec<f32> = (0..500_u16).map(|i| 270.0 + f32::from(i) / 7.0).collect();
    let wide: Vec<f64> = values.iter().map(|value| f64::from(*value)).collect();
    let ways: [Pack; 4] = [
        |object| Ok(object.simple_packing(16).szip()),
        |object| object.simple_packing_within(0.01),
        |object| object.simple_packing_of_finite(12, 0),
        |object| object.simple_packing_of_finite_within(0.5),
    ];
    for pack in ways {
        let narrow = pack(ObjectBuilder::new(&[500], &values).unwrap()).unwrap();
        let wide = pack(ObjectBuilder::new(&[500], &wide).unwrap()).unwrap();
        assert_eq!(narrow.descriptor(), wide.descriptor());
        assert_eq!(region(narrow), region(wide));
    }
}

#[test]
fn narrow_floats_keep_their_byte_order() {
    for (order, data) in [(ByteOrder::Big, [0x3F, 0xC0]), (ByteOrder::Little, [0xC0, 0x3F])] {
        for (dtype, value) in [(Dtype::Bfloat16, 1.5_f64), (Dtype::Float16, 1.9375)] {
            let object = ObjectBuilder::from_parts(DataObjectDescriptor::new(dtype, order, &[1]), &data[..]);
            let object = object.simple_packing(16);
            assert_eq!((object.descriptor().dtype, object.descriptor().byte_order), (Dtype::Float64, order));
            let message = MessageBuilder::new().object(object).encode().unwrap();
            let found = tgm_core::Message::parse(&message).unwrap().object(0).unwrap();
            assert_eq!(tgm_std::read(&found).values::<f64>().unwrap(), [value]);
        }
    }
}

#[test]
fn other_types_are_not_packed() {
    let object = || ObjectBuilder::new(&[2], &[1_i32, 2]).unwrap();
    let message = MessageBuilder::new().object(object().simple_packing(16)).encode();
    let direct = object().simple_packing_within(0.1).map(drop);
    for error in [message.unwrap_err(), direct.unwrap_err()] {
        assert!(error.to_string().ends_with("simple_packing only supports float64, got int32"), "{error}");
    }
}

#[test]
fn what_is_not_finite_takes_one_call() {
    let values = [1.0, f64::NAN, f64::INFINITY];
    let message = || MessageBuilder::new().object(ObjectBuilder::new(&[3], &values).unwrap());
    let error = message().encode().unwrap_err().to_string();
    assert!(error.contains("MessageBuilder::allow_nan"), "{error}");
    let error = message().allow_nan().encode().unwrap_err().to_string();
    assert!(error.contains("MessageBuilder::allow_inf"), "{error}");
    // Options that come later do not undo it.
    let both = message().allow_nan().allow_inf().options(EncodeOptions::default());
    let found = tgm_std::decode(&both.clone().encode().unwrap(), &tgm_std::DecodeOptions::default()).unwrap().1;
    assert_eq!(*found[0].1, *values.as_bytes());
    both.stream_to(Vec::new()).unwrap();
    // And options that allow it are not undone by saying it again.
    let allowing = EncodeOptions { allow_nan: true, allow_inf: true, ..EncodeOptions::default() };
    assert!(message().options(allowing).allow_nan().allow_inf().encode().is_ok());
}

#[test]
fn szip_is_told_the_order_of_bytes_of_plain_values_only() {
    let flags = |order, change: fn(ObjectBuilder<'static>) -> ObjectBuilder<'static>| {
        let descriptor = DataObjectDescriptor::new(Dtype::Float64, order, &[2]);
        let object = change(ObjectBuilder::from_parts(descriptor, vec![0; 16])).szip();
        object.descriptor().params["szip_flags"].as_integer().and_then(|flags| u32::try_from(flags).ok()).unwrap()
    };
    let differences = tgm_core::szip::flags::PREPROCESS;
    assert_eq!(flags(ByteOrder::Little, |object| object), differences);
    assert_eq!(flags(ByteOrder::Big, |object| object), differences | tgm_core::szip::flags::MSB);
    for order in [ByteOrder::Little, ByteOrder::Big] {
        assert_eq!(flags(order, ObjectBuilder::shuffle), differences);
        assert_eq!(flags(order, |object| object.simple_packing(16)), differences);
        assert_eq!(flags(order, |object| object.simple_packing(16).shuffle()), differences);
    }
}

#[test]
fn packed_values_that_are_not_finite_are_told_how() {
    let values = [1.0, f64::NAN, 2.0];
    let object = || ObjectBuilder::new(&[3], &values).unwrap();
    let error = MessageBuilder::new().object(object().simple_packing(16)).allow_nan().encode().unwrap_err().to_string();
    assert!(error.contains("simple_packing_of_finite"), "{error}");
    let packed = object().simple_packing_of_finite(16, 0).unwrap();
    assert_eq!(packed.descriptor().params["sp_reference_value"], Value::from(1.0), "the least finite value");
    MessageBuilder::new().object(packed).allow_nan().encode().unwrap();
}

#[test]
fn fields_of_no_bits_do_not_hide_what_is_not_finite() {
    let object = || ObjectBuilder::new(&[2], &[1.0, f64::NAN]).unwrap().simple_packing(0);
    assert!(MessageBuilder::new().object(object()).encode().is_err());
    let bytes = MessageBuilder::new().object(object()).allow_nan().encode().unwrap();
    let found = tgm_std::decode(&bytes, &tgm_std::DecodeOptions::default()).unwrap().1.remove(0).1;
    assert_eq!(found, [1.0, f64::NAN].as_bytes());
}

/// Parameters of a stage follow from the stages before it, whichever is chosen first.
#[test]
fn stages_may_be_chosen_in_any_order() {
    type Stage<'a> = (&'a str, fn(ObjectBuilder<'a>) -> ObjectBuilder<'a>);
    let values: Vec<f32> = (0..640_u16).map(|i| (f32::from(i) / 50.0).sin()).collect();
    let stages: [Stage<'_>; 3] = [
        ("packed", |object| object.simple_packing(12)),
        ("shuffled", ObjectBuilder::shuffle),
        ("szip", ObjectBuilder::szip),
    ];
    for chosen in 0..8_usize {
        let stages: Vec<_> = (0..3).filter(|i| chosen >> i & 1 == 1).map(|i| stages[i]).collect();
        let in_order = |order: &[usize]| {
            let object = ObjectBuilder::new(&[640], &values).unwrap();
            let object = order.iter().filter_map(|i| stages.get(*i)).fold(object, |object, (_, stage)| stage(object));
            let bytes = MessageBuilder::new().object(object).encode().unwrap();
            let descriptor = tgm_std::decode_descriptors(&bytes).unwrap().1.remove(0);
            assert!(tgm_std::decode(&bytes, &tgm_std::DecodeOptions::default()).is_ok());
            descriptor
        };
        let expected = in_order(&[0, 1, 2]);
        for order in [[0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
            assert_eq!(
                in_order(&order),
                expected,
                "{:?} in order {order:?}",
                stages.iter().map(|s| s.0).collect::<Vec<_>>()
            );
        }
    }
}
