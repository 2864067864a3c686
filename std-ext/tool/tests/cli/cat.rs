//! `tgm cat` prints the values that were written.

use std::fs;

use tgm_std::{EncodeOptions, MessageBuilder, ObjectBuilder};

use crate::corpus::data;
use crate::edits::Folder;
use crate::tool::tgm;

const SURFACE: &str = "realistic/surface-181x360.tgm";

#[test]
fn every_type_is_printed_with_the_digits_that_tell_its_values_apart() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("in.tgm").display().to_string();
    let floats = [0.1_f32, -1.5, f32::MAX, f32::NAN];
    let doubles = [0.1_f64, 1e-300, f64::NEG_INFINITY, -0.0];
    let large = [u64::MAX, 1];
    let bytes = MessageBuilder::new()
        .object(ObjectBuilder::new(&[4], &floats).unwrap())
        .object(ObjectBuilder::new(&[2, 2], &doubles).unwrap())
        .object(ObjectBuilder::new(&[2], &large).unwrap())
        .object(ObjectBuilder::bitmask(&[3], &[0b1010_0000]))
        .object(ObjectBuilder::new(&[2, 2, 1], &[1_i8, -2, 3, 4]).unwrap())
        .object(ObjectBuilder::new(&[], &[7_i16]).unwrap())
        .object(ObjectBuilder::new(&[0, 3], &[0_i16; 0]).unwrap())
        .options(EncodeOptions { allow_nan: true, allow_inf: true, ..EncodeOptions::default() })
        .encode()
        .unwrap();
    fs::write(&path, bytes).unwrap();
    let text = |more: &[&str]| {
        let run = tgm(["cat", &*path].iter().chain(more)).good();
        run.text().to_string()
    };
    assert_eq!(text(&[]), "0.1 -1.5 3.4028235e38 nan\n");
    assert_eq!(text(&["--object", "1"]), "0.1 1e-300\n-inf -0\n");
    assert_eq!(text(&["--object", "2"]), "18446744073709551615 1\n");
    assert_eq!(text(&["--object", "3"]), "1 0 1\n");
    assert_eq!(text(&["--object", "4"]), "1\n-2\n\n3\n4\n");
    assert_eq!(text(&["--object", "5"]), "7\n");
    assert_eq!(text(&["--object", "5", "--csv"]), "value\n7\n");
    assert_eq!(text(&["--object", "6"]), "");
    assert_eq!(text(&["--object", "0", "--format", "%.2f", "--slice", ":2"]), "0.10 -1.50\n");
    assert_eq!(text(&["--object", "4", "--csv", "--slice", "-1,::1,0"]), "dim0,dim1,dim2,value\n1,0,0,3\n1,1,0,4\n");
    let complex = tgm(["cat", &data("dtypes/complex64-little.tgm"), "--slice", ":2"]).good();
    assert!(complex.text().trim_end().split(' ').all(|number| number.ends_with('j')), "{}", complex.text());
}

#[test]
fn values_are_those_that_extract_writes() {
    let path = data(SURFACE);
    let raw = tgm(["extract", &path, "--byte-order", "little"]).good().stdout;
    let values: Vec<f64> = raw.chunks_exact(8).map(|bytes| f64::from_le_bytes(bytes.try_into().unwrap())).collect();
    let run = tgm(["cat", &path]).good();
    let rows: Vec<Vec<u64>> =
        run.text().lines().map(|line| line.split(' ').map(|n| n.parse::<f64>().unwrap().to_bits()).collect()).collect();
    assert_eq!((rows.len(), rows[0].len()), (181, 360));
    assert!(rows.concat() == values.iter().map(|value| value.to_bits()).collect::<Vec<_>>());
}

/// A message of GRIB whose columns go once around, from 20 degrees east to 20 degrees east.
#[test]
fn a_last_column_that_is_the_first_again_lies_a_circle_further() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str| folder.path().join(name).display().to_string();
    let mut grib = fs::read(data("../data-grib/simple-12.grib2")).unwrap();
    let mut at = 16;
    while grib[at + 4] != 3 {
        at += u32::from_be_bytes(grib[at..at + 4].try_into().unwrap()) as usize;
    }
    for octet in [51, 60] {
        grib[at + octet - 1..at + octet + 3].copy_from_slice(&20_000_000_u32.to_be_bytes());
    }
    let columns = u32::from_be_bytes(grib[at + 30..at + 34].try_into().unwrap());
    fs::write(file("in.grib2"), grib).unwrap();
    tgm(["convert", &file("in.grib2"), "-o", &file("out.tgm")]).good();
    let longitudes = |run: &str| -> Vec<f64> {
        run.lines().skip(1).map(|line| line.split(',').nth(3).unwrap().parse().unwrap()).collect()
    };
    let run = tgm(["cat", "--csv", &file("out.tgm")]).good();
    let step = 360.0 / f64::from(columns - 1);
    let found = longitudes(run.text());
    for (column, longitude) in (0..columns).zip(&found) {
        assert!((longitude - (step * f64::from(column) - 340.0)).abs() < 1e-9, "{column} {longitude}");
    }
    let run = tgm(["cat", "--csv", &file("out.tgm"), "--nearest", &format!("60,{}", 20.0 + 2.1 * step)]).good();
    assert!((longitudes(run.text())[0] - (2.0 * step - 340.0)).abs() < 1e-9, "{}", run.text());
    let run = tgm(["cube", "--all", &file("out.tgm")]).good();
    assert!(run.text().contains("-340") && run.text().contains(" 20"), "{}", run.text());
}

