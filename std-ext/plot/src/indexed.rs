//! Pictures in 256 colours, which are much smaller than pictures in more. Few colours stay exact; many become near ones.

use std::collections::HashMap;

use crate::canvas::Colour;
use crate::palette::{Palette, Rgb};

/// Steps of the palette. Cells have these colours alone.
pub(crate) const STEPS: u8 = 128;
/// Shades from white to black, for letters.
const GREYS: u8 = 17;
/// Colours of the palette below lines, each with a white and two black edges.
const EDGES: u8 = 32;

/// The colours of a picture, and the number of the colour of each pixel.
pub(crate) struct Indexed {
    pub(crate) colours: Vec<Rgb>,
    pub(crate) pixels: Vec<u8>,
}

/// The share of a step of the palette that is nearest to a share.
pub(crate) fn step_of(share: f64) -> f64 {
    let last = f64::from(STEPS - 1);
    (share * last).round() / last
}

impl Indexed {
    /// The picture of these pixels, in which fields have the colours of a palette.
    pub(crate) fn new(pixels: &[Rgb], palette: Palette) -> Self {
        Self::exact(pixels).unwrap_or_else(|| {
            let colours = colours(palette);
            let mut known: HashMap<Rgb, u8> = HashMap::new();
            let number = |pixel: &Rgb| *known.entry(*pixel).or_insert_with(|| nearest(&colours, *pixel));
            let pixels = pixels.iter().map(number).collect();
            Self { colours, pixels }
        })
    }

    /// The picture as it is. `None` if it has more than 256 colours.
    fn exact(pixels: &[Rgb]) -> Option<Self> {
        let mut known: HashMap<Rgb, u8> = HashMap::new();
        let mut colours = Vec::new();
        let number = |pixel: &Rgb| {
            if let Some(number) = known.get(pixel) {
                return Some(*number);
            }
            let number = u8::try_from(colours.len()).ok()?;
            colours.push(*pixel);
            known.insert(*pixel, number);
            Some(number)
        };
        let pixels = pixels.iter().map(number).collect::<Option<_>>()?;
        Some(Self { colours, pixels })
    }
}

/// The colours of a palette, shades of grey, and what lines and their edges make of both.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "between two bytes")]
fn colours(palette: Palette) -> Vec<Rgb> {
    let share = |step: u8, steps: u8| f64::from(step) / f64::from(steps - 1);
    let mixed = |colour: Rgb, other: u8, part: f64| {
        colour.map(|own| (f64::from(own) + (f64::from(other) - f64::from(own)) * part).round() as u8)
    };
    let steps = (0..STEPS).map(|step| palette.colour(share(step, STEPS)));
    let greys = (0..GREYS).map(|step| mixed([255; 3], 0, share(step, GREYS)));
    let named = [Colour::Frame, Colour::Grid, Colour::Missing].map(Colour::rgb);
    let edges = (0..EDGES).flat_map(|step| {
        let colour = palette.colour(share(step, EDGES));
        [(255, 0.5), (0, 1.0 / 3.0), (0, 2.0 / 3.0)].map(|(other, part)| mixed(colour, other, part))
    });
    greys.chain(named).chain(steps).chain(edges).collect()
}

/// The number of the colour that is nearest.
fn nearest(colours: &[Rgb], [red, green, blue]: Rgb) -> u8 {
    let square = |one: u8, other: u8| u32::from(one.abs_diff(other)).pow(2);
    let distance = |[other_red, other_green, other_blue]: &Rgb| {
        square(red, *other_red) + square(green, *other_green) + square(blue, *other_blue)
    };
    (0_u8..=255).zip(colours).min_by_key(|(_, colour)| distance(colour)).map_or(0, |(number, _)| number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_colours_stay_as_they_are_and_many_become_near_ones() {
        let few: Vec<Rgb> = (0..=255).map(|part| [part, 7, 255 - part]).collect();
        let found = Indexed::new(&few, Palette::Viridis);
        assert!(found.pixels.iter().zip(&few).all(|(number, pixel)| found.colours[usize::from(*number)] == *pixel));
        // Steps of the palette, letters and coasts, and one colour more than 256.
        for palette in [Palette::Viridis, Palette::Coolwarm, Palette::Greys] {
            let steps = (0..STEPS).map(|step| palette.colour(step_of(f64::from(step) / 127.0)));
            let coasts = (0..STEPS).map(|step| palette.colour(f64::from(step) / 127.0).map(|part| part / 2));
            let many: Vec<Rgb> = steps.chain(coasts).chain((0..=255).map(|grey| [grey; 3])).collect();
            let found = Indexed::new(&many, palette);
            assert!(found.colours.len() <= 256, "{}", found.colours.len());
            for (at, (number, pixel)) in found.pixels.iter().zip(&many).enumerate() {
                let near = found.colours[usize::from(*number)];
                let distance = near.iter().zip(pixel).map(|(a, b)| a.abs_diff(*b)).max();
                let most = if at < usize::from(STEPS) { 0 } else { 36 };
                assert!(distance <= Some(most), "{palette:?} {pixel:?} {near:?}");
            }
        }
    }
}
