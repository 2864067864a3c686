use super::*;
use crate::coordinates::angle;
use crate::grids::no_places;
use crate::places::Places;

/// A section 3 of `len` octets, with a template and numbers of 4 octets.
fn section(len: u32, template: u16, numbers: &[(usize, u32)]) -> Vec<u8> {
    let mut bytes = vec![0; len as usize];
    bytes[4] = 3;
    bytes[12..14].copy_from_slice(&template.to_be_bytes());
    for (octet, number) in [(1, len)].iter().chain(numbers) {
        bytes[octet - 1..octet + 3].copy_from_slice(&number.to_be_bytes());
    }
    bytes
}

/// Two rows of three points, from 10° north and 350° east to 0° north and 10° east.
fn small() -> Vec<u8> {
    let numbers = [(7, 6), (31, 3), (35, 2), (47, 10_000_000), (51, 350_000_000), (60, 10_000_000), (64, 10_000_000)];
    section(72, 0, &numbers)
}

#[test]
fn axes_are_the_ones_of_all_points() {
    let mut found = 0;
    let numbers = |template: u16, first: u32, last: u32| {
        let mut bytes = section(72, template, &[(7, 12), (31, 4), (35, 3), (51, first), (60, last), (68, 8)]);
        let latitudes = if template == 40 { [66_000_000_u32, 44_000_000] } else { [50_000_000, 30_000_000] };
        for (octet, latitude) in [47, 56].into_iter().zip(latitudes) {
            bytes[octet - 1..octet + 3].copy_from_slice(&latitude.to_be_bytes());
        }
        bytes
    };
    for (template, first, last) in [
        (0, 0, 270_000_000),
        (0, 350_000_000, 20_000_000),
        (0, 20_000_000, 350_000_000),
        (40, 0, 67_500_000),
        (1, 0, 9),
    ] {
        for mode in [0, 0x80, 0x40, 0xc0, 0x20, 0x10, 0x01] {
            let mut bytes = numbers(template, first, last);
            bytes.resize(84, 0);
            bytes[3] = 84;
            bytes[71] = mode;
            let grid = GridSection::parse(&bytes).unwrap();
            let shape = grid.shape().unwrap();
            let Some(regular) = grid.regular(&shape, 12).unwrap() else { continue };
            found += 1;
            let points = grid.coordinates(12).unwrap().unwrap();
            let found = Places::of_points(points, &shape);
            assert_eq!(found, Some(Places::Regular(regular)), "{template} {mode}");
            assert_eq!(grid.regular(&[12], 12), Ok(None));
        }
    }
    assert!(found >= 12, "{found}");
}

#[test]
fn points_lie_between_the_first_and_the_last() {
    let mut bytes = small();
    let grid = GridSection::parse(&bytes).unwrap();
    assert_eq!((grid.template(), grid.point_count(), grid.shape()), (Ok(0), Ok(6), Ok(vec![2, 3])));
    assert_eq!(grid.area().unwrap(), Some("10/350/0/370".parse().unwrap()));
    let found = grid.coordinates(6).unwrap().unwrap();
    assert_eq!(found.latitudes, [10.0, 10.0, 10.0, 0.0, 0.0, 0.0]);
    assert_eq!(found.longitudes, [350.0, 0.0, 10.0, 350.0, 0.0, 10.0]);
    // Columns follow each other, and every other one runs back.
    bytes[71] = Scan::COLUMNS | Scan::ALTERNATING;
    let grid = GridSection::parse(&bytes).unwrap();
    assert_eq!((grid.shape(), grid.area()), (Ok(vec![6]), Ok(None)));
    assert_eq!(grid.coordinates(6).unwrap().unwrap().latitudes, [10.0, 0.0, 0.0, 10.0, 10.0, 0.0]);
    bytes[71] = Scan::COLUMNS;
    assert_eq!(GridSection::parse(&bytes).unwrap().shape(), Ok(vec![3, 2]));
}

