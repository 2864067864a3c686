//! `tgm plot` draws the values of an object.

use std::fs;

use tgm_std::deps::ciborium::Value;
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
    assert_eq!(lines[..3], ["t<1> [K]", "message 0, object 0, 2x4", "=+#+"], "{}", plain.text());
    assert!(lines[3].starts_with("0 K .") && lines[3].ends_with("@ 6 K"), "{}", lines[3]);
    let coloured = tgm(["plot", "--depth", "true", &path]).good();
    let line = coloured.text().lines().nth(2).unwrap();
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
        let picture: Vec<_> = run.text().lines().skip_while(|line| !line.contains("181x360")).skip(1).collect();
        let (_, field) = picture.split_last().unwrap();
        assert!(field.iter().all(|line| line.chars().count() <= width.parse().unwrap()), "{}", run.text());
        let lines = (181 * width.parse::<usize>().unwrap()).div_ceil(360).div_ceil(2);
        assert_eq!(field.len(), lines, "{}", run.text());
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
    assert!(svg.contains("t&lt;1&gt; [K]") && svg.contains(">K<"), "{svg}");
    // Round numbers stand below the bar.
    let bar: Vec<_> = svg.split("middle\">").skip(1).filter_map(|text| text.split('<').next()).collect();
    assert!(bar.ends_with(&["0", "2", "4", "6", "K"]), "{bar:?}");
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

/// The colours of both ends of the bar, and the numbers below it.
fn bar(svg: &str) -> ([String; 2], Vec<String>) {
    let (cells, rest) = svg.rsplit_once("</g>").unwrap();
    let steps: Vec<_> = rest.split("height=\"14\" fill=\"").skip(1).map(|text| text[..7].to_string()).collect();
    assert!(cells.contains("<g ") && steps.len() > 100, "{svg}");
    let (_, below) = rest.rsplit_once("height=\"14\"").unwrap();
    let numbers = below.split("middle\">").skip(1).filter_map(|text| text.split('<').next());
    ([steps[0].clone(), steps[steps.len() - 1].clone()], numbers.map(String::from).collect())
}

/// Winds, rates and differences have 0 in the middle of their colours. Other quantities have all of a palette.
#[test]
fn palettes_are_chosen_by_what_is_drawn() {
    let folder = Folder::new();
    let values = [-1.0, 0.0, 3.0, 4.0];
    let message = MessageBuilder::new()
        .object(variable("u10", &["y", "x"], &[2, 2], &values, "m s**-1"))
        .object(variable("t", &["y", "x"], &[2, 2], &values, "degC"))
        .object(variable("t_anomaly", &["y", "x"], &[2, 2], &[0.0; 4], "K"));
    let path = folder.file("in.tgm", &message.encode().unwrap());
    let plot = |object: &str, flags: &[&str]| {
        bar(tgm(["plot", "--svg", "--object", object, &path].iter().chain(flags)).good().text())
    };
    let is_of = |found: &([String; 2], Vec<String>), first: &str, last: &str| {
        let near = |colour: &str, other: &str| {
            let part = |text: &str, at: usize| i32::from_str_radix(&text[at..at + 2], 16).unwrap();
            [1, 3, 5].into_iter().all(|at| (part(colour, at) - part(other, at)).abs() < 6)
        };
        near(&found.0[0], first) && near(&found.0[1], last)
    };
    let (viridis, coolwarm) = (["#440154", "#fde725"], ["#3b4cc0", "#b40426"]);
    let ends = |text: &str| text.split('|').map(String::from).collect::<Vec<_>>();
    for (object, flags, [first, last], numbers) in [
        ("0", &[][..], coolwarm, "-2.5|0|2.5|m s**-1"),
        ("1", &[], viridis, "0|2|4|degC"),
        ("0", &["--range", "-2,2"], coolwarm, "-2|0|2|m s**-1"),
        // 0 would not be the middle.
        ("0", &["--range", "0,4"], viridis, "0|2|4|m s**-1"),
        ("1", &["--palette", "coolwarm"], coolwarm, "-2.5|0|2.5|degC"),
        ("1", &["--palette", "coolwarm", "--range", "1,3"], coolwarm, "1|2|3|degC"),
        ("0", &["--palette", "magma"], ["#000004", "#fcfdbf"], "0|2|4|m s**-1"),
        ("0", &["--palette", "greys"], ["#ffffff", "#000000"], "0|2|4|m s**-1"),
        ("2", &[], viridis, "0|K"),
    ] {
        let found = plot(object, flags);
        assert!(is_of(&found, first, last), "{object} {flags:?}: {found:?}");
        assert_eq!(found.1, ends(numbers), "{object} {flags:?}");
    }
}

