//! NetCDF in and out.

use clap::{Args, ValueEnum};
use tgm_convert::netcdf::{NetcdfWriter, Split, to_tensogram};

use super::Convert;
use super::child::{Clock, Timed};
use super::effects::Effect;
use super::format::{Format, Reads, Row, Writes, at_start};
use super::losses::Losses;
use crate::show::output::Out;
use crate::write::destination::{self, Failure};
use crate::write::endings;

/// NetCDF. `--from` or the name of a file has to say it: the libraries that read it are not made for any other file.
pub(super) const NETCDF: Format = Format(&Row {
    suffixes: endings::NETCDF,
    find: |start| hdf5(start).or_else(|| at_start(start, b"CDF")),
    is_named: true,
    reads: Reads::Pieces(|path, options, sink, report| {
        let mut sink = Timed { sink, clock: Clock::start(path) };
        to_tensogram(path, options, &mut sink, report)
    }),
    writes: Writes::Whole(Convert::write_netcdf),
    ..Row::new("netcdf", "NetCDF; HDF5 is read as well")
});

/// The place of the signature of HDF5: at the start, or after a user block, whose length is 512 times a power of two.
fn hdf5(start: &[u8]) -> Option<usize> {
    let places = std::iter::successors(Some(512_usize), |place| place.checked_mul(2));
    let mut places = std::iter::once(0).chain(places.take_while(|place| *place < start.len()));
    places.find(|place| start.get(*place..).is_some_and(|start| start.starts_with(b"\x89HDF\r\n")))
}

/// Flags for NetCDF.
#[derive(Args, Debug)]
#[command(next_help_heading = "NetCDF")]
pub(super) struct NetcdfFlags {
    /// Each file becomes a message, or each record of the unlimited dimension
    #[arg(long, value_name = "BY", default_value = "file")]
    split: By,
    /// The level of DEFLATE for values that are written, from 0, which stores them as they are, to 9 [default: 4]
    #[arg(long, value_name = "LEVEL", value_parser = clap::value_parser!(u8).range(0..=9))]
    deflate_level: Option<u8>,
}

/// What becomes a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum By {
    File,
    Record,
}

impl NetcdfFlags {
    /// What the flags have an effect on.
    pub(super) fn effects(&self) -> [Effect; 2] {
        let is_netcdf = |format| format == NETCDF;
        [
            Effect::of_reading("--split", self.split == By::Record, is_netcdf),
            Effect::of_writing("--deflate-level", self.deflate_level.is_some(), is_netcdf),
        ]
    }

    /// What becomes a message.
    pub(super) fn split(&self) -> Split {
        if self.split == By::Record { Split::Record } else { Split::File }
    }

    /// The level of DEFLATE, where `usual` is the level without a flag.
    pub(super) fn level(&self, usual: Option<u8>) -> Option<u8> {
        self.deflate_level.map_or(usual, |level| (level > 0).then_some(level))
    }
}

impl Convert {
    /// Writes everything that is read to one file.
    pub(super) fn write_netcdf(&self, out: &mut Out, losses: &mut Losses) {
        self.output.write_named(out, destination::Reads::Only(&self.paths), |out, path| {
            let writer = NetcdfWriter::create(path, self.write_options(losses));
            self.fill(writer.map_err(Failure::at(self.output.to_string()))?, NETCDF, out, losses)
        });
    }
}
