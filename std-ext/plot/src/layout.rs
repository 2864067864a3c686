//! Where the parts of a picture stand: title, area, axes and colour bar, for the size that is asked for or that values need.

use crate::axis::{Axis, Tick};
use crate::canvas::{Area, LETTER, Size, TITLE};
use crate::letters::Letters;
use crate::picture::{Counts, Drawn, Picture, Sheet};
use crate::ticks::{number, ticks};

/// The greatest width and height of what is drawn, where no size is asked for.
pub(crate) const SIDE: usize = 720;
/// The least width and height of a field, so that it is seen.
const LEAST: usize = 24;
/// The side of a cell at most, in fields that are wider than a colour bar.
const CELL: usize = 60;
/// The height of lines and histograms.
const CURVE_HEIGHT: usize = 280;
/// The width and height of profiles.
const PROFILE: Sides = (400, 480);
/// The least width of a colour bar.
const BAR: usize = 240;
/// The blank margin at the right and left.
pub(crate) const MARGIN: usize = 16;
/// Where the drawn area begins below the title, and what a line more takes: of a caption, or of what the vertical axis is.
const TOP: usize = 44;
const LINE: usize = 16;
/// The length of a tick.
pub(crate) const TICK: usize = 5;
/// Pixels of a unit, where no size is asked for.
const SCALE: usize = 2;
/// The area of a picture in units, where a size is asked for: letters are as large in relation to it, however many pixels it has.
const UNITS: f64 = 800.0 * 500.0;

/// Width and height.
pub type Sides = (usize, usize);

/// The drawn area with its axes.
pub(crate) struct Layout {
    pub(crate) area: Area,
    /// The size of the whole picture.
    pub(crate) size: Size,
    pub(crate) below: Vec<Tick>,
    pub(crate) beside: Vec<Tick>,
    /// The colour bar of a field. Its ticks are as shares of it.
    pub(crate) bar: Area,
    pub(crate) bar_ticks: Vec<Tick>,
}

/// What surrounds the area: the units before it in both directions, and after it.
struct Surround {
    left: usize,
    top: usize,
    right: usize,
    foot: usize,
}

/// Makes layouts of a picture.
pub(crate) struct Layouts<'p> {
    pub(crate) picture: &'p Picture,
    pub(crate) letters: &'p Letters,
    /// The pixels that are asked for.
    pub(crate) asked: Option<Sides>,
}

