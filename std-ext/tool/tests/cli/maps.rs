//! Projections, contours, arrows and levels of `tgm plot`, read from its SVG.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use tgm_std::{EncodeOptions, MessageBuilder};

use crate::edits::Folder;
use crate::plot::variable;
use crate::tool::tgm;

/// A globe of 37 × 72 points with a temperature that is the latitude, and a wind from the west and one from the south.
fn globe(folder: &Folder) -> String {
    let latitudes: Vec<f64> = (0..37).map(|row| 90.0 - 5.0 * f64::from(row)).collect();
    let longitudes: Vec<f64> = (0..72).map(|column| 5.0 * f64::from(column)).collect();
    let values: Vec<f64> = latitudes.iter().flat_map(|latitude| [*latitude; 72]).collect();
    let (ones, zeros) = (vec![8.0; 37 * 72], vec![0.0; 37 * 72]);
    let grid = |name, values| variable(name, &["lat", "lon"], &[37, 72], values, "m s-1");
    let message = MessageBuilder::new()
        .object(grid("t", &values))
        .object(grid("west", &ones))
        .object(grid("south", &zeros))
        .object(variable("lat", &["lat"], &[37], &latitudes, "degrees_north"))
        .object(variable("lon", &["lon"], &[72], &longitudes, "degrees_east"));
    folder.file("globe.tgm", &message.encode().unwrap())
}

fn svg(path: &str, flags: &[&str]) -> String {
    tgm(["plot", "--svg", path].iter().chain(flags)).good().text().to_string()
}

/// The points of each line of the path of a name, in units of the picture.
fn lines(svg: &str, name: &str) -> Vec<Vec<(f64, f64)>> {
    let Some(path) = svg.split(&format!("id=\"{name}\" d=\"")).nth(1).and_then(|rest| rest.split('"').next()) else {
        return Vec::new();
    };
    let point = |text: &str| {
        let (x, y) = text.split_once(' ').unwrap();
        (x.parse().unwrap(), y.parse().unwrap())
    };
    path.split('M').skip(1).map(|line| line.split('L').map(point).collect()).collect()
}

/// The left, top, width and height of the cells of a field.
fn area(svg: &str) -> [f64; 4] {
    let cells = svg.split("<g transform=\"translate(").nth(1).unwrap();
    let numbers = |text: &str| -> Vec<f64> { text.split(' ').map(|number| number.parse().unwrap()).collect() };
    let (place, rest) = cells.split_once(") scale(").unwrap();
    let (scale, rest) = rest.split_once(')').unwrap();
    let end = |first: &str, second: &str| {
        let rows = rest.split("</g>").next().unwrap().split("<rect ").skip(1);
        let part = |row: &str, name: &str| -> f64 {
            row.split(&format!("{name}=\"")).nth(1).unwrap().split('"').next().unwrap().parse().unwrap()
        };
        rows.map(|row| part(row, first) + part(row, second)).fold(0.0, f64::max)
    };
    let (place, scale) = (numbers(place), numbers(scale));
    [place[0], place[1], scale[0] * end("x", "width"), scale[1] * end("y", "height")]
}

