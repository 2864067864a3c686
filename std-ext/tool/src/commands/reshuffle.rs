//! `tgm repack --reshuffle`, which is `tgm repack --check` without stages: messages with metadata and index before the objects.

use std::io;
use std::path::PathBuf;
use std::slice;

use clap::Args;

use crate::args::encode_flags::EncodeFlags;
use crate::args::object_numbers::ObjectNumbers;
use crate::args::pipeline_flags::PipelineFlags;
use crate::change::rewrite::Rewriter;
use crate::commands::{Run, examples};
use crate::read::chosen::Chosen;
use crate::show::output::Out;
use crate::write::destination::Destination;

/// Write messages again, with metadata, index and digests before the objects
///
/// The same as `tgm repack --check` without stages. Each object is decoded as a check, and copied bit for bit, with its lossy stages and
/// masks. Messages get a new uuid and time.
#[derive(Args, Debug)]
#[command(after_help = examples(&[("tgm repack --reshuffle field.tgm -o front.tgm", "metadata and index up front")]))]
pub(crate) struct Reshuffle {
    /// File to read; "-" is standard input
    #[arg(value_name = "IN")]
    input: PathBuf,
    /// Where to write; may be IN; "-" is standard output
    #[arg(short, visible_short_alias = 'O', long, value_name = "OUT")]
    output: Destination,
    #[command(flatten)]
    encode: EncodeFlags,
    #[command(flatten)]
    chosen: Chosen,
}

impl Run for Reshuffle {
    fn run(&self, out: &mut Out) -> io::Result<()> {
        let (pipeline, objects) = (PipelineFlags::default(), ObjectNumbers::default());
        let rewriter = Rewriter {
            pipeline: &pipeline,
            encode: &self.encode,
            chosen: &self.chosen,
            objects: &objects,
            verify: false,
            decode_all: true,
            descriptor_first: false,
            skip_unsuitable: false,
        };
        rewriter.write(slice::from_ref(&self.input), Some(&self.output), out, |_, _| ());
        Ok(())
    }
}
