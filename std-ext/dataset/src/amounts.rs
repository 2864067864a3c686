//! What the numbers of a variable mean, by the attributes beside it.

use std::sync::Arc;

use tgm_core::descriptor::Dtype;

use crate::dataset::Dataset;
use crate::model::{Attributes, Content, Conversion, Hole, Joined, Pieces, Variable, hole_of};
use crate::reading::{AttributeValue, FILL, Fate, MISSING, NAMES, OFFSET, Reading, SCALE, UNSIGNED};

fn told(attributes: &Attributes) -> impl Fn(&str) -> Option<AttributeValue> {
    |name| attributes.iter().find(|(own, _)| own == name).map(|(_, value)| value.told())
}

impl Variable {
    /// How its elements become amounts: those that stand for missing cells are NaN. `None` if its attributes name none.
    pub fn amounts(&self) -> Option<Reading> {
        // What values were made of is said by no attribute any more.
        if self.is_packed() { None } else { Reading::of_amounts(self.dtype()?, told(&self.attributes)) }
    }

    /// What its attributes say of its numbers. `None` if these are the values.
    fn meaning(&self) -> Option<Reading> {
        let dtype = self.dtype().filter(|_| !self.is_packed())?;
        let attribute = told(&self.attributes);
        let told: Vec<_> = NAMES.into_iter().filter_map(|name| Some((name, attribute(name)?))).collect();
        Some(Reading::of(dtype, &told)).filter(|reading| !told.is_empty() && !reading.is_trivial())
    }

    /// The variable with values that can be NaN, and without the attributes that say what its numbers are.
    fn valued(&self) -> Self {
        // Times that were counted anew are all there is of them.
        if matches!(self.content, Content::Held(_)) {
            return self.clone();
        }
        let content = valued(&self.content, &self.attributes);
        let reading = self.meaning();
        let of_numbers = |name: &str| [UNSIGNED, FILL, MISSING, SCALE, OFFSET].contains(&name);
        let is_applied = |name: &str| {
            let reading = reading.as_ref().filter(|_| of_numbers(name));
            reading
                .is_some_and(|it| *it.fate(name) != Fate::Stays || !it.not_applied().iter().any(|no| no.name == name))
        };
        let attributes = self.attributes.iter().filter(|(name, _)| !is_applied(name)).cloned().collect();
        Self { attributes, content, ..self.clone() }
    }
}

fn valued(content: &Content, attributes: &Attributes) -> Content {
    match content {
        Content::Pieces(pieces) if pieces.packed.is_none() => {
            let Some(reading) = Reading::of_values(pieces.dtype, told(attributes)) else { return content.clone() };
            let hole = match &pieces.hole {
                Hole::Fill(element) => {
                    reading.cells(element.clone()).map_or_else(|_| hole_of(reading.dtype()), |it| Hole::Fill(it.bytes))
                }
                _ => hole_of(reading.dtype()),
            };
            Content::Pieces(Pieces { packed: Some(Arc::new(Conversion::ToValues(reading))), hole, ..pieces.clone() })
        }
        Content::Joined(joined) => {
            let of_part = |(start, part): &(u64, Variable)| {
                (*start, Variable { content: valued(&part.content, attributes), ..part.clone() })
            };
            let parts: Vec<(u64, Variable)> = joined.parts.iter().map(of_part).collect();
            let dtypes: Vec<Dtype> = parts.iter().filter_map(|(_, part)| part.dtype()).collect();
            let dtype = common(&dtypes).unwrap_or(joined.dtype);
            Content::Joined(Joined { axis: joined.axis, dtype, parts })
        }
        _ => content.clone(),
    }
}

impl Dataset {
    /// [`Variable::amounts`], and `None` for a variable that has stored numbers.
    pub(crate) fn amounts(&self, variable: &Variable) -> Option<Reading> {
        if self.archive.raw.has(&variable.name) { None } else { variable.amounts() }
    }
}

/// Variables of several files as values, where the attributes of one say something else of its numbers than the attributes of another.
/// `None` if all say the same: then one attribute says it of all numbers.
pub(crate) fn as_values(parts: &[&Variable]) -> Option<Vec<Variable>> {
    let meanings: Vec<Option<Reading>> = parts.iter().map(|part| part.meaning()).collect();
    let is_same = |pair: &[Option<Reading>; 2]| match pair {
        [Some(one), Some(other)] => one.means_same(other),
        [one, other] => one.is_none() && other.is_none(),
    };
    if meanings.array_windows().all(is_same) {
        return None;
    }
    Some(parts.iter().map(|part| part.valued()).collect())
}

/// The type that holds the values of all, as numpy has it. For whole numbers of 64 bits beside others that is `float64`: a number
/// beyond 2^53 is an error when it is read. `None` for other types than real numbers.
pub(crate) fn common(dtypes: &[Dtype]) -> Option<Dtype> {
    let first = *dtypes.first()?;
    if dtypes.iter().all(|dtype| *dtype == first) {
        return Some(first);
    }
    if dtypes.iter().any(|dtype| matches!(dtype, Dtype::Bitmask | Dtype::Complex64 | Dtype::Complex128)) {
        return None;
    }
    let is_short = |dtype: &Dtype| dtype.byte_width() <= 2 || *dtype == Dtype::Float32;
    let has_single = dtypes.contains(&Dtype::Float32);
    Some(if has_single && dtypes.iter().all(is_short) { Dtype::Float32 } else { Dtype::Float64 })
}
