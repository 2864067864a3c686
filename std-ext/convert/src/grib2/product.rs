//! Section 4: what the values are, where and when, by the layout of its template.

use tgm_grid::Octets;

use super::error::GribError;
use super::sections::Section;
use super::tables::{IS_MISSING, layout};

/// The octet where every template begins.
const FIRST_OCTET: usize = 10;
/// The template whose forecast time has two octets in sections of 45 octets, and four in others.
const AEROSOL: u16 = 44;
const SHORT_AEROSOL: u16 = 65044;
const SHORT_LEN: usize = 45;
/// What the tables call a definition of section 2: its number and this.
const LOCAL: u16 = 60000;
/// The definition of layers.
const LAYERS: u16 = 300;

/// A value of the message that conditions can ask for, under the words of ecCodes. The tables have the same order. A number
/// at the end counts items of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(clippy::enum_variant_names, dead_code, reason = "the words of the manual; some are in tables alone")]
#[repr(u8)]
pub(super) enum Key {
    TypeOfFirstFixedSurface,
    ScaleFactorOfFirstFixedSurface,
    ScaledValueOfFirstFixedSurface,
    TypeOfSecondFixedSurface,
    ScaleFactorOfSecondFixedSurface,
    ScaledValueOfSecondFixedSurface,
    TypeOfStatisticalProcessing,
    TypeOfGeneratingProcess,
    BackgroundProcess,
    GeneratingProcessIdentifier,
    IndicatorOfUnitForForecastTime,
    ForecastTime,
    NumberOfTimeRanges,
    TypeOfTimeIncrement,
    IndicatorOfUnitForTimeRange,
    LengthOfTimeRange,
    ConstituentType,
    SourceSinkChemicalPhysicalProcess,
    TypeOfDistributionFunction,
    ModeNumber,
    TypeOfSizeInterval,
    ScaleFactorOfFirstSize,
    ScaledValueOfFirstSize,
    ScaleFactorOfSecondSize,
    ScaledValueOfSecondSize,
    TypeOfWavelengthInterval,
    ScaleFactorOfFirstWavelength,
    ScaledValueOfFirstWavelength,
    ScaleFactorOfSecondWavelength,
    ScaledValueOfSecondWavelength,
    ProbabilityType,
    ScaleFactorOfLowerLimit,
    ScaledValueOfLowerLimit,
    ScaleFactorOfUpperLimit,
    ScaledValueOfUpperLimit,
    TypeOfWavePeriodInterval,
    ScaleFactorOfLowerWavePeriodLimit,
    ScaledValueOfLowerWavePeriodLimit,
    ScaleFactorOfUpperWavePeriodLimit,
    ScaledValueOfUpperWavePeriodLimit,
    RandomFieldNumber,
    TypeOfRelationToReferenceDataset,
    NumberOfAdditionalParametersForReferencePeriod,
    SatelliteSeries,
    SatelliteNumber,
    InstrumentType,
    ScaledValueOfCentralWaveNumber,
    TypeOfEnsembleForecast,
    PerturbationNumber,
    NumberOfForecastsInEnsemble,
    DerivedForecast,
    WaveDirectionNumber,
    WaveFrequencyNumber,
    ParameterCategory,
    ParameterNumber,
    YearOfEndOfOverallTimeInterval,
    MonthOfEndOfOverallTimeInterval,
    DayOfEndOfOverallTimeInterval,
    HourOfEndOfOverallTimeInterval,
    MinuteOfEndOfOverallTimeInterval,
    SecondOfEndOfOverallTimeInterval,
    PercentileValue,
    QuantileValue,
    TotalNumberOfQuantiles,
    NumberOfForecastsInTheCluster,
    NumberOfContributingSpectralBands,
    NumberOfCategories,
    NumberOfDistributionFunctionParameters,
    NumberOfPartitions,
    NumberOfUsedTileAttributesForTileAttributeCombination,
    NumberOfSpatialVicinityValues,
    NumberOfReferencePeriodTimeRanges,
    NumberOfWaveDirectionSequenceParameters,
    NumberOfWaveFrequencySequenceParameters,
    NumberOfAdditionalArgumentsForVerification,
    NumberOfVerificationPeriodTimeRanges,
    NumberOfForecastsUsedInLocalTime,
    IsChemical,
    IsChemicalSrcsink,
    IsAerosol,
    IsAerosolOptical,
    AerosolType,
    StatisticalProcessings,
    GridDefinitionTemplateNumber,
    NumberOfGridInReference,
    NumberOfGridUsed,
    Discipline,
    TablesVersion,
    LocalTablesVersion,
    ProductionStatusOfProcessedData,
    MarsClass,
    ProductDefinitionTemplateNumber,
    Kind0,
    Unit0,
    Length0,
    Kind1,
    Unit1,
    Length1,
    ClusterIdentifier,
    ForecastProbabilityNumber,
    BackgroundGeneratingProcessIdentifier,
    HoursAfterDataCutoff,
    MinutesAfterDataCutoff,
    ReforecastYear,
    ReforecastMonth,
    ReforecastDay,
    ReforecastHour,
    ReforecastMinute,
    ScaleFactor0,
    ScaledValue0,
    ScaleFactor1,
    ScaledValue1,
    ScaleFactorOfAdditionalParameterForReferencePeriod,
    ScaledValueOfAdditionalParameterForReferencePeriod,
    SystemNumber,
    MethodNumber,
    ReferenceDate,
    IndexingDate,
    IndexingTime,
    ChannelNumber,
    OffsetToEndOf4DvarWindow,
    IterationNumber,
    ComponentIndex,
    ForecastOrSingularVectorNumber,
    DataOrigin,
    YearOfAnalysis,
    MonthOfAnalysis,
    DayOfAnalysis,
    HourOfAnalysis,
    MinuteOfAnalysis,
    OriginatingCentreOfAnalysis,
    OptimisationTime,
    ForecastLeadTime,
    MarsDomain,
    LcwfvSuiteName,
    FourierCoefficientIndex,
    SensitiveAreaDomain,
    DiagnosticNumber,
    LegNumber,
    InputOriginatingCentre,
    TypeOfPostProcessing,
    OffsetToStartOfForecastFillupInHours,
    TargetFcstSystem,
    YearOfForecast,
    MonthOfForecast,
    DayOfForecast,
    HourOfForecast,
    MinuteOfForecast,
    YearOfModelVersion,
    MonthOfModelVersion,
    DayOfModelVersion,
    HourOfModelVersion,
    MinuteOfModelVersion,
    Activity,
    Experiment,
    Generation,
    Model,
    Realization,
    Resolution,
    DimensionType,
    DimensionNumber,
    ExtraLocalSectionNumber,
    Centre,
    SubCentre,
    Grib2LocalSectionNumber,
    TypeOfTile,
    AttributeOfTile,
    TileAttributes,
    Stream,
    Type,
    StatisticalProcess,
    SpatialProcessing,
    // Edition 1.
    Table2Version,
    IndicatorOfParameter,
    IndicatorOfTypeOfLevel,
    Level,
    TopLevel,
    BottomLevel,
    TimeRangeIndicator,
    ClusterNumber,
    TubeNumber,
    ReferenceStep,
    Band,
    SatelliteIdentifier,
    InstrumentIdentifier,
    NumberOfFrequencies,
    VerifyingMonth,
    ForecastMonth,
    NorthernLatitudeOfDomain,
    WesternLongitudeOfDomain,
    SouthernLatitudeOfDomain,
    EasternLongitudeOfDomain,
    CenturyOfAnalysis,
    LocalModel,
    LocalDomain,
    ClusteringDomain,
    LatitudeOfFirstGridPoint,
    LongitudeOfFirstGridPoint,
    LatitudeOfLastGridPoint,
    LongitudeOfLastGridPoint,
    GridName,
    Global,
}

