//! Levels of the air and the sea: which of them is up.

/// Units of pressure, in which levels are given.
const PRESSURES: [&str; 6] = ["Pa", "hPa", "mb", "mbar", "millibar", "millibars"];

/// Whether numbers of levels rise upward or downward. `None` if the axis is not vertical.
///
/// `name` is of the dimension, `units` and `positive` are attributes of its labels, as CF has them.
pub(crate) fn way_up(name: &str, units: &str, positive: &str) -> Option<Way> {
    match positive {
        "up" => return Some(Way::Up),
        "down" => return Some(Way::Down),
        _ => {}
    }
    let begins = |with: &[&str]| with.iter().any(|start| name.starts_with(start));
    if PRESSURES.contains(&units) || begins(&["isobaric", "hybrid", "depth", "model_level"]) {
        return Some(Way::Down);
    }
    begins(&["height", "altitude", "theta"]).then_some(Way::Up)
}

/// Where numbers rise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    /// As heights do.
    Up,
    /// As pressure and depth do.
    Down,
}

impl Way {
    /// Whether the first of some levels belongs to the top.
    pub(crate) fn is_first_on_top(self, levels: &[f64]) -> bool {
        (levels.first() < levels.last()) == (self == Self::Down)
    }
}

/// How far below the top each level lies, as a share of the axis. Levels of pressure lie by their logarithms, as heights nearly do. `None`
/// if they neither rise nor fall.
pub(crate) fn heights(way: Way, units: &str, levels: &[f64]) -> Option<Vec<f64>> {
    let is_log = PRESSURES.contains(&units) && levels.iter().all(|level| *level > 0.0);
    let place = |level: &f64| if is_log { level.ln() } else { *level };
    let places: Vec<f64> = levels.iter().map(place).collect();
    let is_rising = places.array_windows().all(|[one, next]| one < next);
    let is_falling = places.array_windows().all(|[one, next]| one > next);
    if places.len() < 2 || !(is_rising || is_falling) || places.iter().any(|place| !place.is_finite()) {
        return None;
    }
    let (first, last) = (*places.first()?, *places.last()?);
    let (top, bottom) = if way.is_first_on_top(levels) { (first, last) } else { (last, first) };
    Some(places.iter().map(|place| (place - top) / (bottom - top)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn axes_of_levels_are_known() {
        for (name, units, positive, expected) in [
            ("isobaricInhPa", "", "", Some(Way::Down)),
            ("level", "hPa", "", Some(Way::Down)),
            ("level", "millibars", "down", Some(Way::Down)),
            ("lev", "1", "up", Some(Way::Up)),
            ("depth", "m", "", Some(Way::Down)),
            ("heightAboveGround", "m", "", Some(Way::Up)),
            ("step", "hours", "", None),
            ("latitude", "degrees_north", "", None),
        ] {
            assert_eq!(way_up(name, units, positive), expected, "{name} {units} {positive}");
        }
    }

    #[test]
    fn pressure_rises_downward_by_its_logarithm() {
        let found = heights(Way::Down, "hPa", &[1000.0, 100.0, 10.0]).unwrap();
        assert!(found.iter().zip([1.0, 0.5, 0.0]).all(|(a, b)| (a - b).abs() < 1e-12), "{found:?}");
        assert_eq!(heights(Way::Down, "hPa", &[10.0, 1000.0]), Some(vec![0.0, 1.0]));
        assert_eq!(heights(Way::Up, "m", &[0.0, 50.0, 200.0]), Some(vec![1.0, 0.75, 0.0]));
        // A pressure of 0 has no logarithm.
        assert_eq!(heights(Way::Down, "hPa", &[0.0, 50.0, 100.0]), Some(vec![0.0, 0.5, 1.0]));
        for odd in [&[1.0][..], &[1.0, 3.0, 2.0], &[1.0, 1.0], &[f64::NAN, 1.0]] {
            assert_eq!(heights(Way::Up, "m", odd), None, "{odd:?}");
        }
    }
}
