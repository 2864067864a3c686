//! The differences between two messages, and between their objects.

use std::collections::{HashMap, HashSet};

use serde_json::{Value as Json, json};
use tgm_core::Message;
use tgm_core::metadata::MessageMetadata;
use tgm_core::object::DataObject;
use tgm_std::metadata::query::compare::Number;
use tgm_std::{RESERVED_KEY, Spending, TensogramError};

use super::{Compare, Id, shown};
use crate::read::chosen::Chosen;
use crate::read::differ::{Differences, differences, indices, leaves};
use crate::read::elements::{Elements, json_of, text_of};
use crate::read::entry::Entry;
use crate::show::json;
use crate::show::summary::shape_text;

/// What a comparison tells, in the order of the messages.
pub(super) enum Told {
    /// A difference: where, what, and as an entry of the document.
    Difference { place: String, what: String, json: Json },
    /// What cannot be compared.
    Problem { place: String, error: TensogramError },
}

/// What one thread has found, and what it may still decode.
pub(super) struct Findings<'c> {
    pub(super) compare: &'c Compare,
    pub(super) spending: Spending,
    pub(super) told: Vec<Told>,
}

impl Findings<'_> {
    /// Compares the annotations of two messages.
    pub(super) fn annotations(&mut self, (a, first): Compared<'_, '_>, (b, second): Compared<'_, '_>) {
        self.spending.begin_message(a.length().max(b.length()));
        self.trees(&place_of_both(a, b), &first.annotations, &second.annotations);
    }

    /// Compares all objects of two messages.
    pub(super) fn all(&mut self, (a, first): Compared<'_, '_>, (b, second): Compared<'_, '_>) {
        let counts = (first.objects.len(), second.objects.len());
        if counts.0 != counts.1 {
            let what = format!("{} objects, {} objects", counts.0, counts.1);
            let json = json!({"kind": "objects", "a": counts.0, "b": counts.1});
            self.tell(&place_of_both(a, b), &what, json);
        }
        let only = &self.compare.only;
        let numbers = (0..counts.0.min(counts.1)).filter(|object| only.has(*object));
        self.pairs((a, first), (b, second), numbers.map(|object| (object, object)));
    }

    /// Compares pairs of objects of two messages.
    pub(super) fn pairs(
        &mut self,
        (a, first): Compared<'_, '_>,
        (b, second): Compared<'_, '_>,
        pairs: impl Iterator<Item = Id>,
    ) {
        let place = place_of_both(a, b);
        for (one, other) in pairs {
            let numbers = if one == other { format!("{one}") } else { format!("{one} and {other}") };
            let place = format!("{place}, object {numbers}");
            let (Some(one), Some(other)) = (first.objects.get(one), second.objects.get(other)) else { continue };
            if let Err(error) = self.objects(&place, one, other) {
                self.told.push(Told::Problem { place, error });
            }
        }
    }

    fn objects(&mut self, place: &str, a: &ComparedObject<'_>, b: &ComparedObject<'_>) -> Result<(), TensogramError> {
        self.trees(place, &a.metadata, &b.metadata);
        let (of_a, of_b) = (a.object.descriptor(), b.object.descriptor());
        let mut structure = vec![("dtype", of_a.dtype().name().to_string(), of_b.dtype().name().to_string())];
        if self.compare.storage {
            structure.extend([
                ("byte_order", of_a.byte_order().name().to_string(), of_b.byte_order().name().to_string()),
                ("encoding", of_a.encoding().to_string(), of_b.encoding().to_string()),
                ("filter", of_a.filter().to_string(), of_b.filter().to_string()),
                ("compression", of_a.compression().to_string(), of_b.compression().to_string()),
            ]);
        }
        let shapes: [Vec<u64>; 2] = [of_a, of_b].map(|descriptor| descriptor.shape().iter().collect());
        structure.push(("shape", shape_text(&shapes[0]), shape_text(&shapes[1])));
        for (key, a, b) in structure.iter().filter(|(_, a, b)| a != b) {
            let json = json!({"kind": "structure", "key": key, "a": a, "b": b});
            self.tell(place, &format!("{key}: {a}, {b}"), json);
        }
        if self.compare.no_values || shapes[0] != shapes[1] {
            return Ok(());
        }
        let found = self.values(a, b)?;
        if let Some(greatest) = found.greatest {
            let at = indices(greatest.element, &shapes[0]);
            let count = a.object.descriptor().element_count();
            let what = format!(
                "values: {} of {count} differ, most at {at:?}: {} and {}, by {:.6e}",
                found.count,
                text_of(greatest.a),
                text_of(greatest.b),
                greatest.difference
            );
            let number = |value: Number| json_of(value).unwrap_or_else(|| text_of(value).into());
            let json = json!({
                "kind": "values", "count": found.count, "of": count, "at": at, "a": number(greatest.a),
                "b": number(greatest.b), "difference": number(Number::Float(greatest.difference)),
            });
            self.tell(place, &what, json);
        }
        Ok(())
    }

    fn values(&mut self, a: &ComparedObject<'_>, b: &ComparedObject<'_>) -> Result<Differences, TensogramError> {
        let options = self.compare.decoding.options();
        for object in [&a.object, &b.object] {
            self.spending.spend(object, &options.limits)?;
        }
        let (of_a, of_b) =
            (tgm_std::read(&a.object).options(&options).bytes()?, tgm_std::read(&b.object).options(&options).bytes()?);
        let one = Elements::of(a.object.descriptor(), &of_a);
        let other = Elements::of(b.object.descriptor(), &of_b);
        Ok(differences(&one, &other, self.compare.tolerance(None), self.compare.nan_differs))
    }

    /// Compares two trees of metadata.
    fn trees(&mut self, place: &str, a: &Json, b: &Json) {
        let (of_a, of_b) = (leaves(a), leaves(b));
        let there: HashMap<&str, &Json> = of_b.iter().map(|(path, value)| (path.as_str(), *value)).collect();
        let here: HashSet<&str> = of_a.iter().map(|(path, _)| path.as_str()).collect();
        let of_first = of_a.iter().map(|(path, value)| (path, Some(*value), there.get(path.as_str()).copied()));
        let rest = of_b.iter().filter(|(path, _)| !here.contains(path.as_str()));
        for (path, a, b) in of_first.chain(rest.map(|(path, value)| (path, None, Some(*value)))) {
            let is_equal = matches!((a, b), (Some(a), Some(b)) if self.compare.is_equal(path, a, b));
            if is_equal || self.compare.is_ignored(path) {
                continue;
            }
            let what = format!("{path}: {}, {}", shown(a), shown(b));
            let entry = json::object([
                ("kind", Some("metadata".into())),
                ("key", Some(path.as_str().into())),
                ("a", a.cloned()),
                ("b", b.cloned()),
            ]);
            self.tell(place, &what, entry);
        }
    }

    fn tell(&mut self, place: &str, what: &str, json: Json) {
        self.told.push(Told::Difference { place: place.into(), what: what.into(), json });
    }
}

