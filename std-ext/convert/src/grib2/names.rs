//! Short names of parameters, as archives ask for them.
//!
//! WMO's tables have names and units, but no short names. These are names of ECMWF's public parameter database (Apache
//! License 2.0, as ecCodes has it) for parameters that WMO's tables define. A comparison with ecCodes checks each.

use super::product::{Product, Surface};

/// Code table 4.5.
mod surface {
    pub(super) const GROUND: u8 = 1;
    pub(super) const ISOBARIC: u8 = 100;
    pub(super) const SEA_LEVEL: u8 = 101;
    pub(super) const ABOVE_GROUND: u8 = 103;
    pub(super) const HYBRID: u8 = 105;
    pub(super) const ISENTROPIC: u8 = 107;
}

/// The short name of a parameter at a moment. `None` for statistics over an interval, whose names are others.
pub(super) fn short_name(discipline: u8, product: &Product) -> Option<&'static str> {
    if !matches!(product.template, 0 | 1) {
        return None;
    }
    let code = product.first.code;
    let metres = product.first.whole(0).filter(|_| code == Some(surface::ABOVE_GROUND));
    let at = |height, name, other| if metres == Some(height) { Some(name) } else { Some(other) };
    let on = |kind, name| (code == Some(kind)).then_some(name);
    match (discipline, product.category?, product.number?) {
        (0, 0, 0) => at(2, "2t", "t"),
        (0, 0, 2) => Some("pt"),
        (0, 0, 6) => at(2, "2d", "dpt"),
        (0, 0, 17) => on(surface::GROUND, "skt"),
        (0, 1, 0) => at(2, "2sh", "q"),
        (0, 1, 1) => at(2, "2r", "r"),
        (0, 1, 60) => Some("sd"),
        (0, 1, 61) => Some("rsn"),
        (0, 1, 83) => Some("clwc"),
        (0, 1, 84) => Some("ciwc"),
        (0, 1, 85) => Some("crwc"),
        (0, 1, 86) => Some("cswc"),
        (0, 2, 0) => at(10, "10wdir", "wdir"),
        (0, 2, 1) => at(10, "10si", "ws"),
        (0, 2, 2) => at(10, "10u", "u"),
        (0, 2, 3) => at(10, "10v", "v"),
        (0, 2, 8) => Some("w"),
        (0, 2, 9) => Some("wz"),
        (0, 2, 12) => Some("vo"),
        (0, 2, 13) => Some("d"),
        (0, 2, 14) => Some("pv"),
        (0, 2, 22) => at(10, "i10fg", "gust"),
        (0, 3, 0) => pressure(&product.first),
        (0, 3, 1) => Some("prmsl"),
        (0, 3, 4) => Some("z"),
        (0, 3, 5) => on(surface::GROUND, "orog").or(Some("gh")),
        (0, 3, 18) => Some("blh"),
        (0, 3, 25) => on(surface::HYBRID, "lnsp"),
        (0, 6, 3) => Some("lcc"),
        (0, 6, 4) => Some("mcc"),
        (0, 6, 5) => Some("hcc"),
        (0, 6, 32) => Some("cc"),
        (0, 14, 1) => Some("o3"),
        (0, 19, 0) => Some("vis"),
        (0, 19, 1) => Some("al"),
        (2, 0, 0) => on(surface::GROUND, "lsm"),
        (2, 0, 1) => on(surface::GROUND, "fsr"),
        (2, 0, 25) => Some("vsw"),
        (2, 0, 28) => on(surface::GROUND, "lai"),
        (2, 3, 0) => Some("slt"),
        (10, 0, 3) => Some("swh"),
        (10, 0, 14) => Some("mwd"),
        (10, 0, 15) => Some("mwp"),
        (10, 2, 0) => on(surface::GROUND, "ci"),
        (10, 3, 0) => on(surface::GROUND, "sst"),
        _ => None,
    }
}

fn pressure(level: &Surface) -> Option<&'static str> {
    match level.code? {
        surface::GROUND => Some("sp"),
        surface::SEA_LEVEL => Some("msl"),
        surface::ISOBARIC | surface::ABOVE_GROUND | surface::HYBRID | surface::ISENTROPIC => Some("pres"),
        _ => None,
    }
}

/// The kind of data (code table 1.4) in the language of archives.
pub(super) const fn data_type(code: u8) -> Option<&'static str> {
    Some(match code {
        0 => "an",
        1 => "fc",
        3 => "cf",
        4 => "pf",
        _ => return None,
    })
}
