//! Formats whose files are read piece by piece: messages are written while their parts are read.

use std::io::Write;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;

use tgm_convert::arrays::Arrays;
use tgm_convert::{Note, OwnStages, ReadOptions, Subject};
use tgm_std::file::SourceName;
use tgm_std::{Archive, TensogramError};

use super::Convert;
use super::format::ReadPieces;
use super::item::{Item, Sink, Taken};
use super::losses::Losses;
use crate::args::pipeline_flags::PipelineFlags;
use crate::read::entry::{Entry, MessageNumber};
use crate::read::input::{Input, MessagePart};
use crate::read::pipes;
use crate::read::threads::{shared, thread_count};
use crate::read::values::as_stored;
use crate::show::output::Out;
use crate::show::progress::meter::Share;
use crate::write::destination::{Failure, OutputKind, Reads};
use tgm_std::file::replace::Temporary;

/// The stages that flags name, and whether an object cannot have them: then there is no output.
struct FlagStages {
    own: OwnStages,
    failed: Arc<AtomicBool>,
}

impl FlagStages {
    fn new(flags: &PipelineFlags) -> Self {
        let (flags, failed) = (flags.clone(), Arc::<AtomicBool>::default());
        let seen = Arc::clone(&failed);
        let own = OwnStages::new(move |subject, descriptor, values, options| {
            let is_exact = subject == Subject::Exact;
            flags.apply_to(is_exact, descriptor, values, options).inspect_err(|_| seen.store(true, Relaxed))
        });
        Self { own, failed }
    }

    fn have_failed(&self) -> bool {
        self.failed.load(Relaxed)
    }
}

impl Convert {
    /// Converts files that `from` reads to messages.
    pub(super) fn stream(&self, from: ReadPieces, out: &mut Out, losses: &mut Losses) {
        let stages = (!self.pipeline.is_empty()).then(|| FlagStages::new(&self.pipeline));
        self.output.write(out, OutputKind::Converted, Reads::Only(&self.paths), |out, sink| {
            let problems = out.problem_count();
            let stages = stages.as_ref();
            self.paths.iter().try_for_each(|path| self.stream_one(from, path, stages, out, losses, sink))?;
            losses.check(&self.output, out.problem_count() - problems)
        });
    }

    /// Converts one of them. What cannot be read is reported. Objects have these stages, or else those that fit them.
    fn stream_one(
        &self,
        from: ReadPieces,
        path: &Path,
        stages: Option<&FlagStages>,
        out: &mut Out,
        losses: &Losses,
        sink: &mut dyn Write,
    ) -> Result<(), Failure> {
        let name = SourceName::of(path).to_string();
        let held = match pipes::is_once(path).then(|| pipes::held(path)).transpose() {
            Ok(held) => held,
            Err(error) => {
                out.problem(&format!("cannot read {name}\n{error}"));
                return Ok(());
            }
        };
        let path = held.as_ref().and_then(Temporary::name).unwrap_or(path);
        let mut stopped = None;
        let mut report = |note| match note {
            Note::Failed { place, error } if stages.is_some_and(FlagStages::have_failed) => {
                stopped.get_or_insert(Failure::At(format!("{name}: {place}"), error));
            }
            note => tell(&name, note, out, losses, &mut stopped),
        };
        let options = ReadOptions { stages: stages.map(|stages| stages.own.clone()), ..self.read_options() };
        let done = from(path, &options, sink, &mut report);
        match (stopped, done) {
            (Some(failure), _) => Err(failure),
            (None, Err(TensogramError::Io(error))) => Err(Failure::Output(error)),
            (None, Err(error)) => {
                out.report(&name, &error);
                Ok(())
            }
            (None, Ok(_)) => Ok(()),
        }
    }

    /// Hands the messages of a file to `sink`. All of them are in memory.
    ///
    /// # Errors
    /// The errors of `sink`.
    pub(super) fn read_streamed<M: Send>(
        &self,
        from: ReadPieces,
        path: &Path,
        out: &mut Out,
        losses: &mut Losses,
        sink: &mut Sink<'_, '_, '_, M>,
    ) -> Result<(), Failure> {
        let mut bytes = Vec::new();
        self.stream_one(from, path, None, out, losses, &mut bytes)?;
        let name = SourceName::of(path).to_string();
        // Its bytes were counted as progress while the file was read.
        let input = Input::of_archive(name.clone(), Archive::from_bytes(bytes), |_| Share::new(Some(0)));
        let input = input.map_err(Failure::at(name))?;
        let (messages, threads) = shared(thread_count(self.encode.threads()), input.message_count());
        let (make, is_staged) = (sink.make, !self.pipeline.is_empty());
        let place_of = |index| format!("{}: message {index}", input.name());
        let work = |(): &mut (), entry: &Entry<'_>| {
            let place = entry.place();
            // Stages that were chosen while the file was read do not stay.
            if is_staged {
                return Arrays::decode(entry.bytes, &as_stored()).map(|arrays| Taken::Arrays(arrays.into_owned()));
            }
            Ok(Taken::Made(make(Item {
                place: &place,
                message: entry.bytes.into(),
                number: MessageNumber(None),
                offset: 0,
                threads,
            })))
        };
        input.in_order(
            (input.all(), MessagePart::Whole, messages),
            || (),
            work,
            |place, taken| {
                let place = place_of(place.index);
                let taken = taken.and_then(|taken| taken).map_err(Failure::at(&place))?;
                (sink.take)(out, losses, &place, taken)
            },
        )
    }
}

/// Reports a note, or remembers the first one that is an error.
pub(super) fn tell(name: &str, note: Note, out: &mut Out, losses: &Losses, stopped: &mut Option<Failure>) {
    match note {
        Note::Failed { place, error } if losses.is_strict() => {
            stopped.get_or_insert(Failure::At(within(name, &place), error));
        }
        Note::Failed { place, error } => out.report(&within(name, &place), &error),
        Note::NotKept { place, what } => {
            if let Err(failure) = losses.not_kept(out, &within(name, &place), &what) {
                stopped.get_or_insert(failure);
            }
        }
        Note::Remark { place, what } => out.remark(&format!("{}: {what}", within(name, &place))),
        other => out.remark(&format!("{name}: {other}")),
    }
}

/// A place in what is called `name`. A writer counts the messages that it is given; the name says which one of its file it is.
fn within(name: &str, place: &str) -> String {
    let counted = place.strip_prefix("message ").map(|rest| rest.trim_start_matches(|c: char| c.is_ascii_digit()));
    match counted {
        Some(rest) if rest.is_empty() || rest.starts_with(", ") => format!("{name}{rest}"),
        _ => format!("{name}: {place}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_named_once() {
        for (name, place, expected) in [
            ("a.tgm: message 3", "message 0, object 1", "a.tgm: message 3, object 1"),
            ("a.tgm: message 3", "message 0", "a.tgm: message 3"),
            ("a.npz", "message 0, object 1", "a.npz, object 1"),
            ("a.nc", "variable message 0", "a.nc: variable message 0"),
            ("a.nc", "message 0x", "a.nc: message 0x"),
        ] {
            assert_eq!(within(name, place), expected);
        }
    }
}
