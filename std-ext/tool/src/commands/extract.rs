//! `tgm extract`: the values of one object, as bytes or as a `.npy` file.

pub(crate) mod boxes;

use std::borrow::Cow;
use std::io::{self, Write};
use std::path::PathBuf;
use std::slice;
use std::str::FromStr;

use clap::{Args, ValueEnum};
use tgm_convert::arrays::unpack_bools;
use tgm_convert::npy;
use tgm_core::Message;
use tgm_core::descriptor::{ByteOrder, Dtype};
use tgm_std::decode::{Picks, selection};
use tgm_std::{DecodeOptions, TensogramError};

use crate::args::cube::CubeFlags;
use crate::args::files::usage;
use crate::args::listing::ending;
use crate::args::threads::Threads;
use crate::commands::convert::other_format;
use crate::commands::{Run, examples};
use crate::read::chosen::Chosen;
use crate::read::entry::Entry;
use crate::read::messages::for_one_object;
use crate::read::objects::{find, no_object};
use crate::read::unpacked::Unpacked;
use crate::read::values::{as_stored, in_order};
use crate::show::output::Out;
use crate::write::destination::{Destination, OutputKind, Reads};

/// Write the values of one object, or of a box over many messages, to a file
///
/// Values are written in C order with NaN and infinities restored. Raw bitmasks stay packed: eight elements a byte,
/// first element in the highest bit; each range begins with a new byte. The object's digest is checked first, if it has
/// one. This reads the whole payload, even for a range. Without -m, --at and -w,
/// the object is one of message 0; with -w, the first that is selected in any message.
///
/// With --cube, all files together are a dataset, and what --sel picks of a variable is written: bare values or .npy, or with
/// coordinates and attributes a file whose name ends with .tgm, .nc or .zarr. Only what is picked is read, so digests are not
/// checked.
#[derive(Args, Debug)]
#[command(after_help = examples(&[
    ("tgm extract field.tgm -m 0 -o 1 --format npy -O out.npy", "the values of an object, for numpy"),
    ("tgm extract field.tgm --slice '10:20, ::4' -O out.raw", "a part of them"),
    ("tgm extract --cube t2m --sel step=6..12,latitude=40:60 -O box.tgm steps.tgm", "a box over many messages"),
]))]
pub(crate) struct Extract {
    /// File to read; "-" is standard input
    #[arg(value_name = "FILE")]
    path: PathBuf,
    #[command(flatten)]
    chosen: Chosen,
    /// Number of the object in the message, from 0 [default: the first that -w selects, or 0]
    #[arg(short, long, value_name = "N")]
    object: Option<usize>,
    /// Only COUNT elements from element START of the flattened tensor; ranges are written one after the other
    #[arg(long = "range", value_name = "START:COUNT")]
    ranges: Vec<ElementRange>,
    #[command(flatten)]
    cube: CubeFlags,
    /// Only these indices of each dimension, as in Python: "0, 10:20, 1:9:4, -1, .."; the output has their shape
    ///
    /// A number picks one index and drops the dimension; START:END:STEP picks several, each part of it optional.
    /// Negative numbers count from the end; a step is 1 or more. ".." stands for all of the dimensions that are left.
    /// Only the blocks of the payload that hold selected values are decoded, where its compression allows it.
    #[arg(long, value_name = "PICKS", allow_hyphen_values = true, conflicts_with_all = ["ranges", "more"])]
    slice: Option<Picks>,
    /// More ranges, or more files of a dataset
    #[arg(hide = true, value_name = "FILE")]
    more: Vec<PathBuf>,
    #[command(flatten)]
    threads: Threads,
    /// Byte order of the output
    #[arg(long, value_enum, default_value_t = Order::Native)]
    byte_order: Order,
    /// Bare element bytes, or a numpy file (format 1.0; bfloat16 as V2, bitmasks as bool, a byte each) [default: npy if the
    /// name of OUT ends with that, else raw]
    #[arg(long, value_enum)]
    format: Option<Format>,
    /// Where to write; appears when it is complete, and must not be FILE; "-" is standard output
    #[arg(short = 'O', long, value_name = "OUT", default_value = "-", hide_default_value = true)]
    output: Destination,
}

/// First element and count.
#[derive(Clone, Copy, Debug)]
struct ElementRange(u64, u64);

impl FromStr for ElementRange {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let numbers = text.split_once(':').and_then(|(start, count)| Some((start.parse().ok()?, count.parse().ok()?)));
        numbers.map(|(start, count)| Self(start, count)).ok_or("expected START:COUNT, two numbers")
    }
}

/// The choices of byte order.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum Order {
    Little,
    Big,
    Native,
}

impl From<Order> for ByteOrder {
    fn from(order: Order) -> Self {
        match order {
            Order::Little => Self::Little,
            Order::Big => Self::Big,
            Order::Native => Self::NATIVE,
        }
    }
}

/// The choices of output format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    Raw,
    Npy,
}

/// Bytes of values, and how many values they are.
type Piece<'v> = (Cow<'v, [u8]>, u64);

/// Decoded values in stored byte order.
struct Values<'f> {
    dtype: Dtype,
    order: ByteOrder,
    /// One piece for each range, with its number of elements; else one of all that was asked for.
    pieces: Vec<Piece<'f>>,
    /// The dimensions of all pieces together.
    shape: Vec<u64>,
}

