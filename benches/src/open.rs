//! Opening messages and finding objects and metadata in them.

use std::collections::BTreeMap;
use std::hint::black_box;

use ciborium::Value;
use safetensors::SafeTensors;
use safetensors::tensor::{Dtype as SafeDtype, TensorView, serialize};
use tgm_core::Message;
use tgm_std::ObjectTable;

use crate::Bench;
use crate::harness::{Bound, Case};
use crate::libraries::{Dtype, Spec, ours, reference};

/// Elements of each object.
const ELEMENTS: usize = 64;
/// The keys of MARS by which weather services describe a field.
const MARS: [(&str, &str); 12] = [
    ("class", "od"),
    ("date", "20260401"),
    ("domain", "g"),
    ("expver", "0001"),
    ("levelist", "850"),
    ("levtype", "pl"),
    ("param", "130.128"),
    ("step", "24"),
    ("stream", "oper"),
    ("target", "fields.tgm"),
    ("time", "1200"),
    ("type", "fc"),
];
/// The number of objects in the message whose metadata is searched: 1.7 KB of CBOR.
const FIELDS: usize = 7;

pub fn run(bench: &mut Bench) {
    for count in [1, 10, 1_000, 10_000] {
        if count <= bench.size(10_000, 1_000) {
            objects(bench, count);
        }
    }
    metadata(bench);
}

fn objects(bench: &mut Bench, count: usize) {
    let data: Vec<Vec<u8>> = (0..count).map(|i| vec![(i % 64) as u8; 4 * ELEMENTS]).collect();
    let descriptor = ours::descriptor(&Spec::new(Dtype::Float32, ELEMENTS));
    let list: Vec<_> = data.iter().map(|data| (&descriptor, data.as_slice())).collect();
    let message =
        ours::encode(&ours::GlobalMetadata::default(), &list, &ours::EncodeOptions::default()).expect("encodes");
    let names: Vec<String> = (0..count).map(|i| format!("tensor {i}")).collect();
    let views = names
        .iter()
        .zip(&data)
        .map(|(name, data)| (name.as_str(), TensorView::new(SafeDtype::F32, vec![ELEMENTS], data).expect("a view")));
    let safe = serialize(views, None).expect("serializes");

    let case = Case::new(format!("{count} objects: open"))
        .row("us", || Message::parse(black_box(&message)).map(|message| message.total_length()))
        .row("us, every descriptor", || {
            Message::parse(black_box(&message)).map(|message| message.objects().flatten().count())
        })
        .row("reference: decode_descriptors", || reference::decode_descriptors(black_box(&message)))
        .row("safetensors: deserialize", || SafeTensors::deserialize(black_box(&safe)).map(|tensors| tensors.len()));
    bench.run(case);

    let opened = Message::parse(&message).expect("a message");
    let table = ObjectTable::new(&opened).expect("a table");
    let tensors = SafeTensors::deserialize(&safe).expect("ours");
    let mut wanted = vec![0, count / 2, count - 1];
    wanted.dedup();
    for index in wanted {
        let name = names[index].as_str();
        let payload = by_index(&message, index).1;
        assert_eq!(payload, data[index]);
        assert_eq!(by_table(&opened, &table, index).1, payload);
        assert_eq!(reference::object(&message, index), payload);
        assert_eq!(tensors.tensor(name).expect("it is there").data(), payload);
        let start = payload.as_ptr() as usize - message.as_ptr() as usize;

        let mut case = Case::new(format!("{count} objects: object {index} to descriptor and payload"))
            .row("us", || by_index(black_box(&message), index))
            .row("us, table at hand", || by_table(black_box(&opened), black_box(&table), black_box(index)))
            .row("reference", || {
                reference::decode_object(black_box(&message), index, &reference::DecodeOptions::default())
            })
            .row("safetensors", || {
                SafeTensors::deserialize(black_box(&safe)).expect("ours").tensor(name).map(|tensor| tensor.data())
            })
            .row("safetensors, opened before", || black_box(&tensors).tensor(name).map(|tensor| tensor.data()))
            .row("limit: a slice", || black_box(&message).get(black_box(start)..start + 4 * ELEMENTS));
        if count == 1 {
            case = case.goal("P1", "us", Bound::Faster("reference", 100.0)).goal("P1", "us", Bound::Allocations(0));
        }
        if count == 1_000 && index + 1 == count {
            case = case
                .goal("P2", "us, table at hand", Bound::Nanos(100.0))
                .goal("P2", "us", Bound::Nanos(2_000.0))
                .goal("P2", "us", Bound::Allocations(0));
        }
        bench.run(case);
    }
}

