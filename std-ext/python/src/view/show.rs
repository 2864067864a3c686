//! Texts about messages and objects, for people: `repr`, and HTML for notebooks.

use pyo3::prelude::*;

use super::message::Message;
use super::object::Object;

/// Objects of a message that HTML lists.
const LISTED: usize = 100;
/// Characters of metadata that are shown.
const SHOWN: usize = 400;

/// What a person wants to know of an object.
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
        let metadata = match this.owner().get().global(py) {
            Ok(metadata) => match metadata.base.get(object.getattr("index")?.extract::<usize>()?) {
                Some(entries) => {
                    let entries = crate::convert::cbor_out::dict(py, entries)?;
                    entries.call_method1("pop", ("_reserved_", py.None()))?;
                    cut(entries.str()?.to_string_lossy().into_owned())
                }
                None => "{}".to_owned(),
            },
            // A text about an object must not fail because of its message.
            Err(_) => "unreadable".to_owned(),
        };
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
    Ok(table(&[Row::new(object)?]))
}

/// A message as a table of its objects, with its annotations above.
pub(super) fn message(message: &Bound<'_, Message>) -> PyResult<String> {
    let py = message.py();
    let count = message.get().table(py)?.len();
    let rows = (0..count.min(LISTED)).map(|number| Row::new(&Bound::new(py, Object::new(message, number)?)?));
    let rows = rows.collect::<PyResult<Vec<_>>>()?;
    let extra = message.getattr("metadata")?.getattr("extra")?.str()?.to_string_lossy().into_owned();
    let head = format!("<p>{} {}</p>", escaped(&message.repr()?.to_string_lossy()), escaped(&cut(extra)));
    let more = if count > LISTED { format!("<p>and {} more</p>", count - LISTED) } else { String::new() };
    Ok(head + &table(&rows) + &more)
}

fn table(rows: &[Row]) -> String {
    let head: String = HEADS.iter().map(|head| format!("<th>{head}</th>")).collect();
    let cell = |cell: String| format!("<td>{}</td>", escaped(&cell));
    let rows: String =
        rows.iter().map(|row| format!("<tr>{}</tr>", row.cells().map(cell).concat())).collect();
    format!("<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>")
}

/// A text of at most so many characters as are shown.
fn cut(text: String) -> String {
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text,
    }
}

/// A text with the characters replaced that HTML gives a meaning to.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
