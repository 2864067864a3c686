//! Messages as a tree of arrays, for formats that hold one: the walk over messages, and names, dimensions, records and texts.
//!
//! ```text
//! messages ─► Writer: what becomes an array, its name, its dimensions, its records ─┐
//! datasets ─► Plan of their fields ─────────────────────────────────────────────────┴─► Target: defines arrays, and takes boxes
//! ```

mod fields;
mod place;
mod records;

use std::collections::BTreeMap;
use std::fmt::Debug;

use ciborium::Value;
use tgm_core::descriptor::Dtype;
use tgm_dataset::Dataset;
use tgm_std::codec::threads::Threads;
use tgm_std::{DecodeOptions, Result, TensogramError};

pub(crate) use self::place::{Axis, OwnDimensions};
#[cfg(feature = "zarr")]
pub(crate) use self::records::Recorded;
pub(crate) use self::records::Records;
use crate::axes::Axes;
use crate::cubes::Boxed;
use crate::dimensions::{Dimension, Dimensions};
use crate::error::encoding;
use crate::given::Given;
use crate::names::Names;
use crate::note::{Note, Notes};
use crate::texts::{Texts, Written};

/// Options of the conversions to NetCDF and Zarr.
#[derive(Clone, Debug)]
pub struct WriteOptions {
    /// The level of DEFLATE, from 1 to 9, for the values of each variable of NetCDF, whose bytes are shuffled before. `None` stores
    /// values as they are.
    pub deflate_level: Option<u8>,
    /// The level of zstd for arrays of Zarr without codecs of their own. `None` stores elements as they are.
    pub zstd_level: Option<i32>,
    /// The shape of chunks of Zarr. `None` keeps the chunks that an array had, and makes one of any other object. Its last
    /// dimensions are taken where arrays have fewer; they have whole dimensions before it where they have more.
    pub chunks: Option<Vec<u64>>,
    /// The key of an object that names its array. `None` takes the first that it has of name, mars.param,
    /// mars.shortName, shortName, param and variable.
    pub name_key: Option<String>,
    /// Whether `write_datasets` writes packed values as `float64`. Otherwise they are rounded to `float32` where that tells all
    /// packed numbers apart.
    pub float64: bool,
    /// Options for decoding.
    pub decode: DecodeOptions,
}

impl Default for WriteOptions {
    fn default() -> Self {
        let (deflate_level, zstd_level, decode) = (Some(4), Some(3), DecodeOptions::default());
        Self { deflate_level, zstd_level, chunks: None, name_key: None, float64: false, decode }
    }
}

/// Writes messages and datasets to a file or a store of arrays with names. What cannot be written is left out and given to `report`.
pub trait ArrayWriter {
    /// Writes the objects of a message.
    ///
    /// # Errors
    /// [`TensogramError::Framing`] and [`TensogramError::Metadata`] for bytes that are not a message; the errors of
    /// [`check_message`](tgm_std::check_message) with `verify_hash`; [`TensogramError::Io`] of a directory;
    /// [`TensogramError::Encoding`] of the libraries behind NetCDF, such as a full disk.
    fn write(&mut self, message: &[u8], report: &mut dyn FnMut(Note)) -> Result<()>;

    /// Writes each variable of these datasets as one array, with its coordinates.
    ///
    /// Values are read and written box by box, as many bytes at a time as `decode` of the options and their threads need, and
    /// some 100 MiB. Fields that are missing are NaN.
    ///
    /// # Errors
    /// [`TensogramError::Io`] of a directory; [`TensogramError::Encoding`] of the libraries behind NetCDF.
    fn write_datasets(&mut self, datasets: &[Dataset], report: &mut dyn FnMut(Note)) -> Result<()>;

    /// Completes the file, or the store: writes the descriptions of all groups of Zarr. The root repeats the descriptions of all
    /// nodes.
    ///
    /// # Errors
    /// As [`Self::write`].
    fn finish(self) -> Result<()>;
}

