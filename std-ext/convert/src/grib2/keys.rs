//! Sections 0, 1, 3 and 4 as metadata: numbers under the manual's words, and the names that archives use.
//!
//! Numbers that the manual calls missing are left out.

use ciborium::Value;
use tgm_grid::{Area, GridError, GridSection};

use super::error::{GribError, at_grid};
use super::fields::Field;
use super::names::{data_type, short_name};
use super::parameters::{hours, level_type, parameter, surface};
use super::product::{Product, Surface};
use super::sections::Section;

/// Entries of a map of metadata.
pub(super) type Entries = Vec<(Value, Value)>;

/// Adds an entry, if there is a value.
fn add<T: Into<Value>>(entries: &mut Entries, key: &str, value: Option<T>) {
    entries.extend(value.map(|value| (key.into(), value.into())));
}

/// The entries of `grib` and of `mars` for a field.
///
/// # Errors
/// [`super::GribErrorKind::ShortSection`].
pub(super) fn of(field: &Field<'_>) -> Result<(Entries, Entries), GribError> {
    let discipline = field.indicator.u8(7)?;
    let product = Product::parse(field.product)?;
    let (mut grib, mut mars) = (Vec::new(), Vec::new());
    add(&mut grib, "discipline", Some(discipline));
    identification(field.identification, &mut grib, &mut mars)?;
    let section = field.grid()?;
    for (key, number) in section.numbers().map_err(at_grid(field.grid.offset()))? {
        add(&mut grib, key, Some(number));
    }
    describe(&product, discipline, &mut grib);
    add(&mut grib, "dataRepresentationTemplateNumber", Some(field.representation.u16(10)?));
    archive(&product, &mut mars);
    add(&mut mars, "param", short_name(discipline, &product));
    add(&mut mars, "area", area(section).map_err(at_grid(field.grid.offset()))?);
    Ok((grib, mars))
}

/// Section 1.
fn identification(section: Section<'_>, grib: &mut Entries, mars: &mut Entries) -> Result<(), GribError> {
    add(grib, "centre", Some(section.u16(6)?));
    add(grib, "subCentre", Some(section.u16(8)?));
    add(grib, "tablesVersion", Some(section.u8(10)?));
    add(grib, "localTablesVersion", Some(section.u8(11)?));
    add(grib, "significanceOfReferenceTime", Some(section.u8(12)?));
    let (year, month, day) = (section.u16(13)?, section.u8(15)?, section.u8(16)?);
    let (hour, minute, second) = (section.u8(17)?, section.u8(18)?, section.u8(19)?);
    let number = |parts: [u32; 3]| parts.into_iter().fold(0, |number, part| number * 100 + part);
    let date = number([year.into(), month.into(), day.into()]);
    add(grib, "date", Some(date));
    add(grib, "time", Some(number([hour.into(), minute.into(), second.into()])));
    add(grib, "productionStatusOfProcessedData", Some(section.u8(20)?));
    add(grib, "typeOfProcessedData", Some(section.u8(21)?));
    add(mars, "date", Some(date));
    add(mars, "time", Some(number([0, hour.into(), minute.into()])));
    add(mars, "type", data_type(section.u8(21)?));
    Ok(())
}

/// The bounds of a regular grid: north, west, south, east, in degrees. `None` for other grids.
fn area(grid: GridSection<'_>) -> Result<Option<Vec<Value>>, GridError> {
    let numbers = |area: Area| [area.north(), area.west(), area.south(), area.east()].map(Value::from).into();
    Ok(grid.area()?.map(numbers))
}

/// Section 4.
fn describe(product: &Product, discipline: u8, grib: &mut Entries) {
    add(grib, "productDefinitionTemplateNumber", Some(product.template));
    add(grib, "parameterCategory", product.category);
    add(grib, "parameterNumber", product.number);
    let known =
        product.category.zip(product.number).and_then(|(category, number)| parameter(discipline, category, number));
    add(grib, "parameterName", known.map(|(name, _)| name));
    add(grib, "parameterUnits", known.map(|(_, units)| units));
    add(grib, "typeOfGeneratingProcess", product.process_type);
    add(grib, "generatingProcessIdentifier", product.process);
    add(grib, "indicatorOfUnitOfTimeRange", product.time_unit);
    add(grib, "forecastTime", product.forecast_time);
    let mut fixed = |which: &str, found: &Surface| {
        add(grib, &format!("typeOf{which}FixedSurface"), found.code);
        add(grib, &format!("scaleFactorOf{which}FixedSurface"), found.scale);
        add(grib, &format!("scaledValueOf{which}FixedSurface"), found.value);
    };
    fixed("First", &product.first);
    fixed("Second", &product.second);
    add(grib, "firstFixedSurfaceName", product.first.code.and_then(surface).map(|(name, _)| name));
    add(grib, "typeOfEnsembleForecast", product.ensemble_type);
    add(grib, "perturbationNumber", product.perturbation);
    add(grib, "derivedForecast", product.derived);
    add(grib, "numberOfForecastsInEnsemble", product.forecasts);
}

/// What archives call the same.
fn archive(product: &Product, mars: &mut Entries) {
    let step = product.time_unit.and_then(hours).zip(product.forecast_time);
    let step = step.and_then(|(hours, time)| time.checked_mul(hours)).filter(|_| !product.is_statistic);
    add(mars, "step", step);
    let kind = product.first.code.and_then(level_type);
    add(mars, "levtype", kind);
    add(
        mars,
        "levelist",
        match kind {
            // Pressure in hPa.
            Some("pl") => product.first.whole(-2),
            Some("ml" | "pt") => product.first.whole(0),
            _ => None,
        },
    );
    add(mars, "number", product.perturbation);
}
