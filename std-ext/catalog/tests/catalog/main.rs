//! Catalogues: what they say is what a walk over the data says.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::cast_possible_wrap,
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    reason = "tests may panic, and count little"
)]

mod cost;
mod damage;
mod equal;
mod grown;
mod tree;
mod tree_scale;

use tgm_catalog::{Catalog, Freshness, object_of_frame};
use tgm_std::core::Message;
use tgm_std::core::object::DataObject;
use tgm_std::deps::ciborium::Value;
use tgm_std::metadata::query::Query;
use tgm_std::{DecodeOptions, MessageBuilder, ObjectBuilder, file, scan};

/// A small message: an object for each list of entries, and annotations.
pub(crate) fn message(objects: &[Vec<(&str, Value)>], annotations: &[(&str, Value)]) -> Vec<u8> {
    let values = [1_u16, 2, 3, 4];
    let mut message = MessageBuilder::new();
    for (number, entries) in objects.iter().enumerate() {
        let shape = if number % 2 == 0 { &[4][..] } else { &[2, 2] };
        let object = ObjectBuilder::new(shape, &values).unwrap();
        message =
            message.object(entries.iter().fold(object, |object, (key, value)| object.metadata(*key, value.clone())));
    }
    annotations.iter().fold(message, |message, (key, value)| message.extra(*key, value.clone())).encode().unwrap()
}

/// A message with one object, as archives have it.
pub(crate) fn field(param: &str, step: i64) -> Vec<u8> {
    message(&[vec![("mars.param", param.into()), ("mars.step", step.into())]], &[])
}

fn query(text: &str) -> Query {
    text.parse().unwrap_or_else(|error| panic!("{text}: {error}"))
}

/// Checks that each place of the catalogue is one of the data, and the other way round, and that the data is covered.
pub(crate) fn check_places(catalog: &Catalog, data: &[u8]) {
    let messages = scan(data);
    assert_eq!(catalog.message_count(), messages.len());
    let mut objects = 0;
    for (number, (offset, length)) in messages.into_iter().enumerate() {
        let range = catalog.message_range(number).unwrap();
        assert_eq!(range, offset as u64..(offset + length) as u64);
        let message = Message::parse(&data[offset..]).unwrap();
        let found: Vec<DataObject<'_>> = message.objects().map(Result::unwrap).collect();
        assert_eq!(catalog.objects_of(number).unwrap(), found.len());
        for (index, object) in found.iter().enumerate() {
            let range = catalog.object_range(number, index).unwrap();
            let start = usize::try_from(range.start).unwrap();
            assert_eq!(range.start, offset as u64 + object.frame().offset());
            let read = object_of_frame(&data[start..usize::try_from(range.end).unwrap()]).unwrap();
            assert_eq!((read.payload(), read.region()), (object.payload(), object.region()));
        }
        objects += found.len();
        assert!(catalog.object_range(number, found.len()).is_err());
    }
    assert_eq!(catalog.object_count(), objects);
    assert!(catalog.message_range(catalog.message_count()).is_err());
}

/// Checks that a query finds the same by the catalogue and by a walk: objects and messages.
pub(crate) fn check_query(catalog: &Catalog, data: &[u8], text: &str) {
    let query = query(text);
    let walked = file::query(data, &query, &DecodeOptions::default()).unwrap();
    assert_eq!(catalog.select(&query).unwrap(), walked, "{text}");
    let messages = scan(data).into_iter().enumerate().filter(|(_, (offset, _))| {
        let metadata = Message::parse(&data[*offset..]).unwrap().metadata().unwrap();
        query.matches(&metadata).unwrap()
    });
    let messages: Vec<_> = messages.map(|(number, _)| number).collect();
    assert_eq!(catalog.select_messages(&query).unwrap(), messages, "{text}");
}

/// The catalogue of the data, written and opened again.
pub(crate) fn stored(data: &[u8], keys: &[impl AsRef<str>]) -> Catalog {
    let catalog = Catalog::build(data, keys).unwrap();
    let catalog = Catalog::from_bytes(&catalog.to_bytes()).unwrap();
    let covered = scan(data).last().map_or(0, |(offset, length)| (offset + length) as u64);
    let size = data.len() as u64;
    let expected = if covered == size { Freshness::Fresh } else { Freshness::Grown { covered, size } };
    assert_eq!(catalog.check(data).unwrap(), expected);
    catalog
}
