//! PNG of `tgm plot`, compared with recorded pictures. `TGM_TEST_RENEW=1` records them anew.

use std::path::{Path, PathBuf};
use std::{env, fs};

use tgm_std::deps::ciborium::Value;
use tgm_std::{EncodeOptions, MessageBuilder, ObjectBuilder};

use crate::edits::Folder;
use crate::tool::tgm;

/// What is drawn: the name of the recorded picture, and the flags.
const PICTURES: [(&str, &[&str]); 9] = [
    ("field", &[]),
    ("slice", &["--object", "1", "--slice", "1, :, ::2"]),
    ("line", &["--object", "2"]),
    ("histogram", &["--histogram"]),
    ("narrow", &["--object", "3", "--range", "-1,3"]),
    ("tall", &["--object", "4"]),
    ("point", &["--object", "5"]),
    ("few", &["--object", "6", "--histogram=4"]),
    // The guide shows it.
    ("globe", &["--object", "7"]),
];

/// The least values of colours that a reader sees as different, after a small blur: of a whole picture, and of a place.
const MEAN_DIFFERENCE: f64 = 0.5;
const DIFFERENCE: f64 = 24.0;

fn object<'v>(shape: &[u64], values: &'v [f64], name: &str, units: &str) -> ObjectBuilder<'v> {
    ObjectBuilder::new(shape, values).unwrap().metadata("name", name).metadata("units", units)
}

fn single<'v>(shape: &[u64], values: &'v [f32]) -> ObjectBuilder<'v> {
    ObjectBuilder::new(shape, values).unwrap()
}

/// Values with holes in all shapes.
#[allow(clippy::cast_precision_loss, reason = "small numbers")]
fn file(folder: &Folder) -> String {
    let wave = |row: usize, column: usize| {
        280.0 + 30.0 * (row as f64 / 9.0).sin() * (column as f64 / 14.0 + row as f64 / 30.0).cos()
    };
    let mut field: Vec<f64> = (0..60 * 90).map(|at| wave(at / 90, at % 90)).collect();
    for row in 20..30 {
        field[row * 90 + 30..][..15].fill(f64::NAN);
    }
    let cube: Vec<f32> = (0..3 * 20 * 40).map(|at| ((at * at) % 97) as f32 - 20.0).collect();
    let mut line: Vec<f64> = (0..400).map(|at| (f64::from(at) / 25.0).sin() * 1e-7 * f64::from(at)).collect();
    line[100..130].fill(f64::NAN);
    line[115] = 2e-5;
    let globe = |at: u32| {
        let (latitude, longitude) = (90.0 - 2.0 * f64::from(at / 180), 2.0 * f64::from(at % 180));
        let wave = (6.0 * longitude + latitude).to_radians().cos() * latitude.to_radians().cos().powi(4);
        30.0 - 50.0 * latitude.to_radians().sin().powi(2) + 8.0 * wave
    };
    let globe: Vec<f64> = (0..91 * 180).map(globe).collect();
    let area = [90.0, 0.0, -90.0, 358.0].map(Value::from).to_vec();
    let narrow: Vec<f32> = (0..2 * 300).map(|at| (at as f32 / 40.0).cos()).collect();
    let bytes = MessageBuilder::new()
        .object(object(&[60, 90], &field, "2m temperature", "°C"))
        .object(single(&[3, 20, 40], &cube).metadata("units", "kg m⁻²"))
        .object(object(&[400], &line, "vorticity", "s**-1"))
        .object(single(&[2, 300], &narrow))
        .object(single(&[300, 2], &narrow).metadata("name", "a name that is longer than the picture is wide, by far: "))
        .object(object(&[1, 1], &[7.5], "point", ""))
        .object(object(&[5], &[1.0, 1.0, 1.0, f64::INFINITY, 1.0], "constant", "1"))
        .object(object(&[91, 180], &globe, "2m temperature", "°C").metadata("mars.area", Value::Array(area)))
        .options(EncodeOptions { allow_nan: true, allow_inf: true, ..EncodeOptions::default() })
        .encode()
        .unwrap();
    folder.file("in.tgm", &bytes)
}

/// Pixels as red, green and blue.
struct Pixels {
    width: usize,
    height: usize,
    values: Vec<f64>,
}

impl Pixels {
    fn read(bytes: &[u8]) -> Self {
        let mut decoder = png::Decoder::new(std::io::Cursor::new(bytes));
        decoder.set_transformations(png::Transformations::EXPAND);
        let mut reader = decoder.read_info().unwrap();
        let mut data = vec![0; reader.output_buffer_size().unwrap()];
        let info = reader.next_frame(&mut data).unwrap();
        assert_eq!(info.color_type, png::ColorType::Rgb);
        let side = |length: u32| usize::try_from(length).unwrap();
        Self { width: side(info.width), height: side(info.height), values: data.into_iter().map(f64::from).collect() }
    }

