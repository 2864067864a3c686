//! The map `mars`: what ECMWF's archive calls a field.
//!
//! Which keys a field has hangs on its stream and its type, and on the definition of section 2. The tables hold that as rules:
//! a key, where its value comes from, and conditions. Rules are carried out in order, and later ones win.

mod computed;
mod edition1;
mod several;

use ciborium::Value;

use self::computed::{made, model, tile_attributes, wavelength};
pub(super) use self::edition1::FieldOfEdition1;
use super::data_sets::{DataSet, Prefix};
use super::dates::Day;
use super::edition1::GridFacts;
use super::entries::{Entries, add};
use super::labels::Labels;
use super::levels::Level;
use super::names::{ECMWF, Names, Origin};
use super::product::{Key, Product};
use super::steps::Step;
use super::tables::{self, Group, Program, Version};

/// Keys that rules give, in the order of the tables.
const KEYS: [&str; 49] = [
    "date",
    "time",
    "step",
    "timespan",
    "levtype",
    "levelist",
    "number",
    "direction",
    "frequency",
    "domain",
    "model",
    "origin",
    "hdate",
    "refdate",
    "system",
    "method",
    "fcmonth",
    "quantile",
    "channel",
    "ident",
    "instrument",
    "iteration",
    "anoffset",
    "coeffindex",
    "diagnostic",
    "opttime",
    "leadtime",
    "stattype",
    "configuration",
    "activity",
    "experiment",
    "generation",
    "realization",
    "resolution",
    "year",
    "month",
    "offsetdate",
    "offsettime",
    "obscutoff",
    "grid",
    "_leg_number",
    "fcperiod",
    "reference",
    "param",
    "type",
    "stream",
    "class",
    "expver",
    "obstype",
];

/// Streams of statistics of days and months, which have `stattype`.
const STATISTICS: [&str; 7] = ["sttd", "stte", "ldst", "ldsb", "sfmd", "shmd", "eest"];
/// Data sets that have the number of a member for every stream.
const WITH_MEMBERS: [DataSet; 4] = [DataSet::Tigge, DataSet::S2s, DataSet::Uerra, DataSet::Regional];
/// The class of models that learned from data.
const LEARNED: u16 = 51;
/// Processes that all centres share.
const MODELS_OF_RIVERS: std::ops::RangeInclusive<i64> = 147..=154;
/// Classes of hydrology.
const HYDROLOGY: [u16; 4] = [42, 43, 48, 49];

/// What the map is made of.
pub(super) struct Archive<'a> {
    pub(super) product: &'a Product,
    names: &'a Names,
    pub(super) origin: &'a Origin,
    labels: Option<Labels>,
    pub(super) step: Option<Step>,
    /// The reference time of section 1: day, and hours and minutes.
    pub(super) reference: (Day, i64),
    /// The name of the level.
    level: Option<&'static str>,
    /// The type of processed data (code table 1.4).
    kind: u8,
    /// Whether there is a section 2.
    has_local: bool,
    edition: Edition,
    entries: Entries,
}

/// What the editions of GRIB have of their own.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Edition {
    /// The number of the parameter, section 2, and the interval of two octets of time.
    First {
        parameter: u32,
        grid: Option<GridFacts>,
        period: Option<Step>,
    },
    Second,
}

