//! The keys of data sets of several centres: see [`super::super::data_sets`].
//!
//! Sections 1 and 4 say what section 2 says of ECMWF's own fields: which type a field has, and which stream. What a data set
//! has no name for is left out.

use ciborium::Value;

use super::super::data_sets::{DataSet, Prefix, Twin};
use super::super::names::ECMWF;
use super::super::product::{Key, Surface};
use super::super::tables::{self, Group};
use super::Archive;
use super::computed::{centre, day, model, time, verification};

/// Surfaces (code table 4.5).
const ISOTHERMAL: u8 = 20;
const ABOVE_GROUND: u8 = 103;
const MODEL_LEVEL: u8 = 118;
const BELOW_SEA: u8 = 160;
const DENSITY: u8 = 169;
const CLOUD_TOP: u8 = 10;
const NO_SURFACE: i64 = 255;
/// Centres (common code table C-11).
const SWEDEN: u16 = 82;
const ITALY: u16 = 80;
const ISAC: u16 = 102;
/// The class of regional reanalyses.
const REGIONAL: &str = "rr";
/// Parameters of the sea.
const OCEAN: u8 = 10;

/// What came before: the outermost interval of a statistic.
#[derive(Clone, Copy)]
struct Outer {
    kind: Option<i64>,
    length: i64,
    /// Whether its fields belong to one forecast each, rather than to one step each.
    is_of_starts: bool,
}

