//! `tgm ls`: messages and objects, from headers and metadata.

use std::array;
use std::borrow::Cow;
use std::io;

use clap::Args;
use serde_json::Value as Json;
use tgm_catalog::tree::Choice;
use tgm_core::Message;
use tgm_core::message::Objects;
use tgm_core::metadata::{MessageMetadata, ObjectMetadata};
use tgm_std::TensogramError;

use crate::args::listing::Listed;
use crate::commands::asked_keys::AskedKeys;
use crate::commands::{Run, examples};
use crate::read::about::{ABOUT, keys_of};
use crate::read::entry::Entry;
use crate::read::in_order::{Messages, Worked};
use crate::read::input::MessagePart;
use crate::read::select::{Annotations, Scope, annotations, text};
use crate::read::structure::Structure;
use crate::read::threads::thread_count;
use crate::show::json::{self, Document, error_json};
use crate::show::output::{Out, Style};
use crate::show::summary::{Summary, shape_text};
use crate::show::table::{Cell, Column, Table};
use crate::show::text::{is_plain, shortened};
use crate::show::tree::inline;

/// List messages and objects; payloads are not read
///
/// Without -p: one line for each object, with its type, how it is stored, and the metadata that usually tells fields
/// apart. With -p: one line for each message (for each object with --objects) with the values of these keys, and "N/A" for a missing one.
#[derive(Args, Debug)]
#[command(after_help = examples(&[
    ("tgm ls field.tgm", "type, shape and codecs of every object"),
    ("tgm ls -w 'mars.param=2t/tp' --objects -p mars.param,shape,ratio field.tgm", "some keys of some objects"),
    ("tgm ls -B step:desc -n 2 --csv three.tgm", "the two last steps, as CSV"),
]))]
pub(crate) struct Ls {
    #[command(flatten)]
    asked: AskedKeys,
}

/// The columns of a message's place, at most.
const PLACE: usize = 2;

/// The columns of an object, beside its place and the keys that are asked for.
const COLUMNS: usize = 1 + ABOUT.len() + SUMMARY;

/// Those that say how the object is stored.
const SUMMARY: usize = 9;

/// The most characters of a value that a table shows.
const CHARACTERS: usize = 40;

/// The values of [`ABOUT`].
type About = [Option<Json>; ABOUT.len()];

/// One line of the listing: an object, or a whole message.
struct Row {
    /// The number of the object. `None` if the line is about a message.
    object: Option<usize>,
    /// The values of [`ABOUT`].
    about: About,
    /// The values of [`AskedKeys::keys`].
    keys: Vec<Option<Json>>,
    /// The type of the object and how it is stored, or why it cannot be read.
    content: Option<Result<Summary, TensogramError>>,
}

/// The lines of a message in a table.
struct Lines {
    /// Errors of objects by their numbers.
    errors: Vec<(usize, TensogramError)>,
    rows: Vec<Vec<Cell>>,
}

impl Run for Ls {
    fn listed(&self) -> Listed<'_> {
        self.asked.files.listed()
    }

    fn run(&self, out: &mut Out) -> io::Result<()> {
        self.asked.files.check_catalog(&self.asked.cataloged);
        if self.asked.files.json() {
            let mut document = Document::begin(out, "tgm.ls/1", "messages")?;
            self.asked.for_each_message(out, |out, entry| self.document(out, entry, &mut document))?;
            return document.end(out);
        }
        let table = self.empty_table(out.is_csv());
        let mut table = self.asked.keys_beside(table.titles()).hidden_in(table);
        let is_whole = out.is_csv();
        let (paths, asked, threads) = (&*self.asked.files.paths, self.asked.messages(), thread_count(0));
        let messages = Messages { paths, asked, wanted: MessagePart::Outline, threads };
        let look = |(): &mut (), entry: &Entry<'_>| self.lines(entry, is_whole);
        messages.for_each(
            out,
            |_| (),
            look,
            |out, worked| match worked {
                Worked::Message(entry, lines) => self.table(out, entry, lines, &mut table),
                Worked::Pause => table.pause(out),
            },
        )?;
        table.finish(out)
    }
}

