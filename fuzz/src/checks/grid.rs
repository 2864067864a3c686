//! Grids: sections of both editions of GRIB, names of grids, strings of PROJ.

use tgm_grid::{Area, GridSection, KnownPoints, NamedGrid, Places};

/// Points that damaged numbers may ask for: few, so that an input takes a millisecond.
const MOST: u32 = 1 << 11;
/// Parallels of Gaussian grids that damaged numbers may ask for: 8192 take half a second of work, too long for each of many inputs.
const PARALLELS: i64 = 256;

/// Checks the sections of both editions that `bytes` are, with their lengths put right, and the name that `bytes` are.
pub fn check(bytes: &[u8]) {
    for whole in [Some(bytes.to_vec()), second(bytes), first(bytes)].into_iter().flatten() {
        if let Ok(section) = GridSection::parse(&whole) {
            self::section(section);
        }
    }
    if let Ok(text) = std::str::from_utf8(bytes) {
        name(text);
    }
}

/// The bytes as section 3 of edition 2: its length and its number.
fn second(bytes: &[u8]) -> Option<Vec<u8>> {
    let mut whole = bytes.to_vec();
    let length = u32::try_from(whole.len()).ok()?.to_be_bytes();
    whole.get_mut(..4)?.copy_from_slice(&length);
    *whole.get_mut(4)? = 3;
    Some(whole)
}

/// The bytes as section 2 of edition 1: its length, and the place of a list if the bytes have none.
fn first(bytes: &[u8]) -> Option<Vec<u8>> {
    let mut whole = bytes.to_vec();
    let [0, length @ ..] = u32::try_from(whole.len()).ok()?.to_be_bytes() else { return None };
    whole.get_mut(..3)?.copy_from_slice(&length);
    let place = whole.get_mut(4)?;
    *place = if (1..29).contains(place) { 255 } else { *place };
    Some(whole)
}

fn section(section: GridSection<'_>) {
    let numbers = section.numbers().unwrap_or_default();
    if numbers.iter().any(|(word, number)| *word == "N" && *number > PARALLELS) {
        return;
    }
    let (_, _) = (section.area(), section.unplaced());
    let Ok(shape) = section.shape() else { return };
    let count = section.point_count().expect("it has a shape");
    assert!(shape.iter().product::<u64>() == u64::from(count));
    let places = Places::of_section(section, &shape, MOST);
    let _ = KnownPoints::new(vec![], None).places(Some(section), &shape);
    if let Ok(Some(found)) = section.coordinates(MOST) {
        assert!(found.latitudes.len() == count as usize && found.longitudes.len() == count as usize);
        assert!(
            found.latitudes.iter().all(|degree| degree.is_nan() || degree.abs() <= 90.002),
            "{:?}",
            found.latitudes
        );
        assert!(found.longitudes.iter().all(|degree| degree.is_nan() || (0.0..360.0).contains(degree)));
        assert!(places.is_ok_and(|places| places.is_some()));
    }
    if let Ok(Some(found)) = section.projected(&shape, MOST) {
        let (rows, columns) = &found.axes;
        assert!(rows.len() * columns.len() == count as usize);
    }
}

fn name(text: &str) {
    let parallels = text.trim().get(1..).and_then(|number| number.parse::<i64>().ok());
    if parallels.is_some_and(|parallels| parallels > PARALLELS) {
        return;
    }
    let Some(grid) = NamedGrid::parse(text, None) else { return };
    for shape in [&[48][..], &[6114], &[8, 16], &[181, 360]] {
        if let Some(places) = grid.places(shape, Some(Area::GLOBE), MOST) {
            let indices = vec![0; shape.len()];
            let _ = places.nearest(10.0, 20.0);
            assert!(places.place(&indices).is_some());
        }
    }
}
