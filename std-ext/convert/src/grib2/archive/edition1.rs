//! The map `mars` of edition 1.
//!
//! Section 1 has a local part, whose definitions have rules too, and no labels of data sets. Streams and types have rules of
//! their own: the same definitions, read for edition 1.

use ciborium::Value;

use super::super::dates::Day;
use super::super::edition1::{GridFacts, LocalPart};
use super::super::entries::Entries;
use super::super::names::{Names, Origin};
use super::super::product::{Key, Product};
use super::super::steps::Step;
use super::super::tables::{self, Group, Program};
use super::{Archive, Edition};

/// The stream of observations, which one definition has for all.
const OPER: u16 = 1025;
const OBSERVATIONS: u16 = 3;
/// Members and satellites in one definition, which has no domain.
const SEVERAL: u16 = 192;
/// Definitions of seasonal forecasts that have a month.
pub(super) const SEASONAL: [i64; 2] = [12, 16];

/// A field of edition 1.
pub(in crate::grib2) struct FieldOfEdition1<'a> {
    pub(in crate::grib2) product: &'a Product,
    pub(in crate::grib2) names: &'a Names,
    pub(in crate::grib2) origin: &'a Origin,
    pub(in crate::grib2) local: Option<LocalPart>,
    pub(in crate::grib2) grid: Option<GridFacts>,
    pub(in crate::grib2) reference: (Day, i64),
    pub(in crate::grib2) step: Option<Step>,
    /// The kind and the number of its level.
    pub(in crate::grib2) level: (Value, Option<Value>),
    /// Its two octets of time as an interval, whatever the time range says of them.
    pub(in crate::grib2) period: Option<Step>,
    /// The number of its parameter.
    pub(in crate::grib2) parameter: u32,
}

impl<'a> Archive<'a> {
    /// The map of a field of edition 1, but for its parameter and its area.
    pub(in crate::grib2) fn entries_of_edition_1(field: FieldOfEdition1<'a>) -> Entries {
        let FieldOfEdition1 { product, names, origin, local, grid, reference, step, period, parameter, .. } = field;
        let edition = Edition::First { parameter, grid, period };
        let labels = local.and_then(|local| local.labels());
        let mut archive = Self {
            product,
            names,
            origin,
            labels,
            step,
            reference,
            level: None,
            kind: 0,
            has_local: local.is_some(),
            edition,
            entries: vec![],
        };
        archive.add("date", Some(reference.0.number()));
        archive.add("time", Some(reference.1));
        archive.set("step", step.map(Step::to_value));
        let (kind, number) = field.level;
        archive.add("levtype", Some(kind));
        archive.add("levelist", number);
        match local {
            Some(LocalPart::Ecmwf(labels)) => {
                archive.add("domain", Some("g").filter(|_| labels.definition != SEVERAL));
                labels.add_of_edition_1(&mut archive.entries);
                archive.follow(tables::rules(Program::Definition1(labels.definition)));
                let stream = if labels.definition == OBSERVATIONS { OPER } else { labels.stream };
                archive.follow(tables::rules(Program::Stream1(stream, labels.kind)));
            }
            Some(LocalPart::Labels(labels)) => {
                archive.add("domain", Some("g"));
                labels.add_of_edition_1(&mut archive.entries);
            }
            Some(LocalPart::Smhi(part)) => part.add(&mut archive.entries),
            None => {}
        }
        archive.entries
    }

    /// The name of the centre that made the field.
    pub(super) fn centre(&self) -> Value {
        let (group, number) = match self.edition {
            Edition::First { .. } => (Group::EARLIER_CENTRE, self.origin.centre),
            Edition::Second => (Group::CENTRE, self.origin.centre),
        };
        tables::text(group, number).map_or_else(|| number.into(), Value::from)
    }

    /// Section 2 of edition 1.
    pub(super) const fn grid_facts(&self) -> Option<GridFacts> {
        match self.edition {
            Edition::First { grid, .. } => grid,
            Edition::Second => None,
        }
    }

    /// The number of a member, or of what the definition counts instead.
    pub(super) fn member(&self) -> Option<Value> {
        /// Definitions of edition 1 that count something else than members: the ocean's, and iterations.
        const WITHOUT: [i64; 3] = [4, 20, 38];
        let keys = [Key::PerturbationNumber, Key::ClusterIdentifier, Key::IterationNumber, Key::ComponentIndex];
        let more: &[Key] = match self.edition {
            Edition::First { .. } => &[Key::ClusterNumber, Key::TubeNumber, Key::ForecastProbabilityNumber],
            Edition::Second => &[],
        };
        let definition = self.product.raw(Key::Grib2LocalSectionNumber).filter(|_| self.is_of_edition_1());
        if definition.is_some_and(|definition| WITHOUT.contains(&definition)) {
            return None;
        }
        keys.iter().chain(more).find_map(|key| self.product.raw(*key)).map(Value::from)
    }

