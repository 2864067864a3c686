//! Tables of keys: which conditions name a parameter or a level, codes of section 2, and the layout of section 4.
//!
//! They are made from the definitions of ecCodes 2.50.0, (C) ECMWF, Apache License 2.0, by `tests/peers/grib/tables.py`. A
//! concept there is a list of values with conditions. The value with the most conditions that hold is the answer, and the
//! last one of these. Here a concept is cut into groups, so that a look-up reads few entries: by discipline, category and
//! number for parameters, by the type of the first surface for levels.
//!
//! ```text
//! 11 lengths of 4 bytes, then the parts; all numbers are little-endian
//! groups       6 bytes: kind or discipline (254 for parameters of edition 1: the table follows), concept or category, number (2), first entry (2); in order; the last is the end
//! entries      6 bytes: folder, versions (a bit each), list of conditions (2), value (2)
//! values       7 bytes: place of its text (3), number (4)
//! texts        length, letters
//! lists        2 bytes: first condition; the last is the end
//! conditions   5 bytes: key, number (4), of which the least means that the number is missing
//! templates    4 bytes: number, place of its layout; in order
//! layouts      length (2), then fields: width with a bit for the sign, key; or 0, key of a count, length, fields of an item
//! nameless     3 bytes: table, first and last number of parameters that have no name
//! programs     8 bytes: stream, type, place of its rules (4); in order; definitions, and edition 1, have streams of their own
//! rules        length (2), then rules: key, form and number of its source, number of conditions; each 3 bytes: test with a bit
//!              for "not", number (2)
//! ```
//!
//! A look-up takes a binary search over 6,000 groups, and some comparisons for each entry of its group: 2 on average, 150 at
//! most.

/// See the head of this file.
static TABLES: &[u8] = include_bytes!("tables.bin");

/// The parts of [`TABLES`], in order.
#[derive(Clone, Copy)]
enum TableSection {
    Groups,
    Entries,
    Values,
    Texts,
    Lists,
    Conditions,
    Templates,
    Layouts,
    Nameless,
    Programs,
    Rules,
}

/// How many parts there are.
const PARTS: usize = TableSection::Rules as usize + 1;

/// Which entries of a folder apply: there are three generations of definitions, and legacy ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Version {
    /// For tables above version 33, and for centres that do not follow ECMWF's migration.
    Current = 1,
    /// For tables up to version 33.
    Earlier = 2,
    /// Chemical species in a key of their own.
    Chemical = 4,
    /// Parameters that are not in use any more.
    Legacy = 8,
}

/// A group of entries.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Group {
    kind: u8,
    concept: u8,
    number: u16,
}

impl Group {
    /// What the kind of a level is called in archives, by the type of the first surface.
    pub(super) const LEVEL_TYPE: u8 = 0;
    /// What ecCodes calls a level.
    pub(super) const LEVEL: u8 = 1;
    /// Which generation of definitions applies.
    pub(super) const VERSION: u8 = 2;
    /// The length of an interval, as archives have it.
    pub(super) const SPAN: u8 = 3;
    /// Codes of section 2.
    pub(super) const CLASS: u8 = 4;
    pub(super) const TYPE: u8 = 5;
    pub(super) const STREAM: u8 = 6;
    /// Centres: common code table C-11, and C-1 of GRIB edition 1.
    pub(super) const CENTRE: u8 = 7;
    pub(super) const EARLIER_CENTRE: u8 = 8;
    /// Statistics of days and months.
    pub(super) const STATISTIC: u8 = 9;
    /// Codes of definitions of section 2.
    pub(super) const POST_PROCESSING: u8 = 10;
    pub(super) const MODEL: u8 = 11;
    pub(super) const SUITE: u8 = 12;
    pub(super) const ACTIVITY: u8 = 13;
    pub(super) const EXPERIMENT: u8 = 14;
    pub(super) const TWIN_MODEL: u8 = 15;
    pub(super) const RESOLUTION: u8 = 16;
    pub(super) const DIMENSION: u8 = 17;
    /// Chemical species, by the type of the constituent.
    pub(super) const CHEMICAL: u8 = 18;
    /// Kinds of tiles of a surface.
    pub(super) const TILE: u8 = 19;
    /// Suites of data sets of several centres.
    pub(super) const TIGGE_SUITE: u8 = 20;
    pub(super) const REGIONAL_SUITE: u8 = 21;
    pub(super) const LATER_REGIONAL_SUITE: u8 = 22;
    /// Twins of Destination Earth, and how they divide a surface into tiles.
    pub(super) const TWIN: u8 = 23;
    pub(super) const TILE_SCHEME: u8 = 24;
    /// Models of data sets, by the process that made a field.
    pub(super) const REANALYSIS: u8 = 25;
    pub(super) const COMPARED_MODEL: u8 = 26;
    pub(super) const TWIN_PROCESS: u8 = 27;

