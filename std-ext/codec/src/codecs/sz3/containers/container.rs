//! The container: head and trailer around the compressed body.

use super::defect::Defect;
use super::reader::Reader;

/// The first four bytes, little-endian.
const MAGIC: u32 = 0xF342_F310;
/// Version 3.3.2, little-endian. SZ3 refuses data of other versions.
const VERSION: u32 = 0x0303_0200;
/// The number of the algorithm that predicts by Lorenzo's predictors.
const LORENZO: u8 = 0;
/// The number of the algorithm that interpolates.
const INTERPOLATION: u8 = 2;
/// The number of the algorithm that keeps values as they are.
const LOSSLESS: u8 = 4;
/// The number of `float64` among the types of values.
const FLOAT64: u8 = 1;
/// The number of the absolute error bound. Writers resolve all others to it.
const ABSOLUTE: u8 = 0;
/// The number of dimensions in which predictors work.
const PREDICTION_DIMENSION: u8 = 1;
/// The most bytes that one byte of a zstd frame becomes: a block holds up to 128 KiB and takes four bytes at least.
const MAX_EXPANSION: u64 = 1 << 15;
/// The most quantisation bins. SZ3's tuner may take fewer.
const MAX_BINS: u32 = 1 << 16;
/// Values in a block of data of one dimension.
const BLOCK_SIZE: u32 = 128;

/// The trailer's set of booleans, bit 7 first.
mod flag {
    pub(super) const LORENZO: u8 = 0x80;
    pub(super) const LORENZO_2: u8 = 0x40;
    pub(super) const REGRESSION: u8 = 0x20;
    pub(super) const REGRESSION_2: u8 = 0x10;
    pub(super) const OPENMP: u8 = 0x08;
    pub(super) const UNKNOWN: u8 = 0x07;
}

/// How values are coded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Algorithm {
    /// Predicted from the one or two values before. Each block chooses.
    Lorenzo,
    /// Predicted from neighbours on both sides, coarse to fine.
    Interpolation,
    /// Kept as they are.
    Lossless,
}

/// A container whose parts have been found to agree with each other and with the number of values wanted.
#[derive(Clone, Copy, Debug)]
pub(super) struct Container<'a> {
    /// The zstd frame.
    pub(super) frame: &'a [u8],
    /// Bytes to which the frame must decompress: no more than the values can take.
    pub(super) raw_len: usize,
    pub(super) algorithm: Algorithm,
    /// The number of values, at least one.
    pub(super) count: u64,
    /// The error bound. It is positive unless the algorithm is lossless, and may be infinite.
    pub(super) bound: f64,
    /// Half the number of quantisation bins, 1 to 2¹⁵.
    pub(super) radius: u32,
    /// Values in a block of Lorenzo's algorithm, at least one.
    pub(super) block_size: u32,
}

impl<'a> Container<'a> {
    /// Splits a container and checks all of it except the content of the frame. O(1).
    pub(super) fn parse(payload: &'a [u8], count: u64) -> Result<Self, Defect> {
        let mut reader = Reader::new(payload);
        let magic = reader.u32("container")?;
        if magic != MAGIC {
            return Err(Defect::Magic(magic));
        }
        let version = reader.u32("container")?;
        if version != VERSION {
            return Err(Defect::Unsupported("data version", version.into()));
        }
        let body_len = reader.u64("container")?;
        let mut body = Reader::new(reader.bytes(body_len, "body")?);
        let raw_len = body.u64("body")?;
        let container = Self { frame: body.rest(), ..Self::parse_trailer(reader.rest(), count)? };
        container.with_raw_len(raw_len)
    }

    fn with_raw_len(self, raw_len: u64) -> Result<Self, Defect> {
        let (most, expanded) = (self.max_raw_len(), (self.frame.len() as u64).saturating_mul(MAX_EXPANSION));
        let least = if self.algorithm == Algorithm::Lossless { most } else { 0 };
        let addressable = usize::try_from(raw_len).ok().filter(|_| (least..=most.min(expanded)).contains(&raw_len));
        Ok(Self { raw_len: addressable.ok_or(Defect::Field("raw length", raw_len))?, ..self })
    }

    /// Reads the trailer. Frame and raw length of the result are filled in by the caller.
    fn parse_trailer(trailer: &[u8], expected: u64) -> Result<Self, Defect> {
        const PART: &str = "trailer";
        let mut reader = Reader::new(trailer);
        let size = reader.u8(PART)?;
        if usize::from(size) != trailer.len() {
            return Err(Defect::Field("trailer size", size.into()));
        }
        let dimensions = reader.u8(PART)?;
        if dimensions != 1 {
            return Err(Defect::Unsupported("number of dimensions", dimensions.into()));
        }
        let width = reader.u8(PART)?;
        if u32::from(width) != bit_width(expected) {
            return Err(Defect::Field("bits of a dimension", width.into()));
        }
        let mut dimension = [0; 8];
        let packed = reader.bytes(width.div_ceil(8).into(), PART)?;
        dimension.iter_mut().zip(packed).for_each(|(to, from)| *to = *from);
        let dimension = u64::from_le_bytes(dimension);
        let count = reader.u64(PART)?;
        if count != expected {
            return Err(Defect::Count { claimed: count, expected });
        }
        if dimension != count {
            return Err(Defect::Field("dimension", dimension));
        }
        let algorithm = match reader.u8(PART)? {
            LORENZO => Algorithm::Lorenzo,
            INTERPOLATION => Algorithm::Interpolation,
            LOSSLESS => Algorithm::Lossless,
            other => return Err(Defect::Unsupported("algorithm", other.into())),
        };
        let mode = reader.u8(PART)?;
        if mode != ABSOLUTE {
            return Err(Defect::Unsupported("kind of error bound", mode.into()));
        }
        let bound = reader.f64(PART)?;
        // A bound relative to a range beyond the largest number is infinite. Then no value is predicted.
        if algorithm != Algorithm::Lossless && (bound.is_nan() || bound <= 0.0) {
            return Err(Defect::Number("error bound", bound));
        }
        check_flags(reader.u8(PART)?, algorithm)?;
        let dtype = reader.u8(PART)?;
        if dtype != FLOAT64 {
            return Err(Defect::Unsupported("type of values", dtype.into()));
        }
        let bins = reader.u32(PART)?;
        if bins == 0 || bins % 2 != 0 || bins > MAX_BINS {
            return Err(Defect::Field("number of bins", bins.into()));
        }
        let block_size = reader.u32(PART)?;
        if block_size == 0 || i32::try_from(block_size).is_err() {
            return Err(Defect::Field("block size", block_size.into()));
        }
        let prediction_dimension = reader.u8(PART)?;
        if prediction_dimension != PREDICTION_DIMENSION {
            return Err(Defect::Unsupported("dimension of prediction", prediction_dimension.into()));
        }
        reader.finish(PART)?;
        Ok(Self { frame: &[], raw_len: 0, algorithm, count, bound, radius: bins / 2, block_size })
    }

