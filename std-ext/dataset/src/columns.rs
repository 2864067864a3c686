//! The profile of fields: which keys say what a field is, and where in a cube it lies.
//!
//! | column | from the keys |
//! |---|---|
//! | kind | parameter, type of elements, shape, grid, type of level, statistic, member of which family |
//! | number | `mars.number`, `number`, `grib.perturbationNumber` |
//! | time | dates and times of `grib`, `mars`, or at the top |
//! | step | `grib.stepRange`, `mars.step`, `step`: the end of an interval |
//! | level | `grib.level`, `mars.levelist`, `levelist`, `level` |
//! | interval, class, stream, type, version of experiment, domain | what splits cubes |
//! | others | every other key with a number or a text; of `grib` some |
//! | last | the others of `grib`, where objects have one place by all of these |

use std::cell::OnceCell;
use std::collections::HashMap;
use std::hash::Hash;

use tgm_core::cbor::Value;
use tgm_grid::NamedGrid;

use crate::calendar::Calendar;
use crate::gather::{Cells, DTYPE, GRID, Gathered, SHAPE};
use crate::label::{HOUR, Label, Real, duration};
use crate::moment::Time;
use crate::options::{OpenOptions, Profile};
use crate::parameters::{Parameter, by_number, by_short_name};

/// The number that stands for a missing value.
pub(crate) const ABSENT: u32 = u32::MAX;
/// The names of the columns of times and steps.
pub(crate) const TIME: &str = "time";
pub(crate) const STEP: &str = "step";
pub(crate) const VALID_TIME: &str = "valid_time";

/// A column: for each object a label, by its number.
#[derive(Clone, Debug, Default)]
pub(crate) struct Column {
    pub(crate) name: String,
    /// One for each object. [`ABSENT`] where it has none.
    pub(crate) codes: Vec<u32>,
    pub(crate) labels: Vec<Label>,
}

impl Column {
    pub(crate) fn code(&self, row: usize) -> u32 {
        self.codes.get(row).copied().unwrap_or(ABSENT)
    }

    pub(crate) fn label(&self, code: u32) -> Option<&Label> {
        usize::try_from(code).ok().and_then(|code| self.labels.get(code))
    }
}

/// What a field is.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Kind {
    pub(crate) name: String,
    /// Numbers of values.
    pub(crate) dtype: u32,
    pub(crate) shape: u32,
    /// The section or the bounds, the name of the grid, and the order of its pixels.
    pub(crate) grid: [u32; 3],
    /// The name of the dimension of its level, or nothing.
    pub(crate) level: String,
    /// What the table says of the parameter.
    pub(crate) table: Option<Parameter>,
    /// The statistic over an interval (code table 4.10).
    pub(crate) statistic: Option<i64>,
    /// Numbers of values: of which family a member is, such as ensemble means.
    pub(crate) family: (u32, u32),
    parameter: (u32, u32, u32),
}

/// Columns of all objects.
#[derive(Clone, Debug, Default)]
pub(crate) struct Columns {
    pub(crate) kinds: Vec<Kind>,
    /// The kind of each object, by its number.
    pub(crate) kind_of: Vec<u32>,
    pub(crate) number: Column,
    /// The code of member 0. Without such a member, it is the number behind all others.
    pub(crate) member_0: u32,
    pub(crate) time: Column,
    pub(crate) step: Column,
    pub(crate) level: Column,
    /// What splits cubes. The first one is the length of the interval.
    pub(crate) splits: Vec<Column>,
    pub(crate) others: Vec<Column>,
}

/// Keys of GRIB that are asked where all others leave two objects at one place. They are many, and are read when one is asked.
#[derive(Debug)]
pub(crate) struct LastColumns<'g> {
    pub(crate) gathered: &'g Gathered,
    profile: &'g Profile,
    /// Whether time and step are one.
    is_valid_time: bool,
    columns: OnceCell<Vec<Column>>,
}

impl<'g> LastColumns<'g> {
    pub(crate) const fn new(gathered: &'g Gathered, options: &'g OpenOptions) -> Self {
        let OpenOptions { profile, valid_time, .. } = options;
        Self { gathered, profile, is_valid_time: *valid_time, columns: OnceCell::new() }
    }

