//! Pictures as PNG.

use std::io;

use crate::canvas::{Anchor, Area, Canvas, Colour, Label, Size, Stroke};
use crate::indexed::{Indexed, step_of};
use crate::letters::Letters;
use crate::lines::Lines;
use crate::palette::{Palette, Rgb};
use crate::picture::{Picture, Sheet};

/// Units in a metre: there are 96 in an inch.
const UNITS_PER_METRE: f64 = 96.0 / 0.0254;

/// A picture in the making.
#[derive(Debug)]
pub struct Png {
    letters: Letters,
    width: usize,
    height: usize,
    /// Pixels of a unit.
    scale: f64,
    pixels: Vec<Rgb>,
    /// The colours of values.
    palette: Palette,
}

/// Columns and rows of pixels: the first ones, and those after the last ones.
struct Block {
    left: usize,
    top: usize,
    right: usize,
    bottom: usize,
}

/// How much of each pixel of a block lines cover, in 255 parts.
struct Coverage {
    block: Block,
    parts: Vec<u8>,
}

impl Png {
    /// A picture of this size.
    #[expect(clippy::cast_precision_loss, reason = "lengths of a picture")]
    pub fn new(size: Size, letters: Letters) -> Self {
        let ((width, height), units) = (size.pixels, size.units.0.max(1) as f64);
        let pixels = vec![Colour::Paper.rgb(); width * height];
        Self { letters, width, height, scale: width as f64 / units, pixels, palette: Palette::default() }
    }

    /// Lets a colour cover a pixel. Nothing happens outside of the picture.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "between two bytes")]
    fn blend(&mut self, x: usize, y: usize, colour: Rgb, covered: f64) {
        if x >= self.width {
            return;
        }
        let Some(pixel) = self.pixels.get_mut(y * self.width + x) else { return };
        let covered = covered.clamp(0.0, 1.0);
        for (part, other) in pixel.iter_mut().zip(colour) {
            *part = (f64::from(*part) + (f64::from(other) - f64::from(*part)) * covered).round() as u8;
        }
    }

    /// The pixel at which a place in units begins.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        clippy::cast_precision_loss,
        reason = "lengths of a picture"
    )]
    fn pixel(&self, units: usize) -> usize {
        (units as f64 * self.scale).round() as usize
    }

    /// The pixels of an area.
    fn block(&self, Area { x, y, width, height }: Area) -> Block {
        let [left, top, right, bottom] = [x, y, x + width, y + height].map(|units| self.pixel(units));
        // What has an extent has a pixel.
        let end = |start: usize, end: usize, units: usize| if units > 0 { end.max(start + 1) } else { end };
        Block { left, top, right: end(left, right, width), bottom: end(top, bottom, height) }
    }

    fn paint(&mut self, block: &Block, colour: Colour) {
        let rgb = colour.rgb();
        for y in block.top..block.bottom.min(self.height) {
            let row = y * self.width;
            let (from, to) = (row + block.left.min(self.width), row + block.right.min(self.width));
            if let Some(pixels) = self.pixels.get_mut(from..to) {
                pixels.fill(rgb);
            }
        }
    }

    /// Covers what lies within half of a width of the lines.
    fn stroke(&mut self, area: Area, lines: &Lines, width: f64, (colour, most): (Colour, f64)) {
        let block = self.block(area);
        let half = width * self.scale / 2.0;
        let mut coverage = Coverage::new(block);
        for line in lines {
            if let [alone] = line.as_slice() {
                coverage.segment(half * 2.0, *alone, *alone);
            }
            for [from, to] in line.array_windows() {
                coverage.segment(half, *from, *to);
            }
        }
        let Coverage { block, parts } = coverage;
        let rgb = colour.rgb();
        for (at, part) in parts.into_iter().enumerate().filter(|(_, part)| *part > 0) {
            let (x, y) = (block.left + at % block.width(), block.top + at / block.width());
            self.blend(x, y, rgb, f64::from(part) / 255.0 * most);
        }
    }
}

impl Block {
    const fn width(&self) -> usize {
        self.right.saturating_sub(self.left)
    }

    const fn height(&self) -> usize {
        self.bottom.saturating_sub(self.top)
    }
}

impl Coverage {
    fn new(block: Block) -> Self {
        Self { parts: vec![0; block.width() * block.height()], block }
    }

