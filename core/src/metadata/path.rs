//! Dotted paths, such as `mars.param`: a walk over maps with text keys (FORMAT §7.4).

use crate::cbor::Value;
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
