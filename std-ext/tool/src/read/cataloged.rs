//! Messages that a catalogue selects, so that others are not read.

use std::io;
use std::path::PathBuf;

use clap::Args;
use tgm_catalog::{Catalog, Freshness};
use tgm_std::metadata::query::Query;
use tgm_std::{Result, TensogramError};

use crate::read::asked;
use crate::read::entry::Entry;
use crate::read::input::{Input, MessagePart};
use crate::read::messages::{MessageChoice, for_each_message};
use crate::read::opening::open_or_report;
use crate::read::select::Selection;
use crate::read::structure::{COMPUTED, Structure};
use crate::show::output::Out;
use tgm_std::file::SourceName;

/// The flag that names a catalogue.
#[derive(Args, Debug)]
pub(crate) struct Cataloged {
    /// Read only messages that -w selects in this catalogue of FILE (`tgm catalog`); one that does not fit FILE is not
    /// used, with a warning
    #[arg(long, value_name = "FILE", requires = "queries")]
    catalog: Option<PathBuf>,
}

impl Cataloged {
    /// Whether the command line makes sense: one catalogue is of one file.
    pub(crate) fn fits(&self, paths: &[PathBuf]) -> bool {
        self.catalog.is_none() || paths.len() == 1
    }

    /// Whether the command line names a catalogue.
    pub(crate) const fn is_named(&self) -> bool {
        self.catalog.is_some()
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
        if !self.is_named() {
            return for_each_message(paths, choice, MessagePart::Outline, out, with);
        }
        for path in paths {
            let Some(input) = open_or_report(path, out) else { continue };
            let Some(numbers) = choice.of(&input, out) else { continue };
            let candidates = self.candidates(&input, selection, by_objects, out);
            if let Some(candidates) = candidates.as_ref().filter(|candidates| !candidates.contains(&true)) {
                asked::note_missing(candidates.len() as u64, self.missing(selection));
            }
            let can_be = |index: usize| candidates.as_ref().is_none_or(|can_be| can_be.get(index) != Some(&false));
            input.for_each_among(out, numbers, can_be, MessagePart::Outline, &mut with)?;
        }
        Ok(())
    }

    /// The keys of the filters that no message of the catalogue has.
    fn missing(&self, selection: &Selection) -> Vec<String> {
        let Some(catalog) = self.catalog.as_ref().and_then(|path| Catalog::open(path).ok()) else { return Vec::new() };
        let is_missing = |key: &&str| {
            let quoted = key.replace('\\', "\\\\").replace('"', "\\\"");
            let Ok(query) = format!("\"{quoted}\"?").parse::<Query>() else { return false };
            !Structure::has_key(key) && catalog.select_messages(&query).is_ok_and(|found| found.is_empty())
        };
        selection.queries().iter().flat_map(Query::keys).filter(is_missing).map(str::to_string).collect()
    }

    /// For each covered message, whether it can be selected. `None` without a catalogue that can be used.
    fn candidates(&self, input: &Input, selection: &Selection, by_objects: bool, out: &mut Out) -> Option<Vec<bool>> {
        let path = self.catalog.as_ref()?;
        match candidates(path, input, selection, by_objects, out) {
            Ok(candidates) => Some(candidates),
            Err(why) => {
                out.remark(&format!("warning: {} is not used: {why}", SourceName::of(path)));
                None
            }
        }
    }
}

fn candidates(
    path: &PathBuf,
    input: &Input,
    selection: &Selection,
    by_objects: bool,
    out: &mut Out,
) -> Result<Vec<bool>> {
    let catalog = Catalog::open(path)?;
    match catalog.check(input.data())? {
        Freshness::Stale(why) => return Err(TensogramError::Metadata(format!("it is stale: {why}").into())),
        Freshness::NotChecked => out.remark(&format!("warning: {}: {}", path.display(), Freshness::NotChecked)),
        _ => {}
    }
    let count = catalog.message_count();
    let mut candidates = vec![true; count];
    // What a catalogue does not hold is asked of the messages.
    let is_held = |query: &&Query| !query.keys().any(|key| COMPUTED.contains(&key));
    for query in selection.queries().iter().filter(is_held) {
        let mut found = vec![false; count];
        let mut add = |message: usize| found.get_mut(message).map(|found| *found = true);
        if by_objects {
            catalog.select(query)?.into_iter().for_each(|(message, _)| _ = add(message));
            for message in 0..count {
                if catalog.objects_of(message)? == 0 {
                    add(message);
                }
            }
        } else {
            catalog.select_messages(query)?.into_iter().for_each(|message| _ = add(message));
        }
        candidates.iter_mut().zip(found).for_each(|(all, found)| *all &= found);
    }
    Ok(candidates)
}
