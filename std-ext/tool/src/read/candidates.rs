//! What a catalogue knows of a filter: the messages of its file that can be selected.

use std::fmt;
use std::path::{Path, PathBuf};

use tgm_catalog::tree::Choice;
use tgm_catalog::{Beside, Catalog, CatalogLimits, Freshness};
use tgm_std::file::{Data, SourceName};
use tgm_std::internal::query::{Condition, Expr, Number, names};
use tgm_std::metadata::query::Query;
use tgm_std::{DecodeOptions, MessageLayout, Result, TensogramError};

use crate::read::choice::MessageChoice;
use crate::read::distant::{Distant, Found};
use crate::read::input::{Input, MessagePart};
use crate::read::select::Selection;
use crate::read::structure::{COMPUTED, Structure};
use crate::show::output::Out;

/// The structural keys that the places of messages and objects answer.
const PLACED: [&str; 4] = ["message", "object", "objects", "offset"];

/// What a filter is asked of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Level {
    Messages,
    Objects,
    /// Either of them.
    Any,
}

/// A filter, and what it is asked of.
#[derive(Clone, Copy)]
pub(crate) struct Asked<'a> {
    pub(crate) selection: &'a Selection,
    pub(crate) level: Level,
}

/// A catalogue of a source.
#[derive(Debug)]
pub(crate) struct Given {
    path: PathBuf,
    catalog: Result<Catalog>,
    /// Whether it lies beside its source and nobody named it. Conditions that it cannot answer are then no reason for a warning.
    is_beside: bool,
}

impl Given {
    /// A catalogue that a command line or a tree names.
    pub(crate) const fn named(path: PathBuf, catalog: Result<Catalog>) -> Self {
        Self { path, catalog, is_beside: false }
    }

    /// The catalogue for a filter: the one that is named, or the one beside the source. `None` if there is none, or no filter.
    pub(crate) fn of(source: &Path, named: Option<&Path>, selection: &Selection) -> Option<Self> {
        if selection.is_empty() || Choice::is_tree(source) {
            return None;
        }
        if let Some(path) = named {
            return Some(Self::named(path.to_path_buf(), Catalog::open(path)));
        }
        let Beside { path, catalog } = Beside::open(source, &CatalogLimits::default(), &DecodeOptions::default())?;
        Some(Self { path, catalog, is_beside: true })
    }

    /// The messages of a source at an address that can be selected, at the places that the catalogue knows. `None` if the
    /// catalogue cannot be used so.
    pub(crate) fn find_at(
        &self,
        source: &Distant,
        choice: MessageChoice,
        asked: Asked<'_>,
        out: &mut Out,
    ) -> Option<Vec<Found>> {
        let catalog = self.catalog.as_ref().ok()?;
        let found = self.places(catalog, choice, asked).ok()??;
        // An answer tells how long the source is. A message that is not as the catalogue says is an error.
        let mut buffer = Vec::new();
        let first = found.first().map(|first| source.entry(*first, MessagePart::Outline, &mut buffer).map(drop));
        if first.is_some_and(|first| first.is_err())
            || !source.data().length().is_ok_and(|len| len == catalog.covered())
        {
            return None;
        }
        match catalog.is_of_same_file(source.data()) {
            Some(true) => {}
            // What is read then can tell.
            Some(false) => return None,
            None => out.remark(&format!("warning: {}: {}", source.name(), Freshness::NotChecked)),
        }
        Some(found)
    }

    /// The places of messages that can be selected.
    fn places(&self, catalog: &Catalog, choice: MessageChoice, asked: Asked<'_>) -> Result<Option<Vec<Found>>> {
        let Some(candidates) = self.selected(catalog, asked)? else { return Ok(None) };
        let is_chosen = |found: &Found| {
            choice.message.is_none_or(|index| found.number == index.into())
                && choice.at.is_none_or(|at| found.layout.offset == at)
        };
        let numbers = (0..).zip(candidates).filter_map(|(index, can_be)| can_be.then_some(index));
        let places = numbers.map(|index| {
            let place = catalog.message_range(index)?;
            let layout = MessageLayout { offset: place.start, length: place.end - place.start };
            Ok(Found::new(index, layout))
        });
        places.filter(|found| found.as_ref().map_or(true, is_chosen)).collect::<Result<_>>().map(Some)
    }

    /// For each covered message, whether it can be selected. `None` if the catalogue cannot be used, which is reported if something is
    /// wrong with it.
    pub(crate) fn candidates(&self, input: &Input, asked: Asked<'_>, out: &mut Out) -> Option<Vec<bool>> {
        self.check(input.name(), input.data(), out)?;
        let catalog = self.catalog.as_ref().ok()?;
        self.selected(catalog, asked).inspect_err(|why| self.not_used(out, why)).ok()?
    }

    /// Checks that the catalogue fits its source. `None` if it does not, which is reported.
    pub(crate) fn check(&self, name: &str, data: Data<'_>, out: &mut Out) -> Option<()> {
        let checked = match &self.catalog {
            Ok(catalog) => catalog.check(data).map_err(|error| self.not_used(out, &error)).ok()?,
            Err(why) => {
                self.not_used(out, why);
                return None;
            }
        };
        match checked {
            Freshness::Stale(why) => {
                self.not_used(out, &TensogramError::Metadata(format!("it is stale: {why}").into()));
                return None;
            }
            Freshness::NotChecked => out.remark(&format!("warning: {name}: {}", Freshness::NotChecked)),
            _ => {}
        }
        Some(())
    }

    fn not_used(&self, out: &mut Out, why: &dyn fmt::Display) {
        out.remark(&format!("warning: {} is not used: {why}", SourceName::of(&self.path)));
    }

