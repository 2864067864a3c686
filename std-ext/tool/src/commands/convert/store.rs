//! Files and stores that are filled with messages one by one, and at the end with datasets of their fields.

use std::io;

use clap::{Args, ValueEnum};
use tgm_convert::{ArrayWriter, Chunks, ReadOptions, WriteOptions};
use tgm_std::TensogramError;

use super::Convert;
use super::format::Format;
use super::losses::Losses;
use super::streamed::tell;
use super::tgm::TGM;
use crate::show::output::Out;
use crate::write::destination::Failure;

/// Flags for files and stores that hold arrays with names.
#[derive(Args, Debug)]
pub(super) struct StoreFlags {
    /// Each chunk of an array of NetCDF or Zarr becomes an object, or each array; without it, arrays of more than 16 MiB, and
    /// 64 MiB of Zarr, become objects that can be read one by one, in tgm alone
    #[arg(long, value_name = "HOW")]
    chunks: Option<How>,
}

/// What becomes an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum How {
    Keep,
    Join,
}

impl StoreFlags {
    pub(super) const fn is_given(&self) -> bool {
        self.chunks.is_some()
    }

    /// What becomes an object. Formats other than messages have whole arrays.
    pub(super) fn chunks(&self, convert: &Convert) -> Chunks {
        let to = convert.to.or_else(|| convert.output.path().and_then(Format::of_name));
        // Elsewhere a chunk would be an array of its own.
        let usual = if to.is_none_or(|to| to == TGM) { Chunks::Fit } else { Chunks::Join };
        match self.chunks {
            Some(How::Keep) => Chunks::Keep,
            Some(How::Join) => Chunks::Join,
            None => usual,
        }
    }
}

impl Convert {
    /// The options for reading files and stores.
    pub(super) fn read_options(&self) -> ReadOptions {
        let usual = ReadOptions::default();
        ReadOptions {
            #[cfg(feature = "netcdf")]
            split: self.netcdf.split(),
            chunks: self.store.chunks(self),
            // What gets other stages afterwards is not compressed before.
            zstd_level: usual.zstd_level.filter(|_| self.pipeline.is_empty()),
            encode: self.encode.options_with_masks(),
            threads: self.threads(),
            keep_packed: self.keep_packed,
            ..usual
        }
    }

    /// The options for writing files and stores.
    pub(super) fn write_options(&self, losses: &Losses) -> WriteOptions {
        let usual = WriteOptions::default();
        WriteOptions {
            #[cfg(feature = "netcdf")]
            deflate_level: self.netcdf.level(usual.deflate_level),
            #[cfg(feature = "zarr")]
            chunks: self.zarr.chunks(),
            name_key: self.name_key.clone(),
            float64: self.cubes.float64() || losses.is_strict(),
            decode: self.decode_options(),
            ..usual
        }
    }

    /// Fills a store with everything that is read. A message that it does not take is reported.
    pub(super) fn fill(
        &self,
        mut store: impl ArrayWriter,
        to: Format,
        out: &mut Out,
        losses: &mut Losses,
    ) -> Result<(), Failure> {
        let output = self.output.to_string();
        let mut fields = self.fields();
        let count = self.read_gathered(to, (&mut fields, out, losses), &mut |out, losses, place, message| {
            let mut stopped = None;
            match store.write(message, &mut |note| tell(place, note, out, losses, &mut stopped)) {
                Err(TensogramError::Io(error)) => return Err(Failure::Output(error)),
                Err(error) => out.report(place, &error),
                Ok(()) => {}
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
            store.write_datasets(&datasets, report).map_err(Failure::at(&output))?;
        }
        stopped.map_or(Ok(()), Err)?;
        store.finish().map_err(Failure::at(output))
    }
}
