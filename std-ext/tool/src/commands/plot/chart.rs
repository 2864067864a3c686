//! Where the parts of a picture stand: title, frame, axes, colour bar, labels. SVG and PNG have the same ones.

use std::io;

use crate::commands::plot::axis::{Axis, Tick};
use crate::commands::plot::coast::{self, Lines};
use crate::commands::plot::picture::{Cell, Counts, Drawn, Picture, Sheet};
use crate::commands::plot::ticks::{number, ticks};
use crate::read::picture::Field;
use crate::show::colour_map::{MISSING, Rgb, viridis};

/// A colour of a picture.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Colour {
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
    /// The colour of a share of the range, from 0 to 1.
    Share(f64),
}

impl Colour {
    /// The colour of curves and bars.
    pub(crate) const CURVE: Self = Self::Share(0.3);

    /// The colour of a cell of this picture.
    pub(crate) fn of(picture: &Picture, cell: Cell) -> Self {
        match cell {
            Cell::Value(value) => Self::Share(picture.share(value)),
            Cell::Missing => Self::Missing,
            Cell::Outside => Self::Paper,
        }
    }

    /// Its parts.
    pub(crate) fn rgb(self) -> Rgb {
        match self {
            Self::Paper => [255; 3],
            Self::Ink => [0; 3],
            Self::Frame => [0x99; 3],
            Self::Grid => [0xe4; 3],
            Self::Missing => MISSING,
            Self::Share(share) => viridis(share),
        }
    }
}

/// A rectangle. Lengths are pixels of PNG, and units of SVG.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Area {
    /// From the left.
    pub(crate) x: usize,
    /// From the top.
    pub(crate) y: usize,
    /// Its width.
    pub(crate) width: usize,
    /// Its height.
    pub(crate) height: usize,
}

/// Which point of a text is given: its beginning, middle or end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Anchor {
    /// The beginning.
    Start,
    /// The middle.
    Middle,
    /// The end.
    End,
}

/// A text and where it stands.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Label<'t> {
    /// The text.
    pub(crate) text: &'t str,
    /// The place of the anchor from the left.
    pub(crate) x: usize,
    /// The middle of the line from the top.
    pub(crate) y: usize,
    /// Which point of the text stands there.
    pub(crate) anchor: Anchor,
    /// Whether it is the title.
    pub(crate) is_title: bool,
}

