//! The single-buffer codec, compared with buffers packed by ZIO's Python.

use std::fs;

use sha2::{Digest as _, Sha256};
use tgm_zio::{Message, Parts, encode_into, encoded_len, parts};

use crate::vectors::{self, id, list, order, unhex};

#[test]
fn buffers_are_those_that_zio_packs() {
    for vector in list("codec.json", "encode", 12) {
        let part = |part: &serde_json::Value| {
            vec![
                u8::try_from(part["byte"].as_u64().unwrap()).unwrap();
                usize::try_from(part["len"].as_u64().unwrap()).unwrap()
            ]
        };
        let list: Vec<_> = vector["parts"].as_array().unwrap().iter().map(part).collect();
        let len = encoded_len(list.iter().map(Vec::len)).unwrap();
        assert_eq!(len, vector["encoded_len"].as_u64().unwrap(), "{}", id(&vector));
        let mut buffer = vec![0; usize::try_from(len).unwrap()];
        encode_into(&list, &mut buffer).unwrap();
        assert_eq!(Sha256::digest(&buffer).to_vec(), unhex(&vector["encoded_sha256"]), "{}", id(&vector));
        assert_eq!(parts(&buffer).map(Result::unwrap).collect::<Vec<_>>(), list, "{}", id(&vector));
    }
}

#[test]
fn sizes_longer_than_needed_are_read() {
    for vector in list("codec.json", "decode_non_canonical", 2) {
        let buffer = unhex(&vector["encoded"]);
        let found: Vec<_> = parts(&buffer).map(Result::unwrap).collect();
        assert_eq!(found, vectors::parts(&vector), "{}", id(&vector));
    }
}

#[test]
fn every_valid_message_is_the_same_by_list_buffer_and_file() {
    for vector in list("valid.json", "vectors", 53) {
        let listed = vectors::parts(&vector);
        let buffer = unhex(&vector["encoded"]);
        assert_eq!(fs::read(vectors::dir().join(format!("encoded/{}.zio", id(&vector)))).unwrap(), buffer);
        let packed = Message::from_buffer(&buffer, order(&vector)).unwrap();
        let message = Message::from_parts(&listed, order(&vector)).unwrap();
        let expect = &vector["expect"];
        assert_eq!(Parts::of_message(&packed), Parts::of_message(&message));
        let parts = Parts::of_message(&message);
        assert_eq!(parts.to_buffer().unwrap(), buffer, "{}", id(&vector));
        let mut written = Vec::new();
        parts.write_to(&mut written).unwrap();
        assert_eq!(written, buffer);
        let mut sizes = Vec::new();
        let slices = parts.buffer_slices(&mut sizes).unwrap();
        assert_eq!(slices.iter().flat_map(|slice| slice.iter().copied()).collect::<Vec<u8>>(), buffer);
        assert_eq!(parts.iter().map(<[u8]>::to_vec).collect::<Vec<_>>(), listed);
        assert_eq!(u64::from(message.level().number()), expect["level"].as_u64().unwrap());
        assert_eq!(message.level().name(), expect["level_name"]);
        assert_eq!(message.form().0.to_vec(), unhex(&expect["form_hex"]));
        assert_eq!(message.label(), expect["label"].as_str().map_or(message.label(), str::as_bytes));
        let coords = message.coords();
        for (number, key) in [(coords.origin, "origin"), (coords.granule, "granule"), (coords.seqno, "seqno")] {
            assert_eq!(number.to_string(), expect[key], "{}", id(&vector));
        }
        let sizes: Vec<_> = message.payloads().map(<[u8]>::len).collect();
        assert_eq!(serde_json::json!(sizes), expect["payload_sizes"]);
    }
}