    /// The columns. The profile `plain` has all keys among the others.
    pub(crate) fn get(&self) -> &[Column] {
        let read = || match self.profile {
            Profile::Plain => Vec::new(),
            profile => {
                let name: fn(&str) -> Option<&str> = if self.is_valid_time { timeless_name } else { last_name };
                Reader::new(self.gathered, profile).others(name)
            }
        };
        self.columns.get_or_init(read)
    }
}

/// Keys that splits are made of.
pub(crate) const SPLITS: [&str; 5] = ["class", "stream", "type", "expver", "domain"];
/// Keys at the top, or of `mars`, that other columns are made of, or that say nothing of places.
const TAKEN: [&str; 17] = [
    "area",
    "attributes",
    "date",
    "dim_names",
    "dimensions",
    "level",
    "levelist",
    "levtype",
    "name",
    "netcdf",
    "number",
    "param",
    "shortName",
    "step",
    "time",
    "timespan",
    "zarr",
];
/// Keys of GRIB that are labels of fields. The others are told where nothing else tells fields apart.
const OF_GRIB: [&str; 6] = [
    "bottomLevel",
    "percentileValue",
    "quantileValue",
    "scaledValueOfLowerLimit",
    "scaledValueOfSecondFixedSurface",
    "scaledValueOfUpperLimit",
];
/// GRIB has some numbers as two: a whole number, and the power of ten by which it is divided.
const VALUE: &str = "scaledValueOf";
const FACTOR: &str = "scaleFactorOf";

/// Labels and their numbers.
struct Numbers<T> {
    codes: HashMap<T, u32>,
    items: Vec<T>,
}

impl<T: Clone + Eq + Hash> Numbers<T> {
    fn new() -> Self {
        Self { codes: HashMap::new(), items: Vec::new() }
    }

    fn code(&mut self, item: T) -> u32 {
        if let Some(code) = self.codes.get(&item) {
            return *code;
        }
        let code = u32::try_from(self.items.len()).unwrap_or(ABSENT);
        self.items.push(item.clone());
        self.codes.insert(item, code);
        code
    }
}

/// The keys of a name, by their numbers: the best first.
struct Keys(Vec<u32>);

impl Keys {
    fn new(gathered: &Gathered, names: &[&str]) -> Self {
        Self(names.iter().filter_map(|name| gathered.keys.find(name.as_bytes())).collect())
    }

    /// The number of the first value that is there.
    fn find(&self, cells: &Cells) -> Option<u32> {
        self.0.iter().find_map(|key| cells.get(*key))
    }
}

/// The keys that tell kinds apart.
struct KindKeys {
    names: [Keys; 6],
    parameter: [Keys; 3],
    dtype: Keys,
    shape: Keys,
    grid: [Keys; 3],
    level: Keys,
    type_of_level: Keys,
    numbered: Keys,
    surfaces: [Keys; 2],
    statistic: Keys,
    family: [Keys; 2],
}

/// The values of these keys that an object has, as their numbers.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct KindCodes {
    names: [u32; 6],
    parameter: [u32; 3],
    dtype: u32,
    shape: u32,
    grid: [u32; 3],
    level: u32,
    surfaces: [u32; 2],
    statistic: u32,
    family: [u32; 2],
    /// The object's number in its message, where nothing else tells it apart.
    object: u32,
}

impl KindKeys {
    fn find(&self, cells: &Cells, object: u32) -> KindCodes {
        let find = |keys: &Keys| keys.find(cells).unwrap_or(ABSENT);
        let (names, parameter) = (self.names.each_ref().map(find), self.parameter.each_ref().map(find));
        let mut grid = self.grid.each_ref().map(find);
        // An order is one of a named grid. Alone, it may be any other number.
        if let [_, ABSENT, order] = &mut grid {
            *order = ABSENT;
        }
        // Levels whose kind has no name are told apart by its number.
        let is_nameless = find(&self.type_of_level) == ABSENT && find(&self.numbered) != ABSENT;
        // An object without a name is told apart by its number in the message.
        let is_unnamed = names.iter().chain(&parameter).all(|code| *code == ABSENT);
        KindCodes {
            names,
            parameter,
            dtype: find(&self.dtype),
            shape: find(&self.shape),
            grid,
            level: find(&self.level),
            surfaces: if is_nameless { self.surfaces.each_ref().map(find) } else { [ABSENT; 2] },
            statistic: find(&self.statistic),
            family: self.family.each_ref().map(find),
            object: if is_unnamed { object } else { 0 },
        }
    }
}