fn by_index(message: &[u8], index: usize) -> (u64, &[u8]) {
    let object = Message::parse(message).and_then(|message| message.object(index)).expect("an object");
    (object.descriptor().element_count(), object.payload())
}

/// The work of a reader that keeps message and table.
fn by_table<'a>(message: &Message<'a>, table: &ObjectTable, index: usize) -> (u64, &'a [u8]) {
    let object = table.object(message, index).expect("an object");
    (object.descriptor().element_count(), object.payload())
}

/// One key by its dotted path.
fn metadata(bench: &mut Bench) {
    let text = |text: &str| Value::from(text);
    let entry = |i: usize| {
        let pair = |(key, value): (&str, &str)| {
            let value = if key == "levelist" { format!("{}", 100 * (i + 1)) } else { value.to_owned() };
            (text(key), text(&value))
        };
        let mars = Value::Map(MARS.into_iter().map(pair).collect());
        BTreeMap::from([
            ("mars".to_owned(), mars),
            ("name".to_owned(), text("air_temperature")),
            ("units".to_owned(), text("K")),
        ])
    };
    let metadata = ours::GlobalMetadata { base: (0..FIELDS).map(entry).collect(), ..Default::default() };
    let (descriptor, data) = (ours::descriptor(&Spec::new(Dtype::Float32, ELEMENTS)), [0; 4 * ELEMENTS]);
    let objects = [(&descriptor, data.as_slice()); FIELDS];
    let message = ours::encode(&metadata, &objects, &ours::EncodeOptions::default()).expect("encodes");
    let encoded = Message::parse(&message).and_then(|message| message.first_metadata()).expect("metadata").as_encoded();
    let (index, path) = (FIELDS / 2, "mars.levelist");

    let merged = || {
        let metadata = Message::parse(black_box(&message)).and_then(|message| message.metadata()).expect("metadata");
        metadata.get_at(index, black_box(path)).ok().flatten().and_then(|value| value.as_str().ok()).expect("text")
    };
    let first = || {
        let metadata =
            Message::parse(black_box(&message)).and_then(|message| message.first_metadata()).expect("metadata");
        let entry = metadata.base_entry(index).ok().flatten().expect("an entry");
        let mars = entry.get("mars").ok().flatten().and_then(|value| value.as_map().ok()).expect("a map");
        mars.get("levelist").ok().flatten().and_then(|value| value.as_str().ok()).expect("text")
    };
    let of_reference = || {
        let metadata = reference::decode_metadata(black_box(&message)).expect("metadata");
        in_map(&metadata.base[index], path)
    };
    let of_ciborium = || {
        let value: BTreeMap<String, Value> = ciborium::from_reader(black_box(encoded)).expect("CBOR");
        let entries: BTreeMap<String, Value> =
            value["base"].as_array().expect("an array")[index].deserialized().expect("a map");
        in_map(&entries, path)
    };
    assert_eq!(merged(), of_reference());
    assert_eq!(first(), of_reference());
    assert_eq!(of_ciborium(), of_reference());

    let case = Case::new(format!("{path} of object {index} of {FIELDS}, in {} bytes of CBOR", encoded.len()))
        .row("us", merged)
        .row("us, without preceders", first)
        .row("reference", of_reference)
        .row("ciborium alone", of_ciborium)
        .row("limit: read every byte", || black_box(encoded).iter().fold(0_u8, |x, y| x ^ y))
        .goal("P3", "us", Bound::Faster("reference", 60.0))
        .goal("P3", "us", Bound::Allocations(0));
    bench.run(case);
}

fn in_map(entries: &BTreeMap<String, Value>, path: &str) -> String {
    let (first, second) = path.split_once('.').expect("two segments");
    let map = entries[first].as_map().expect("a map");
    let value = map.iter().find(|(key, _)| key.as_text() == Some(second)).expect("it is there");
    value.1.as_text().expect("text").to_owned()
}
