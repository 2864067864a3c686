//! What to pick of each dimension of a tensor, written as text with the meaning that it has in Python.
//!
//! # Grammar
//! ```text
//! picks = pick *( "," pick )
//! pick  = [ "-" ] digits                                an index; the result does not have this dimension
//!       | [ start ] ":" [ end ] [ ":" [ step ] ]        indices from `start`, below `end`, each `step` after the last
//!       | ".." | "..."                                  all of as many dimensions as the other picks leave
//! ```
//!
//! - Negative numbers count from the end: `-1` is the last index.
//! - Ranges are cut to the dimension, so `0:1000` of 10 indices picks all of them. An index that does not exist is an
//!   error.
//! - Dimensions after the last pick are picked whole.
//! - A step is 1 or more. Blanks around numbers, colons and commas do not count.

use std::fmt;
use std::num::NonZeroU64;
use std::str::FromStr;

use tgm_core::selection::Pick;

use crate::base::error::TensogramError;

/// Picks written as text, such as `0, 10:20, ::4, -1, ..`, for a tensor of any shape. The
/// [module](crate::decode::picks) has the grammar.
///
/// ```
/// use tgm_std::core::selection::Pick;
/// use tgm_std::decode::Picks;
///
/// let picks = Picks::parse("-1, .., 2:6")?;
/// assert_eq!(picks.resolve([5, 7, 9, 4])?, [Pick::Index(4), Pick::All, Pick::All, Pick::from(2..4)]);
/// assert!(picks.resolve([5]).is_err());
/// # Ok::<(), tgm_std::TensogramError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Picks {
    parts: Vec<Part>,
}

/// What one part of the text picks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    /// One index.
    Index(i64),
    /// Indices of a range.
    Range { start: Option<i64>, end: Option<i64>, step: NonZeroU64 },
    /// All of the dimensions that other parts leave.
    Rest,
}

/// Why picks are wrong: the text is not picks, or the tensor does not have what they pick.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PicksError(String);

impl fmt::Display for PicksError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for PicksError {}

impl From<PicksError> for TensogramError {
    fn from(error: PicksError) -> Self {
        Self::encoding(error.0)
    }
}

impl Picks {
    /// Reads picks from text.
    ///
    /// # Errors
    /// [`PicksError`] that names the dimension, counted from 0, and what is wrong with it.
    pub fn parse(text: &str) -> Result<Self, PicksError> {
        let mut parts = Vec::new();
        for (number, part) in text.split(',').enumerate() {
            let part = Part::parse(part.trim());
            parts
                .push(part.map_err(|wrong| PicksError(format!("selection, part {number} (counted from 0): {wrong}")))?);
        }
        if parts.iter().filter(|part| **part == Part::Rest).count() > 1 {
            return Err(PicksError("selection: `..` can stand only once".into()));
        }
        Ok(Self { parts })
    }

    /// The picks for a tensor of this shape, one for each dimension.
    ///
    /// # Errors
    /// [`PicksError`] if the tensor has fewer dimensions, and for an index that a dimension does not have.
    pub fn resolve(&self, shape: impl IntoIterator<Item = u64>) -> Result<Vec<Pick>, PicksError> {
        let shape: Vec<u64> = shape.into_iter().collect();
        let before = self.parts.iter().position(|part| *part == Part::Rest).unwrap_or(self.parts.len());
        let behind = self.parts.iter().skip(before + 1).count();
        let picked = before + behind;
        let rest = shape.len().checked_sub(picked).ok_or_else(|| {
            PicksError(format!("selection of {picked} dimensions, the tensor has {}: {shape:?}", shape.len()))
        })?;
        let parts = self.parts.iter().take(before);
        let parts = parts.chain(std::iter::repeat_n(&Part::Rest, rest)).chain(self.parts.iter().skip(before + 1));
        let resolve = |(number, (part, len)): (usize, (&Part, &u64))| {
            part.resolve(*len)
                .map_err(|wrong| PicksError(format!("selection, dimension {number} (counted from 0): {wrong}")))
        };
        parts.zip(&shape).enumerate().map(resolve).collect()
    }
}

impl FromStr for Picks {
    type Err = PicksError;

    fn from_str(text: &str) -> Result<Self, PicksError> {
        Self::parse(text)
    }
}

impl fmt::Display for Picks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let number = |number: &Option<i64>| number.map_or_else(String::new, |number| number.to_string());
        for (place, part) in self.parts.iter().enumerate() {
            f.write_str(if place == 0 { "" } else { "," })?;
            match part {
                Part::Index(index) => write!(f, "{index}")?,
                Part::Range { start, end, step: NonZeroU64::MIN } => write!(f, "{}:{}", number(start), number(end))?,
                Part::Range { start, end, step } => write!(f, "{}:{}:{step}", number(start), number(end))?,
                Part::Rest => f.write_str("..")?,
            }
        }
        Ok(())
    }
}

impl Part {
    fn parse(text: &str) -> Result<Self, String> {
        match text {
            "" => return Err("it is empty; `:` picks all of a dimension".into()),
            ".." | "..." => return Ok(Self::Rest),
            _ => {}
        }
        let mut numbers = text.split(':').map(str::trim);
        let (start, end, step) = (numbers.next().unwrap_or(""), numbers.next(), numbers.next());
        if numbers.next().is_some() {
            return Err(format!("`{text}` has more than two colons"));
        }
        let Some(end) = end else { return Ok(Self::Index(number(start)?)) };
        let step = step.filter(|step| !step.is_empty()).map_or(Ok(1), number)?;
        let step = u64::try_from(step).ok().and_then(NonZeroU64::new);
        let step = step.ok_or_else(|| format!("the step of `{text}` is less than 1"))?;
        let optional = |text: &str| if text.is_empty() { Ok(None) } else { number(text).map(Some) };
        Ok(Self::Range { start: optional(start)?, end: optional(end)?, step })
    }

    /// What it picks of a dimension of `len`.
    fn resolve(self, len: u64) -> Result<Pick, String> {
        match self {
            Self::Rest => Ok(Pick::All),
            Self::Index(index) => {
                let found = u64::try_from(from_start(index, len)).ok().filter(|index| *index < len);
                found.map(Pick::Index).ok_or_else(|| format!("there is no index {index}, the length is {len}"))
            }
            Self::Range { start, end, step } => {
                // Beyond either end is that end.
                let cut = |index: i64| u64::try_from(from_start(index, len)).unwrap_or(0).min(len);
                let (start, end) = (start.map_or(0, cut), end.map_or(len, cut));
                if (start, end, step) == (0, len, NonZeroU64::MIN) {
                    return Ok(Pick::All);
                }
                Ok(Pick::Range { start: start.min(end), end, step })
            }
        }
    }
}

/// An index counted from the start of a dimension of `len`.
fn from_start(index: i64, len: u64) -> i128 {
    i128::from(index) + if index < 0 { i128::from(len) } else { 0 }
}

fn number(text: &str) -> Result<i64, String> {
    text.parse().map_err(|_| format!("`{text}` is not a number of 64 bits; a part is INDEX, START:END:STEP or `..`"))
}
