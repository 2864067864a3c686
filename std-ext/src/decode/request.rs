//! Requests for the values of an object: which values, how they are decoded, and where they go.

use std::borrow::Cow;
use std::fmt;

use tgm_core::descriptor::{ByteOrder, Dtype};
use tgm_core::object::DataObject;
use tgm_core::tensor::Element as _;
use zerocopy::IntoBytes as _;

use super::asked::{Asked, request_methods};
use super::at_hand::AtHand;
use super::plain::Plain;
use super::scratch::Scratch;
use super::trust::Trusted;
use super::wanted::{self, Wanted, check_type};
use crate::base::error::Result;
#[cfg(doc)]
use crate::base::error::TensogramError;
use crate::base::limits::reserve;
use crate::base::options::DecodeOptions;
use crate::model::number::Number;

/// An object whose bytes are not at hand.
pub(crate) trait Elsewhere: Sync {
    /// Fetches what a request needs.
    ///
    /// # Errors
    /// The errors of the source, and of what was asked for.
    fn fetch(&self, wanted: Wanted<'_>, options: &DecodeOptions) -> Result<AtHand>;

    /// Where the wanted values lie, if they are plain, side by side, and can be read to where the caller wants them. `None`
    /// also for what is wrong: [`Self::fetch`] says what.
    ///
    /// # Errors
    /// The errors of the source.
    fn plain(&self, wanted: Wanted<'_>, options: &DecodeOptions) -> Result<Option<Plain>>;

    /// Reads plain values into all of `out`, as they are stored.
    ///
    /// # Errors
    /// The errors of the source.
    fn read_plain(&self, plain: &Plain, out: &mut [u8]) -> Result<()>;

    /// The dimensions of what is wanted.
    ///
    /// # Errors
    /// The errors of [`Wanted::shape`].
    #[cfg(feature = "ndarray")]
    fn shape_of(&self, wanted: Wanted<'_>, options: &DecodeOptions) -> Result<Vec<u64>>;
}

impl dyn Elsewhere + '_ {
    /// Reads plain values into all of `out`, in `order`. Returns whether it did: if the values are plain, of type `dtype` if one
    /// is given, and as long as `out`.
    fn read_in_place(
        &self,
        wanted: Wanted<'_>,
        options: &DecodeOptions,
        (dtype, order): (Option<Dtype>, Option<ByteOrder>),
        out: &mut [u8],
    ) -> Result<bool> {
        let Some(plain) = self.plain(wanted, options)? else { return Ok(false) };
        if plain.len != out.len() || dtype.is_some_and(|dtype| dtype != plain.dtype) {
            return Ok(false);
        }
        self.read_plain(&plain, out)?;
        plain.swap(order, options, out)?;
        Ok(true)
    }
}

/// Where an object is.
#[derive(Clone, Copy)]
enum Place<'r, 'a> {
    Memory(&'r DataObject<'a>),
    Elsewhere(&'r dyn Elsewhere),
}

/// A request for the values of an object, in memory ([`read()`]) or in an archive. Nothing is read or decoded before one of
/// the last four methods is called.
///
/// | which values | how | where they go |
/// |---|---|---|
/// | all, unless told otherwise | [`options`](Self::options): checked digests, threads, limits … | [`bytes`](Self::bytes): bytes, borrowed where they lie as they are wanted |
/// | [`ranges`](Self::ranges) of elements | [`scratch`](Self::scratch): memory that is kept between calls | [`bytes_into`](Self::bytes_into): bytes in the caller's buffer |
/// | a box of the tensor: [`select`](Self::select) | | [`values`](Self::values): a vector of a Rust type |
/// | | | [`values_into`](Self::values_into): values of a Rust type in the caller's buffer |
///
/// With feature `ndarray`, `tgm_std::ndarray` takes a request and gives an array.
///
/// # Types of values
/// | `T` of [`values`](Self::values) | an object of dtype | gives |
/// |---|---|---|
/// | `f32`, `f64` | any but `complex64` and `complex128` | floats, converted as the table below says |
/// | any other [`Number`] | the dtype of that type | the values as they are |
///
/// | values | as `f64` | as `f32` |
/// |---|---|---|
/// | `float16`, `bfloat16`, integers of 8 and 16 bits | exact | exact |
/// | `float32` | exact | exact |
/// | integers of 32 bits | exact | rounded beyond 2^24 |
/// | integers of 64 bits | rounded beyond 2^53 | rounded beyond 2^24 |
/// | `float64`, packed values included | exact | rounded; beyond the range of `f32` they are infinite |
/// | `bitmask` | 0 or 1 | 0 or 1 |
///
/// Rounding is to the nearest float, ties to even. Any other pair of types is an error, which names both.
///
/// # Cost
/// A request reads and decodes what it needs, and a little around it:
///
/// | payload | ranges and boxes read and decode |
/// |---|---|
/// | plain | the bytes of the wanted values |
/// | packed, or shuffled | the bits of the wanted values |
/// | szip, zfp of fixed rate, blosc2 | the blocks that hold wanted values, each once |
/// | zstd | all of it, or what comes before the last wanted value, if that is less than half |
/// | everything else | all of it, once |
///
/// With a [`Scratch`] that is large enough, decoding all values of an object in memory allocates nothing on the calling
/// thread. This holds for values that are stored, packed, shuffled, or compressed by szip, zstd, lz4 or blosc2. Opening a
/// payload for parts takes an allocation or two.
///
/// ```
/// use tgm_std::core::selection::Pick;
/// use tgm_std::{MessageBuilder, ObjectBuilder, read};
///
/// let bytes = MessageBuilder::new().object(ObjectBuilder::new(&[2, 3], &[1_u8, 2, 3, 4, 5, 6])?.shuffle()).encode()?;
/// let object = tgm_std::core::Message::parse(&bytes)?.object(0)?;
/// assert_eq!(read(&object).values::<f32>()?, [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
///
/// let mut columns = [0_u8; 4];
/// read(&object).select(&[Pick::All, Pick::from(1..3)]).values_into(&mut columns)?;
/// assert_eq!(columns, [2, 3, 5, 6]);
/// assert_eq!(*read(&object).ranges(&[(4, 2), (0, 1)]).bytes()?, [5, 6, 1]);
/// # Ok::<(), tgm_std::TensogramError>(())
/// ```
#[must_use = "a request reads nothing before it knows where values go"]
pub struct Read<'r, 'a> {
    place: Place<'r, 'a>,
    asked: Asked<'r>,
    scratch: Option<&'r mut Scratch>,
}

impl fmt::Debug for Read<'_, '_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Read").field("asked", &self.asked).finish_non_exhaustive()
    }
}

/// A request for the values of an object in memory.
///
/// The object knows from its message whether it has a digest
/// ([`Frame::hash_presence`](tgm_core::frame::Frame::hash_presence)). It does not know its number: with `verify_hash`, a
/// mismatch names none, and a missing digest is reported with number 0.
///
/// ```
/// # let bytes = std::fs::read("../tests/data/dtypes/float32-little.tgm").unwrap();
/// let message = tgm_std::core::Message::parse(&bytes)?;
/// let values: Vec<f32> = tgm_std::read(&message.object(0)?).values()?;
/// # Ok::<(), tgm_std::TensogramError>(())
/// ```
pub const fn read<'r, 'a>(object: &'r DataObject<'a>) -> Read<'r, 'a> {
    Read { place: Place::Memory(object), asked: Asked::ALL, scratch: None }
}

impl<'r, 'a> Read<'r, 'a> {
    /// A request for the values of an object whose bytes are not at hand.
    pub(crate) fn elsewhere(object: &'r dyn Elsewhere) -> Self {
        Self { place: Place::Elsewhere(object), asked: Asked::ALL, scratch: None }
    }