impl Columns {
    /// The columns of all objects.
    pub(crate) fn of(gathered: &Gathered, options: &OpenOptions) -> Self {
        let profile = &options.profile;
        let reader = Reader::new(gathered, profile);
        let (kinds, kind_of) = reader.kinds();
        if *profile == Profile::Plain {
            return Self { kinds, kind_of, others: reader.others(plain_name), ..Self::default() };
        }
        let steps = reader.steps();
        let interval =
            |step: &Option<(i64, i64)>| step.and_then(|(start, end)| Some(Label::Duration(end.checked_sub(start)?)));
        let mut splits = vec![reader.column("interval", |row| steps.get(row).and_then(interval))];
        splits.extend(SPLITS.map(|name| reader.text_column(name)));
        let end = |row: usize| steps.get(row).copied().flatten().map(|(_, end)| end);
        let times = reader.times();
        let (time, step) = if options.valid_time {
            let valid = |row: usize| match times.label(times.code(row))? {
                Label::Time(time) => time.after(end(row).unwrap_or(0)).map(Label::Time),
                _ => None,
            };
            (reader.column(VALID_TIME, valid), Column::default())
        } else {
            (times, reader.column(STEP, |row| end(row).map(Label::Duration)))
        };
        let number = reader.numbers();
        let member_0 = number.labels.iter().position(|label| *label == Label::Integer(0));
        Self {
            kinds,
            kind_of,
            member_0: member_0.or(Some(number.labels.len())).and_then(|at| u32::try_from(at).ok()).unwrap_or(ABSENT),
            number,
            time,
            step,
            level: reader.levels(),
            splits,
            others: reader.others(other_name),
        }
    }
}

struct Reader<'g> {
    gathered: &'g Gathered,
    /// The label that each value is.
    labels: Vec<Option<Label>>,
    profile: &'g Profile,
}

impl<'g> Reader<'g> {
    fn new(gathered: &'g Gathered, profile: &'g Profile) -> Self {
        let label = |bytes: &[u8]| Value::parse(bytes, 0).ok().and_then(|value| Label::of(&value));
        let labels = gathered.values.iter().map(label).collect();
        Self { gathered, labels, profile }
    }

    fn keys(&self, names: &[&str]) -> Keys {
        Keys::new(self.gathered, names)
    }

    /// Keys that say what a field is. The profile `plain` knows none.
    fn of_fields(&self, keys: Keys) -> Keys {
        if *self.profile == Profile::Plain { Keys(Vec::new()) } else { keys }
    }

    /// The keys of a meaning: one's own, and then the keys of the profile `mars`.
    fn keys_of(&self, meaning: &str, names: &[&str]) -> Keys {
        let Profile::Own(table) = self.profile else { return self.keys(names) };
        self.keys(&table.keys(meaning).chain(names.iter().copied()).collect::<Vec<_>>())
    }

    fn label(&self, code: Option<u32>) -> Option<&Label> {
        usize::try_from(code?).ok().and_then(|code| self.labels.get(code)).and_then(Option::as_ref)
    }

    fn rows(&self) -> impl Iterator<Item = &Cells> {
        self.gathered.rows.iter().map(|row| &row.cells)
    }

    /// A column of labels that are computed for each object.
    fn column(&self, name: &str, label: impl Fn(usize) -> Option<Label>) -> Column {
        let mut numbers = Numbers::new();
        let count = self.gathered.rows.len();
        let codes = (0..count).map(|row| label(row).map_or(ABSENT, |label| numbers.code(label))).collect();
        Column { name: name.into(), codes, labels: numbers.items }
    }

    /// A column of labels that depend on the values of some keys. Each combination is computed once.
    fn derived<const N: usize>(
        &self,
        name: &str,
        keys: &[Keys; N],
        label: impl Fn([Option<&Label>; N]) -> Option<Label>,
    ) -> Column {
        let (mut numbers, mut known) = (Numbers::new(), HashMap::new());
        let mut last = None;
        let codes = self.rows().map(|cells| {
            let values: [Option<u32>; N] = std::array::from_fn(|at| keys.get(at).and_then(|keys| keys.find(cells)));
            // Neighbours are often equal.
            if let Some((before, code)) = last
                && before == values
            {
                return code;
            }
            let code = *known.entry(values).or_insert_with(|| {
                label(values.map(|value| self.label(value))).map_or(ABSENT, |label| numbers.code(label))
            });
            last = Some((values, code));
            code
        });
        let codes = codes.collect();
        Column { name: name.into(), codes, labels: numbers.items }
    }

