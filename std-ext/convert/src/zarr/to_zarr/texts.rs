//! Arrays of texts, which messages have as metadata.

use serde_json::{Map, Value, json};
use tgm_std::GlobalMetadata;

use super::{ZarrWriter, chunk_shape, describe, put, regular};
use crate::error::encoding;
use crate::note::Note;
use crate::texts::Texts;
use crate::zarr::Result;
use crate::zarr::attributes::{of_map, teller};
use crate::zarr::bounded::Bounded;
use crate::zarr::store::directory;
use crate::zarr::texts::{STRING, VLEN, joined};
use tgm_dataset::reading::FILL;

impl ZarrWriter {
    /// Writes the variables of texts of a message.
    pub(super) fn write_texts(
        &mut self,
        global: &GlobalMetadata,
        number: usize,
        report: &mut dyn FnMut(Note),
    ) -> Result<()> {
        let place = format!("message {number}");
        if global.extra.contains_key("links") && number == 0 {
            report(Note::not_kept(&place, "links: Zarr has one name for each array"));
        }
        for (name, texts) in Texts::of_message(global) {
            match (name, texts) {
                (Some(name), Some(texts)) => {
                    let written = self.write_text((name, None), &texts, &place, report);
                    super::told(written, &place, report)?;
                }
                (name, _) => {
                    let what =
                        format!("texts {}: they have no name, or do not fit their shape", name.unwrap_or_default());
                    report(Note::failed(&place, encoding(what)));
                }
            }
        }
        Ok(())
    }

    /// Writes an array of texts as one chunk, unless a message before had the same.
    pub(super) fn write_text(
        &mut self,
        (wanted, object): (&str, Option<usize>),
        texts: &Texts<'_>,
        place: &str,
        report: &mut dyn FnMut(Note),
    ) -> Result<()> {
        if self.is_array {
            report(Note::failed(place, encoding("the store is the array of the first message")));
            return Ok(());
        }
        if !self.texts.is_new(wanted, texts, &self.axes.of_texts(object, texts)) {
            return Ok(());
        }
        let (name, dimensions) = self.place_texts((wanted, object), texts, &mut teller(place, report));
        if !name.starts_with(wanted.trim_matches('/')) {
            report(Note::not_kept(place, format!("the name {wanted:.80?}: it becomes {name:.80?}")));
        }
        // xarray opens no store in which texts have a fill value.
        let is_fill = |(key, _): &&(ciborium::Value, ciborium::Value)| key.as_text() == Some(FILL);
        if texts.attributes().any(|it| is_fill(&it)) {
            report(Note::not_kept(place, format!("attribute {FILL} of the texts {name}")));
        }
        let entries: Vec<_> = texts.attributes().filter(|it| !is_fill(it)).cloned().collect();
        let attributes = of_map(&entries, super::Dtype::Uint8, &mut teller(place, report));
        self.put_texts(&name, (&texts.shape, &texts.values), &dimensions, &attributes)
    }

    /// Writes an array of texts as one chunk, under a name that is free.
    pub(super) fn put_texts(
        &self,
        name: &str,
        (shape, values): (&[u64], &[&str]),
        dimensions: &[String],
        attributes: &Map<String, Value>,
    ) -> Result<()> {
        let chunk = chunk_shape(shape, None);
        let mut codecs = vec![json!({"name": VLEN})];
        let mut bytes = joined(values)?;
        if let Some(level) = self.options.zstd_level {
            codecs.push(json!({"name": "zstd", "configuration": {"level": level, "checksum": false}}));
            bytes = Bounded::Zstd(level).compress(&bytes)?;
        }
        let json = json!({
            "zarr_format": 3,
            "node_type": "array",
            "shape": shape,
            "data_type": STRING,
            "chunk_grid": regular(&chunk),
            "chunk_key_encoding": {"name": "default", "configuration": {"separator": "/"}},
            "fill_value": "",
            "codecs": codecs,
            "attributes": attributes,
            "dimension_names": dimensions,
        });
        let folder = directory(&self.root, name);
        describe(&folder, &json)?;
        if values.is_empty() {
            return Ok(());
        }
        let key: String = std::iter::once("c").chain(chunk.iter().map(|_| "/0")).collect();
        put(&folder.join(key), &bytes)
    }
}
