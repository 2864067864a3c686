//! A box of a variable over many messages: bare values, `.npy`, or a file with coordinates.

use std::io::{self, Write};
use std::path::PathBuf;

use tgm_convert::npy;
use tgm_core::descriptor::{ByteOrder, Dtype};
use tgm_dataset::{Dataset, Indices};
use tgm_std::{DecodeOptions, TensogramError};

use super::{Extract, Format};
use crate::args::cube::CubeFlags;
use crate::args::files::usage;
use crate::args::listing::ending;
use crate::args::threads::Threads;
use crate::commands::boxes::Target;
use crate::read::cubes::{Cells, names, open_or_report, with_variable};
use crate::read::values::swapped;
use crate::show::output::Out;
use crate::write::destination::{Failure, OutputKind, Reads};

/// What a box is written as.
enum BoxFile {
    Values(Format),
    Dataset(Target),
}

/// Options for reading boxes.
fn options(threads: Threads) -> DecodeOptions {
    DecodeOptions { threads: threads.of_library(), ..DecodeOptions::default() }
}

impl Extract {
    fn target(&self) -> BoxFile {
        if let Some(format) = self.format {
            return BoxFile::Values(format);
        }
        let ending = ending(&self.output).unwrap_or_default();
        if ending == "npy" {
            return BoxFile::Values(Format::Npy);
        }
        if let Some(target) = Target::of_ending(&ending) {
            return BoxFile::Dataset(target);
        }
        match self.output.path().and_then(crate::commands::convert::other_format) {
            Some(ending) => usage(&format!(
                "a box is written as .npy, .tgm, .nc, .zarr or bare values, and not as .{ending}: --format says what is meant"
            )),
            None => BoxFile::Values(Format::Raw),
        }
    }

    /// Writes a box of the variable `name`. `paths` are read.
    pub(super) fn write_box(&self, flags: &CubeFlags, name: &str, paths: &[PathBuf], out: &mut Out) {
        let file = self.target();
        let reads = Reads::Only(paths);
        let Some(datasets) = open_or_report(paths, flags.options(&[]), self.chosen.digests, out) else { return };
        let dataset = match with_variable(&datasets, name) {
            Ok((dataset, _)) => dataset,
            Err(error) => {
                out.report(&names(paths), &error);
                return;
            }
        };
        let place = names(paths);
        match file {
            BoxFile::Values(format) => {
                self.output.write(out, OutputKind::Values, reads, |_, sink| {
                    self.values(dataset, flags, name, format, &place, sink)
                });
            }
            BoxFile::Dataset(target) => {
                target.write(&self.output, (&place, reads), out, &|| self.message(dataset, flags, name));
            }
        }
    }

    fn message(&self, dataset: &Dataset, flags: &CubeFlags, name: &str) -> Result<Vec<u8>, TensogramError> {
        dataset.cut(&[name], &flags.selectors, &options(self.threads))?.encode()
    }

    fn values(
        &self,
        dataset: &Dataset,
        flags: &CubeFlags,
        name: &str,
        format: Format,
        place: &str,
        sink: &mut dyn Write,
    ) -> Result<(), Failure> {
        let indices = dataset.select(name, &flags.selectors).map_err(Failure::at(place))?;
        let cells = Cells::read(dataset, name, &indices, &options(self.threads)).map_err(Failure::at(place))?;
        let order: ByteOrder = self.byte_order.into();
        if format == Format::Npy {
            let left = indices.iter().filter(|it| !matches!(it, Indices::Index(_)));
            let shape: Vec<u64> = left.map(Indices::count).collect();
            let is_truth = dataset.variable(name).and_then(tgm_dataset::Variable::dtype) == Some(Dtype::Bitmask);
            let dtype = if is_truth { Dtype::Bitmask } else { cells.dtype };
            sink.write_all(&npy::header(dtype, order, &shape).map_err(io::Error::other)?)?;
        }
        let unit = cells.dtype.swap_unit_size();
        if order == ByteOrder::NATIVE || unit <= 1 {
            return Ok(sink.write_all(&cells.bytes)?);
        }
        Ok(swapped(&cells.bytes, unit, |bytes| sink.write_all(bytes))?)
    }
}