/// A format that holds a tree of arrays.
pub(crate) trait Target: Sized {
    /// An array that is defined.
    type Handle: Debug;
    /// Values of an object as the format has them.
    type Values<'m>;
    /// Whether each group has dimensions of its own. Otherwise arrays see the dimensions of groups above.
    const OWN_GROUPS: bool;
    /// Why links are not kept.
    const NO_LINKS: &'static str;

    fn options(&self) -> &WriteOptions;

    /// The name of a dimension that is called so.
    fn dimension_name(wanted: &str) -> String {
        wanted.to_string()
    }

    /// Whether it is reported that an array got another name.
    fn is_renamed(wanted: &str, path: &str) -> bool;

    /// The type that stands for one of elements. `None` for elements that cannot be written.
    fn dtype(dtype: Dtype) -> Option<Dtype>;

    /// Whether an error ends all arrays, and not one of them. `is_defined` says whether the array is there.
    fn is_end(error: &TensogramError, is_defined: bool) -> bool;

    /// Writes what a message says of groups and the like. Returns whether the message has nothing else.
    fn begin(&mut self, tree: &mut Tree<Self>, given: &Given<'_>, notes: &mut Notes<'_>) -> Result<bool>;

    /// Makes a group, and those above it, if they are not there.
    fn add_group(&mut self, _path: &str) -> Result<()> {
        Ok(())
    }

    /// Makes a dimension.
    fn add_dimension(&mut self, _path: &str, _dimension: Dimension) -> Result<()> {
        Ok(())
    }

    /// Makes a dimension of records. `known` is the length so far, if it is there.
    fn add_records(&mut self, name: &str, known: Option<u64>) -> Result<()>;

    /// The dimensions of an object that come from elsewhere than its list of names.
    fn own_dimensions(
        &mut self,
        _: &mut Tree<Self>,
        _: &Given<'_>,
        _: usize,
        _: &mut Notes<'_>,
    ) -> Result<OwnDimensions> {
        Ok(OwnDimensions::default())
    }

    /// The values of an object of an array.
    fn values<'m>(
        &self,
        given: &Given<'m>,
        of: (&mut Array<Self>, usize),
        notes: &mut Notes<'_>,
    ) -> Result<Self::Values<'m>>;

    /// The type and the shape of values.
    fn form<'v>(values: &'v Self::Values<'_>) -> (Dtype, &'v [u64]);

    /// Makes an array of an object, without values.
    fn define(&mut self, made: &Made<'_>, of: OfObject<'_, '_, Self>, notes: &mut Notes<'_>) -> Result<Self::Handle>;

    /// Takes the values of a box of an array.
    fn put(&mut self, handle: &mut Self::Handle, place: BoxOf<'_>, values: Self::Values<'_>) -> Result<()>;

    /// Makes an array of texts, without values.
    fn define_texts(
        &mut self,
        tree: &mut Tree<Self>,
        made: &Made<'_>,
        texts: &Texts<'_>,
        notes: &mut Notes<'_>,
    ) -> Result<Self::Handle>;

    /// Writes all values of an array of texts.
    fn put_texts(&mut self, handle: &Self::Handle, texts: &Texts<'_>, notes: &mut Notes<'_>) -> Result<()>;

    /// Makes an array of a dataset, without values. `is_bool` says whether they are truth values, `has_nan` whether NaN stands for
    /// missing ones.
    fn define_field(&mut self, made: &Made<'_>, of: OfField<'_>, notes: &mut Notes<'_>) -> Result<Self::Handle>;

    /// The chunks of an array of a dataset, which are the `usual` ones if nothing else is asked for.
    fn chunk_of_field(&self, _shape: &[u64], usual: &[u64]) -> Vec<u64> {
        usual.to_vec()
    }

    /// Writes boxes of an array of a dataset, by several threads if the format can.
    fn put_boxes(&mut self, handle: &Self::Handle, dtype: Dtype, boxes: &[Boxed], threads: Threads) -> Result<()>;
}

/// An array that is about to be defined.
pub(crate) struct Made<'m> {
    pub(crate) path: &'m str,
    pub(crate) dims: &'m [String],
    /// The shape of the whole array, or of one record.
    pub(crate) shape: &'m [u64],
    /// The shape of its pieces.
    pub(crate) chunk: Option<&'m [u64]>,
}

