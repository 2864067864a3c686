//! Quantities whose 0 is a middle: winds, rates of change and differences.

/// What is known of a quantity, by the names of its conventions.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Quantity<'a> {
    /// Its name in a dataset, as `u10`, or the short name of GRIB.
    pub(crate) name: &'a str,
    /// Its name for people.
    pub(crate) long_name: &'a str,
    /// Its name of CF.
    pub(crate) standard_name: &'a str,
}

/// Names of winds, currents, vorticity and divergence in files that say no more of them.
const NAMES: [&str; 22] = [
    "u", "v", "w", "10u", "10v", "100u", "100v", "u10", "v10", "u100", "v100", "ua", "va", "wa", "uas", "vas", "wap",
    "omega", "uo", "vo", "d", "strf",
];

/// Parts of such names, of CF and for people.
const PARTS: [&str; 27] = [
    "anomaly",
    "anomalies",
    "bias",
    "departure",
    "difference",
    "divergence",
    "eastward",
    "gradient",
    "increment",
    "meridional",
    "northward",
    "southward",
    "stream function",
    "tendency",
    "trend",
    "u component",
    "u wind",
    "u-component",
    "upward",
    "v component",
    "v wind",
    "v-component",
    "_velocity",
    "velocity potential",
    "vertical velocity",
    "vorticity",
    "westward",
];

/// More parts: of names of CF alone, and of what is not signed though its name has one of the parts.
const PLANES: [&str; 2] = ["x_wind", "y_wind"];
const UNSIGNED: [&str; 6] =
    ["absolute", "magnitude", "probability", "root mean square", "spread", "standard deviation"];

impl Quantity<'_> {
    /// Whether its values lie around 0, which then is the middle of their colours.
    pub(crate) fn is_signed(&self) -> bool {
        let texts = [self.name, self.long_name, self.standard_name].map(str::to_lowercase);
        let has = |parts: &[&str]| parts.iter().any(|part| texts.iter().any(|text| text.contains(part)));
        let is_named = texts.first().is_some_and(|name| NAMES.contains(&name.as_str()));
        (is_named || has(&PARTS) || has(&PLANES)) && !has(&UNSIGNED)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn winds_rates_and_differences_lie_around_0() {
        for (is_signed, name, long_name, standard_name) in [
            (true, "u10", "", ""),
            (true, "V", "", ""),
            (true, "", "10 metre U wind component", ""),
            (true, "", "Vertical velocity", "lagrangian_tendency_of_air_pressure"),
            (true, "x", "", "eastward_wind"),
            (true, "x", "", "sea_water_x_velocity"),
            (true, "t_anomaly", "", ""),
            (true, "", "2 metre temperature anomaly", ""),
            (true, "", "Relative Vorticity", ""),
            (true, "x", "", "y_wind"),
            (false, "t", "Temperature", "air_temperature"),
            (false, "ws", "10 metre wind speed", "wind_speed"),
            (false, "zust", "Friction velocity", ""),
            (false, "tp", "Total precipitation", ""),
            (false, "uvb", "Downward UV radiation at the surface", ""),
            (false, "x", "Probability of temperature anomaly of at least 1 K", ""),
            (false, "", "", ""),
        ] {
            let quantity = Quantity { name, long_name, standard_name };
            assert_eq!(quantity.is_signed(), is_signed, "{name} {long_name} {standard_name}");
        }
    }
}
