//! Messages of edition 1, put together here: lengths, padding, bitmaps, and what lies between messages.

use tgm_convert::grib2::{Found, GribError, GribErrorKind, GribOptions, MessageReader, to_tensogram};
use tgm_std::{DecodeOptions, decode};

use super::{back, sample, small};

/// A message in the making: sections without their lengths.
#[derive(Clone)]
struct Made {
    product: Vec<u8>,
    grid: Option<Vec<u8>>,
    bitmap: Option<Vec<u8>>,
    data: Vec<u8>,
}

/// Values of 8 bits on a grid of rows and columns: R is 16, E is 0.
fn bytes_on(rows: u16, columns: u16, values: &[u8]) -> Made {
    let mut product =
        vec![128, 98, 145, 255, 0x80, 130, 100, 1, 244, 17, 5, 4, 12, 0, 1, 6, 0, 0, 0, 0, 0, 21, 0, 0, 0];
    product.resize(49, 0);
    let mut grid = vec![0, 255, 0];
    grid.extend([columns.to_be_bytes(), rows.to_be_bytes()].concat());
    grid.extend([0x80, 0, 0]);
    grid.resize(29, 0);
    Made { product, grid: Some(grid), bitmap: None, data: [&[0, 0, 0, 0x42, 0x10, 0, 0, 8], values].concat() }
}

impl Made {
    /// The message, whose length field is `length`, if there is one, and that of section 4 `data`.
    fn bytes(&self, lengths: Option<(u32, u32)>) -> Vec<u8> {
        let section = |content: &[u8]| [&number(content.len() + 3)[..], content].concat();
        let mut product = self.product.clone();
        product[4] = u8::from(self.grid.is_some()) << 7 | u8::from(self.bitmap.is_some()) << 6;
        let mut all = section(&product);
        all.extend(self.grid.iter().chain(&self.bitmap).flat_map(|content| section(content)));
        let mut data = section(&self.data);
        let mut length = number(8 + all.len() + data.len() + 4);
        if let Some((whole, four)) = lengths {
            length = number(whole as usize);
            data[..3].copy_from_slice(&number(four as usize));
        }
        [&b"GRIB"[..], &length, &[1], &all, &data, b"7777"].concat()
    }

    fn message(&self) -> Vec<u8> {
        self.bytes(None)
    }
}

fn number(value: usize) -> [u8; 3] {
    let [.., high, middle, low] = value.to_be_bytes();
    [high, middle, low]
}

/// The values of a message that returns to the byte, and its shape.
fn values(message: &[u8]) -> (Vec<u64>, Vec<f64>) {
    let made = to_tensogram(message, &GribOptions::default()).unwrap().message;
    assert!(back(&made).unwrap() == message);
    let (descriptor, values) = decode(&made, &DecodeOptions::default()).unwrap().1.remove(0);
    let values = values.as_chunks().0.iter().map(|bytes| f64::from_ne_bytes(*bytes)).collect();
    (descriptor.shape, values)
}

fn error(message: &[u8]) -> (GribErrorKind, u64) {
    let error = to_tensogram(message, &GribOptions::default()).unwrap_err();
    let cause = std::error::Error::source(&error).unwrap().downcast_ref::<GribError>().unwrap();
    (cause.kind(), cause.offset())
}

#[test]
fn values_are_the_reference_and_scaled_integers() {
    let mut made = bytes_on(2, 3, &[0, 1, 2, 3, 4, 255]);
    assert_eq!(values(&made.message()), (vec![2, 3], vec![16.0, 17.0, 18.0, 19.0, 20.0, 271.0]));
    // A binary scale of -3, and columns that follow each other.
    made.data[1..3].copy_from_slice(&[0x80, 3]);
    made.grid.as_mut().unwrap()[24] = 32;
    assert_eq!(values(&made.message()), (vec![3, 2], vec![16.0, 16.125, 16.25, 16.375, 16.5, 47.875]));
    // A decimal scale of 1 divides values that have bits, and no others.
    made.product[23..25].copy_from_slice(&[0, 1]);
    made.data[1..3].copy_from_slice(&[0, 0]);
    assert_eq!(values(&made.message()).1[..1], [1.6]);
    made.data.truncate(8);
    made.data[7] = 0;
    assert_eq!(values(&made.message()).1, [16.0; 6]);
}

