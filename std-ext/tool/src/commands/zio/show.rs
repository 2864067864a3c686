//! `tgm zio ls` and `tgm zio dump`.

use std::io::{self, Write};

use clap::Args;
use serde_json::{Map, Value as Json, json};
use tgm_std::{ByteOrder, TensogramError};
use tgm_zio::{FlowLabel, Message, Tens, Tensor};

use super::{ZioFiles, ZioMessage};
use crate::args::listing::{ListFlags, Listed, TextFlags};
use crate::args::values;
use crate::commands::{Run, examples};
use crate::show::advice::in_our_words;
use crate::show::json::{Document, error_json, object};
use crate::show::output::{Out, Style};
use crate::show::summary::shape_text;
use crate::show::table::{Cell, Column, Table};
use crate::show::text::{escape, hex};
use crate::show::tree::tree;

/// List messages and their tensors; payload is not read
#[derive(Args, Debug)]
#[command(after_help = examples(&[("tgm zio ls field.zio", "messages and their tensors")]))]
pub(super) struct Ls {
    #[command(flatten)]
    sources: ZioFiles,
    #[command(flatten)]
    listing: ListFlags,
}

/// Show everything about messages: header, label, tensors, sizes of parts; payload is not read
#[derive(Args, Debug)]
#[command(after_help = examples(&[("tgm zio dump --json field.zio", "everything about them")]))]
pub(super) struct Dump {
    #[command(flatten)]
    sources: ZioFiles,
    #[command(flatten)]
    text: TextFlags,
}

impl Run for Ls {
    fn listed(&self) -> Listed<'_> {
        self.listing.listed(&self.sources.paths)
    }

    fn run(&self, out: &mut Out) -> io::Result<()> {
        if self.listing.json() {
            return document(&self.sources, out, "tgm.zio.ls/1", false);
        }
        let is_many = self.sources.paths.len() > 1;
        let columns = [
            Column::right("message"),
            Column::left("level"),
            Column::left("form"),
            Column::right("seqno"),
            Column::right("tensor"),
            Column::left("dtype"),
            Column::left("shape"),
            Column::left("order").optional(),
            Column::right("part"),
            Column::right("bytes"),
        ];
        let mut table = Table::new(is_many.then_some(Column::left("file")).into_iter().chain(columns));
        self.sources.for_each(ByteOrder::Little, out, |out, entry| {
            let mut start: Vec<Cell> = is_many.then(|| entry.file.into()).into_iter().collect();
            start.push(entry.index.into());
            let message = match &entry.message {
                Ok(message) => message,
                Err(error) => {
                    out.report(&entry.place(), error);
                    start.push(Cell::unreadable());
                    return table.row(out, start);
                }
            };
            start.push(message.level().name().into());
            start.push(message.form().to_string().into());
            start.push(message.coords().seqno.into());
            match Tens::find(message) {
                Ok(None) => {
                    start.push(Cell::spread(Style::Plain, &about(message)));
                    table.row(out, start)
                }
                Ok(Some(tens)) if tens.tensors().is_empty() => table.row(out, start),
                Ok(Some(tens)) => tens
                    .tensors()
                    .iter()
                    .enumerate()
                    .try_for_each(|(index, tensor)| table.row(out, [start.clone(), cells(index, tensor)].concat())),
                Err(error) => {
                    out.report(&entry.place(), &error);
                    start.push(Cell::spread(Style::Bad, "(no tensors)"));
                    table.row(out, start)
                }
            }
        })?;
        table.finish(out)
    }
}

/// What is to be said of a message without tensors: its word of FLOW, or the size of its payload.
fn about(message: &Message<'_>) -> String {
    match FlowLabel::parse(message.label()) {
        Ok(FlowLabel::Bot { direction, credit }) => format!("BOT {}, credit {credit}", direction.name()),
        Ok(FlowLabel::Pay { credit }) => format!("PAY {credit}"),
        Ok(label) => label.name().into(),
        Err(_) => {
            let bytes: u64 = message.payloads().map(|part| part.len() as u64).sum();
            format!("{} payload parts, {bytes} bytes", message.payloads().len())
        }
    }
}

fn cells(index: usize, tensor: &Tensor<'_>) -> Vec<Cell> {
    let order = if tensor.layout().is_row_major() { "" } else { "not rows" };
    let shape = shape_text(tensor.shape());
    vec![
        index.into(),
        dtype(tensor).into(),
        shape.into(),
        order.into(),
        tensor.part().into(),
        tensor.bytes().len().into(),
    ]
}

/// The dtype's name, or kind and width if the format has no such dtype, with the packing if there is one.
fn dtype(tensor: &Tensor<'_>) -> String {
    if let Some(packing) = tensor.packing().filter(|_| !tensor.is_dense()) {
        return format!("{}{} {packing}", tensor.kind(), tensor.word());
    }
    match (tensor.kind(), tensor.dtype()) {
        ("b", Some(_)) => "bool".into(),
        (_, Some(dtype)) => dtype.name().into(),
        (kind, None) => format!("{kind}{}", tensor.word()),
    }
}