impl<'a> Archive<'a> {
    /// The map of a field, but for its parameter and its area.
    pub(super) fn entries(
        (product, names, origin): (&'a Product, &'a Names, &'a Origin),
        (labels, prefix, has_local): (Option<Labels>, Option<&Prefix>, bool),
        (level, step): (&Level, Option<Step>),
        (reference, kind): ((Day, i64), u8),
    ) -> Entries {
        let (name, entries) = (level.name, vec![]);
        let mut archive = Self {
            product,
            names,
            origin,
            labels,
            step,
            reference,
            level: name,
            kind,
            has_local,
            edition: Edition::Second,
            entries,
        };
        archive.add("date", Some(reference.0.number()));
        archive.add("time", Some(reference.1));
        if let Some(labels) = labels {
            archive.add("domain", Some("g"));
            archive.follow(tables::rules(Program::Definition(labels.definition)));
        }
        archive.product(level);
        if let Some(labels) = labels {
            archive.follow(tables::rules(Program::Stream(labels.stream, labels.kind)));
            labels.add(&mut archive.entries);
        }
        let data_set = DataSet::of(origin.status);
        if let Some(data_set) = data_set {
            archive.add_data_set(data_set, prefix);
        }
        archive.rest();
        if matches!(data_set, Some((DataSet::DestinationEarth, _))) {
            archive.end_destination_earth(prefix);
        }
        archive.entries
    }

    /// What section 4 says.
    fn product(&mut self, level: &Level) {
        let product = self.product;
        if let Some(step) = self.step {
            self.set("step", Some(step.to_value()));
        }
        if product.raw(Key::ExtraLocalSectionNumber).is_some() {
            let name = self.code(Key::DimensionType as u8);
            self.set("levtype", name);
            self.set("levelist", product.raw(Key::DimensionNumber).map(Value::from));
        } else {
            self.add("levtype", level.kind);
            self.add("levelist", level.number.clone().filter(|_| level.is_listed));
        }
        if DataSet::of(self.origin.status).is_some_and(|(data_set, _)| WITH_MEMBERS.contains(&data_set)) {
            self.add("number", product.raw(Key::PerturbationNumber));
        } else if self.labels.is_none() {
            // Where no stream is known, it tells members apart.
            self.add("number", product.number(Key::PerturbationNumber));
        }
        self.add("direction", product.raw(Key::WaveDirectionNumber));
        self.add("frequency", product.raw(Key::WaveFrequencyNumber));
        self.set("wavelength", wavelength(self));
        self.set("tile", self.code(Key::TypeOfTile as u8));
        self.set("tileattribute", tile_attributes(product));
    }

    /// What follows the rules of the stream.
    fn rest(&mut self) {
        let class = self.labels.map(|labels| labels.class);
        if class == Some(LEARNED) && self.origin.centre == ECMWF {
            if let Some(model) = model(self) {
                self.set("model", Some(model));
            }
        } else if class.is_some_and(|class| HYDROLOGY.contains(&class)) {
            let code = self.product.raw(Key::BackgroundProcess);
            let is_known = self.origin.centre == ECMWF || code.is_some_and(|code| MODELS_OF_RIVERS.contains(&code));
            self.set("model", model(self).filter(|_| is_known).or_else(|| Some("unknown".into())));
        }
        if self.is_earlier() {
            return;
        }
        if self.names.version == Version::Chemical {
            self.add("chem", self.names.chemical(self.product));
        }
        // Data sets of several centres change the stream.
        if self.find("stream").and_then(Value::as_text).is_some_and(|stream| STATISTICS.contains(&stream)) {
            self.add("stattype", Some(self.statistic().unwrap_or("unknown")));
        }
        let span = if self.product.is_statistic() {
            self.names.find(Group::of(Group::SPAN, 0), self.product).map(|found| found.text)
        } else {
            Some("none")
        };
        // Archives write it short.
        self.set("timespan", span.map(|span| if span == "fromstart" { "fs" } else { span }.into()));
    }

    fn statistic(&self) -> Option<&'static str> {
        self.names.find(Group::of(Group::STATISTIC, 0), self.product).map(|found| found.text)
    }

    /// Whether the definitions are the ones before ECMWF's migration.
    pub(super) fn is_earlier(&self) -> bool {
        self.names.version == Version::Earlier
    }

    fn add<T: Into<Value>>(&mut self, key: &str, value: Option<T>) {
        add(&mut self.entries, key, value);
    }

    fn find(&self, key: &str) -> Option<&Value> {
        self.entries.iter().find(|(name, _)| name.as_text() == Some(key)).map(|(_, value)| value)
    }

    /// Gives a key another value, or none.
    fn set(&mut self, key: &str, value: Option<Value>) {
        self.entries.retain(|(name, _)| name.as_text() != Some(key));
        self.add(key, value);
    }

    /// Carries out rules.
    fn follow(&mut self, mut rules: &[u8]) {
        while let [key, form, source, count, rest @ ..] = rules {
            let (conditions, rest) = rest.split_at_checked(usize::from(*count) * 3).unwrap_or((rest, &[]));
            rules = rest;
            let Some(key) = KEYS.get(usize::from(*key)) else { continue };
            if !conditions.as_chunks::<3>().0.iter().all(|[test, a, b]| self.holds(*test, u16::from_le_bytes([*a, *b])))
            {
                continue;
            }
            // A source that the field does not have takes the key away, as a rule without a source does.
            self.set(key, self.value(*form, *source));
        }
    }