/// The equator as a contour: straight in a cylinder, a straight line through the middle of the globe, and the edge of a polar map.
#[test]
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "places of a picture")]
fn contours_follow_the_projection() {
    let folder = Folder::new();
    let path = globe(&folder);
    let flags = ["--object", "0", "--contours=200"];
    for projection in ["plate-carree", "mercator", "orthographic:0,30"] {
        let found = svg(&path, &[&flags[..], &["--projection", projection]].concat());
        let [left, top, width, height] = area(&found);
        let points: Vec<_> = lines(&found, "contours").into_iter().flatten().collect();
        assert!(points.len() > 10, "{projection}: {points:?}");
        assert!(points.iter().all(|(_, y)| (y - top - height / 2.0).abs() < 0.2), "{projection}: {points:?}");
        let ends = points.iter().fold((f64::MAX, f64::MIN), |(low, high), (x, _)| (low.min(*x), high.max(*x)));
        assert!((ends.0 - left).abs() < 3.0 && (ends.1 - left - width).abs() < 3.0, "{projection}: {ends:?}");
    }
    // 60 degrees north, in the middle between pole and edge by the tangent of 15 degrees: 0.268 of the radius.
    let found = svg(&path, &["--object", "0", "--contours=60", "--projection", "polar"]);
    let [left, top, width, _] = area(&found);
    let (x, y, radius) = (left + width / 2.0, top + width / 2.0, width / 2.0);
    let at_60 =
        lines(&found, "contours").into_iter().flatten().filter(|point| (point.0 - x).hypot(point.1 - y) < 0.9 * radius);
    let shares: Vec<f64> = at_60.map(|point| (point.0 - x).hypot(point.1 - y) / radius).collect();
    // Between its points, the line is straight.
    assert!(shares.len() > 50 && shares.iter().all(|share| (share - 0.267_95).abs() < 3e-3), "{shares:?}");
    let round = svg(&path, &["--object", "0", "--contours"]);
    let heights: BTreeSet<u32> =
        lines(&round, "contours").into_iter().flatten().map(|(_, y)| y.round() as u32).collect();
    assert!(round.contains("contours every 20 m s-1") && heights.len() == 9, "{heights:?}");
}

#[test]
fn arrows_go_where_the_wind_goes() {
    let folder = Folder::new();
    let path = globe(&folder);
    for (names, right, down) in [("west,south", 1.0, 0.0), ("south,west", 0.0, -1.0)] {
        let found = svg(&path, &["--arrows", names]);
        assert!(found.contains(&format!(">{}: speed [m s-1]<", names.replace(',', ", "))), "{found}");
        let shafts: Vec<_> = lines(&found, "arrows").into_iter().filter(|line| line.len() == 2).collect();
        assert_eq!(shafts.len(), 32 * 16, "{names}");
        for shaft in &shafts {
            let (x, y) = (shaft[1].0 - shaft[0].0, shaft[1].1 - shaft[0].1);
            assert!((x - 22.5 * right).abs() < 0.3 && (y - 22.5 * down).abs() < 0.3, "{names}: {shaft:?}");
        }
        // The key has a round speed, and is as long as the arrow of it.
        let key = lines(&found, "key");
        let length = 22.5 * 7.5 / 8.0;
        assert!((key[0][1].0 - key[0][0].0 - length).abs() < 0.3 && found.contains(">7.5 m s-1<"), "{key:?}");
    }
    let over = svg(&path, &["--cube", "t", "--arrows", "west,south", "--projection", "polar"]);
    assert!(over.contains("arrows of west, south") && over.contains("id=\"net\"") && over.contains("id=\"coast\""));
    for (flags, code, why) in [
        (&["--arrows", "west,nowhere"][..], 1, "there is no variable nowhere"),
        (&["--arrows", "west"], 2, "expected U,V"),
        (&["--arrows", "west,south", "--over", "lat"], 2, "cannot be used with"),
        (&["--contours=0"], 2, "more than 0"),
        (&["--contours=1e-9"], 1, "more than 100 lines"),
        (&["--projection", "lambert"], 2, "expected plate-carree"),
        (&["--projection", "polar", "--histogram"], 1, "are of fields"),
    ] {
        let run = tgm(["plot", "--svg", &path].iter().chain(flags));
        assert!(run.code == Some(code) && run.stderr.contains(why), "{flags:?}: {:?} {}", run.code, run.stderr);
    }
    for flags in [&["--contours"][..], &["--arrows", "west,south"]] {
        assert_eq!(tgm(["plot", &path].iter().chain(flags)).code, Some(2), "{flags:?}");
    }
    // Characters have projections too.
    let text = tgm(["plot", "--width", "40", "--projection", "orthographic", &path]).good();
    assert!(text.text().lines().nth(2).unwrap().trim().len() < 20, "{}", text.text());
}

