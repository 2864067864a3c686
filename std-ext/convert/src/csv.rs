//! Numbers as text: a table with a comma between its columns.
//!
//! # Reading
//! The first line names the columns if one of its fields is text, or is in quotes and the field below is not: a year may be a
//! name. Each column becomes an object with its name; with [`Layout::Matrix`] the whole table becomes one tensor of two
//! dimensions. Fields may stand in double quotes. Between them is a comma, or a semicolon or a tab where that alone divides all
//! lines alike. Lines end with LF, CRLF or CR.
//!
//! | all fields of a column are | it becomes |
//! |---|---|
//! | integers | `int64`, or `uint64` if its numbers need that |
//! | numbers, some of them missing | `float64`; a missing value is NaN, which messages keep as a mask |
//! | `true` or `false` | a bitmask |
//! | times of ISO 8601, all with a zone or none | `int64`, `float64` if some are missing; `attributes.units` tells the unit |
//! | anything else | [texts](Array::of_texts) in the metadata of an object without elements, up to 1 MiB; listed |
//!
//! A value is missing where the field is empty, `nan`, `na`, `n/a`, `null` or `none`, in upper or lower case. A column is lost and
//! listed if it has an integer that `float64` changes beside a missing value, or a number beyond its range.
//!
//! # Writing
//! Arrays of one dimension and the same length become columns. If one has a name or texts, all get a name. A single array of
//! two dimensions becomes the whole table. Any other single array is written with one line for each value: the indices and the
//! value, as `tgm cat --csv` prints them. [`Layout::Indices`] asks for these lines, for a single array of any shape.
//!
//! A number is written with enough digits to give the same bits when it is read as its own type. [`read`] gives only
//! `int64`, `uint64` and `float64`, and bits of `true` and `false`. Complex numbers are written as `1+2j`, which it does not take for a number.
//!
//! ```
//! use tgm_convert::csv::{self, Layout};
//! use tgm_std::Dtype;
//!
//! let table = csv::read(b"time,level\n0.5,1\n,2\n", Layout::Columns)?;
//! assert_eq!(table.arrays[0].name(), Some("time"));
//! assert_eq!(table.arrays[1].descriptor.dtype, Dtype::Int64);
//! let mut text = Vec::new();
//! csv::write(&table, Layout::Columns, &mut text)?;
//! assert_eq!(text, b"time,level\n0.5,1\nnan,2\n");
//! # Ok::<(), tgm_std::TensogramError>(())
//! ```

mod columns;
mod numbers;
mod records;
mod times;

use std::borrow::Cow;
use std::io::Write;

use ciborium::Value;
pub use numbers::{Numbers, text_of};
use tgm_core::descriptor::{ByteOrder, Dtype};
use tgm_std::{Result, TensogramError};

use self::columns::{Column, Looks, Seen, Type};
use self::records::{Record, Records, separator};
use super::arrays::{Array, Arrays, NAME, NotKept, TEXT, refused};
use super::texts::TEXT_SHAPE;

/// The key of a matrix's metadata that holds the names of its columns.
pub const COLUMNS: &str = "columns";

/// Columns that become an object each. A wider table is a matrix.
const MAX_COLUMNS: usize = 1 << 17;

/// How a table and arrays correspond.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Layout {
    /// Each column is an array.
    #[default]
    Columns,
    /// All columns are one array of two dimensions.
    Matrix,
    /// Each line has the indices of a value, and then the value. Only for writing: [`read`] takes it as [`Self::Columns`].
    Indices,
}

