//! GRIB messages in and out, beside copies of their bytes. The reference's converter is not measured here.

use std::fs;
use std::hint::black_box;

use tgm_convert::grib2::{GribOptions, from_tensogram, from_tensogram_into, to_tensogram};
use tgm_std::DecodeOptions;

use crate::Bench;
use crate::data;
use crate::harness::{Bound, Case};
use crate::libraries::{Dtype, Spec, first, ours};

/// Columns of the grid.
const COLUMNS: usize = 1440;
/// Values of a group of complex packing.
const GROUP: usize = 32;
/// Parameters of CCSDS, as `Spec::szip` has them.
const BLOCK: u8 = 32;
const INTERVAL: u16 = 128;
const FLAGS: u8 = 8;

pub fn run(bench: &mut Bench) {
    let rows = bench.size(721 * 4, 91);
    let values = data::field(rows * COLUMNS);
    let integers: Vec<u16> = values.iter().map(|value| ((value - 200.0) * 400.0) as u16).collect();
    let plain: Vec<u8> = integers.iter().flat_map(|integer| integer.to_be_bytes()).collect();
    let kinds = [
        ("5.0, 16 bits", message(rows, 0, 16, &[], &plain)),
        ("5.42, 16 bits", {
            let more = [&[FLAGS, BLOCK][..], &INTERVAL.to_be_bytes()].concat();
            message(rows, 42, 16, &more, &compressed(&integers))
        }),
        ("5.2, 16 bits", grouped(rows, &integers, 0)),
        ("5.3, order 2", grouped(rows, &integers, 2)),
    ];
    for (name, grib) in &kinds {
        // Data that can be copied are: the work of szip is measured elsewhere.
        let options = GribOptions { keep_stages: true, ..GribOptions::default() };
        let made = to_tensogram(grib, &options).expect("a message of this bench").message;
        assert!(from_tensogram(&made, &DecodeOptions::default()).expect("just made").message == *grib);
        check_values(&made, &integers);
        let folder = tempfile::tempdir().expect("a folder");
        let [from, to] = ["from", "to"].map(|name| folder.path().join(name));
        fs::write(&from, grib).expect("a file");
        let back = folder.path().join("back");
        fs::write(&back, &made).expect("a file");
        let is_verbatim = name.starts_with("5.0") || name.starts_with("5.42");
        let case = Case::new(format!("in, {name}, {} MiB", grib.len() >> 20))
            .bytes(grib.len())
            .row("us", || to_tensogram(black_box(grib), &options))
            .row("us, files", || {
                let message = fs::read(&from).expect("a file");
                fs::write(&to, to_tensogram(&message, &options).expect("as before").message)
            })
            .row("limit: copy of the file", || fs::copy(&from, &to))
            .row("limit: memcpy", || black_box(grib.as_slice()).to_vec());
        bench.run(with_goal(case, is_verbatim));
        let mut buffer = Vec::new();
        let case = Case::new(format!("out, {name}, {} MiB", grib.len() >> 20))
            .bytes(grib.len())
            .row("us, warm", || from_tensogram_into(black_box(&made), &DecodeOptions::default(), &mut buffer))
            .row("us, files", || {
                let message = fs::read(&back).expect("a file");
                fs::write(&to, from_tensogram(&message, &DecodeOptions::default()).expect("as before").message)
            })
            .row("limit: copy of the file", || fs::copy(&from, &to))
            .row("limit: memcpy", || black_box(grib.as_slice()).to_vec());
        bench.run(with_goal(case, is_verbatim));
    }
}

