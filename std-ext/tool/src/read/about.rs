//! Which metadata tells fields apart.

use tgm_core::metadata::NAME_KEYS;

/// Columns with metadata that usually tells fields apart: the title, and the keys to look up. The first key that is
/// present counts.
pub(crate) const ABOUT: [(&str, &[&str]); 4] = [
    ("name", &NAME_KEYS),
    ("level", &["mars.levelist", "levelist", "level"]),
    ("date", &["mars.date", "date"]),
    ("step", &["mars.step", "step"]),
];

/// Keys under which units stand. The first that is present counts.
pub(crate) const UNITS: [&str; 4] = ["units", "mars.units", "unit", "attributes.units"];
