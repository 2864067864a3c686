//! Colours for numbers: viridis, in which equal steps look equal, also in grey and to colour-blind people.

/// A colour: red, green, blue.
pub(crate) type Rgb = [u8; 3];

/// The colour of values that are missing.
pub(crate) const MISSING: Rgb = [96, 96, 96];

/// Every sixteenth colour of viridis, from the least value to the greatest.
const VIRIDIS: [Rgb; 17] = [
    [68, 1, 84],
    [72, 24, 106],
    [71, 45, 123],
    [66, 64, 134],
    [59, 82, 139],
    [51, 99, 141],
    [44, 114, 142],
    [38, 130, 142],
    [33, 145, 140],
    [31, 160, 136],
    [40, 174, 128],
    [63, 188, 115],
    [94, 201, 98],
    [132, 212, 75],
    [173, 220, 48],
    [216, 226, 25],
    [253, 231, 37],
];

/// The colour of a share from 0 to 1.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "within the table, and within bytes")]
pub(crate) fn viridis(share: f64) -> Rgb {
    let place = share.clamp(0.0, 1.0) * 16.0;
    let below = (place as usize).min(15);
    let rest = place - f64::from(u8::try_from(below).unwrap_or_default());
    let colour = |index: usize| VIRIDIS.get(index).copied().unwrap_or(MISSING);
    let (low, high) = (colour(below), colour(below + 1));
    [0, 1, 2].map(|part: usize| {
        let of = |colour: Rgb| f64::from(colour.get(part).copied().unwrap_or_default());
        (of(low) + (of(high) - of(low)) * rest).round() as u8
    })
}

/// The nearest colour of the cube of 6 × 6 × 6 colours that terminals of 256 colours have.
pub(crate) fn of_256([red, green, blue]: Rgb) -> u8 {
    // The levels of the cube are 0, 95, 135, 175, 215 and 255.
    let level = |value: u8| match value {
        0..48 => 0,
        48..115 => 1,
        other => (other - 35) / 40,
    };
    16 + 36 * level(red) + 6 * level(green) + level(blue)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lightness_grows_with_the_value() {
        let lightness = |[r, g, b]: Rgb| 0.2126 * f64::from(r) + 0.7152 * f64::from(g) + 0.0722 * f64::from(b);
        let steps: Vec<f64> = (0..=100).map(|step| lightness(viridis(f64::from(step) / 100.0))).collect();
        assert!(steps.is_sorted(), "{steps:?}");
        assert_eq!([viridis(-1.0), viridis(2.0)], [[68, 1, 84], [253, 231, 37]]);
    }

    #[test]
    fn colours_of_the_cube_are_the_nearest() {
        assert_eq!([of_256([0, 0, 0]), of_256([255, 255, 255]), of_256([255, 0, 0])], [16, 231, 196]);
        assert_eq!(of_256([94, 136, 180]), 16 + 36 + 12 + 3);
    }
}
