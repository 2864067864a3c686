//! The keys of GRIB edition 1: sections 1 and 2 as metadata, under the words of edition 2 where they mean the same.
//!
//! Octets that are not there give no keys. Numbers of section 1 are facts of a [`Product`], so that tables and rules ask for
//! them as they ask for the ones of edition 2.

mod domains;
mod level;
mod local;
mod ocean;
mod time;

use ciborium::Value;
use tgm_grid::Octets;

use super::super::archive::{Archive, FieldOfEdition1};
use super::super::entries::{Entries, add};
use super::super::error::{GribError, at_grid};
use super::super::fields::Field;
use super::super::keys::{GribKeys, NUMBERS, area};
use super::super::names::{Names, Origin};
use super::super::product::{Key, Product};
use super::super::sections::Section;
use super::super::steps::Step;
use super::super::tables::{Group, TableEntry};

pub(in super::super) use domains::GridFacts;
pub(in super::super) use local::LocalPart;

/// The maps of a field.
#[derive(Debug, PartialEq)]
struct Maps {
    grib: Entries,
    mars: Entries,
}

/// Where section 1 begins in a message.
const OFFSET: usize = 8;
/// Section 1 from octet 4 on: widths and keys.
const FIRST_OCTET: usize = 4;
const NONE: u8 = u8::MAX;
const FIELDS: [u8; 14] = [
    1,
    Key::Table2Version as u8,
    1,
    Key::Centre as u8,
    1,
    Key::GeneratingProcessIdentifier as u8,
    2,
    NONE,
    1,
    Key::IndicatorOfParameter as u8,
    1,
    Key::IndicatorOfTypeOfLevel as u8,
    0x82,
    NONE,
];
/// Octets that are read by themselves.
const CENTRE: usize = 5;
const UNIT: usize = 18;
const TIME_RANGE: usize = 21;
const SUB_CENTRE: usize = 26;
/// Japan's reanalysis: a centre with a sub-centre.
const JAPAN: (u16, u16) = (34, 241);
/// The number of a parameter that the database of ECMWF does not have.
const UNKNOWN: u32 = 0;

/// The entries of `grib` and of `mars` for a field.
///
/// # Errors
/// [`GribErrorKind::Grid`](super::super::GribErrorKind::Grid) for numbers that make no grid.
pub(in super::super) fn entries(field: &Field<'_>, keys: GribKeys) -> Result<(Entries, Entries), GribError> {
    let mut maps = maps(field.identification.as_bytes(), field.grid.map(|section| section.as_bytes()), keys);
    if let Some(grid) = field.grid()? {
        let at_grid = at_grid(field.grid_offset());
        for (key, number) in grid.numbers().map_err(&at_grid)?.into_iter().filter(|(key, _)| keys.keeps(key)) {
            add(&mut maps.grib, key, Some(number));
        }
        add(&mut maps.mars, "area", area(grid).map_err(at_grid)?);
    }
    Ok((maps.grib, maps.mars))
}

/// The maps of sections 1 and 2. Their slices have all octets of them.
fn maps(section1: &[u8], section2: Option<&[u8]>, keys: GribKeys) -> Maps {
    let (section, octets) = (Section::new(1, OFFSET, section1), Octets::new(section1));
    let mut product = Product::empty();
    // A section that ends before gives the numbers that it has.
    let _ = product.read(section, FIRST_OCTET, &FIELDS);
    let origin = origin(octets);
    product.set(Key::SubCentre, origin.sub_centre);
    level::read(octets, &mut product);
    product.set(Key::TimeRangeIndicator, octets.u8(TIME_RANGE).unwrap_or(u8::MAX));
    let area = section2.map(Octets::new).and_then(GridFacts::of);
    if let Some(area) = area {
        area.set(&mut product);
    }
    let local = LocalPart::read(section, (origin.centre, origin.sub_centre), &mut product);
    let names = Names::of_edition_1(origin.centre);
    let statistic = statistic(&names, &mut product);
    let parameter = names.parameter_of_edition_1(&product);
    let level = level::Level::of(&product, &names, (origin.centre, origin.sub_centre) == JAPAN);
    let (reference, step) = (time::reference(octets), time::step(octets, statistic.map(|found| found.number)));
    let mut grib = Vec::new();
    numbers(octets, &product, &mut grib);
    add(&mut grib, "date", Some(reference.0.number()));
    add(&mut grib, "time", Some(reference.1 * 100));
    add(&mut grib, "typeOfStatisticalProcessing", product.raw(Key::TypeOfStatisticalProcessing));
    add(&mut grib, "paramId", parameter.map(|found| found.number).filter(|number| *number != UNKNOWN));
    add(&mut grib, "typeOfLevel", level.name);
    add(&mut grib, "level", level.number);
    add(&mut grib, "bottomLevel", level.bottom);
    add(&mut grib, "stepRange", step.map(Step::range));
    keys.leave_edition_1(&mut grib);
    let mut mars = Archive::entries_of_edition_1(FieldOfEdition1 {
        product: &product,
        names: &names,
        origin: &origin,
        local,
        grid: area,
        reference,
        step,
        period: time::period(octets),
        level: (level.kind, level.listed),
        parameter: parameter.map_or(UNKNOWN, |found| found.number),
    });
    if local.is_some_and(|local| local.is_ocean()) {
        ocean::change(octets, reference, step, &mut mars);
    }
    add(&mut mars, "param", param(parameter, octets));
    Maps { grib, mars }
}