/// Letters are as large in relation to the picture, and SVG has the layout of PNG.
#[test]
fn pictures_have_the_size_that_is_asked_for() {
    let folder = Folder::new();
    let path = small(&folder);
    for (object, flag) in [("0", "--svg"), ("1", "--svg"), ("0", "--histogram")] {
        for size in ["1920x1080", "200x200", "300x5000", "1281x721"] {
            let flags = ["plot", "--object", object, flag, "--size", size, path.as_str()];
            let png = tgm(flags.iter().filter(|it| **it != "--svg").chain(&["--format", "png"])).good().stdout;
            let side = |at: usize| u32::from_be_bytes(png[at..at + 4].try_into().unwrap());
            assert_eq!(format!("{}x{}", side(16), side(20)), size, "{object} {flag}");
            let svg = tgm(flags.iter().filter(|it| **it != "--svg").chain(&["--svg"])).good();
            let (width, height) = size.split_once('x').unwrap();
            assert!(svg.text().contains(&format!("width=\"{width}\" height=\"{height}\" viewBox")), "{}", svg.text());
        }
    }
    for wrong in ["0x0", "199x300", "99999x99999", "800", "-800x600"] {
        assert_eq!(tgm(["plot", "--svg", &format!("--size={wrong}"), &path]).code, Some(2), "{wrong}");
    }
    assert_eq!(tgm(["plot", "--size", "800x600", &path]).code, Some(2));
}