/// The arrays of a table. A value takes the bytes of its type in memory.
///
/// # Errors
/// [`TensogramError::Object`] for a line that has more or fewer fields than the first one; for a quote that is not closed; for
/// bytes that are not UTF-8; for a file without lines, or with texts alone; for more than 131,072 columns; with [`Layout::Matrix`] for a
/// field that is not a number, with its line and column.
pub fn read(bytes: &[u8], layout: Layout) -> Result<Arrays<'static>> {
    let text = std::str::from_utf8(bytes)
        .map_err(|error| refused(format!("not a .csv file: byte {} is not UTF-8", error.valid_up_to())))?;
    let separator = separator(text);
    let mut records = Records::new(text, separator);
    let Some(first) = records.next().transpose()? else { return Err(refused("not a .csv file: it is empty")) };
    let names = is_header(&first, records.next().and_then(std::result::Result::ok).as_ref())
        .then(|| first.fields.iter().map(ToString::to_string).collect::<Vec<_>>());
    let (width, above) = (first.fields.len(), usize::from(names.is_some()));
    if width > MAX_COLUMNS && layout != Layout::Matrix {
        return Err(refused(format!("{width} columns, and {MAX_COLUMNS} become objects: read it as a matrix")));
    }
    let each = |with: &mut dyn FnMut(Record<'_>) -> Result<()>| {
        for record in Records::new(text, separator).skip(above) {
            let record = record?;
            let (found, line) = (record.fields.len(), record.line);
            if found != width {
                return Err(refused(format!("line {line} has {found} fields, and the first line has {width}")));
            }
            with(record)?;
        }
        Ok(())
    };
    let (mut seen, mut rows) = (vec![Seen::default(); width], 0_u64);
    each(&mut |Record { line, fields }| {
        seen.iter_mut().zip(&fields).for_each(|(seen, field)| seen.add(field, line));
        rows += 1;
        Ok(())
    })?;
    if layout == Layout::Matrix {
        return Ok(Arrays { arrays: vec![matrix(&seen, &each, (rows, width), names)?], ..Arrays::default() });
    }
    let mut columns: Vec<Result<Column>> =
        seen.iter().map(|seen| seen.kind().map(|kind| Column::new(kind, seen))).collect();
    each(&mut |Record { line, fields }| {
        for (column, field) in columns.iter_mut().zip(&fields) {
            let Ok(values) = column else { continue };
            let lost = match values.push(field) {
                Ok(Some(())) => continue,
                Ok(None) => refused(format!("line {line}: {field:.40?} does not fit the type of the column")),
                Err(error) => error,
            };
            *column = Err(lost);
        }
        Ok(())
    })?;
    let mut arrays = Arrays::default();
    let mut names = names.into_iter().flatten();
    for (number, column) in columns.into_iter().enumerate() {
        let name = names.next().filter(|name| !name.is_empty());
        let place =
            name.as_ref().map_or_else(|| format!("column {}", number + 1), |name| format!("column {name:.40?}"));
        match column.and_then(|column| column.array(rows)) {
            Ok(array) => {
                arrays.arrays.push(match name {
                    Some(name) => array.named(name),
                    None => array,
                });
            }
            Err(error) => arrays.not_kept.push(NotKept::array(format!("{place}: {error}"))),
        }
    }
    arrays.check_count(width, "columns")
}

/// Whether the first line names the columns: one of its fields is text, or is in quotes where the next line has none, or is a
/// truth or a time where the next line has something else.
fn is_header(first: &Record<'_>, second: Option<&Record<'_>>) -> bool {
    let in_quotes = |field: &Cow<'_, str>| matches!(field, Cow::Owned(_));
    let mut below = second.into_iter().flat_map(|record| &record.fields);
    first.fields.iter().any(|field| {
        let below = below.next();
        let is_marked = below.is_some_and(|below| in_quotes(field) && !in_quotes(below));
        let is_other = |looks| below.is_some_and(|below| ![looks, Looks::Gap].contains(&Looks::of(below)));
        is_marked
            || match Looks::of(field) {
                Looks::Text => true,
                looks @ (Looks::Truth | Looks::Time) => is_other(looks),
                Looks::Gap | Looks::Number => false,
            }
    })
}

