//! Zarr version 3 in and out.

use std::fs;
use std::path::{Path, PathBuf};
use std::process;

use clap::{Args, ValueEnum};
use tgm_convert::raw::shape_of;
use tgm_convert::zarr::{Chunks, ToZarrOptions, ZarrOptions, ZarrWriter};
use tgm_std::DecodeOptions;

use super::Convert;
use super::formats::Format;
use super::streamed::tell;
use super::told::Told;
use crate::args::files::usage;
use crate::show::output::Out;
use crate::write::destination::{Failure, report};
use tgm_std::file::SourceName;

/// Flags for Zarr.
#[derive(Args, Debug)]
#[command(next_help_heading = "Zarr")]
pub(super) struct ZarrFlags {
    /// Each chunk of an array becomes an object, or each array
    #[arg(long, value_name = "HOW", default_value = "keep")]
    chunks: How,
    /// The shape of chunks that are written, such as 1x256x256; without it, they have the shape of the input's
    #[arg(long, value_name = "SHAPE", value_parser = shape)]
    chunk_shape: Option<ChunkShape>,
}

/// What becomes an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum How {
    Keep,
    Join,
}

/// The dimensions of a chunk.
#[derive(Clone, Debug)]
struct ChunkShape(Vec<u64>);

fn shape(text: &str) -> Result<ChunkShape, String> {
    let shape = shape_of(text)?;
    if shape.contains(&0) { Err("a chunk has no element".into()) } else { Ok(ChunkShape(shape)) }
}

impl Convert {
    /// The options for reading stores.
    pub(super) fn zarr_options(&self) -> ZarrOptions {
        let chunks = if self.zarr.chunks == How::Join { Chunks::Join } else { Chunks::Keep };
        ZarrOptions { chunks, encode: self.encode.options_with_masks(), ..ZarrOptions::default() }
    }

    /// Writes everything that is read to a directory, which appears when it is complete.
    pub(super) fn write_zarr(&self, out: &mut Out, told: &mut Told) {
        let Some(path) = self.output.path() else { usage("a Zarr store is a directory: name one with -o") };
        if path.symlink_metadata().is_ok() {
            out.problem(&format!(
                "cannot write {}\nit exists already, and directories are not replaced",
                SourceName::of(path)
            ));
            return;
        }
        let hidden = hidden(path);
        let written = self.fill_zarr(&hidden, out, told).and_then(|()| Ok(fs::rename(&hidden, path)?));
        if let Err(failure) = written {
            // It is incomplete, and still has its temporary name.
            _ = fs::remove_dir_all(&hidden);
            report(&self.output, out, failure);
        }
    }

    fn fill_zarr(&self, path: &Path, out: &mut Out, told: &mut Told) -> Result<(), Failure> {
        let options = ToZarrOptions {
            chunks: self.zarr.chunk_shape.as_ref().map(|ChunkShape(shape)| shape.clone()),
            name_key: self.name_key.clone(),
            decode: DecodeOptions::default(),
            ..ToZarrOptions::default()
        };
        let output = self.output.to_string();
        let mut writer = ZarrWriter::create(path, options).map_err(Failure::at(&output))?;
        let mut count = 0_usize;
        self.read(Format::Zarr, out, told, &mut |out, told, place, item| {
            count += 1;
            let mut stopped = None;
            let message = item.into_message(&self.encode.options_with_masks()).map_err(Failure::at(place))?;
            match writer.write(&message, &mut |note| tell(place, note, out, told, &mut stopped)) {
                Err(tgm_std::TensogramError::Io(error)) => return Err(Failure::Output(error)),
                Err(error) => out.report(place, &error),
                Ok(()) => {}
            }
            stopped.map_or(Ok(()), Err)
        })?;
        if count == 0 {
            return Err(std::io::Error::other("there is no message to write").into());
        }
        writer.finish().map_err(Failure::at(output))
    }
}

/// A name beside `path` for a directory that is not complete.
fn hidden(path: &Path) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    path.with_file_name(format!(".{name}.{}", process::id()))
}
