//! Colours for numbers.

/// A colour: red, green, blue.
pub type Rgb = [u8; 3];

/// The colour of values that are missing.
pub const MISSING: Rgb = [96, 96, 96];

/// Colours for a range of values, by the names that matplotlib has for them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Palette {
    /// From violet to yellow.
    #[default]
    Viridis,
    /// From black to pale yellow.
    Magma,
    /// The rainbow.
    Turbo,
    /// From white to black.
    Greys,
    /// From blue to red, and grey in the middle.
    Coolwarm,
}

/// Every sixteenth colour of a palette, from the least value to the greatest.
type Colours = [Rgb; 17];

#[rustfmt::skip]
const VIRIDIS: Colours = [
    [68, 1, 84], [72, 24, 106], [71, 45, 123], [66, 64, 134], [59, 82, 139], [51, 99, 141], [44, 114, 142], [38, 130, 142], [33, 145, 140],
    [31, 160, 136], [40, 174, 128], [63, 188, 115], [94, 201, 98], [132, 212, 75], [173, 220, 48], [216, 226, 25], [253, 231, 37],
];
#[rustfmt::skip]
const MAGMA: Colours = [
    [0, 0, 4], [10, 8, 34], [29, 17, 71], [54, 16, 107], [81, 18, 124], [106, 28, 129], [131, 38, 129], [156, 46, 127], [183, 55, 121],
    [208, 65, 111], [231, 82, 99], [245, 107, 92], [252, 137, 97], [254, 167, 114], [254, 196, 136], [253, 226, 163], [252, 253, 191],
];
#[rustfmt::skip]
const TURBO: Colours = [
    [48, 18, 59], [64, 64, 162], [70, 107, 227], [66, 148, 255], [40, 188, 235], [24, 221, 194], [50, 242, 152], [109, 254, 98],
    [164, 252, 60], [205, 236, 52], [238, 207, 58], [253, 172, 52], [251, 126, 33], [235, 80, 14], [208, 47, 5], [169, 22, 1], [122, 4, 3],
];
#[rustfmt::skip]
const COOLWARM: Colours = [
    [59, 76, 192], [78, 104, 216], [98, 130, 234], [119, 154, 247], [141, 176, 254], [163, 194, 254], [185, 208, 249], [204, 217, 237],
    [221, 220, 220], [236, 211, 197], [245, 196, 172], [247, 176, 147], [244, 152, 122], [235, 125, 98], [221, 95, 75], [202, 59, 55],
    [180, 4, 38],
];

impl Palette {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::Viridis, Self::Magma, Self::Turbo, Self::Greys, Self::Coolwarm];

    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Viridis => "viridis",
            Self::Magma => "magma",
            Self::Turbo => "turbo",
            Self::Greys => "greys",
            Self::Coolwarm => "coolwarm",
        }
    }

    /// What it looks like.
    pub const fn about(self) -> &'static str {
        match self {
            Self::Viridis => {
                "Violet, blue, green, yellow: equal steps look equal, also in grey and to colour-blind people"
            }
            Self::Magma => "Black, violet, red, pale yellow",
            Self::Turbo => "All colours of the rainbow, from blue to red",
            Self::Greys => "White to black",
            Self::Coolwarm => "Blue, grey, red: for values around 0",
        }
    }

    /// The palette of a name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|palette| palette.name() == name)
    }

    /// The colour of a share from 0 to 1.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "within the table, and within bytes")]
    pub fn colour(self, share: f64) -> Rgb {
        let share = share.clamp(0.0, 1.0);
        match self {
            Self::Viridis => between(&VIRIDIS, share),
            Self::Magma => between(&MAGMA, share),
            Self::Turbo => between(&TURBO, share),
            Self::Coolwarm => between(&COOLWARM, share),
            Self::Greys => [(255.0 * (1.0 - share)).round() as u8; 3],
        }
    }

    /// Whether its middle stands for 0.
    pub const fn is_diverging(self) -> bool {
        matches!(self, Self::Coolwarm)
    }
}

/// The colour at a share of a table.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    reason = "within the table, and within bytes"
)]
fn between(table: &Colours, share: f64) -> Rgb {
    let place = share * 16.0;
    let below = (place as usize).min(15);
    let rest = place - below as f64;
    let colour = |index: usize| table.get(index).copied().unwrap_or(MISSING);
    let ([red, green, blue], [red_above, green_above, blue_above]) = (colour(below), colour(below + 1));
    let mixed = |low: u8, high: u8| (f64::from(low) + (f64::from(high) - f64::from(low)) * rest).round() as u8;
    [mixed(red, red_above), mixed(green, green_above), mixed(blue, blue_above)]
}

/// The nearest colour of the cube of 6 × 6 × 6 colours that terminals of 256 colours have.
pub fn of_256([red, green, blue]: Rgb) -> u8 {
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
        for (palette, ends) in
            [(Palette::Viridis, [[68, 1, 84], [253, 231, 37]]), (Palette::Magma, [[0, 0, 4], [252, 253, 191]])]
        {
            let steps: Vec<f64> = (0..=100).map(|step| lightness(palette.colour(f64::from(step) / 100.0))).collect();
            assert!(steps.is_sorted(), "{steps:?}");
            assert_eq!([palette.colour(-1.0), palette.colour(2.0)], ends);
        }
    }

    #[test]
    fn the_middle_of_a_diverging_palette_is_pale_and_both_sides_darken() {
        let lightness = |[r, g, b]: Rgb| 0.2126 * f64::from(r) + 0.7152 * f64::from(g) + 0.0722 * f64::from(b);
        let at = |step: u8| Palette::Coolwarm.colour(0.5 + f64::from(step) / 20.0 - 0.5);
        assert!((1..=10).all(|step| lightness(at(step)) >= lightness(at(step - 1))));
        assert!((11..=20).all(|step| lightness(at(step)) <= lightness(at(step - 1))));
        let ([_, _, blue], [red, ..]) = (at(0), at(20));
        assert!(blue > 150 && red > 150 && Palette::Coolwarm.is_diverging());
    }

    #[test]
    fn colours_of_the_cube_are_the_nearest() {
        assert_eq!([of_256([0, 0, 0]), of_256([255, 255, 255]), of_256([255, 0, 0])], [16, 231, 196]);
        assert_eq!(of_256([94, 136, 180]), 16 + 36 + 12 + 3);
    }
}
