//! Other units for the values of a picture.

/// Units: what they are called, with others that one can ask for. A value times the factor, plus the offset, has these.
const KNOWN: [(&[&str], &str, f64, f64); 9] = [
    (&["K", "kelvin"], "degC", 1.0, -273.15),
    (&["K", "kelvin"], "degF", 1.8, -459.67),
    (&["degC", "°C", "C", "celsius", "degree_Celsius"], "K", 1.0, 273.15),
    (&["Pa"], "hPa", 0.01, 0.0),
    (&["m"], "mm", 1000.0, 0.0),
    (&["m"], "km", 0.001, 0.0),
    (&["m s**-1", "m s-1", "m/s"], "km/h", 3.6, 0.0),
    (&["m s**-1", "m s-1", "m/s"], "kn", 3600.0 / 1852.0, 0.0),
    (&["m**2 s**-2", "m2 s-2"], "gpm", 1.0 / 9.80665, 0.0),
];
/// How units are written that people write in several ways.
const ALIASES: [(&str, &str); 5] = [("C", "degC"), ("°C", "degC"), ("celsius", "degC"), ("F", "degF"), ("kt", "kn")];

/// Factor and offset by which values in the units `from` get the units `to`, and how `to` is shown.
///
/// # Errors
/// Which units these values can have instead.
pub(crate) fn conversion(from: &str, to: &str) -> Result<(f64, f64, String), String> {
    let written = |name| ALIASES.iter().find(|(alias, _)| alias.eq_ignore_ascii_case(name)).map_or(name, |it| it.1);
    let to = written(to);
    if written(from) == to {
        return Ok((1.0, 0.0, from.into()));
    }
    let of = || KNOWN.iter().filter(|(names, ..)| names.contains(&from));
    if let Some((_, name, factor, offset)) = of().find(|(_, name, ..)| name.eq_ignore_ascii_case(to)) {
        let shown = if *name == "degC" {
            "°C"
        } else if *name == "degF" {
            "°F"
        } else {
            name
        };
        return Ok((*factor, *offset, shown.into()));
    }
    let others: Vec<&str> = of().map(|(_, name, ..)| *name).collect();
    let from = if from.is_empty() { "without units".to_string() } else { format!("in {from}") };
    Err(match others.as_slice() {
        [] => format!("values {from} have no other units here"),
        others => format!("values {from} can be in {}, not in {to}", others.join(", ")),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_become_others() {
        for asked in ["degC", "°C", "C", "Celsius"] {
            assert_eq!(conversion("K", asked), Ok((1.0, -273.15, "°C".into())), "{asked}");
        }
        assert_eq!(conversion("m s**-1", "kt").map(|found| found.2), Ok("kn".into()));
        assert_eq!(conversion("s", "s"), Ok((1.0, 0.0, "s".into())));
        assert_eq!(conversion("°C", "celsius"), Ok((1.0, 0.0, "°C".into())));
        assert_eq!(conversion("K", "hPa"), Err("values in K can be in degC, degF, not in hPa".into()));
        assert_eq!(conversion("", "degC"), Err("values without units have no other units here".into()));
    }
}