/// What decides which definitions apply.
fn origin(octets: Octets<'_>) -> Origin {
    let octet = |octet| octets.u8(octet).unwrap_or(0).into();
    Origin {
        discipline: 0,
        centre: octet(CENTRE),
        sub_centre: octet(SUB_CENTRE),
        tables: 0,
        status: 0,
        class: None,
        generation: None,
    }
}

/// What ecCodes calls the time range. Adds the number of code table 4.10 to the facts, if the range says it.
fn statistic(names: &Names, product: &mut Product) -> Option<TableEntry> {
    /// Above these numbers stand forms of steps.
    const STATISTICS: u32 = 7;
    /// A range of which the parameter alone says what it is, such as a maximum.
    const UNSAID: i64 = 2;
    /// What the tables have for all time ranges.
    const ANY_RANGE: u16 = 256;
    const ECMWF_ALONE: [i64; 2] = [118, 119];
    let range = product.raw(Key::TimeRangeIndicator)?;
    let find = |range| names.find(Group::of(Group::STATISTIC_1, range), product);
    let found = find(ANY_RANGE).or_else(|| find(u16::try_from(range).ok()?))?;
    let is_ours = [Key::Centre, Key::SubCentre].into_iter().any(|key| product.raw(key) == Some(98));
    let is_said = range != UNSAID && (is_ours || !ECMWF_ALONE.contains(&range));
    if found.number <= STATISTICS && is_said {
        product.set(Key::TypeOfStatisticalProcessing, found.number);
    }
    Some(found)
}

/// The numbers of section 1, and the ones of its local part that tell fields apart.
fn numbers(octets: Octets<'_>, product: &Product, grib: &mut Entries) {
    const OF_PRODUCT: [(&str, Key); 6] = [
        ("centre", Key::Centre),
        ("subCentre", Key::SubCentre),
        ("table2Version", Key::Table2Version),
        ("indicatorOfParameter", Key::IndicatorOfParameter),
        ("generatingProcessIdentifier", Key::GeneratingProcessIdentifier),
        ("indicatorOfTypeOfLevel", Key::IndicatorOfTypeOfLevel),
    ];
    const OCTETS: [(&str, usize); 5] = [
        ("indicatorOfUnitOfTimeRange", UNIT),
        ("P1", 19),
        ("P2", 20),
        ("timeRangeIndicator", TIME_RANGE),
        ("numberMissingFromAveragesOrAccumulations", 24),
    ];
    const IN_AVERAGE: usize = 22;
    for (name, key) in OF_PRODUCT {
        add(grib, name, product.raw(key));
    }
    for (name, octet) in OCTETS {
        add(grib, name, octets.u8(octet));
    }
    add(grib, "numberIncludedInAverage", octets.u16(IN_AVERAGE));
    for (name, key) in NUMBERS.into_iter().filter(|(_, key)| *key != Key::TypeOfStatisticalProcessing) {
        add(grib, name, product.number(key));
    }
}

/// The short name, the number of a parameter that has none, or the number and the table of one that is not known.
fn param(found: Option<TableEntry>, octets: Octets<'_>) -> Option<Value> {
    match found {
        Some(TableEntry { text, .. }) if !text.is_empty() => Some(text.into()),
        Some(TableEntry { number, .. }) if number != UNKNOWN => Some(number.into()),
        _ => Some(format!("{}.{}", octets.u8(9)?, octets.u8(4)?).into()),
    }
}

#[cfg(test)]
mod tests;
