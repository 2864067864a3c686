//! Objects as chunks of Zarr where they lie.

use serde_json::{Value as Json, json};
use tgm_dataset::{Chunk, OpenOptions, on_all_cores, open};
use tgm_std::{EncodeOptions, MessageBuilder, ObjectBuilder};

use super::{Archive, field};

/// A field of 2 × 3 numbers, as its object is made.
fn message(step: u8, make: impl FnOnce(ObjectBuilder<'_>) -> ObjectBuilder<'_>) -> Vec<u8> {
    encoded(step, make, EncodeOptions::default())
}

fn encoded(step: u8, make: impl FnOnce(ObjectBuilder<'_>) -> ObjectBuilder<'_>, options: EncodeOptions) -> Vec<u8> {
    let values: Vec<f32> = (0..6_u8).map(|number| f32::from(step + number)).collect();
    let object = ObjectBuilder::new(&[2, 3], &values).unwrap().metadata("param", "t").metadata("step", step);
    MessageBuilder::new().options(options).object(make(object)).encode().unwrap()
}

/// Descriptors of all lengths stand after payloads, whose places the end of a frame tells, and before them.
#[test]
fn payloads_are_found_beside_descriptors_of_any_length() {
    for descriptor_first in [false, true] {
        payloads_are_found(descriptor_first);
    }
}

fn payloads_are_found(descriptor_first: bool) {
    let options = EncodeOptions { descriptor_first, ..EncodeOptions::default() };
    let messages: Vec<_> = [(0, 0), (6, 1_000), (12, 3_000), (18, 70_000)]
        .map(|(step, len)| encoded(step, |object| object.parameter("comment", "x".repeat(len)), options.clone()))
        .into();
    let bytes = messages.concat();
    let archive = Archive::new(&messages);
    let references = archive.open().unwrap().references(&on_all_cores()).unwrap();
    assert_eq!(references.addresses, [format!("file://{}", archive.path())]);
    let t = references.arrays.iter().find(|array| array.name == "t").unwrap();
    assert_eq!((t.chunks.len(), t.key(3)), (4, "3.0.0".to_string()));
    for ((number, chunk), step) in t.chunks.iter().zip([0_u8, 6, 12, 18]) {
        let place = if let Chunk::There(0, place) = chunk { place.clone() } else { 0..0 };
        let place = usize::try_from(place.start).unwrap()..usize::try_from(place.end).unwrap();
        let expected: Vec<u8> = (0..6_u8).flat_map(|number| f32::from(step + number).to_le_bytes()).collect();
        assert_eq!(bytes[place], expected, "{number}");
    }
}

/// Each way of storing that is not a chunk, and some that are.
#[test]
fn ways_of_storing_are_referenced_or_refused_with_the_reason() {
    type Make = fn(ObjectBuilder<'_>) -> ObjectBuilder<'_>;
    let ways: [(Make, Result<Json, &str>); 5] = [
        (|object| object, Ok(Json::Null)),
        (|object| object.lz4(), Ok(json!([{"id": "lz4", "acceleration": 1}]))),
        (|object| object.shuffle(), Ok(json!([{"id": "shuffle", "elementsize": 4}]))),
        (|object| object.simple_packing(8), Err("packed by simple_packing")),
        (|object| object.parameter("comment", "x").simple_packing(8).szip(), Err("packed by simple_packing")),
    ];
    for (make, expected) in ways {
        let archive = Archive::new(&[message(0, make), message(6, make)]);
        let references = archive.open().unwrap().references(&on_all_cores()).unwrap();
        match expected {
            Ok(filters) => {
                let t = references.arrays.iter().find(|array| array.name == "t").unwrap();
                let described: Json = serde_json::from_str(&t.description).unwrap();
                assert!(described["filters"] == filters && references.refused.is_empty(), "{described}");
            }
            Err(why) => {
                assert!(references.refused.iter().any(|(name, told)| name == "t" && told.contains(why)));
                assert!(references.arrays.iter().all(|array| array.name != "t"));
            }
        }
    }
    let lz4: Make = |object| object.lz4();
    let mixed = Archive::new(&[message(0, |object| object), message(6, lz4)]);
    let references = mixed.open().unwrap().references(&on_all_cores()).unwrap();
    assert!(references.refused[0].1.contains("in different ways"), "{:?}", references.refused);
}

/// Names of variables and of dimensions become folders of a store, which must lie inside it.
#[test]
fn names_that_lead_out_of_a_store_are_refused() {
    for name in ["../t", "/t", ".zattrs", "a/b"] {
        let variable = |step: u8| field(1.0, &[("param", name.into()), ("step", step.into())], &[]);
        let dimension = |step: u8| field(1.0, &[("param", "t".into()), (name, step.into())], &[]);
        for messages in [[variable(0), variable(6)], [dimension(0), dimension(6)]] {
            let references = Archive::new(&messages).open().unwrap().references(&on_all_cores()).unwrap();
            let names = references.arrays.iter().map(|array| array.name.as_str());
            assert!(
                names.clone().all(|name| !name.starts_with('.') && !name.contains('/')),
                "{:?}",
                names.collect::<Vec<_>>()
            );
            assert!(references.refused.iter().any(|(refused, _)| refused.contains(name)), "{:?}", references.refused);
        }
    }
}

/// Files as one dataset: each reference names its own file.
#[test]
fn references_of_several_files_name_each() {
    let step = |step: u8| field(1.0, &[("param", "t".into()), ("step", step.into())], &[]);
    let (first, second) = (Archive::new(&[step(0)]), Archive::new(&[step(6)]));
    let dataset = open(&[first.path(), second.path()], &OpenOptions::default()).unwrap();
    let references = dataset.references(&on_all_cores()).unwrap();
    let t = references.arrays.iter().find(|array| array.name == "t").unwrap();
    let sources: Vec<_> = t.chunks.iter().map(|(_, chunk)| matches!(chunk, Chunk::There(1, _))).collect();
    assert_eq!((sources, references.addresses.len()), (vec![false, true], 2));
}
