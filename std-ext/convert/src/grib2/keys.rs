//! Sections 0, 1, 3 and 4 as metadata: numbers under the manual's words, and the names that archives use.
//!
//! Numbers that the manual calls missing are left out.

use ciborium::Value;
use tgm_grid::{Area, GridError, GridSection};

use super::archive::Archive;
use super::data_sets::{DataSet, Prefix};
use super::dates::{Day, hhmm};
use super::edition1;
use super::entries::{Entries, add};
use super::error::{GribError, at_grid};
use super::fields::{Field, Second};
use super::labels::Labels;
use super::levels::Level;
use super::names::{ECMWF, Names, Origin, data_type};
use super::parameters::{parameter, surface};
use super::product::{Key, Product, Surface};
use super::sections::{HEAD_LEN, Section};
use super::steps::Step;
use super::tables::{TableEntry, Version};

/// Which keys of the map `grib` a field gets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum GribKeys {
    /// All numbers of sections 0, 1 and 3 under the manual's words, and of section 4 the ones that tell fields apart.
    #[default]
    All,
    /// The numbers and names by which datasets and catalogues tell fields apart. The others stand in the sections alone, which are kept whole:
    /// small fields become a fifth smaller.
    Few,
}

/// Keys that fields keep with [`GribKeys::Few`], beside the keys of [`NUMBERS`].
const FEW: [&str; 15] = [
    "centre",
    "date",
    "time",
    "discipline",
    "parameterCategory",
    "parameterNumber",
    "parameterName",
    "parameterUnits",
    "paramId",
    "typeOfLevel",
    "level",
    "stepRange",
    "gridDefinitionTemplateNumber",
    "scaleFactorOfSecondFixedSurface",
    "scaledValueOfSecondFixedSurface",
];
/// The same, where the kind of level has no name.
const SURFACES: [&str; 2] = ["typeOfFirstFixedSurface", "typeOfSecondFixedSurface"];

impl GribKeys {
    /// Whether every field gets a key, if its sections say it.
    pub(super) fn keeps(self, key: &str) -> bool {
        self == Self::All || FEW.contains(&key) || NUMBERS.iter().any(|(name, _)| *name == key)
    }

    /// The same for edition 1.
    pub(super) fn leave_edition_1(self, grib: &mut Entries) {
        let has = |name: &str| grib.iter().any(|(key, _)| key.as_text() == Some(name));
        let (has_level, has_number) = (has("typeOfLevel"), has("paramId"));
        let is_kept = |key: &str| match key {
            "indicatorOfTypeOfLevel" => !has_level || self == Self::All,
            "table2Version" | "indicatorOfParameter" => !has_number || self == Self::All,
            key => key == "bottomLevel" || self.keeps(key),
        };
        grib.retain(|(key, _)| key.as_text().is_some_and(is_kept));
    }

    /// Takes the entries of the map away that a field does not get.
    fn leave(self, grib: &mut Entries) {
        let has_name = grib.iter().any(|(key, _)| key.as_text() == Some("typeOfLevel"));
        let is_kept = |key: &str| self.keeps(key) || (!has_name && SURFACES.contains(&key));
        grib.retain(|(key, _)| key.as_text().is_some_and(is_kept));
    }
}

