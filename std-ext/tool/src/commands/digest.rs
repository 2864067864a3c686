//! `tgm validate --print`: SHA-256 of every object's decoded values.

use std::io;
use std::path::PathBuf;
use std::slice;

use clap::Args;
use serde_json::Value as Json;
use sha2::{Digest as _, Sha256};
use tgm_core::Message;
use tgm_core::descriptor::ByteOrder;
use tgm_core::object::DataObject;
use tgm_std::{DecodeOptions, Spending, TensogramError, decode_descriptors};

use crate::args::decoding::Decoding;
use crate::args::limits::SumLimits;
use crate::args::listing::{ListFlags, Listed};
use crate::args::object_numbers::ObjectNumbers;
use crate::commands::key_columns::{KeyColumns, Keys};
use crate::commands::{Run, examples};
use crate::read::chosen::Chosen;
use crate::read::digests::Digests;
use crate::read::entry::Entry;
use crate::read::in_order::{Means, Messages, Worked};
use crate::read::input::MessagePart;
use crate::read::select::Scope;
use crate::read::structure::Structure;
use crate::read::values::in_order;
use crate::show::json::{self, Document, error_json};
use crate::show::output::Out;
use crate::show::summary::{shape_json, shape_text};
use crate::show::table::{Cell, Column, Table};
use crate::show::text::hex;

/// Print the SHA-256 of every object's decoded values
///
/// Values are hashed in little-endian C order with NaN and infinities restored, and bitmasks as packed bits. An object whose frame has a wrong stored digest is an error.
#[derive(Args, Debug)]
#[command(after_help = examples(&[("tgm validate --print field.tgm", "fingerprints of values, however they are stored")]))]
pub(crate) struct Digest {
    /// File to read; "-" is standard input
    #[arg(value_name = "FILE")]
    path: PathBuf,
    #[command(flatten)]
    chosen: Chosen,
    #[command(flatten)]
    listing: ListFlags,
    #[command(flatten)]
    only: ObjectNumbers,
    #[command(flatten)]
    keys: Keys,
    #[command(flatten)]
    decoding: Decoding,
    #[command(flatten)]
    limits: SumLimits,
}

/// The decoding budget that is left.
struct Costs {
    options: DecodeOptions,
    spending: Spending,
}

/// What is found of a message.
struct Found {
    /// Bytes of the message.
    length: u64,
    /// Its objects by their numbers.
    objects: Result<Vec<(usize, Digested)>, TensogramError>,
}

/// The result for one object.
struct Digested {
    dtype: Option<&'static str>,
    shape: Option<Json>,
    shape_text: String,
    /// The values of the keys that the user asks for.
    values: Vec<Option<Json>>,
    result: Result<(u64, String), TensogramError>,
}

/// The columns of the table.
const COLUMNS: [Column; 6] = [
    Column::right("message"),
    Column::right("object"),
    Column::left("dtype"),
    Column::left("shape"),
    Column::right("bytes"),
    Column::left("sha256").whole(),
];

impl Run for Digest {
    fn listed(&self) -> Listed<'_> {
        self.listing.listed(slice::from_ref(&self.path))
    }

    fn run(&self, out: &mut Out) -> io::Result<()> {
        let keys = self.keys.columns(Table::new(COLUMNS).titles(), &self.listing);
        let budget = self.limits.budget();
        let threads = self.decoding.threads(&budget);
        let state = |means: Means| Costs { options: self.decoding.options(), spending: budget.of_file(means.length) };
        let look = |costs: &mut Costs, entry: &Entry<'_>| -> Result<Option<Found>, TensogramError> {
            let is_chosen = self.chosen.chooses(entry)?;
            Ok(is_chosen.then(|| Found { length: entry.length(), objects: self.objects(entry, costs, &keys) }))
        };
        let paths = slice::from_ref(&self.path);
        let messages = Messages { paths, asked: self.chosen.asked(), wanted: MessagePart::Whole, threads };
        let mut document = self.listing.json().then(|| Document::begin(out, "tgm.digest/1", "messages")).transpose()?;
        let mut table = keys.hidden_in(keys.shown_in(Table::new(COLUMNS)));
        messages.for_each(out, state, look, |out, worked| {
            let Worked::Message(entry, found) = worked else { return table.pause(out) };
            let Ok(Some(found)) = found.inspect_err(|error| out.report(&entry.place(), error)) else { return Ok(()) };
            if let Err(error) = &found.objects {
                out.report(&entry.place(), error);
            }
            match &mut document {
                Some(document) => {
                    let item = message_json(out, entry, found, &keys);
                    document.item(out, &item)
                }
                None => list(out, entry, found, (&keys, &mut table)),
            }
        })?;
        table.finish(out)?;
        document.map_or(Ok(()), |document| document.end(out))
    }
}