#[test]
fn histograms_count_what_is_drawn_and_say_what_is_not() {
    let folder = Folder::new();
    let path = small(&folder);
    let run = tgm(["plot", "--histogram=3", "--width", "12", "--range", "0,5", &path]).good();
    let lines: Vec<_> = run.text().lines().skip(2).collect();
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

#[test]
fn values_over_many_messages_are_drawn() {
    let folder = Folder::new();
    let path = folder.file("steps.tgm", &crate::datasets::steps());
    let run = tgm(["plot", "--cube", "t2m", "--over", "step", "--sel", "number=0", "--nearest", "49,11", &path]).good();
    let lines: Vec<_> = run.text().lines().collect();
    assert_eq!(
        lines[..2],
        ["t2m: 2 metre temperature [K]", "50N 10E, 2024-02-29 12:00 UTC, member 0"],
        "{}",
        run.text()
    );
    assert_eq!((lines[2], lines[19], lines[20]), ("12.5 K", "0.5 K", "step [h]: 0 … 12"), "{}", run.text());
    // Labels are as far apart as the steps.
    let svg = tgm([
        "plot",
        "--cube",
        "t2m",
        "--over",
        "step",
        "--sel",
        "number=0,step=0/12",
        "--nearest",
        "49,11",
        "--svg",
        &path,
    ])
    .good();
    assert!(svg.text().contains(">step [h]<") && svg.text().contains(">12</text>"), "{}", svg.text());
    let map = tgm(["plot", "--cube", "t2m", "--sel", "number=0,step=6", "--svg", &path]).good();
    for text in ["2024-02-29 12:00 UTC + 6 h, member 0<", ">60N<", ">10E<", "id=\"coast\""] {
        assert!(map.text().contains(text), "{text}: {}", map.text());
    }
    // A field of two dimensions that are not of a grid, and a series over two files.
    let table = tgm([
        "plot",
        "--cube",
        "t2m",
        "--over",
        "step,number",
        "--sel",
        "number=0/1,step=0/6",
        "--nearest",
        "50,10",
        &path,
    ])
    .good();
    assert!(
        table.text().contains("number by step [h]") || table.text().contains("step [h] by number"),
        "{}",
        table.text()
    );
    let (one, other) = (folder.path("one.tgm"), folder.path("other.tgm"));
    tgm(["copy", "-w", "mars.step=0", &path, &one]).good();
    tgm(["copy", "-w", "mars.step=6", &path, &other]).good();
    let both =
        tgm(["plot", "--cube", "t2m", "--over", "step", "--sel", "number=1", "--nearest", "50,10", &one, &other])
            .good();
    assert!(both.text().contains("step [h]: 0 … 6"), "{}", both.text());
}

/// What lies along a dimension of the grid is a section, at the nearest point of the other one.
#[test]
fn the_nearest_point_leaves_the_dimension_that_is_drawn() {
    let folder = Folder::new();
    let path = folder.file("steps.tgm", &crate::datasets::steps());
    let plot = |over: &str, more: &[&str]| {
        let flags = ["plot", "--cube", "t2m", "--sel", "number=0", "--over", over, "--nearest", "49,11", path.as_str()];
        tgm(flags.iter().chain(more))
    };
    let section = plot("step,latitude", &["--svg"]).good();
    for text in ["by latitude<", ">60N<", ">40N<", "10E, 2024-02-29 12:00 UTC, member 0, step [h]"] {
        assert!(section.text().contains(text), "{text}: {}", section.text());
    }
    let line = plot("longitude", &["--sel", "step=6"]).good();
    assert!(line.text().contains("50N, 2024") && line.text().contains("longitude: 0 … 30E"), "{}", line.text());
    for (over, more, why) in [
        ("latitude,longitude", &["--sel", "step=6"][..], "--nearest picks latitude and longitude"),
        ("step", &["--sel", "latitude=50"], "--sel and --nearest both pick of latitude"),
    ] {
        let run = plot(over, more);
        assert!(run.code == Some(1) && run.stderr.contains(why), "{over}: {}", run.stderr);
    }
    // A series has the same rules.
    let rows = tgm([
        "cat",
        "--csv",
        "--cube",
        "t2m",
        "--sel",
        "number=0,step=6",
        "--over",
        "latitude",
        "--nearest",
        "49,11",
        &path,
    ])
    .good();
    assert_eq!(rows.text(), "latitude,longitude,t2m\n60,10,6.1\n50,10,6.5\n40,10,6.9\n");
}

/// Names of dimensions, labels and units come from files: none of them reaches a terminal or an SVG as it is.
#[test]
fn names_and_labels_of_axes_are_escaped() {
    let folder = Folder::new();
    let evil = "e\u{1b}]0;x\u{7}\u{202e}<&>";
    let values: Vec<f64> = (0..6_u8).map(f64::from).collect();
    let labels = Value::Map(vec![
        ("dimensions".into(), Value::Array(vec![evil.into()])),
        ("shape".into(), Value::Array(vec![2.into()])),
        ("values".into(), Value::Array(vec!["\0\u{1b}]0;x".into(), "b".into()])),
    ]);
    let message = MessageBuilder::new()
        .object(variable("v", &[evil, "y"], &[2, 3], &values, evil))
        .extra("texts", Value::Map(vec![(evil.into(), labels)]));
    let path = folder.file("evil.tgm", &message.encode().unwrap());
    for over in [evil, "y", &format!("{evil},y")] {
        let sel = if over == "y" { format!("{evil}=b") } else { "y=0..1".to_string() };
        for form in ["text", "svg"] {
            let sel = if over == evil { "y=0".to_string() } else { sel.clone() };
            let run = tgm([
                "plot", "--cube", "v", "--over", over, "--sel", &sel, "--format", form, "--depth", "plain", &path,
            ]);
            assert_eq!(run.code, Some(0), "{over:?} {form}: {}", run.stderr);
            let is_safe = |c: char| c == '\n' || !(c.is_control() || c == '\u{202e}');
            assert!(run.text().chars().all(is_safe), "{over:?} {form}: {:?}", run.text());
            assert!(over == "y" || run.text().contains("\\u{1b}]0;x"), "{over:?} {form}: {:?}", run.text());
        }
    }
}

/// Points of land of some models all lie at 0, 0.
#[test]
#[expect(clippy::cast_precision_loss, reason = "numbers are small")]
fn many_points_in_one_place_are_drawn_as_fast_as_others() {
    let folder = Folder::new();
    let count = 160_000_usize;
    let at =
        |point: usize| if point < 400 { (40.0 + (point / 20) as f64, 10.0 + (point % 20) as f64) } else { (0.0, 0.0) };
    let latitudes: Vec<f64> = (0..count).map(|point| at(point).0).collect();
    let longitudes: Vec<f64> = (0..count).map(|point| at(point).1).collect();
    let values: Vec<f64> = (0..count).map(|point| (point % 7) as f64).collect();
    let shape = [count as u64];
    let message = MessageBuilder::new()
        .object(variable("v", &["x"], &shape, &values, "K"))
        .object(variable("lat", &["x"], &shape, &latitudes, "degrees_north"))
        .object(variable("lon", &["x"], &shape, &longitudes, "degrees_east"));
    let path = folder.file("land.tgm", &message.encode().unwrap());
    let begin = std::time::Instant::now();
    let run = tgm(["plot", "--cube", "v", "--svg", &path]).good();
    assert!(run.text().contains("id=\"coast\""));
    assert!(begin.elapsed().as_secs() < 60, "{:?}", begin.elapsed());
}

#[test]
fn what_is_not_one_picture_of_a_dataset_is_refused() {
    let folder = Folder::new();
    let path = folder.file("steps.tgm", &crate::datasets::steps());
    for (flags, error) in [
        (&["--sel", "step=6,number=0"][..], "--cube NAME says which of t2m, u10 is drawn"),
        (&["--cube", "t2m"], "2 of number, 3 of step; --sel DIM=LABEL picks one"),
        (
            &["--cube", "t2m", "--over", "step", "--sel", "number=0"],
            "3 of latitude, 4 of longitude; --sel DIM=LABEL picks one, and --nearest",
        ),
        (&["--over", "step", "--nearest", "50,10"], "--cube NAME says which of t2m, u10 is drawn"),
        (&["--over", "height"], "no variable has the dimension height"),
        (&["--cube", "t2m", "--over", "height"], "t2m has no dimension height"),
        (&["--cube", "x"], "there is no variable x"),
        (&["--units", "hPa"], "values in K can be in degC, degF, not in hPa"),
    ] {
        let run = tgm(["plot", &path].iter().chain(flags));
        assert!(run.code == Some(1) && run.stderr.contains(error), "{flags:?}: {}", run.stderr);
    }
    for flags in [&["--cube", "t2m", "-m", "0"][..], &["--cube", "t2m", "--slice", "0"], &["--nearest", "50,10"]] {
        assert_eq!(tgm(["plot", &path].iter().chain(flags)).code, Some(2), "{flags:?}");
    }
}

#[test]
fn values_have_other_units_if_they_can() {
    let folder = Folder::new();
    let path = small(&folder);
    let run = tgm(["plot", "--units", "celsius", &path]).good();
    assert!(run.text().starts_with("t<1> [°C]\n") && run.text().contains("-273.15 °C"), "{}", run.text());
    let run = tgm(["plot", "--units", "degC", "--object", "1", &path]);
    assert!(run.code == Some(1) && run.stderr.contains("values without units"), "{}", run.stderr);
}

pub(crate) fn variable<'v>(
    name: &str,
    dims: &[&str],
    shape: &[u64],
    values: &'v [f64],
    units: &str,
) -> ObjectBuilder<'v> {
    let dims = Value::Array(dims.iter().map(|name| Value::from(*name)).collect());
    let attributes = Value::Map(vec![("units".into(), units.into())]);
    let object = ObjectBuilder::new(shape, values).unwrap();
    object.metadata("name", name).metadata("dimensions", dims).metadata("attributes", attributes)
}

