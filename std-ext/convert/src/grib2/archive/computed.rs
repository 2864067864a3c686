//! Values of `mars` that are made of others.

use ciborium::Value;

use super::super::dates::{Day, hhmm};
use super::super::product::{Key, Product, Surface};
use super::super::tables::{self, Group};
use super::Archive;
use super::edition1::SEASONAL;

/// Gives a value, or `None` if the field does not have what it is made of.
type Make = fn(&Archive<'_>) -> Option<Value>;

/// In the order of the tables, under the words of ecCodes.
const MADE: [(&str, Make); 48] = [
    ("unknown", |_| None),
    ("stepRange", |field| Some(field.step?.range_value())),
    ("endStep", |field| Some(field.step?.to_value())),
    ("startStep", |field| Some(field.step?.start_value())),
    ("dataDate", |field| Some(field.reference.0.number().into())),
    ("dataTime", |field| Some(field.reference.1.into())),
    ("centre", |field| Some(field.centre())),
    ("referenceDate", reference_date),
    ("marsForecastMonth", |field| forecast_month(field).map(Value::from)),
    ("quantile", quantile),
    ("quantileOfLimits", quantile_of_limits),
    ("shift", shift),
    ("verificationDate", |field| Some(verification(field, field.step?.end_hours())?.number().into())),
    ("verificationDateOfStart", |field| Some(verification(field, field.step?.start_hours())?.number().into())),
    ("monthlyDate", |field| Some(verification(field, field.step?.end_hours())?.first_of_month().number().into())),
    ("monthlyDateOfStart", |field| {
        Some(verification(field, field.step?.start_hours())?.first_of_month().number().into())
    }),
    ("number", |field| field.member()),
    ("dateOfAnalysis", |field| day(field, [Key::YearOfAnalysis, Key::MonthOfAnalysis, Key::DayOfAnalysis])),
    ("timeOfAnalysis", |field| time(field, [Key::HourOfAnalysis, Key::MinuteOfAnalysis])),
    ("dateOfForecast", |field| day(field, [Key::YearOfForecast, Key::MonthOfForecast, Key::DayOfForecast])),
    ("timeOfForecast", |field| time(field, [Key::HourOfForecast, Key::MinuteOfForecast])),
    ("dateOfModelVersion", |field| {
        day(field, [Key::YearOfModelVersion, Key::MonthOfModelVersion, Key::DayOfModelVersion])
    }),
    // It is made after the rules, for all fields.
    ("timespan", |_| None),
    ("one", |_| Some(1.into())),
    ("cmcc", |_| Some("cmcc".into())),
    ("anoffset", |field| offset(field).map(Value::from)),
    ("post", |field| {
        let code = u16::try_from(field.product.raw(Key::TypeOfPostProcessing)?).ok()?;
        Some(tables::text(Group::POST_PROCESSING, code).unwrap_or("unknown").into())
    }),
    ("domain", |_| Some("g".into())),
    ("year", |field| Some(field.reference.0.year().into())),
    ("month", |field| Some(field.reference.0.month().into())),
    ("indexingTime", |field| Some(field.product.raw(Key::IndexingTime)?.into())),
    ("obscutoff", |field| {
        let window = field.product.raw(Key::OffsetToEndOf4DvarWindow);
        let hours = window.map_or(Some(0), |window| Some(field.product.raw(Key::HoursAfterDataCutoff)? - window))?;
        Some(hhmm(hours.max(0), field.product.raw(Key::MinutesAfterDataCutoff)?).into())
    }),
    ("dayOfYear", day_of_year),
    ("dateOfFillUp", |field| fill_up(field).map(|(day, _)| day.number().into())),
    ("timeOfFillUp", |field| fill_up(field).map(|(_, time)| time.into())),
    ("quantileOfMembers", |field| field.quantile_of_members()),
    ("stepOfProbability", |field| field.step_of_probability()),
    ("clusteringDomain", |field| field.clustering_domain()),
    ("waveDomain", |field| field.wave_domain()),
    ("periodOfSteps", |field| field.period_of_steps()),
    ("periodOfMonth", |field| field.period_of_month()),
    ("operStream", |_| Some("oper".into())),
    ("oldim", |_| Some("oldim".into())),
    ("grid", |field| Some(field.grid_facts()?.increments()?.into())),
    ("localModel", |field| field.named_in_athens(Key::LocalModel, &["cosmo", "eta", "wam"])),
    ("levelKind", |field| field.level_kind()),
    ("localDomain", |field| field.named_in_athens(Key::LocalDomain, &["m", "b", "h", "s"])),
    ("dayOfTheYear", |field| Some(field.day_of_the_year())),
];

/// How the tables' source of this number is made.
pub(in crate::grib2) fn made(source: u8) -> Option<Make> {
    MADE.get(usize::from(source)).map(|(_, make)| *make)
}

/// The name of a centre, or its number.
pub(super) fn centre(number: u16) -> Value {
    tables::text(Group::CENTRE, number).map_or_else(|| number.into(), Value::from)
}

/// A day of three keys.
pub(super) fn day(field: &Archive<'_>, keys: [Key; 3]) -> Option<Value> {
    let [year, month, day] = keys.map(|key| field.product.raw(key));
    Some(Day::new(year?, month?, day?).number().into())
}

/// A time of two keys.
pub(super) fn time(field: &Archive<'_>, keys: [Key; 2]) -> Option<Value> {
    let [hour, minute] = keys.map(|key| field.product.raw(key));
    Some(hhmm(hour?, minute?).into())
}

/// The day of a climatology, which has no year: `jan-31`.
fn day_of_year(field: &Archive<'_>) -> Option<Value> {
    const MONTHS: [&str; 12] = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
    let (day, _) = field.reference;
    let month = MONTHS.get(usize::try_from(day.month().checked_sub(1)?).ok()?)?;
    Some(format!("{month}-{:02}", day.day()).into())
}

/// The day of the model's version, by which hindcasts are kept.
fn reference_date(field: &Archive<'_>) -> Option<Value> {
    let version = day(field, [Key::ReforecastYear, Key::ReforecastMonth, Key::ReforecastDay]);
    version.or_else(|| field.product.raw(Key::ReferenceDate).map(Value::from))
}

/// The name of the model of a process. `None` for what came out of post-processing.
pub(in crate::grib2) fn model(field: &Archive<'_>) -> Option<Value> {
    let code = u16::try_from(field.product.raw(Key::BackgroundProcess)?).ok()?;
    if field.product.raw(Key::TypeOfPostProcessing).is_some() {
        return None;
    }
    tables::text(Group::MODEL, code).map(Value::from)
}

/// The day on which a number of hours after the reference time falls, by whole hours of that.
pub(super) fn verification(field: &Archive<'_>, hours: i64) -> Option<Day> {
    let (today, now) = field.reference;
    today.after((now / 100).checked_add(hours)?.div_euclid(24))
}

/// Day and time, minutes after the reference time.
fn valid(field: &Archive<'_>, minutes: i64) -> Option<(Day, i64)> {
    const DAY: i64 = 24 * 60;
    let (today, now) = field.reference;
    let sum = (now / 100 * 60 + now % 100).checked_add(minutes)?;
    let left = sum.rem_euclid(DAY);
    Some((today.after(sum.div_euclid(DAY))?, hhmm(left / 60, left % 60)))
}

/// When a forecast began that fills up an analysis.
fn fill_up(field: &Archive<'_>) -> Option<(Day, i64)> {
    valid(field, field.product.number(Key::OffsetToStartOfForecastFillupInHours)? * 60)
}

/// The month of a seasonal forecast in which the field begins. It counts from 1 for forecasts from the start of a month, and
/// from 0 for others. Two definitions of section 2 have it.
fn forecast_month(field: &Archive<'_>) -> Option<i64> {
    if field.is_of_edition_1() {
        return field.month_of_edition_1();
    }
    field.product.raw(Key::Grib2LocalSectionNumber).filter(|definition| SEASONAL.contains(definition))?;
    let (today, now) = field.reference;
    let (end, _) = valid(field, field.step?.start_minutes())?;
    let months = (end.year() - today.year()) * 12 + end.month() - today.month();
    Some(months + i64::from(today.day() == 1 && now / 100 == 0))
}

/// Hours from the reference time to the end of a window, or to the start of a forecast.
fn offset(field: &Archive<'_>) -> Option<i64> {
    let fact = |key| field.product.raw(key);
    if let Some(offset) = fact(Key::OffsetToEndOf4DvarWindow) {
        return Some(offset);
    }
    let date = Day::new(fact(Key::YearOfForecast)?, fact(Key::MonthOfForecast)?, fact(Key::DayOfForecast)?);
    let (today, now) = field.reference;
    let minutes = fact(Key::HourOfForecast)? * 60 + fact(Key::MinuteOfForecast)? - now / 100 * 60 - now % 100;
    let all = date.since(today).checked_mul(24 * 60)?.checked_add(minutes)?;
    // Whole hours of the tenths that are nearest.
    Some((all * 10 + 5).div_euclid(60) / 10)
}

/// What stands on a tile, of the kinds that it has: `snow_ice`.
pub(in crate::grib2) fn tile_attributes(product: &Product) -> Option<Value> {
    const NAMES: [&str; 8] = ["undef", "unmod", "snow", "flood", "ice", "itcw", "itcs", "agg"];
    let digits = product.raw(Key::TileAttributes)?.to_string();
    let names: Option<Vec<_>> =
        digits.chars().map(|digit| NAMES.get(usize::try_from(digit.to_digit(10)?).ok()?).copied()).collect();
    Some(names.map_or_else(|| "unknown".into(), |names| names.join("_")).into())
}

/// Which quantile, and of how many.
fn quantile(field: &Archive<'_>) -> Option<Value> {
    // The definition of edition 1 that has quantiles counts them as members.
    const OF_CLIMATE: i64 = 19;
    if field.is_of_edition_1() {
        let definition = field.product.raw(Key::Grib2LocalSectionNumber);
        return field.quantile_of_members().filter(|_| definition == Some(OF_CLIMATE));
    }
    let [quantile, count] = [Key::QuantileValue, Key::TotalNumberOfQuantiles].map(|key| field.product.raw(key));
    Some(format!("{}:{}", quantile?, count?).into())
}

/// The same, where the limits of a probability have it.
fn quantile_of_limits(field: &Archive<'_>) -> Option<Value> {
    // Digits after the point are cut off.
    let limit = |scale, value| {
        let (scale, value) = (field.product.raw(scale)?, field.product.raw(value)?);
        let power = 10_i64.checked_pow(u32::try_from(scale.unsigned_abs()).ok()?)?;
        if scale < 0 { value.checked_mul(power) } else { value.checked_div(power) }
    };
    let lower = limit(Key::ScaleFactorOfLowerLimit, Key::ScaledValueOfLowerLimit)?;
    let upper = limit(Key::ScaleFactorOfUpperLimit, Key::ScaledValueOfUpperLimit)?;
    Some(format!("{lower}:{upper}").into())
}

/// The two quantiles of a shift of tails, and of how many: scales of percents become one.
fn shift(field: &Archive<'_>) -> Option<Value> {
    let item = |scale, value| {
        let count = 10_i64.checked_pow(u32::try_from(field.product.raw(scale)?).ok()?)?.checked_mul(100)?;
        Some((field.product.raw(value)?, count))
    };
    let (first, of_first) = item(Key::ScaleFactor0, Key::ScaledValue0)?;
    let (second, of_second) = item(Key::ScaleFactor1, Key::ScaledValue1)?;
    let count = of_first.max(of_second);
    let (first, second) = (first.checked_mul(count / of_first)?, second.checked_mul(count / of_second)?);
    Some(format!("{}-{}:{count}", first.min(second), first.max(second)).into())
}

/// The wavelength of optical properties of aerosols, in nanometres: one, or a range (code table 4.91).
pub(in crate::grib2) fn wavelength(field: &Archive<'_>) -> Option<Value> {
    let kind = field.product.raw(Key::TypeOfWavelengthInterval).filter(|_| !field.is_earlier())?;
    let nanometres = |scale, value| {
        let wave = Surface { code: None, scale: field.product.number(scale), value: field.product.number(value) };
        let whole = wave.whole(9).map(|number| (Value::from(number), number.to_string()));
        whole.or_else(|| wave.real(9).map(|number| (number.into(), number.to_string())))
    };
    let first = nanometres(Key::ScaleFactorOfFirstWavelength, Key::ScaledValueOfFirstWavelength);
    let second = nanometres(Key::ScaleFactorOfSecondWavelength, Key::ScaledValueOfSecondWavelength);
    match kind {
        0 | 3 | 5 | 8 | 11 => first.map(|(value, _)| value),
        1 | 4 | 6 | 9 => second.map(|(value, _)| value),
        2 | 7 | 10 => first.zip(second).map(|((_, first), (_, second))| format!("{first}-{second}").into()),
        _ => None,
    }
}