/// Calls a function with each row of a table.
type Each<'e> = &'e dyn Fn(&mut dyn FnMut(Record<'_>) -> Result<()>) -> Result<()>;

/// The whole table as one array.
fn matrix(
    seen: &[Seen],
    each: Each<'_>,
    (rows, width): (u64, usize),
    names: Option<Vec<String>>,
) -> Result<Array<'static>> {
    let dtype = Seen::common(seen)?;
    let mut values = Column::new(Type::Number(dtype), &Seen::default());
    each(&mut |Record { line, fields }| {
        for field in &fields {
            let pushed = values.push(field)?;
            pushed.ok_or_else(|| refused(format!("line {line}: {field:.40?} is not {dtype}")))?;
        }
        Ok(())
    })?;
    let mut array = Array::new(dtype, ByteOrder::NATIVE, &[rows, width as u64], values.into_bytes())?;
    if let Some(names) = names {
        array.metadata.insert(COLUMNS.into(), Value::Array(names.into_iter().map(Value::Text).collect()));
    }
    Ok(array)
}

/// Writes arrays as a table. Returns what a table cannot hold.
///
/// # Errors
/// [`TensogramError::Object`] for arrays that do not make one table; [`TensogramError::Io`] from the sink.
pub fn write(arrays: &Arrays<'_>, layout: Layout, mut sink: impl Write) -> Result<Vec<NotKept>> {
    let (mut names, mut not_kept) = arrays.names();
    let mut all: Vec<&Array<'_>> = arrays.arrays.iter().collect();
    let is_column =
        |array: &&Array<'_>| array.text_shape().unwrap_or_else(|| array.descriptor.shape.clone()).len() == 1;
    let is_table = |all: &[&Array<'_>]| {
        let has_one_length = all.array_windows().all(|[a, b]| rows(a) == rows(b));
        layout != Layout::Indices && has_one_length && all.iter().all(is_column)
    };
    if !is_table(&all) {
        // Texts are columns, and nothing else.
        let of_numbers = |array: &&Array<'_>| array.texts().is_none();
        not_kept.extend(arrays.lost_texts());
        names = names.into_iter().zip(&all).filter(|(_, array)| of_numbers(array)).map(|(name, _)| name).collect();
        all.retain(of_numbers);
    }
    // The keys of an array's metadata that the text holds. All others are reported as not kept.
    let kept: &[&str];
    match all.as_slice() {
        [] => return Err(refused("there is no array to write")),
        [array] if layout == Layout::Indices || !matches!(array.descriptor.shape.len(), 1 | 2) => {
            write_indices(array, &mut sink)?;
            kept = &[];
        }
        [array] if !is_column(array) => {
            if write_matrix(array, &mut sink)? {
                kept = &[COLUMNS];
            } else {
                kept = &[];
            }
        }
        all if is_table(all) => {
            // Without a line of names, the first text would be read as one.
            let has_names = all.iter().any(|array| array.name().is_some() || array.texts().is_some());
            write_columns(all, has_names.then_some(&names), &mut sink)?;
            kept = &[NAME, TEXT, TEXT_SHAPE];
        }
        _ => {
            return Err(refused("a .csv file holds one array, or columns of one length, and these arrays are neither"));
        }
    }
    sink.flush()?;
    for (index, array) in arrays.arrays.iter().enumerate() {
        let dtype = array.descriptor.dtype;
        if !matches!(dtype, Dtype::Float64 | Dtype::Int64 | Dtype::Uint64) && array.texts().is_none() {
            not_kept.push(NotKept::of(index, format!("the type {dtype}")));
        }
    }
    not_kept.extend(arrays.metadata_not_kept(kept));
    Ok(not_kept)
}

/// Writes one line for each value: its indices, then the value.
fn write_indices(array: &Array<'_>, sink: &mut impl Write) -> Result<()> {
    let shape = &array.descriptor.shape;
    (0..shape.len()).try_for_each(|dim| write!(sink, "dim{dim},"))?;
    writeln!(sink, "value")?;
    let mut indices = vec![0_u64; shape.len()];
    for text in Numbers::of(array).texts() {
        indices.iter().try_for_each(|index| write!(sink, "{index},"))?;
        writeln!(sink, "{text}")?;
        // Count up the indices like the digits of a number: the last one first, with a carry to the one before it.
        for (index, dim) in indices.iter_mut().zip(shape).rev() {
            *index += 1;
            if *index < *dim {
                break;
            }
            *index = 0;
        }
    }
    Ok(())
}

/// Writes one line for each row. Returns whether a line with the names of the columns comes first.
fn write_matrix(array: &Array<'_>, sink: &mut impl Write) -> Result<bool> {
    let width = array.descriptor.shape.last().copied().unwrap_or_default();
    let names = array.metadata.get(COLUMNS).and_then(Value::as_array);
    let names = names.and_then(|names| names.iter().map(Value::as_text).collect::<Option<Vec<_>>>());
    let names = names.filter(|names| names.len() as u64 == width && width > 0);
    if let Some(names) = &names {
        write_line(names.iter().map(|name| quoted(name)), sink)?;
    }
    let numbers = Numbers::of(array);
    // Fields that are left in this line.
    let mut left = width;
    for text in numbers.texts() {
        left -= 1;
        sink.write_all(typed(text, numbers.dtype).as_bytes())?;
        sink.write_all(if left == 0 { b"\n" } else { b"," })?;
        left = if left == 0 { width } else { left };
    }
    Ok(names.is_some())
}

/// The rows of a column.
fn rows(array: &Array<'_>) -> u64 {
    let texts = array.texts().map(|texts| texts.len() as u64);
    texts.or_else(|| array.descriptor.shape.first().copied()).unwrap_or_default()
}

/// Writes one column for each array.
fn write_columns(arrays: &[&Array<'_>], names: Option<&Vec<String>>, sink: &mut impl Write) -> Result<()> {
    if let Some(names) = names {
        write_line(names.iter().map(|name| quoted(name)), sink)?;
    }
    let mut columns: Vec<Box<dyn Iterator<Item = String> + '_>> = Vec::new();
    for array in arrays {
        if let Some(texts) = array.texts() {
            columns.push(Box::new(texts.into_iter().map(quoted)));
        } else {
            let numbers = Numbers::of(array);
            columns.push(Box::new(numbers.texts().map(move |text| typed(text, numbers.dtype))));
        }
    }
    for row in 0..arrays.first().map_or(0, |array| rows(array)) {
        let fields: Option<Vec<String>> = columns.iter_mut().map(Iterator::next).collect();
        let fields = fields.ok_or_else(|| refused(format!("a column ends before row {row}")))?;
        write_line(fields.into_iter(), sink)?;
    }
    Ok(())
}

fn write_line(fields: impl Iterator<Item = String>, sink: &mut impl Write) -> Result<()> {
    let line = fields.collect::<Vec<_>>().join(",");
    Ok(writeln!(sink, "{line}")?)
}

/// Marks a float that has the text of an integer: `1` becomes `1.0`, so that it is read as a float again.
fn typed(text: String, dtype: Dtype) -> String {
    let is_integer = text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-');
    let is_float = matches!(dtype, Dtype::Float16 | Dtype::Bfloat16 | Dtype::Float32 | Dtype::Float64);
    if is_integer && is_float { text + ".0" } else { text }
}

/// A name as a field: in quotes if it would be read as something else without them.
fn quoted(name: &str) -> String {
    let is_plain =
        Looks::of(name) == Looks::Text && !name.contains([',', ';', '\t', '"', '\n', '\r']) && name.trim() == name;
    if is_plain { name.to_string() } else { format!("\"{}\"", name.replace('"', "\"\"")) }
}

impl From<records::Fault> for TensogramError {
    fn from(fault: records::Fault) -> Self {
        refused(match fault {
            records::Fault::Unclosed(line) => format!("line {line}: a field begins with a quote that does not end"),
            records::Fault::Long(line) => format!("line {line}: a field has more than {} bytes", records::MAX_FIELD),
        })
    }
}