/// Something that is drawn on.
pub(crate) trait Canvas {
    /// Fills an area.
    fn fill(&mut self, area: Area, colour: Colour);
    /// Draws the frame of an area, inside of it.
    fn frame(&mut self, area: Area);
    /// Draws the values of a field as cells in an area.
    fn cells(&mut self, area: Area, picture: &Picture, sheet: &Sheet);
    /// Draws thin lines through points of an area, as shares from its top left, which are seen on all colours.
    fn lines(&mut self, area: Area, lines: &Lines);
    /// Draws a curve through points of an area, as shares from its top left. It is broken where there is no point.
    fn curve(&mut self, area: Area, points: &[Option<(f64, f64)>]);
    /// Writes a text.
    fn text(&mut self, label: Label<'_>);
    /// Ends the picture.
    ///
    /// # Errors
    /// The errors of the writer.
    fn finish(self, out: &mut dyn io::Write) -> io::Result<()>;
}

/// The greatest width and height of what is drawn.
const SIDE: usize = 720;
/// The least width and height of a field, so that it is seen.
const LEAST: usize = 24;
/// The side of a cell at most, in fields that are wider than a colour bar.
const CELL: usize = 60;
/// The height of lines and histograms.
const CURVE_HEIGHT: usize = 280;
/// The least width of a colour bar.
const BAR: usize = 240;
/// The width of a character of a label, and of the title.
pub(crate) const CHARACTER: usize = 7;
/// The width of a character of the title.
pub(crate) const TITLE_CHARACTER: usize = 9;
/// The blank margin at the right and left.
const MARGIN: usize = 16;
/// Where the drawn area begins below the title, and what a line more takes: of a caption, or of what the vertical axis is.
const TOP: usize = 44;
const LINE: usize = 16;
/// The length of a tick.
const TICK: usize = 5;

/// The drawn area with its axes.
struct Layout {
    area: Area,
    /// The width and height of the whole picture.
    size: (usize, usize),
    below: Vec<Tick>,
    beside: Vec<Tick>,
}

impl Layout {
    /// The layout of an area of this size, with `foot` below its axis.
    fn new(picture: &Picture, (width, height): (usize, usize), axes: [Vec<Tick>; 2], foot: usize) -> Self {
        let is_curve = !matches!(picture.drawn, Drawn::Field(_));
        let y = TOP + LINE * (usize::from(is_curve) + usize::from(!picture.caption.is_empty()));
        let [below, beside] = axes;
        let labels = beside.iter().map(|(_, label)| label.chars().count()).max().unwrap_or_default();
        let left = MARGIN + labels * CHARACTER + TICK + 4;
        let title = (picture.title.chars().count() * TITLE_CHARACTER).max(picture.caption.chars().count() * CHARACTER);
        let whole = (left + width.max(BAR) + 2 * MARGIN).max((title + 2 * MARGIN).min(left + SIDE + 2 * MARGIN));
        Self { area: Area { x: left, y, width, height }, size: (whole, y + height + 30 + foot), below, beside }
    }
}

/// Draws a picture on the canvas that `canvas` makes of a width and a height.
///
/// # Errors
/// The errors of the writer.
pub(crate) fn draw<C: Canvas>(
    out: &mut dyn io::Write,
    picture: &Picture,
    canvas: impl FnOnce(usize, usize) -> C,
) -> io::Result<()> {
    let layout = match &picture.drawn {
        Drawn::Field(sheet) => of_field(picture, sheet),
        Drawn::Line(_, axis) => of_line(picture, axis),
        Drawn::Histogram(counts) => of_histogram(picture, counts),
    };
    let (width, height) = layout.size;
    let mut canvas = canvas(width, height);
    canvas.fill(Area { x: 0, y: 0, width, height }, Colour::Paper);
    let room = (width - 2 * MARGIN) / TITLE_CHARACTER;
    let title = shortened(&picture.title, room);
    canvas.text(Label { text: &title, x: MARGIN, y: 22, anchor: Anchor::Start, is_title: true });
    let caption = shortened(&picture.caption, (width - 2 * MARGIN) / CHARACTER);
    canvas.text(Label { text: &caption, x: MARGIN, y: 42, anchor: Anchor::Start, is_title: false });
    match &picture.drawn {
        Drawn::Field(sheet) => draw_field(&mut canvas, &layout, picture, sheet),
        Drawn::Line(line, axis) => draw_line(&mut canvas, &layout, picture, (line, axis)),
        Drawn::Histogram(counts) => draw_histogram(&mut canvas, &layout, picture, counts),
    }
    canvas.finish(out)
}

/// A text of at most `room` characters.
fn shortened(text: &str, room: usize) -> String {
    if text.chars().count() <= room {
        return text.to_string();
    }
    text.chars().take(room.saturating_sub(3)).chain("...".chars()).collect()
}

/// Ticks at values of the range.
fn value_ticks(picture: &Picture, most: usize) -> Vec<Tick> {
    ticks(picture.range, most, false).into_iter().map(|value| (picture.share(value), number(value, 9))).collect()
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    reason = "lengths of a picture"
)]
fn of_field(picture: &Picture, sheet: &Sheet) -> Layout {
    let longest = sheet.field.rows().max(sheet.field.columns());
    let whole = if sheet.bounds.is_some() { SIDE } else { SIDE.min((longest * CELL).max(BAR)) };
    let ratio = sheet.ratio();
    let side = |share: f64| ((whole as f64 * share.min(1.0)).round() as usize).clamp(LEAST, whole);
    let (width, height) = (side(ratio), side(1.0 / ratio));
    let [rows, columns] = &sheet.axes;
    let axes = [columns.ticks((width / room_of(columns)).clamp(1, 12)), rows.ticks((height / 30).clamp(2, 12))];
    Layout::new(picture, (width, height), axes, if sheet.has_missing() { 82 } else { 60 })
}

/// The width that each label of a horizontal axis takes: times and names are long.
fn room_of(axis: &Axis) -> usize {
    (axis.longest() * CHARACTER + 18).max(60)
}

fn of_line(picture: &Picture, axis: &Axis) -> Layout {
    // Shares of the area are counted from its top.
    let beside = value_ticks(picture, 7).into_iter().map(|(share, label)| (1.0 - share, label)).collect();
    let below = axis.ticks((SIDE / room_of(axis)).clamp(1, 12));
    Layout::new(picture, (SIDE, CURVE_HEIGHT), [below, beside], if axis.name().is_empty() { 8 } else { 28 })
}

#[expect(clippy::cast_precision_loss, reason = "a picture")]
fn of_histogram(picture: &Picture, counts: &Counts) -> Layout {
    let most = counts.most() as f64;
    let count = |value: f64| (1.0 - value / most, number(value, 9));
    let beside = ticks((0.0, most), 7, true).into_iter().map(count).collect();
    Layout::new(picture, (SIDE, CURVE_HEIGHT), [value_ticks(picture, 10), beside], 28)
}

/// A length times a share, from the start of an axis.
#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "lengths of a picture"
)]
fn along(length: usize, share: f64) -> usize {
    (length as f64 * share.clamp(0.0, 1.0)).round() as usize
}

/// Draws the ticks of both axes with their labels. `grid` says whether lines run through the area.
fn draw_axes(canvas: &mut impl Canvas, layout: &Layout, grid: bool) {
    let Area { x, y, width, height } = layout.area;
    let (right, bottom) = (x + width, y + height);
    for (share, label) in &layout.below {
        let at = x + along(width - 1, *share);
        canvas.fill(Area { x: at, y: bottom, width: 1, height: TICK }, Colour::Frame);
        canvas.text(Label { text: label, x: at, y: bottom + 14, anchor: Anchor::Middle, is_title: false });
    }
    for (share, label) in &layout.beside {
        let at = y + along(height - 1, *share);
        canvas.fill(Area { x: x - TICK, y: at, width: TICK, height: 1 }, Colour::Frame);
        if grid {
            canvas.fill(Area { x, y: at, width: right - x, height: 1 }, Colour::Grid);
        }
        canvas.text(Label { text: label, x: x - TICK - 4, y: at, anchor: Anchor::End, is_title: false });
    }
}

