//! `tgm copy`: all or some messages, unchanged, into one file or into files named by their metadata.

use std::io;
use std::path::{Path, PathBuf};
use std::slice;

use clap::Args;
use tgm_core::Message;
use tgm_std::Result;

use crate::args::placed::Placed;
use crate::commands::{Run, examples};
use crate::read::cataloged::Asked;
use crate::read::chosen::Chosen;
use crate::read::distant::is_distant;
use crate::read::entry::{Entry, Place};
use crate::read::input::{Input, MessagePart};
use crate::read::messages::{Seen, for_each_message};
use crate::read::select::Scope;
use crate::read::streamed::{Next, Streamed, is_stream};
use crate::read::structure::Structure;
use crate::read::threads::thread_count;
use crate::show::output::Out;
use crate::write::destination::{Failure, OutputKind, Reads};
use crate::write::endings;
use crate::write::same_file::Identity;
use crate::write::template::{Appended, Template};
use tgm_std::file::SourceName;

/// Copy messages as they are
///
/// `[KEY]` in OUT is replaced by the message's value of KEY, or by "unknown". Messages are then appended to these
/// files. Missing files are made, missing directories are not. IN must not be one of the files. Without `[KEY]`, OUT is
/// replaced when the copy is complete; OUT may be IN. Messages with a wrong digest are left out. If no message is
/// selected, nothing is written and the exit code is 1.
#[derive(Args, Debug)]
#[command(after_help = examples(&[
    ("tgm copy -w 'step>=1' three.tgm -O late.tgm", "messages that a filter selects"),
    ("tgm copy three.tgm 'step_[step].tgm'", "a file for each step"),
]))]
pub(crate) struct Copy {
    #[command(flatten)]
    chosen: Chosen,
    /// File to read; "-" is standard input
    #[arg(value_name = "IN")]
    input: PathBuf,
    #[command(flatten)]
    output: Placed,
}

impl Run for Copy {
    fn run(&self, out: &mut Out) -> io::Result<()> {
        let template = self.output.get().path().and_then(Template::of);
        if let (Some(_), Some(text)) = (&template, self.output.get().path().and_then(endings::refusal)) {
            out.problem(&text);
            return Ok(());
        }
        if template.is_none() && is_distant(&self.input) && self.chosen.choice.is_one() {
            return self.copy_one(out);
        }
        // What lies at an address and is wanted whole is read once, from start to end.
        let is_in_order = is_stream(&self.input) || (is_distant(&self.input) && self.chosen.selection.is_empty());
        if template.is_none() && is_in_order && !self.output.get().is_one_of(slice::from_ref(&self.input)) {
            if let Some(mut stream) = Streamed::open_or_report(&self.input, out) {
                self.copy_stream(out, &mut stream);
            }
            return Ok(());
        }
        let Some(input) = self.asked().open_or_report(&self.input, out) else { return Ok(()) };
        match template {
            Some(template) => self.distribute(out, &input, &template),
            None => self.copy(out, &input),
        }
        Ok(())
    }
}