    fn text_column(&self, name: &str) -> Column {
        self.derived(name, &[self.keys(&[&format!("mars.{name}"), name])], |[label]| label.cloned())
    }

    fn numbers(&self) -> Column {
        let keys = [self.keys_of("number", &["mars.number", "number", "grib.perturbationNumber"])];
        self.derived("number", &keys, |[number]| number?.as_integer().map(Label::Integer))
    }

    fn times(&self) -> Column {
        let keys = [
            self.keys_of("date", &["grib.date", "mars.date", "date"]),
            self.keys(&["grib.time"]),
            self.keys_of("time", &["mars.time", "time"]),
        ];
        self.derived(TIME, &keys, |[date, exact, time]| {
            let day = date_of(date?)?.checked_mul(24 * HOUR)?;
            let second = match (exact.and_then(Label::as_integer), time) {
                (Some(time), _) => clock(time / 10_000, time / 100 % 100, time % 100)?,
                (None, Some(time)) => time_of(time)?,
                (None, None) => 0,
            };
            Some(Label::Time(Time::of_second(day.checked_add(second)?)))
        })
    }

    /// Start and end of each object's step, in seconds.
    fn steps(&self) -> Vec<Option<(i64, i64)>> {
        let keys = self.keys_of("step", &["grib.stepRange", "mars.step", "step"]);
        let mut known = HashMap::new();
        let step = |code| self.label(code).and_then(step_of);
        self.rows()
            .map(|cells| {
                let code = keys.find(cells);
                *known.entry(code).or_insert_with(|| step(code))
            })
            .collect()
    }

    fn levels(&self) -> Column {
        let keys = [self.keys_of("level", &["grib.level", "mars.levelist", "levelist", "level"])];
        self.derived("level", &keys, |[level]| level?.as_number().map(|number| Label::Float(Real(number))))
    }

    fn kinds(&self) -> (Vec<Kind>, Vec<u32>) {
        let keys = self.kind_keys();
        let (mut kinds, mut known, mut of_rows) = (Numbers::new(), HashMap::new(), Vec::new());
        let mut last: Option<(KindCodes, u32)> = None;
        for (cells, row) in self.rows().zip(&self.gathered.rows) {
            let codes = keys.find(cells, row.entry.object);
            // Neighbours are often equal.
            if let Some((_, code)) = last.filter(|(before, _)| *before == codes) {
                of_rows.push(code);
                continue;
            }
            let code = *known.entry(codes).or_insert_with(|| kinds.code(self.kind(&codes)));
            last = Some((codes, code));
            of_rows.push(code);
        }
        (kinds.items, of_rows)
    }

    /// The keys that tell kinds apart, as the profile has them.
    fn kind_keys(&self) -> KindKeys {
        let names = ["grib.paramId", "mars.param", "param", "grib.shortName", "shortName", "name"];
        let field = |keys: &[&str]| self.of_fields(self.keys(keys));
        let grib = |key: &str| field(&[&format!("grib.{key}")]);
        KindKeys {
            names: names.map(|key| match (self.profile, key) {
                (Profile::Plain, "name") => self.keys(&[key]),
                // Names of one's own count before numbers.
                (Profile::Own(table), "grib.paramId") if table.keys("name").next().is_some() => self.keys(&[]),
                (_, "mars.param") => self.of_fields(self.keys_of("name", &[key])),
                _ => field(&[key]),
            }),
            parameter: ["discipline", "parameterCategory", "parameterNumber"].map(grib),
            dtype: self.keys(&[DTYPE]),
            shape: self.keys(&[SHAPE]),
            grid: [&[GRID, "mars.area", "area"][..], &NamedGrid::KEYS, &NamedGrid::ORDER_KEYS].map(field),
            level: self.of_fields(self.keys_of("level_type", &["grib.typeOfLevel", "mars.levtype", "levtype"])),
            type_of_level: self.of_fields(self.keys_of("level_type", &["grib.typeOfLevel"])),
            numbered: grib("level"),
            surfaces: ["typeOfFirstFixedSurface", "typeOfSecondFixedSurface"].map(grib),
            statistic: grib("typeOfStatisticalProcessing"),
            family: ["derivedForecast", "probabilityType"].map(grib),
        }
    }