impl Ls {
    /// Whether messages of more than one file may be listed.
    fn has_several(&self) -> bool {
        self.asked.files.paths.len() > 1 || self.asked.files.paths.iter().any(|path| Choice::is_tree(path))
    }

    /// Prints a message as an item of the JSON document, if it is selected.
    fn document(&self, out: &mut Out, entry: &Entry<'_>, document: &mut Document) -> io::Result<()> {
        let Some(rows) = self.rows(out, entry).transpose() else { return Ok(()) };
        let (list, error) = match rows {
            Ok(rows) => (Some(rows), None),
            Err(error) => (None, Some(error_json(&error))),
        };
        let is_by_message = !self.asked.named.keys.is_empty() && !self.asked.objects;
        let values = list
            .as_deref()
            .filter(|_| is_by_message)
            .and_then(|rows| rows.first())
            .and_then(|row| self.asked.keys().json(&row.keys));
        let objects = list.filter(|_| !is_by_message).map(|rows| self.objects_json(&rows));
        let item = json::object([
            ("file", Some(entry.file.into())),
            ("message", Some(entry.index.into())),
            ("offset", Some(entry.offset.into())),
            ("length", Some(entry.length().into())),
            ("values", values),
            ("objects", objects),
            ("error", error),
        ]);
        document.item(out, &item)
    }

    fn objects_json(&self, rows: &[Row]) -> Json {
        rows.iter().filter(|row| row.object.is_some()).map(|row| self.object_json(row)).collect()
    }

    fn object_json(&self, row: &Row) -> Json {
        let number = [("object", row.object.map(Json::from))];
        let about = ABOUT.iter().zip(&row.about).map(|(title, value)| (*title, value.clone()));
        let values = [("values", self.asked.keys().json(&row.keys))];
        let content: Vec<_> = match &row.content {
            Some(Ok(summary)) => summary.entries().into(),
            Some(Err(error)) => vec![("error", Some(error_json(error)))],
            None => Vec::new(),
        };
        json::object(number.into_iter().chain(about).chain(content).chain(values))
    }

    /// The table with its columns and without rows. With `-p`, the columns are the place and the keys. Rows of CSV have a column for each
    /// stage. Rows of text have one for all stages.
    fn empty_table(&self, is_csv: bool) -> Table {
        let place = self.has_several().then_some(Column::left("file")).into_iter();
        let place = place.chain([Column::right("message")]);
        if !self.asked.named.keys.is_empty() {
            return Table::new(place.chain(self.asked.objects.then_some(Column::right("object"))))
                .with_titles(&self.asked.named.keys);
        }
        let about = ABOUT.map(|title| match title {
            // Most archives have no members, and of a single one nobody needs the number in each row.
            "number" => Column::left(title).differing(),
            _ => Column::left(title).optional(),
        });
        let stages = [Column::left("encoding"), Column::left("filter"), Column::left("compression")];
        let (stages, codec) =
            if is_csv { (&stages[..], None) } else { (&[][..], Some(Column::left("codec").spare(1))) };
        let place = place.chain([Column::right("object")]).chain(about);
        let place = place.chain([Column::left("dtype"), Column::left("shape")]);
        Table::new(place.chain(stages.iter().copied()).chain(codec).chain([
            Column::left("masks").optional(),
            Column::right("bytes").spare(4),
            Column::right("stored").spare(2),
            Column::right("ratio").spare(3),
        ]))
    }

    /// The cells of a message's place.
    fn place(&self, entry: &Entry<'_>) -> impl Iterator<Item = Cell> {
        let file = self.has_several().then(|| Cell::from(entry.file.to_string()));
        file.into_iter().chain([entry.index.into()])
    }

    /// The lines of a message. `None` if it is not selected.
    fn lines(&self, entry: &Entry<'_>, is_whole: bool) -> Result<Option<Lines>, TensogramError> {
        let Some(rows) = self.read(entry)? else { return Ok(None) };
        let mut lines = Lines { rows: Vec::with_capacity(rows.len()), errors: Vec::new() };
        for row in rows {
            let object = row.object;
            let (cells, error) = self.cells(self.place(entry), row, is_whole);
            lines.errors.extend(object.zip(error));
            lines.rows.push(cells);
        }
        Ok(Some(lines))
    }