    request_methods!();

    /// Lends memory to work in, which the next request can use again.
    pub const fn scratch(mut self, scratch: &'r mut Scratch) -> Self {
        self.scratch = Some(scratch);
        self
    }

    /// The values as bytes: row-major, in the byte order that the options say, masked ones restored if the options say so.
    /// A bitmask's values are packed bits, the first one the highest.
    ///
    /// They are borrowed if they lie in memory as they are wanted. Otherwise they take one allocation.
    ///
    /// # Errors
    /// [`TensogramError::Encoding`] and [`TensogramError::Metadata`] for a pipeline that cannot be undone, or would exceed
    /// the limits, and for ranges and picks that the object does not have; [`TensogramError::Framing`] for masks of a
    /// bitmask; with `verify_hash`, [`TensogramError::HashMismatch`] and [`TensogramError::MissingHash`]. The errors of an
    /// archive's source.
    ///
    /// Format: FORMAT §5.3, §5.5.
    pub fn bytes(self) -> Result<Cow<'a, [u8]>> {
        let (options, wanted) = (&*self.asked.options(), self.asked.wanted);
        match self.place {
            Place::Memory(object) => wanted::bytes(Trusted::new(object, options)?, wanted, options),
            Place::Elsewhere(object) => match object.plain(wanted, options)? {
                Some(plain) => {
                    let mut out = reserve(plain.len)?;
                    object.read_plain(&plain, &mut out)?;
                    plain.swap(None, options, &mut out)?;
                    Ok(Cow::Owned(out))
                }
                None => Ok(Cow::Owned(object.fetch(wanted, options)?.bytes(wanted, options)?)),
            },
        }
    }