/// How many keys there are.
const KEYS: usize = Key::Global as usize + 1;

/// A number, and whether all of its bits are 1, which the manual calls missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Fact {
    number: i64,
    is_missing: bool,
}

/// An interval of a statistic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Span {
    /// Whether the forecast time grows over the interval, rather than the time of its start (code table 4.11).
    pub(super) is_of_forecast: bool,
    /// Its unit (code table 4.4).
    pub(super) unit: i64,
    /// Its length in units.
    pub(super) length: i64,
}

/// The numbers of section 4, and of other sections as far as tables ask for them.
#[derive(Clone, Debug)]
pub(super) struct Product {
    facts: Box<[Option<Fact>; KEYS]>,
    /// The intervals of a statistic, the outermost first.
    pub(super) spans: Vec<Span>,
    pub(super) template: u16,
    /// How many coordinate values stand after the template (octets 6 and 7).
    pub(super) coordinates: u16,
}

/// A fixed surface: its type, and its value times ten to the power of minus the scale factor.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Surface {
    pub(super) code: Option<u8>,
    pub(super) scale: Option<i64>,
    pub(super) value: Option<i64>,
}

impl Product {
    /// Without any number.
    pub(super) fn empty() -> Self {
        Self { facts: Box::new([None; KEYS]), spans: vec![], template: 0, coordinates: 0 }
    }

