//! References of kerchunk: the objects of archives as chunks of Zarr where they lie.

use std::io::BufWriter;
use std::path::Path;
#[cfg(feature = "parquet")]
use std::path::PathBuf;

use tgm_dataset::{Catalogs, Chunk, OpenOptions, References};
use tgm_std::DecodeOptions;

use super::Convert;
use super::format::{Format, Reads, Row, Writes};
use super::losses::Losses;
use crate::read::cubes::{names, open_or_report};
use crate::read::threads::thread_count;
use crate::show::output::Out;
use crate::write::destination::{self, Failure, OutputKind, report};
use crate::write::template::ends_as_folder;

/// References of kerchunk.
pub(super) const KERCHUNK: Format = Format(&Row {
    suffixes: &["kerchunk"],
    of_messages: Some("references lead to the objects of messages: convert this input to tgm first"),
    reads: Reads::Not("references are written, and not read"),
    writes: Writes::Whole(Convert::write_references),
    ..Row::new(
        "kerchunk",
        "References of kerchunk: objects as chunks of Zarr where they lie; written only, as JSON, or as Parquet to a folder or NAME.parq",
    )
});

impl Convert {
    /// Writes references to the objects of all files, which are one dataset: as Parquet to a folder, and otherwise as JSON. What is
    /// not referenced is reported.
    pub(super) fn write_references(&self, out: &mut Out, losses: &mut Losses) {
        let problems = out.problem_count();
        let threads = u32::try_from(thread_count(self.encode.threads())).unwrap_or(1);
        let decode = DecodeOptions { threads, ..DecodeOptions::default() };
        let options = OpenOptions { catalogs: Catalogs::Unused, decode: decode.clone(), ..OpenOptions::default() };
        let Some(datasets) = open_or_report(&self.paths, Ok(options), self.digests, out) else { return };
        let Some(dataset) = datasets.first() else { return };
        let place = names(&self.paths);
        let references = match dataset.references(&decode) {
            Ok(references) => references,
            Err(error) => return out.report(&place, &error),
        };
        for (name, why) in &references.refused {
            out.problem(&format!("{place}: {name} is not referenced: {why}"));
        }
        for left_out in &dataset.left_out {
            out.problem(&format!("{place}: not referenced: {left_out}"));
        }
        let written =
            losses.check(&self.output, out.problem_count() - problems).and_then(|()| self.any_in(&references));
        if let Err(failure) = written {
            report(&self.output, out, failure);
            return;
        }
        if self.output.path().is_some_and(is_for_parquet) {
            self.write_parquet(&references, out);
            return;
        }
        self.output.write(out, OutputKind::Values, destination::Reads::Only(&self.paths), |_, sink| {
            let mut sink = BufWriter::new(sink);
            references.write_json(&mut sink)?;
            Ok(sink.into_inner().map(drop).map_err(std::io::IntoInnerError::into_error)?)
        });
    }

    /// Checks that references lead to any object: otherwise all would be a copy, or nothing.
    fn any_in(&self, references: &References) -> Result<(), Failure> {
        let is_there = |(_, chunk): &(u64, Chunk)| matches!(chunk, Chunk::There(..));
        if references.arrays.iter().any(|array| array.chunks.iter().any(is_there)) {
            return Ok(());
        }
        let text = "not written: no object is a chunk of Zarr as it lies: --to zarr writes the values anew";
        Err(Failure::said(self.output.to_string(), text))
    }

    #[cfg(feature = "parquet")]
    fn write_parquet(&self, references: &References, out: &mut Out) {
        let create = |path: &Path| Ok(std::fs::create_dir(path).map(|()| path.to_path_buf())?);
        self.output.write_folder(out, create, |_, folder: PathBuf| {
            tgm_convert::references::write_parquet(references, &folder).map_err(Failure::at(self.output.to_string()))
        });
    }

    #[cfg(not(feature = "parquet"))]
    #[expect(clippy::unused_self, reason = "builds with Parquet write the output")]
    fn write_parquet(&self, _: &References, out: &mut Out) {
        out.problem(
            "references as Parquet are not in this build, which lacks the feature `parquet`: name a file .json",
        );
    }
}

/// Whether references at a path are a folder of Parquet.
fn is_for_parquet(path: &Path) -> bool {
    let is_named = |ending: &std::ffi::OsStr| ["parq", "parquet"].iter().any(|own| ending.eq_ignore_ascii_case(own));
    ends_as_folder(path) || path.extension().is_some_and(is_named)
}
