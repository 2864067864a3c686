//! Levels, as archives and ecCodes have them.

use ciborium::Value;

use super::names::Names;
use super::product::{Key, Product, Surface};
use super::tables::{Group, TableEntry};

/// Types of surfaces (code table 4.5).
const ISOBARIC: u8 = 100;
const POTENTIAL_VORTICITY: u8 = 109;
const GENERAL_HEIGHT: u8 = 150;
/// Coordinate values after a level of general height: they name its grid of heights.
const OF_HEIGHTS: u16 = 6;
/// Layers of soil, snow, ice and sea that archives number by their lower surface.
const NUMBERED: [u8; 4] = [114, 151, 152, 168];

/// The level of a field.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Level {
    /// Its kind in archives: `sfc`, `pl`, `ml` and so on.
    pub(super) kind: Option<&'static str>,
    /// Its kind by the words of ecCodes: `surface`, `heightAboveGround` and so on.
    pub(super) name: Option<&'static str>,
    /// Its number: hPa of pressures, 10^-9 K m2 kg-1 s-1 of potential vorticity, and the manual's unit of others.
    pub(super) number: Option<Value>,
    /// Whether archives have the number.
    pub(super) is_listed: bool,
}

impl Level {
    /// Reads it from section 4. All parts are `None` for templates without levels.
    pub(super) fn of(product: &Product, names: &Names) -> Self {
        if product.raw(Key::WaveDirectionNumber).is_some() {
            return Self { kind: Some("sfc"), name: None, number: None, is_listed: false };
        }
        let (first, second) = (product.first(), product.second());
        let code = product.raw(Key::TypeOfFirstFixedSurface).and_then(|code| u16::try_from(code).ok());
        let find = |concept| code.and_then(|code| names.find(Group::of(concept, code), product));
        let text = |found: Option<TableEntry>| found.map(|found| found.text);
        let (kind, name) = (text(find(Group::LEVEL_TYPE)), text(find(Group::LEVEL)));
        // ecCodes has a second name below 1 hPa, where its numbers are in Pa.
        let pressure = (first.code == Some(ISOBARIC) && second.code.is_none()).then_some("isobaricInhPa");
        let height = (first.code == Some(GENERAL_HEIGHT) && product.coordinates == OF_HEIGHTS).then_some({
            if second.code == Some(GENERAL_HEIGHT) { "generalVerticalLayer" } else { "generalVertical" }
        });
        let name = name.or(pressure).or(height);
        let is_numbered = first.code.is_some_and(|code| NUMBERED.contains(&code)) && first.code == second.code;
        let is_listed = is_numbered || !(name == Some("surface") || matches!(kind, Some("sfc" | "o2d")));
        Self { kind, name, number: number(if is_numbered { second } else { first }), is_listed }
    }
}

/// The number of a level.
fn number(surface: Surface) -> Option<Value> {
    let shift = match surface.code? {
        ISOBARIC => -2,
        POTENTIAL_VORTICITY => 9,
        _ => 0,
    };
    surface.whole(shift).map(Value::from).or_else(|| surface.real(shift).map(Value::from))
}
