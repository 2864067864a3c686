//! Numbers as text: a table with a comma between its columns.
//!
//! # Reading
//! The first line names the columns if one of its fields is not a number, or is in quotes and the field below is not: a year
//! may be a name. Each column becomes an object with its name; with
//! [`Layout::Matrix`] the whole table becomes one tensor of two dimensions. A column of integers becomes `int64`, or
//! `uint64` if its numbers need that. Any other column becomes `float64`. Missing values (an empty field, `nan`, `na`,
//! `null` or `none`, in upper or lower case) become NaN, which messages keep as a mask. Fields may stand in double quotes.
//!
//! # Writing
//! Arrays of one dimension and the same length become columns. A single array of two dimensions becomes the whole table. Any
//! other single array is written with one line for each value: the indices and the value, as `tgm cat --csv` prints
//! them. [`Layout::Indices`] asks for these lines, for a single array of any shape.
//!
//! A number is written with enough digits to give the same bits when it is read as its own type. [`read`] gives only
//! `int64`, `uint64` and `float64`. Complex numbers are written as `1+2j`, which it does not take for a number.
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

mod numbers;
mod records;

use std::borrow::Cow;
use std::io::Write;

use ciborium::Value;
pub use numbers::{Numbers, text_of};
use tgm_core::descriptor::{ByteOrder, Dtype};
use tgm_std::{Result, TensogramError};

use self::numbers::Column;
use self::records::{Record, Records};
use super::arrays::{Array, Arrays, NAME, NotKept, refused};

/// The key of a matrix's metadata that holds the names of its columns.
pub const COLUMNS: &str = "columns";

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

/// The arrays of a table. While it reads, a number takes about 24 bytes of memory; in a column of floats about 8.
///
/// # Errors
/// [`TensogramError::Object`] for a field that is not a number, with its line and column; for a line that has more or fewer
/// fields than the first one; for a quote that is not closed; for bytes that are not UTF-8; for a file without lines.
pub fn read(bytes: &[u8], layout: Layout) -> Result<Arrays<'static>> {
    let text = std::str::from_utf8(bytes)
        .map_err(|error| refused(format!("not a .csv file: byte {} is not UTF-8", error.valid_up_to())))?;
    let mut records = Records::new(text).peekable();
    let Some(first) = records.peek().cloned().transpose()? else { return Err(refused("not a .csv file: it is empty")) };
    let second = Records::new(text).nth(1).and_then(std::result::Result::ok);
    let names =
        is_header(&first, second.as_ref()).then(|| first.fields.iter().map(ToString::to_string).collect::<Vec<_>>());
    if names.is_some() {
        records.next();
    }
    let mut columns: Vec<Column> = first.fields.iter().map(|_| Column::default()).collect();
    let mut rows = 0_u64;
    for record in records {
        let Record { line, fields } = record?;
        if fields.len() != columns.len() {
            let (found, expected) = (fields.len(), columns.len());
            return Err(refused(format!("line {line} has {found} fields, and the first line has {expected}")));
        }
        for (number, (column, field)) in columns.iter_mut().zip(&fields).enumerate() {
            column.push(field).map_err(|()| {
                let short: String = field.chars().take(40).collect();
                refused(format!("line {line}, column {}: {short:?} is not a number", number + 1))
            })?;
        }
        rows += 1;
    }
    let arrays = if layout == Layout::Matrix {
        vec![matrix(columns, rows, names)?]
    } else {
        let mut names = names.into_iter().flatten();
        let array = |column: Column| {
            let (dtype, values) = column.finish();
            let array = Array::new(dtype, ByteOrder::NATIVE, &[rows], values)?;
            Ok(match names.next().filter(|name| !name.is_empty()) {
                Some(name) => array.named(name),
                None => array,
            })
        };
        columns.into_iter().map(array).collect::<Result<_>>()?
    };
    Ok(Arrays { arrays, ..Arrays::default() })
}

/// Whether the first line names the columns: one of its fields is neither a number nor a missing value, or is in quotes where
/// the next line has none.
fn is_header(first: &Record<'_>, second: Option<&Record<'_>>) -> bool {
    let in_quotes = |field: &Cow<'_, str>| matches!(field, Cow::Owned(_));
    let mut below = second.into_iter().flat_map(|record| &record.fields);
    first.fields.iter().any(|field| {
        let is_marked = below.next().is_some_and(|below| in_quotes(field) && !in_quotes(below));
        is_marked || Column::default().push(field).is_err()
    })
}

/// The whole table as one array.
fn matrix(columns: Vec<Column>, rows: u64, names: Option<Vec<String>>) -> Result<Array<'static>> {
    let width = columns.len();
    let columns = Column::finish_alike(columns);
    let dtype = columns.first().map_or(Dtype::Float64, |(dtype, _)| *dtype);
    let lines = columns.first().map_or(0, |(_, values)| values.len() / size_of::<u64>());
    let mut values = Vec::with_capacity(lines * width * size_of::<u64>());
    for line in 0..lines {
        for (_, column) in &columns {
            let cells: &[[u8; 8]] = column.as_chunks().0;
            values.extend_from_slice(cells.get(line).unwrap_or(&[0; 8]));
        }
    }
    let mut array = Array::new(dtype, ByteOrder::NATIVE, &[rows, width as u64], values)?;
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
    let (names, mut not_kept) = arrays.names();
    let all = arrays.arrays.as_slice();
    let is_column = |array: &Array<'_>| array.descriptor.shape.len() == 1;
    let has_one_length =
        || all.windows(2).all(|pair| matches!(pair, [a, b] if a.descriptor.shape == b.descriptor.shape));
    // The keys of an array's metadata that the text holds. All others are reported as not kept.
    let mut kept = &[NAME][..];
    match all {
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
        _ if layout != Layout::Indices && all.iter().all(is_column) && has_one_length() => {
            let is_named = all.iter().any(|array| array.name().is_some());
            write_columns(all, is_named.then_some(&names), &mut sink)?;
        }
        _ => {
            return Err(refused("a .csv file holds one array, or columns of one length, and these arrays are neither"));
        }
    }
    sink.flush()?;
    for (index, array) in all.iter().enumerate() {
        let dtype = array.descriptor.dtype;
        if !matches!(dtype, Dtype::Float64 | Dtype::Int64 | Dtype::Uint64) {
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

/// Writes one column for each array.
fn write_columns(arrays: &[Array<'_>], names: Option<&Vec<String>>, sink: &mut impl Write) -> Result<()> {
    if let Some(names) = names {
        write_line(names.iter().map(|name| quoted(name)), sink)?;
    }
    let numbers: Vec<_> = arrays.iter().map(Numbers::of).collect();
    let mut columns: Vec<_> = numbers.iter().map(|numbers| (numbers.dtype, numbers.texts())).collect();
    let rows = arrays.first().and_then(|array| array.descriptor.shape.first()).copied().unwrap_or_default();
    for _ in 0..rows {
        let fields = columns.iter_mut().map(|(dtype, texts)| typed(texts.next().unwrap_or_default(), *dtype));
        write_line(fields, sink)?;
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
    let is_number = Column::default().push(name).is_ok();
    let is_plain = !is_number && !name.contains([',', '"', '\n', '\r']) && name.trim() == name;
    if is_plain { name.to_string() } else { format!("\"{}\"", name.replace('"', "\"\"")) }
}

impl From<records::Unclosed> for TensogramError {
    fn from(records::Unclosed { line }: records::Unclosed) -> Self {
        refused(format!("line {line}: a field begins with a quote that does not end"))
    }
}