/// Columns as ecCodes has them.
#[test]
fn a_last_column_that_is_the_first_again_is_a_circle_further() {
    for (first, last, mode, expected) in [
        (0_u32, 360_u32, 0_u8, [0.0, 10.0, 360.0]),
        (180, 180, 0, [-180.0, -170.0, 180.0]),
        (20, 20, 0, [-340.0, -330.0, 20.0]),
        (350, 350, 0, [-10.0, 0.0, 350.0]),
        (360, 0, 0x80, [360.0, 350.0, 0.0]),
        (10, 10, 0x80, [10.0, 0.0, -350.0]),
        (0, 360, 0x20, [0.0, 10.0, 360.0]),
    ] {
        let numbers = [(7, 111), (31, 37), (35, 3), (51, first * 1_000_000), (60, last * 1_000_000)];
        let mut bytes = section(72, 0, &numbers);
        bytes[71] = mode;
        let grid = GridSection::parse(&bytes).unwrap();
        let (_, longitudes) = grid.regular(&grid.shape().unwrap(), 111).unwrap().unwrap().axes();
        assert_eq!(vec![longitudes[0], longitudes[1], longitudes[36]], expected.to_vec(), "{first} {last} {mode}");
    }
    // The bounds say the circle too.
    let bytes = section(72, 0, &[(7, 111), (31, 37), (35, 3), (51, 20_000_000), (60, 20_000_000)]);
    assert_eq!(GridSection::parse(&bytes).unwrap().area().unwrap(), Some("0/20/0/380".parse().unwrap()));
    // A single column is not a circle.
    let bytes = section(72, 0, &[(7, 3), (31, 1), (35, 3), (51, 20_000_000), (60, 20_000_000)]);
    assert_eq!(GridSection::parse(&bytes).unwrap().area().unwrap(), Some("0/20/0/20".parse().unwrap()));
}

#[test]
fn a_section_of_another_number_or_length_is_an_error() {
    let mut bytes = small();
    let at = |bytes: &[u8]| GridSection::parse(bytes).map(|grid| grid.octets().as_bytes().len());
    assert_eq!(at(&bytes[..4]), Err(GridError::ShortSection { octet: 5 }));
    assert_eq!(at(&bytes[..71]), Err(GridError::SectionLength(72)));
    bytes.push(0);
    assert_eq!(at(&bytes), Ok(72));
    bytes[3] = 4;
    assert_eq!(at(&bytes), Err(GridError::SectionLength(4)));
    bytes[4] = 4;
    assert_eq!(at(&bytes), Err(GridError::SectionNumber(4)));
}

/// A section of two rows of two points for each template, with as many octets as it has.
fn all() -> impl Iterator<Item = (u16, Vec<u8>)> {
    let lengths = [
        (0, 72),
        (1, 84),
        (2, 84),
        (3, 96),
        (10, 72),
        (12, 76),
        (20, 65),
        (30, 73),
        (31, 73),
        (40, 72),
        (41, 84),
        (43, 96),
        (90, 80),
        (140, 64),
        (150, 42),
    ];
    lengths.into_iter().map(|(template, len)| {
        let more: &[(usize, u32)] = match template {
            2 => &[(81, 1_000_000)],
            3 | 43 => &[(93, 1_000_000)],
            12 => &[(48, 1.0_f32.to_bits()), (61, 100_000), (65, 100_000)],
            30 | 31 => &[(66, 50_000_000), (70, 40_000_000)],
            90 => &[(48, 2), (52, 2), (69, 6_610_000)],
            150 => &[(32, 1), (36, 45_000_000), (39, 0x4004_0100)],
            _ => &[],
        };
        let points = if template == 150 { 12 } else { 4 };
        let gaussian: &[(usize, u32)] = if (40..50).contains(&template) { &[(47, 35_264_000), (68, 1)] } else { &[] };
        (template, section(len, template, &[&[(7, points), (31, 2), (35, 2)], more, gaussian].concat()))
    })
}

