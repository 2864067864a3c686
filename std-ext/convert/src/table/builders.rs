//! Columns in memory, of the rows of one batch.

use std::sync::Arc;

use arrow_array::builder::{
    BinaryBuilder, BooleanBuilder, Float64Builder, Int64Builder, ListBuilder, StringBuilder, UInt64Builder,
};
use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use ciborium::Value;
use tgm_std::{Result, TensogramError};

use super::cells::{Cells, text};
use super::columns::{Columns, Kind};
use super::describe::{Described, Object};
use super::{Rows, failed};
use crate::error::encoding;

/// Bytes of one cell. The offsets of a batch have 31 bits.
const MAX_CELL: usize = 1 << 28;

/// A column of metadata.
enum Column {
    Bool(BooleanBuilder),
    Int(Int64Builder),
    Uint(UInt64Builder),
    Float(Float64Builder),
    Bytes(BinaryBuilder),
    Text(StringBuilder),
}

/// The rows of a batch.
pub(super) struct Batch {
    schema: SchemaRef,
    rows: usize,
    /// About the bytes that the rows take.
    bytes: usize,
    is_of_messages: bool,
    file: StringBuilder,
    message: UInt64Builder,
    offset: UInt64Builder,
    length: UInt64Builder,
    object: UInt64Builder,
    dtype: StringBuilder,
    codec: StringBuilder,
    shape: ListBuilder<UInt64Builder>,
    value_bytes: UInt64Builder,
    stored: UInt64Builder,
    ratio: Float64Builder,
    metadata: Vec<(String, Column)>,
}

impl Batch {
    pub(super) fn new(columns: &Columns) -> Self {
        let is_of_messages = columns.options.rows == Rows::Messages;
        let field = |name: &str, kind, nullable| Field::new(name, kind, nullable);
        let list = DataType::List(Arc::new(Field::new_list_field(DataType::UInt64, true)));
        let mut fields = vec![
            field("file", DataType::Utf8, false),
            field("message", DataType::UInt64, false),
            field("offset", DataType::UInt64, false),
            field("length", DataType::UInt64, false),
            field(if is_of_messages { "objects" } else { "object" }, DataType::UInt64, true),
            field("dtype", DataType::Utf8, true),
            field("codec", DataType::Utf8, true),
            field("shape", list, true),
            field("bytes", DataType::UInt64, true),
            field("stored", DataType::UInt64, true),
            field("ratio", DataType::Float64, true),
        ];
        let mut metadata = Vec::new();
        for (name, kind) in columns.kinds() {
            let (kind, column) = Column::new(kind);
            fields.push(field(name, kind, true));
            metadata.push((name.to_string(), column));
        }
        Self {
            schema: Arc::new(Schema::new(fields)),
            rows: 0,
            bytes: 0,
            is_of_messages,
            file: StringBuilder::new(),
            message: UInt64Builder::new(),
            offset: UInt64Builder::new(),
            length: UInt64Builder::new(),
            object: UInt64Builder::new(),
            dtype: StringBuilder::new(),
            codec: StringBuilder::new(),
            shape: ListBuilder::new(UInt64Builder::new()),
            value_bytes: UInt64Builder::new(),
            stored: UInt64Builder::new(),
            ratio: Float64Builder::new(),
            metadata,
        }
    }

    pub(super) const fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    pub(super) const fn rows(&self) -> usize {
        self.rows
    }

    pub(super) const fn bytes(&self) -> usize {
        self.bytes
    }

    /// Adds a row: of the object of that number, or of a message that begins with it.
    #[expect(clippy::cast_precision_loss, reason = "a ratio is approximate")]
    pub(super) fn add(&mut self, described: &Described, index: Option<usize>, cells: &Cells<'_>) -> Result<()> {
        let object = index.and_then(|index| described.objects.get(index));
        self.rows += 1;
        self.bytes += described.file.len() + self.metadata.len() + size_of::<Object>();
        self.file.append_value(&described.file);
        self.message.append_value(described.message);
        self.offset.append_value(described.offset);
        self.length.append_value(described.length);
        let number = if self.is_of_messages { Some(described.objects.len()) } else { index };
        self.object.append_option(number.map(|number| number as u64));
        self.dtype.append_option(object.map(|object| object.dtype));
        self.codec.append_option(object.map(|object| object.codec.as_str()));
        if let Some(object) = object {
            self.shape.values().append_slice(&object.shape);
            self.bytes += object.shape.len() * size_of::<u64>();
        }
        self.shape.append(object.is_some());
        let (bytes, stored) = (object.and_then(|object| object.bytes), object.map(|object| object.stored));
        self.value_bytes.append_option(bytes);
        self.stored.append_option(stored);
        let ratio = bytes.zip(stored.filter(|stored| *stored > 0));
        self.ratio.append_option(ratio.map(|(bytes, stored)| bytes as f64 / stored as f64));
        let mut found = 0;
        for (name, column) in &mut self.metadata {
            let cell = cells.get(name.as_str());
            found += usize::from(cell.is_some());
            self.bytes += column.add(cell.copied()).ok_or_else(|| changed(name))?;
        }
        if found < cells.len() {
            return Err(changed("a key"));
        }
        Ok(())
    }

