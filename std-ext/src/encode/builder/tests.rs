use super::*;
use crate::decode_metadata;

fn object(metadata: &[(&str, Value)]) -> ObjectBuilder<'static> {
    let object = ObjectBuilder::new(&[2], &[1_u8, 2]).unwrap();
    metadata.iter().fold(object, |object, (key, value)| object.metadata(*key, value.clone()))
}

/// Both ways to make a message: what each says is the same.
fn made(message: &MessageBuilder<'_>) -> Result<GlobalMetadata> {
    let (whole, streamed) = (message.clone().encode(), message.clone().stream_to(Vec::new()));
    match (whole, streamed) {
        (Ok(whole), Ok(streamed)) => {
            let streamed = crate::decode(&streamed, &crate::DecodeOptions::default())?.0;
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
        (&[("a", Value::from(1)), ("a.b", 2.into())][..], "object 1: cannot set a.b: a is no map"),
        (&[("a.b", 2.into()), ("a", 1.into())], "object 1: cannot set a: it is a map; write a.KEY"),
        (&[("a..b", 2.into())], "object 1: \"a..b\" is no key: a segment is empty"),
        (&[("", 2.into())], "object 1: \"\" is no key"),
        (&[("extra.a", 2.into())], "object 1: extra.a is the message's: write MessageBuilder::extra(\"a\", ...)"),
        (&[("base.0.a", 2.into())], "object 1: base.0.a: what `metadata` sets is of this object already"),
        (&[("base[1].a", 2.into())], "object 1: base[1].a: what `metadata` sets is of this object already"),
        (&[("a..b", 1.into()), ("c..d", 1.into())], "object 1: \"a..b\" is no key"),
    ] {
        let error = of_object(keys);
        assert!(error.starts_with(&format!("metadata error: {text}")), "{error}");
    }
    let of_message = |key: &str| made(&MessageBuilder::new().extra("a", 1).extra(key, 2)).unwrap_err().to_string();
    assert_eq!(of_message("a.b"), "metadata error: cannot set a.b: a is no map");
    assert_eq!(
        of_message("extra.b"),
        "metadata error: extra.b: what `extra` sets is the message's already: write \"b\""
    );
    let mut sink = Vec::new();
    assert!(MessageBuilder::new().extra("", 1).stream_to(&mut sink).is_err());
    assert_eq!(sink, b"", "nothing is written");
}
