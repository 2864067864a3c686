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

mod kinds;
mod moments;

use std::cell::OnceCell;
use std::collections::HashMap;
use std::hash::Hash;

use tgm_core::cbor::Value;

pub(crate) use self::kinds::Kind;
pub use self::kinds::short_level;
use self::moments::{clock, date_of, step_of, time_of};
use crate::gather::{Cells, Gathered};
use crate::label::{HOUR, Label, Real};
use crate::moment::Time;
use crate::options::{OpenOptions, Profile};

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

/// Columns of all objects.
#[derive(Clone, Debug, Default)]
pub(crate) struct Columns {
    pub(crate) kinds: Vec<Kind>,
    /// The kind of each object, by its number.
    pub(crate) kind_of: Vec<u32>,
    pub(crate) number: Column,
    /// The code of member 0. Without such a member, it is the number after all others.
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
/// Keys of GRIB that are labels of fields. The others are labels where two fields have all of these in common.
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