#[test]
fn every_section_that_ends_early_is_an_error() {
    for (template, whole) in all() {
        let grid = GridSection::parse(&whole).unwrap();
        assert!(grid.coordinates(12).is_ok() && grid.numbers().is_ok(), "{template}");
        for len in 14..whole.len() {
            let mut bytes = whole.clone();
            bytes.truncate(len);
            bytes[3] = u8::try_from(len).unwrap();
            let grid = GridSection::parse(&bytes).unwrap();
            assert!(matches!(grid.coordinates(12), Err(GridError::ShortSection { .. })), "{template} {len}");
        }
    }
}

/// Whatever an octet is, there are as many places on the Earth as points, or none, or an error.
#[test]
fn octets_of_any_value_give_places_or_an_error() {
    let first = |kind: u8| {
        let mut bytes = vec![0; 70];
        bytes[..6].copy_from_slice(&[0, 0, 70, 0, 65, kind]);
        bytes[6..10].copy_from_slice(&[0, 2, 0, 2]);
        bytes
    };
    let firsts = [0, 1, 3, 4, 5, 8, 10, 14, 24, 30, 50, 90].map(|kind| (kind.into(), first(kind)));
    for (template, whole) in all().chain(firsts) {
        for octet in 0..whole.len() {
            for value in [0, 1, 2, 0x7f, 0x80, 0xc0, 0xfe, 0xff, whole[octet] ^ 0x10] {
                let mut bytes = whole.clone();
                bytes[octet] = value;
                let Ok(grid) = GridSection::parse(&bytes) else { continue };
                let _ = (grid.numbers(), grid.area(), grid.healpix(), grid.point_count());
                let shape = grid.shape().unwrap_or_default();
                let _ = Places::of_section(grid, &shape, 1000);
                let Ok(Some(found)) = grid.coordinates(1000) else { continue };
                assert_eq!(found.latitudes.len() as u64, shape.iter().product::<u64>(), "{template} {octet} {value}");
                let is_on_earth = |(latitude, longitude): (&f64, &f64)| {
                    latitude.is_nan() || latitude.abs() <= 90.001 && (0.0..360.0).contains(longitude)
                };
                let mut places = found.latitudes.iter().zip(&found.longitudes);
                assert!(places.all(is_on_earth), "{template} {octet} {value}: {found:?}");
            }
        }
    }
}

#[test]
fn numbers_of_points_that_do_not_fit_are_no_points_or_an_error() {
    let of = |numbers: &[(usize, u32)]| {
        let bytes = [small(), vec![0; 8]].concat();
        let mut bytes = bytes;
        for (octet, number) in [(1, 80)].iter().chain(numbers) {
            bytes[octet - 1..octet + 3].copy_from_slice(&number.to_be_bytes());
        }
        GridSection::parse(&bytes).unwrap().coordinates(100)
    };
    assert_eq!(of(&[(7, 7)]), Ok(None));
    assert_eq!(of(&[(7, 101)]), Err(GridError::TooManyPoints { points: 101, most: 100 }));
    assert_eq!(of(&[(35, u32::MAX)]), Ok(None));
    // Rows of 4 octets each, of which there are too few.
    assert_eq!(of(&[(9, 0x0006_0400), (31, u32::MAX), (35, 3)]), Err(GridError::Contradiction));
}

/// A damaged section may state 4,294,967,294 columns of no rows. They take neither memory nor time.
#[test]
fn many_columns_of_no_rows_have_no_places() {
    for (template, mut bytes) in all() {
        for (columns, rows) in [(u32::MAX - 1, 0), (0, u32::MAX - 1)] {
            for (octet, number) in [(7, 0), (31, columns), (35, rows)] {
                bytes[octet - 1..octet + 3].copy_from_slice(&u32::to_be_bytes(number));
            }
            let grid = GridSection::parse(&bytes).unwrap();
            let Ok(shape) = grid.shape() else { continue };
            let found = (grid.regular(&shape, 9).ok().flatten(), grid.projected(&shape, 9).ok().flatten());
            assert_eq!(found, (None, None), "{template}");
            let points = grid.coordinates(9).ok().flatten();
            assert!(points.is_none_or(|points| points.latitudes.is_empty()), "{template}");
        }
    }
}