/// A profile, and sections in both orders of levels: the least pressure is on top.
#[test]
fn pressure_falls_upward() {
    let folder = Folder::new();
    let levels = [1000.0, 500.0, 100.0];
    let values: Vec<f64> = (0..6).map(f64::from).collect();
    for turned in [false, true] {
        let levels: Vec<f64> = if turned { levels.iter().rev().copied().collect() } else { levels.to_vec() };
        let message = MessageBuilder::new()
            .object(variable("t", &["level", "x"], &[3, 2], &values, "K"))
            .object(variable("r", &["x", "level"], &[2, 3], &values, "1"))
            .object(variable("level", &["level"], &[3], &levels, "hPa"));
        let path = folder.file("levels.tgm", &message.encode().unwrap());
        for name in ["t", "r"] {
            let found = svg(&path, &["--cube", name]);
            let height = |label: &str| -> f64 {
                let row = found.lines().find(|row| row.contains(&format!(" text-anchor=\"end\">{label}<"))).unwrap();
                row.split("y=\"").nth(1).unwrap().split('"').next().unwrap().parse().unwrap()
            };
            assert!(height("100") < height("500") && height("500") < height("1000"), "{name} {turned}: {found}");
            // The first value of the file is in its level.
            let first = found.split("<rect x=\"0\" y=\"").nth(if turned { 2 } else { 4 }).unwrap();
            assert!(first.contains("fill=\"#440154\""), "{name} {turned}: {found}");
        }
        // Values run to the right, and levels lie by their logarithms.
        let found = svg(&path, &["--cube", "t", "--over", "level", "--sel", "x=0"]);
        let curve = lines(&found, "curve").remove(0);
        let at = |level: f64| curve[levels.iter().position(|it| (it - level).abs() < 1.0).unwrap()];
        let (top, middle, bottom) = (at(100.0), at(500.0), at(1000.0));
        assert!(top.1 < middle.1 && middle.1 < bottom.1, "{curve:?}");
        let share = (bottom.1 - middle.1) / (bottom.1 - top.1);
        assert!((share - 2.0_f64.log10()).abs() < 1e-3, "{share}");
        assert!((top.0 > bottom.0) != turned, "{curve:?}");
        let text = tgm(["plot", "--cube", "t", "--over", "level", "--sel", "x=0", "--width", "30", &path]).good();
        let rows: Vec<_> =
            text.text().lines().skip(2).take(3).map(|row| row.split_whitespace().next().unwrap()).collect();
        assert_eq!(rows, ["100", "500", "1000"], "{}", text.text());
    }
}

/// Fields of one value, of nothing, of a row, and of a million points.
#[test]
#[expect(clippy::cast_precision_loss, reason = "numbers are small")]
fn odd_fields_are_drawn_in_bounded_time() {
    let folder = Folder::new();
    let begin = Instant::now();
    let latitudes: Vec<f64> = (0..720).map(|row| 89.9 - 0.25 * f64::from(row)).collect();
    let longitudes: Vec<f64> = (0..1440).map(|column| 0.25 * f64::from(column)).collect();
    let noise: Vec<f64> = (0..720 * 1440_u64).map(|at| ((at * 7919) % 1009) as f64).collect();
    let holes: Vec<f64> = noise.iter().map(|value| if *value > 500.0 { f64::NAN } else { f64::MAX }).collect();
    let grid = |name, values| variable(name, &["lat", "lon"], &[720, 1440], values, "K");
    let message = MessageBuilder::new()
        .object(grid("noise", &noise))
        .object(grid("holes", &holes))
        .object(variable("lat", &["lat"], &[720], &latitudes, "degrees_north"))
        .object(variable("lon", &["lon"], &[1440], &longitudes, "degrees_east"))
        .options(EncodeOptions { allow_nan: true, ..EncodeOptions::default() });
    let path = folder.file("noise.tgm", &message.encode().unwrap());
    for (object, projection) in [("0", "orthographic:45,10"), ("1", "mercator")] {
        let flags =
            ["plot", "--object", object, "--contours", "--projection", projection, "--format", "png", path.as_str()];
        assert!(tgm(flags).good().stdout.len() < 4 << 20, "{object} {projection}");
    }
    let run = tgm(["plot", "--svg", "--arrows", "noise,holes", "--projection", "orthographic", &path]);
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    assert!(begin.elapsed() < Duration::from_mins(4), "{:?}", begin.elapsed());
}