    /// The kind of an object with these codes.
    fn kind(&self, codes: &KindCodes) -> Kind {
        let table = parameter(codes.names.map(|code| self.label(Some(code))));
        let [discipline, category, number] = codes.parameter;
        Kind {
            name: self.name(table, &codes.names, codes.parameter, codes.object),
            table,
            dtype: codes.dtype,
            shape: codes.shape,
            grid: codes.grid,
            level: numbered_level(codes.surfaces.map(|code| self.label(Some(code))))
                .or_else(|| self.label(Some(codes.level)).map(level_name))
                .unwrap_or_default(),
            statistic: self.label(Some(codes.statistic)).and_then(Label::as_integer),
            family: codes.family.into(),
            parameter: (discipline, category, number),
        }
    }

    /// The name of a variable.
    fn name(&self, table: Option<Parameter>, names: &[u32; 6], triple: [u32; 3], object: u32) -> String {
        if let Some(parameter) = table {
            return parameter.variable.into();
        }
        let [_, others @ ..] = names.map(|code| self.label(Some(code)));
        if let Some(name) = others.into_iter().flatten().next() {
            return name.to_string();
        }
        match triple.map(|code| self.label(Some(code)).and_then(Label::as_integer)) {
            [Some(discipline), Some(category), Some(number)] => format!("d{discipline}c{category}n{number}"),
            _ => format!("object_{object}"),
        }
    }

    /// Columns of the keys that have a name here, and that no other column is made of.
    fn others(&self, name_of: impl Fn(&str) -> Option<&str>) -> Vec<Column> {
        let mut found = Vec::new();
        for (key, path) in self.gathered.keys.iter().enumerate() {
            let Ok(path) = std::str::from_utf8(path) else { continue };
            let is_own = matches!(self.profile, Profile::Own(table) if table.has(path));
            let Some(name) = name_of(path).filter(|_| !is_own) else { continue };
            let key = Keys(vec![u32::try_from(key).unwrap_or(ABSENT)]);
            let is_meant = *self.profile != Profile::Plain && path.starts_with("grib.");
            let column = match name.strip_prefix(VALUE).filter(|_| is_meant) {
                Some(what) => {
                    let keys = [key, self.keys(&[&format!("grib.{FACTOR}{what}")])];
                    self.derived(&lower_first(what), &keys, |[value, factor]| scaled(value?, factor))
                }
                None => self.derived(name, &[key], |[label]| label.cloned()),
            };
            // GRIB has several keys for what archives call a step, or a level.
            found.push((path.starts_with("grib."), column));
        }
        found.sort_by(|(_, a), (_, b)| a.name.cmp(&b.name));
        // Two maps may have one key.
        let mut before: Option<String> = None;
        for (_, column) in &mut found {
            if before.as_ref() == Some(&column.name) {
                column.name.push('_');
            }
            before = Some(column.name.clone());
        }
        if *self.profile == Profile::Plain {
            found.sort_by_key(|(is_of_grib, _)| *is_of_grib);
        }
        found.into_iter().map(|(_, column)| column).collect()
    }
}

/// The parameter that the labels of [`Reader::kinds`] lead to. Several parameters have one short name, so a number alone counts.
pub(crate) fn parameter([id, param, own, _, short, _]: [Option<&Label>; 6]) -> Option<Parameter> {
    if let Some(number) = id.and_then(Label::as_integer).filter(|number| *number != 0) {
        return by_number(number);
    }
    let label = [param, own, short].into_iter().flatten().next()?;
    match label {
        Label::Text(text) => match text.split_once('.') {
            // Number and table of GRIB edition 1.
            Some((number, table)) => {
                let (number, table): (i64, i64) = (number.parse().ok()?, table.parse().ok()?);
                by_number(if table == 128 { number } else { table.checked_mul(1000)?.checked_add(number)? })
            }
            None => by_short_name(text).or_else(|| text.parse().ok().and_then(by_number)),
        },
        other => other.as_integer().and_then(by_number),
    }
}

