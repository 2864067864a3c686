//! `tgm repack`: objects encoded again with other stages.

use std::io::{self, Write as _};
use std::path::PathBuf;

use clap::Args;

use crate::args::RARE;
use crate::args::encode_flags::EncodeFlags;
use crate::args::files::usage;
use crate::args::object_numbers::ObjectNumbers;
use crate::args::pipeline_flags::PipelineFlags;
use crate::change::rewrite::{Rewriter, Tally};
use crate::commands::{Run, examples};
use crate::read::chosen::Chosen;
use crate::show::output::Out;
use crate::write::destination::Destination;

/// Growth that gets a remark: by this factor, and by so many bytes.
const LARGER: f64 = 1.05;
const LARGER_BY: u64 = 64 << 10;

/// Encode objects again, with other stages
///
/// A stage without a flag stays as it is. -w applies to each object by itself. Objects that -w and --object leave out,
/// and objects that already have the wanted stages, are copied byte for byte, and so are messages without any selected
/// object. Metadata stays. Masked values stay masked. Rewritten messages get a new uuid, a new time and new digests.
/// Digests are checked first. If one is wrong, or bytes belong to no message, nothing is written.
#[derive(Args, Debug)]
#[allow(clippy::struct_excessive_bools, reason = "each is a flag of the command line")]
#[command(after_help = examples(&[
    ("tgm repack --compression zstd --level 9 three.tgm -o small.tgm", "smaller, the same values"),
    ("tgm repack --bits 12 --compression none --skip-unsuitable field.tgm -o packed.tgm", "packed, where that is possible"),
]))]
pub(crate) struct Repack {
    /// Files to read; "-" is standard input
    #[arg(value_name = "IN", required = true)]
    inputs: Vec<PathBuf>,
    /// Where to write the messages of all files in order; may be one of them; "-" is standard output
    #[arg(short, visible_short_alias = 'O', long, value_name = "OUT", required_unless_present = "dry_run")]
    output: Option<Destination>,
    /// Write nothing: print how many bytes there would be
    #[arg(long, conflicts_with = "output")]
    dry_run: bool,
    #[command(flatten)]
    chosen: Chosen,
    #[command(flatten)]
    only: ObjectNumbers,
    /// Decode objects that are copied too, as a check; without stages, that is --reshuffle
    #[arg(long)]
    check: bool,
    /// Put each object's descriptor before its payload, so that a reader of a stream can decode values while they come;
    /// otherwise it comes after it. Applies to every object of a message that is written anew
    #[arg(long, help_heading = RARE)]
    descriptor_first: bool,
    /// Decode the result and compare: lossless stages must return the same bits, for lossy ones the greatest error is
    /// printed
    #[arg(long)]
    verify: bool,
    /// Copy objects that cannot have the stages, and name them, instead of writing nothing
    #[arg(long, help_heading = RARE)]
    skip_unsuitable: bool,
    #[command(flatten)]
    pipeline: PipelineFlags,
    #[command(flatten)]
    encode: EncodeFlags,
}

impl Run for Repack {
    fn run(&self, out: &mut Out) -> io::Result<()> {
        if let Err(text) = self.pipeline.check(false) {
            usage(&text);
        }
        let rewriter = Rewriter {
            pipeline: &self.pipeline,
            encode: &self.encode,
            chosen: &self.chosen,
            objects: &self.only,
            verify: self.verify,
            decode_all: self.check,
            descriptor_first: self.descriptor_first,
            skip_unsuitable: self.skip_unsuitable,
        };
        let (mut lines, mut notes, mut total) = (Vec::new(), Vec::new(), Tally::default());
        let written = rewriter.write(&self.inputs, self.output.as_ref(), out, |name, tally| {
            lines.push(self.line(name, &tally));
            notes.extend(tally.unsuitable.iter().map(|note| format!("left as it is: {note}")));
            notes.extend(self.larger(name, &tally));
            total.add(tally);
        });
        if self.inputs.len() > 1 {
            lines.push(self.line("total", &total));
        }
        notes.iter().filter(|_| written).for_each(|note| out.remark(note));
        if written {
            self.pipeline.tell_rounding(out);
        }
        for line in lines.iter().filter(|_| written) {
            writeln!(out, "{}", crate::show::text::escape(line))?;
        }
        Ok(())
    }
}

impl Repack {
    /// A remark on stages that make a file larger, where a compression was asked for.
    #[expect(clippy::cast_precision_loss, reason = "two digits are shown")]
    fn larger(&self, name: &str, tally: &Tally) -> Option<String> {
        let ratio = tally.after as f64 / tally.before.max(1) as f64;
        // A file that became smaller has not grown.
        let grown = tally.after.saturating_sub(tally.before);
        let is_larger = ratio >= LARGER && grown >= LARGER_BY && self.pipeline.compresses();
        is_larger.then(|| {
            format!("{name}: {ratio:.2} times as large as before: the old stages suit these values better (see --best)")
        })
    }

    /// The summary line of a file.
    #[expect(clippy::cast_precision_loss, reason = "two digits are shown")]
    fn line(&self, name: &str, tally: &Tally) -> String {
        let Tally { messages, objects, encoded, before, after, greatest_error, .. } = *tally;
        let ratio = before as f64 / after.max(1) as f64;
        let compared = match (self.verify, greatest_error) {
            (false, _) => String::new(),
            (true, 0.0) => ", values equal".to_string(),
            (true, error) => format!(", greatest error {error:e}"),
        };
        format!(
            "{name}: {messages} messages, {encoded} of {objects} objects encoded, {before} -> {after} bytes, \
             ratio {ratio:.2}{compared}"
        )
    }
}