    /// Adds the lines of a message to the table. Errors are reported.
    fn table(
        &self,
        out: &mut Out,
        entry: &Entry<'_>,
        lines: Result<Option<Lines>, TensogramError>,
        table: &mut Table,
    ) -> io::Result<()> {
        match lines {
            Ok(lines) => lines.into_iter().try_for_each(|lines| {
                lines.errors.iter().for_each(|(object, error)| out.report(&entry.object_place(*object), error));
                lines.rows.into_iter().try_for_each(|cells| table.row(out, cells))
            }),
            Err(error) => {
                out.report(&entry.place(), &error);
                table.row(out, self.place(entry).chain([Cell::unreadable()]).collect())
            }
        }
    }

    /// The cells of a row, after those in `place`. `is_whole` says that values are not shortened, as in CSV.
    /// Beside them, why the object cannot be read.
    fn cells(
        &self,
        place: impl Iterator<Item = Cell>,
        row: Row,
        is_whole: bool,
    ) -> (Vec<Cell>, Option<TensogramError>) {
        let mut cells = Vec::with_capacity(PLACE + row.keys.len() + COLUMNS);
        cells.extend(place);
        let missing = |index| if index < self.asked.named.keys.len() && !is_whole { "N/A" } else { "" };
        let keys = row.keys.into_iter().enumerate();
        let keys = keys.map(|(index, value)| value_cell(value, missing(index), is_whole));
        let object = row.object.map_or_else(Cell::default, Cell::from);
        let (summary, error) = match row.content {
            Some(Ok(summary)) => (Some(summary), None),
            Some(Err(error)) => (None, Some(error)),
            None => (None, None),
        };
        if !self.asked.named.keys.is_empty() {
            cells.extend(self.asked.objects.then_some(object));
            cells.extend(keys);
            return (cells, error);
        }
        cells.push(object);
        match (summary, &error) {
            (Some(summary), _) => {
                cells.extend(row.about.into_iter().map(|value| value_cell(value, "", is_whole)));
                cells.extend(summary_cells(summary, is_whole));
                cells.extend(keys);
            }
            (None, Some(_)) => cells.push(Cell::unreadable()),
            (None, None) => cells.push(Cell::spread(Style::Plain, "no objects")),
        }
        (cells, error)
    }

    /// The lines of one message. `None` if it is not selected. Errors are reported.
    fn rows(&self, out: &mut Out, entry: &Entry<'_>) -> Result<Option<Vec<Row>>, TensogramError> {
        let rows = self.read(entry).inspect_err(|error| out.report(&entry.place(), error))?;
        for row in rows.iter().flatten() {
            if let (Some(object), Some(Err(error))) = (row.object, &row.content) {
                out.report(&entry.object_place(object), error);
            }
        }
        Ok(rows)
    }

    /// [`Self::rows`], but errors of objects stay in their rows.
    fn read(&self, entry: &Entry<'_>) -> Result<Option<Vec<Row>>, TensogramError> {
        let message = Message::parse(entry.bytes)?;
        let metadata = self.asked.chosen.digests.metadata(&message)?;
        let structure = Structure::new(&message, entry);
        self.asked.only.check(metadata.object_count())?;
        if !self.asked.objects && !self.asked.chosen.selection.has(&metadata, structure)? {
            return Ok(None);
        }
        if !self.asked.objects && !self.asked.named.keys.is_empty() {
            return Ok(Some(vec![Row {
                keys: self.asked.keys().values(&Scope::Message(&metadata, structure))?,
                ..Row::empty()
            }]));
        }
        let rows = self.read_objects(&metadata, message.objects(), structure)?;
        match rows.is_empty() {
            false => Ok(Some(rows)),
            // The message has objects, and none of them is selected.
            true if metadata.object_count() > 0 => Ok(None),
            true => self.without_objects(&metadata, structure),
        }
    }

