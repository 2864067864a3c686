//! NetCDF in and out.

use std::io;
use std::path::Path;

use clap::{Args, ValueEnum};
use tgm_convert::netcdf::{NetcdfOptions, NetcdfWriter, Split, ToNetcdfOptions};

use super::Convert;
use super::formats::Format;
use super::losses::Losses;
use super::streamed::tell;
use crate::show::output::Out;
use crate::write::destination::{Failure, Reads};

/// Flags for NetCDF.
#[derive(Args, Debug)]
#[command(next_help_heading = "NetCDF")]
pub(super) struct NetcdfFlags {
    /// Each file becomes a message, or each record of the unlimited dimension
    #[arg(long, value_name = "BY", default_value = "file")]
    split: By,
    /// The level of DEFLATE for values that are written, from 0, which stores them as they are, to 9
    #[arg(long, value_name = "LEVEL", default_value_t = 4, value_parser = clap::value_parser!(u8).range(0..=9))]
    deflate_level: u8,
}

/// What becomes a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum By {
    File,
    Record,
}

impl Convert {
    /// The options for reading files.
    pub(super) fn netcdf_options(&self) -> NetcdfOptions {
        let split = if self.netcdf.split == By::Record { Split::Record } else { Split::File };
        NetcdfOptions {
            split,
            encode: self.encode.options_with_masks(),
            threads: self.threads(),
            ..NetcdfOptions::default()
        }
    }

    /// Writes everything that is read to one file.
    pub(super) fn write_netcdf(&self, out: &mut Out, losses: &mut Losses) {
        self.output.write_named(out, Reads::Only(&self.paths), |out, path| self.fill_netcdf(path, out, losses));
    }

    /// Fills the file at `path`.
    fn fill_netcdf(&self, path: &Path, out: &mut Out, losses: &mut Losses) -> Result<(), Failure> {
        let options = ToNetcdfOptions {
            deflate_level: (self.netcdf.deflate_level > 0).then_some(self.netcdf.deflate_level),
            name_key: self.name_key.clone(),
            float64: self.cubes.float64() || losses.is_strict(),
            decode: self.decode_options(),
        };
        let output = self.output.to_string();
        let mut writer = NetcdfWriter::create(path, options).map_err(Failure::at(&output))?;
        let mut fields = self.fields();
        let count =
            self.read_gathered(Format::Netcdf, (&mut fields, out, losses), &mut |out, losses, place, message| {
                let mut stopped = None;
                if let Err(error) = writer.write(message, &mut |note| tell(place, note, out, losses, &mut stopped)) {
                    out.report(place, &error);
                }
                stopped.map_or(Ok(()), Err)
            })?;
        if count == 0 {
            return Err(io::Error::other("there is no message to write").into());
        }
        let (datasets, mut stopped) = (self.datasets(&mut fields)?, None);
        let place = self.called();
        if !datasets.is_empty() {
            let report = &mut |note| tell(&place, note, out, losses, &mut stopped);
            writer.write_datasets(&datasets, report).map_err(Failure::at(&output))?;
        }
        stopped.map_or(Ok(()), Err)?;
        writer.finish().map_err(Failure::at(output))
    }
}
