//! Letters of pictures: `DejaVu` Sans, with the characters of Latin, Greek and Cyrillic, and signs of units.
//!
//! The file is a part of DejaVuSans.ttf 2.37, made by `tests/peers/plot/letters`. DejaVuSans.LICENSE is its licence.

use std::io;

use ab_glyph::{Font as _, FontRef, PxScale, ScaleFont as _, point};

static FONT: &[u8] = include_bytes!("DejaVuSans.ttf");

/// The letters.
#[derive(Debug, Clone)]
pub struct Letters(FontRef<'static>);

impl Letters {
    /// Reads the font.
    ///
    /// # Errors
    /// [`io::ErrorKind::InvalidData`] if the font of this program is damaged.
    pub fn new() -> io::Result<Self> {
        FontRef::try_from_slice(FONT).map(Self).map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))
    }

    /// The scale of the font for a size, as CSS counts sizes.
    fn scale(&self, size: f64) -> PxScale {
        #[expect(clippy::cast_possible_truncation, reason = "a size of letters")]
        let size = size as f32;
        let em = self.0.units_per_em().unwrap_or(1000.0);
        PxScale::from(size * self.0.height_unscaled() / em)
    }

    /// The width of a text in letters of this size.
    pub fn width(&self, text: &str, size: f64) -> f64 {
        let font = self.0.as_scaled(self.scale(size));
        text.chars().map(|character| f64::from(font.h_advance(font.glyph_id(character)))).sum()
    }

    /// The text, or as much of it as is not wider than `room`, with an ellipsis.
    pub fn shortened(&self, text: &str, size: f64, room: f64) -> String {
        if self.width(text, size) <= room {
            return text.to_string();
        }
        let room = room - self.width("…", size);
        let font = self.0.as_scaled(self.scale(size));
        let mut wide = 0.0;
        let fits = |character: &char| {
            wide += f64::from(font.h_advance(font.glyph_id(*character)));
            wide <= room
        };
        text.chars().take_while(fits).chain(['…']).collect()
    }

    /// Draws a text from `x` on, with the feet of its letters at `y`. `pixel` gets each pixel, and how much of it is covered, from 0 to 1.
    #[expect(clippy::cast_possible_truncation, reason = "places of a picture")]
    pub fn draw(&self, text: &str, size: f64, (x, y): (f64, f64), mut pixel: impl FnMut(i64, i64, f64)) {
        let scale = self.scale(size);
        let font = self.0.as_scaled(scale);
        let mut x = x as f32;
        for character in text.chars() {
            let id = font.glyph_id(character);
            let glyph = id.with_scale_and_position(scale, point(x, y as f32));
            x += font.h_advance(id);
            let Some(outline) = self.0.outline_glyph(glyph) else { continue };
            let corner = outline.px_bounds().min;
            outline.draw(|column, row, covered| {
                let at = |corner: f32, step: u32| corner as i64 + i64::from(step);
                pixel(at(corner.x, column), at(corner.y, row), f64::from(covered));
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn widths_are_those_of_the_font() {
        let letters = Letters::new().unwrap();
        // Advances of DejaVu Sans in 2048 parts of the size: "W" has 2025, "i" has 569.
        for (text, advance) in [("W", 2025.0), ("i", 569.0), ("Wi", 2594.0), ("", 0.0)] {
            assert!((letters.width(text, 20.48) - advance / 100.0).abs() < 1e-3, "{text}");
        }
    }

    /// Signs of units, names in other languages, and what stands where a character is not known.
    #[test]
    fn characters_of_units_and_languages_have_letters() {
        let letters = Letters::new().unwrap();
        let ink = |text: &str| {
            let mut pixels = Vec::new();
            letters.draw(text, 24.0, (2.0, 30.0), |x, y, covered| {
                if covered > 0.5 {
                    pixels.push((x, y));
                }
            });
            pixels
        };
        let unknown = ink("\u{4e2d}");
        assert!(!unknown.is_empty());
        for character in "Aé°²⁻⁹µμΔαЖя…−≤·′ß€".chars() {
            let drawn = ink(&character.to_string());
            assert!(!drawn.is_empty() && drawn != unknown, "{character}");
            assert!(drawn.iter().all(|(x, y)| (0..40).contains(x) && (0..44).contains(y)), "{character}: {drawn:?}");
        }
    }

    #[test]
    fn long_texts_are_shortened_to_their_room() {
        let letters = Letters::new().unwrap();
        let long = "W".repeat(100_000);
        for room in [0.0, 30.0, 200.0] {
            let short = letters.shortened(&long, 12.0, room);
            assert!(short.ends_with('…') && letters.width(&short, 12.0) <= room.max(12.0), "{room}: {short}");
        }
        assert_eq!(letters.shortened("i", 12.0, 30.0), "i");
    }
}