    /// Edition 1: what the kind of a level is called in archives, and by ecCodes, by the type of the level.
    pub(super) const LEVEL_TYPE_1: u8 = 28;
    pub(super) const LEVEL_1: u8 = 29;
    /// Statistics, by the time range indicator: a number of code table 4.10, or one of the numbers below.
    pub(super) const STATISTIC_1: u8 = 30;
    /// Areas of clusters and of waves.
    pub(super) const CLUSTER_DOMAIN: u8 = 31;
    pub(super) const WAVE_DOMAIN: u8 = 32;
    /// Codes of SMHI in section 1.
    pub(super) const SMHI_CLASS: u8 = 33;
    pub(super) const SMHI_TYPE: u8 = 34;
    pub(super) const SMHI_STREAM: u8 = 35;
    pub(super) const SMHI_MODEL: u8 = 36;

    /// The group of a parameter of edition 1, by its table and its number.
    pub(super) fn of_edition_1(table: u8, number: u8) -> Self {
        // No discipline has this number.
        Self { kind: u8::MAX - 1, concept: table, number: number.into() }
    }

    /// The group of a parameter.
    pub(super) fn parameter(discipline: u8, category: u8, number: u8) -> Self {
        Self { kind: discipline, concept: category, number: number.into() }
    }

    /// A group of another concept.
    pub(super) const fn of(concept: u8, number: u16) -> Self {
        Self { kind: u8::MAX, concept, number }
    }
}

/// The answer of a look-up: a number, and a text that may be empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TableEntry {
    pub(super) number: u32,
    pub(super) text: &'static str,
}

/// The number of a condition that asks whether a value is missing.
pub(super) const IS_MISSING: i32 = i32::MIN;

fn part(which: TableSection) -> &'static [u8] {
    let (heads, _) = TABLES.as_chunks::<4>();
    let lengths = heads.iter().take(PARTS).map(|bytes| u32::from_le_bytes(*bytes) as usize);
    let start: usize = 4 * PARTS + lengths.clone().take(which as usize).sum::<usize>();
    let len = lengths.clone().nth(which as usize).unwrap_or(0);
    TABLES.get(start..start + len).unwrap_or_default()
}

/// Records of `N` bytes.
fn records<const N: usize>(which: TableSection) -> &'static [[u8; N]] {
    part(which).as_chunks().0
}

/// Entry, or condition, `first` to `end` of records.
fn between<const N: usize>(which: TableSection, first: u16, end: u16) -> &'static [[u8; N]] {
    records(which).get(first.into()..end.into()).unwrap_or_default()
}

/// The value of a group with the most conditions that hold, and the last one of these. `folders` are looked at in order.
pub(super) fn find(
    group: Group,
    folders: &[u8],
    version: Version,
    holds: impl Fn(u8, i32) -> bool,
) -> Option<TableEntry> {
    let groups = records::<6>(TableSection::Groups);
    let key = |[kind, concept, low, high, ..]: &[u8; 6]| Group {
        kind: *kind,
        concept: *concept,
        number: u16::from_le_bytes([*low, *high]),
    };
    let at = groups.binary_search_by_key(&group, key).ok()?;
    let (Some([.., a, b]), Some([.., c, d])) = (groups.get(at), groups.get(at + 1)) else { return None };
    let entries: &[[u8; 6]] =
        between(TableSection::Entries, u16::from_le_bytes([*a, *b]), u16::from_le_bytes([*c, *d]));
    let mut best: Option<(usize, u16)> = None;
    for wanted in folders {
        for [folder, versions, a, b, c, d] in entries {
            if folder != wanted || versions & version as u8 == 0 {
                continue;
            }
            let conditions = list(u16::from_le_bytes([*a, *b]));
            let is_better = best.is_none_or(|(count, _)| conditions.len() >= count);
            let hold = |[key, number @ ..]: &[u8; 5]| holds(*key, i32::from_le_bytes(*number));
            if is_better && conditions.iter().all(hold) {
                best = Some((conditions.len(), u16::from_le_bytes([*c, *d])));
            }
        }
    }
    value(best?.1)
}

/// The conditions of a list.
fn list(index: u16) -> &'static [[u8; 5]] {
    let lists = records::<2>(TableSection::Lists);
    let at = |index: usize| lists.get(index).map(|bytes| u16::from_le_bytes(*bytes));
    let (first, end) = (at(index.into()), at(usize::from(index) + 1));
    first.zip(end).map_or(&[], |(first, end)| between(TableSection::Conditions, first, end))
}

fn value(index: u16) -> Option<TableEntry> {
    let [a, b, c, number @ ..] = records::<7>(TableSection::Values).get(usize::from(index))?;
    let place = u32::from_le_bytes([*a, *b, *c, 0]) as usize;
    let (len, letters) = part(TableSection::Texts).get(place..)?.split_first()?;
    let text = std::str::from_utf8(letters.get(..usize::from(*len))?).ok()?;
    Some(TableEntry { number: u32::from_le_bytes(*number), text })
}

/// Whether ECMWF has this parameter of GRIB edition 1, but no name for it: a table and a number.
pub(super) fn is_nameless(table: u8, number: u8) -> bool {
    records(TableSection::Nameless).iter().any(|[of, first, last]| *of == table && (*first..=*last).contains(&number))
}

/// The text of a code.
pub(super) fn text(concept: u8, code: u16) -> Option<&'static str> {
    find(Group::of(concept, code), &[0], Version::Current, |_, _| false).map(|found| found.text)
}