    /// [`Self::bytes`] into all of `out`.
    ///
    /// # Errors
    /// [`TensogramError::Encoding`] if `out` is shorter or longer than the values; the errors of [`Self::bytes`]. An error
    /// about the length leaves `out` as it was. After any other error it may hold anything.
    pub fn bytes_into(self, out: &mut [u8]) -> Result<()> {
        let (asked, mut none) = (self.asked, None);
        let (options, wanted) = (&*asked.options(), asked.wanted);
        let scratch = self.scratch.unwrap_or_else(|| none.insert(Scratch::default()));
        match self.place {
            Place::Memory(object) => {
                wanted::bytes_into(Trusted::new(object, options)?, wanted, None, options, scratch, out)
            }
            Place::Elsewhere(object) => {
                if object.read_in_place(wanted, options, (None, None), out)? {
                    return Ok(());
                }
                object.fetch(wanted, options)?.bytes_into(wanted, options, scratch, out)
            }
        }
    }

    /// The values as a vector of type `T`: see [*Types of values*](Self#types-of-values). One allocation for the values,
    /// within the limits of the options. `native_byte_order` of the options has no effect.
    ///
    /// # Errors
    /// [`TensogramError::Encoding`] for values that are not of type `T` and cannot become it: the error names both. The
    /// errors of [`Self::bytes`].
    pub fn values<T: Number>(self) -> Result<Vec<T>> {
        let (asked, mut none) = (self.asked, None);
        let (options, wanted) = (&*asked.options(), asked.wanted);
        let scratch = self.scratch.unwrap_or_else(|| none.insert(Scratch::default()));
        match self.place {
            Place::Memory(object) => {
                check_type::<T>(object.descriptor())?;
                wanted::values(Trusted::new(object, options)?, wanted, options, scratch)
            }
            Place::Elsewhere(object) => {
                let options = &*asked.native_options();
                if let Some(plain) = object.plain(wanted, options)?.filter(|plain| plain.dtype == T::Element::DTYPE) {
                    let mut values = T::zeros(plain.len / size_of::<T>())?;
                    let out = T::as_elements_mut(&mut values).as_mut_bytes();
                    object.read_plain(&plain, out)?;
                    plain.swap(None, options, out)?;
                    return Ok(values);
                }
                object.fetch(wanted, options)?.values(wanted, options, scratch)
            }
        }
    }

    /// [`Self::values`] into all of `out`.
    ///
    /// # Errors
    /// [`TensogramError::Encoding`] if `out` is shorter or longer than the values; the errors of [`Self::values`]. An error
    /// about type or length leaves `out` as it was. After any other error it may hold anything.
    pub fn values_into<T: Number>(self, out: &mut [T]) -> Result<()> {
        let (asked, mut none) = (self.asked, None);
        let (options, wanted) = (&*asked.options(), asked.wanted);
        let scratch = self.scratch.unwrap_or_else(|| none.insert(Scratch::default()));
        match self.place {
            Place::Memory(object) => {
                check_type::<T>(object.descriptor())?;
                wanted::values_into(Trusted::new(object, options)?, wanted, options, scratch, out)
            }
            Place::Elsewhere(object) => {
                let options = &*asked.native_options();
                let as_they_are = (Some(T::Element::DTYPE), Some(ByteOrder::NATIVE));
                let bytes = T::as_elements_mut(out).as_mut_bytes();
                if object.read_in_place(wanted, options, as_they_are, bytes)? {
                    return Ok(());
                }
                object.fetch(wanted, options)?.values_into(wanted, options, scratch, out)
            }
        }
    }
}

#[cfg(feature = "ndarray")]
impl<'a> Read<'_, 'a> {
    /// The dimensions of the values: of a list of ranges, their number.
    ///
    /// # Errors
    /// [`TensogramError::Encoding`] for ranges and picks that the object does not have.
    pub(crate) fn shape(&self) -> Result<Vec<u64>> {
        let (options, wanted) = (&*self.asked.options(), self.asked.wanted);
        match self.place {
            Place::Memory(object) => wanted.shape(object.descriptor(), options),
            Place::Elsewhere(object) => object.shape_of(wanted, options),
        }
    }

    /// The values where they lie in memory, if they are of this dtype and lie there as this machine has them.
    ///
    /// # Errors
    /// The errors of [`Self::bytes`], the stages and masks excepted.
    pub(crate) fn in_place(self, dtype: Dtype) -> Result<Option<&'a [u8]>> {
        let (options, wanted) = (&*self.asked.options(), self.asked.wanted);
        let Place::Memory(object) = self.place else { return Ok(None) };
        let trusted = Trusted::new(object, options)?;
        if object.descriptor().dtype() == dtype { wanted::in_place(trusted, wanted, options) } else { Ok(None) }
    }
}
