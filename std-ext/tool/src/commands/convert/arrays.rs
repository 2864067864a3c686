//! Formats that hold arrays.

use std::io::{self, Write};
use std::path::Path;

use clap::Args;
use tgm_convert::arrays::{Array, Arrays, Bools, NotKept};
use tgm_convert::csv::{self, Layout};
use tgm_convert::npy;
#[cfg(feature = "npz")]
use tgm_convert::npz::{self, Method};
use tgm_convert::raw::{self, Element, Form, order_of, shape_of};
#[cfg(feature = "safetensors")]
use tgm_convert::safetensors;
use tgm_std::TensogramError;
use tgm_std::core::descriptor::ByteOrder;

use super::effects::Effect;
use super::formats::{Format, Holds};
use super::item::{Sink, Taken};
use super::losses::Losses;
use super::source;
use crate::args::RARE;
use crate::show::output::Out;
use crate::show::progress::meter::Share;
use crate::write::destination::Failure;
use tgm_std::file::SourceName;

/// What is missing where nothing describes bare values.
pub(super) const UNDESCRIBED: &str = "bare values are described by --dtype and --shape";

/// Flags for formats that hold arrays.
#[derive(Args, Debug)]
#[allow(clippy::struct_excessive_bools, reason = "each is a flag of the command line")]
#[command(next_help_heading = "Arrays")]
pub(super) struct ArrayFlags {
    /// The element type of bare values, such as f32, uint8, bool or bitmask; asks for --from raw
    #[arg(long, value_name = "DTYPE", requires = "shape")]
    dtype: Option<Element>,
    /// The shape of bare values, such as 181x360 or scalar
    #[arg(long, value_name = "SHAPE", requires = "dtype", value_parser = shape)]
    shape: Option<Shape>,
    /// The byte order of bare values, read or written: little, big or native [default: native]
    #[arg(long, value_name = "ORDER", value_parser = order_of)]
    byte_order: Option<ByteOrder>,
    /// Store truth values as uint8 numbers: a bitmask takes no stages for numbers
    #[arg(long, help_heading = RARE)]
    no_bitmask: bool,
    /// Compress the arrays of a .npz file
    #[cfg(feature = "npz")]
    #[arg(long)]
    deflate: bool,
    /// Read a .csv file as one array of two dimensions instead of a column each
    #[arg(long, help_heading = RARE)]
    matrix: bool,
    /// Write a line for each value of a .csv file, with its indices, as `cat --csv` prints it
    #[arg(long, help_heading = RARE)]
    indices: bool,
}

/// The dimensions of bare values.
#[derive(Clone, Debug)]
struct Shape(Vec<u64>);

fn shape(text: &str) -> Result<Shape, String> {
    shape_of(text).map(Shape)
}

impl ArrayFlags {
    /// Whether the flags describe bare values.
    pub(super) const fn has_form(&self) -> bool {
        self.dtype.is_some()
    }

    /// What the flags have an effect on.
    pub(super) fn effects(&self) -> Vec<Effect> {
        let is_raw = |format| format == Format::Raw;
        vec![
            Effect { option: "--byte-order", is_given: self.byte_order.is_some(), reads: is_raw, writes: is_raw },
            Effect::of_reading("--no-bitmask", self.no_bitmask, |from| {
                matches!(from.holds(), Holds::Message | Holds::Array) && from != Format::Csv
            }),
            #[cfg(feature = "npz")]
            Effect::of_writing("--deflate", self.deflate, |to| to == Format::Npz),
            Effect::of_reading("--matrix", self.matrix, |from| from == Format::Csv),
            Effect::of_writing("--indices", self.indices, |to| to == Format::Csv),
        ]
    }

    fn order(&self) -> ByteOrder {
        self.byte_order.unwrap_or(ByteOrder::NATIVE)
    }

    fn form(&self) -> Result<Form, TensogramError> {
        let (Some(element), Some(Shape(shape))) = (self.dtype, &self.shape) else {
            return Err(TensogramError::Metadata(UNDESCRIBED.into()));
        };
        Ok(Form { element, shape: shape.clone(), order: self.order() })
    }