    /// The line of a message without objects, if it is selected.
    fn without_objects<'a>(
        &self,
        metadata: &MessageMetadata<'a>,
        structure: Structure<'_, 'a>,
    ) -> Result<Option<Vec<Row>>, TensogramError> {
        let is_wanted = self.asked.chosen.selection.has(metadata, structure)?;
        let row = Row { keys: self.asked.keys().values(&Scope::Message(metadata, structure))?, ..Row::empty() };
        Ok(is_wanted.then(|| vec![row]))
    }

    /// A row for each selected object.
    fn read_objects<'a>(
        &self,
        metadata: &MessageMetadata<'a>,
        objects: Objects<'a>,
        structure: Structure<'_, 'a>,
    ) -> Result<Vec<Row>, TensogramError> {
        let asked = self.asked.keys().annotations(metadata)?;
        let selection = self.asked.chosen.selection.of_objects(metadata)?;
        let usual = usual_annotations(metadata)?;
        // Most messages have one object.
        let mut rows = Vec::with_capacity(1);
        for ((index, object), about) in objects.enumerate().zip(metadata.objects()) {
            let about = about?;
            let structure = structure.of_object(index, object.as_ref().ok());
            if !self.asked.only.has(index) {
                continue;
            }
            if self.asked.objects && !selection.has(&about, structure)? {
                continue;
            }
            let keys = self.asked.keys().values(&Scope::Object(&about, &asked, structure))?;
            let about = usual_values(&about, &Scope::Object(&about, &usual, structure))?;
            let content = object.map(|object| Summary::of(&object)).map_err(TensogramError::from);
            rows.push(Row { object: Some(index), about, keys, content: Some(content) });
        }
        Ok(rows)
    }
}

/// The annotations of a message for the columns of [`ABOUT`]. They would be repeated for each object, so long values
/// are dropped.
fn usual_annotations(metadata: &MessageMetadata<'_>) -> tgm_core::Result<Annotations> {
    let mut found = annotations(metadata, ABOUT)?;
    found.retain(|_, value| text(value).chars().nth(CHARACTERS).is_none());
    Ok(found)
}

/// The values of the columns of [`ABOUT`]. One walk over the object's metadata finds their first two keys, which are the ones that
/// most objects have.
fn usual_values(object: &ObjectMetadata<'_>, scope: &Scope<'_, '_>) -> tgm_core::Result<About> {
    let key = |number: usize| ABOUT.get(number / 2).and_then(|title| keys_of(title).get(number % 2)).copied();
    let found = object.get_many::<{ 2 * ABOUT.len() }>(array::from_fn(|number| key(number).unwrap_or_default()))?;
    let mut values = About::default();
    for ((value, title), found) in values.iter_mut().zip(ABOUT).zip(found.chunks(2)) {
        *value = scope.first_from(keys_of(title), found)?;
    }
    Ok(values)
}

impl Row {
    /// A row without values.
    const fn empty() -> Self {
        Self { object: None, about: [const { None }; ABOUT.len()], keys: Vec::new(), content: None }
    }
}

/// The cell of a value: whole, or shortened to [`CHARACTERS`]. `missing` is shown for `None`.
fn value_cell(value: Option<Json>, missing: &'static str, is_whole: bool) -> Cell {
    match value {
        None => Cow::Borrowed(missing).into(),
        Some(value) if is_whole => text(&value).into(),
        // Most values are short text, which needs no copy.
        Some(Json::String(text)) if text.len() <= CHARACTERS && is_plain(&text) => text.into(),
        Some(value) => shortened(inline(&value), CHARACTERS).into(),
    }
}

/// The cells of how an object is stored: each stage with `is_whole`, otherwise those that are not "none" together.
fn summary_cells(summary: Summary, is_whole: bool) -> impl Iterator<Item = Cell> {
    let ratio = summary.ratio().unwrap_or_default();
    let codec = (!is_whole).then(|| summary.codec().into());
    let stages = [summary.encoding, summary.filter, summary.compression];
    let stages = stages.into_iter().filter(move |_| is_whole).map(Cell::from);
    let masks = summary.masks.join(" ").into();
    let sizes = [masks, summary.bytes.map_or("?".into(), Cell::from), summary.stored.into(), ratio.into()];
    [summary.dtype.into(), shape_text(&summary.shape).into()].into_iter().chain(codec).chain(stages).chain(sizes)
}