    /// How many messages the catalogue covers, and the keys of the filters that none of them has.
    pub(crate) fn missing(&self, selection: &Selection) -> (u64, Vec<String>) {
        let Ok(catalog) = &self.catalog else { return (0, Vec::new()) };
        let is_missing = |key: &&str| {
            let quoted = key.replace('\\', "\\\\").replace('"', "\\\"");
            let Ok(query) = format!("\"{quoted}\"?").parse::<Query>() else { return false };
            !Structure::has_key(key) && catalog.select_messages(&query).is_ok_and(|found| found.is_empty())
        };
        let keys = selection.queries().iter().flat_map(Query::keys).filter(is_missing).map(str::to_string);
        (catalog.message_count() as u64, keys.collect())
    }

    /// For each message of the catalogue, whether it can be selected. `None` if the catalogue can answer no condition.
    ///
    /// # Errors
    /// The errors of the catalogue; it lacks a key, if it was named.
    fn selected(&self, catalog: &Catalog, Asked { selection, level }: Asked<'_>) -> Result<Option<Vec<bool>>> {
        match level {
            Level::Messages => self.selected_by(catalog, selection, false),
            Level::Objects => self.selected_by(catalog, selection, true),
            Level::Any => {
                let messages = self.selected_by(catalog, selection, false)?;
                let objects = self.selected_by(catalog, selection, true)?;
                Ok(messages.zip(objects).map(|(messages, objects)| {
                    messages.into_iter().zip(objects).map(|(message, object)| message || object).collect()
                }))
            }
        }
    }

    fn selected_by(&self, catalog: &Catalog, selection: &Selection, by_objects: bool) -> Result<Option<Vec<bool>>> {
        let mut candidates = vec![true; catalog.message_count()];
        let mut is_answered = false;
        for query in selection.queries() {
            let can_be = if query.keys().any(|key| is_placed(catalog, key)) {
                by_places(catalog, query, by_objects)?
            } else if is_held(query) && (!self.is_beside || has_keys(catalog, query)) {
                by_columns(catalog, query, by_objects)?
            } else {
                // What a catalogue does not hold is asked of the messages.
                continue;
            };
            is_answered = true;
            candidates.iter_mut().zip(can_be).for_each(|(all, can_be)| *all &= can_be);
        }
        Ok((is_answered || !self.is_beside).then_some(candidates))
    }
}

/// Whether a catalogue can have the keys of a query. Some are computed.
pub(crate) fn is_held(query: &Query) -> bool {
    !query.keys().any(|key| COMPUTED.contains(&key))
}

/// Whether a catalogue has the keys of a query.
fn has_keys(catalog: &Catalog, query: &Query) -> bool {
    let is_known = |key: &str| key == "version" || catalog.keys().any(|known| known == key);
    query.keys().all(|key| names(key).any(is_known))
}

/// Whether places answer a key. A column says that messages have metadata of this name, which count first.
fn is_placed(catalog: &Catalog, key: &str) -> bool {
    PLACED.contains(&key) && !catalog.keys().any(|known| known == key)
}

/// The messages that a query selects by the columns of the catalogue.
fn by_columns(catalog: &Catalog, query: &Query, by_objects: bool) -> Result<Vec<bool>> {
    let count = catalog.message_count();
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
    Ok(found)
}

/// The messages that a query can select by their places, whatever their metadata are.
fn by_places(catalog: &Catalog, query: &Query, by_objects: bool) -> Result<Vec<bool>> {
    let can_be = |message: usize| {
        let objects = catalog.objects_of(message)?;
        let offset = catalog.message_range(message)?.start;
        let whole = Placed { message, object: (objects > 0).then_some(0), objects, offset };
        if !by_objects || objects == 0 {
            return Ok(whole.can_be(query.root()));
        }
        for object in 0..objects {
            let offset = catalog.object_range(message, object)?.start;
            if (Placed { object: Some(object), offset, ..whole }).can_be(query.root()) {
                return Ok(true);
            }
        }
        Ok(false)
    };
    (0..catalog.message_count()).map(can_be).collect()
}

/// The place of a message or an object.
#[derive(Clone, Copy)]
struct Placed {
    message: usize,
    object: Option<usize>,
    objects: usize,
    offset: u64,
}

impl Placed {
    fn can_be(&self, expr: &Expr) -> bool {
        self.may_hold(expr).0
    }

    /// Whether an expression may hold here, and whether it may not. What metadata decide may be either.
    fn may_hold(&self, expr: &Expr) -> (bool, bool) {
        match expr {
            Expr::Is(condition) => self.holds(condition).map_or((true, true), |holds| (holds, !holds)),
            Expr::Alias(alias) => self.may_hold(&alias.meant),
            Expr::Not(inner) => {
                let (may, may_not) = self.may_hold(inner);
                (may_not, may)
            }
            Expr::All(inner) => inner
                .iter()
                .map(|expr| self.may_hold(expr))
                .fold((true, false), |(all, any), (may, may_not)| (all && may, any || may_not)),
            Expr::Any(inner) => inner
                .iter()
                .map(|expr| self.may_hold(expr))
                .fold((false, true), |(any, all), (may, may_not)| (any || may, all && may_not)),
        }
    }

    /// Whether a condition holds here. `None` if metadata decide.
    fn holds(&self, condition: &Condition) -> Option<bool> {
        let number = match (&*condition.key, self.object) {
            ("message", _) => self.message as u64,
            ("object", Some(object)) => object as u64,
            ("object", None) => return condition.holds(None).ok(),
            ("objects", _) => self.objects as u64,
            ("offset", _) => self.offset,
            _ => return None,
        };
        condition.holds_for(Number::Integer(i128::from(number)))
    }
}