/// What rules are for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Program {
    /// A stream with a type.
    Stream(u16, u16),
    /// A definition of section 2.
    Definition(u16),
    /// The same in edition 1, where definitions are of section 1.
    Stream1(u16, u16),
    Definition1(u16),
}

impl Program {
    /// The numbers of streams are below this.
    const STREAMS: u16 = 30_000;
    const DEFINITIONS: u16 = 60_000;

    /// The two numbers under which the tables have it. `None` for a stream that no archive has.
    const fn key(self) -> Option<(u16, u16)> {
        match self {
            Self::Stream(stream, kind) if stream < Self::STREAMS => Some((stream, kind)),
            Self::Stream1(stream, kind) if stream < Self::STREAMS => Some((stream + Self::STREAMS, kind)),
            Self::Definition(number) => Some((Self::DEFINITIONS, number)),
            Self::Definition1(number) => Some((Self::DEFINITIONS + 1, number)),
            Self::Stream(..) | Self::Stream1(..) => None,
        }
    }
}

/// The rules of a stream with a type, or of a definition: see [`super::archive`]. Empty if there are none.
pub(super) fn rules(program: Program) -> &'static [u8] {
    let Some(wanted) = program.key() else { return &[] };
    let programs = records::<8>(TableSection::Programs);
    let key = |[a, b, c, d, ..]: &[u8; 8]| (u16::from_le_bytes([*a, *b]), u16::from_le_bytes([*c, *d]));
    let found = programs.binary_search_by_key(&wanted, key).ok().and_then(|at| programs.get(at));
    found
        .and_then(|[.., a, b, c, d]| counted(TableSection::Rules, u32::from_le_bytes([*a, *b, *c, *d]) as usize))
        .unwrap_or(&[])
}

/// The bytes at a place of a part, which begin with their length.
fn counted(which: TableSection, place: usize) -> Option<&'static [u8]> {
    let (len, bytes) = part(which).get(place..)?.split_first_chunk()?;
    bytes.get(..usize::from(u16::from_le_bytes(*len)))
}

/// The fields of a template of section 4, from octet 10 on, or of a definition of section 2 after its labels. `None` for a template that is not defined.
pub(super) fn layout(template: u16) -> Option<&'static [u8]> {
    let templates = records::<4>(TableSection::Templates);
    let number = |[a, b, ..]: &[u8; 4]| u16::from_le_bytes([*a, *b]);
    let at = templates.binary_search_by_key(&template, number).ok()?;
    let [.., a, b] = templates.get(at)?;
    counted(TableSection::Layouts, u16::from_le_bytes([*a, *b]).into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_fill_the_file_and_every_index_is_within_its_part() {
        let heads = 4 * PARTS;
        let all = [
            TableSection::Groups,
            TableSection::Entries,
            TableSection::Values,
            TableSection::Texts,
            TableSection::Lists,
            TableSection::Conditions,
            TableSection::Templates,
            TableSection::Layouts,
            TableSection::Nameless,
            TableSection::Programs,
            TableSection::Rules,
        ];
        assert_eq!(heads + all.iter().map(|which| part(*which).len()).sum::<usize>(), TABLES.len());
        let groups = records::<6>(TableSection::Groups);
        assert!(groups.is_sorted_by_key(|[kind, concept, low, high, ..]| (
            *kind,
            *concept,
            u16::from_le_bytes([*low, *high])
        )));
        for [_, _, a, b, c, d] in records::<6>(TableSection::Entries) {
            assert!(usize::from(u16::from_le_bytes([*a, *b])) + 1 < records::<2>(TableSection::Lists).len());
            assert!(value(u16::from_le_bytes([*c, *d])).is_some());
        }
        for [a, b, ..] in records::<4>(TableSection::Templates) {
            let number = u16::from_le_bytes([*a, *b]);
            // Some definitions of section 2 have no fields.
            assert!(layout(number).is_some_and(|fields| number >= 60_000 || !fields.is_empty()));
        }
        let programs = records::<8>(TableSection::Programs);
        assert!(
            programs.is_sorted_by_key(|[a, b, c, d, ..]| (u16::from_le_bytes([*a, *b]), u16::from_le_bytes([*c, *d])))
        );
        for [.., a, b, c, d] in programs {
            assert!(counted(TableSection::Rules, u32::from_le_bytes([*a, *b, *c, *d]) as usize).is_some());
        }
    }

    #[test]
    fn the_value_with_the_most_conditions_wins() {
        let temperature = Group::parameter(0, 0, 0);
        let name =
            |holds: fn(u8, i32) -> bool| find(temperature, &[0], Version::Current, holds).map(|found| found.text);
        assert_eq!(name(|_, _| false), Some("t"));
        // Height above ground, 2 m.
        assert_eq!(name(|key, number| matches!((key, number), (0, 103) | (1, 0) | (2, 2))), Some("2t"));
        assert_eq!(
            find(Group::of(Group::CLASS, 1), &[0], Version::Current, |_, _| false).map(|found| found.text),
            Some("od")
        );
    }
}
