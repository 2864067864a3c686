//! Messages that a catalogue selects, so that others are not read.

use std::io;
use std::path::{Path, PathBuf};

use clap::Args;
use tgm_catalog::Beside;
use tgm_catalog::tree::{Choice, Chosen};
use tgm_std::DecodeOptions;
use tgm_std::metadata::query::Query;

use crate::read::asked;
use crate::read::candidates::{Asked, Given, Level, is_held};
use crate::read::choice::MessageChoice;
use crate::read::distant::{Distant, is_distant};
use crate::read::entry::Entry;
use crate::read::in_order::thread_count;
use crate::read::input::MessagePart;
use crate::read::messages::for_each_message;
use crate::read::opening::{open_of_tree_or_report, open_or_report};
use crate::read::select::Selection;
use crate::show::output::Out;
use tgm_std::file::SourceName;

/// The flag that names a catalogue.
#[derive(Args, Debug)]
pub(crate) struct Cataloged {
    /// Read only messages that -w selects in this catalogue of FILE (`tgm catalog`), a file or an address; one that does not
    /// fit FILE is not used, with a warning [default: FILE.catalog, if it is there]
    #[arg(long, value_name = "FILE", requires = "queries")]
    catalog: Option<PathBuf>,
}

impl Cataloged {
    /// Whether the command line makes sense: one catalogue is of one file.
    pub(crate) fn fits(&self, paths: &[PathBuf]) -> bool {
        self.catalog.is_none() || matches!(paths, [one] if !Choice::is_tree(one))
    }

    /// Whether messages may be found by a catalogue: the command line names one, or a tree, or there may be one beside a file.
    pub(crate) fn is_used(&self, paths: &[PathBuf], selection: &Selection) -> bool {
        let has_beside = |path: &PathBuf| is_distant(path) || Beside::is_here(path);
        self.catalog.is_some()
            || paths.iter().any(|path| Choice::is_tree(path) || (!selection.is_empty() && has_beside(path)))
    }

    /// [`for_each_message`] for messages that can be selected. With `by_objects`
    /// one of their objects can be.
    ///
    /// # Errors
    /// The errors of `with`.
    pub(crate) fn for_each_message(
        &self,
        (paths, choice): (&[PathBuf], MessageChoice),
        (selection, by_objects): (&Selection, bool),
        out: &mut Out,
        mut with: impl FnMut(&mut Out, &Entry<'_>) -> io::Result<()>,
    ) -> io::Result<()> {
        if !self.is_used(paths, selection) {
            return for_each_message(paths, choice, MessagePart::Outline, out, with);
        }
        for path in paths {
            let is_tree = Choice::is_tree(path);
            for Sourced { path, given } in self.sources(path, selection, out) {
                if out.is_full() {
                    break;
                }
                let Some(given) = given else {
                    for_each_message(&[path], choice, MessagePart::Outline, out, &mut with)?;
                    continue;
                };
                let level = if by_objects { Level::Objects } else { Level::Messages };
                let asked = Asked { selection, level };
                if is_distant(&path) && for_each_distant(&given, (&path, choice), asked, out, &mut with)? {
                    continue;
                }
                let opened = if is_tree { open_of_tree_or_report(&path, out) } else { open_or_report(&path, out) };
                let Some(input) = opened else { continue };
                let Some(numbers) = choice.of(&input, out) else { continue };
                let mut candidates = given.candidates(&input, asked, out);
                if let Some(candidates) = candidates.as_mut().filter(|candidates| !candidates.contains(&true)) {
                    asked::note_missing(candidates.len().saturating_sub(1) as u64, given.missing(selection).1);
                    // One message is asked, whose metadata show whether the filter is written so that it can hold.
                    if let Some(first) = candidates.first_mut() {
                        *first = true;
                    }
                }
                let can_be = |index: usize| candidates.as_ref().is_none_or(|can_be| can_be.get(index) != Some(&false));
                input.for_each_among(out, numbers, can_be, MessagePart::Outline, &mut with)?;
            }
        }
        Ok(())
    }

    /// The sources that a path stands for: itself, or files of a tree that can have what is selected. What cannot be read is
    /// reported.
    fn sources(&self, path: &Path, selection: &Selection, out: &mut Out) -> Vec<Sourced> {
        if !Choice::is_tree(path) {
            let given = Given::of(path, self.catalog.as_deref(), selection);
            return vec![Sourced { path: path.to_path_buf(), given }];
        }
        // What a catalogue does not hold is asked of the messages.
        let queries: Vec<Query> = selection.queries().iter().filter(|query| is_held(query)).cloned().collect();
        match Choice::of(
            path,
            &queries,
            &DecodeOptions { threads: u32::try_from(thread_count(0)).unwrap_or(1), ..DecodeOptions::default() },
        ) {
            Ok(choice) => {
                choice.notes.iter().for_each(|note| out.remark(&format!("warning: {}: {note}", SourceName::of(path))));
                let sourced = |file: Chosen| Sourced {
                    path: file.path,
                    given: Some(Given::named(file.catalog_path, file.catalog)),
                };
                choice.files.into_iter().map(sourced).collect()
            }
            Err(error) => {
                out.report(&SourceName::of(path).to_string(), &error);
                Vec::new()
            }
        }
    }
}

/// A source, and its catalogue.
struct Sourced {
    path: PathBuf,
    given: Option<Given>,
}

/// Calls `with` for messages of a source at an address: only messages that can be selected are read. Returns whether the catalogue
/// could be used so.
///
/// # Errors
/// The errors of `with`.
fn for_each_distant(
    given: &Given,
    (path, choice): (&Path, MessageChoice),
    asked: Asked<'_>,
    out: &mut Out,
    mut with: impl FnMut(&mut Out, &Entry<'_>) -> io::Result<()>,
) -> io::Result<bool> {
    let Some(source) = Distant::open_or_report(path, out) else { return Ok(false) };
    let Some(found) = given.find_at(&source, choice, asked, out) else { return Ok(false) };
    if found.is_empty() {
        let (count, keys) = given.missing(asked.selection);
        asked::note_missing(count, keys);
    }
    let mut buffer = Vec::new();
    for found in found {
        if out.is_full() {
            break;
        }
        match source.entry(found, MessagePart::Outline, &mut buffer) {
            Ok(entry) => with(out, &entry)?,
            Err(error) => {
                if source.report_unread_message(out, found, &error).is_break() {
                    break;
                }
            }
        }
    }
    Ok(true)
}
