//! Dotted paths, such as `mars.param`: a walk over maps with text keys (FORMAT §7.4).

use super::RESERVED_KEY;
use crate::cbor::{Map, Value};
use crate::error::Result;

/// The first segment of a dotted path, and the rest after its dot.
pub(super) fn split_path(path: &str) -> (&str, Option<&str>) {
    path.split_once('.').map_or((path, None), |(first, rest)| (first, Some(rest)))
}

/// Follows the rest of a path from the value of its first segment.
pub(super) fn descend<'a>(from: Option<Value<'a>>, path: Option<&str>) -> Result<Option<Value<'a>>> {
    let (mut found, mut path) = (from, path);
    while let (Some(value), Some(rest)) = (found, path) {
        let (segment, after) = split_path(rest);
        found = value.as_map().map_or(Ok(None), |map| map.get(segment))?;
        path = after;
    }
    Ok(found)
}

/// A dotted path, split where [`find_many`] compares it.
#[derive(Clone, Copy)]
pub(super) struct Path<'p> {
    first: &'p str,
    second: Option<&'p str>,
    /// What follows the dot behind the second segment.
    rest: Option<&'p str>,
}

impl<'p> Path<'p> {
    /// Splits a path.
    pub(super) fn new(path: &'p str) -> Self {
        let (first, behind) = split_path(path);
        let (second, rest) = behind.map(split_path).unzip();
        Self { first, second, rest: rest.flatten() }
    }
}

/// Looks in `map` for the values at several paths, in one walk. Where a path's first segment is a key of the map, `found` gets
/// what the path leads to, or `None` if it leads nowhere. Paths that begin with an empty segment or with `_reserved_` are
/// left out.
pub(super) fn find_many<'a>(map: Map<'a>, paths: &[Path<'_>], found: &mut [Option<Value<'a>>]) -> Result<()> {
    let mut entries = map.iter();
    while let Some(key) = entries.next_text()? {
        let is_on = |path: &Path<'_>| key.is(path.first);
        if !paths.iter().any(is_on) || key.is("") || key.is(RESERVED_KEY) {
            entries.skip_value()?;
            continue;
        }
        let value = entries.value()?;
        let mut leads_on = false;
        for (path, found) in paths.iter().zip(&mut *found).filter(|(path, _)| is_on(path)) {
            *found = path.second.is_none().then_some(value);
            leads_on |= path.second.is_some();
        }
        if leads_on && let Ok(inner) = value.as_map() {
            find_seconds(inner, is_on, paths, found)?;
        }
    }
    Ok(())
}

/// The part of [`find_many`] inside of the value of a key, for the paths that lead through it.
fn find_seconds<'a>(
    map: Map<'a>,
    leads_here: impl Fn(&Path<'_>) -> bool,
    paths: &[Path<'_>],
    found: &mut [Option<Value<'a>>],
) -> Result<()> {
    let mut entries = map.iter();
    while let Some(key) = entries.next_text()? {
        let is_on = |path: &Path<'_>| path.second.is_some_and(|second| key.is(second)) && leads_here(path);
        if !paths.iter().any(is_on) {
            entries.skip_value()?;
            continue;
        }
        let value = entries.value()?;
        for (path, found) in paths.iter().zip(&mut *found).filter(|(path, _)| is_on(path)) {
            *found = descend(Some(value), path.rest)?;
        }
    }
    Ok(())
}

/// Defines the typed getters of a view whose `get` finds a [`Value`] by its dotted path.
macro_rules! typed_getters {
    ($($name:ident -> $type:ty = $cast:ident, $what:literal;)+) => {
        $(
            #[doc = concat!("The ", $what, " at a dotted path.")]
            ///
            /// # Errors
            /// [`ErrorKind::WrongType`](crate::ErrorKind::WrongType) or
            /// [`ErrorKind::IntegerRange`](crate::ErrorKind::IntegerRange) if the value is another one.
            pub fn $name(&self, path: &str) -> Result<Option<$type>> {
                self.get(path)?.map(|value| value.$cast()).transpose()
            }
        )+
    };
    () => {
        typed_getters! {
            get_str -> &'a str = as_str, "text";
            get_bool -> bool = as_bool, "truth value";
            get_i64 -> i64 = as_i64, "signed integer";
            get_u64 -> u64 = as_u64, "unsigned integer";
            get_f64 -> f64 = as_f64, "number, integers included,";
            get_bytes -> Bytes<'a> = as_bytes, "byte string";
            get_array -> Array<'a> = as_array, "array";
            get_map -> Map<'a> = as_map, "map";
        }
    };
}

pub(super) use typed_getters;
