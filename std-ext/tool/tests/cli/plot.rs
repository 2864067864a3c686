//! `tgm plot` draws the values of an object.

use std::fs;

use tgm_std::{EncodeOptions, MessageBuilder, ObjectBuilder};

use crate::corpus::data;
use crate::edits::Folder;
use crate::tool::tgm;

const SURFACE: &str = "realistic/surface-181x360.tgm";

/// A field of four columns and two rows with a hole, and a line.
fn small(folder: &Folder) -> String {
    let field = [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, f64::NAN];
    let bytes = MessageBuilder::new()
        .object(ObjectBuilder::new(&[2, 4], &field).unwrap().metadata("name", "t<1>").metadata("units", "K"))
        .object(ObjectBuilder::new(&[4], &[0_u8, 31, 15, 0]).unwrap())
        .object(ObjectBuilder::new(&[2, 2, 2], &[0_u8; 8]).unwrap())
        .options(EncodeOptions { allow_nan: true, ..EncodeOptions::default() })
        .encode()
        .unwrap();
    folder.file("in.tgm", &bytes)
}

#[test]
fn characters_and_colours_stand_for_values_and_holes_are_seen() {
    let folder = Folder::new();
    let path = small(&folder);
    // A character has the mean of two rows. The hole does not count.
    let plain = tgm(["plot", &path]).good();
    let lines: Vec<_> = plain.text().lines().collect();
    assert_eq!((lines[0], lines[1]), ("t<1>: message 0, object 0, 2x4", "=+#+"), "{}", plain.text());
    assert!(lines[2].starts_with("0 K .") && lines[2].ends_with("@ 6 K"), "{}", lines[2]);
    let coloured = tgm(["plot", "--depth", "true", &path]).good();
    let line = coloured.text().lines().nth(1).unwrap();
    assert_eq!(line.matches('▀').count(), 4);
    assert!(line.starts_with("\u{1b}[38;2;68;1;84;48;2;"), "{line:?}");
    assert!(line.ends_with("48;2;96;96;96m▀\u{1b}[0m"), "{line:?}");
    assert!(tgm(["plot", "--depth", "256", &path]).good().text().contains("\u{1b}[38;5;"));
    assert!(tgm(["plot", "--color", "always", &path]).good().text().contains("\u{1b}["));
}

#[test]
fn pictures_fit_the_width() {
    let path = data(SURFACE);
    for width in ["8", "40", "100"] {
        let run = tgm(["plot", "--width", width, &path]).good();
        let picture: Vec<_> = run.text().lines().skip(1).collect();
        let (_, field) = picture.split_last().unwrap();
        assert!(field.iter().all(|line| line.chars().count() <= width.parse().unwrap()), "{}", run.text());
        assert_eq!(field.len(), (181 * width.parse::<usize>().unwrap()).div_ceil(360).div_ceil(2));
    }
}

#[test]
fn a_line_reaches_from_its_bottom_to_its_top() {
    let folder = Folder::new();
    let run = tgm(["plot", "--object", "1", &small(&folder)]).good();
    let lines: Vec<_> = run.text().lines().collect();
    assert_eq!((lines.len(), lines[1], lines[18]), (19, "31", "0"), "{}", run.text());
    assert_eq!((lines[2], lines[17]), (" █▄", "▄▀ █"), "{}", run.text());
}

#[test]
fn svg_has_cells_a_bar_a_title_and_units() {
    let folder = Folder::new();
    let (path, out) = (small(&folder), folder.path("out.svg"));
    tgm(["plot", &path, "-O", &out]).good();
    let svg = fs::read_to_string(&out).unwrap();
    assert_eq!(tgm(["plot", "--svg", &path]).good().text(), svg);
    assert!(svg.starts_with("<svg ") && svg.ends_with("</svg>\n"), "{svg}");
    assert!(svg.contains("t&lt;1&gt;: message 0") && svg.contains(">0 K<") && svg.contains(">6 K<"), "{svg}");
    assert!(svg.contains("fill=\"#440154\"") && svg.contains("fill=\"#606060\"") && svg.contains(">missing<"));
    // Eight cells, and below them the bar.
    assert_eq!(svg.split("</g>").next().unwrap().matches("height=\"1\"").count(), 8, "{svg}");
    let line = tgm(["plot", "--format", "svg", "--object", "1", &path]).good();
    assert_eq!(line.text().matches('L').count(), 3, "{}", line.text());
    // The greatest value is at the top.
    let height = |label: &str| -> f64 {
        let row =
            line.text().lines().find(|row| row.contains(&format!(">{label}<")) && row.contains("\"end\"")).unwrap();
        row.split("y=\"").nth(1).unwrap().split('"').next().unwrap().parse().unwrap()
    };
    assert!(height("30") < height("0"), "{}", line.text());
}

#[test]
fn histograms_count_what_is_drawn_and_say_what_is_not() {
    let folder = Folder::new();
    let path = small(&folder);
    let run = tgm(["plot", "--histogram=3", "--width", "12", "--range", "0,5", &path]).good();
    let lines: Vec<_> = run.text().lines().skip(1).collect();
    let expected =
        ["      0 ██ 2", "1.66667 ██ 2", "3.33333 ██ 2", "    5 K", "not drawn: 1 missing, 1 outside of the range"];
    assert_eq!(lines, expected, "{}", run.text());
    // More than two dimensions need no --slice.
    assert_eq!(tgm(["plot", "--histogram", "--object", "2", &path]).good().text().lines().count(), 22);
    let svg = tgm(["plot", "--histogram", "--format", "svg", &path]).good();
    assert!(svg.text().contains(">values (not drawn: 1 missing)<") && svg.text().contains(">K<"), "{}", svg.text());
}

#[test]
fn the_form_is_that_of_the_name_unless_it_is_given() {
    let folder = Folder::new();
    let path = small(&folder);
    let png = tgm(["plot", "--format", "png", &path]).good().stdout;
    assert!(png.starts_with(b"\x89PNG\r\n\x1a\n"));
    for (name, flags, first) in [
        ("a.PNG", &[][..], &png[..8]),
        ("a.svg", &[], b"<svg"),
        ("a.svg", &["--format", "png"], &png[..8]),
        ("a.png", &["--svg"], b"<svg"),
        ("a.png", &["--format", "text"], b"t<1>"),
        ("a", &[], b"t<1>"),
    ] {
        let out = folder.path(name);
        tgm(["plot", &path, "-O", &out].iter().chain(flags)).good();
        assert!(fs::read(&out).unwrap().starts_with(first), "{name} {flags:?}");
    }
    assert_eq!(tgm(["plot", "--svg", "--format", "png", &path]).code, Some(2));
}

#[test]
fn what_has_no_picture_is_refused() {
    let folder = Folder::new();
    let path = small(&folder);
    let run = tgm(["plot", "--object", "2", &path]);
    assert!(run.code == Some(1) && run.stderr.contains("2x2x2 is not a field or line: --slice"), "{}", run.stderr);
    assert_eq!(tgm(["plot", "--object", "2", "--slice", "0", &path]).code, Some(0));
    let run = tgm(["plot", &data("dtypes/complex64-little.tgm")]);
    assert!(run.code == Some(1) && run.stderr.contains("complex numbers"), "{}", run.stderr);
    for wrong in [["--range", "1"], ["--range", "2,1"], ["--width", "1"], ["--depth", "3"]] {
        assert_eq!(tgm(["plot", wrong[0], wrong[1], &path]).code, Some(2), "{wrong:?}");
    }
}