#[test]
fn an_array_with_the_name_of_a_grid_has_its_places() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("in.tgm").display().to_string();
    let values: Vec<f32> = (0_u16..192).map(f32::from).collect();
    let object =
        |order: &str| ObjectBuilder::new(&[192], &values).unwrap().metadata("grid", "H4").metadata("order", order);
    let message = MessageBuilder::new().object(object("ring")).object(object("nested")).object(object("other"));
    fs::write(&path, message.encode().unwrap()).unwrap();
    let nearest =
        |object: &str| tgm(["cat", &path, "--object", object, "--nearest", "78.3,46"]).good().text().to_string();
    assert_eq!(nearest("0"), "dim0,latitude,longitude,value\n0,78.28414760510763,45,0\n");
    assert_eq!(nearest("1"), "dim0,latitude,longitude,value\n15,78.28414760510763,45,15\n");
    let run = tgm(["cat", &path, "--object", "2", "--nearest", "78.3,46"]);
    assert!(run.code == Some(1) && run.stderr.contains("names no grid"), "{}", run.stderr);
    // All points are drawn.
    let run = tgm(["plot", &path, "--object", "1", "--svg"]).good();
    assert!(run.text().contains("60N"), "{}", run.text());
}

#[test]
fn a_string_of_proj_says_where_the_values_of_a_plane_are() {
    let folder = Folder::new();
    let values: Vec<u8> = (0..6).flat_map(|value: u8| f32::from(value).to_le_bytes()).collect();
    let raw = folder.file("plane.raw", &values);
    let (plain, path) = (folder.path("plain.tgm"), folder.path("plane.tgm"));
    tgm(["convert", &raw, "-o", &plain, "--dtype", "f32", "--shape", "2x3", "--byte-order", "little"]).good();
    let place = |grid: &str| {
        let grid = format!("grid={grid}");
        tgm(["set", "-s", &grid, "-s", "area=3210000/4321000/2210000/6321000", &plain, &path]).good();
    };
    place("+proj=laea +lat_0=52 +lon_0=10 +x_0=4321000 +y_0=3210000 +ellps=GRS80");
    // The value in the south of the one that touches. pyproj says 42.9971222576, 10.
    let run = tgm(["cat", "--nearest", "43.2,10.1", &path]).good();
    assert_eq!(run.text(), "dim0,dim1,latitude,longitude,value\n1,0,42.99712226309418,10,3\n");
    // Bounds of a plane are not degrees.
    for (grid, word) in [("+proj=robin", "robin"), ("+proj=laea +gamma=7", "gamma")] {
        place(grid);
        let run = tgm(["cat", "--nearest", "52,10", &path]);
        assert!(run.code == Some(1) && run.stderr.contains(word), "{}", run.stderr);
    }
}

#[test]
fn a_grid_gives_coordinates_and_the_nearest_value() {
    let path = data(SURFACE);
    let area = ["--area", "90/0/-90/359"];
    let near = tgm(["cat", &path, "--nearest", "51.4,-0.1", area[0], area[1]]).good();
    let value = tgm(["cat", &path, "--slice", "39,0"]).good();
    assert_eq!(near.text(), format!("dim0,dim1,latitude,longitude,value\n39,0,51,0,{}", value.text()));
    let run = tgm(["cat", &path, "--nearest", "51,0"]);
    assert!(run.code == Some(1) && run.stderr.contains("--area"), "{}", run.stderr);
    let run = tgm(["cat", &path, "--nearest", "91,0", area[0], area[1]]);
    assert!(run.code == Some(1) && run.stderr.contains("outside"), "{}", run.stderr);
    for wrong in [["--nearest", "51"], ["--area", "1/2"], ["--format", "%d"], ["--format", "%.2é"], ["--format", "%"]]
    {
        assert_eq!(tgm(["cat", &path, wrong[0], wrong[1]]).code, Some(2), "{wrong:?}");
    }
    let run = tgm(["cat", &path, "--object", "3"]);
    assert!(run.code == Some(1) && run.stderr.contains("no such object (3 objects)"), "{}", run.stderr);
}

