//! Labels read without std say what labels read with it say, and JSON is what `serde_json` takes for JSON.

use proptest::prelude::*;
use serde_json::Value;
use tgm_std::{ByteOrder, Dtype};
use tgm_zio::{Error, Json, LabelWriter, Message, Tens, TensEntry, TensLabel};

use crate::vectors::{id, list, order, parts};

#[test]
fn every_valid_label_is_read_the_same_without_std() {
    for vector in list("valid.json", "vectors", 53) {
        let parts = parts(&vector);
        let message = Message::from_parts(&parts, order(&vector)).unwrap();
        let tens = Tens::parse(&message).unwrap();
        let found: Vec<TensEntry<'_>> = TensLabel::of(&message).unwrap().tensors().map(Result::unwrap).collect();
        assert_eq!(found.len(), tens.tensors().len(), "{}", id(&vector));
        for (found, tensor) in found.iter().zip(tens.tensors()) {
            assert!(found.shape().eq(tensor.shape().iter().copied()), "{}", id(&vector));
            assert!(found.kind() == tensor.kind(), "{}", id(&vector));
            assert_eq!((found.word(), found.part(), found.dtype()), (tensor.word(), tensor.part(), tensor.dtype()));
            assert_eq!(found.order().map(Iterator::collect::<Vec<_>>).as_deref(), tensor.order(), "{}", id(&vector));
            assert_eq!(found.ascend().map(Iterator::collect::<Vec<_>>).as_deref(), tensor.ascend(), "{}", id(&vector));
            assert_eq!(found.bytes(&message), Ok(tensor.bytes()), "{}", id(&vector));
            let metadata = found.metadata().map(|json| serde_json::from_str::<Value>(json.as_text()).unwrap());
            assert_eq!(metadata.as_ref(), tensor.metadata(), "{}", id(&vector));
        }
    }
}

/// The first error of a message, read without std.
fn first_error(message: &Message<'_, Vec<u8>>) -> Option<Error> {
    let label = match TensLabel::of(message) {
        Ok(label) => label,
        Err(error) => return Some(error),
    };
    label.tensors().find_map(|tensor| tensor.and_then(|tensor| tensor.bytes(message)).err())
}

#[test]
fn every_malformed_label_has_the_same_error_without_std() {
    let mut count = 0;
    for vector in list("malformed.json", "vectors", 68) {
        if vector["stage"] != "tens" || vector.get("parts").is_none() {
            continue;
        }
        let parts = parts(&vector);
        let message = Message::from_parts(&parts, ByteOrder::Little).unwrap();
        let with_std = Tens::parse(&message).err();
        let without = first_error(&message);
        assert_eq!(without.map(|error| error.kind()), with_std.map(|error| error.kind()), "{}", id(&vector));
        count += 1;
    }
    assert!(count > 40);
}

#[test]
fn labels_written_without_std_are_those_of_the_builder() {
    let values = [1.0_f32, 2.0, 3.0, 4.0, 5.0, 6.0];
    let tensor = tgm_zio::TensorBuilder::new(&[2, 3], &values);
    let built = tgm_zio::TensBuilder::new().tensor(tensor).label_key("flow", "DAT").build().unwrap();
    let mut out = [0; 200];
    let mut writer = LabelWriter::new(&mut out);
    writer.tensor(Dtype::Float32, &[2, 3]).unwrap();
    assert_eq!(writer.finish_flow().unwrap(), built.parts.label());
}

/// Compares a value with what `serde_json` has, member by member.
fn is_same(json: Json<'_>, value: &Value) -> bool {
    match value {
        Value::Object(members) => {
            members.iter().all(|(key, value)| json.get(key).is_some_and(|json| is_same(json, value)))
        }
        Value::Array(items) => {
            json.items().is_some_and(|found| found.count() == items.len())
                && json.items().into_iter().flatten().zip(items).all(|(json, value)| is_same(json, value))
        }
        Value::String(text) => json.as_str().is_some_and(|found| found == text.as_str()),
        Value::Bool(flag) => json.as_bool() == Some(*flag),
        Value::Null => json.is_null(),
        Value::Number(number) => json.as_u64() == number.as_u64(),
    }
}

#[test]
fn a_number_beyond_floats_is_json_and_no_integer() {
    for text in ["1e400", "-0.5e318446744073709551616"] {
        assert!(Json::parse(text.as_bytes()).unwrap().as_u64().is_none());
        assert!(serde_json::from_str::<Value>(text).is_err());
    }
}

proptest! {
    #[test]
    fn text_is_json_here_if_it_is_json_for_serde(
        tokens in prop::collection::vec(prop::sample::select(vec![
            "{", "}", "[", "]", ",", ":", "\"a\"", "\"b\\n\"", "\"\\u00e9\"", "\"\\ud83d\\ude00\"", "\"\\ud800\"", "\"", "1",
            "-0", "0.5e3", "01", "2.", "18446744073709551616", "true", "null", "nul", " ", "\n", "x", "µ", "{\"a\":[1,2]}",
        ]), 0..14),
    ) {
        let text = tokens.concat();
        let (found, expected) = (Json::parse(text.as_bytes()), serde_json::from_str::<Value>(&text));
        // JSON sets no limit to numbers. Here they are kept as text, serde_json makes floats of 64 bits of them.
        let is_too_large = expected.as_ref().is_err_and(|error| error.to_string().starts_with("number out of range"));
        prop_assert!(is_too_large || found.is_ok() == expected.is_ok(), "{}", text);
        if let (Ok(found), Ok(expected)) = (found, expected) {
            prop_assert!(is_same(found, &expected), "{}", text);
        }
    }

    #[test]
    fn any_bytes_are_read_without_a_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        if let Ok(label) = TensLabel::parse(&bytes) {
            let sizes = label.tensors().flatten().filter_map(|tensor| tensor.byte_len());
            prop_assert!(sizes.count() <= bytes.len());
        }
    }
}
