//! Metadata as a table: files in the formats of Arrow and Parquet, for programs that search catalogues.
//!
//! The table has a row for each object, or for each message ([`Rows`]), and no values. What a file holds decides the
//! columns, so it is read twice: [`Columns::observe`] sees every message, then [`TableWriter::write`] does. Neither reads
//! payloads.
//!
//! | column | type | it is |
//! |---|---|---|
//! | `file` | text | the name of the file |
//! | `message` | unsigned | the number of the message in it |
//! | `offset`, `length` | unsigned | the bytes of the message in it |
//! | `object` | unsigned | the number of the object; null for a message without objects. Rows of messages have `objects`, their count |
//! | `dtype`, `codec` | text | the data type, and the stages with `+` between them |
//! | `shape` | list of unsigned | the dimensions |
//! | `bytes`, `stored` | unsigned | bytes of the values, and of the payload with its masks |
//! | `ratio` | float | `bytes` over `stored` |
//! | `mars.param` … | see below | metadata of the object, maps opened up, keys joined by dots |
//! | `extra.KEY` … | | metadata of the message |
//! | `_reserved_.KEY` … | | who encoded the message, and when |
//!
//! The columns of objects in a message's row describe the first one that has them. A key with the name of a column above
//! gets `metadata.` in front. The type of a column suits all of its values:
//!
//! | all values are | the column is |
//! |---|---|
//! | true or false | boolean |
//! | integers | signed, or else unsigned, of 64 bits |
//! | floats, or floats and integers that are exact as such | float of 64 bits |
//! | byte strings | bytes |
//! | text, and any other mix | text: values other than text in JSON, bytes as hexadecimal digits |
//!
//! Rows are written in batches, so memory does not grow with the number of messages. It grows with the number of
//! columns, which is limited.

mod builders;
mod cells;
mod columns;
mod describe;
mod writer;

#[cfg(test)]
mod tests;

pub use columns::Columns;
pub use describe::Described;
use tgm_std::TensogramError;
pub use writer::{TableFormat, TableWriter};

use crate::error::encoding_from;

/// What a row is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Rows {
    /// An object.
    #[default]
    Objects,
    /// A message.
    Messages,
}

/// Options of tables.
#[derive(Clone, Copy, Debug)]
pub struct TableOptions {
    /// What a row is.
    pub rows: Rows,
    /// Rows that are held in memory: 8,192. Fewer are, if their metadata are large.
    pub batch_rows: usize,
    /// The most columns of metadata: 4,096.
    pub max_columns: usize,
}

impl Default for TableOptions {
    fn default() -> Self {
        Self { rows: Rows::Objects, batch_rows: 8192, max_columns: 4096 }
    }
}

/// An error of the libraries that write tables.
fn failed(error: impl std::error::Error + Send + Sync + 'static) -> TensogramError {
    encoding_from("table", error)
}