    /// The number of quantisation bins. Symbols are below it.
    pub(super) const fn bins(&self) -> u32 {
        self.radius * 2
    }

    /// The number of blocks of Lorenzo's algorithm.
    pub(super) fn block_count(&self) -> u64 {
        self.count.div_ceil(self.block_size.into())
    }

    /// The most bytes that the body takes.
    ///
    /// Every value has a symbol, and is stored as it was if the symbol is 0. A Huffman code has only symbols that
    /// occur, and takes no more bits than a code of fixed width.
    fn max_raw_len(&self) -> u64 {
        const QUANTIZER: u64 = 1 + 8 + 4 + 8;
        const INTERPOLATION_HEADER: u64 = 8 + 4 + 4 + 4 + 8 + 8 + 8;
        const SELECTOR_COUNT: u64 = 8;
        const SYMBOL_COUNT: u64 = 8;
        let values = self.count.saturating_mul(8);
        let symbols = SYMBOL_COUNT + max_coded_len(self.count, self.bins().into());
        let head = match self.algorithm {
            Algorithm::Lossless => return values,
            Algorithm::Interpolation => INTERPOLATION_HEADER,
            Algorithm::Lorenzo => SELECTOR_COUNT + max_coded_len(self.block_count(), 2),
        };
        values.saturating_add(symbols).saturating_add(head + QUANTIZER)
    }
}

/// The most bytes of a Huffman tree and of `count` symbols of an alphabet.
fn max_coded_len(count: u64, alphabet: u64) -> u64 {
    const TREE: u64 = 4 + 4 + 4 + 1;
    const NODE: u64 = 4 + 4 + 4 + 1;
    const LEN: u64 = 8;
    let leaves = count.min(alphabet);
    let bits = count.saturating_mul(bit_width(leaves).into());
    (TREE + LEN + bits.div_ceil(8)).saturating_add(2 * leaves * NODE)
}

/// Bits that `number` takes.
const fn bit_width(number: u64) -> u32 {
    u64::BITS - number.leading_zeros()
}

/// Checks the booleans. Lorenzo's predictors must be the two that Tensogram's writers use; other algorithms ignore
/// them.
fn check_flags(flags: u8, algorithm: Algorithm) -> Result<(), Defect> {
    if flags & flag::UNKNOWN != 0 {
        return Err(Defect::Field("set of booleans", flags.into()));
    }
    if flags & flag::OPENMP != 0 {
        return Err(Defect::Unsupported("OpenMP layout: set of booleans", flags.into()));
    }
    if algorithm != Algorithm::Lorenzo || flags == flag::LORENZO | flag::LORENZO_2 {
        Ok(())
    } else if flags & (flag::REGRESSION | flag::REGRESSION_2) != 0 {
        Err(Defect::Unsupported("prediction by regression: set of booleans", flags.into()))
    } else {
        Err(Defect::Unsupported("prediction other than by both Lorenzo predictors: set of booleans", flags.into()))
    }
}

/// The container of `count` values, at least one, which `frame` holds as they are. It records the error bound `bound`.
pub(super) fn lossless(count: u64, bound: f64, frame: &[u8]) -> Vec<u8> {
    let width = bit_width(count).to_le_bytes()[0];
    let dimension = count.to_le_bytes().into_iter().take(width.div_ceil(8).into());
    let raw_len = count.saturating_mul(8);
    let body_len = 8 + frame.len() as u64;

    let mut trailer = vec![1, width];
    trailer.extend(dimension);
    trailer.extend(count.to_le_bytes());
    trailer.extend([LOSSLESS, ABSOLUTE]);
    trailer.extend(bound.to_le_bytes());
    trailer.extend([flag::LORENZO | flag::LORENZO_2 | flag::REGRESSION, FLOAT64]);
    trailer.extend(MAX_BINS.to_le_bytes());
    trailer.extend(BLOCK_SIZE.to_le_bytes());
    trailer.push(PREDICTION_DIMENSION);
    let size = (1 + trailer.len()).to_le_bytes()[0];

    let head = [&MAGIC.to_le_bytes()[..], &VERSION.to_le_bytes(), &body_len.to_le_bytes(), &raw_len.to_le_bytes()];
    [&head.concat()[..], frame, &[size], &trailer].concat()
}