#[test]
fn the_mask_has_the_bits_of_a_bitmap() {
    let mut made = bytes_on(3, 3, &[7, 8, 9, 0]);
    // The number of unused bits, and the table, then nine bits and zeros up to an even length.
    made.bitmap = Some(vec![7, 0, 0, 0b0100_1000, 0b1000_0000]);
    let (shape, found) = values(&made.message());
    assert_eq!(shape, [3, 3]);
    let expected = [f64::NAN, 23.0, f64::NAN, f64::NAN, 24.0, f64::NAN, f64::NAN, f64::NAN, 25.0];
    assert!(
        found.iter().zip(expected).all(|(one, other)| one.total_cmp(&other).is_eq() || one.is_nan() && other.is_nan())
    );
    let few = to_tensogram(&made.message(), &GribOptions::default()).unwrap().message.len();
    // Bits of no point, zeros after them, and other bytes there: the first and the last are kept whole.
    for (bits, is_kept) in [
        (vec![7, 0, 0, 0x48, 0x80, 0, 0, 0], false),
        (vec![7, 0, 0, 0x48, 0x81], true),
        (vec![7, 0, 0, 0x48, 0x80, 3], true),
    ] {
        made.bitmap = Some(bits);
        assert_eq!(values(&made.message()).0, [3, 3]);
        let len = to_tensogram(&made.message(), &GribOptions::default()).unwrap().message.len();
        assert!(is_kept || len == few, "{len} {few}");
    }
    // A bitmap of the centre's, which no message has: all points have a value, or the message is refused.
    made.bitmap = Some(vec![0, 0, 5]);
    assert_eq!(error(&made.message()).0, GribErrorKind::PredefinedBitmap(5));
    made.data.extend([1, 2, 3, 4, 5]);
    assert_eq!(values(&made.message()).1.len(), 9);
    // A bitmap that is too short.
    made.bitmap = Some(vec![0, 0, 0, 0xff]);
    assert_eq!(error(&made.message()).0, GribErrorKind::ShortBitmap { bits: 8, points: 9 });
}

#[test]
fn longer_sections_and_padding_return() {
    let values_of = |made: &Made| values(&made.message());
    let plain = bytes_on(1, 4, &[1, 2, 3, 4]);
    let expected = values_of(&plain);
    let mut made = plain.clone();
    made.product.extend([9; 7]);
    made.grid.as_mut().unwrap().extend([8; 5]);
    assert_eq!(values_of(&made), expected);
    for padding in [&[0; 1][..], &[0; 40], &[1, 0], &[0, 0, 5]] {
        let mut made = plain.clone();
        made.data.extend(padding);
        assert_eq!(values_of(&made), expected, "{padding:?}");
    }
    // Bits of no value in the last byte.
    let mut made = bytes_on(1, 3, &[0x12, 0x37]);
    made.data[7] = 4;
    assert_eq!(values_of(&made).1, [17.0, 18.0, 19.0]);
}

#[test]
fn points_are_counted_by_the_rows_or_by_the_data() {
    let mut made = bytes_on(3, u16::MAX, &[1, 2, 3, 4, 5, 6, 0]);
    let grid = made.grid.as_mut().unwrap();
    // Two vertical coordinates, then the lengths of three rows.
    (grid[0], grid[1]) = (2, 33);
    grid.extend([0; 8]);
    grid.extend([0, 1, 0, 2, 0, 3]);
    assert_eq!(values(&made.message()).0, [6]);
    // A part of each row.
    made.data.truncate(8 + 5);
    assert_eq!(values(&made.message()).0, [5]);
    // Rows without lengths.
    made.grid.as_mut().unwrap()[1] = 255;
    assert_eq!(error(&made.message()).0, GribErrorKind::Grid);
    // Without a grid, section 4 says how many values there are.
    made.grid = None;
    made.data[0] = 8;
    assert_eq!(values(&made.message()).0, [4]);
    made.data[7] = 0;
    assert_eq!(error(&made.message()).0, GribErrorKind::Grid);
}

#[test]
fn lengths_in_units_of_120_octets_are_read_and_written() {
    let (rows, columns) = (3000_u16, 3000_u16);
    let made = bytes_on(rows, columns, &vec![3; 9_000_000]);
    let plain = made.message();
    // Without units, the first bit is one of the length.
    let expected = values(&plain);
    assert_eq!((expected.0, expected.1.len()), (vec![3000, 3000], 9_000_000));
    let units = plain.len().div_ceil(120);
    let over = u32::try_from(units * 120 - plain.len() + 4).unwrap();
    let in_units = made.bytes(Some((0x80_0000 | u32::try_from(units).unwrap(), over)));
    assert!(values(&in_units).1.len() == 9_000_000);
    // Both are found among other bytes, whatever the pieces are in which they come.
    let all = [&b"junk"[..], &in_units, b"GRIB", &plain, &sample("simple-8")].concat();
    let (mut reader, mut found) = (MessageReader::new(&all[..]), Vec::new());
    while let Some(next) = reader.read_next().unwrap() {
        found.push(match next {
            Found::Message { bytes, .. } => bytes.len(),
            Found::Other { length, .. } => usize::try_from(length).unwrap(),
            _ => 0,
        });
    }
    assert_eq!(found, [4, in_units.len(), 4, plain.len(), sample("simple-8").len()]);
    for len in [7, 8, 20, 60, 100, in_units.len() - 1] {
        assert!(to_tensogram(&in_units[..len], &GribOptions::default()).is_err(), "{len}");
        assert!(
            matches!(MessageReader::new(&in_units[..len]).read_next().unwrap(), Some(Found::Other { .. })),
            "{len}"
        );
    }
}

