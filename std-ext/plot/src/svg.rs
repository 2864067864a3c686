//! Pictures as SVG.

use std::fmt::Write as _;
use std::io;

use crate::canvas::{Anchor, Area, Canvas, Colour, LETTER, Label, Size, Stroke, TITLE};
use crate::lines::Lines;
use crate::picture::{Cell, Picture, Sheet};

/// The least side of a cell. A field takes one or two megabytes at most then.
const CELL: usize = 4;

/// An SVG document in the making.
#[derive(Debug)]
pub struct Svg(String);

impl Svg {
    /// A picture of this size. Its letters are as in PNG. A program without this font takes another one, which is not wider.
    pub fn new(Size { units: (width, height), pixels, is_asked }: Size) -> Self {
        let asked = if is_asked { format!(" width=\"{}\" height=\"{}\"", pixels.0, pixels.1) } else { String::new() };
        Self(format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\"{asked} viewBox=\"0 0 {width} {height}\" \
             font-family=\"DejaVu Sans, Verdana, sans-serif\" font-size=\"{LETTER}\">\n"
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

    /// A line of one point is a line of no length, which round ends make a dot.
    #[expect(clippy::cast_precision_loss, reason = "few points")]
    fn lines(&mut self, area: Area, lines: &Lines, Stroke { name, colour, width, edge }: Stroke) {
        let (mut path, mut dots) = (String::new(), String::new());
        for line in lines {
            let is_alone = line.len() == 1;
            let to = if is_alone { &mut dots } else { &mut path };
            for (at, (x, y)) in line.iter().enumerate() {
                let (x, y) = (area.x as f64 + area.width as f64 * x, area.y as f64 + area.height as f64 * y);
                let _ = write!(to, "{}{x:.1} {y:.1}", if at == 0 { 'M' } else { 'L' });
            }
            if is_alone {
                to.push_str("h0");
            }
        }
        let stroke = hex(colour);
        let round = "fill=\"none\" stroke-linejoin=\"round\" stroke-linecap=\"round\"";
        if !path.is_empty() {
            self.line(format_args!("<defs><path id=\"{name}\" d=\"{path}\" {round}/></defs>"));
            if edge > 0.0 {
                self.line(format_args!(
                    "<use href=\"#{name}\" stroke=\"#fff\" stroke-opacity=\"0.5\" stroke-width=\"{edge}\"/>"
                ));
            }
            self.line(format_args!("<use href=\"#{name}\" stroke=\"{stroke}\" stroke-width=\"{width}\"/>"));
        }
        if !dots.is_empty() {
            let width = 2.0 * width;
            self.line(format_args!("<path d=\"{dots}\" {round} stroke=\"{stroke}\" stroke-width=\"{width}\"/>"));
        }
    }

    fn text(&mut self, label: Label<'_>) {
        let Label { text, x, y, anchor, is_title } = label;
        let anchor = match anchor {
            Anchor::Start => "",
            Anchor::Middle => " text-anchor=\"middle\"",
            Anchor::End => " text-anchor=\"end\"",
        };
        let size = if is_title { format!(" font-size=\"{TITLE}\"") } else { String::new() };
        let y = y + label.size().1;
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
