//! Fields of the ocean (definition 4), whose coordinates stand in the local part.
//!
//! | octets | content |
//! |---|---|
//! | 57 | what the horizontal coordinates are |
//! | 61, 62, 63, 67 | first coordinate: its kind, its average, from, to |
//! | 71, 73 | second coordinate: its kind, from |
//! | 81, 82 | third and fourth coordinate |
//! | 83, 87, 91, 95 | fourth and third coordinate of the first point, and of the last |

use ciborium::Value;
use tgm_grid::Octets;

use super::super::super::dates::Day;
use super::super::super::entries::{Entries, add};
use super::super::super::steps::Step;

/// Kinds of data (the table of types of archives).
const FORECASTS: [u8; 4] = [9, 25, 70, 71];
const REANALYSIS: u8 = 70;
const FLUX: u8 = 71;
const INSTANT_FORECASTS: [u8; 6] = [9, 10, 11, 25, 26, 70];
/// Averages.
const AT_ONCE: u8 = 0;
const AVERAGE: u8 = 1;
const SUM: u8 = 3;
/// What coordinates divide by: millimetres, millionths of a degree.
const DEPTH: i64 = 1000;
const DEGREES: i64 = 1_000_000;

/// Adds the keys of the ocean, and changes date and step of its averages.
pub(super) fn change(octets: Octets<'_>, (today, now): (Day, i64), step: Option<Step>, mars: &mut Entries) {
    let (Some(kind), Some(form), Some(average)) = (octets.u8(43), octets.u8(57), octets.u8(62)) else { return };
    let is_mean = match (form, octets.u8(61)) {
        (0, Some(1)) => section(octets, (kind, average), mars),
        (0, Some(_)) => {
            slice(octets, (kind, average), mars);
            kind == REANALYSIS && average == AT_ONCE
        }
        // Archives have no keys for other grids.
        _ => false,
    };
    let valid = step.and_then(|step| today.after((now / 100).checked_add(step.end_hours())?.div_euclid(24)));
    if let Some(valid) = valid.filter(|_| is_mean) {
        set(mars, "date", Some(valid.number().into()));
        set(mars, "step", Some(0.into()));
    }
}

/// A field at one depth, longitude or latitude. Returns whether its date is the one of its end.
fn section(octets: Octets<'_>, (kind, average): (u8, u8), mars: &mut Entries) -> bool {
    if average == AVERAGE && FORECASTS.contains(&kind) {
        set(mars, "range", octets.i32(67).zip(octets.i32(63)).map(|(end, start)| ((end - start) / 3600).into()));
    }
    let place = octets.i32(73);
    match octets.u8(71) {
        Some(2) => {
            set(mars, "section", Some("h".into()));
            set(mars, "levelist", place.map(|place| rounded(place, DEPTH)));
        }
        Some(3) => {
            set(mars, "section", Some("m".into()));
            set(mars, "longitude", place.map(|place| rounded(place, DEGREES)));
        }
        Some(4) => {
            set(mars, "section", Some("z".into()));
            set(mars, "latitude", place.map(|place| rounded(place, DEGREES)));
        }
        _ => {}
    }
    let product = ["inst", "tavg", "2", "tacc"].get(usize::from(average));
    set(mars, "product", product.map(|name| name.parse::<i64>().map_or_else(|_| (*name).into(), Value::from)));
    matches!((kind, average), (REANALYSIS, AVERAGE | SUM) | (FLUX, AVERAGE))
}

/// A field along time, at two places.
fn slice(octets: Octets<'_>, (kind, average): (u8, u8), mars: &mut Entries) {
    let (first, second) = (octets.i32(63), octets.i32(73));
    let kinds = octets.u8(81).zip(octets.u8(82)).map(|(third, fourth)| u16::from(third) + u16::from(fourth));
    let found = match kinds {
        Some(3) => Some(("v", [("latitude", first, DEGREES), ("longitude", second, DEGREES)])),
        Some(4) => Some(("z", [("levelist", first, DEPTH), ("latitude", second, DEGREES)])),
        Some(5) => Some(("m", [("levelist", first, DEPTH), ("longitude", second, DEGREES)])),
        _ => None,
    };
    if let Some((name, places)) = found {
        set(mars, "section", Some(name.into()));
        for (key, place, unit) in places {
            set(mars, key, place.map(|place| rounded(place, unit)));
        }
    }
    if average == AT_ONCE && INSTANT_FORECASTS.contains(&kind) {
        let (start, end) = if octets.u8(82) == Some(1) { (83, 91) } else { (87, 95) };
        set(mars, "range", octets.i32(end).zip(octets.i32(start)).map(|(end, start)| ((end - start) / 3600).into()));
    }
    set(mars, "product", Some("tims".into()));
}

/// A place in its unit, to thousandths.
fn rounded(place: i64, unit: i64) -> Value {
    if place % unit == 0 {
        return (place / unit).into();
    }
    let half = if place < 0 { -unit / 2 } else { unit / 2 };
    let thousandths = (place * 1000 + half) / unit;
    #[expect(
        clippy::cast_precision_loss,
        reason = "units are thousandths or smaller, so these have no more than four octets"
    )]
    let thousandths = thousandths as f64;
    (thousandths / 1000.0).into()
}

fn set(mars: &mut Entries, key: &str, value: Option<Value>) {
    mars.retain(|(name, _)| name.as_text() != Some(key));
    add(mars, key, value);
}