    /// Reads section 4, and what section 2 of ECMWF has after its labels, by the number of its definition and the
    /// octet. Templates and definitions that the tables do not have give their number alone.
    ///
    /// # Errors
    /// [`super::GribErrorKind::ShortSection`] of section 4.
    pub(super) fn parse(section: Section<'_>, local: Option<((u16, usize), Section<'_>)>) -> Result<Self, GribError> {
        let template = section.u16(8)?;
        let coordinates = section.u16(6)?;
        let mut product = Self { template, coordinates, ..Self::empty() };
        if let Some((definition, section)) = local {
            product.read_local(definition, section);
        }
        product.set(Key::ProductDefinitionTemplateNumber, template);
        let behind = usize::from(coordinates) * 4;
        let is_short = template == AEROSOL && section.as_bytes().len().checked_sub(behind) == Some(SHORT_LEN);
        if let Some(fields) = layout(if is_short { SHORT_AEROSOL } else { template }) {
            product.read(section, FIRST_OCTET, fields)?;
        }
        product.derive();
        Ok(product)
    }

    /// Reads the octets of section 2 after the labels. Octets that are not there give no keys: archives need the labels alone.
    fn read_local(&mut self, (definition, octet): (u16, usize), section: Section<'_>) {
        self.set(Key::Grib2LocalSectionNumber, definition);
        let Some(fields) = LOCAL.checked_add(definition).and_then(layout) else { return };
        let Ok(end) = self.read(section, octet, fields) else { return };
        // A second definition may follow, of which one has keys: numbers of layers.
        let Some(layers) = layout(LOCAL + LAYERS).filter(|_| section.u16(end).is_ok_and(|number| number == LAYERS))
        else {
            return;
        };
        if self.read(section, end + 2, layers).is_ok() {
            self.set(Key::ExtraLocalSectionNumber, LAYERS);
        }
    }

    /// Reads fields from an octet on. Returns the octet after them. The last of several values of a key counts.
    pub(super) fn read(
        &mut self,
        section: Section<'_>,
        mut octet: usize,
        mut fields: &[u8],
    ) -> Result<usize, GribError> {
        loop {
            match fields {
                [0, count, len, rest @ ..] => {
                    let (item, rest) = rest.split_at_checked((*len).into()).unwrap_or_default();
                    for index in 0..self.fact(*count).filter(|fact| !fact.is_missing).map_or(0, |fact| fact.number) {
                        octet = self.read(section, octet, item)?;
                        self.end_item(*count, index);
                    }
                    fields = rest;
                }
                [width, key, rest @ ..] => {
                    let fact = Fact::read(section, octet, *width)?;
                    if let Some(slot) = self.facts.get_mut(usize::from(*key)) {
                        *slot = fact;
                    }
                    octet += usize::from(width & !Fact::SIGNED);
                    fields = rest;
                }
                _ => return Ok(octet),
            }
        }
    }

    /// Keeps what is asked for of an item that was read: its interval, and numbers of the first two.
    fn end_item(&mut self, count: u8, index: i64) {
        const KINDS: [(Key, [Key; 2]); 5] = [
            (Key::TypeOfStatisticalProcessing, [Key::Kind0, Key::Kind1]),
            (Key::IndicatorOfUnitForTimeRange, [Key::Unit0, Key::Unit1]),
            (Key::LengthOfTimeRange, [Key::Length0, Key::Length1]),
            (Key::ScaleFactorOfAdditionalParameterForReferencePeriod, [Key::ScaleFactor0, Key::ScaleFactor1]),
            (Key::ScaledValueOfAdditionalParameterForReferencePeriod, [Key::ScaledValue0, Key::ScaledValue1]),
        ];
        for (from, to) in KINDS {
            let Some(to) = usize::try_from(index).ok().and_then(|index| to.get(index)) else { continue };
            let found = self.fact(from as u8);
            if let Some(slot) = self.facts.get_mut(*to as usize) {
                *slot = slot.or(found);
            }
        }
        if count == Key::NumberOfUsedTileAttributesForTileAttributeCombination as u8 {
            // Attributes are digits, and no tile has more than some.
            let before = self.raw(Key::TileAttributes).unwrap_or(0);
            let sum = before.checked_mul(10).and_then(|sum| sum.checked_add(self.raw(Key::AttributeOfTile)?.min(9)));
            self.set(Key::TileAttributes, sum.unwrap_or(i64::MAX));
            return;
        }
        if count != Key::NumberOfTimeRanges as u8 {
            return;
        }
        let unit = self.number(Key::IndicatorOfUnitForTimeRange);
        if let Some((unit, length)) = unit.zip(self.number(Key::LengthOfTimeRange)) {
            let is_of_forecast = self.number(Key::TypeOfTimeIncrement) != Some(1);
            self.spans.push(Span { is_of_forecast, unit, length });
        }
        // The tables know the kinds of two intervals as one number.
        let before = self.fact(Key::StatisticalProcessings as u8).map_or(0, |fact| fact.number & 0xff);
        let kind = self.raw(Key::TypeOfStatisticalProcessing).unwrap_or(0);
        self.set(Key::StatisticalProcessings, u16::try_from(before << 8 | kind & 0xff).unwrap_or(0));
    }

    /// What follows from the template.
    fn derive(&mut self) {
        let kinds = [
            (Key::IsChemical, matches!(self.template, 40..=43)),
            (Key::IsChemicalSrcsink, matches!(self.template, 76..=79)),
            (Key::IsAerosol, matches!(self.template, 44..=50 | 85)),
            (Key::IsAerosolOptical, matches!(self.template, 48 | 49)),
        ];
        for (key, holds) in kinds {
            self.set(key, u16::from(holds));
        }
        if self.fact(Key::TypeOfSizeInterval as u8).is_some() {
            let kind = self.fact(Key::ConstituentType as u8);
            if let Some(slot) = self.facts.get_mut(Key::AerosolType as usize) {
                *slot = kind;
            }
        }
    }

    /// Adds a number of another section.
    pub(super) fn set(&mut self, key: Key, number: impl Into<i64>) {
        if let Some(slot) = self.facts.get_mut(key as usize) {
            *slot = Some(Fact { number: number.into(), is_missing: false });
        }
    }

    /// Adds a number that may be missing.
    pub(super) fn set_or_miss(&mut self, key: Key, number: i64, is_missing: bool) {
        if let Some(slot) = self.facts.get_mut(key as usize) {
            *slot = Some(Fact { number, is_missing });
        }
    }

    fn fact(&self, key: u8) -> Option<Fact> {
        self.facts.get(usize::from(key)).copied().flatten()
    }

    /// A number that is present.
    pub(super) fn number(&self, key: Key) -> Option<i64> {
        self.fact(key as u8).filter(|fact| !fact.is_missing).map(|fact| fact.number)
    }

    /// A number that the template has, as it is.
    pub(super) fn raw(&self, key: Key) -> Option<i64> {
        self.raw_at(key as u8)
    }

    /// The same by the number of the key.
    pub(super) fn raw_at(&self, key: u8) -> Option<i64> {
        self.fact(key).map(|fact| fact.number)
    }

    /// A number that is present, of one octet.
    pub(super) fn small(&self, key: Key) -> Option<u8> {
        self.number(key).and_then(|number| u8::try_from(number).ok())
    }

    /// Whether a condition of the tables holds.
    pub(super) fn holds(&self, key: u8, number: i32) -> bool {
        self.fact(key).is_some_and(|fact| match number {
            IS_MISSING => fact.is_missing,
            number => fact.number == i64::from(number),
        })
    }

    /// Whether the values are a statistic over an interval.
    pub(super) fn is_statistic(&self) -> bool {
        self.fact(Key::NumberOfTimeRanges as u8).is_some()
    }

    /// The first fixed surface.
    pub(super) fn first(&self) -> Surface {
        Surface {
            code: self.small(Key::TypeOfFirstFixedSurface),
            scale: self.number(Key::ScaleFactorOfFirstFixedSurface),
            value: self.number(Key::ScaledValueOfFirstFixedSurface),
        }
    }

    /// The second fixed surface.
    pub(super) fn second(&self) -> Surface {
        Surface {
            code: self.small(Key::TypeOfSecondFixedSurface),
            scale: self.number(Key::ScaleFactorOfSecondFixedSurface),
            value: self.number(Key::ScaledValueOfSecondFixedSurface),
        }
    }
}

