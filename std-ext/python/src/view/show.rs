//! Texts about messages and objects, for people: `repr`, and HTML for notebooks.

use pyo3::prelude::*;

use super::message::Message;
use super::object::Object;
use crate::html;

/// The number of objects of a message that HTML lists.
const LISTED: usize = 100;

/// The text in place of metadata that cannot be read.
const UNREADABLE: &str = "unreadable";

/// The facts about an object that its texts show.
struct Row {
    number: usize,
    shape: String,
    dtype: String,
    stages: String,
    bytes: String,
    ratio: String,
    metadata: String,
}

impl Row {
    fn new(object: &Bound<'_, Object>) -> PyResult<Self> {
        let (py, this) = (object.py(), object.get());
        let facts = this.facts();
        let stages = this.look(py, |object| {
            let descriptor = object.descriptor();
            let stages = [
                descriptor.encoding().to_string(),
                descriptor.filter().to_string(),
                descriptor.compression().to_string(),
            ];
            Ok(stages.into_iter().filter(|stage| stage != "none").collect::<Vec<_>>())
        })?;
        // A text about an object must not fail because of its metadata.
        let metadata = metadata(object).unwrap_or_else(|_| UNREADABLE.to_owned());
        #[allow(clippy::cast_precision_loss, reason = "two decimals are shown")]
        let ratio = facts.decoded_len as f64 / facts.payload_len.max(1) as f64;
        Ok(Self {
            number: object.getattr("index")?.extract()?,
            shape: object.getattr("shape")?.str()?.to_string_lossy().into_owned(),
            dtype: this.look(py, |object| Ok(object.descriptor().dtype().name()))?.to_owned(),
            stages: if stages.is_empty() { "none".to_owned() } else { stages.join("+") },
            bytes: facts.payload_len.to_string(),
            ratio: format!("{ratio:.2}"),
            metadata,
        })
    }

    fn cells(&self) -> [String; 7] {
        [
            self.number.to_string(),
            self.shape.clone(),
            self.dtype.clone(),
            self.stages.clone(),
            self.bytes.clone(),
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

const HEADS: [&str; 7] = ["object", "shape", "dtype", "codec", "bytes", "ratio", "metadata"];

/// The `repr` of an object: one line.
pub(super) fn object(object: &Bound<'_, Object>) -> PyResult<String> {
    let Row { number, shape, dtype, stages, bytes, ratio, metadata } = Row::new(object)?;
    Ok(format!(
        "Object(index={number}, shape={shape}, dtype={dtype}, codec={stages}, bytes={bytes}, ratio={ratio}, \
         metadata={metadata})"
    ))
}

/// An object as a table of one row.
pub(super) fn object_html(object: &Bound<'_, Object>) -> PyResult<String> {
    Ok(html::table(HEADS, std::iter::once(Row::new(object)?.cells())))
}

/// A message as a table of its objects, with its annotations above.
pub(super) fn message(message: &Bound<'_, Message>) -> PyResult<String> {
    let py = message.py();
    let count = message.get().table(py)?.len();
    let rows = (0..count.min(LISTED)).map(|number| Row::new(&Bound::new(py, Object::new(message, number)?)?));
    let rows = rows.collect::<PyResult<Vec<_>>>()?;
    let extra = message.getattr("metadata").and_then(|metadata| html::text(&metadata.getattr("extra")?));
    let extra = extra.unwrap_or_else(|_| UNREADABLE.to_owned());
    let head = format!("<p>{} {}</p>", html::escaped(&message.repr()?.to_string_lossy()), html::escaped(&extra));
    let more = if count > LISTED { format!("<p>and {} more</p>", count - LISTED) } else { String::new() };
    Ok(head + &html::table(HEADS, rows.iter().map(Row::cells)) + &more)
}