impl Archive<'_> {
    /// Adds the keys of a data set to the ones of sections 2 and 4, or changes them.
    pub(super) fn add_data_set(&mut self, (data_set, is_test): (DataSet, bool), prefix: Option<&Prefix>) {
        let version = Some(if is_test { "test" } else { "prod" }.into());
        match data_set {
            DataSet::Tigge => self.tigge(version, prefix),
            DataSet::S2s => self.s2s(version),
            DataSet::Uerra => self.uerra(version, prefix),
            DataSet::Regional => self.regional(version, prefix),
            DataSet::DestinationEarth => self.destination_earth(prefix),
            DataSet::Reanalyses => self.reanalyses(version),
            DataSet::Intercomparison => self.intercomparison(version),
        }
    }

    fn tigge(&mut self, version: Option<Value>, prefix: Option<&Prefix>) {
        self.label(("ti", version), self.kind_of_ensemble(), self.stream_of_ensemble());
        self.set("model", Some(if self.has_local { "lam" } else { "glob" }.into()));
        self.set("origin", Some(centre(self.origin.centre)));
        if self.has_local {
            self.set("origin", prefix.and_then(|prefix| suite(Group::TIGGE_SUITE, prefix)));
            self.set("domain", None);
        }
    }

    fn s2s(&mut self, version: Option<Value>) {
        self.label(("s2", version), self.kind_of_ensemble(), self.stream_of_ensemble());
        self.set("model", Some("glob".into()));
        let is_isac = self.origin.centre == ITALY && self.origin.sub_centre == ISAC;
        self.set("origin", Some(if is_isac { "isac".into() } else { centre(self.origin.centre) }));
        self.set("domain", None);
        if self.product.is_statistic() && self.product.raw(Key::TypeOfStatisticalProcessing) == Some(0) {
            self.set("step", self.step.map(super::Step::range_value));
        }
        if let Some(model) = day(self, [Key::ReforecastYear, Key::ReforecastMonth, Key::ReforecastDay]) {
            self.set("stream", Some("enfh".into()));
            self.set("hdate", Some(self.reference.0.number().into()));
            self.set("date", Some(model));
            self.set("time", time(self, [Key::ReforecastHour, Key::ReforecastMinute]));
        }
        if let Some(kind) = self.ocean() {
            self.set("levtype", Some(kind.into()));
            self.set("levelist", None);
        }
    }

    fn uerra(&mut self, version: Option<Value>, prefix: Option<&Prefix>) {
        let first = self.product.first();
        if first.code == Some(ABOVE_GROUND) {
            let level = first.whole(0).map(Value::from).or_else(|| first.real(0).map(Value::from));
            if first.real(0).is_some_and(|metres| metres >= 11.0) {
                self.set("levtype", Some("hl".into()));
                self.set("levelist", level);
            }
        }
        if first.code == Some(MODEL_LEVEL) {
            self.set("levtype", Some("ml".into()));
        }
        let own = self.labels.map(|labels| labels.version).or(prefix.and_then(|prefix| prefix.experiment));
        let version = if self.has_local { own.and_then(text) } else { version };
        let stream = match self.product.template {
            0 | 8 => Some("oper"),
            1 | 11 => Some("enda"),
            _ => None,
        };
        self.label(("ur", version), self.kind_of_reanalysis(), stream);
        self.set("origin", Some(centre(self.origin.centre)));
    }

    fn regional(&mut self, version: Option<Value>, prefix: Option<&Prefix>) {
        let (labels, outer) = (self.labels, self.outer());
        let class = labels.map(|labels| labels.class).or(prefix.and_then(|prefix| prefix.class));
        let class = class.map_or_else(|| REGIONAL.into(), |class| name(Group::CLASS, class));
        let is_old = |length| outer.is_some_and(|outer| outer.is_of_starts && length == outer.length);
        let stream = match self.product.template {
            8 | 113 if is_old(21) || is_old(24) => Some("dame"),
            8 | 113 if outer.is_some_and(|outer| outer.is_of_starts) => Some("moda"),
            0 | 8 | 113 => Some("oper"),
            1 | 2 | 11 | 12 => Some("enda"),
            _ => None,
        };
        let derived = match self.product.raw(Key::DerivedForecast) {
            Some(0) => Some("em"),
            Some(4) => Some("es"),
            _ => None,
        };
        let kind = if self.is_interpolated() { Some("oi") } else { derived.or_else(|| self.kind_of_reanalysis()) };
        let own = prefix.and_then(|prefix| prefix.experiment).and_then(text);
        self.label((class, own.or(version)), kind, stream);
        self.set("origin", Some(centre(self.origin.centre)));
        if self.has_local {
            let group = if prefix.is_some_and(|prefix| prefix.version == 3) {
                Group::LATER_REGIONAL_SUITE
            } else {
                Group::REGIONAL_SUITE
            };
            self.set("origin", prefix.and_then(|prefix| suite(group, prefix)));
            self.set("domain", None);
            self.set("model", None);
        }
        let Some(outer) = outer.filter(|_| matches!(stream, Some("moda" | "dame"))) else { return };
        let end = verification(self, outer.length);
        if stream == Some("moda") {
            self.set("date", end.map(|day| day.first_of_month().number().into()));
        } else if outer.length == 24 {
            self.set("date", end.map(|day| day.number().into()));
        } else if !matches!(outer.kind, Some(2 | 3)) {
            const END: [Key; 3] = [
                Key::YearOfEndOfOverallTimeInterval,
                Key::MonthOfEndOfOverallTimeInterval,
                Key::DayOfEndOfOverallTimeInterval,
            ];
            self.set("date", day(self, END));
        }
        self.set("time", None);
        self.set("step", None);
    }

    fn destination_earth(&mut self, prefix: Option<&Prefix>) {
        self.set("domain", None);
        let Some((twin, more)) = prefix.and_then(|prefix| prefix.twin) else { return };
        self.set("dataset", Some(name(Group::TWIN, twin)));
        match more {
            Twin::Climate([activity, experiment, generation, model, realization, resolution]) => {
                self.set("activity", Some(name(Group::ACTIVITY, activity)));
                self.set("experiment", Some(name(Group::EXPERIMENT, experiment)));
                self.set("generation", Some(generation.into()));
                self.set("model", Some(name(Group::TWIN_MODEL, model)));
                self.set("realization", Some(realization.into()));
                self.set("resolution", Some(name(Group::RESOLUTION, resolution)));
            }
            Twin::Place(letters) => self.set("georef", text(letters)),
            Twin::Other => {}
        }
        let tiles = prefix.and_then(|prefix| prefix.tiles);
        self.set("tilescheme", tiles.map(|tiles| name(Group::TILE_SCHEME, tiles)));
    }

    /// What Destination Earth changes when everything else is known.
    pub(super) fn end_destination_earth(&mut self, prefix: Option<&Prefix>) {
        let Some((_, twin)) = prefix.and_then(|prefix| prefix.twin) else { return };
        let is_climate = matches!(twin, Twin::Climate(_));
        if !is_climate && self.is_earlier() {
            self.set("step", self.step.map(super::Step::range_value));
        }
        if is_climate && self.find("stream").and_then(Value::as_text).is_some_and(|stream| stream != "sttd") {
            self.set("timespan", None);
        }
        if matches!(twin, Twin::Place(_)) {
            let ours = (self.origin.centre == ECMWF).then(|| model(self)).flatten();
            self.set("model", self.named_process(Group::TWIN_PROCESS).or(ours));
        }
    }

    fn reanalyses(&mut self, version: Option<Value>) {
        let class = self.labels.map_or_else(|| "lr".into(), |labels| name(Group::CLASS, labels.class));
        let stream = match self.product.template {
            8 if self.outer().is_some_and(|outer| outer.is_of_starts) => Some("sttd"),
            0 | 8 => Some("oper"),
            _ => None,
        };
        let kind = match self.kind {
            0 => Some("an"),
            1 => Some("fc"),
            _ => None,
        };
        self.label((class, version), kind, stream);
        self.set("origin", Some(centre(self.origin.centre)));
        self.set("domain", None);
        self.set("model", self.named_process(Group::REANALYSIS));
        if stream == Some("sttd") {
            self.set("step", None);
        }
    }

    fn intercomparison(&mut self, version: Option<Value>) {
        // Class, type and stream are the ones of section 2.
        self.set("expver", version);
        self.set("origin", Some(centre(self.origin.centre)));
        self.set("model", self.named_process(Group::COMPARED_MODEL));
        if self.product.first().code == Some(CLOUD_TOP) {
            self.set("levtype", Some("sfc".into()));
        }
    }

    /// Sets class and version, type and stream.
    fn label(&mut self, (class, version): (impl Into<Value>, Option<Value>), kind: Option<&str>, stream: Option<&str>) {
        self.set("class", Some(class.into()));
        self.set("expver", version);
        self.set("type", kind.map(Value::from));
        self.set("stream", stream.map(Value::from));
    }

    /// The type of ensembles, by the type of processed data (code table 1.4).
    const fn kind_of_ensemble(&self) -> Option<&'static str> {
        match self.kind {
            2 => Some("fc"),
            3 => Some("cf"),
            4 => Some("pf"),
            _ => None,
        }
    }

    const fn stream_of_ensemble(&self) -> Option<&'static str> {
        match self.kind {
            0 | 2 => Some("oper"),
            3 | 4 | 8 => Some("enfo"),
            _ => None,
        }
    }

    fn kind_of_reanalysis(&self) -> Option<&'static str> {
        match self.kind {
            _ if self.is_interpolated() => Some("oi"),
            0 => Some("an"),
            1 => Some("fc"),
            _ => None,
        }
    }

    /// Whether it is an analysis of Sweden by optimal interpolation.
    fn is_interpolated(&self) -> bool {
        let process = [Key::TypeOfGeneratingProcess, Key::GeneratingProcessIdentifier].map(|key| self.product.raw(key));
        self.origin.centre == SWEDEN && process == [Some(0), Some(50)]
    }

    /// The name of the model that made the field.
    fn named_process(&self, group: u8) -> Option<Value> {
        let code = u16::try_from(self.product.raw(Key::BackgroundProcess)?).ok()?;
        let holds = |key, number| self.product.holds(key, number);
        tables::find(Group::of(group, code), &[0], tables::Version::Current, holds).map(|found| found.text.into())
    }

    fn outer(&self) -> Option<Outer> {
        let kind = self.product.raw(Key::Kind0);
        let span = self.product.spans.first()?;
        Some(Outer { kind, length: span.length, is_of_starts: !span.is_of_forecast })
    }

    /// Which kind of level a field of the sea has in S2S.
    fn ocean(&self) -> Option<&'static str> {
        let (first, second) = (self.product.first(), self.product.second());
        let is = |surface: Surface, code, scale, value| {
            surface == Surface { code: Some(code), scale: Some(scale), value: Some(value) }
        };
        let is_upper = is(first, BELOW_SEA, 0, 0);
        let is_single = self.product.raw(Key::TypeOfSecondFixedSurface) == Some(NO_SURFACE)
            && (is_upper || is(first, ISOTHERMAL, 2, 29315) || is(first, DENSITY, 2, 1));
        if self.product.raw(Key::Discipline) != Some(OCEAN.into()) {
            None
        } else if is_single || is_upper && is(second, BELOW_SEA, 0, 300) {
            Some("o2d")
        } else {
            (first.code == Some(BELOW_SEA) && second.code == Some(BELOW_SEA)).then_some("o3d")
        }
    }
}

/// The name of a suite.
fn suite(group: u8, prefix: &Prefix) -> Option<Value> {
    prefix.suite.map(|code| if code == 0 { "unknown".into() } else { name(group, code) })
}

/// The name of a code, or the code itself where it has none.
fn name(group: u8, code: u16) -> Value {
    let unnamed = (code == 0).then_some("unknown");
    tables::text(group, code).or(unnamed).map_or_else(|| code.into(), Value::from)
}

/// Letters as text. `None` for other bytes.
fn text<const N: usize>(letters: [u8; N]) -> Option<Value> {
    let is_text = letters.is_ascii() && !letters.iter().any(u8::is_ascii_control);
    is_text.then(|| String::from_utf8_lossy(&letters).into_owned().into())
}