/// Coordinates that are objects of the same file, on rows and columns and at points.
#[test]
fn variables_of_files_lie_where_their_coordinates_say() {
    let folder = Folder::new();
    let rows = MessageBuilder::new()
        .object(variable("t", &["lat", "lon"], &[2, 3], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0], "K"))
        .object(variable("lat", &["lat"], &[2], &[40.0, 50.0], "degrees_north"))
        .object(variable("lon", &["lon"], &[3], &[0.0, 10.0, 20.0], "degrees_east"));
    let path = folder.file("rows.tgm", &rows.encode().unwrap());
    let run = tgm(["plot", "--width", "40", &path]).good();
    assert!(
        run.text().starts_with("t [K]\n") && run.text().contains("50N") && run.text().contains("10E"),
        "{}",
        run.text()
    );
    // The last row is the northern one.
    assert!(run.text().lines().nth(2).unwrap().ends_with('@'), "{}", run.text());
    let points = MessageBuilder::new()
        .object(variable("t", &["cell"], &[4], &[1.0, 2.0, 3.0, 4.0], "K"))
        .object(variable("lat", &["cell"], &[4], &[40.0, 40.0, 50.0, 50.0], "degrees_north"))
        .object(variable("lon", &["cell"], &[4], &[0.0, 10.0, 0.0, 10.0], "degrees_east"));
    let path = folder.file("points.tgm", &points.encode().unwrap());
    let run = tgm(["plot", "--width", "40", &path]).good();
    assert!(run.text().contains("50N") && run.text().contains("message 0, object 0, 4"), "{}", run.text());
    let line = |text: &str| run.text().lines().find(|line| line.contains(text)).unwrap().trim_end().to_string();
    assert!(line("50N").ends_with('@') && line("40N").contains('.'), "{}", run.text());
}

