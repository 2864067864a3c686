//! Texts about messages and objects, for people: `repr`, and HTML for notebooks.

use pyo3::intern;
use pyo3::prelude::*;

use super::message::Message;
use super::object::Object;
use crate::html;

/// The number of messages of an archive that HTML lists.
const MESSAGES: usize = 20;

/// The number of objects of a message that HTML lists.
const LISTED: usize = 100;

/// The number of objects of a message that HTML shows pictures of.
const PICTURES: usize = 4;

/// The text in place of metadata that cannot be read.
const UNREADABLE: &str = "unreadable";

/// The facts about an object that its texts show.
struct Row {
    number: usize,
    name: String,
    shape: String,
    dtype: String,
    stages: String,
    /// Bytes of the payload.
    bytes: u64,
    ratio: String,
    metadata: String,
}

impl Row {
    fn new(object: &Bound<'_, Object>) -> PyResult<Self> {
        let (py, this) = (object.py(), object.get());
        let facts = this.facts();
        // A text about an object must not fail because of its metadata.
        let metadata = metadata(object).unwrap_or_else(|_| UNREADABLE.to_owned());
        #[allow(clippy::cast_precision_loss, reason = "two decimals are shown")]
        let ratio = facts.decoded_len as f64 / facts.payload_len.max(1) as f64;
        Ok(Self {
            number: object.getattr("index")?.extract()?,
            name: object
                .getattr("name")
                .and_then(|name| name.extract::<Option<String>>())
                .ok()
                .flatten()
                .unwrap_or_default(),
            shape: object.getattr("shape")?.str()?.to_string_lossy().into_owned(),
            dtype: this.look(py, |object| Ok(object.descriptor().dtype().name()))?.to_owned(),
            stages: if facts.stages.is_empty() { "none".to_owned() } else { facts.stages.join("+") },
            bytes: facts.payload_len as u64,
            ratio: format!("{ratio:.2}"),
            metadata,
        })
    }

    fn cells(&self) -> [String; 8] {
        [
            self.number.to_string(),
            self.name.clone(),
            self.shape.clone(),
            self.dtype.clone(),
            self.stages.clone(),
            html::number(self.bytes),
            self.ratio.clone(),
            self.metadata.clone(),
        ]
    }
}

/// The entries that the writer gave an object.
fn metadata(object: &Bound<'_, Object>) -> PyResult<String> {
    let entries = object.getattr("metadata")?;
    entries.call_method1("pop", ("_reserved_", object.py().None()))?;
    html::text(&entries)
}

const HEADS: [&str; 8] = ["object", "name", "shape", "dtype", "codec", "bytes", "ratio", "metadata"];

/// The `repr` of an object: one line.
pub(super) fn object(object: &Bound<'_, Object>) -> PyResult<String> {
    let Row { number, shape, dtype, stages, bytes, ratio, metadata, .. } = Row::new(object)?;
    Ok(format!(
        "Object(index={number}, shape={shape}, dtype={dtype}, codec={stages}, bytes={bytes}, ratio={ratio}, \
         metadata={metadata})"
    ))
}

/// An object as a table of one row, with a small picture of a field.
pub(super) fn object_html(object: &Bound<'_, Object>) -> PyResult<String> {
    Ok(html::table(HEADS, std::iter::once(Row::new(object)?.cells())) + &picture(object)?)
}

/// A small picture of a field, if that costs little: of few values, whose payload needs no request to a server.
fn picture(object: &Bound<'_, Object>) -> PyResult<String> {
    let py = object.py();
    if object.get().is_remote() {
        return Ok(String::new());
    }
    py.import(intern!(py, "tgmio._picture"))?.call_method1(intern!(py, "picture"), (object,))?.extract()
}

/// An archive as a table of its messages. Their metadata and descriptors are read, and no payload.
pub(super) fn archive(archive: &Bound<'_, PyAny>) -> PyResult<String> {
    let head = format!("<p>{}</p>", html::escaped(&archive.repr()?.to_string_lossy()));
    if archive.getattr("closed")?.is_truthy()? {
        return Ok(head);
    }
    let count = archive.len()?;
    let row = |index: usize| -> PyResult<[String; 4]> {
        let message = archive.get_item(index)?;
        // A damaged message is a row as well.
        let objects = message.getattr("objects");
        let names = objects.as_ref().ok().and_then(|objects| objects.getattr("names").ok());
        let names = names.and_then(|names| names.extract::<Vec<Option<String>>>().ok());
        let names = match names {
            Some(names) => names.into_iter().flatten().collect::<Vec<_>>().join(", "),
            None => UNREADABLE.to_owned(),
        };
        let objects = objects
            .and_then(|objects| objects.len())
            .map_or_else(|_| String::new(), |count| html::number(count as u64));
        let bytes: u64 = message.getattr("nbytes")?.extract()?;
        Ok([index.to_string(), objects, html::number(bytes), names])
    };
    let rows = (0..count.min(MESSAGES)).map(row).collect::<PyResult<Vec<_>>>()?;
    let more = if count > MESSAGES {
        format!("<p>and {} more</p>", html::number((count - MESSAGES) as u64))
    } else {
        String::new()
    };
    Ok(head + &html::table(["message", "objects", "bytes", "names"], rows.into_iter()) + &more)
}

/// A message as a table of its objects, with its annotations above.
pub(super) fn message(message: &Bound<'_, Message>) -> PyResult<String> {
    let py = message.py();
    let count = message.get().table(py)?.len();
    let objects = (0..count.min(LISTED)).map(|number| Bound::new(py, Object::new(message, number)?));
    let objects = objects.collect::<PyResult<Vec<_>>>()?;
    let rows = objects.iter().map(Row::new).collect::<PyResult<Vec<_>>>()?;
    let pictures = objects.iter().take(PICTURES).map(picture).collect::<PyResult<String>>()?;
    let extra = message.getattr("metadata").and_then(|metadata| html::text(&metadata.getattr("extra")?));
    let extra = extra.unwrap_or_else(|_| UNREADABLE.to_owned());
    let head = format!("<p>{} {}</p>", html::escaped(&message.repr()?.to_string_lossy()), html::escaped(&extra));
    let more = if count > LISTED {
        format!("<p>and {} more</p>", html::number((count - LISTED) as u64))
    } else {
        String::new()
    };
    Ok(head + &html::table(HEADS, rows.iter().map(Row::cells)) + &more + &pictures)
}