/// The entries of `grib` and of `mars` for a field.
///
/// # Errors
/// [`super::GribErrorKind::ShortSection`].
pub(super) fn entries(field: &Field<'_>, keys: GribKeys) -> Result<(Entries, Entries), GribError> {
    let (Some(second), Some(section), Some(grid_section)) = (field.second, field.grid()?, field.grid) else {
        return edition1::entries(field, keys);
    };
    let Second { local, product } = second;
    let discipline = field.indicator.u8(7)?;
    let origin = origin(field)?;
    let prefix = Prefix::of(local, origin.status, origin.centre == ECMWF)?;
    let labels = Labels::of(local, &origin, prefix.as_ref())?;
    let definition = labels.map(|labels| (labels.definition, labels.end));
    let mut product = Product::parse(product, definition.zip(local))?;
    let origin = Origin {
        class: labels.map(|labels| labels.class),
        generation: prefix.and_then(|prefix| prefix.generation()),
        ..origin
    };
    product.set(Key::Discipline, discipline);
    product.set(Key::TablesVersion, origin.tables);
    product.set(Key::LocalTablesVersion, field.identification.u8(11)?);
    product.set(Key::Centre, origin.centre);
    product.set(Key::SubCentre, origin.sub_centre);
    product.set(Key::ProductionStatusOfProcessedData, origin.status);
    if let Some(labels) = labels {
        product.set(Key::MarsClass, labels.class);
        product.set(Key::Type, labels.kind);
        product.set(Key::Stream, labels.stream);
    }
    ocean_grid(grid_section, &mut product)?;
    let names = Names::of(&origin, &product);
    let (level, step) = (Level::of(&product, &names), Step::of(&product, names.version == Version::Earlier));
    let mut grib = Vec::new();
    add(&mut grib, "discipline", Some(discipline));
    let reference = identification(field.identification, &mut grib)?;
    for (key, number) in section.numbers().map_err(at_grid(grid_section.offset()))? {
        add(&mut grib, key, Some(number));
    }
    let found = names.parameter(&product);
    describe(&product, discipline, &mut grib);
    add(&mut grib, "paramId", found.map(|found| found.number).filter(|number| *number != 0));
    add(&mut grib, "typeOfLevel", level.name);
    add(&mut grib, "level", level.number.clone());
    add(&mut grib, "stepRange", step.map(Step::range));
    add(&mut grib, "dataRepresentationTemplateNumber", Some(field.representation.u16(10)?));
    keys.leave(&mut grib);
    let kind = field.identification.u8(21)?;
    let mut mars = Archive::entries(
        (&product, &names, &origin),
        (labels, prefix.as_ref(), local.is_some_and(|section| section.as_bytes().len() > HEAD_LEN)),
        (&level, step),
        (reference, kind),
    );
    if labels.is_none() && DataSet::of(origin.status).is_none() {
        add(&mut mars, "type", data_type(kind));
    }
    add(&mut mars, "param", found.map(param));
    add(&mut mars, "area", area(section).map_err(at_grid(grid_section.offset()))?);
    Ok((grib, mars))
}

/// Section 1. Returns the reference time: its day, and its hours and minutes.
fn identification(section: Section<'_>, grib: &mut Entries) -> Result<(Day, i64), GribError> {
    add(grib, "centre", Some(section.u16(6)?));
    add(grib, "subCentre", Some(section.u16(8)?));
    add(grib, "tablesVersion", Some(section.u8(10)?));
    add(grib, "localTablesVersion", Some(section.u8(11)?));
    add(grib, "significanceOfReferenceTime", Some(section.u8(12)?));
    let (year, month, day) = (section.u16(13)?, section.u8(15)?, section.u8(16)?);
    let (hour, minute, second) = (section.u8(17)?, section.u8(18)?, section.u8(19)?);
    let day = Day::new(year.into(), month.into(), day.into());
    let time = hhmm(hour.into(), minute.into());
    add(grib, "date", Some(day.number()));
    add(grib, "time", Some(time * 100 + i64::from(second)));
    add(grib, "productionStatusOfProcessedData", Some(section.u8(20)?));
    add(grib, "typeOfProcessedData", Some(section.u8(21)?));
    Ok((day, time))
}

/// What decides which definitions apply, but for section 2.
fn origin(field: &Field<'_>) -> Result<Origin, GribError> {
    let section = field.identification;
    Ok(Origin {
        discipline: field.indicator.u8(7)?,
        centre: section.u16(6)?,
        sub_centre: section.u16(8)?,
        tables: section.u8(10)?,
        status: section.u8(20)?,
        class: None,
        generation: None,
    })
}

/// The numbers of an unstructured grid (template 3.101), by which some parameters differ.
fn ocean_grid(section: Section<'_>, product: &mut Product) -> Result<(), GribError> {
    const UNSTRUCTURED: u16 = 101;
    let template = section.u16(13)?;
    product.set(Key::GridDefinitionTemplateNumber, template);
    if template == UNSTRUCTURED {
        product.set(Key::NumberOfGridUsed, section.u32(16)? >> 8);
        product.set(Key::NumberOfGridInReference, section.u8(19)?);
    }
    Ok(())
}

/// The short name, or the number of a parameter that has none.
fn param(found: TableEntry) -> Value {
    if found.text.is_empty() { found.number.into() } else { found.text.into() }
}

/// The bounds of a regular grid: north, west, south, east, in degrees. `None` for other grids.
pub(super) fn area(grid: GridSection<'_>) -> Result<Option<Vec<Value>>, GridError> {
    let numbers = |area: Area| [area.north(), area.west(), area.south(), area.east()].map(Value::from).into();
    Ok(grid.area()?.map(numbers))
}