/// Coordinates of points take twice the room of values.
#[cfg(feature = "grib")]
#[test]
fn coordinates_beyond_the_limit_are_not_computed() {
    let folder = Folder::new();
    let path = folder.path("reduced.tgm");
    tgm(["convert", &data("../data-grib/reduced_gg_pl_32.grib2"), "-o", &path]).good();
    let places = |bytes: &str| tgm(["plot", "--max-object-bytes", bytes, &path]).good().text().contains("60N");
    assert_eq!((places("60000"), places("100000")), (false, true));
}

#[cfg(feature = "grib")]
#[test]
fn coefficients_are_a_line_of_values_that_no_map_shows() {
    let folder = Folder::new();
    for (name, words, how) in [
        ("spectral-complex", ["J: ", "K: ", "M: "].as_slice(), "`cdo sp2gp` or MIR"),
        ("edition-1-spectral", ["J: ", "K: ", "M: "].as_slice(), "`cdo sp2gp` or MIR"),
        ("bi-fourier", ["biFourierResolutionParameterN: ", "biFourierTruncationType: "].as_slice(), "EPyGrAM"),
    ] {
        let path = folder.path(&format!("{name}.tgm"));
        tgm(["convert", &data(&format!("../data-grib/{name}.grib2")), "-o", &path]).good();
        let cube = tgm(["cube", &path]).good();
        assert!(cube.text().contains("(values): 1 object"), "{}", cube.text());
        assert!(
            !cube.text().contains("latitude") && words.iter().all(|word| cube.text().contains(word)),
            "{name}: {}",
            cube.text()
        );
        let json = tgm(["cube", "--json", &path]).good().json();
        let variable = json["datasets"][0]["variables"][0]["name"].as_str().unwrap().to_string();
        for line in [
            vec!["plot", &path],
            vec!["plot", "--cube", &variable, &path],
            vec!["plot", "--cube", &variable, "--nearest", "50,10", "--over", "values", &path],
            vec!["cat", "--nearest", "50,10", &path],
            vec!["cat", "--cube", &variable, "--nearest", "50,10", "--over", "values", &path],
        ] {
            let run = tgm(&line);
            let is_said = run.stderr.contains("which have no places") && run.stderr.contains(how);
            assert!(run.code == Some(1) && is_said, "{line:?}: {:?} {}", run.code, run.stderr);
        }
        // A line of coefficients is drawn where it is asked for.
        tgm(["plot", "--cube", &variable, "--over", "values", &path]).good();
    }
}