/// The name of the column of a key of the profile `plain`. `None` for a name, and for what is not a key of metadata.
fn plain_name(path: &str) -> Option<&str> {
    let (map, name) = path.split_once('.').unwrap_or(("", path));
    (!path.starts_with('#') && map != "_extra_" && path != "name").then_some(name)
}

/// The name of the column of a key. `None` for a key that other columns are made of.
fn other_name(path: &str) -> Option<&str> {
    let (map, name) = path.split_once('.').unwrap_or(("", path));
    match map {
        _ if path.starts_with('#') || map == "_extra_" => None,
        "grib" => OF_GRIB.contains(&name).then_some(name),
        "" | "mars" => (!TAKEN.contains(&name) && !SPLITS.contains(&name)).then_some(name),
        _ => Some(name),
    }
}

/// The name of the column of a key of GRIB that is asked last.
fn last_name(path: &str) -> Option<&str> {
    let name = path.strip_prefix("grib.")?;
    (!OF_GRIB.contains(&name) && !name.starts_with(FACTOR)).then_some(name)
}

/// The same for keys that tell neither of a time nor of a step.
fn timeless_name(path: &str) -> Option<&str> {
    let is_of_time = |name: &str| {
        let name = name.to_ascii_lowercase();
        ["date", "time", "step", "ofend"].iter().any(|word| name.contains(word))
    };
    last_name(path).filter(|name| !is_of_time(name))
}

/// The number of a scaled value.
fn scaled(value: &Label, factor: Option<&Label>) -> Option<Label> {
    let power = i32::try_from(factor.and_then(Label::as_integer).unwrap_or(0)).ok()?;
    let value = value.as_number()?;
    // Powers up to 10^22 are exact, so the number is rounded once.
    let number = if power < 0 { value * 10_f64.powi(power.checked_neg()?) } else { value / 10_f64.powi(power) };
    Some(Label::Float(Real(number)))
}

/// `UpperLimit` becomes `upperLimit`.
fn lower_first(name: &str) -> String {
    let mut letters = name.chars();
    letters.next().map_or_else(String::new, |first| first.to_ascii_lowercase().to_string() + letters.as_str())
}

/// The dimension of a level whose kind has no name, by the types of its surfaces (code table 4.5).
fn numbered_level([first, second]: [Option<&Label>; 2]) -> Option<String> {
    let first = first?;
    Some(second.map_or_else(|| format!("level{first}"), |second| format!("level{first}_{second}")))
}

/// The dimension of a type of level, by the words of ecCodes or of archives.
fn level_name(label: &Label) -> String {
    let name = label.to_string();
    let word = short_level(&name);
    LEVELS.iter().find(|(known, _)| *known == word).map_or(name.clone(), |(_, dim)| (*dim).to_string())
}

/// Types of level: the words of archives, and the words of ecCodes, which are names of dimensions.
const LEVELS: [(&str, &str); 6] = [
    ("pl", PRESSURE),
    ("sfc", "surface"),
    ("ml", "hybrid"),
    ("pt", "theta"),
    ("pv", "potentialVorticity"),
    ("hl", "heightAboveGround"),
];
/// Pressure levels, whose dimension has one of two units.
const PRESSURE: &str = "isobaricInhPa";
const PASCALS: &str = "isobaricInPa";

/// The word of archives for the type of level that a dimension is called after: `pl` for `isobaricInhPa`. A type without one stays as it is.
///
/// ```
/// assert_eq!(tgm_dataset::short_level("hybrid"), "ml");
/// assert_eq!(tgm_dataset::short_level("meanSea"), "meanSea");
/// ```
pub fn short_level(dim: &str) -> &str {
    let dim = if dim == PASCALS { PRESSURE } else { dim };
    LEVELS.iter().find(|(_, known)| *known == dim).map_or(dim, |(word, _)| word)
}

/// Days since 1970 of a date: 20240131, "20240131" or "2024-01-31".
fn date_of(label: &Label) -> Option<i64> {
    let number = match label {
        Label::Text(text) if text.matches('-').count() == 2 => text.replace('-', "").parse().ok()?,
        other => other.as_integer()?,
    };
    Calendar::Gregorian.days(number / 10_000, number / 100 % 100, number % 100)
}