#[test]
fn other_templates_have_one_dimension_and_no_points() {
    let bytes = section(72, 13, &[(7, 6)]);
    let grid = GridSection::parse(&bytes).unwrap();
    assert_eq!((grid.shape(), grid.coordinates(6)), (Ok(vec![6]), Ok(None)));
    assert_eq!(grid.numbers().unwrap().len(), 2);
    // An unstructured grid.
    let bytes = section(35, 101, &[(7, 6)]);
    let grid = GridSection::parse(&bytes).unwrap();
    assert_eq!((grid.shape(), grid.area(), grid.coordinates(6)), (Ok(vec![6]), Ok(None), Ok(None)));
}

#[test]
fn coefficients_have_a_truncation_and_no_points() {
    let harmonics = section(28, 50, &[(7, 506), (15, 21), (19, 22), (23, 23)]);
    let mut waves = section(60, 63, &[(7, 52), (16, 5), (20, 7)]);
    waves[23] = 88;
    let mut first = vec![0, 0, 32, 0, 255, 50, 0, 21, 0, 21, 0, 21];
    first.resize(32, 0);
    let words = ["biFourierResolutionParameterN", "biFourierResolutionParameterM", "biFourierTruncationType"];
    let of_waves: Vec<_> = words.into_iter().zip([5, 7, 88]).collect();
    for (bytes, points, truncation) in [
        (harmonics, 506, vec![("J", 21), ("K", 22), ("M", 23)]),
        (first, 506, vec![("J", 21), ("K", 21), ("M", 21)]),
        (waves, 52, of_waves),
    ] {
        let grid = GridSection::parse(&bytes).unwrap();
        assert_eq!((grid.shape(), grid.coordinates(600)), (Ok(vec![points]), Ok(None)));
        assert!(grid.numbers().unwrap().ends_with(&truncation));
        let why = no_places(|name| truncation.iter().any(|(word, _)| *word == name)).unwrap();
        assert_eq!(why.contains("cdo sp2gp"), truncation.len() == 3 && truncation[0].0 == "J");
        assert_eq!(grid.unplaced(), Ok(truncation));
    }
    assert_eq!(GridSection::parse(&small()).unwrap().unplaced(), Ok(Vec::new()));
    assert_eq!(no_places(|name| name == "J"), None);
}

/// A name, a section, and the places of its first and last points.
type Known = (&'static str, &'static str, (f64, f64), (f64, f64));

