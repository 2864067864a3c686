//! Zarr in and out.

use std::path::Path;

use clap::Args;
use tgm_convert::raw::shape_of;
use tgm_convert::zarr::{ZarrWriter, to_tensogram};

use super::Convert;
use super::effects::Effect;
use super::format::{Format, Reads, Row, Writes};
use super::losses::Losses;
use crate::args::files::usage;
use crate::show::output::Out;
use crate::write::destination::Failure;
use crate::write::endings;

/// Zarr.
pub(super) const ZARR: Format = Format(&Row {
    suffixes: endings::ZARR,
    is_folder: |path| ["zarr.json", ".zarray", ".zgroup"].iter().any(|name| path.join(name).is_file()),
    reads: Reads::Pieces(to_tensogram),
    writes: Writes::Whole(Convert::write_zarr),
    ..Row::new("zarr", "Zarr, a directory: versions 2 and 3 are read, and 3 is written")
});

/// Flags for Zarr.
#[derive(Args, Debug)]
#[command(next_help_heading = "Zarr")]
pub(super) struct ZarrFlags {
    /// The shape of chunks that are written, such as 1x256x256; without it, they have the shape of the input's
    #[arg(long, value_name = "SHAPE", value_parser = shape)]
    chunk_shape: Option<ChunkShape>,
}

impl ZarrFlags {
    /// What the flag has an effect on.
    pub(super) fn effect(&self) -> Effect {
        Effect::of_writing("--chunk-shape", self.chunk_shape.is_some(), |to| to == ZARR)
    }
}

/// The dimensions of a chunk.
#[derive(Clone, Debug)]
struct ChunkShape(Vec<u64>);

fn shape(text: &str) -> Result<ChunkShape, String> {
    let shape = shape_of(text)?;
    if shape.contains(&0) { Err("a chunk has no element".into()) } else { Ok(ChunkShape(shape)) }
}

impl ZarrFlags {
    /// The shape of chunks.
    pub(super) fn chunks(&self) -> Option<Vec<u64>> {
        self.chunk_shape.as_ref().map(|ChunkShape(shape)| shape.clone())
    }
}

impl Convert {
    /// Writes everything that is read to a directory, which appears when it is complete.
    pub(super) fn write_zarr(&self, out: &mut Out, losses: &mut Losses) {
        if self.output.is_stdout() {
            usage("a Zarr store is a directory: name one with -o");
        }
        let options = self.write_options(losses);
        let create = |path: &Path| ZarrWriter::create(path, options).map_err(Failure::at(self.output.to_string()));
        self.output.write_folder(out, create, |out, writer| self.fill(writer, ZARR, out, losses));
    }
}
