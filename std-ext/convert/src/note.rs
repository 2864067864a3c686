//! What a conversion leaves out, of formats whose files are read and written piece by piece.

use std::fmt;

use tgm_std::TensogramError;

/// Something that a conversion leaves out, and its place.
#[derive(Debug)]
#[non_exhaustive]
pub enum Note {
    /// The target format has no place for it.
    NotKept {
        /// Where it is.
        place: String,
        /// What it is.
        what: String,
    },
    /// Nothing is left out, but somebody may want to know.
    Remark {
        /// Where it is.
        place: String,
        /// What it is.
        what: String,
    },
    /// It cannot be read or converted.
    Failed {
        /// Where it is.
        place: String,
        /// What is wrong.
        error: TensogramError,
    },
}

impl Note {
    pub(super) fn not_kept(place: impl Into<String>, what: impl Into<String>) -> Self {
        Self::NotKept { place: place.into(), what: what.into() }
    }

    pub(super) fn remark(place: impl Into<String>, what: impl Into<String>) -> Self {
        Self::Remark { place: place.into(), what: what.into() }
    }

    pub(super) fn failed(place: impl Into<String>, error: TensogramError) -> Self {
        Self::Failed { place: place.into(), error }
    }

    /// Whether something is wrong with the input. Otherwise the formats differ.
    pub const fn is_failure(&self) -> bool {
        matches!(self, Self::Failed { .. })
    }
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotKept { place, what } => write!(f, "{place}: not kept: {what}"),
            Self::Remark { place, what } => write!(f, "{place}: {what}"),
            Self::Failed { place, error } => write!(f, "{place}: {error}"),
        }
    }
}

/// Takes notes of what is at a place.
pub(super) struct Notes<'r> {
    pub(super) place: String,
    pub(super) report: &'r mut dyn FnMut(Note),
}

impl Notes<'_> {
    /// Notes of another place.
    pub(super) fn at(&mut self, place: impl Into<String>) -> Notes<'_> {
        Notes { place: place.into(), report: &mut *self.report }
    }

    pub(super) fn not_kept(&mut self, what: impl Into<String>) {
        (self.report)(Note::not_kept(self.place.as_str(), what));
    }

    #[cfg(feature = "zarr")]
    pub(super) fn remark(&mut self, what: impl Into<String>) {
        (self.report)(Note::remark(self.place.as_str(), what));
    }

    pub(super) fn failed(&mut self, error: TensogramError) {
        (self.report)(Note::failed(self.place.as_str(), error));
    }
}