    const fn bools(&self) -> Bools {
        if self.no_bitmask { Bools::Uint8 } else { Bools::Bitmask }
    }

    /// The arrays of the bytes of a file.
    fn arrays<'a>(&self, from: Format, bytes: &'a [u8]) -> Result<Arrays<'a>, TensogramError> {
        let one = |array: Array<'a>| Arrays { arrays: vec![array], ..Arrays::default() };
        match from {
            Format::Npy => npy::read_all(bytes, self.bools()),
            #[cfg(feature = "npz")]
            Format::Npz => npz::read(bytes, self.bools(), &tgm_std::DecodeOptions::default()),
            #[cfg(feature = "safetensors")]
            Format::Safetensors => safetensors::read(bytes, self.bools()),
            Format::Csv => csv::read(bytes, if self.matrix { Layout::Matrix } else { Layout::Columns }),
            Format::Raw => raw::read(bytes, &self.form()?, self.bools()).map(one),
            _ => Err(TensogramError::Metadata("this format holds no arrays".into())),
        }
    }

    /// Writes a file that holds the arrays. Returns what it lacks.
    ///
    /// # Errors
    /// The errors of writing, and for arrays that the format cannot hold.
    pub(super) fn write(
        &self,
        to: Format,
        arrays: &Arrays<'_>,
        sink: &mut dyn Write,
    ) -> Result<Vec<NotKept>, TensogramError> {
        let one = || match arrays.arrays.as_slice() {
            [array] => Ok(array),
            several => {
                Err(TensogramError::Object(format!("a file holds one array, and there are {}", several.len()).into()))
            }
        };
        match to {
            Format::Npy => npy::write(one()?, sink).map(|()| arrays.metadata_not_kept(&npy::KEPT)),
            #[cfg(feature = "npz")]
            Format::Npz => npz::write(arrays, if self.deflate { Method::Deflated } else { Method::Stored }, sink),
            #[cfg(feature = "safetensors")]
            Format::Safetensors => safetensors::write(arrays, sink),
            Format::Csv => csv::write(arrays, if self.indices { Layout::Indices } else { Layout::Columns }, sink),
            Format::Raw => raw::write(one()?, self.order(), sink).map(|()| arrays.metadata_not_kept(&[])),
            _ => Err(TensogramError::Metadata("this format holds no arrays".into())),
        }
    }
}

/// Hands the arrays of a file to `sink`. A file that cannot be read is reported.
///
/// # Errors
/// The errors of `sink`.
pub(super) fn read<M>(
    from: Format,
    path: &Path,
    flags: &ArrayFlags,
    out: &mut Out,
    losses: &mut Losses,
    sink: &mut Sink<'_, '_, '_, M>,
) -> Result<(), Failure> {
    let name = SourceName::of(path).to_string();
    let bytes = match source::bytes(path, |start, len| check_len(from, start, len)) {
        Ok(bytes) => bytes,
        Err(error) => {
            out.problem(&format!("cannot read {name}\n{error}"));
            return Ok(());
        }
    };
    match flags.arrays(from, &bytes) {
        Ok(arrays) => {
            losses.list(out, &name, 0, &arrays.not_kept)?;
            Share::new(Some(0)).come_to(0, 1);
            (sink.take)(out, losses, &name, Taken::Arrays(arrays))
        }
        Err(error) => {
            out.report(&name, &error);
            Ok(())
        }
    }
}

/// Checks that a file of `len` bytes is as long as its start says, before it is read.
fn check_len(from: Format, start: &[u8], len: u64) -> io::Result<()> {
    match from {
        Format::Npy => npy::check_len(start, len).map_err(io::Error::other),
        #[cfg(feature = "safetensors")]
        Format::Safetensors => safetensors::check_len(start, len).map_err(io::Error::other),
        _ => Ok(()),
    }
}