    /// The rows, which are forgotten here.
    ///
    /// # Errors
    /// The errors of Arrow.
    pub(super) fn take(&mut self) -> Result<RecordBatch> {
        (self.rows, self.bytes) = (0, 0);
        let mut arrays: Vec<ArrayRef> = vec![
            Arc::new(self.file.finish()),
            Arc::new(self.message.finish()),
            Arc::new(self.offset.finish()),
            Arc::new(self.length.finish()),
            Arc::new(self.object.finish()),
            Arc::new(self.dtype.finish()),
            Arc::new(self.codec.finish()),
            Arc::new(self.shape.finish()),
            Arc::new(self.value_bytes.finish()),
            Arc::new(self.stored.finish()),
            Arc::new(self.ratio.finish()),
        ];
        arrays.extend(self.metadata.iter_mut().map(|(_, column)| column.finish()));
        RecordBatch::try_new(Arc::clone(&self.schema), arrays).map_err(failed)
    }
}

/// The second pass found what the first one did not.
fn changed(what: &str) -> TensogramError {
    encoding(format!(
        "table: {what} is new or of another type: the input changed between the two times that it was read"
    ))
}

impl Column {
    fn new(kind: Kind) -> (DataType, Self) {
        match kind {
            Kind::Bool => (DataType::Boolean, Self::Bool(BooleanBuilder::new())),
            Kind::Int => (DataType::Int64, Self::Int(Int64Builder::new())),
            Kind::Uint => (DataType::UInt64, Self::Uint(UInt64Builder::new())),
            Kind::Float => (DataType::Float64, Self::Float(Float64Builder::new())),
            Kind::Bytes => (DataType::Binary, Self::Bytes(BinaryBuilder::new())),
            Kind::Text => (DataType::Utf8, Self::Text(StringBuilder::new())),
        }
    }

    /// Adds a cell and returns its bytes. `None` if it does not fit the column.
    #[expect(clippy::cast_precision_loss, reason = "columns of floats have integers only that are exact")]
    fn add(&mut self, cell: Option<&Value>) -> Option<usize> {
        match (&mut *self, cell) {
            (Self::Bool(column), None) => column.append_null(),
            (Self::Int(column), None) => column.append_null(),
            (Self::Uint(column), None) => column.append_null(),
            (Self::Float(column), None) => column.append_null(),
            (Self::Bytes(column), None) => column.append_null(),
            (Self::Text(column), None) => column.append_null(),
            (Self::Bool(column), Some(value)) => column.append_value(value.as_bool()?),
            (Self::Int(column), Some(value)) => {
                column.append_value(i64::try_from(i128::from(value.as_integer()?)).ok()?);
            }
            (Self::Uint(column), Some(value)) => {
                column.append_value(u64::try_from(i128::from(value.as_integer()?)).ok()?);
            }
            (Self::Float(column), Some(Value::Integer(integer))) => column.append_value(i128::from(*integer) as f64),
            (Self::Float(column), Some(value)) => column.append_value(value.as_float()?),
            (Self::Bytes(column), Some(value)) => {
                let bytes = value.as_bytes().filter(|bytes| bytes.len() <= MAX_CELL)?;
                column.append_value(bytes);
                return Some(bytes.len());
            }
            (Self::Text(column), Some(value)) => {
                let text = Some(text(value)).filter(|text| text.len() <= MAX_CELL)?;
                column.append_value(&text);
                return Some(text.len());
            }
        }
        Some(size_of::<u64>())
    }

    fn finish(&mut self) -> ArrayRef {
        match self {
            Self::Bool(column) => Arc::new(column.finish()),
            Self::Int(column) => Arc::new(column.finish()),
            Self::Uint(column) => Arc::new(column.finish()),
            Self::Float(column) => Arc::new(column.finish()),
            Self::Bytes(column) => Arc::new(column.finish()),
            Self::Text(column) => Arc::new(column.finish()),
        }
    }
}