/// Half as fast as `cp`, for data that keep their bits.
fn with_goal(case: Case<'_>, is_verbatim: bool) -> Case<'_> {
    if is_verbatim { case.goal("GRIB", "us, files", Bound::Within("limit: copy of the file", 2.0)) } else { case }
}

/// Checks that a message has these integers: R is 0, E and D are 0.
fn check_values(message: &[u8], integers: &[u16]) {
    let values = ours::object(message, 0);
    let values = values.as_chunks().0.iter().map(|bytes| f64::from_ne_bytes(*bytes));
    assert!(values.eq(integers.iter().map(|integer| f64::from(*integer))));
}

/// A section with its length and number.
fn section(number: u8, content: &[u8]) -> Vec<u8> {
    let length = u32::try_from(content.len() + 5).expect("a small section").to_be_bytes();
    [&length[..], &[number], content].concat()
}

/// A message of a global grid. `more` is what section 5 has after octet 21.
fn message(rows: usize, template: u8, bits: u8, more: &[u8], data: &[u8]) -> Vec<u8> {
    let four = |number: usize| u32::try_from(number).expect("a small number").to_be_bytes();
    let points = four(rows * COLUMNS);
    let identification = section(1, &[0, 98, 0, 0, 30, 0, 1, 7, 234, 11, 23, 0, 0, 0, 0, 1]);
    // Octets 6 to 14, then template 3.0 from the shape of the Earth on.
    let bounds =
        [&four(COLUMNS), &four(rows), &[0; 4], &[255; 4], &four(90_000_000), &[0; 4]].map(|four| &four[..]).concat();
    let south = 90_000_000 + (1_u32 << 31);
    let ends =
        [&south.to_be_bytes(), &four(359_750_000), &four(250_000), &four(250_000)].map(|four| &four[..]).concat();
    let grid = [&[0][..], &points, &[0; 4], &[6], &[0; 15], &bounds, &[48], &ends, &[0]].concat();
    let product =
        [&[0; 4][..], &[0, 0, 2, 255, 0, 0, 0, 0, 1, 0, 0, 0, 0, 100, 0, 0, 0, 0x86, 0xa0], &[255; 6]].concat();
    // R, E and D are 0.
    let representation = [&points[..], &[0, template], &[0; 8], &[bits, 0], more].concat();
    let sections = [
        identification,
        section(3, &grid),
        section(4, &product),
        section(5, &representation),
        section(6, &[255]),
        section(7, data),
    ];
    let body = sections.concat();
    let length = (16 + body.len() + 4) as u64;
    [&b"GRIB\0\0\0\x02"[..], &length.to_be_bytes(), &body, b"7777"].concat()
}

/// 16-bit integers as CCSDS has them.
fn compressed(integers: &[u16]) -> Vec<u8> {
    let bytes: Vec<u8> = integers.iter().flat_map(|integer| integer.to_le_bytes()).collect();
    let message = ours::encode_one(&Spec::new(Dtype::Uint16, integers.len()).szip(), &bytes);
    first(&message).payload().to_vec()
}

/// A message of complex packing: groups of one length, each with its least integer as reference.
fn grouped(rows: usize, integers: &[u16], order: u8) -> Vec<u8> {
    let mut values: Vec<i64> = integers.iter().copied().map(i64::from).collect();
    let mut extra = Vec::new();
    if order == 2 {
        let firsts = [values[0], values[1]];
        for i in (2..values.len()).rev() {
            values[i] = values[i] - 2 * values[i - 1] + values[i - 2];
        }
        let least = values[2..].iter().copied().min().unwrap_or(0);
        values[2..].iter_mut().for_each(|value| *value -= least);
        values[..2].fill(0);
        let sign = if least < 0 { 1_u32 << 31 } else { 0 };
        let least = u32::try_from(least.unsigned_abs()).expect("a small difference") | sign;
        extra = [firsts.map(|first| u32::try_from(first).expect("at least 0")).as_slice(), &[least]].concat();
    }
    let groups: Vec<_> = values.chunks(GROUP).collect();
    let mut bits = Bits::default();
    for number in extra {
        bits.put(u64::from(number), 32);
    }
    let least = |group: &[i64]| group.iter().copied().min().unwrap_or(0) as u64;
    let width = |group: &[i64]| {
        let greatest = group.iter().copied().max().unwrap_or(0) as u64 - least(group);
        u64::BITS - greatest.leading_zeros()
    };
    for group in &groups {
        bits.put(least(group), 24);
    }
    bits.align();
    for group in &groups {
        bits.put(width(group).into(), 8);
    }
    // Lengths take no bits: all are the base.
    for group in &groups {
        group.iter().for_each(|value| bits.put(*value as u64 - least(group), width(group)));
    }
    bits.align();
    let four = |number: usize| u32::try_from(number).expect("a small number").to_be_bytes();
    let rest = groups.last().map_or(0, |group| group.len());
    let more = [&[1, 0][..], &[0; 8], &four(groups.len()), &[0, 8], &four(GROUP), &[1], &four(rest), &[0]].concat();
    let more = if order > 0 { [&more[..], &[order, 4]].concat() } else { more };
    message(rows, if order > 0 { 3 } else { 2 }, 24, &more, &bits.bytes)
}

/// Integers one after the other.
#[derive(Default)]
struct Bits {
    bytes: Vec<u8>,
    held: u64,
    count: u32,
}

impl Bits {
    fn put(&mut self, integer: u64, width: u32) {
        self.held = self.held << width | integer;
        self.count += width;
        while self.count >= 8 {
            self.count -= 8;
            self.bytes.push((self.held >> self.count) as u8);
        }
    }

    fn align(&mut self) {
        self.put(0, self.count.wrapping_neg() % 8);
    }
}