/// Section 4.
fn describe(product: &Product, discipline: u8, grib: &mut Entries) {
    add(grib, "productDefinitionTemplateNumber", Some(product.template));
    // A parameter may have the number 255, which local tables use.
    let [category, number] = [Key::ParameterCategory, Key::ParameterNumber].map(|key| product.raw(key));
    add(grib, "parameterCategory", category);
    add(grib, "parameterNumber", number);
    let narrow = |number: Option<i64>| number.and_then(|number| u8::try_from(number).ok());
    let known = narrow(category).zip(narrow(number));
    let known = known.and_then(|(category, number)| parameter(discipline, category, number));
    add(grib, "parameterName", known.map(|(name, _)| name));
    add(grib, "parameterUnits", known.map(|(_, units)| units));
    for (name, key) in GENERATION.into_iter().chain(NUMBERS) {
        add(grib, name, product.number(key));
    }
    let mut fixed = |which: &str, found: &Surface| {
        add(grib, &format!("typeOf{which}FixedSurface"), found.code);
        add(grib, &format!("scaleFactorOf{which}FixedSurface"), found.scale);
        add(grib, &format!("scaledValueOf{which}FixedSurface"), found.value);
    };
    fixed("First", &product.first());
    fixed("Second", &product.second());
    add(grib, "firstFixedSurfaceName", product.first().code.and_then(surface).map(|(name, _)| name));
}

/// Numbers of section 4 that nearly all templates have.
const GENERATION: [(&str, Key); 4] = [
    ("typeOfGeneratingProcess", Key::TypeOfGeneratingProcess),
    ("generatingProcessIdentifier", Key::GeneratingProcessIdentifier),
    ("indicatorOfUnitOfTimeRange", Key::IndicatorOfUnitForForecastTime),
    ("forecastTime", Key::ForecastTime),
];

/// Numbers of section 4 that metadata have, if the template has them: they tell fields apart.
pub(super) const NUMBERS: [(&str, Key); 36] = [
    ("typeOfEnsembleForecast", Key::TypeOfEnsembleForecast),
    ("perturbationNumber", Key::PerturbationNumber),
    ("derivedForecast", Key::DerivedForecast),
    ("numberOfForecastsInEnsemble", Key::NumberOfForecastsInEnsemble),
    ("typeOfStatisticalProcessing", Key::TypeOfStatisticalProcessing),
    ("probabilityType", Key::ProbabilityType),
    ("scaleFactorOfLowerLimit", Key::ScaleFactorOfLowerLimit),
    ("scaledValueOfLowerLimit", Key::ScaledValueOfLowerLimit),
    ("scaleFactorOfUpperLimit", Key::ScaleFactorOfUpperLimit),
    ("scaledValueOfUpperLimit", Key::ScaledValueOfUpperLimit),
    ("percentileValue", Key::PercentileValue),
    ("quantileValue", Key::QuantileValue),
    ("totalNumberOfQuantiles", Key::TotalNumberOfQuantiles),
    ("constituentType", Key::ConstituentType),
    ("sourceSinkChemicalPhysicalProcess", Key::SourceSinkChemicalPhysicalProcess),
    ("typeOfDistributionFunction", Key::TypeOfDistributionFunction),
    ("modeNumber", Key::ModeNumber),
    ("typeOfSizeInterval", Key::TypeOfSizeInterval),
    ("scaleFactorOfFirstSize", Key::ScaleFactorOfFirstSize),
    ("scaledValueOfFirstSize", Key::ScaledValueOfFirstSize),
    ("scaleFactorOfSecondSize", Key::ScaleFactorOfSecondSize),
    ("scaledValueOfSecondSize", Key::ScaledValueOfSecondSize),
    ("typeOfWavelengthInterval", Key::TypeOfWavelengthInterval),
    ("scaleFactorOfFirstWavelength", Key::ScaleFactorOfFirstWavelength),
    ("scaledValueOfFirstWavelength", Key::ScaledValueOfFirstWavelength),
    ("scaleFactorOfSecondWavelength", Key::ScaleFactorOfSecondWavelength),
    ("scaledValueOfSecondWavelength", Key::ScaledValueOfSecondWavelength),
    ("clusterIdentifier", Key::ClusterIdentifier),
    ("satelliteSeries", Key::SatelliteSeries),
    ("satelliteNumber", Key::SatelliteNumber),
    ("instrumentType", Key::InstrumentType),
    ("scaledValueOfCentralWaveNumber", Key::ScaledValueOfCentralWaveNumber),
    ("waveDirectionNumber", Key::WaveDirectionNumber),
    ("waveFrequencyNumber", Key::WaveFrequencyNumber),
    ("statisticalProcess", Key::StatisticalProcess),
    ("spatialProcessing", Key::SpatialProcessing),
];
