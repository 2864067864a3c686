//! The advice that error texts of converters contain, beside [`tgm_std::Hint`].
//!
//! All of it stands in this file, as [`Hint`] says. `tests/tests/bounds/advice.rs` checks that.

use std::fmt;

/// A piece of advice in the text of a converter's error.
///
/// A program that shows errors to its own users searches the text for each of [`Hint::ALL`], as for the hints of
/// [`tgm_std::Hint`]. It replaces what it finds by advice that its users can follow.
///
/// ```
/// assert!(tgm_convert::Hint::ALL.iter().all(|hint| hint.text().starts_with("enable feature")));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Hint {
    /// Feature `grib-jpeg2000`.
    GribJpeg2000,
    /// Feature `grib-png`.
    GribPng,
}

impl Hint {
    /// All hints. The text of a hint is never part of another hint's text.
    pub const ALL: &[Self] = &[Self::GribJpeg2000, Self::GribPng];

    /// The words as errors contain them.
    pub const fn text(self) -> &'static str {
        match self {
            Self::GribJpeg2000 => "enable feature `grib-jpeg2000`",
            Self::GribPng => "enable feature `grib-png`",
        }
    }
}

impl fmt::Display for Hint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.text())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_hint_is_part_of_another() {
        let theirs = tgm_std::Hint::ALL.iter().map(|hint| hint.text());
        let all: Vec<_> = Hint::ALL.iter().map(|hint| hint.text()).chain(theirs).collect();
        for hint in &all {
            assert_eq!(all.iter().filter(|other| other.contains(hint)).count(), 1, "{hint}");
        }
    }
}