fn message_json(out: &mut Out, entry: &Entry<'_>, Found { length, objects }: Found, keys: &KeyColumns) -> Json {
    let error = objects.as_ref().err().map(error_json);
    let objects = objects.ok().map(|objects| {
        let objects = objects.into_iter();
        objects.map(|(index, object)| object_json(index, &reported(out, entry, index, object), keys)).collect()
    });
    json::object([
        ("message", Some(entry.index.into())),
        ("offset", Some(entry.offset.into())),
        ("length", Some(length.into())),
        ("objects", objects),
        ("error", error),
    ])
}

fn list(out: &mut Out, entry: &Entry<'_>, found: Found, (keys, table): (&KeyColumns, &mut Table)) -> io::Result<()> {
    let Ok(objects) = found.objects else {
        return table.row(out, vec![entry.index.into(), Cell::unreadable()]);
    };
    for (index, object) in objects {
        let object = reported(out, entry, index, object);
        let mut cells = vec![
            Cell::from(entry.index),
            Cell::from(index),
            object.dtype.unwrap_or_default().into(),
            object.shape_text.into(),
        ];
        match object.result {
            Ok((bytes, digest)) => {
                cells.extend([bytes.into(), digest.into()]);
                cells.extend(keys.cells(&object.values).into_iter().flatten());
            }
            Err(_) => cells.push(Cell::unreadable()),
        }
        table.row(out, cells)?;
    }
    Ok(())
}

impl Digest {
    /// Digests the objects of a message. First checks all that a full decode checks except payloads.
    fn objects(
        &self,
        entry: &Entry<'_>,
        costs: &mut Costs,
        keys: &KeyColumns,
    ) -> Result<Vec<(usize, Digested)>, TensogramError> {
        costs.spending.begin_message(entry.length());
        decode_descriptors(entry.bytes)?;
        let message = Message::parse(entry.bytes)?;
        self.only.check(message.outline()?.object_count)?;
        let (check, mut values) =
            (self.chosen.digests.of(&message)?, values(&message, entry, keys, self.chosen.digests)?);
        let chosen = message.objects().enumerate().filter(|(index, _)| self.only.has(*index));
        let digested = chosen.map(|(index, object)| {
            // An object that the metadata does not describe has no keys.
            let values = values.get_mut(index).map(std::mem::take).unwrap_or_default();
            let object = match object {
                Ok(object) => Digested {
                    dtype: Some(object.descriptor().dtype().name()),
                    shape: Some(shape_json(object.descriptor())),
                    shape_text: shape_text(&object.descriptor().shape().iter().collect::<Vec<_>>()),
                    values,
                    result: check.check(index, object.frame()).and_then(|()| digest(&object, costs)),
                },
                Err(error) => {
                    Digested { dtype: None, shape: None, shape_text: String::new(), values, result: Err(error.into()) }
                }
            };
            (index, object)
        });
        Ok(digested.collect())
    }
}

/// The values of the keys of each object.
fn values(
    message: &Message<'_>,
    entry: &Entry<'_>,
    keys: &KeyColumns,
    digests: Digests,
) -> Result<Vec<Vec<Option<Json>>>, TensogramError> {
    if keys.asked().next().is_none() {
        return Ok(Vec::new());
    }
    let (metadata, structure) = (digests.metadata(message)?, Structure::new(message, entry));
    let asked = keys.annotations(&metadata)?;
    let objects = metadata.objects().zip(message.objects()).enumerate();
    objects
        .map(|(index, (about, object))| {
            let object = object.ok();
            Ok(keys.values(&Scope::Object(&about?, &asked, structure.of_object(index, object.as_ref())))?)
        })
        .collect()
}

fn object_json(index: usize, object: &Digested, keys: &KeyColumns) -> Json {
    json::object([
        ("object", Some(index.into())),
        ("dtype", object.dtype.map(Json::from)),
        ("shape", object.shape.clone()),
        ("bytes", object.result.as_ref().ok().map(|(bytes, _)| (*bytes).into())),
        ("sha256", object.result.as_ref().ok().map(|(_, digest)| digest.as_str().into())),
        ("values", keys.json(&object.values)),
        ("error", object.result.as_ref().err().map(error_json)),
    ])
}

fn reported(out: &mut Out, entry: &Entry<'_>, index: usize, object: Digested) -> Digested {
    if let Err(error) = &object.result {
        out.report(&entry.object_place(index), error);
    }
    object
}

/// Number of bytes and digest of an object's values.
fn digest(object: &DataObject<'_>, costs: &mut Costs) -> Result<(u64, String), TensogramError> {
    costs.spending.spend(object, &costs.options.limits)?;
    let values = tgm_std::read(object).options(&costs.options).bytes()?;
    let mut hasher = Sha256::new();
    let of_values = (object.descriptor().dtype(), object.descriptor().byte_order());
    in_order(&values, of_values, ByteOrder::Little, |bytes| {
        hasher.update(bytes);
        Ok(())
    })?;
    Ok((values.len() as u64, hex(hasher.finalize().iter())))
}
