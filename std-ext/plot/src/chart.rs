//! Draws the parts of a picture where the layout has them: title, frame, axes, colour bar, labels.

use std::io;

use crate::arrow::{Arrow, Arrows};
use crate::axis::{Axis, Tick};
use crate::canvas::{
    ARROW, Anchor, Area, COAST, CONTOUR, CURVE, Canvas, Colour, LETTER, Label, NET, Size, Stroke, TITLE,
};
use crate::coast;
use crate::field::Field;
use crate::layout::{Layout, Layouts, MARGIN, SIDE, Sides, TICK};
use crate::letters::Letters;
use crate::lines::Lines;
use crate::picture::{Counts, Drawn, Picture, Sheet};
use crate::ticks::{number, ticks};

/// Units of a step of the colour bar.
const STEP: usize = 2;

/// Draws a picture on the canvas that `canvas` makes of a size. `asked` is its width and height in pixels.
///
/// # Errors
/// The errors of the writer.
pub fn draw<C: Canvas>(
    out: &mut dyn io::Write,
    picture: &Picture,
    asked: Option<Sides>,
    canvas: impl FnOnce(Size, Letters) -> C,
) -> io::Result<()> {
    let letters = Letters::new()?;
    let layout = Layouts { picture, letters: &letters, asked }.layout();
    let mut chart = Chart { canvas: canvas(layout.size, letters.clone()), layout, letters, picture };
    chart.draw_title();
    match &picture.drawn {
        Drawn::Field(sheet) => chart.draw_field(sheet),
        Drawn::Line(line, axis) => chart.draw_line(line, axis),
        Drawn::Histogram(counts) => chart.draw_histogram(counts),
    }
    chart.canvas.finish(out)
}

/// A picture that is being drawn.
struct Chart<'p, C> {
    canvas: C,
    layout: Layout,
    letters: Letters,
    picture: &'p Picture,
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