/// Seconds of a time of day: 1230, "1230", "12:30", "12:30:15", "12".
fn time_of(label: &Label) -> Option<i64> {
    if let Some(text) = label.as_text() {
        let digits: Vec<i64> = text.split(':').map(|part| part.trim().parse().ok()).collect::<Option<_>>()?;
        match *digits.as_slice() {
            [hour, minute] => return clock(hour, minute, 0),
            [hour, minute, second] => return clock(hour, minute, second),
            [hour] if text.trim().len() <= 2 => return clock(hour, 0, 0),
            [number] if text.trim().len() > 4 => return clock(number / 10_000, number / 100 % 100, number % 100),
            _ => {}
        }
    }
    let number = label.as_integer()?;
    clock(number / 100, number % 100, 0)
}

fn clock(hour: i64, minute: i64, second: i64) -> Option<i64> {
    let is_time = (0..=24).contains(&hour) && (0..60).contains(&minute) && (0..60).contains(&second);
    is_time.then(|| hour * HOUR + minute * 60 + second)
}

/// Start and end of a step in seconds: 6, "6", "6h", "90m", "0-6", "30m-60m".
#[expect(clippy::cast_possible_truncation, reason = "a step of 10^14 hours is refused before")]
fn step_of(label: &Label) -> Option<(i64, i64)> {
    match label {
        Label::Integer(hours) => hours.checked_mul(HOUR).map(|end| (end, end)),
        Label::Float(Real(hours)) => {
            let seconds = (hours * 3600.0).round();
            (seconds.abs() < 1e15).then_some((seconds as i64, seconds as i64))
        }
        Label::Text(text) => {
            // A minus sign at the front belongs to the start.
            let dash = text.char_indices().skip(1).find(|(_, letter)| *letter == '-').map(|(at, _)| at);
            match dash.and_then(|at| text.split_at_checked(at)) {
                Some((start, end)) => Some((duration(start)?, duration(end.trim_start_matches('-'))?)),
                None => duration(text).map(|end| (end, end)),
            }
        }
        Label::Time(_) | Label::Duration(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_have_units_and_ends() {
        let text = |text: &str| step_of(&Label::Text(text.into()));
        assert_eq!((text("0-24"), text("30m-60m")), (Some((0, 86_400)), Some((1800, 3600))));
        assert_eq!(
            (text("90m"), text("-6"), text("6h")),
            (Some((5400, 5400)), Some((-21_600, -21_600)), Some((21_600, 21_600)))
        );
        assert_eq!((text("6x"), text(""), text("-")), (None, None, None));
        assert_eq!(step_of(&Label::Integer(6)), Some((21_600, 21_600)));
        assert_eq!((step_of(&Label::Integer(i64::MAX)), step_of(&Label::Float(Real(1e300)))), (None, None));
    }

    #[test]
    fn dates_and_times_are_numbers_or_texts() {
        let text = |text: &str| Label::Text(text.into());
        assert_eq!((date_of(&Label::Integer(19_700_102)), date_of(&text("1970-01-02"))), (Some(1), Some(1)));
        assert_eq!((date_of(&text("tomorrow")), date_of(&Label::Integer(20_230_231))), (None, None));
        assert_eq!(
            ["12:30", "1230", "12", "123015"].map(|time| time_of(&text(time)).map(|time| time / 60)),
            [Some(750), Some(750), Some(720), Some(750)]
        );
        assert_eq!((time_of(&Label::Integer(30)), time_of(&Label::Integer(2460))), (Some(1800), None));
    }

    #[test]
    fn parameters_are_known_by_number_and_name() {
        let find = |param: Label| parameter([None, Some(&param), None, None, None, None]).map(|it| it.variable);
        assert_eq!((find(Label::Text("2t".into())), find(Label::Integer(167))), (Some("t2m"), Some("t2m")));
        assert_eq!((find(Label::Text("130.128".into())), find(Label::Text("own".into()))), (Some("t"), None));
        // Another centre calls another parameter so.
        let numbered = |number: i64| {
            let (number, short) = (Label::Integer(number), Label::Text("lspa".into()));
            parameter([Some(&number), Some(&short), None, None, None, None]).map(|it| it.units)
        };
        assert_eq!((numbered(171_142), numbered(260_479), numbered(0)), (Some("m"), None, Some("m")));
    }
}
