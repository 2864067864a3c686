//! Labels, compared with recorded results.

use serde_json::{Value as Json, json};
use tgm_std::{ByteOrder, Dtype};
use tgm_zio::{ErrorKind, Message, Tens, Tensor};

use crate::vectors::{id, list, order, parts, unhex};

/// The elements' bytes in row-major order of the coordinates.
fn logical(tensor: &Tensor<'_>) -> Vec<u8> {
    fn bytes<T: tgm_std::core::tensor::Element>(tensor: &Tensor<'_>, one: fn(T) -> Vec<u8>) -> Vec<u8> {
        let view = tensor.ordered_view::<T>().unwrap();
        let mut copied = view.iter().collect::<Vec<_>>();
        let all: Vec<u8> = copied.iter().flat_map(|value| one(*value)).collect();
        view.copy_into(&mut copied).unwrap();
        assert_eq!(copied.into_iter().flat_map(one).collect::<Vec<_>>(), all);
        all
    }
    match tensor.dtype().unwrap() {
        Dtype::Uint8 => bytes::<u8>(tensor, |value| vec![value]),
        Dtype::Uint16 => bytes::<u16>(tensor, |value| value.to_le_bytes().into()),
        Dtype::Int16 => bytes::<i16>(tensor, |value| value.to_le_bytes().into()),
        other => panic!("no vector of {other} has an order"),
    }
}

fn described(tensor: &Tensor<'_>) -> Json {
    let rank = tensor.shape().len();
    let mut json = json!({
        "shape": tensor.shape(),
        "word": tensor.word(),
        "dtype": tensor.kind(),
        "part": tensor.part(),
        "part_explicit": tensor.is_part_given(),
        "order": tensor.order().map_or_else(|| (0..rank).rev().collect(), <[usize]>::to_vec),
        "order_explicit": tensor.order().is_some(),
        "ascend": tensor.ascend().map_or_else(|| vec![true; rank], <[bool]>::to_vec),
        "ascend_explicit": tensor.ascend().is_some(),
        "strides": tensor.strides(),
        "offset": tensor.offset(),
        "nbytes": tensor.bytes().len(),
        "tensogram_dtype": tensor.dtype().map(Dtype::name),
    });
    if let Some(metadata) = tensor.metadata() {
        json["metadata"] = metadata.clone();
    }
    if !tensor.ext().is_empty() {
        json["ext"] = Json::Object(tensor.ext().clone());
    }
    json
}

#[test]
fn labels_say_what_was_recorded() {
    for vector in list("valid.json", "vectors", 53) {
        let parts = parts(&vector);
        let message = Message::from_parts(&parts, order(&vector)).unwrap();
        let tens = Tens::parse(&message).unwrap();
        let expect = &vector["expect"]["tens"];
        let tensors = expect["tensors"].as_array().unwrap();
        assert_eq!(tens.tensors().len(), tensors.len(), "{}", id(&vector));
        for (tensor, expected) in tens.tensors().iter().zip(tensors) {
            let mut expected = expected.as_object().unwrap().clone();
            expected.shift_remove("index");
            if let Some(elements) = expected.shift_remove("logical_c_order_hex") {
                assert_eq!(logical(tensor), unhex(&elements), "{}", id(&vector));
            }
            assert_eq!(described(tensor), Json::Object(expected), "{}", id(&vector));
        }
        assert_eq!(json!(tens.extra_parts().collect::<Vec<_>>()), expect["extra_parts"], "{}", id(&vector));
        assert_eq!(tens.metadata(), expect.get("metadata"), "{}", id(&vector));
        let mut tens_ext = tens.tens_keys().clone();
        tens_ext.shift_remove("metadata");
        assert_eq!(Json::Object(tens_ext), expect["tens_ext"], "{}", id(&vector));
        assert_eq!(Json::Object(tens.label_keys().clone()), expect["label_ext"], "{}", id(&vector));
    }
}

#[test]
fn labels_that_cpp_wrote_are_written_again_to_the_byte() {
    let mut count = 0;
    for vector in list("valid.json", "vectors", 53) {
        if vector["made_by"] == "zio-c++" {
            let parts = parts(&vector);
            let message = Message::from_parts(&parts, order(&vector)).unwrap();
            assert_eq!(Tens::parse(&message).unwrap().to_label().as_bytes(), message.label(), "{}", id(&vector));
            count += 1;
        }
    }
    assert!(count >= 6);
}

#[test]
fn payload_is_borrowed_and_read_at_any_address() {
    let values = [1.5_f64, -2.0, 3.25];
    let mut buffer = vec![0];
    buffer.extend(values.iter().flat_map(|value| value.to_be_bytes()));
    let label = br#"ZIO0TENS{"TENS":{"tensors":[{"shape":[3],"word":8,"dtype":"f"}]}}"#;
    let parts = [&label[..], &[0; 24], &buffer[1..]];
    let message = Message::from_parts(&parts, ByteOrder::Big).unwrap();
    let tens = Tens::parse(&message).unwrap();
    let tensor = &tens.tensors()[0];
    assert_eq!(tensor.bytes().as_ptr(), buffer[1..].as_ptr());
    assert_eq!(tensor.view::<f64>().unwrap().iter().collect::<Vec<_>>(), values);
    assert_eq!(tensor.view::<f32>().unwrap_err().kind(), ErrorKind::DtypeMismatch);
}

#[test]
fn a_tensor_in_another_order_is_no_tensor_in_rows() {
    let label = br#"ZIO0TENS{"TENS":{"tensors":[{"shape":[2,3],"word":1,"dtype":"u","order":[0,1]}]}}"#;
    let parts = [&label[..], &[0; 24], &[0, 10, 1, 11, 2, 12]];
    let message = Message::from_parts(&parts, ByteOrder::Little).unwrap();
    let tens = Tens::parse(&message).unwrap();
    let tensor = &tens.tensors()[0];
    assert_eq!(tensor.view::<u8>().unwrap_err().kind(), ErrorKind::NotRowMajor);
    assert_eq!(tensor.stored_view::<u8>().unwrap().get_at(&[2, 1]), Some(12));
    assert_eq!(tensor.ordered_view::<u8>().unwrap().get_at(&[1, 2]), Some(12));
}

#[test]
fn an_endless_rank_costs_no_more_than_its_label() {
    let ones = vec!["1"; 200_000].join(",");
    let order = (0..200_000).map(|d| d.to_string()).collect::<Vec<_>>().join(",");
    let label =
        format!(r#"ZIO0TENS{{"TENS":{{"tensors":[{{"shape":[{ones}],"word":1,"dtype":"u","order":[{order}]}}]}}}}"#);
    let parts = [label.as_bytes(), &[0; 24], &[7]];
    let message = Message::from_parts(&parts, ByteOrder::Little).unwrap();
    let tens = Tens::parse(&message).unwrap();
    assert_eq!(tens.tensors()[0].ordered_view::<u8>().unwrap().iter().collect::<Vec<_>>(), [7]);
}