impl<C: Canvas> Chart<'_, C> {
    #[expect(clippy::cast_precision_loss, reason = "a width")]
    fn draw_title(&mut self) {
        let (width, height) = self.layout.size.units;
        self.canvas.fill(Area { x: 0, y: 0, width, height }, Colour::Paper);
        let room = width.saturating_sub(2 * MARGIN) as f64;
        let title = self.letters.shortened(&self.picture.title, TITLE, room);
        self.canvas.text(Label { text: &title, x: MARGIN, y: 22, anchor: Anchor::Start, is_title: true });
        let caption = self.letters.shortened(&self.picture.caption, LETTER, room);
        self.label(&caption, (MARGIN, 42), Anchor::Start);
    }

    fn label(&mut self, text: &str, (x, y): (usize, usize), anchor: Anchor) {
        self.canvas.text(Label { text, x, y, anchor, is_title: false });
    }

    /// Draws the ticks of both axes with their labels. `grid` says whether lines run through the area.
    fn draw_axes(&mut self, grid: bool) {
        let Area { x, y, width, height } = self.layout.area;
        let (right, bottom) = (x + width, y + height);
        for (share, label) in std::mem::take(&mut self.layout.below) {
            let at = x + along(width - 1, share);
            self.canvas.fill(Area { x: at, y: bottom, width: 1, height: TICK }, Colour::Frame);
            self.label(&label, (at, bottom + 14), Anchor::Middle);
        }
        for (share, label) in std::mem::take(&mut self.layout.beside) {
            let at = y + along(height - 1, share);
            self.canvas.fill(Area { x: x - TICK, y: at, width: TICK, height: 1 }, Colour::Frame);
            if grid {
                self.canvas.fill(Area { x, y: at, width: right - x, height: 1 }, Colour::Grid);
            }
            self.label(&label, (x - TICK - 4, at), Anchor::End);
        }
    }

    /// The width of the area, for a text that runs along it.
    #[expect(clippy::cast_precision_loss, reason = "a width")]
    const fn room(&self) -> f64 {
        self.layout.area.width as f64
    }

    /// Writes what the numbers of the vertical axis are, above the area.
    fn draw_above(&mut self, text: &str) {
        let text = self.letters.shortened(text, LETTER, self.room());
        let Area { x, y, .. } = self.layout.area;
        self.label(&text, (x, y - 14), Anchor::Start);
    }

    /// Writes what the horizontal axis is, below its labels.
    fn draw_below(&mut self, text: &str) {
        let text = self.letters.shortened(text, LETTER, self.room());
        let Area { x, y, width, height } = self.layout.area;
        self.label(&text, (x + width / 2, y + height + 34), Anchor::Middle);
    }

    #[expect(clippy::cast_precision_loss, reason = "few pixels")]
    fn draw_field(&mut self, sheet: &Sheet) {
        let area = self.layout.area;
        let Area { x, y, width, height } = area;
        self.canvas.cells(area, self.picture, sheet);
        let picture = self.picture;
        self.canvas.lines(area, &picture.over.contours, CONTOUR);
        if let Some(map) = &sheet.map {
            // Points nearer than half a unit are one.
            self.canvas.lines(area, &coast::within(map, map.degrees() / (2 * width) as f64), COAST);
            self.canvas.lines(area, &map.net(), NET);
        }
        if let Some(arrows) = &picture.over.arrows {
            self.canvas.lines(area, &arrows.lines((width as f64, height as f64)), ARROW);
        }
        // A round map has its own edge.
        if sheet.map.is_none_or(|map| !map.projection.is_round()) {
            self.canvas.frame(Area { x: x - 1, y: y - 1, width: width + 2, height: height + 2 });
        }
        self.draw_axes(false);
        self.draw_bar();
        if sheet.has_missing() {
            let Area { x, y, .. } = self.layout.bar;
            let y = y + if self.picture.has_foot() { 60 } else { 44 };
            self.canvas.fill(Area { x, y, width: 12, height: 12 }, Colour::Missing);
            self.label("missing", (x + 18, y + 6), Anchor::Start);
        }
    }

    /// Draws the colours of the range, with round numbers and the units below.
    #[expect(clippy::cast_precision_loss, reason = "few pixels")]
    fn draw_bar(&mut self) {
        let bar @ Area { x, y, width, height } = self.layout.bar;
        for at in (0..width).step_by(STEP) {
            let share = (at as f64 + STEP as f64 / 2.0) / width as f64;
            let step = Area { x: x + at, width: STEP.min(width - at), ..bar };
            self.canvas.fill(step, Colour::Share(self.picture.palette, share.min(1.0)));
        }
        for (share, label) in std::mem::take(&mut self.layout.bar_ticks) {
            let at = x + along(width - 1, share);
            self.canvas.fill(Area { x: at, y: y + height, width: 1, height: TICK }, Colour::Frame);
            self.label(&label, (at, y + height + 14), Anchor::Middle);
        }
        let units = self.letters.shortened(&self.picture.units, LETTER, width as f64 / 3.0);
        self.label(&units, (x + width / 2, y + height + 31), Anchor::Middle);
        if let Some(arrows) = &self.picture.over.arrows {
            self.draw_key(arrows);
        }
    }

    /// Draws the arrow of a round speed at the right, below the colour bar.
    #[expect(clippy::cast_precision_loss, reason = "lengths of a picture")]
    fn draw_key(&mut self, arrows: &Arrows) {
        let Area { x, y, width, height } = self.layout.bar;
        let speed = ticks((0.0, arrows.most), 4, false).last().copied().unwrap_or(arrows.most);
        let text =
            self.letters.shortened(&format!("{} {}", number(speed, 5), arrows.units), LETTER, width as f64 / 3.0);
        let (right, middle) = (x + width, y + height + 31);
        self.label(&text, (right, middle), Anchor::End);
        // The arrow is as long as in the map, and ends before the text.
        let (wide, high) = (self.layout.area.width as f64, self.layout.area.height as f64);
        let length = arrows.length(speed, (wide, high));
        let before = right as f64 - self.letters.width(&text, LETTER) - 8.0 - length / 2.0;
        let whole = (self.layout.size.units.0 as f64, self.layout.size.units.1 as f64);
        let at = (before / wide, middle as f64 / high);
        let lines = arrows.of(Arrow { at, along: (speed, 0.0) }, (wide, high));
        // From shares of the map to shares of the whole picture.
        let turned = |(x, y): (f64, f64)| (x * wide / whole.0, y * high / whole.1);
        let lines: Lines = lines.into_iter().map(|line| line.into_iter().map(turned).collect()).collect();
        let all = Area { x: 0, y: 0, width: self.layout.size.units.0, height: self.layout.size.units.1 };
        self.canvas.lines(all, &lines, Stroke { name: "key", ..ARROW });
    }

    #[expect(clippy::cast_precision_loss, reason = "few points")]
    fn draw_line(&mut self, line: &Field, axis: &Axis) {
        let picture = self.picture;
        if let Axis::Levels(name, levels) = axis {
            return self.draw_profile(line, name, levels);
        }
        self.draw_above(&picture.units);
        self.draw_axes(true);
        self.canvas.frame(self.layout.area);
        let columns = line.columns().min(2 * SIDE);
        let small = line.resized(1, columns);
        // Labels have their distances. If there are more than pixels, each pixel has the mean.
        let shares = match axis {
            Axis::Labels(_, all) if all.len() == columns => Some(all),
            _ => None,
        };
        let point = |column: usize| {
            let value = small.get(0, column)?;
            let even = (column as f64 + 0.5) / columns as f64;
            Some((shares.and_then(|all| all.get(column)).map_or(even, |tick| tick.0), 1.0 - picture.share(value)))
        };
        let points: Vec<Option<(f64, f64)>> = (0..columns).map(point).collect();
        self.draw_curve(&points);
        self.draw_below(axis.name());
    }

    /// Draws a curve, which is broken where there is no point.
    fn draw_curve(&mut self, points: &[Option<(f64, f64)>]) {
        let runs = points.split(Option::is_none).filter(|run| !run.is_empty());
        let runs: Lines = runs.map(|run| run.iter().flatten().copied().collect()).collect();
        self.canvas.lines(self.layout.area, &runs, CURVE);
    }

    /// Draws a line of levels, which are above each other.
    fn draw_profile(&mut self, line: &Field, name: &str, levels: &[Tick]) {
        let picture = self.picture;
        self.draw_above(name);
        self.draw_axes(true);
        self.canvas.frame(self.layout.area);
        let point = |(at, (share, _)): (usize, &Tick)| line.get(0, at).map(|value| (picture.share(value), *share));
        let points: Vec<Option<(f64, f64)>> = levels.iter().enumerate().map(point).collect();
        self.draw_curve(&points);
        self.draw_below(&picture.units);
    }

    #[expect(clippy::cast_precision_loss, reason = "few parts")]
    fn draw_histogram(&mut self, histogram: &Counts) {
        let Area { x, y, width, height } = self.layout.area;
        let rest = histogram.rest().map_or(String::new(), |rest| format!(" ({rest})"));
        self.draw_above(&format!("values{rest}"));
        self.draw_axes(true);
        let parts = histogram.counts.len();
        for (part, count) in histogram.counts.iter().enumerate() {
            let [from, to] = [part, part + 1].map(|part| along(width, part as f64 / parts as f64));
            let bar = along(height, *count as f64 / histogram.most() as f64).max(usize::from(*count > 0));
            // A blank between bars, where there is room for it.
            let gap = usize::from(to - from > 3);
            let bar = Area { x: x + from, y: y + height - bar, width: to - from - gap, height: bar };
            self.canvas.fill(bar, Colour::Curve);
        }
        self.canvas.frame(self.layout.area);
        self.draw_below(&self.picture.units);
    }
}
