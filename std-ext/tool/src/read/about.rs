//! Which metadata tells fields apart.

use tgm_std::metadata::query::alias::spellings;

/// Columns with metadata that usually tells fields apart. Each title is a key, as filters take it.
pub(crate) const ABOUT: [&str; 5] = ["name", "level", "date", "step", "number"];

/// Keys under which units stand. The first that is present counts.
pub(crate) const UNITS: [&str; 4] = ["units", "mars.units", "unit", "attributes.units"];

/// The keys of a title of [`ABOUT`]. The first that is present counts.
pub(crate) fn keys_of(title: &'static str) -> &'static [&'static str] {
    // Each of these titles stands for several keys.
    spellings(title).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_title_stands_for_several_keys() {
        assert!(ABOUT.iter().all(|title| keys_of(title).len() > 1 && keys_of(title).first() == Some(title)));
    }
}