/// A message of GRIB on a grid of its number of points that another file has: template 3.101.
fn unstructured() -> Vec<u8> {
    let grib = fs::read(data("../data-grib/simple-12.grib2")).unwrap();
    let number = |at: usize| u32::from_be_bytes(*grib[at..].first_chunk().unwrap()) as usize;
    let mut at = 16;
    while grib[at + 4] != 3 {
        at += number(at);
    }
    let mut section = vec![0; 35];
    (section[3], section[4], section[13]) = (35, 3, 101);
    section[6..10].copy_from_slice(&grib[at + 6..at + 10]);
    section[17] = 26;
    section[34] = 7;
    let mut made = [&grib[..at], &section, &grib[at + number(at)..]].concat();
    let length = (made.len() as u64).to_be_bytes();
    made[8..16].copy_from_slice(&length);
    made
}

#[test]
fn a_file_says_where_the_points_of_an_unstructured_grid_are() {
    let folder = Folder::new();
    let grib = folder.file("icon.grib2", &unstructured());
    let path = folder.path("icon.tgm");
    tgm(["convert", &grib, "-o", &path]).good();
    for line in [&["cat", "--nearest", "10,20"][..], &["plot"], &["plot", "--cube", "t"]] {
        let run = tgm(line.iter().copied().chain([path.as_str()]));
        assert!(run.code == Some(1) && run.stderr.contains("--grid FILE"), "{line:?}: {}", run.stderr);
    }
    let listed = tgm(["ls", "--objects", "--json", &path]).good().json();
    let count = listed["messages"][0]["objects"][0]["shape"][0].as_u64().unwrap();
    let points = |name: &str, count: u64, units: &str| {
        #[expect(clippy::cast_precision_loss, reason = "numbers are small")]
        let degrees = |step: f64| (0..count).map(|point| (point as f64 * step).to_radians()).collect::<Vec<f64>>();
        let of = |name: &str, values: &[f64]| {
            let object = ObjectBuilder::new(&[count], values).unwrap().metadata("name", name).metadata("units", units);
            MessageBuilder::new().object(object).encode().unwrap()
        };
        folder.file(name, &[of("clat", &degrees(0.1)), of("clon", &degrees(0.2))].concat())
    };
    let file = points("grid.tgm", count, "radian");
    let run = tgm(["cat", "--nearest", "1.01,2.01", "--grid", &file, &path]).good();
    assert!(run.text().lines().nth(1).unwrap().starts_with("10,1,2,"), "{}", run.text());
    assert!(tgm(["plot", "--grid", &file, "--svg", &path]).good().text().contains("coast"));
    // Several fields in one object, as all commands take it.
    let values: Vec<f32> = (0_u8..24).map(f32::from).collect();
    let fields = ObjectBuilder::new(&[2, 3, 4], &values).unwrap().metadata("param", "2t");
    let fields = folder.file("fields.tgm", &MessageBuilder::new().object(fields).encode().unwrap());
    let four = points("four.tgm", 4, "radian");
    let run = tgm(["cat", "--nearest", "0.21,0.41", "--grid", &four, &fields]).good();
    let rows: Vec<&str> = run.text().lines().collect();
    assert_eq!((rows[0], rows.len()), ("dim0,dim1,dim2,latitude,longitude,value", 7));
    assert!(rows[6].starts_with("1,2,2,0.2,0.4") && rows[6].ends_with(",22"), "{rows:?}");
    let line =
        ["cat", "--cube", "t2m", "--nearest", "0.21,0.41", "--over", "dim_0,dim_1", "--csv", "--grid", &four, &fields];
    assert_eq!(tgm(line).good().text().lines().last(), Some("1,2,0.2,0.4,22"));
    let shown = tgm(["cube", "--grid", &four, &fields]).good();
    assert!(shown.text().contains("(dim_0, dim_1, values)"), "{}", shown.text());
    let run = tgm(["stats", "--weigh-latitudes", "--grid", &four, &fields]).good();
    assert!(run.text().contains("24"), "{}", run.text());
    // Numbers that are not as many, and no coordinates.
    for (file, word) in [(points("short.tgm", count - 1, "radian"), "as many as"), (path.clone(), "clat and clon")] {
        let run = tgm(["cat", "--nearest", "1,2", "--grid", &file, &path]);
        assert!(run.code == Some(1) && run.stderr.contains(word), "{}", run.stderr);
    }
}
