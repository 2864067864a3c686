//! Zarr in and out.

use std::path::Path;

use clap::Args;
use tgm_convert::Note;
use tgm_convert::raw::shape_of;
use tgm_convert::zarr::{ToZarrOptions, ZarrOptions, ZarrWriter};
use tgm_dataset::Dataset;
use tgm_std::TensogramError;

use super::Convert;
use super::effects::Effect;
use super::formats::Format;
use super::losses::Losses;
use super::store::Store;
use crate::args::files::usage;
use crate::show::output::Out;
use crate::write::destination::Failure;

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
        Effect::of_writing("--chunk-shape", self.chunk_shape.is_some(), |to| to == Format::Zarr)
    }
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
        let (encode, threads) = (self.encode.options_with_masks(), self.threads());
        let chunks = self.store.chunks(self);
        // What gets other stages afterwards is not compressed before.
        let zstd_level = ZarrOptions::default().zstd_level.filter(|_| self.pipeline.is_empty());
        ZarrOptions { chunks, encode, threads, keep_packed: self.keep_packed, zstd_level, ..ZarrOptions::default() }
    }

    /// Writes everything that is read to a directory, which appears when it is complete.
    pub(super) fn write_zarr(&self, out: &mut Out, losses: &mut Losses) {
        if self.output.is_stdout() {
            usage("a Zarr store is a directory: name one with -o");
        }
        let options = ToZarrOptions {
            chunks: self.zarr.chunk_shape.as_ref().map(|ChunkShape(shape)| shape.clone()),
            name_key: self.name_key.clone(),
            float64: self.cubes.float64() || losses.is_strict(),
            decode: self.decode_options(),
            ..ToZarrOptions::default()
        };
        let create = |path: &Path| ZarrWriter::create(path, options).map_err(Failure::at(self.output.to_string()));
        self.output.write_folder(out, create, |out, writer| self.fill(writer, out, losses));
    }
}

impl Store for ZarrWriter {
    const FORMAT: Format = Format::Zarr;

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