impl Run for Dump {
    fn listed(&self) -> Listed<'_> {
        self.text.listed(&self.sources.paths)
    }

    fn run(&self, out: &mut Out) -> io::Result<()> {
        if self.text.json() {
            return document(&self.sources, out, "tgm.zio.dump/1", true);
        }
        self.sources.for_each(ByteOrder::Little, out, |out, entry| {
            out.styled(Style::Heading, &escape(&format!("=== {} at {} ===", entry.place(), entry.offset)))?;
            writeln!(out)?;
            let mut shown = item(out, entry, true);
            for key in ["file", "message", "offset"] {
                shown.shift_remove(key);
            }
            let tensors = shown.shift_remove("tensors");
            tree(out, &shown, 2)?;
            for (index, tensor) in tensors.iter().filter_map(Json::as_array).flatten().enumerate() {
                writeln!(out, "  tensor {index}")?;
                tree(out, tensor.as_object().unwrap_or(&Map::new()), 4)?;
            }
            writeln!(out)
        })
    }
}

fn document(sources: &ZioFiles, out: &mut Out, schema: &str, has_all: bool) -> io::Result<()> {
    let mut document = Document::begin(out, schema, "messages")?;
    sources.for_each(ByteOrder::Little, out, |out, entry| {
        let item = item(out, entry, has_all);
        document.item(out, &Json::Object(item))
    })?;
    document.end(out)
}

/// A message as JSON. Its error is reported too.
fn item(out: &mut Out, entry: &ZioMessage<'_>, has_all: bool) -> Map<String, Json> {
    let place = [
        ("file", Some(entry.file.into())),
        ("message", Some(entry.index.into())),
        ("offset", Some(entry.offset.into())),
    ];
    let (content, error) = match &entry.message {
        Err(error) => (Vec::new(), Some((error_json(error), in_our_words(error)))),
        Ok(message) => content(message, has_all),
    };
    if let Some((_, text)) = &error {
        out.problem(&format!("{}: {text}", entry.place()));
    }
    let error = [("error", error.map(|(json, _)| json))];
    match object(place.into_iter().chain(content).chain(error)) {
        Json::Object(members) => members,
        _ => Map::new(),
    }
}

type Content = Vec<(&'static str, Option<Json>)>;

fn content(message: &Message<'_>, has_all: bool) -> (Content, Option<(Json, String)>) {
    let coords = message.coords();
    let sizes: Vec<_> = message.payloads().map(<[u8]>::len).collect();
    let mut content = vec![
        ("level", Some(message.level().name().into())),
        ("form", Some(message.form().to_string().into())),
        ("origin", Some(coords.origin.into())),
        ("granule", Some(coords.granule.into())),
        ("seqno", Some(coords.seqno.into())),
        ("parts", Some(json!(sizes))),
    ];
    match Tens::find(message) {
        Ok(None) => {
            let label = message.label();
            content.push(match std::str::from_utf8(label).map(values::json) {
                Ok(Ok(label @ Json::Object(_))) => ("label", Some(label)),
                _ => ("label_text", Some(text_or_bytes(label))),
            });
            (content, None)
        }
        Ok(Some(tens)) => {
            if has_all {
                let mut members = tens.tens_keys().clone();
                content.push(("metadata", members.shift_remove("metadata")));
                content.push(("tens", (!members.is_empty()).then(|| members.into())));
                let label = tens.label_keys();
                content.push(("label", (!label.is_empty()).then(|| label.clone().into())));
            }
            content.push(("tensors", Some(tens.tensors().iter().map(|tensor| tensor_json(tensor, has_all)).collect())));
            (content, None)
        }
        Err(error) => {
            if has_all {
                content.push(("label_text", Some(text_or_bytes(message.label()))));
            }
            let error = TensogramError::from(error);
            (content, Some((error_json(&error), in_our_words(&error))))
        }
    }
}

fn text_or_bytes(label: &[u8]) -> Json {
    std::str::from_utf8(label).map_or_else(|_| json!({"$bytes": hex(label)}), Json::from)
}

fn tensor_json(tensor: &Tensor<'_>, has_all: bool) -> Json {
    let is_laid_out = !tensor.layout().is_row_major();
    object([
        ("dtype", Some(tensor.kind().into())),
        ("word", Some(tensor.word().into())),
        ("type", Some(dtype(tensor).into())),
        ("shape", Some(json!(tensor.shape()))),
        ("part", Some(tensor.part().into())),
        ("bytes", Some(tensor.bytes().len().into())),
        ("packing", tensor.packing().map(Json::from)),
        ("order", tensor.order().map(|order| json!(order))),
        ("ascend", tensor.ascend().map(|ascend| json!(ascend))),
        ("strides", (has_all && is_laid_out).then(|| json!(tensor.strides()))),
        ("offset", (has_all && is_laid_out).then(|| tensor.offset().into())),
        ("metadata", tensor.metadata().filter(|_| has_all).cloned()),
        ("ext", (has_all && !tensor.ext().is_empty()).then(|| tensor.ext().clone().into())),
    ])
}