/// What an array is made of, if that is an object.
pub(crate) struct OfObject<'a, 'm, T: Target> {
    pub(crate) given: &'a Given<'m>,
    /// The number of the first object.
    pub(crate) first: usize,
    pub(crate) values: &'a T::Values<'m>,
    /// The number of its record, if it is one.
    pub(crate) record: Option<u64>,
    /// The names of the variables that say where its points are.
    pub(crate) coordinates: Option<String>,
}

/// What an array is made of, if that is a dataset.
pub(crate) struct OfField<'f> {
    pub(crate) dtype: Dtype,
    pub(crate) attributes: &'f [(Value, Value)],
    pub(crate) is_bool: bool,
    pub(crate) has_nan: bool,
}

/// A box: its first index, and its shape.
#[derive(Clone, Copy)]
pub(crate) struct BoxOf<'b> {
    pub(crate) origin: &'b [u64],
    pub(crate) shape: &'b [u64],
}

/// What becomes an array: an object, or several.
pub(crate) struct Array<T: Target> {
    /// The number of the first object.
    pub(crate) first: usize,
    /// Whether the values of all objects can be packed as they were. `None` if that is not known yet.
    pub(crate) packs: Option<bool>,
    /// Whether the array cannot be made, which was reported.
    is_refused: bool,
    /// The array, when an object has made it.
    pub(crate) made: Option<T::Handle>,
}

/// What is written so far.
#[derive(Debug)]
pub(crate) struct Tree<T: Target> {
    pub(crate) names: Names,
    pub(crate) dimensions: Dimensions,
    /// The labels of the message that is written.
    pub(crate) axes: Axes,
    pub(crate) records: Records<T::Handle>,
    texts: Written,
    messages: usize,
}

/// Writes messages and datasets to a format.
#[derive(Debug)]
pub(crate) struct Writer<T: Target> {
    pub(crate) target: T,
    pub(crate) tree: Tree<T>,
}

impl<T: Target> Writer<T> {
    /// Nothing is written yet. `safe` makes a part of a path a name that the format has.
    pub(crate) fn new(target: T, safe: fn(&str) -> String) -> Self {
        let (names, dimensions, axes) = (Names::new(safe), Dimensions::default(), Axes::default());
        let (records, texts) = (Records::default(), Written::default());
        Self { target, tree: Tree { names, dimensions, axes, records, texts, messages: 0 } }
    }

    /// Writes the objects of a message. What cannot be written is left out and given to `report`.
    ///
    /// # Errors
    /// Bytes that are not a message; digests that do not fit, if they are checked; errors that end all arrays.
    pub(crate) fn write(&mut self, message: &[u8], report: &mut dyn FnMut(Note)) -> Result<()> {
        let WriteOptions { name_key, decode, .. } = self.target.options().clone();
        let notes = &mut Notes { place: format!("message {}", self.tree.messages), report };
        Given::with(message, (self.tree.messages, name_key.as_deref(), &decode), |given| {
            self.tree.come_to(given, notes);
            if self.target.begin(&mut self.tree, given, notes)? {
                return Ok(());
            }
            for what in given.incomplete {
                notes.failed(encoding(what.as_str()));
            }
            self.write_texts(given, notes)?;
            let mut arrays = BTreeMap::new();
            for index in 0..given.objects.len() {
                let first = given.first(index);
                let new = || Array { first, packs: None, is_refused: false, made: None };
                self.write_object(
                    given,
                    arrays.entry(first).or_insert_with(new),
                    index,
                    &mut notes.at(given.place(index)),
                )?;
            }
            self.tree.leave(given);
            Ok(())
        })
    }