    /// Whether a condition of a rule holds.
    fn holds(&self, test: u8, number: u16) -> bool {
        let is = |key| self.product.raw(key) == Some(number.into());
        let holds = match test & !NOT {
            test::CLASS => self.labels.is_some_and(|labels| labels.class == number),
            test::EARLIER => self.is_earlier(),
            test::LEVEL_IS_OCEAN => {
                self.find("levtype").and_then(Value::as_text) == Some(if number == 2 { "o2d" } else { "o3d" })
            }
            test::CENTRE => self.origin.centre == number,
            test::SUB_CENTRE => self.origin.sub_centre == number,
            test::LOCAL => is(Key::Grib2LocalSectionNumber),
            test::HAS_NUMBER => self.product.raw(Key::PerturbationNumber).is_some(),
            test::IS_MOMENT => self.step.is_some_and(Step::is_moment),
            test::IS_ABSTRACT => self.level == Some(ABSTRACT),
            test::LEVEL_TYPE => is(Key::IndicatorOfTypeOfLevel),
            test::IS_OLD_STREAM => self.labels.is_some_and(|labels| labels.stream < OLD_STREAMS),
            _ => return false,
        };
        holds != (test & NOT != 0)
    }

    /// The value of a source. `None` if the field does not have it.
    fn value(&self, form: u8, source: u8) -> Option<Value> {
        match form {
            NUMBER => self.number(source),
            CODE => self.code(source),
            COMPUTED => made(source).and_then(|value| value(self)),
            _ => None,
        }
    }

    fn number(&self, source: u8) -> Option<Value> {
        const LETTER: u8 = Key::MarsDomain as u8;
        let number = self.product.raw_at(source)?;
        if source != LETTER {
            return Some(number.into());
        }
        let letter = u8::try_from(number).ok().filter(u8::is_ascii_graphic);
        Some(letter.map_or_else(String::new, |letter| char::from(letter).to_string()).into())
    }

    /// The text of a code, or the code itself where it has no name.
    fn code(&self, source: u8) -> Option<Value> {
        let (_, concept) = CODES.iter().find(|(key, _)| *key as u8 == source)?;
        let code = u16::try_from(self.product.raw_at(source)?).ok()?;
        let unnamed = UNNAMED.iter().find(|(of, _)| code == 0 && of == concept).map(|(_, text)| *text);
        Some(tables::text(*concept, code).or(unnamed).map_or_else(|| code.into(), Value::from))
    }
}

/// Tests of conditions, in the order of `rules.py`.
mod test {
    pub(super) const CLASS: u8 = 0;
    pub(super) const EARLIER: u8 = 1;
    pub(super) const LEVEL_IS_OCEAN: u8 = 2;
    pub(super) const CENTRE: u8 = 3;
    pub(super) const SUB_CENTRE: u8 = 4;
    pub(super) const LOCAL: u8 = 5;
    pub(super) const HAS_NUMBER: u8 = 6;
    pub(super) const IS_MOMENT: u8 = 7;
    pub(super) const IS_ABSTRACT: u8 = 8;
    pub(super) const LEVEL_TYPE: u8 = 9;
    pub(super) const IS_OLD_STREAM: u8 = 10;
}

/// Streams below this number stand for satellites, in old images.
const OLD_STREAMS: u16 = 1024;
/// The name of a level that stands for itself.
const ABSTRACT: &str = "abstractSingleLevel";
/// The bit of a condition that must not hold.
const NOT: u8 = 0x80;
/// Forms of sources. The form 0 is none.
const NUMBER: u8 = 1;
const CODE: u8 = 2;
const COMPUTED: u8 = 3;
/// Keys whose codes have names.
const CODES: [(Key, u8); 10] = [
    (Key::TypeOfTile, Group::TILE),
    (Key::DataOrigin, Group::EARLIER_CENTRE),
    (Key::OriginatingCentreOfAnalysis, Group::EARLIER_CENTRE),
    (Key::InputOriginatingCentre, Group::CENTRE),
    (Key::LcwfvSuiteName, Group::SUITE),
    (Key::Activity, Group::ACTIVITY),
    (Key::Experiment, Group::EXPERIMENT),
    (Key::Model, Group::TWIN_MODEL),
    (Key::Resolution, Group::RESOLUTION),
    (Key::DimensionType, Group::DIMENSION),
];
/// What the code 0 is called, which the tables leave out.
const UNNAMED: [(u8, &str); 6] = [
    (Group::SUITE, "unknown"),
    (Group::ACTIVITY, "unknown"),
    (Group::EXPERIMENT, "unknown"),
    (Group::TWIN_MODEL, "unknown"),
    (Group::RESOLUTION, "unknown"),
    (Group::DIMENSION, "layer"),
];
