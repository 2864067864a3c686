//! Formats that hold arrays.

use std::io;
use std::path::Path;

use clap::Args;
use tgm_convert::arrays::{Array, Arrays, Bools};
use tgm_convert::csv::{self, Layout};
use tgm_convert::npy;
#[cfg(feature = "npz")]
use tgm_convert::npz::{self, Method};
use tgm_convert::raw::{self, Element, Form, order_of, shape_of};
#[cfg(feature = "safetensors")]
use tgm_convert::safetensors;
use tgm_std::TensogramError;
use tgm_std::core::descriptor::ByteOrder;

use super::Convert;
use super::effects::Effect;
use super::format::{Format, Holds, ReadArrays, Reads, Row, Writes, at_start};
use super::item::{Sink, Taken};
use super::losses::Losses;
use super::source;
use crate::args::RARE;
use crate::show::output::Out;
use crate::show::progress::meter::Share;
use crate::write::destination::Failure;
#[cfg(any(feature = "npz", feature = "safetensors"))]
use crate::write::endings;
use tgm_std::file::SourceName;

/// One array of numpy.
pub(super) const NPY: Format = Format(&Row {
    suffixes: &["npy"],
    find: |start| at_start(start, npy::MAGIC),
    holds: Holds::Array,
    check_len: npy::check_len,
    reads: Reads::Arrays(|convert, bytes| npy::read_all(bytes, convert.arrays.bools())),
    writes: Writes::Arrays(|_, arrays, sink| {
        npy::write(one(arrays)?, sink).map(|()| arrays.metadata_not_kept(&npy::KEPT))
    }),
    ..Row::new("npy", "numpy: one array")
});

/// An archive of numpy.
#[cfg(feature = "npz")]
pub(super) const NPZ: Format = Format(&Row {
    suffixes: endings::NPZ,
    find: |start| npz::MAGICS.iter().find_map(|magic| at_start(start, magic)),
    holds: Holds::Message,
    reads: Reads::Arrays(|convert, bytes| npz::read(bytes, convert.arrays.bools(), &tgm_std::DecodeOptions::default())),
    writes: Writes::Arrays(|convert, arrays, sink| {
        npz::write(arrays, if convert.arrays.deflate { Method::Deflated } else { Method::Stored }, sink)
    }),
    ..Row::new("npz", "numpy: an archive of arrays")
});

/// Tensors with names.
#[cfg(feature = "safetensors")]
pub(super) const SAFETENSORS: Format = Format(&Row {
    suffixes: endings::SAFETENSORS,
    find: |start| safetensors::is_start(start).then_some(0),
    holds: Holds::Message,
    check_len: safetensors::check_len,
    reads: Reads::Arrays(|convert, bytes| safetensors::read(bytes, convert.arrays.bools())),
    writes: Writes::Arrays(|_, arrays, sink| safetensors::write(arrays, sink)),
    ..Row::new("safetensors", "Tensors with names")
});

/// Numbers as text.
pub(super) const CSV: Format = Format(&Row {
    suffixes: &["csv", TABS],
    holds: Holds::Message,
    reads: Reads::Arrays(|convert, bytes| {
        csv::read(bytes, if convert.arrays.matrix { Layout::Matrix } else { Layout::Columns })
    }),
    writes: Writes::Arrays(|convert, arrays, sink| {
        csv::write(arrays, if convert.arrays.indices { Layout::Indices } else { Layout::Columns }, sink)
    }),
    ..Row::new("csv", "Numbers as text: columns, or a matrix")
});

/// Bare values.
pub(super) const RAW: Format = Format(&Row {
    suffixes: &["raw"],
    holds: Holds::Array,
    reads: Reads::Arrays(|Convert { arrays: flags, .. }, bytes| {
        let array = raw::read(bytes, &flags.form()?, flags.bools())?;
        Ok(Arrays { arrays: vec![array], ..Arrays::default() })
    }),
    writes: Writes::Arrays(|convert, arrays, sink| {
        raw::write(one(arrays)?, convert.arrays.order(), sink).map(|()| arrays.metadata_not_kept(&[]))
    }),
    ..Row::new("raw", "Bare values, described by --dtype, --shape and --byte-order")
});

/// The end of the names of tables with tabs, which are read as CSV.
pub(super) const TABS: &str = "tsv";

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
        let is_raw = |format| format == RAW;
        vec![
            Effect { option: "--byte-order", is_given: self.byte_order.is_some(), reads: is_raw, writes: is_raw },
            Effect::of_reading("--no-bitmask", self.no_bitmask, |from| {
                matches!(from.holds(), Holds::Message | Holds::Array) && from != CSV
            }),
            #[cfg(feature = "npz")]
            Effect::of_writing("--deflate", self.deflate, |to| to == NPZ),
            Effect::of_reading("--matrix", self.matrix, |from| from == CSV),
            Effect::of_writing("--indices", self.indices, |to| to == CSV),
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
}

/// The only one of these arrays.
fn one<'r, 'a>(arrays: &'r Arrays<'a>) -> Result<&'r Array<'a>, TensogramError> {
    match arrays.arrays.as_slice() {
        [array] => Ok(array),
        several => {
            Err(TensogramError::Object(format!("a file holds one array, and there are {}", several.len()).into()))
        }
    }
}

/// Hands the arrays of a file to `sink`. A file that cannot be read is reported.
///
/// # Errors
/// The errors of `sink`.
pub(super) fn read<M>(
    (from, read): (Format, ReadArrays),
    path: &Path,
    convert: &Convert,
    out: &mut Out,
    losses: &mut Losses,
    sink: &mut Sink<'_, '_, '_, M>,
) -> Result<(), Failure> {
    let name = SourceName::of(path).to_string();
    let bytes = match source::bytes(path, |start, len| (from.0.check_len)(start, len).map_err(io::Error::other)) {
        Ok(bytes) => bytes,
        Err(error) => {
            out.problem(&format!("cannot read {name}\n{error}"));
            return Ok(());
        }
    };
    match read(convert, &bytes) {
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