    /// Each pixel as the mean over 5 x 5 pixels around it.
    fn blurred(&self) -> Self {
        let mean_along = |values: &[f64], count: usize, step: usize| -> Vec<f64> {
            let of = |at: usize| {
                let place = at / step % count;
                let around = place.saturating_sub(2)..(place + 3).min(count);
                let len = u8::try_from(around.len()).unwrap();
                around.map(|other| values[at - place * step + other * step]).sum::<f64>() / f64::from(len)
            };
            (0..values.len()).map(of).collect()
        };
        let values = mean_along(&self.values, self.width, 3);
        Self { values: mean_along(&values, self.height, 3 * self.width), ..*self }
    }

    /// The mean and the greatest difference of blurred colours.
    #[allow(clippy::cast_precision_loss, reason = "few pixels")]
    fn difference(&self, other: &Self) -> (f64, f64) {
        assert_eq!((self.width, self.height), (other.width, other.height));
        let (ours, theirs) = (self.blurred(), other.blurred());
        let pairs = ours.values.iter().zip(&theirs.values).map(|(a, b)| (a - b).abs());
        let (sum, most) = pairs.fold((0.0, 0.0_f64), |(sum, most), one| (sum + one, most.max(one)));
        (sum / ours.values.len() as f64, most)
    }
}

fn recorded(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cli/pictures").join(format!("{name}.png"))
}

/// Compares what `tgm plot` draws with the recorded picture of this name.
fn check(name: &str, path: &str, flags: &[&str]) {
    let drawn = tgm(["plot", "--format", "png", path].iter().chain(flags)).good().stdout;
    assert!(drawn.len() <= 128 << 10, "{name}: {} bytes", drawn.len());
    if env::var_os("TGM_TEST_RENEW").is_some() {
        fs::create_dir_all(recorded(name).parent().unwrap()).unwrap();
        fs::write(recorded(name), &drawn).unwrap();
    }
    let expected = fs::read(recorded(name)).unwrap();
    if drawn == expected {
        return;
    }
    let (mean, most) = Pixels::read(&drawn).difference(&Pixels::read(&expected));
    assert!(mean <= MEAN_DIFFERENCE && most <= DIFFERENCE, "{name}: mean {mean:.2}, greatest {most:.1}");
}

#[test]
fn pictures_look_as_recorded() {
    let folder = Folder::new();
    let path = file(&folder);
    for (name, flags) in PICTURES {
        check(name, &path, flags);
    }
}

/// Grids on a cone, at a turned pole, and with rows of different lengths.
#[cfg(feature = "grib")]
#[test]
fn maps_look_as_recorded() {
    let folder = Folder::new();
    for name in ["lambert", "ensemble-rotated", "reduced_gg_pl_32"] {
        let (source, path) =
            (crate::corpus::data(&format!("../data-grib/{name}.grib2")), folder.path(&format!("{name}.tgm")));
        tgm(["convert", &source, "-o", &path]).good();
        check(name, &path, &["--units", "degC"]);
    }
}

/// A wrong digit, a shifted curve and other colours are seen; a colour that is rounded otherwise is not.
#[test]
fn the_comparison_sees_what_people_see() {
    let folder = Folder::new();
    let path = file(&folder);
    let draw =
        |flags: &[&str]| Pixels::read(&tgm(["plot", "--format", "png", &path].iter().chain(flags)).good().stdout);
    let line = draw(&["--object", "2"]);
    for flags in [&["--object", "2", "--slice", "1:"][..], &["--object", "2", "--range", "-3e-5,5e-5"]] {
        let (mean, most) = draw(flags).difference(&line);
        assert!(mean > MEAN_DIFFERENCE || most > DIFFERENCE, "{flags:?}: {mean} {most}");
    }
    let field = draw(&[]);
    let (mean, most) = draw(&["--range", "240,320"]).difference(&field);
    assert!(mean > MEAN_DIFFERENCE || most > DIFFERENCE, "{mean} {most}");
    let mut rounded = draw(&[]);
    rounded.values.iter_mut().step_by(7).for_each(|value| *value = (*value + 2.0).min(255.0));
    let (mean, most) = rounded.difference(&field);
    assert!(mean < MEAN_DIFFERENCE && most < DIFFERENCE, "{mean} {most}");
}