impl Layouts<'_> {
    /// The layout of the picture.
    pub(crate) fn layout(&self) -> Layout {
        match &self.picture.drawn {
            Drawn::Field(sheet) => self.of_field(sheet),
            Drawn::Line(_, axis) => self.of_line(axis),
            Drawn::Histogram(counts) => self.of_histogram(counts),
        }
    }

    /// The width of the widest of some labels.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "labels of a picture")]
    fn widest(&self, ticks: &[Tick]) -> usize {
        ticks.iter().map(|(_, label)| self.letters.width(label, LETTER)).fold(0.0, f64::max).ceil() as usize
    }

    /// How many ticks have room along a horizontal axis: times and names are wide.
    fn count(&self, ticks: &[Tick], width: usize) -> usize {
        (width / (self.widest(ticks) + 18).max(60)).clamp(1, 12)
    }

    fn surround(&self, beside: &[Tick], foot: usize) -> Surround {
        let is_curve = !matches!(self.picture.drawn, Drawn::Field(_));
        let labels = if beside.is_empty() { 0 } else { self.widest(beside) + TICK + 4 };
        Surround {
            left: MARGIN + labels,
            top: TOP + LINE * (usize::from(is_curve) + usize::from(!self.picture.caption.is_empty())),
            right: 2 * MARGIN,
            foot,
        }
    }

    /// The units of the whole picture, if pixels are asked for.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        clippy::cast_precision_loss,
        reason = "lengths of a picture"
    )]
    fn whole(&self) -> Option<Sides> {
        let (width, height) = self.asked?;
        let scale = (width as f64 * height as f64 / UNITS).sqrt();
        let units = |pixels: usize| (pixels as f64 / scale).round() as usize;
        Some((units(width), units(height)))
    }

    /// The room for the area within its surround.
    fn room(&self, around: &Surround) -> Option<Sides> {
        let (width, height) = self.whole()?;
        let room = |whole: usize, before: usize, after: usize| whole.saturating_sub(before + after).max(LEAST);
        Some((room(width, around.left, around.right), room(height, around.top, around.foot)))
    }

    /// The layout with an area of this size. `gap` is the height between it and the colour bar.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a title")]
    fn around(&self, around: &Surround, (width, height): Sides, axes: [Vec<Tick>; 2], gap: usize) -> Layout {
        let [below, beside] = axes;
        let text = |text: &str, size: f64| self.letters.width(text, size).ceil() as usize + 2 * MARGIN;
        let title = text(&self.picture.title, TITLE).max(text(&self.picture.caption, LETTER));
        let most = around.left + SIDE + around.right;
        let own = (around.left + width.max(BAR) + around.right).max(title.min(most));
        let units = self.whole().unwrap_or((own, around.top + height + around.foot));
        let size = Size {
            units,
            pixels: self.asked.unwrap_or((SCALE * units.0, SCALE * units.1)),
            is_asked: self.asked.is_some(),
        };
        // In a wider picture, the area stands in the middle.
        let room = self.room(around).map_or(width, |room| room.0);
        let x = around.left + room.saturating_sub(width) / 2;
        let wide = width.max(BAR).min(units.0.saturating_sub(x + MARGIN).max(LEAST));
        let bar = Area { x, y: around.top + height + gap, width: wide, height: 14 };
        Layout { area: Area { x, y: around.top, width, height }, size, below, beside, bar, bar_ticks: Vec::new() }
    }

    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        clippy::cast_precision_loss,
        reason = "lengths of a picture"
    )]
    fn of_field(&self, sheet: &Sheet) -> Layout {
        let [rows, columns] = &sheet.axes;
        let gap = if columns.ticks(12).is_empty() { 14 } else { 34 };
        let units = if self.picture.has_foot() { LINE } else { 0 };
        let missing = if sheet.has_missing() { 20 } else { 0 };
        let around = self.surround(&rows.ticks(12), gap + 48 + units + missing);
        let longest = sheet.field.rows().max(sheet.field.columns());
        let side = if sheet.map.is_some() { SIDE } else { SIDE.min((longest * CELL).max(BAR)) };
        let (room, ratio) = (self.room(&around).unwrap_or((side, side)), sheet.ratio());
        let width = (room.0 as f64).min(room.1 as f64 * ratio);
        let fits = |length: f64, room: usize| (length.round() as usize).clamp(LEAST.min(room), room);
        let (width, height) = (fits(width, room.0), fits(width / ratio, room.1));
        let below = columns.ticks(self.count(&columns.ticks(12), width));
        let axes = [below, rows.ticks((height / 30).clamp(2, 12))];
        let mut layout = self.around(&around, (width, height), axes, gap);
        layout.bar_ticks = self.value_ticks(layout.bar.width);
        layout
    }

    /// Levels stand upright, and values run to the right.
    fn of_profile(&self, axis: &Axis) -> Layout {
        let around = self.surround(&axis.ticks(100), if self.picture.units.is_empty() { 38 } else { 58 });
        let room = self.room(&around).unwrap_or(PROFILE);
        let ticks = [self.value_ticks(room.0), axis.ticks((room.1 / 18).max(2))];
        self.around(&around, room, ticks, 0)
    }

    fn of_line(&self, axis: &Axis) -> Layout {
        if matches!(axis, Axis::Levels(..)) {
            return self.of_profile(axis);
        }
        // Shares of the area are counted from its top.
        let beside: Vec<Tick> = self.picture.ticks(7).into_iter().map(|(share, label)| (1.0 - share, label)).collect();
        let foot = if axis.name().is_empty() { 38 } else { 58 };
        let around = self.surround(&beside, foot);
        let room = self.room(&around).unwrap_or((SIDE, CURVE_HEIGHT));
        let below = axis.ticks(self.count(&axis.ticks(12), room.0));
        self.around(&around, room, [below, beside], 0)
    }

    #[expect(clippy::cast_precision_loss, reason = "a picture")]
    fn of_histogram(&self, counts: &Counts) -> Layout {
        let most = counts.most() as f64;
        let count = |value: f64| (1.0 - value / most, number(value, 9));
        let beside: Vec<Tick> = ticks((0.0, most), 7, true).into_iter().map(count).collect();
        let around = self.surround(&beside, 58);
        let room = self.room(&around).unwrap_or((SIDE, CURVE_HEIGHT));
        self.around(&around, room, [self.value_ticks(room.0), beside], 0)
    }

    /// Ticks at round values of the range, as many as have room along a horizontal line.
    fn value_ticks(&self, width: usize) -> Vec<Tick> {
        let most = self.count(&self.picture.ticks(12), width).min(10);
        self.picture.ticks(most.max(2))
    }
}
