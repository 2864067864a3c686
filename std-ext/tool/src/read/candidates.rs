//! What a catalogue knows of a filter: the messages of its file that can be selected.

use std::fmt;
use std::path::{Path, PathBuf};

use tgm_catalog::{Beside, Catalog, CatalogLimits, Freshness};
use tgm_std::file::{Data, SourceName};
use tgm_std::metadata::query::Query;
use tgm_std::metadata::query::alias::names;
use tgm_std::metadata::query::compare::Number;
use tgm_std::metadata::query::expr::{Condition, Expr};
use tgm_std::{Archive, DecodeOptions, MessageLayout, Result, TensogramError};

use crate::read::asked;
use crate::read::distant::is_distant;
use crate::read::input::{Input, MessagePart};
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

/// The queries of a command, and what they are asked of. All must hold.
#[derive(Clone, Copy)]
pub(crate) struct Filter<'a> {
    pub(crate) queries: &'a [Query],
    pub(crate) level: Level,
}

/// How a file is opened. `None` if it cannot be, which is reported.
pub(crate) type Opened = fn(&Path, &mut Out) -> Option<Input>;

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

    /// The catalogue beside a source. `None` if there is none.
    pub(crate) fn beside(source: &Path) -> Option<Self> {
        let Beside { path, catalog } = Beside::open(source, &CatalogLimits::default(), &DecodeOptions::default())?;
        Some(Self { path, catalog, is_beside: true })
    }

    /// Opens the source of the catalogue. The input knows which messages can be selected, if the catalogue fits. `None` if it cannot be
    /// opened, which is reported.
    pub(crate) fn open(&self, source: &Path, opened: Opened, filter: Filter<'_>, out: &mut Out) -> Option<Input> {
        if is_distant(source)
            && let Some((input, candidates)) = self.open_at_places(source, filter, out)
        {
            if !candidates.contains(&true) {
                asked::note_missing(candidates.len() as u64, self.missing(filter.queries));
            }
            return Some(input.among(candidates));
        }
        let input = opened(source, out)?;
        let Some(mut candidates) = self.candidates(&input, filter, out) else { return Some(input) };
        if !candidates.contains(&true) {
            asked::note_missing(candidates.len().saturating_sub(1) as u64, self.missing(filter.queries));
            // One message is asked, whose metadata show whether the filter is written so that it can hold.
            candidates.iter_mut().take(1).for_each(|first| *first = true);
        }
        Some(input.among(candidates))
    }

    /// The source at an address with the messages that the catalogue knows, which are not searched for, and for each whether it can be
    /// selected. `None` if the catalogue cannot be used so.
    fn open_at_places(&self, source: &Path, filter: Filter<'_>, out: &mut Out) -> Option<(Input, Vec<bool>)> {
        let catalog = self.catalog.as_ref().ok()?;
        let candidates = self.selected(catalog, filter).ok()??;
        let place = |index| {
            catalog.message_range(index).map(|at| MessageLayout { offset: at.start, length: at.end - at.start })
        };
        let messages = (0..catalog.message_count()).map(place).collect::<Result<Vec<_>>>().ok()?;
        let archive = Archive::open_unread(source).ok()?;
        let input = Input::at_places(SourceName::of(source).to_string(), archive, messages, catalog.covered());
        // An answer says how long the source is. A message that is not as the catalogue says is an error.
        if let Some(first) = candidates.iter().position(|can_be| *can_be) {
            input.message(input.places(first..first + 1).next()?, MessagePart::Outline).ok()?;
        }
        input.data().length().ok().filter(|length| *length == catalog.covered())?;
        match catalog.is_of_same_file(input.data()) {
            Some(true) => {}
            // What is read then can tell.
            Some(false) => return None,
            None => out.remark(&format!("warning: {}: {}", input.name(), Freshness::NotChecked)),
        }
        Some((input, candidates))
    }

    /// For each covered message, whether it can be selected. `None` if the catalogue cannot be used, which is reported if something is
    /// wrong with it.
    fn candidates(&self, input: &Input, filter: Filter<'_>, out: &mut Out) -> Option<Vec<bool>> {
        self.check(input.name(), input.data(), out)?;
        let catalog = self.catalog.as_ref().ok()?;
        self.selected(catalog, filter).inspect_err(|why| self.not_used(out, why)).ok()?
    }

    /// Checks that the catalogue fits its source. `None` if it does not, which is reported.
    fn check(&self, name: &str, data: Data<'_>, out: &mut Out) -> Option<()> {
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

    /// The keys of the queries that no message of the catalogue has.
    fn missing(&self, queries: &[Query]) -> Vec<String> {
        let Ok(catalog) = &self.catalog else { return Vec::new() };
        let is_missing = |key: &&str| {
            let quoted = key.replace('\\', "\\\\").replace('"', "\\\"");
            let Ok(query) = format!("\"{quoted}\"?").parse::<Query>() else { return false };
            !Structure::has_key(key) && catalog.select_messages(&query).is_ok_and(|found| found.is_empty())
        };
        queries.iter().flat_map(Query::keys).filter(is_missing).map(str::to_string).collect()
    }

    /// For each message of the catalogue, whether it can be selected. `None` if the catalogue can answer no condition.
    ///
    /// # Errors
    /// The errors of the catalogue; it lacks a key, if it was named.
    fn selected(&self, catalog: &Catalog, Filter { queries, level }: Filter<'_>) -> Result<Option<Vec<bool>>> {
        match level {
            Level::Messages => self.selected_by(catalog, queries, false),
            Level::Objects => self.selected_by(catalog, queries, true),
            Level::Any => {
                let messages = self.selected_by(catalog, queries, false)?;
                let objects = self.selected_by(catalog, queries, true)?;
                Ok(messages.zip(objects).map(|(messages, objects)| {
                    messages.into_iter().zip(objects).map(|(message, object)| message || object).collect()
                }))
            }
        }
    }

    fn selected_by(&self, catalog: &Catalog, queries: &[Query], by_objects: bool) -> Result<Option<Vec<bool>>> {
        let mut candidates = vec![true; catalog.message_count()];
        let mut is_answered = false;
        for query in queries {
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
