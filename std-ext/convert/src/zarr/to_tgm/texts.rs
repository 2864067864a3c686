//! Arrays of texts, which become metadata of a message without objects.

use std::io::Write;
use std::path::Path;

use ciborium::Value;
use serde_json::Value as Json;
use tgm_std::{EncodeOptions, GlobalMetadata, StreamingEncoder};

use super::{Reader, Result, Source, ZARR};
use crate::arrays;
use crate::error::{encoding, metadata};
use crate::texts::TEXTS;
use crate::zarr::describe::count;
use crate::zarr::store::directory;
use crate::zarr::texts::{Described, Form, most_bytes, of_chunk};

impl Reader<'_> {
    /// The texts of an array.
    pub(super) fn texts(&mut self, path: &str, source: &Source, texts: &Described) -> Result<Vec<String>> {
        let number = usize::try_from(count(&texts.shape)?).unwrap_or(usize::MAX);
        arrays::Array::check_texts(number, 0)?;
        let values = match &texts.form {
            Form::Lengths(codecs) => self.of_lengths(path, source, (codecs, &texts.fill))?,
            Form::Characters(_) | Form::Bytes(_) => {
                let grid = source.array.grid(&self.options.limits)?;
                if !texts.fill.is_empty() && count(&grid)? > source.chunks.len() as u64 {
                    return Err(metadata(format!("fill value {:.40?} of chunks that are not stored", texts.fill)));
                }
                let numbers = self.join(path, source)?;
                texts.of_numbers(&numbers)?
            }
        };
        arrays::Array::check_texts(values.len(), values.iter().map(String::len).sum())?;
        Ok(values)
    }

    /// Texts each of which has its length before it. Chunks are put together as numbers of texts.
    fn of_lengths(
        &mut self,
        path: &str,
        source: &Source,
        (codecs, fill): (&[zarrs::metadata::v3::MetadataV3], &str),
    ) -> Result<Vec<String>> {
        let (array, limits) = (&source.array, &self.options.limits);
        let (folder, texts_of_chunk) = (directory(Path::new(""), path), count(&array.chunk)?);
        let most = most_bytes(texts_of_chunk);
        let stored = source.chunks.len().saturating_mul(usize::try_from(most).unwrap_or(usize::MAX));
        array.len(&array.shape, stored.max(4096), limits)?;
        let (mut pool, mut whole) = (vec![fill.to_string()], array.filled(&array.shape)?);
        for index in &source.chunks {
            let key = array.key(index);
            let in_chunk = |error: tgm_std::TensogramError| error.within(format_args!("chunk {key}"));
            let path = folder.join(&key);
            let on_disk = self.store.disk_len(&path);
            let bytes = self.store.read(&path, most.saturating_add(most / 8).saturating_add(4096));
            let bytes = bytes.map_err(in_chunk)?.ok_or_else(|| in_chunk(metadata("it is gone")))?;
            self.take(on_disk, array)?;
            let texts = of_chunk(bytes, codecs, texts_of_chunk).map_err(in_chunk)?;
            let first = u32::try_from(pool.len()).map_err(|_| encoding("there are too many texts"))?;
            let numbers: Vec<u8> = (first..).take(texts.len()).flat_map(u32::to_le_bytes).collect();
            pool.extend(texts);
            let (origin, shape) = array.extent(index);
            let elements = array.decode(&numbers, &self.options.limits).map_err(in_chunk)?;
            let part = array.cut(&elements, &array.chunk, &vec![0; shape.len()], &shape)?;
            whole = array.paste(whole, &array.shape, (&origin, &shape), &part)?;
        }
        let text = |number: &[u8; 4]| {
            let number = usize::try_from(u32::from_ne_bytes(*number)).ok();
            number.and_then(|number| pool.get(number)).cloned().ok_or_else(|| encoding("a text is not there"))
        };
        whole.as_chunks().0.iter().map(text).collect()
    }

    /// Writes the message of an array of texts.
    pub(super) fn write_texts(
        &mut self,
        path: &str,
        source: &Source,
        (texts, values): (&Described, Vec<String>),
        sink: &mut dyn Write,
    ) -> Result<bool> {
        let group = path.rsplit_once('/').map_or("", |(group, _)| group);
        let in_group = |name: &str| if group.is_empty() { name.to_string() } else { format!("{group}/{name}") };
        let name = |name: &Json| name.as_str().map_or(Value::Null, |name| in_group(name).into());
        let names = source.json.get("dimension_names").and_then(Json::as_array);
        let names = names.map_or_else(Vec::new, |names| names.iter().map(name).collect());
        let mut map = vec![
            ("dimensions".into(), Value::Array(names)),
            ("shape".into(), Value::Array(texts.shape.iter().map(|len| (*len).into()).collect())),
            ("values".into(), Value::Array(values.into_iter().map(Value::from).collect())),
        ];
        if !source.values.attributes.is_empty() {
            map.push(("attributes".into(), Value::Map(source.values.attributes.clone())));
        }
        let name = if path.is_empty() { &self.name } else { path };
        let mut extra = self.extra(path, source, 1);
        extra.remove(ZARR);
        extra.insert(TEXTS.into(), Value::Map(vec![(name.into(), Value::Map(map))]));
        let global = GlobalMetadata { extra, ..GlobalMetadata::default() };
        let options = EncodeOptions { allow_nan: true, allow_inf: true, ..self.options.encode.clone() };
        StreamingEncoder::new(sink, &global, &options)?.finish()?;
        self.note_told(path);
        Ok(true)
    }
}
