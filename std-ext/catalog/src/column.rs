//! Columns of numbers: as they are stored, and in memory.
//!
//! A column of one element stands for as many equal ones as there are rows.

use tgm_core::descriptor::{ByteOrder, Compression, Dtype};
use tgm_core::hash::{HashPresence, Verdict};
use tgm_core::object::DataObject;

use super::bad;
use tgm_std::codec::codec;
use tgm_std::hash;
use tgm_std::{
    CompressionBackend, DataObjectDescriptor, DecodeLimits, DecodeOptions, ObjectBuilder, Result, TensogramError, read,
};

/// Bytes from which a column is compressed.
const WORTHWHILE: usize = 64;
/// Fast, and as small as higher levels make these columns.
const ZSTD_LEVEL: i32 = 3;

/// The numbers of a column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Column {
    /// All rows have this number.
    Equal(u64),
    U8(Vec<u8>),
    U16(Vec<u16>),
    U32(Vec<u32>),
    /// Also signed integers and floats, by their bits.
    U64(Vec<u64>),
}

impl Column {
    /// The number in a row. `None` beyond the last row; a column of equal numbers has no last row.
    pub(super) fn get(&self, row: usize) -> Option<u64> {
        match self {
            Self::Equal(number) => Some(*number),
            Self::U8(numbers) => numbers.get(row).map(|number| u64::from(*number)),
            Self::U16(numbers) => numbers.get(row).map(|number| u64::from(*number)),
            Self::U32(numbers) => numbers.get(row).map(|number| u64::from(*number)),
            Self::U64(numbers) => numbers.get(row).copied(),
        }
    }

    /// [`Self::get`] of a row that the leaf says is there.
    ///
    /// # Errors
    /// [`TensogramError::Metadata`] if it is not.
    pub(super) fn at(&self, row: usize) -> Result<u64> {
        self.get(row).ok_or_else(|| bad("a row of a column is missing"))
    }

    /// Reads the column that an object holds. It must have `rows` rows, or one. Its digest is checked.
    pub(super) fn read(object: &DataObject<'_>, presence: HashPresence, name: &str, rows: usize) -> Result<Stored> {
        if let Verdict::Mismatch(mismatch) = hash::check(presence, object.frame()) {
            let error = TensogramError::hash_mismatch(None, mismatch);
            return Err(bad(format!("column {name} is damaged: {error}")));
        }
        let descriptor = object.descriptor();
        let count = descriptor.element_count();
        if descriptor.shape().len() != 1 || (count != rows as u64 && count != 1) {
            return Err(bad(format!("column {name} has {count} rows instead of {rows}")));
        }
        let dtype = descriptor.dtype();
        // The count was compared with one that the limits allow.
        let limits = DecodeLimits { max_decoded_bytes: count * 8, ..DecodeLimits::default() };
        let options = DecodeOptions { native_byte_order: true, limits, ..DecodeOptions::default() };
        let bytes = read(object).options(&options).bytes()?;
        let column = match dtype {
            Dtype::Uint8 => Self::U8(bytes.to_vec()),
            Dtype::Uint16 => Self::U16(bytes.as_chunks().0.iter().map(|b| u16::from_ne_bytes(*b)).collect()),
            Dtype::Uint32 => Self::U32(bytes.as_chunks().0.iter().map(|b| u32::from_ne_bytes(*b)).collect()),
            Dtype::Uint64 | Dtype::Int64 | Dtype::Float64 => {
                Self::U64(bytes.as_chunks().0.iter().map(|b| u64::from_ne_bytes(*b)).collect())
            }
            other => return Err(bad(format!("column {name} is of {other}"))),
        };
        let column = if count == 1 { Self::Equal(column.at(0)?) } else { column };
        Ok(Stored { column, dtype })
    }
}

/// A column, and the type that it is stored as.
#[derive(Debug)]
pub(super) struct Stored {
    pub(super) column: Column,
    pub(super) dtype: Dtype,
}

/// The type of a column that is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Width {
    /// The narrowest unsigned type that has the greatest number.
    Narrowest,
    Int64,
    Float64,
}

/// The object that holds a column. Equal numbers become one element.
pub(super) fn write(name: &str, numbers: &[u64], width: Width) -> ObjectBuilder<'static> {
    let numbers = match numbers.split_first() {
        Some((first, rest)) if rest.iter().all(|number| number == first) => std::slice::from_ref(first),
        _ => numbers,
    };
    let greatest = numbers.iter().copied().max().unwrap_or(0);
    let dtype = match width {
        Width::Int64 => Dtype::Int64,
        Width::Float64 => Dtype::Float64,
        Width::Narrowest if u8::try_from(greatest).is_ok() => Dtype::Uint8,
        Width::Narrowest if u16::try_from(greatest).is_ok() => Dtype::Uint16,
        Width::Narrowest if u32::try_from(greatest).is_ok() => Dtype::Uint32,
        Width::Narrowest => Dtype::Uint64,
    };
    let size = dtype.byte_width();
    let bytes: Vec<u8> = numbers.iter().flat_map(|number| number.to_le_bytes().into_iter().take(size)).collect();
    let len = bytes.len();
    let descriptor = DataObjectDescriptor::new(dtype, ByteOrder::Little, &[numbers.len() as u64]);
    let object = ObjectBuilder::from_parts(descriptor, bytes).metadata("name", name);
    if len < WORTHWHILE {
        return object;
    }
    compressed(if size > 1 { object.shuffle() } else { object })
}

/// Compressed by the best codec that is compiled in.
fn compressed(object: ObjectBuilder<'static>) -> ObjectBuilder<'static> {
    let is_in = |compression| codec(compression, CompressionBackend::Auto).is_ok();
    if is_in(Compression::Zstd) {
        object.zstd(ZSTD_LEVEL)
    } else if is_in(Compression::Lz4) {
        object.lz4()
    } else {
        object
    }
}