/// Writes what the numbers of the vertical axis are, above the area.
fn draw_above(canvas: &mut impl Canvas, layout: &Layout, text: &str) {
    let text = shortened(text, 60);
    canvas.text(Label { text: &text, x: layout.area.x, y: layout.area.y - 14, anchor: Anchor::Start, is_title: false });
}

#[expect(clippy::cast_precision_loss, reason = "few pixels")]
fn draw_field(canvas: &mut impl Canvas, layout: &Layout, picture: &Picture, sheet: &Sheet) {
    let Area { x, y, width, height } = layout.area;
    canvas.cells(layout.area, picture, sheet);
    if let Some(bounds) = &sheet.bounds {
        // Points nearer than a pixel are one.
        canvas.lines(layout.area, &coast::within(bounds, bounds.size().0 / width as f64));
    }
    canvas.frame(Area { x: x - 1, y: y - 1, width: width + 2, height: height + 2 });
    draw_axes(canvas, layout, false);
    let (top, bar) = (y + height + 34, width.max(BAR));
    let step = 4;
    for at in (0..bar).step_by(step) {
        let share = (at as f64 + step as f64 / 2.0) / bar as f64;
        let width = step.min(bar - at);
        canvas.fill(Area { x: x + at, y: top, width, height: 16 }, Colour::Share(share.min(1.0)));
    }
    let labels = [0.0, 0.5, 1.0].map(|share| picture.label(picture.at(share)));
    let room = labels.iter().map(|label| label.chars().count() * CHARACTER).sum::<usize>() + 6 * CHARACTER;
    let places = [(Anchor::Start, 0), (Anchor::Middle, bar / 2), (Anchor::End, bar)];
    for (label, (anchor, at)) in labels.iter().zip(places) {
        if anchor != Anchor::Middle || room <= bar {
            canvas.text(Label { text: label, x: x + at, y: top + 28, anchor, is_title: false });
        }
    }
    if sheet.has_missing() {
        let y = top + 40;
        canvas.fill(Area { x, y, width: 12, height: 12 }, Colour::Missing);
        canvas.text(Label { text: "missing", x: x + 18, y: y + 6, anchor: Anchor::Start, is_title: false });
    }
}

#[expect(clippy::cast_precision_loss, reason = "few points")]
fn draw_line(canvas: &mut impl Canvas, layout: &Layout, picture: &Picture, (line, axis): (&Field, &Axis)) {
    draw_above(canvas, layout, &picture.units);
    draw_axes(canvas, layout, true);
    canvas.frame(layout.area);
    let columns = line.columns().min(SIDE);
    let small = line.resized(1, columns);
    // Labels have their distances. Of more than there are pixels, each pixel has the mean.
    let shares = match axis {
        Axis::Labels(_, all) if all.len() == columns => Some(all),
        _ => None,
    };
    let point = |column: usize| {
        let value = small.get(0, column)?;
        let even = (column as f64 + 0.5) / columns as f64;
        Some((shares.and_then(|all| all.get(column)).map_or(even, |tick| tick.0), 1.0 - picture.share(value)))
    };
    canvas.curve(layout.area, &(0..columns).map(point).collect::<Vec<_>>());
    draw_below(canvas, layout, axis.name());
}

#[expect(clippy::cast_precision_loss, reason = "few parts")]
fn draw_histogram(canvas: &mut impl Canvas, layout: &Layout, picture: &Picture, histogram: &Counts) {
    let Area { x, y, width, height } = layout.area;
    let rest = histogram.rest().map_or(String::new(), |rest| format!(" ({rest})"));
    draw_above(canvas, layout, &format!("values{rest}"));
    draw_axes(canvas, layout, true);
    let parts = histogram.counts.len();
    for (part, count) in histogram.counts.iter().enumerate() {
        let [from, to] = [part, part + 1].map(|part| along(width, part as f64 / parts as f64));
        let bar = along(height, *count as f64 / histogram.most() as f64).max(usize::from(*count > 0));
        // A blank between bars, where there is room for it.
        let gap = usize::from(to - from > 3);
        let bar = Area { x: x + from, y: y + height - bar, width: to - from - gap, height: bar };
        canvas.fill(bar, Colour::CURVE);
    }
    canvas.frame(layout.area);
    draw_below(canvas, layout, &picture.units);
}

/// Writes what the horizontal axis is, below its labels.
fn draw_below(canvas: &mut impl Canvas, layout: &Layout, text: &str) {
    let Area { x, y, width, height } = layout.area;
    let text = shortened(text, 60);
    let (x, y) = (x + width / 2, y + height + 34);
    canvas.text(Label { text: &text, x, y, anchor: Anchor::Middle, is_title: false });
}