/// Sections of ecCodes, and of numbers by chance, with the places of their first and last points: by ecCodes 2.50, PROJ 9 (on ellipsoids) and,
/// rotated, by the formula.
#[rustfmt::skip]
const KNOWN: [Known; 14] = [
    (
        "latitudes and longitudes, edition 1",
        "00002000ff000005000300ea600543a80000e7c5003a9807d007d00000000000",
        (60.000_000_000, 345.000_000_000),
        (59.333_000_000, 15.000_000_000),
    ),
    (
        "rotated, edition 1",
        "00002a00ff0a000300020027100557300080271000271007d007d00000000000809c4000271000000000",
        (58.711_630_922, 350.774_927_133),
        (39.148_055_747, 22.739_048_677),
    ),
    (
        "Lambert conformal, edition 1, oblate",
        "00002a00ff030004000300a604055730c0000fa000c35000ea60004000b3b000c3500000000000000000",
        (42.500_000_000, 350.000_000_000),
        (43.791_031_430, 351.560_628_604),
    ),
    (
        "polar stereographic, edition 1",
        "00002000ff050004000300a60405573080000fa000c35000ea60004000000000",
        (42.500_000_000, 350.000_000_000),
        (43.728_913_485, 351.315_077_886),
    ),
    (
        "Mercator, edition 1",
        "00002a00ff01000400030030d405573080004e20002710004e20004000c35000ea600000000000000000",
        (12.500_000_000, 350.000_000_000),
        (13.619_341_919, 351.436_352_940),
    ),
    (
        "reduced Gaussian, edition 1",
        "0000a0002104ffff004001573800000000815738057344ffff002000000000000014001b00240028002d0032003c00400048004b0050005a005a00600064006c006c007800780078008000800080008000800080008000800080008000800080008000800080008000800080008000800080008000800080007800780078006c006c00640060005a005a0050004b00480040003c0032002d00280024001b0014",
        (87.863_798_839, 0.000_000_000),
        (-87.863_798_839, 342.000_000_000),
    ),
    (
        "space view",
        "0000005003000000000c0000005a00ffffffffffffffffffffffffffffff00000003000000040000000000989680300000000900000008000003e8000007d000000000000064df0c0000000000000001",
        (12.405_356_850, 358.732_434_564),
        (-25.867_587_244, 22.418_162_671),
    ),
    (
        "HEALPix, nested",
        "0000002a0300000000300000009600ffffffffffffffffffffffffffffff300000000202aea540040100",
        (19.471_220_634, 45.000_000_000),
        (-19.471_220_634, 315.000_000_000),
    ),
    (
        "Lambert conformal, ellipsoid",
        "000000490300000000060000001e05000000000000000000000000000000000000030000000282ea57e606415a510000000000051a550c0793319806184998800084084a50842be2a4",
        (-48.912_358_000, 104.946_257_000),
        (-49.003_483_786, 108.504_128_591),
    ),
    (
        "Albers, ellipsoid",
        "000000490300000000050000001f05000000000000000000000000000000000000010000000502973979173c68c100000000001574079b0a2b0ae809e75ac800400415597f037115a0",
        (43.465_081_000, 29.834_945_000),
        (48.872_006_850, 33.814_293_692),
    ),
    (
        "polar stereographic, ellipsoid",
        "0000004103000000000600000014050000000000000000000000000000000000000600000001046d96870d5f2215000475620a048d2ebf04978d68045bc4b80080",
        (74.290_823_000, 224.338_453_000),
        (75.812_862_689, 236.386_865_298),
    ),
    (
        "Mercator, ellipsoid",
        "000000480300000000050000000a0500000000000000000000000000000000000001000000058303382109bcd23d000283092d0000000000000000c00000000016f25bf0138ef928",
        (-50.542_625_000, 163.369_533_000),
        (-39.318_235_022, 163.369_533_000),
    ),
    (
        "Lambert azimuthal, ellipsoid",
        "0000004003000000000c0000008c050000000000000000000000000000000000000300000004054e08408052170d055d4a800092ee63000b7b1e10172798d880",
        (89.000_000_000, 354.620_147_000),
        (77.988_520_037, 351.611_266_149),
    ),
    (
        "transverse Mercator, ellipsoid",
        "0000004c0300000000080000000c0500000000000000000000000000000000000004000000020409a69c0275dc76003f84fdf50262d46b81d6e14880005578dc0083f4dc835449e58543ab96",
        (61.651_026_571, 23.710_680_108),
        (60.534_842_289, 21.306_727_527),
    ),
];

#[test]
fn places_are_known_ones() {
    for (name, section, first, last) in KNOWN {
        let digits: Vec<u8> =
            section.bytes().map(|digit| u8::try_from((digit as char).to_digit(16).unwrap()).unwrap()).collect();
        let bytes: Vec<u8> = digits.chunks(2).map(|pair| pair[0] << 4 | pair[1]).collect();
        let grid = GridSection::parse(&bytes).unwrap();
        let points = grid.coordinates(10_000).unwrap().unwrap();
        assert_eq!(points.latitudes.len() as u64, grid.shape().unwrap().iter().product::<u64>(), "{name}");
        for (at, (latitude, longitude)) in [(0, first), (points.latitudes.len() - 1, last)] {
            let far = angle((points.latitudes[at], points.longitudes[at]), (latitude, longitude));
            assert!(far < 1e-8, "{name}: {} {}", points.latitudes[at], points.longitudes[at]);
        }
    }
}