impl Run for Extract {
    fn run(&self, out: &mut Out) -> io::Result<()> {
        if let Some(name) = &self.cube.cube {
            let is_of_object =
                self.chosen.choice.is_one() || !self.chosen.selection.is_empty() || self.object.is_some();
            if is_of_object || !self.ranges.is_empty() || self.slice.is_some() {
                usage("--cube is of all messages: -m, --at, -w, --object, --range and --slice do not go with it");
            }
            let paths: Vec<PathBuf> = [&self.path].into_iter().chain(&self.more).cloned().collect();
            self.write_box(&self.cube, name, &paths, out);
            return Ok(());
        }
        if !self.cube.selectors.is_empty() {
            usage("--sel picks of a dataset: --cube NAME says of which variable");
        }
        if self.ranges.is_empty() && !self.more.is_empty() {
            usage("one file is read, unless --cube NAME makes a dataset of several");
        }
        let named = self.output.path().filter(|_| self.format.is_none()).and_then(other_format);
        if let Some(ending) = named {
            usage(&format!(
                "extract writes bare values and .npy: `tgm convert` writes .{ending}, and --format says what is meant"
            ));
        }
        let reads = Reads::Only(slice::from_ref(&self.path));
        if !self.output.prepare(out, OutputKind::Values, reads) {
            return Ok(());
        }
        let one = (&self.chosen, self.cube.open.catalog());
        for_one_object(&self.path, one, self.object, out, |out, entry, object| {
            let Some(values) = self.read(entry, object, out) else { return Ok(()) };
            self.output.write(out, OutputKind::Values, reads, |_, sink| Ok(self.write(&values, sink)?));
            Ok(())
        })
    }
}

impl Extract {
    /// The form of the output: that which was asked for, or that of its name.
    fn format(&self) -> Format {
        let is_npy = || ending(&self.output).is_some_and(|ending| ending == "npy");
        self.format.unwrap_or_else(|| if is_npy() { Format::Npy } else { Format::Raw })
    }

    /// The values that were asked for. A failure is reported.
    fn read<'f>(&self, entry: &Entry<'f>, object: usize, out: &mut Out) -> Option<Values<'f>> {
        let values = self.decode(entry, object);
        values.inspect_err(|error| out.report(&entry.object_place(object), error)).ok()
    }

    fn decode<'f>(&self, entry: &Entry<'f>, number: usize) -> Result<Values<'f>, TensogramError> {
        let message = Message::parse(entry.bytes)?;
        let object = find(&message, number)?;
        self.chosen.digests.of(&message)?.check(number, object.frame())?;
        let metadata = self.chosen.digests.metadata(&message)?;
        let about = metadata.object(number)?.ok_or_else(|| no_object(metadata.object_count()))?;
        let options = DecodeOptions { threads: self.threads.count(), ..as_stored() };
        let more = self.more.iter().map(|text| {
            text.to_string_lossy().parse::<ElementRange>().map_err(|error| TensogramError::Metadata(error.into()))
        });
        let ranges = self.ranges.iter().copied().map(Ok).chain(more);
        let ranges = ranges.map(|range| range.map(|range| (range.0, range.1))).collect::<Result<Vec<_>, _>>()?;
        let descriptor = object.descriptor();
        let values = |bytes, count, shape| {
            let Unpacked { dtype, order, bytes } = Unpacked::of(descriptor, &about, bytes)?;
            Ok(Values { dtype, order, pieces: vec![(bytes, count)], shape })
        };
        if let Some(picks) = &self.slice {
            let picks = picks.resolve(descriptor.shape().iter())?;
            let selection = selection(descriptor, &picks)?;
            let (count, shape) = (selection.element_count(), selection.shape().collect());
            let bytes = tgm_std::read(&object).select(&picks).options(&options).bytes()?;
            return values(bytes, count, shape);
        }
        if ranges.is_empty() {
            let bytes = tgm_std::read(&object).options(&options).bytes()?;
            return values(bytes, descriptor.element_count(), descriptor.shape().iter().collect());
        }
        let bytes = tgm_std::read(&object).ranges(&ranges).options(&options).bytes()?;
        let count = ranges.iter().map(|range| range.1).sum();
        // Each range of bits begins with a byte of its own.
        if descriptor.dtype().byte_width() > 0 {
            return values(bytes, count, vec![count]);
        }
        let (dtype, order) = (descriptor.dtype(), descriptor.byte_order());
        Ok(Values { dtype, order, pieces: bits(&bytes, &ranges)?, shape: vec![count] })
    }

    fn write(&self, values: &Values<'_>, sink: &mut dyn Write) -> io::Result<()> {
        let (dtype, own) = (values.dtype, values.order);
        let order = self.byte_order.into();
        if self.format() == Format::Npy {
            sink.write_all(&npy::header(dtype, order, &values.shape).map_err(io::Error::other)?)?;
            if dtype == Dtype::Bitmask {
                return values
                    .pieces
                    .iter()
                    .try_for_each(|(piece, count)| unpack_bools(piece, *count, |bytes| sink.write_all(bytes)));
            }
        }
        values
            .pieces
            .iter()
            .try_for_each(|(piece, _)| in_order(piece, (dtype, own), order, |bytes| sink.write_all(bytes)))
    }
}

/// The bits of each range, and how many they are.
fn bits<'v>(bytes: &[u8], ranges: &[(u64, u64)]) -> Result<Vec<Piece<'v>>, TensogramError> {
    let mut rest = bytes;
    let piece = |&(_, count): &(u64, u64)| {
        let parts = usize::try_from(count.div_ceil(8)).ok().and_then(|len| rest.split_at_checked(len));
        let missing = || TensogramError::Encoding(format!("a range of {count} bits has too few bytes").into());
        let (piece, others) = parts.ok_or_else(missing)?;
        rest = others;
        Ok((Cow::Owned(piece.to_vec()), count))
    };
    ranges.iter().map(piece).collect()
}
