//! What pictures are drawn on, and what is drawn: areas, lines and texts. SVG and PNG draw the same ones.

use std::io;

use crate::lines::Lines;
use crate::palette::{MISSING, Palette, Rgb};
use crate::picture::{Cell, Picture, Sheet};

/// A colour of a picture.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Colour {
    /// The ground: white.
    Paper,
    /// Text: black.
    Ink,
    /// Frames and ticks: grey.
    Frame,
    /// Lines behind a curve: light grey.
    Grid,
    /// A missing value: dark grey.
    Missing,
    /// Curves and bars: blue.
    Curve,
    /// The colour of a share of the range, from 0 to 1.
    Share(Palette, f64),
}

impl Colour {
    /// The colour of a cell of this picture.
    pub fn of(picture: &Picture, cell: Cell) -> Self {
        match cell {
            Cell::Value(value) => Self::Share(picture.palette, picture.share(value)),
            Cell::Missing => Self::Missing,
            Cell::Outside => Self::Paper,
        }
    }

    /// Its parts.
    pub fn rgb(self) -> Rgb {
        match self {
            Self::Paper => [255; 3],
            Self::Ink => [0; 3],
            Self::Frame => [0x99; 3],
            Self::Grid => [0xe4; 3],
            Self::Missing => MISSING,
            Self::Curve => Palette::Viridis.colour(0.3),
            Self::Share(palette, share) => palette.colour(share),
        }
    }
}

/// A rectangle, in units of the picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Area {
    /// From the left.
    pub x: usize,
    /// From the top.
    pub y: usize,
    /// Its width.
    pub width: usize,
    /// Its height.
    pub height: usize,
}

/// Which point of a text is given: its beginning, middle or end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Anchor {
    /// The beginning.
    Start,
    /// The middle.
    Middle,
    /// The end.
    End,
}

/// The size of letters, and of the letters of the title.
pub const LETTER: f64 = 12.0;
/// The size of letters of the title.
pub const TITLE: f64 = 16.0;

/// A text and where it stands.
#[derive(Clone, Copy, Debug)]
pub struct Label<'t> {
    /// The text.
    pub text: &'t str,
    /// The place of the anchor from the left.
    pub x: usize,
    /// The middle of the line from the top.
    pub y: usize,
    /// Which point of the text stands there.
    pub anchor: Anchor,
    /// Whether it is the title.
    pub is_title: bool,
}

impl Label<'_> {
    /// The size of its letters, and how far their feet are below the middle of the line.
    pub const fn size(&self) -> (f64, usize) {
        if self.is_title { (TITLE, 6) } else { (LETTER, 4) }
    }
}

/// How lines are drawn.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stroke {
    /// What the lines are, as a word.
    pub name: &'static str,
    /// Their colour.
    pub colour: Colour,
    /// Their width in units of the picture.
    pub width: f64,
    /// The width of the pale edge below them, by which they are seen on all colours. 0 for none.
    pub edge: f64,
}

/// Coasts.
pub const COAST: Stroke = Stroke { name: "coast", colour: Colour::Ink, width: 0.8, edge: 2.0 };
/// Lines of equal value.
pub const CONTOUR: Stroke = Stroke { name: "contours", colour: Colour::Ink, width: 0.6, edge: 0.0 };
/// Meridians and parallels.
pub const NET: Stroke = Stroke { name: "net", colour: Colour::Frame, width: 0.5, edge: 0.0 };
/// Arrows of wind.
pub const ARROW: Stroke = Stroke { name: "arrows", colour: Colour::Ink, width: 1.1, edge: 2.4 };
/// Curves of lines. A line of one point is a dot.
pub const CURVE: Stroke = Stroke { name: "curve", colour: Colour::Curve, width: 1.5, edge: 0.0 };

/// Something that is drawn on.
pub trait Canvas {
    /// Fills an area.
    fn fill(&mut self, area: Area, colour: Colour);
    /// Draws the frame of an area, inside of it.
    fn frame(&mut self, area: Area);
    /// Draws the values of a field as cells in an area.
    fn cells(&mut self, area: Area, picture: &Picture, sheet: &Sheet);
    /// Draws lines through points of an area. A line of one point is a dot.
    fn lines(&mut self, area: Area, lines: &Lines, stroke: Stroke);
    /// Writes a text.
    fn text(&mut self, label: Label<'_>);
    /// Ends the picture.
    ///
    /// # Errors
    /// The errors of the writer.
    fn finish(self, out: &mut dyn io::Write) -> io::Result<()>;
}

/// The size of a picture.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Size {
    /// Its width and height in units, in which letters have a size of 12.
    pub units: (usize, usize),
    /// Its width and height in pixels.
    pub pixels: (usize, usize),
    /// Whether the pixels were asked for.
    pub is_asked: bool,
}
