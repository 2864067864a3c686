//! Levels of edition 1: two octets of one number, or one octet each for the top and the bottom of a layer.

use ciborium::Value;
use tgm_grid::Octets;

use super::super::super::names::Names;
use super::super::super::product::{Key, Product};
use super::super::super::tables::Group;

/// Types whose two octets are the bounds of a layer.
const LAYERS: [u8; 12] = [101, 104, 106, 108, 110, 112, 114, 116, 120, 121, 128, 141];
/// Types of which archives have the number: isobaric, hybrid, isentropic and vorticity levels, and abstract ones.
const LISTED: [u8; 6] = [100, 109, 110, 113, 117, 203];
/// Isobaric surfaces in Pa, which archives have in hPa.
const IN_PASCAL: u8 = 210;
const SIGMA_LAYER: u8 = 101;
const TYPE: usize = 10;
const LEVEL: usize = 11;

/// Reads the numbers. A number of which all bits are 1 is missing.
pub(super) fn read(octets: Octets<'_>, product: &mut Product) {
    let Some((kind, [top, bottom])) = octets.u8(TYPE).zip(octets.array(LEVEL)) else { return };
    let (top, bottom) = if LAYERS.contains(&kind) {
        ((i64::from(top), top == u8::MAX), (i64::from(bottom), bottom == u8::MAX))
    } else {
        let level = u16::from_be_bytes([top, bottom]);
        ((level.into(), level == u16::MAX), (level.into(), level == u16::MAX))
    };
    for (key, (number, is_missing)) in [(Key::Level, top), (Key::TopLevel, top), (Key::BottomLevel, bottom)] {
        product.set_or_miss(key, number, is_missing);
    }
}

/// The level of a field.
pub(super) struct Level {
    /// Its kind in archives, as a name or as the number of the type.
    pub(super) kind: Value,
    /// Its kind by the words of ecCodes.
    pub(super) name: Option<&'static str>,
    /// Its number, or the one of its top: hPa of pressures.
    pub(super) number: Option<Value>,
    /// The number that archives have.
    pub(super) listed: Option<Value>,
    /// The bottom of a layer.
    pub(super) bottom: Option<i64>,
}

impl Level {
    /// The level, by the tables of the centre. `is_jra` says that it is of Japan's reanalysis, where one layer is the surface.
    pub(super) fn of(product: &Product, names: &Names, is_jra: bool) -> Self {
        let code = product.raw(Key::IndicatorOfTypeOfLevel).and_then(|code| u8::try_from(code).ok()).unwrap_or(u8::MAX);
        let group = |concept| Group::of(concept, code.into());
        let kind = names.find_instead(group(Group::LEVEL_TYPE_1), product).map(|found| found.text);
        let kind = if is_jra && code == SIGMA_LAYER { Some("sfc") } else { kind };
        let number = product.number(Key::Level);
        let hectopascals = |number: i64| match i32::try_from(number) {
            Ok(pascals) if pascals % 100 != 0 => (f64::from(pascals) / 100.0).into(),
            _ => (number / 100).into(),
        };
        let (number, listed) = match code {
            IN_PASCAL => (number.map(hectopascals), number.map(hectopascals)),
            _ => (number.map(Value::from), number.map(Value::from).filter(|_| LISTED.contains(&code))),
        };
        Self {
            kind: kind.map_or_else(|| code.to_string().into(), Value::from),
            name: names.find_or_ecmwf(group(Group::LEVEL_1), product).map(|found| found.text).map(one_pressure),
            number,
            listed,
            bottom: product.number(Key::BottomLevel).filter(|_| LAYERS.contains(&code)),
        }
    }
}

/// All pressures are in hPa.
fn one_pressure(name: &'static str) -> &'static str {
    if name == "isobaricInPa" { "isobaricInhPa" } else { name }
}
