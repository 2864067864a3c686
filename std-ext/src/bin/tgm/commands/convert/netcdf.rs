//! NetCDF in.

use clap::{Args, ValueEnum};
use tgm_std::convert::netcdf::{NetcdfOptions, Split};

use super::Convert;

/// Flags for NetCDF.
#[derive(Args, Debug)]
#[command(next_help_heading = "NetCDF")]
pub(super) struct NetcdfFlags {
    /// Each file becomes a message, or each record of the unlimited dimension
    #[arg(long, value_name = "BY", default_value = "file")]
    split: By,
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
        NetcdfOptions { split, encode: self.encode.options_with_masks(), ..NetcdfOptions::default() }
    }
}
