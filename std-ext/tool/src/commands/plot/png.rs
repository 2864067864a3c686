//! Pictures as PNG: 256 colours, which is enough for a scale of colours, and small.

use std::convert::Infallible;
use std::io;

use embedded_graphics::Drawable as _;
use embedded_graphics::Pixel;
use embedded_graphics::draw_target::DrawTarget;
use embedded_graphics::geometry::{OriginDimensions, Point, Size};
use embedded_graphics::mono_font::iso_8859_1::{FONT_7X13, FONT_9X15_BOLD};
use embedded_graphics::mono_font::{MonoFont, MonoTextStyle};
use embedded_graphics::pixelcolor::BinaryColor;
use embedded_graphics::text::{Alignment, Baseline, Text, TextStyleBuilder};

use crate::commands::plot::chart::{Anchor, Area, Canvas, Colour, Label};
use crate::commands::plot::coast::Lines;
use crate::commands::plot::picture::{Picture, Sheet};

/// Colours that do not belong to a range.
const NAMED: [Colour; 5] = [Colour::Paper, Colour::Ink, Colour::Frame, Colour::Grid, Colour::Missing];
/// Steps between the paper and the colour of curves, for smooth edges.
const STEPS: u8 = 15;
/// The first colour of the range. All behind it are of the range.
const FIRST_SHARE: u8 = 5 + STEPS;

/// A picture in the making: the number of a colour for each pixel.
pub(crate) struct Png {
    width: usize,
    height: usize,
    pixels: Vec<u8>,
}

impl Png {
    /// A picture of this size.
    pub(crate) fn new(width: usize, height: usize) -> Self {
        Self { width, height, pixels: vec![0; width * height] }
    }

    /// Sets a pixel to the number of a colour. Nothing happens outside of the picture.
    fn set(&mut self, x: usize, y: usize, number: u8) {
        if x < self.width
            && let Some(pixel) = self.pixels.get_mut(y * self.width + x)
        {
            *pixel = number;
        }
    }

    /// Marks the pixels near a line from one point to another by how much of them it covers, from 0 to 1. `half` is
    /// half of its width.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, clippy::cast_precision_loss, reason = "pixels")]
    fn cover(&self, coverage: &mut [f64], half: f64, from: (f64, f64), to: (f64, f64)) {
        let (dx, dy) = (to.0 - from.0, to.1 - from.1);
        let length = dx * dx + dy * dy;
        let reach = |a: f64, b: f64, end: usize| {
            ((a.min(b) - half - 2.0).max(0.0) as usize)..((a.max(b) + half + 3.0).max(0.0) as usize).min(end)
        };
        for y in reach(from.1, to.1, self.height) {
            for x in reach(from.0, to.0, self.width) {
                let (px, py) = (x as f64 + 0.5 - from.0, y as f64 + 0.5 - from.1);
                let along = if length > 0.0 { ((px * dx + py * dy) / length).clamp(0.0, 1.0) } else { 0.0 };
                let distance = (px - along * dx).hypot(py - along * dy);
                let covered = (half + 0.5 - distance).clamp(0.0, 1.0);
                if let Some(pixel) = coverage.get_mut(y * self.width + x) {
                    *pixel = pixel.max(covered);
                }
            }
        }
    }
}

/// Text with characters that the font has: raised digits and signs become plain ones.
fn latin(text: &str) -> String {
    let plain = |character| match character {
        '\u{2070}' => '0',
        '\u{2074}' => '4',
        '\u{2075}' => '5',
        '\u{2076}' => '6',
        '\u{2077}' => '7',
        '\u{2078}' => '8',
        '\u{2079}' => '9',
        '\u{207a}' => '+',
        '\u{207b}' | '\u{2010}'..='\u{2015}' | '\u{2212}' => '-',
        '\u{3bc}' => '\u{b5}',
        other => other,
    };
    text.chars().map(plain).collect()
}

/// The number of a colour.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a share of less than 256 steps")]
fn number(colour: Colour) -> u8 {
    match colour {
        Colour::Paper => 0,
        Colour::Ink => 1,
        Colour::Frame => 2,
        Colour::Grid => 3,
        Colour::Missing => 4,
        Colour::Share(share) => FIRST_SHARE + (share.clamp(0.0, 1.0) * f64::from(255 - FIRST_SHARE)).round() as u8,
    }
}

/// Red, green and blue of all colours by their numbers.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "between two bytes")]
fn palette() -> Vec<u8> {
    let curve = Colour::CURVE.rgb();
    let blend =
        |step: u8| curve.map(|part| (255.0 - (255.0 - f64::from(part)) * f64::from(step) / f64::from(STEPS)) as u8);
    let share = |number: u8| viridis_at(number).rgb();
    let named = NAMED.into_iter().map(Colour::rgb);
    named.chain((1..=STEPS).map(blend)).chain((FIRST_SHARE..=255).map(share)).flatten().collect()
}

fn viridis_at(number: u8) -> Colour {
    Colour::Share(f64::from(number - FIRST_SHARE) / f64::from(255 - FIRST_SHARE))
}

impl Canvas for Png {
    fn fill(&mut self, Area { x, y, width, height }: Area, colour: Colour) {
        let number = number(colour);
        for row in y..y + height {
            for column in x..x + width {
                self.set(column, row, number);
            }
        }
    }

    fn frame(&mut self, Area { x, y, width, height }: Area) {
        let across = Area { x, y, width, height: 1 };
        let down = Area { x, y, width: 1, height };
        let far = [Area { y: y + height - 1, ..across }, Area { x: x + width - 1, ..down }];
        for side in [across, down].into_iter().chain(far) {
            self.fill(side, Colour::Frame);
        }
    }