    /// Marks the pixels near a line from one point to another. `half` is half of its width in pixels; points are shares of the block.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, clippy::cast_precision_loss, reason = "pixels")]
    fn segment(&mut self, half: f64, from: (f64, f64), to: (f64, f64)) {
        let (width, height) = (self.block.width(), self.block.height());
        let place = |(x, y): (f64, f64)| (x * width as f64, y * height as f64);
        let (from, to) = (place(from), place(to));
        let (dx, dy) = (to.0 - from.0, to.1 - from.1);
        let length = dx * dx + dy * dy;
        let reach = |a: f64, b: f64, end: usize| {
            ((a.min(b) - half - 2.0).max(0.0) as usize)..((a.max(b) + half + 3.0).max(0.0) as usize).min(end)
        };
        for y in reach(from.1, to.1, height) {
            for x in reach(from.0, to.0, width) {
                let (px, py) = (x as f64 + 0.5 - from.0, y as f64 + 0.5 - from.1);
                let along = if length > 0.0 { ((px * dx + py * dy) / length).clamp(0.0, 1.0) } else { 0.0 };
                let distance = (px - along * dx).hypot(py - along * dy);
                // A line that is thinner than a pixel covers a part of it at most.
                let covered = (half + 0.5 - distance).clamp(0.0, (2.0 * half).min(1.0));
                if let Some(part) = self.parts.get_mut(y * width + x) {
                    *part = (*part).max((covered * 255.0).round() as u8);
                }
            }
        }
    }
}

impl Canvas for Png {
    fn fill(&mut self, area: Area, colour: Colour) {
        let block = self.block(area);
        self.paint(&block, colour);
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
        self.palette = picture.palette;
        let block = self.block(area);
        let (width, height) = (block.width(), block.height());
        let (rows, columns) = (sheet.field.rows().min(height), sheet.field.columns().min(width));
        let small = sheet.resized(rows, columns);
        for y in 0..height {
            for x in 0..width {
                let colour = match Colour::of(picture, small.cell(y * rows / height, x * columns / width)) {
                    Colour::Share(palette, share) => Colour::Share(palette, step_of(share)),
                    other => other,
                };
                self.blend(block.left + x, block.top + y, colour.rgb(), 1.0);
            }
        }
    }

    fn lines(&mut self, area: Area, lines: &Lines, stroke: Stroke) {
        if lines.is_empty() {
            return;
        }
        if stroke.edge > 0.0 {
            self.stroke(area, lines, stroke.edge, (Colour::Paper, 0.5));
        }
        self.stroke(area, lines, stroke.width, (stroke.colour, 1.0));
    }

    #[expect(clippy::cast_precision_loss, reason = "places of a picture")]
    fn text(&mut self, label: Label<'_>) {
        let letters = self.letters.clone();
        let (size, foot) = label.size();
        let (size, foot) = (size * self.scale, (label.y + foot) as f64 * self.scale);
        let before = match label.anchor {
            Anchor::Start => 0.0,
            Anchor::Middle => 0.5,
            Anchor::End => 1.0,
        };
        let x = label.x as f64 * self.scale - before * letters.width(label.text, size);
        letters.draw(label.text, size, (x, foot), |x, y, covered| {
            if let (Ok(x), Ok(y)) = (usize::try_from(x), usize::try_from(y)) {
                self.blend(x, y, Colour::Ink.rgb(), covered);
            }
        });
    }

    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a few thousand pixels")]
    fn finish(self, out: &mut dyn io::Write) -> io::Result<()> {
        let side = |length: usize| u32::try_from(length).map_err(io::Error::other);
        let mut encoder = png::Encoder::new(out, side(self.width)?, side(self.height)?);
        let Indexed { colours, pixels } = Indexed::new(&self.pixels, self.palette);
        encoder.set_color(png::ColorType::Indexed);
        encoder.set_palette(colours.into_flattened());
        encoder.set_depth(png::BitDepth::Eight);
        // Programs show it as large as it is in units.
        let dense = (UNITS_PER_METRE * self.scale).round() as u32;
        encoder.set_pixel_dims(Some(png::PixelDimensions { xppu: dense, yppu: dense, unit: png::Unit::Meter }));
        encoder.set_compression(png::Compression::High);
        // Numbers of colours are not shades: differences between neighbours say nothing.
        encoder.set_filter(png::Filter::NoFilter);
        encoder.write_header()?.write_image_data(&pixels).map_err(io::Error::from)
    }
}