impl Fact {
    /// The bit of a width that says that the number has a sign.
    const SIGNED: u8 = 0x80;

    /// Reads a number of 1 to 4 octets. Other widths are not numbers.
    fn read(section: Section<'_>, octet: usize, width: u8) -> Result<Option<Self>, GribError> {
        let (number, all) = match width & !Self::SIGNED {
            1 => (section.u8(octet)?.into(), u8::MAX.into()),
            2 => (section.u16(octet)?.into(), u16::MAX.into()),
            3 => (u24(section.array(octet)?), 0xff_ffff),
            4 => (section.u32(octet)?, Octets::MISSING),
            _ => return Ok(None),
        };
        let is_missing = number == all;
        let number = match width {
            _ if is_missing => number.into(),
            0x81 => section.i8(octet)?,
            0x82 => section.i16(octet)?.into(),
            0x83 if number & SIGN_OF_3 != 0 => -i64::from(number & !SIGN_OF_3),
            0x84 => section.i32(octet)?,
            _ => number.into(),
        };
        Ok(Some(Self { number, is_missing }))
    }
}

/// The sign of a number of three octets.
const SIGN_OF_3: u32 = 0x80_0000;

const fn u24([a, b, c]: [u8; 3]) -> u32 {
    u32::from_be_bytes([0, a, b, c])
}

