//! Dotted paths, such as `mars.param`: a walk over maps with text keys (FORMAT §7.4).
//!
//! Keys can have dots of their own. A segment in double quotes is a key as it stands: `attributes."mars.param"`. Where plain
//! segments lead nowhere, several of them are taken for one key, as many as there are a key of: so `attributes.mars.param`
//! finds the same.

use super::RESERVED_KEY;
use crate::cbor::{Map, Value};
use crate::error::Result;

/// The first segment of a dotted path, without its quotes, and the rest after its dot. Quotes are a segment's own unless it
/// begins and ends with one.
///
/// ```
/// use tgm_core::metadata::split_path;
///
/// assert_eq!(split_path("mars.param.x"), ("mars", Some("param.x")));
/// assert_eq!(split_path(r#""mars.param".x"#), ("mars.param", Some("x")));
/// ```
pub fn split_path(path: &str) -> (&str, Option<&str>) {
    quoted(path).unwrap_or_else(|| path.split_once('.').map_or((path, None), |(first, rest)| (first, Some(rest))))
}

/// [`split_path`] of a path whose first segment is in quotes.
fn quoted(path: &str) -> Option<(&str, Option<&str>)> {
    let inner = path.strip_prefix('"')?;
    places(inner, b'"').find_map(|at| {
        let behind = inner.get(at.saturating_add(1)..)?;
        let rest = behind.strip_prefix('.');
        (behind.is_empty() || rest.is_some()).then_some((inner.get(..at)?, rest))
    })
}

/// Where a character of ASCII stands. The searches of `str` can panic for all that the linker knows.
fn places(text: &str, mark: u8) -> impl DoubleEndedIterator<Item = usize> {
    let bytes = text.as_bytes();
    (0..bytes.len()).filter(move |at| bytes.get(*at) == Some(&mark))
}

/// The ways to take the start of a path for one key, each with the rest after it: the longest key comes first. Plain
/// segments that are taken together keep their dots.
///
/// ```
/// let ways: Vec<_> = tgm_core::metadata::keys_of_path("a.b.c").collect();
/// assert_eq!(ways, [("a.b.c", None), ("a.b", Some("c")), ("a", Some("b.c"))]);
/// ```
pub fn keys_of_path(path: &str) -> impl Iterator<Item = (&str, Option<&str>)> {
    let quoted = quoted(path);
    let plain = if quoted.is_some() { "" } else { path };
    let shorter =
        places(plain, b'.').rev().filter_map(|at| Some((plain.get(..at)?, Some(plain.get(at.saturating_add(1)..)?))));
    let whole = quoted.is_none().then_some((path, None));
    quoted.into_iter().chain(whole).chain(shorter)
}

/// The value at a path. `top` finds the values of keys of the map in which the path begins.
pub(super) fn follow<'a>(path: &str, top: impl Fn(&str) -> Result<Option<Value<'a>>>) -> Result<Option<Value<'a>>> {
    let (first, rest) = split_path(path);
    let found = descend(top(first)?, rest)?;
    if found.is_some() || rest.is_none() { Ok(found) } else { follow_joined(path, top) }
}

/// [`follow`] with plain segments taken together. Each map on the way is walked once for each segment that is left.
pub(super) fn follow_joined<'a>(
    path: &str,
    top: impl Fn(&str) -> Result<Option<Value<'a>>>,
) -> Result<Option<Value<'a>>> {
    let (mut map, mut path) = (None::<Map<'a>>, path);
    loop {
        let mut next = None;
        for (key, rest) in keys_of_path(path) {
            let found = map.map_or_else(|| top(key), |map| map.get(key))?;
            match (found, rest) {
                (Some(value), None) => return Ok(Some(value)),
                (Some(value), Some(rest)) => {
                    if let Ok(inner) = value.as_map() {
                        next = Some((inner, rest));
                        break;
                    }
                }
                (None, _) => {}
            }
        }
        match next {
            Some((inner, rest)) => (map, path) = (Some(inner), rest),
            None => return Ok(None),
        }
    }
}

/// Follows the rest of a path from the value of its first segment.
fn descend<'a>(from: Option<Value<'a>>, path: Option<&str>) -> Result<Option<Value<'a>>> {
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
    /// What follows the dot after the second segment.
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
