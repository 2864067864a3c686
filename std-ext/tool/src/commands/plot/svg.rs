//! Pictures as SVG.

use std::fmt::Write as _;
use std::io;

use crate::commands::plot::chart::{Anchor, Area, Canvas, Colour, Label};
use crate::commands::plot::coast::Lines;
use crate::commands::plot::picture::{Cell, Picture, Sheet};

/// The least side of a cell. A field takes one or two megabytes at most then.
const CELL: usize = 4;

/// An SVG document in the making.
pub(crate) struct Svg(String);

impl Svg {
    /// A picture of this size.
    pub(crate) fn new(width: usize, height: usize) -> Self {
        Self(format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" font-family=\"sans-serif\" \
             font-size=\"12\">\n"
        ))
    }

    fn line(&mut self, line: std::fmt::Arguments<'_>) {
        // Writing to a String cannot fail.
        let _ = writeln!(self.0, "{line}");
    }
}

impl Canvas for Svg {
    fn fill(&mut self, Area { x, y, width, height }: Area, colour: Colour) {
        let fill = hex(colour);
        self.line(format_args!(
            "<rect x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" fill=\"{fill}\" \
             shape-rendering=\"crispEdges\"/>"
        ));
    }

    fn frame(&mut self, Area { x, y, width, height }: Area) {
        // A line is half a unit to each side of its path.
        let (width, height, stroke) = (width - 1, height - 1, hex(Colour::Frame));
        self.line(format_args!(
            "<path d=\"M{x}.5 {y}.5h{width}v{height}h-{width}z\" fill=\"none\" stroke=\"{stroke}\"/>"
        ));
    }

    /// Runs of one colour are one rectangle.
    #[expect(clippy::cast_precision_loss, reason = "few cells")]
    fn cells(&mut self, area: Area, picture: &Picture, sheet: &Sheet) {
        let (rows, columns) =
            (sheet.field.rows().min(area.height / CELL), sheet.field.columns().min(area.width / CELL));
        let small = sheet.resized(rows, columns);
        self.line(format_args!(
            "<g transform=\"translate({} {}) scale({} {})\" shape-rendering=\"crispEdges\">",
            area.x,
            area.y,
            area.width as f64 / columns as f64,
            area.height as f64 / rows as f64
        ));
        for row in 0..rows {
            let fill = |column: usize| hex(Colour::of(picture, small.cell(row, column)));
            let mut start = 0;
            while start < columns {
                let colour = fill(start);
                let same = (start..columns).take_while(|&column| fill(column) == colour).count();
                if small.cell(row, start) == Cell::Outside {
                    start += same;
                    continue;
                }
                self.line(format_args!(
                    "<rect x=\"{start}\" y=\"{row}\" width=\"{same}\" height=\"1\" fill=\"{colour}\"/>"
                ));
                start += same;
            }
        }
        self.line(format_args!("</g>"));
    }

    /// Black lines with a pale edge.
    #[expect(clippy::cast_precision_loss, reason = "few points")]
    fn lines(&mut self, area: Area, lines: &Lines) {
        let mut path = String::new();
        for line in lines {
            for (at, (x, y)) in line.iter().enumerate() {
                let (x, y) = (area.x as f64 + area.width as f64 * x, area.y as f64 + area.height as f64 * y);
                let _ = write!(path, "{}{x:.1} {y:.1}", if at == 0 { 'M' } else { 'L' });
            }
        }
        if !path.is_empty() {
            self.line(format_args!(
                "<defs><path id=\"coast\" d=\"{path}\" fill=\"none\" stroke-linejoin=\"round\"/></defs>\n\
                 <use href=\"#coast\" stroke=\"#fff\" stroke-opacity=\"0.5\" stroke-width=\"2\"/>\n\
                 <use href=\"#coast\" stroke=\"#000\" stroke-width=\"0.8\"/>"
            ));
        }
    }

    #[expect(clippy::cast_precision_loss, reason = "few points")]
    fn curve(&mut self, area: Area, points: &[Option<(f64, f64)>]) {
        let (mut path, mut dots) = (String::new(), String::new());
        for run in points.split(Option::is_none).filter(|run| !run.is_empty()) {
            let places = run.iter().flatten().map(|(x, y)| {
                format!("{:.2} {:.2}", area.x as f64 + area.width as f64 * x, area.y as f64 + area.height as f64 * y)
            });
            let places: Vec<_> = places.collect();
            // A point alone is a line of no length, which round ends make a dot.
            let _ = match &*places {
                [alone] => write!(dots, "M{alone}h0"),
                _ => write!(path, "M{}", places.join("L")),
            };
        }
        let stroke = hex(Colour::CURVE);
        for (path, width) in [(path, "1.5"), (dots, "4")] {
            if !path.is_empty() {
                self.line(format_args!(
                    "<path d=\"{path}\" fill=\"none\" stroke=\"{stroke}\" stroke-width=\"{width}\" \
                     stroke-linecap=\"round\" stroke-linejoin=\"round\"/>"
                ));
            }
        }
    }

    fn text(&mut self, Label { text, x, y, anchor, is_title }: Label<'_>) {
        let anchor = match anchor {
            Anchor::Start => "",
            Anchor::Middle => " text-anchor=\"middle\"",
            Anchor::End => " text-anchor=\"end\"",
        };
        let size = if is_title { " font-size=\"16\"" } else { "" };
        // From the middle of the line to the foot of its letters.
        let y = y + if is_title { 6 } else { 4 };
        self.line(format_args!("<text x=\"{x}\" y=\"{y}\"{anchor}{size}>{}</text>", xml(text)));
    }

    fn finish(self, out: &mut dyn io::Write) -> io::Result<()> {
        writeln!(out, "{}</svg>", self.0)
    }
}

fn hex(colour: Colour) -> String {
    let [red, green, blue] = colour.rgb();
    format!("#{red:02x}{green:02x}{blue:02x}")
}

/// Text in XML.
fn xml(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
