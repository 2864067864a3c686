//! What values the objects and messages of a child have under a key: all of them, or the least and the greatest.

use std::collections::BTreeSet;

use tgm_core::cbor::Value;
use tgm_std::Result;
use tgm_std::metadata::query::compare::Number;
use tgm_std::metadata::query::expr::Condition;

/// Values of a key that are listed, at most. If there are more numbers, their range is kept.
const MOST_LISTED: usize = 256;

/// How the values of a key are known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Form {
    /// These, and no others.
    Listed,
    /// Numbers from the first value to the second.
    Range,
    /// Nothing is known.
    Anything,
}

impl Form {
    pub(super) const ALL: [Self; 3] = [Self::Listed, Self::Range, Self::Anything];

    pub(super) const fn code(self) -> u64 {
        match self {
            Self::Listed => 0,
            Self::Range => 1,
            Self::Anything => 2,
        }
    }
}

/// What values the objects and messages of a child have under a key.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Seen {
    pub(super) form: Form,
    /// As CBOR: the values, or the least and the greatest.
    pub(super) values: Vec<Vec<u8>>,
    /// Whether an object or a message does not have the key.
    pub(super) lacks: bool,
}

impl Seen {
    /// Nothing is known of the values.
    pub const ANYTHING: Self = Self { form: Form::Anything, values: Vec::new(), lacks: true };

    /// These values, as CBOR. `lacks` says whether the key is missing somewhere. If there are more than 256 numbers, their range is kept, and
    /// of more than 256 other values nothing.
    pub fn of<V: AsRef<[u8]>>(values: impl IntoIterator<Item = V>, lacks: bool) -> Self {
        let mut found = Finder { lacks, ..Finder::default() };
        values.into_iter().for_each(|value| found.add(value.as_ref()));
        found.finish()
    }

    /// The range of a list of numbers. It takes less room.
    #[must_use]
    pub fn as_range(&self) -> Self {
        let mut found = Finder { lacks: self.lacks, is_full: true, ..Finder::default() };
        self.values.iter().for_each(|value| found.add(value));
        if self.form == Form::Anything { Self::ANYTHING } else { found.finish() }
    }

    /// What several children have together.
    pub(super) fn joined<'s>(all: impl IntoIterator<Item = &'s Self>) -> Self {
        let mut found = Finder::default();
        for seen in all {
            found.lacks |= seen.lacks;
            match seen.form {
                Form::Listed => seen.values.iter().for_each(|value| found.add(value)),
                Form::Range => {
                    found.is_full = true;
                    seen.values.iter().for_each(|value| found.add(value));
                }
                Form::Anything => found.is_unknown = true,
            }
        }
        found.finish()
    }
}

/// Whether a condition may hold somewhere in a child, and whether it may not, by what the child has under the key. `holds` says
/// for each listed value whether the condition holds.
///
/// # Errors
/// The errors of comparing.
pub(super) fn may_hold(
    (form, lacks): (Form, bool),
    holds: impl Iterator<Item = bool>,
    range: impl FnOnce() -> Option<(Number, Number)>,
    condition: &Condition,
) -> Result<(bool, bool)> {
    let (mut may, mut may_not) = match form {
        Form::Listed => holds.fold((false, false), |(may, may_not), holds| (may || holds, may_not || !holds)),
        Form::Range => range().map_or((true, true), |(low, high)| condition.may_hold_within(low, high)),
        Form::Anything => (true, true),
    };
    if lacks {
        let holds = condition.holds(None)?;
        may |= holds;
        may_not |= !holds;
    }
    Ok((may, may_not))
}

/// Gathers the values of a key.
#[derive(Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is a finding by itself")]
pub(crate) struct Finder {
    listed: BTreeSet<Vec<u8>>,
    /// Whether values are not listed any more.
    is_full: bool,
    /// Whether a value is not a number that has an order.
    has_others: bool,
    is_unknown: bool,
    low: Option<(Number, Vec<u8>)>,
    high: Option<(Number, Vec<u8>)>,
    pub(crate) lacks: bool,
}

impl Finder {
    /// Adds a value, as CBOR.
    pub(crate) fn add(&mut self, encoded: &[u8]) {
        if !self.is_full && !self.listed.contains(encoded) {
            self.listed.insert(encoded.to_vec());
            self.is_full = self.listed.len() > MOST_LISTED;
        }
        let number = Value::parse(encoded, 0).ok().and_then(|value| Number::of(&value));
        let Some(number) = number.filter(|number| number.order(*number).is_some()) else {
            self.has_others = true;
            return;
        };
        let is_beyond = |known: &Option<(Number, Vec<u8>)>, is_less: bool| {
            let order = known.as_ref().and_then(|(known, _)| number.order(*known));
            order.is_none_or(|order| if is_less { order.is_lt() } else { order.is_gt() })
        };
        if is_beyond(&self.low, true) {
            self.low = Some((number, encoded.to_vec()));
        }
        if is_beyond(&self.high, false) {
            self.high = Some((number, encoded.to_vec()));
        }
    }

    pub(crate) fn finish(self) -> Seen {
        let lacks = self.lacks;
        if self.is_unknown {
            return Seen::ANYTHING;
        }
        if !self.is_full {
            return Seen { form: Form::Listed, values: self.listed.into_iter().collect(), lacks };
        }
        match (self.low, self.high) {
            (Some((_, low)), Some((_, high))) if !self.has_others => {
                Seen { form: Form::Range, values: vec![low, high], lacks }
            }
            _ => Seen::ANYTHING,
        }
    }
}