    /// Cells that are smaller than a pixel have the colour of their mean. Larger ones keep their edges.
    fn cells(&mut self, area: Area, picture: &Picture, sheet: &Sheet) {
        let (rows, columns) = (sheet.field.rows().min(area.height), sheet.field.columns().min(area.width));
        let small = sheet.resized(rows, columns);
        for y in 0..area.height {
            for x in 0..area.width {
                let cell = small.cell(y * rows / area.height, x * columns / area.width);
                self.set(area.x + x, area.y + y, number(Colour::of(picture, cell)));
            }
        }
    }

    /// Lines of one pixel: black, and white on dark colours.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, clippy::cast_precision_loss, reason = "pixels")]
    fn lines(&mut self, area: Area, lines: &Lines) {
        let pixel = |share: f64, length: usize| (share * length as f64).floor().clamp(0.0, length as f64 - 1.0);
        for pair in lines.iter().flat_map(|line| line.windows(2)) {
            let &[from, to] = pair else { continue };
            let (from, to) = (
                (pixel(from.0, area.width), pixel(from.1, area.height)),
                (pixel(to.0, area.width), pixel(to.1, area.height)),
            );
            let steps = (to.0 - from.0).abs().max((to.1 - from.1).abs()).max(1.0);
            for step in 0..=steps as usize {
                let share = step as f64 / steps;
                let at = |from: f64, to: f64| (from + (to - from) * share).round() as usize;
                let (x, y) = (area.x + at(from.0, to.0), area.y + at(from.1, to.1));
                let below = self.pixels.get(y * self.width + x).copied().unwrap_or_default();
                // A line that crosses another one does not change it.
                if below != number(Colour::Ink) && below != number(Colour::Grid) {
                    let is_dark = (FIRST_SHARE..FIRST_SHARE + (u8::MAX - FIRST_SHARE) / 3).contains(&below);
                    self.set(x, y, number(if is_dark { Colour::Grid } else { Colour::Ink }));
                }
            }
        }
    }

    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, clippy::cast_precision_loss, reason = "pixels")]
    fn curve(&mut self, area: Area, points: &[Option<(f64, f64)>]) {
        let mut coverage = vec![0.0; self.pixels.len()];
        let place = |(x, y): (f64, f64)| {
            (area.x as f64 + area.width as f64 * x, area.y as f64 + (area.height as f64 - 1.0) * y + 0.5)
        };
        for run in points.split(Option::is_none) {
            let places: Vec<_> = run.iter().flatten().copied().map(place).collect();
            if let [alone] = *places {
                self.cover(&mut coverage, 2.0, alone, alone);
            }
            for pair in places.windows(2) {
                if let [from, to] = *pair {
                    self.cover(&mut coverage, 0.75, from, to);
                }
            }
        }
        for (pixel, covered) in self.pixels.iter_mut().zip(coverage) {
            let step = (covered * f64::from(STEPS)).round() as u8;
            if step > 0 {
                *pixel = 4 + step;
            }
        }
    }

    fn text(&mut self, Label { text, x, y, anchor, is_title }: Label<'_>) {
        let font: &MonoFont<'_> = if is_title { &FONT_9X15_BOLD } else { &FONT_7X13 };
        let alignment = match anchor {
            Anchor::Start => Alignment::Left,
            Anchor::Middle => Alignment::Center,
            Anchor::End => Alignment::Right,
        };
        let style = TextStyleBuilder::new().alignment(alignment).baseline(Baseline::Middle).build();
        let [x, y] = [x, y].map(|place| i32::try_from(place).unwrap_or(i32::MAX));
        let look = MonoTextStyle::new(font, BinaryColor::On);
        let Ok(_) = Text::with_text_style(&latin(text), Point::new(x, y), look, style).draw(self);
    }

    fn finish(self, out: &mut dyn io::Write) -> io::Result<()> {
        let side = |length: usize| u32::try_from(length).unwrap_or(u32::MAX);
        let mut encoder = png::Encoder::new(out, side(self.width), side(self.height));
        encoder.set_color(png::ColorType::Indexed);
        encoder.set_depth(png::BitDepth::Eight);
        encoder.set_palette(palette());
        encoder.set_compression(png::Compression::High);
        // Numbers of colours are not shades: differences between neighbours say nothing.
        encoder.set_filter(png::Filter::NoFilter);
        encoder.write_header()?.write_image_data(&self.pixels).map_err(io::Error::from)
    }
}

/// Ink of text.
impl DrawTarget for Png {
    type Color = BinaryColor;
    type Error = Infallible;

    fn draw_iter<I: IntoIterator<Item = Pixel<BinaryColor>>>(&mut self, pixels: I) -> Result<(), Infallible> {
        for Pixel(Point { x, y }, colour) in pixels {
            if let (Ok(x), Ok(y), BinaryColor::On) = (usize::try_from(x), usize::try_from(y), colour) {
                self.set(x, y, number(Colour::Ink));
            }
        }
        Ok(())
    }
}

impl OriginDimensions for Png {
    fn size(&self) -> Size {
        let side = |length: usize| u32::try_from(length).unwrap_or(u32::MAX);
        Size::new(side(self.width), side(self.height))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_256_colours_have_their_number() {
        let palette = palette();
        assert_eq!(palette.len(), 3 * 256);
        for colour in NAMED.into_iter().chain([0.0, 0.5, 1.0].map(Colour::Share)) {
            let place = 3 * usize::from(number(colour));
            let distance = palette[place..place + 3].iter().zip(colour.rgb()).map(|(a, b)| a.abs_diff(b)).max();
            assert!(distance <= Some(2), "{colour:?}");
        }
    }
}