    /// Which member, and of how many.
    pub(super) fn quantile_of_members(&self) -> Option<Value> {
        let [number, count] =
            [Key::PerturbationNumber, Key::NumberOfForecastsInEnsemble].map(|key| self.product.raw(key));
        Some(format!("{}:{}", number?, count?).into())
    }

    /// The step of a probability: rain of 24 hours has the step of its end.
    pub(super) fn step_of_probability(&self) -> Option<Value> {
        const RAIN: u32 = 131_228;
        const OPERATIONS: u16 = 1;
        let step = self.step?;
        let is_rain = matches!(self.edition, Edition::First { parameter: RAIN, .. })
            && self.labels.is_some_and(|labels| labels.class == OPERATIONS);
        Some(match step.end_hours() - step.start_hours() {
            24 if is_rain => step.to_value(),
            _ if is_rain && !step.is_moment() => step.later(24).range_value(),
            _ => step.range_value(),
        })
    }

    /// The letter of an area: stated, or found by its bounds.
    pub(super) fn clustering_domain(&self) -> Option<Value> {
        if let Some(letter) = self.product.raw(Key::ClusteringDomain) {
            return letter_of(letter);
        }
        self.names.find(Group::of(Group::CLUSTER_DOMAIN, 0), self.product).map(|found| found.text.into())
    }

    /// The letter of an area of waves.
    pub(super) fn wave_domain(&self) -> Option<Value> {
        self.names.find(Group::of(Group::WAVE_DOMAIN, 0), self.product).map(|found| found.text.into())
    }

    /// First and last day of a period, of a forecast's steps.
    pub(super) fn period_of_steps(&self) -> Option<Value> {
        let Edition::First { period: Some(period), .. } = self.edition else { return None };
        Some(format!("{}-{}", period.start_hours() / 24, period.end_hours() / 24).into())
    }

    /// The day of a climatology: the year, and the number of the day in years of twelve months of 30 days.
    pub(super) fn day_of_the_year(&self) -> Value {
        let (day, _) = self.reference;
        format!("{:04}-{:03}", day.year(), (day.month() - 1) * 30 + day.day()).into()
    }

    /// The same, as one number has both.
    pub(super) fn period_of_month(&self) -> Option<Value> {
        let number = self.product.raw(Key::VerifyingMonth)?;
        Some(format!("{}-{}", number / 1000, number % 1000).into())
    }

    /// The model or the domain of a definition that names them for Athens alone.
    pub(super) fn named_in_athens(&self, key: Key, names: &[&'static str]) -> Option<Value> {
        const ATHENS: u16 = 96;
        let code = self.product.raw(key)?;
        let found = usize::try_from(code).ok().and_then(|code| names.get(code.checked_sub(1)?));
        Some(found.filter(|_| self.origin.centre == ATHENS).map_or_else(|| code.into(), |name| (*name).into()))
    }

    /// The month of a seasonal forecast: stated, or counted from its first month.
    pub(super) fn month_of_edition_1(&self) -> Option<i64> {
        let definition = self.product.raw(Key::Grib2LocalSectionNumber);
        definition.filter(|definition| SEASONAL.contains(definition))?;
        let stated = self.product.raw(Key::ForecastMonth)?;
        let month = self.product.raw(Key::VerifyingMonth)?;
        let (today, now) = self.reference;
        let months = (month / 100 - today.year()) * 12 + month % 100 - today.month();
        Some(if stated == 0 { months + i64::from(today.day() == 1 && now / 100 == 0) } else { stated })
    }

    /// The kind of its level in archives.
    pub(super) fn level_kind(&self) -> Option<Value> {
        let code = u16::try_from(self.product.raw(Key::IndicatorOfTypeOfLevel)?).ok()?;
        let found = self.names.find_instead(Group::of(Group::LEVEL_TYPE_1, code), self.product);
        Some(found.map_or_else(|| code.to_string().into(), |found| found.text.into()))
    }

    /// Whether it is a field of edition 1.
    pub(super) const fn is_of_edition_1(&self) -> bool {
        matches!(self.edition, Edition::First { .. })
    }
}

/// A letter, or nothing for what is none.
fn letter_of(code: i64) -> Option<Value> {
    let letter = u8::try_from(code).ok().filter(u8::is_ascii_graphic)?;
    Some(char::from(letter).to_string().into())
}