impl Surface {
    /// The value times 10 to the power `shift`, as a whole number. `None` if it is not whole.
    pub(super) fn whole(&self, shift: i64) -> Option<i64> {
        let power = shift - self.scale?;
        let ten = 10_i64.checked_pow(u32::try_from(power.unsigned_abs()).ok()?)?;
        match self.value? {
            value if power >= 0 => value.checked_mul(ten),
            value => (value % ten == 0).then_some(value / ten),
        }
    }

    /// The value times 10 to the power `shift`, rounded once. `None` if it is beyond all floating-point numbers.
    pub(super) fn real(&self, shift: i64) -> Option<f64> {
        // The digits as text give the nearest number.
        let power = shift - self.scale?;
        format!("{}e{power}", self.value?).parse().ok().filter(|value: &f64| value.is_finite())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_are_whole_numbers_or_not() {
        let surface = |scale, value| Surface { code: Some(100), scale: Some(scale), value: Some(value) };
        assert_eq!(
            [surface(0, 50_000).whole(-2), surface(0, 50).whole(-2), surface(2, 50).whole(0)],
            [Some(500), None, None]
        );
        assert_eq!(
            [surface(-2, 5).whole(0), surface(1, 20).whole(0), surface(127, 20).whole(0)],
            [Some(500), Some(2), None]
        );
        assert_eq!([surface(0, 50).real(-2), surface(2, 7).real(0)], [Some(0.5), Some(0.07)]);
    }
}
