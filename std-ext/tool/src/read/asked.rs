//! What the filters of a run were asked: a filter that selects nothing because its key is nowhere is a mistake, which is
//! told.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, MutexGuard, PoisonError};

use tgm_core::metadata::MessageMetadata;
use tgm_std::internal::{MetadataBudget, to_owned};
use tgm_std::metadata::query::alias::{names, spellings};
use tgm_std::metadata::query::expr::Condition;
use tgm_std::metadata::query::{Query, similar_keys};

use crate::read::about::{ABOUT, keys_of};
use crate::read::structure::Structure;
use crate::show::output::Out;

/// Keys that are proposed at most.
const PROPOSED: usize = 3;

/// For all threads.
static ASKED: Mutex<FilterTally> =
    Mutex::new(FilterTally { count: 0, has_selected: false, missing: None, misfits: None });

/// What was asked so far.
#[derive(Debug, Default)]
struct FilterTally {
    /// How many messages or objects were asked about.
    count: u64,
    has_selected: bool,
    /// The keys that no message had so far, each with keys that may be meant. `None` before the first message.
    missing: Option<BTreeMap<String, BTreeSet<String>>>,
    /// The conditions that no metadata so far could fulfil, for what they are written like, each with the first metadata that cannot.
    misfits: Option<Vec<(Condition, Option<String>)>>,
}

/// Each change is complete by itself, so a panic elsewhere leaves nothing half done.
fn asked() -> MutexGuard<'static, FilterTally> {
    ASKED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Takes note of the answer for a message or an object.
pub(crate) fn note_answer(is_selected: bool) {
    let mut asked = asked();
    asked.count += 1;
    asked.has_selected |= is_selected;
}

/// Takes note of which keys of the queries a message has. Nothing is looked up once something was selected, or every key
/// was seen.
pub(crate) fn note_keys(queries: &[Query], message: &MessageMetadata<'_>) -> tgm_core::Result<()> {
    let mut asked = asked();
    if asked.has_selected {
        return Ok(());
    }
    let is_in_metadata = |key: &&str| !Structure::has_key(key);
    let keys = queries.iter().flat_map(Query::keys).filter(is_in_metadata);
    let missing = asked.missing.get_or_insert_with(|| keys.map(|key| (key.to_string(), BTreeSet::new())).collect());
    let mut seen = Vec::new();
    for (key, meant) in missing.iter_mut() {
        if has_one_of(message, names(key))? {
            seen.push(key.clone());
        } else if meant.is_empty() {
            *meant = similar(message, key)?;
        }
    }
    for key in &seen {
        missing.remove(key);
    }
    let conditions = || queries.iter().flat_map(|query| query.root().asked());
    let misfits = asked.misfits.get_or_insert_with(|| conditions().map(|it| (it.clone(), None)).collect());
    let mut fitting = Vec::new();
    for (condition, why) in misfits.iter_mut() {
        let keys = spellings(&condition.key).unwrap_or_default().iter().copied();
        let found = std::iter::once(&*condition.key).chain(keys).find_map(|key| message.get(key).transpose());
        let Some(value) = found.transpose()? else { continue };
        match condition.why_misfit(&value) {
            Some(found) => drop(why.get_or_insert(found)),
            None => fitting.push(condition.clone()),
        }
    }
    misfits.retain(|(condition, _)| !fitting.contains(condition));
    Ok(())
}

/// Takes note that `count` messages were asked about and none was selected, and that these have no such key.
pub(crate) fn note_missing(count: u64, keys: impl IntoIterator<Item = String>) {
    let mut asked = asked();
    asked.count += count;
    let missing = asked.missing.get_or_insert_default();
    missing.extend(keys.into_iter().map(|key| (key, BTreeSet::new())));
}

/// Reports the keys that were nowhere, and the conditions that no metadata can fulfil for what they are written like, if nothing was
/// selected.
pub(crate) fn report(out: &mut Out) {
    let FilterTally { count, has_selected: false, missing: Some(missing), misfits } = std::mem::take(&mut *asked())
    else {
        return;
    };
    for why in misfits.iter().flatten().filter_map(|(_, why)| why.as_ref()).filter(|_| count > 0) {
        out.note_void();
        out.problem(&format!("0 of {count} match the filter: {why}"));
    }
    for (key, meant) in missing.iter().filter(|_| count > 0) {
        let meant: Vec<_> = meant.iter().take(PROPOSED).map(String::as_str).collect();
        let hint = if meant.is_empty() { String::new() } else { format!("; did you mean {}?", meant.join(" or ")) };
        out.note_void();
        out.problem(&format!("0 of {count} match the filter: none has the key {key}{hint}"));
    }
}

/// Whether a message has one of the keys.
fn has_one_of<'k>(message: &MessageMetadata<'_>, mut keys: impl Iterator<Item = &'k str>) -> tgm_core::Result<bool> {
    let found = keys.find_map(|key| message.get(key).map(|value| value.map(drop)).transpose());
    found.transpose().map(|found| found.is_some())
}

/// Keys of a message that may be meant: those that a listing shows under such a title, or those that are similar.
fn similar(message: &MessageMetadata<'_>, asked: &str) -> tgm_core::Result<BTreeSet<String>> {
    let titled = ABOUT.iter().filter(|title| title.eq_ignore_ascii_case(asked)).flat_map(|title| keys_of(title));
    for key in titled {
        if message.get(key)?.is_some() {
            return Ok(BTreeSet::from([(*key).to_string()]));
        }
    }
    // Filters read more metadata than a program can own. Then nothing is proposed.
    let metadata = to_owned::message_metadata(message, &MetadataBudget::by_default());
    Ok(metadata.map(|metadata| similar_keys(&metadata, asked).into_iter().collect()).unwrap_or_default())
}