/// A message that was read, and what is compared of it.
pub(super) type Compared<'r, 'f> = (&'r Entry<'f>, &'r ComparedMessage<'f>);

/// The place of two messages.
fn place_of_both(a: &Entry<'_>, b: &Entry<'_>) -> String {
    let (a, b) = (a.index, b.index);
    if a == b { format!("message {a}") } else { format!("message {a} and {b}") }
}

/// A message that is compared: its annotations and objects.
pub(super) struct ComparedMessage<'f> {
    annotations: Json,
    objects: Vec<ComparedObject<'f>>,
}

/// An object that is compared.
struct ComparedObject<'f> {
    object: DataObject<'f>,
    metadata: Json,
}

impl<'f> ComparedMessage<'f> {
    pub(super) fn read(
        Compare { chosen: Chosen { digests, .. }, only, .. }: &Compare,
        entry: &Entry<'f>,
    ) -> Result<Self, TensogramError> {
        let message = Message::parse(entry.bytes)?;
        digests.check_all(&message)?;
        let metadata = message.metadata()?;
        only.check(metadata.object_count())?;
        let objects = message.objects().zip(metadata.objects()).map(|(object, about)| {
            let entries = about?.entries().filter(|entry| !is_reserved(entry));
            Ok(ComparedObject { object: object?, metadata: json::map_json(entries)? })
        });
        let objects = objects.collect::<Result<Vec<_>, tgm_core::Error>>()?;
        Ok(Self { annotations: annotations_of(&metadata)?, objects })
    }
}

type MapEntry<'a> = tgm_core::Result<(tgm_core::cbor::Value<'a>, tgm_core::cbor::Value<'a>)>;

fn is_reserved(entry: &MapEntry<'_>) -> bool {
    let Ok((key, _)) = entry else { return false };
    key.as_text().is_ok_and(|key| key == *RESERVED_KEY)
}

fn annotations_of(metadata: &MessageMetadata<'_>) -> tgm_core::Result<Json> {
    json::map_json(metadata.frame().extra_entries())
}