impl Copy {
    fn asked(&self) -> Asked<'_> {
        self.chosen.asked()
    }

    fn copy(&self, out: &mut Out, input: &Input) {
        let Some(places) = self.chosen.choice.of(input, out) else { return };
        let (chosen, is_judged) = if self.chosen.selection.is_empty() {
            (places, true)
        } else {
            let (chosen, is_judged) = judge(out, input, places, |entry| Ok(self.chosen.chooses(entry)?.then_some(())));
            (chosen.into_iter().map(|(place, ())| place).collect::<Vec<_>>(), is_judged)
        };
        if chosen.is_empty() {
            self.report_no_match(input.name(), out);
            return;
        }
        let is_complete = is_judged && input.segments().iter().all(tgm_core::scan::Segment::is_message);
        let is_same = self.output.get().is_one_of(slice::from_ref(&self.input));
        // Messages that could not be read would be lost.
        if !is_complete && is_same {
            out.problem(&format!("{}: left as it was", self.output.get()));
            return;
        }
        let reads = Reads::AndReplaces(slice::from_ref(&self.input));
        self.output.get().write(out, OutputKind::Messages, reads, |out, sink| {
            let mut left_out = 0;
            self.checked(input, chosen.iter().copied(), |place, read| {
                let at = || format!("{}: message {}", input.name(), place.index);
                match read.map_err(Failure::at(at()))? {
                    Ok(bytes) => sink.write_all(&bytes)?,
                    Err(error) => {
                        left_out += 1;
                        out.report(&at(), &error);
                    }
                }
                Ok::<_, Failure>(())
            })?;
            match left_out {
                0 => Ok(()),
                _ if is_same => Err(io::Error::other("damaged messages would be lost: the file stays as it is").into()),
                count if count == chosen.len() => Err(nothing_whole().into()),
                _ => Ok(()),
            }
        });
    }

    /// Reads messages and checks their digests on all processors, and gives their bytes to `take` in order.
    fn checked<E>(
        &self,
        input: &Input,
        places: impl Iterator<Item = Place> + Send,
        take: impl FnMut(Place, Result<Result<Vec<u8>>>) -> Result<(), E>,
    ) -> Result<(), E> {
        let work = |(): &mut (), entry: &Entry<'_>| {
            self.chosen.digests.check_bytes(entry.bytes).map(|()| entry.bytes.to_vec())
        };
        input.in_order((places, MessagePart::Whole, thread_count(0)), || (), work, take)
    }

    /// Copies the one message that flags name, of a source at an address. No other is looked at but those before it.
    fn copy_one(&self, out: &mut Out) -> io::Result<()> {
        let mut found = None;
        for_each_message(slice::from_ref(&self.input), self.asked(), MessagePart::Whole, out, |out, entry| {
            let name = entry.file.to_string();
            let message = self.chosen.picks(out, entry).then(|| (entry.index, entry.offset, entry.bytes.to_vec()));
            found = Some((name, message));
            Ok(())
        })?;
        match found {
            // That it is not there was reported.
            None => {}
            Some((name, None)) => self.report_no_match(&name, out),
            Some((name, Some((index, offset, bytes)))) => {
                let entry = Entry { file: &name, index, offset, bytes: &bytes };
                self.output.get().write(out, OutputKind::Messages, Reads::Only(&[]), |out, sink| {
                    if self.pass(&entry, out, sink)? { Ok(()) } else { Err(nothing_whole().into()) }
                });
            }
        }
        Ok(())
    }

    /// Copies messages of a stream as they come. Nothing is written before the first selected message has come.
    fn copy_stream(&self, out: &mut Out, stream: &mut Streamed) {
        let mut seen = Seen::default();
        let mut first = None;
        while first.is_none() {
            match stream.next_or_report(out) {
                Some(Next::Message(entry)) if self.is_selected(&entry, &mut seen, out) => {
                    first = Some((entry.index, entry.offset, entry.bytes.to_vec()));
                }
                Some(_) => {}
                None => break,
            }
        }
        let Some((index, offset, bytes)) = first else {
            match seen.missing(self.chosen.choice, stream.message_count()) {
                Some(text) => out.problem(&format!("{}: {text}", stream.name())),
                None => self.report_no_match(stream.name(), out),
            }
            return;
        };
        self.output.get().write(out, OutputKind::Messages, Reads::Only(slice::from_ref(&self.input)), |out, sink| {
            let name = stream.name().to_string();
            let mut copied = self.pass(&Entry { file: &name, index, offset, bytes: &bytes }, out, sink)?;
            drop(bytes);
            while let Some(next) = stream.next_or_report(out) {
                match next {
                    Next::Message(entry) if self.is_selected(&entry, &mut seen, out) => {
                        copied |= self.pass(&entry, out, sink)?;
                    }
                    Next::Pause => sink.flush()?,
                    Next::Message(_) | Next::Lost(_) => {}
                }
            }
            if stream.has_failed() {
                return Err(io::Error::other("the input could not be read to its end").into());
            }
            if copied { Ok(()) } else { Err(nothing_whole().into()) }
        });
    }

    /// Whether a message of a stream is selected. Errors are reported.
    fn is_selected(&self, entry: &Entry<'_>, seen: &mut Seen, out: &mut Out) -> bool {
        seen.is_selected(self.chosen.choice, entry) && self.chosen.picks(out, entry)
    }

    /// Writes a message if its digests are right, and returns whether they are. Otherwise they are reported.
    fn pass(&self, entry: &Entry<'_>, out: &mut Out, sink: &mut dyn io::Write) -> Result<bool, Failure> {
        match self.chosen.digests.check_bytes(entry.bytes) {
            Ok(()) => sink.write_all(entry.bytes)?,
            Err(error) => {
                out.report(&entry.place(), &error);
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Reports that no message was selected.
    fn report_no_match(&self, name: &str, out: &mut Out) {
        let why = if self.chosen.selection.is_empty() { "there is no message" } else { "no message matches" };
        out.problem(&format!("{name}: {why}, nothing was written"));
    }

    fn distribute(&self, out: &mut Out, input: &Input, template: &Template) {
        let Some(places) = self.chosen.choice.of(input, out) else { return };
        let (targets, _) = judge(out, input, places, |entry| self.target(entry, template));
        if targets.is_empty() {
            self.report_no_match(input.name(), out);
            return;
        }
        let source = Identity::of_input(&self.input);
        let is_source = |path: &Path| source.is_some() && Identity::of(path) == source;
        if let Some((_, path)) = targets.iter().find(|(_, path)| is_source(path)) {
            out.problem(&format!("{} is the file that is read: nothing was written", SourceName::of(path)));
            return;
        }
        let (mut left, mut appended) = (targets.len(), Appended::default());
        let places: Vec<Place> = targets.iter().map(|(place, _)| *place).collect();
        let mut paths = targets.into_iter().map(|(_, path)| path);
        let done = self.checked(input, places.into_iter(), |place, read| {
            left -= 1;
            let Some(path) = paths.next() else { return Err(()) };
            let at = || format!("{}: message {}", input.name(), place.index);
            match read {
                Ok(Ok(bytes)) => appended.append_or_report(out, &at(), &path, &bytes),
                Ok(Err(error)) => out.report(&at(), &error),
                Err(error) if input.report_unread(out, place, left, &error) => return Err(()),
                Err(_) => {}
            }
            Ok(())
        });
        // What ends it early was reported.
        _ = done;
    }

    /// The file for a message, if the message is selected.
    fn target(&self, entry: &Entry<'_>, template: &Template) -> Result<Option<PathBuf>> {
        let message = Message::parse(entry.bytes)?;
        let metadata = self.chosen.digests.metadata(&message)?;
        let structure = Structure::new(&message, entry);
        let scope = Scope::Message(&metadata, structure);
        if !self.chosen.selection.has(&metadata, structure)? {
            return Ok(None);
        }
        template.fill(&scope, |_| None).map(Some)
    }
}

fn nothing_whole() -> io::Error {
    io::Error::other("there is no whole message to write")
}

/// Calls `verdict` for each message, on all processors, and collects the results with their places. Payloads are not read. Also
/// returns whether every message could be judged; the others are reported.
fn judge<T: Send>(
    out: &mut Out,
    input: &Input,
    places: Vec<Place>,
    verdict: impl Fn(&Entry<'_>) -> Result<Option<T>> + Sync,
) -> (Vec<(Place, T)>, bool) {
    let (mut chosen, mut is_judged, mut left) = (Vec::new(), true, places.len());
    let work = |(): &mut (), entry: &Entry<'_>| verdict(entry);
    let parts = (places.into_iter(), MessagePart::Outline, thread_count(0));
    let read = input.in_order(
        parts,
        || (),
        work,
        |place, judged| {
            left -= 1;
            match judged {
                Ok(Ok(verdict)) => chosen.extend(verdict.map(|verdict| (place, verdict))),
                Ok(Err(error)) => {
                    is_judged = false;
                    out.report(&format!("{}: message {}", input.name(), place.index), &error);
                }
                Err(error) => {
                    is_judged = false;
                    if input.report_unread(out, place, left, &error) {
                        return Err(());
                    }
                }
            }
            Ok(())
        },
    );
    (chosen, is_judged && read.is_ok())
}