    fn write_texts(&mut self, given: &Given<'_>, notes: &mut Notes<'_>) -> Result<()> {
        if given.global.extra.contains_key("links") && given.number == 0 {
            notes.not_kept(T::NO_LINKS);
        }
        for found in Texts::of_message(given.global) {
            match found {
                (Some(name), Some(texts)) => self.write_text(given, (name, None), &texts, notes)?,
                (None, _) => notes.failed(encoding("texts have no name")),
                (Some(name), None) => {
                    notes.failed(encoding(format!("texts {name}: their number is not that of their shape")));
                }
            }
        }
        Ok(())
    }

    /// Writes an array of texts, unless a message before had the same.
    fn write_text(
        &mut self,
        given: &Given<'_>,
        (name, object): (&str, Option<usize>),
        texts: &Texts<'_>,
        notes: &mut Notes<'_>,
    ) -> Result<()> {
        if !self.tree.texts.is_new(name, texts, &self.tree.axes.of_texts(object, texts)) {
            return Ok(());
        }
        let placed = self.place((name, object), place::axes_of_texts(given, texts), notes);
        let written = placed.and_then(|(path, dims)| {
            let made = Made { path: &path, dims: &dims, shape: &texts.shape, chunk: None };
            let handle = self.target.define_texts(&mut self.tree, &made, texts, notes)?;
            self.target.put_texts(&handle, texts, notes)
        });
        settle::<T>(written, true, notes)
    }

    /// Writes an object as an array of its own, or to the array that it is a piece of.
    fn write_object(
        &mut self,
        given: &Given<'_>,
        array: &mut Array<T>,
        index: usize,
        notes: &mut Notes<'_>,
    ) -> Result<()> {
        let (name, first) = (given.name(array.first), array.first);
        if let Some(texts) = given.texts(index) {
            return self.write_text(given, (&name, Some(index)), &texts, notes);
        }
        let values = match self.target.values(given, (array, index), notes) {
            Ok(values) => values,
            Err(error) => {
                notes.failed(error);
                return Ok(());
            }
        };
        let mut of = OfObject { given, first, values: &values, record: None, coordinates: None };
        if let (Some((record, dimension)), None) = (given.record_of(first), &array.made) {
            of.record = Some(record);
            let added = self.record((&name, dimension), of, notes);
            return self.put_record(added, (&name, record), values, notes);
        }
        let own = T::form(&values).1.to_vec();
        let (shape, origin, chunk) = match given.piece(index) {
            Some(piece) => (&piece.whole, piece.origin.clone(), Some(&piece.chunk[..])),
            None => (&own, vec![0; own.len()], None),
        };
        if array.made.is_none() && !array.is_refused {
            let made = self.define_object(&name, (shape, chunk), of, notes);
            // What ends here is reported once, and not of each piece.
            array.is_refused = made.is_err();
            settle::<T>(made.map(|made| array.made = Some(made)), false, notes)?;
        }
        let Some(handle) = &mut array.made else { return Ok(()) };
        settle::<T>(self.target.put(handle, BoxOf { origin: &origin, shape: &own }, values), true, notes)
    }

    /// Makes the array of an object.
    fn define_object(
        &mut self,
        name: &str,
        (shape, chunk): (&[u64], Option<&[u64]>),
        mut of: OfObject<'_, '_, T>,
        notes: &mut Notes<'_>,
    ) -> Result<T::Handle> {
        let OwnDimensions { names, variables } = match chunk {
            Some(_) => OwnDimensions::default(),
            None => self.target.own_dimensions(&mut self.tree, of.given, of.first, notes)?,
        };
        let axes = names.map_or_else(
            || place::axes(of.given, of.first, name, shape),
            |names| names.into_iter().map(|name| Axis::made(name.clone(), name)).collect(),
        );
        of.coordinates = variables;
        let (path, dims) = self.place((name, Some(of.first)), axes, notes)?;
        self.target.define(&Made { path: &path, dims: &dims, shape, chunk }, of, notes)
    }
}

/// Reports what ended one array. What ends the others too stays an error.
pub(crate) fn settle<T: Target>(written: Result<()>, is_defined: bool, notes: &mut Notes<'_>) -> Result<()> {
    match written {
        Err(error) if !T::is_end(&error, is_defined) => {
            notes.failed(error);
            Ok(())
        }
        written => written,
    }
}
