//! Names of parameters, units and surfaces, of which the manual's code tables define many more.

/// Name and unit of a parameter (code table 4.2), by discipline, category and number.
pub(super) const fn parameter(discipline: u8, category: u8, number: u8) -> Option<(&'static str, &'static str)> {
    Some(match (discipline, category, number) {
        (0, 0, 0) => ("Temperature", "K"),
        (0, 0, 2) => ("Potential temperature", "K"),
        (0, 0, 4) => ("Maximum temperature", "K"),
        (0, 0, 5) => ("Minimum temperature", "K"),
        (0, 0, 6) => ("Dewpoint temperature", "K"),
        (0, 1, 0) => ("Specific humidity", "kg kg-1"),
        (0, 1, 1) => ("Relative humidity", "%"),
        (0, 1, 8) => ("Total precipitation", "kg m-2"),
        (0, 2, 0) => ("Wind direction (from which blowing)", "degree true"),
        (0, 2, 1) => ("Wind speed", "m s-1"),
        (0, 2, 2) => ("u-component of wind", "m s-1"),
        (0, 2, 3) => ("v-component of wind", "m s-1"),
        (0, 2, 8) => ("Vertical velocity (pressure)", "Pa s-1"),
        (0, 3, 0) => ("Pressure", "Pa"),
        (0, 3, 1) => ("Pressure reduced to MSL", "Pa"),
        (0, 3, 4) => ("Geopotential", "m2 s-2"),
        (0, 3, 5) => ("Geopotential height", "gpm"),
        (0, 6, 1) => ("Total cloud cover", "%"),
        (10, 0, 3) => ("Significant height of combined wind waves and swell", "m"),
        _ => return None,
    })
}

/// Name and unit of a fixed surface (code table 4.5).
pub(super) const fn surface(code: u8) -> Option<(&'static str, &'static str)> {
    Some(match code {
        1 => ("Ground or water surface", ""),
        7 => ("Tropopause", ""),
        8 => ("Nominal top of the atmosphere", ""),
        100 => ("Isobaric surface", "Pa"),
        101 => ("Mean sea level", ""),
        102 => ("Specific altitude above mean sea level", "m"),
        103 => ("Specified height level above ground", "m"),
        104 => ("Sigma level", "sigma value"),
        105 => ("Hybrid level", ""),
        106 => ("Depth below land surface", "m"),
        107 => ("Isentropic (theta) level", "K"),
        160 => ("Depth below sea level", "m"),
        _ => return None,
    })
}