#[test]
fn lengths_that_lie_are_errors() {
    let made = bytes_on(2, 2, &[1, 2, 3, 4]);
    let good = made.message();
    let with = |at: usize, length: usize| {
        let mut bytes = good.clone();
        bytes[at..at + 3].copy_from_slice(&number(length));
        error(&bytes)
    };
    assert_eq!(with(4, good.len() + 1), (GribErrorKind::Truncated(good.len() as u64 + 1), good.len() as u64));
    assert_eq!(with(4, 11).0, GribErrorKind::MessageLength(11));
    assert_eq!(with(4, 20).0, GribErrorKind::NoEnd);
    assert_eq!(with(8, 2).0, GribErrorKind::SectionLength { section: 1, length: 2 });
    assert_eq!(with(8, 200), (GribErrorKind::SectionLength { section: 1, length: 200 }, 8));
    assert_eq!(with(60, 200), (GribErrorKind::SectionLength { section: 2, length: 200 }, 60));
    assert_eq!(with(92, 200), (GribErrorKind::SectionLength { section: 4, length: 200 }, 92));
    // Section 4 that states less than it has: the rest is kept.
    assert_eq!(with_rest(&good), good);
    // Units that are none, and sections that lead beyond the message.
    assert!(matches!(with(4, 0x80_0000).0, GribErrorKind::Truncated(_) | GribErrorKind::MessageLength(_)));
}

/// The message whose section 4 states one byte less than it has, there and back, with its own length again.
fn with_rest(good: &[u8]) -> Vec<u8> {
    let mut bytes = good.to_vec();
    bytes[94] -= 1;
    let made = to_tensogram(&bytes, &GribOptions::default()).unwrap().message;
    let mut again = back(&made).unwrap();
    assert!(again == bytes);
    again[94] += 1;
    again
}

/// Messages of each kind that are small.
fn kinds() -> Vec<Vec<u8>> {
    let plain = bytes_on(2, 2, &[1, 2, 3, 4]);
    let with_bits = Made { bitmap: Some(vec![4, 0, 0, 0b1010_0000]), ..bytes_on(2, 2, &[1, 2]) };
    let no_grid = Made { grid: None, ..plain.clone() };
    [plain, with_bits, no_grid].iter().map(Made::message).collect()
}

#[test]
fn every_beginning_is_an_error_and_every_changed_byte_too_or_it_returns() {
    let stride = crate::scale::stride(51);
    let (mut accepted, mut all) = (0, 0);
    for message in kinds() {
        for len in 0..message.len() {
            assert!(to_tensogram(&message[..len], &small()).is_err(), "{len}");
        }
        for at in 0..message.len() {
            for flip in (1..=255).skip(at % stride).step_by(stride) {
                let mut damaged = message.clone();
                damaged[at] ^= flip;
                all += 1;
                let Ok(made) = to_tensogram(&damaged, &small()) else { continue };
                let restored = back(&made.message).unwrap_or_else(|error| panic!("{at} {flip}: {error}"));
                assert!(restored == damaged, "{at} {flip}");
                accepted += 1;
            }
        }
    }
    assert!(accepted * 3 > all, "{accepted} of {all}");
}

#[test]
fn ieee_numbers_and_a_missing_scale_are_read_as_ec_codes_does() {
    let mut made = bytes_on(1, 3, &[]);
    (made.data[0], made.data[7]) = (0x30, 24);
    let numbers =
        |width: u8, numbers: &[u8]| Made { data: [&made.data[..], &[width], numbers].concat(), ..made.clone() };
    let message = numbers(2, &[1.5, -2.0, 1e300].map(f64::to_be_bytes).concat()).message();
    assert_eq!(values(&message).1, [1.5, -2.0, 1e300]);
    let message = numbers(1, &[1.5_f32, -2.0, 1e30].map(f32::to_be_bytes).concat()).message();
    let single = to_tensogram(&message, &GribOptions::default()).unwrap().message;
    assert!(back(&single).unwrap() == message);
    assert!(values(&numbers(3, &[0; 48]).message()).1.iter().all(|value| value.is_nan()));
    // No point has a value, with a bitmap and without one.
    let mut absent = bytes_on(2, 2, &[1, 2, 3, 4]);
    absent.data[1..3].copy_from_slice(&[0xff, 0xff]);
    assert!(values(&absent.message()).1.iter().all(|value| value.is_nan()));
    absent.bitmap = Some(vec![4, 0, 0, 0b1010_0000]);
    assert!(values(&absent.message()).1.iter().all(|value| value.is_nan()));
}

#[test]
fn a_matrix_is_kept_without_values_and_returns() {
    let mut made = bytes_on(2, 2, &[1, 2, 3, 4]);
    made.data[0] = 0x10;
    let converted = to_tensogram(&made.message(), &GribOptions::default()).unwrap();
    let [note] = converted.notes.as_slice() else { panic!("{:?}", converted.notes) };
    assert!(note.to_string().contains("a matrix at each point"), "{note}");
    assert!(values(&made.message()).1.iter().all(|value| value.is_nan()));
}
