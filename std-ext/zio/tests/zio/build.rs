//! Built messages, equal to what ZIO's C++ builds, byte for byte; and warnings.

use serde_json::{Value as Json, json};
use tgm_std::ByteOrder;
use tgm_zio::{Coords, ErrorKind, Form, Level, Message, Placement, Tens, TensBuilder, TensorBuilder, Warning};

use crate::vectors::{id, list, parts, unhex};

fn number(text: &Json) -> u64 {
    text.as_str().unwrap().parse().unwrap()
}

#[test]
fn recipes_give_the_parts_that_cpp_wrote() {
    let valid = list("valid.json", "vectors", 53);
    for recipe in list("build.json", "recipes", 6) {
        let coords = Coords {
            origin: number(&recipe["origin"]),
            granule: number(&recipe["granule"]),
            seqno: number(&recipe["seqno"]),
        };
        let mut builder = TensBuilder::new()
            .byte_order(ByteOrder::Little)
            .placement(Placement::AsAdded)
            .form(Form::new(recipe["form"].as_str().unwrap()).unwrap())
            .level(Level::from_number(u8::try_from(recipe["level"].as_u64().unwrap()).unwrap()).unwrap())
            .coords(coords);
        for (key, value) in recipe["label_start"].as_object().unwrap() {
            builder = builder.label_key(key, value.clone());
        }
        for op in recipe["ops"].as_array().unwrap() {
            builder = match op.get("tensor") {
                None => builder.part(unhex(&op["raw"])),
                Some(tensor) => {
                    let shape: Vec<u64> = serde_json::from_value(tensor["shape"].clone()).unwrap();
                    let word = u32::try_from(tensor["word"].as_u64().unwrap()).unwrap();
                    let kind = tensor["dtype"].as_str().unwrap().to_string();
                    let mut one = TensorBuilder::from_bytes(&shape, kind, word, unhex(&tensor["data"]));
                    if let Some(metadata) = tensor.get("metadata") {
                        one = one.metadata(metadata.clone());
                    }
                    builder.tensor(one)
                }
            };
        }
        let expected = valid.iter().find(|vector| id(vector) == id(&recipe)).unwrap();
        assert_eq!(builder.build().unwrap().parts.into_vecs(), parts(expected), "{}", id(&recipe));
    }
}

#[test]
fn payload_is_sent_from_where_it_lies() {
    let values = [1.0_f32, 2.0];
    let built = TensBuilder::new().part(&b"mine"[..]).tensor(TensorBuilder::new(&[2], &values)).build().unwrap();
    assert_eq!(built.warnings, []);
    let slices = built.parts.io_slices();
    assert_eq!(slices.len(), 4);
    assert_eq!(slices[2].as_ptr(), values.as_ptr().cast());
    assert_eq!(&*slices[3], b"mine");
}

#[test]
fn values_become_the_byte_order_of_the_message() {
    for order in [ByteOrder::Big, ByteOrder::Little] {
        let values = [0x0102_u16, 3];
        let built = TensBuilder::new().byte_order(order).tensor(TensorBuilder::new(&[2], &values)).build().unwrap();
        let slices = built.parts.as_slices();
        let message = Message::from_parts(&slices, order).unwrap();
        let tens = Tens::parse(&message).unwrap();
        assert_eq!(tens.tensors()[0].view::<u16>().unwrap().iter().collect::<Vec<_>>(), values);
    }
}

#[test]
fn what_others_cannot_read_is_warned_of() {
    let warnings = |builder: TensBuilder<'_>| builder.build().unwrap().warnings;
    let bytes = |kind: &'static str, word, len| TensorBuilder::from_bytes(&[len], kind, word, vec![0; 12]);
    let plain = || TensBuilder::new().tensor(bytes("u", 1, 12));
    assert_eq!(warnings(plain()), []);
    assert_eq!(warnings(plain().part(Vec::new())), [Warning::EmptyLastPart]);
    let late = TensBuilder::new().placement(Placement::AsAdded).part(vec![1]).tensor(bytes("u", 1, 12));
    assert_eq!(warnings(late), [Warning::TensorElsewhere { tensor: 0, part: 1 }]);
    assert_eq!(warnings(TensBuilder::new().tensor(bytes("?", 12, 1))), [Warning::NotForNumpy { tensor: 0 }]);
    let nested = bytes("u", 1, 12).metadata(json!({"a": {"b": 1}}));
    assert_eq!(warnings(TensBuilder::new().tensor(nested)), [Warning::NestedMetadata { tensor: 0 }]);
    let reversed = bytes("u", 1, 12).ascend(&[false]);
    assert_eq!(warnings(TensBuilder::new().tensor(reversed)), [Warning::StorageOrder { tensor: 0 }]);
    assert_eq!(warnings(plain().form(Form([0, 1, 2, 3]))), [Warning::FormNotAscii]);
}

#[test]
fn orders_of_rows_are_not_written_and_wrong_ones_refused() {
    let tensor = || TensorBuilder::from_bytes(&[2, 3], "u", 1, vec![0; 6]);
    let label = |tensor: TensorBuilder<'_>| TensBuilder::new().tensor(tensor).build().map(|b| b.parts.label().to_vec());
    let expected = br#"{"TENS":{"tensors":[{"dtype":"u","part":0,"shape":[2,3],"word":1}]}}"#;
    assert_eq!(label(tensor().order(&[1, 0]).ascend(&[true, true])).unwrap(), expected);
    for (wrong, kind) in [
        (tensor().order(&[0, 0]), ErrorKind::BadOrder),
        (tensor().ascend(&[false]), ErrorKind::BadAscend),
        (tensor().key("shape", 1), ErrorKind::ReservedKey),
        (TensorBuilder::from_bytes(&[7], "u", 1, vec![0; 6]), ErrorKind::SizeMismatch),
    ] {
        assert_eq!(label(wrong).unwrap_err().kind(), kind);
    }
    let reserved = TensBuilder::new().label_key("TENS", 1).build().unwrap_err();
    assert_eq!(reserved.kind(), ErrorKind::ReservedKey);
}
