//! NetCDF in and out.

use std::path::Path;

use clap::{Args, ValueEnum};
use tgm_convert::Note;
use tgm_convert::netcdf::{NetcdfOptions, NetcdfWriter, Split, ToNetcdfOptions};
use tgm_dataset::Dataset;
use tgm_std::TensogramError;

use super::Convert;
use super::effects::Effect;
use super::formats::Format;
use super::losses::Losses;
use super::store::Store;
use crate::show::output::Out;
use crate::write::destination::{Failure, Reads};

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
        let is_netcdf = |format| format == Format::Netcdf;
        [
            Effect::of_reading("--split", self.split == By::Record, is_netcdf),
            Effect::of_writing("--deflate-level", self.deflate_level.is_some(), is_netcdf),
        ]
    }
}

impl Convert {
    /// The options for reading files.
    pub(super) fn netcdf_options(&self) -> NetcdfOptions {
        let split = if self.netcdf.split == By::Record { Split::Record } else { Split::File };
        NetcdfOptions {
            split,
            chunks: self.store.chunks(self),
            // What gets other stages afterwards is not compressed before.
            zstd_level: NetcdfOptions::default().zstd_level.filter(|_| self.pipeline.is_empty()),
            encode: self.encode.options_with_masks(),
            threads: self.threads(),
            keep_packed: self.keep_packed,
            ..NetcdfOptions::default()
        }
    }

    /// Writes everything that is read to one file.
    pub(super) fn write_netcdf(&self, out: &mut Out, losses: &mut Losses) {
        self.output.write_named(out, Reads::Only(&self.paths), |out, path| self.fill_netcdf(path, out, losses));
    }

    /// Fills the file at `path`.
    fn fill_netcdf(&self, path: &Path, out: &mut Out, losses: &mut Losses) -> Result<(), Failure> {
        let usual = ToNetcdfOptions::default().deflate_level;
        let options = ToNetcdfOptions {
            deflate_level: self.netcdf.deflate_level.map_or(usual, |level| (level > 0).then_some(level)),
            name_key: self.name_key.clone(),
            float64: self.cubes.float64() || losses.is_strict(),
            decode: self.decode_options(),
        };
        let writer = NetcdfWriter::create(path, options).map_err(Failure::at(self.output.to_string()))?;
        self.fill(writer, out, losses)
    }
}

impl Store for NetcdfWriter {
    const FORMAT: Format = Format::Netcdf;

    fn write(&mut self, message: &[u8], report: &mut dyn FnMut(Note)) -> Result<(), TensogramError> {
        self.write(message, report)
    }

    fn write_datasets(&mut self, datasets: &[Dataset], report: &mut dyn FnMut(Note)) -> Result<(), TensogramError> {
        self.write_datasets(datasets, report)
    }

    fn finish(self) -> Result<(), TensogramError> {
        self.finish()
    }
}
