//! All cases of what is small, and all combinations of edges of what is not: each compared with a plain statement of the rule.
//!
//! | what | all of |
//! |---|---|
//! | the order of frames | sequences of seven types |
//! | one frame | types, lengths and rooms up to 48 bytes |
//! | two frames | lengths and gaps up to 17 bytes, with zeros and with other bytes between them |
//! | arrays of integers | lengths up to 26, with one integer of another width at each place |
//! | bit fields | widths, first elements up to 17, and each single bit |
//! | numbers of 64 bits | combinations of edges: rooms, ranges, lengths, boxes of tensors |
#![allow(missing_docs, reason = "a test")]
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests may panic")]
#![allow(clippy::cast_possible_truncation, clippy::cast_possible_wrap, reason = "small numbers")]
#![allow(clippy::cast_precision_loss, clippy::float_cmp, reason = "powers of two and their rounding are exact")]

use std::num::NonZeroU64;

use tgm_core::cbor::{Cursor, Uints};
use tgm_core::descriptor::{ByteOrder, Descriptor, Dtype};
use tgm_core::frame::{Frame, Walk};
use tgm_core::packing::{Packing, unpack_bytes_into, unpack_into};
use tgm_core::phase::DecodePhase;
use tgm_core::selection::{Pick, Row, Selection};
use tgm_core::stored::{stored_len, window_of};
use tgm_core::tensor::Shape;
use tgm_core::wire::FrameType;
use tgm_core::{ErrorKind, Message};

/// Numbers at which arithmetic of 64 bits goes wrong, if it does.
const EDGES: [u64; 19] = [
    0,
    1,
    2,
    7,
    8,
    9,
    (1 << 31) - 1,
    1 << 31,
    (1 << 32) - 1,
    1 << 32,
    1 << 58,
    1 << 60,
    (1 << 61) + 1,
    1 << 62,
    (1 << 63) - 1,
    1 << 63,
    u64::MAX - 8,
    u64::MAX - 1,
    u64::MAX,
];

/// The rule as FORMAT §1.10 has it: header frames, objects with a preceder or without, footer frames. Returns the place
/// of the first frame that breaks it, and whether the message may end after the last one.
fn order(frames: &[FrameType]) -> Result<bool, usize> {
    let rank = |frame: &FrameType| match frame {
        FrameType::HeaderMetadata | FrameType::HeaderIndex | FrameType::HeaderHash => 0,
        FrameType::PrecederMetadata | FrameType::NTensorFrame => 1,
        FrameType::FooterHash | FrameType::FooterIndex | FrameType::FooterMetadata => 2,
    };
    let is_preceder = |frame: &FrameType| *frame == FrameType::PrecederMetadata;
    let breaks = |pair: &[FrameType]| {
        rank(&pair[0]) > rank(&pair[1]) || is_preceder(&pair[0]) && pair[1] != FrameType::NTensorFrame
    };
    match frames.windows(2).position(breaks) {
        Some(at) => Err(at + 1),
        None => Ok(!frames.last().is_some_and(is_preceder)),
    }
}

#[test]
fn frames_come_in_the_order_of_the_format() {
    const DEPTH: u32 = 7;
    let types = FrameType::ALL;
    for number in 0..types.len().pow(DEPTH) {
        let frames: [FrameType; DEPTH as usize] =
            std::array::from_fn(|at| types[number / types.len().pow(at as u32) % types.len()]);
        let (mut walk, mut phase) = (Walk::new(24, u64::MAX), DecodePhase::default());
        let found = frames.iter().enumerate().try_for_each(|(at, frame)| {
            let entered = walk.enter(*frame, 32);
            assert_eq!(entered.map_err(|error| error.kind()), phase.after(*frame).map(|next| phase = next));
            assert_eq!(entered.map_err(|error| error.offset()), entered.map_err(|_| 24 + 32 * at as u64));
            assert_eq!((walk.phase(), walk.position()), (phase, 24 + 32 * (at + usize::from(entered.is_ok())) as u64));
            entered.map_err(|error| (at, error.kind()))
        });
        match (found, order(&frames)) {
            (Ok(()), Ok(may_end)) => {
                let end = if may_end { Ok(()) } else { Err(ErrorKind::DanglingPreceder) };
                assert_eq!((walk.finish().map_err(|error| error.kind()), phase.finish()), (end, end));
            }
            (Err((at, kind)), Err(wanted)) => {
                assert_eq!(at, wanted);
                let was_preceder = frames[at - 1] == FrameType::PrecederMetadata;
                assert_eq!(kind == ErrorKind::PrecederWithoutObject(frames[at]), was_preceder);
            }
            (found, wanted) => panic!("{frames:?}: {found:?}, {wanted:?}"),
        }
    }
}

/// A frame of type number `number` that states `stated` bytes, and ends at byte `ends` as frames end.
fn frame(number: u16, stated: u64, ends: usize, bytes: usize) -> Vec<u8> {
    let mut frame = vec![0; bytes];
    let mut put = |at: usize, new: &[u8]| {
        frame.iter_mut().skip(at).zip(new).for_each(|(byte, new)| *byte = *new);
    };
    put(0, b"FR");
    put(2, &number.to_be_bytes());
    put(4, &[0, 1, 0, 0]);
    put(8, &stated.to_be_bytes());
    if number == 9 && ends >= 36 {
        // The descriptor is empty, and before the tail.
        put(ends - 20, &(ends as u64 - 20).to_be_bytes());
    }
    if ends >= 20 {
        put(ends - 4, b"ENDF");
    }
    frame
}

#[test]
fn frames_of_all_small_lengths_are_whole_or_refused() {
    for number in 0..=10 {
        let smallest = if number == 9 { 36 } else { 28 };
        for (stated, room) in (0..=48).flat_map(|stated| (0..=48).map(move |room| (stated, room))) {
            let bytes = frame(number, stated as u64, stated, room);
            let found =
                Frame::parse(&bytes).map(|(frame, rest)| (frame.body().len(), frame.total_length(), rest.len()));
            let expected = match (room, number) {
                (..16, _) => Err(ErrorKind::Truncated),
                (_, 4) => Err(ErrorKind::ReservedFrameType),
                (_, 0 | 10) => Err(ErrorKind::UnknownFrameType(number)),
                _ if stated < smallest => Err(ErrorKind::FrameTooSmall),
                _ if stated > room => Err(ErrorKind::FrameExceedsMessage),
                _ => Ok((stated - smallest, stated as u64, room - stated)),
            };
            assert_eq!(found.map_err(|error| error.kind()), expected, "type {number}, {stated} of {room} bytes");
        }
    }
}

#[test]
fn two_frames_are_found_whatever_is_between_them() {
    let types = [FrameType::HeaderMetadata, FrameType::NTensorFrame];
    for (first, second) in types.into_iter().flat_map(|first| types.map(|second| (first, second))) {
        for (long, gap, fill) in
            (0..=17).flat_map(|long| (0..=17).flat_map(move |gap| [0_u8, b'F', b'R'].map(|fill| (long, gap, fill))))
        {
            let lens = [first.min_size() + long, second.min_size() + 17 - long];
            let len = 24 + lens[0] + gap + lens[1] + 24;
            let mut bytes = b"TENSOGRM\0\x03\0\0\0\0\0\0".to_vec();
            bytes.extend((len as u64).to_be_bytes());
            bytes.extend(frame(first.as_u16(), lens[0] as u64, lens[0], lens[0]));
            bytes.extend(vec![fill; gap]);
            let start = bytes.len();
            bytes.extend(frame(second.as_u16(), lens[1] as u64, lens[1], lens[1]));
            bytes.extend((len as u64 - 24).to_be_bytes());
            bytes.extend((len as u64).to_be_bytes());
            bytes.extend(b"39277777");
            let message = Message::parse(&bytes).unwrap();
            let found: Vec<_> =
                message.frames().map(|frame| frame.map(|frame| (frame.offset(), frame.end_offset()))).collect();
            let places = [(24, (24 + lens[0]) as u64), (start as u64, (start + lens[1]) as u64)];
            if first == FrameType::NTensorFrame && second == FrameType::HeaderMetadata {
                let wrong = ErrorKind::FrameOrder(second, DecodePhase::Body).at(start as u64);
                assert_eq!(found, [Ok(places[0]), Err(wrong)]);
            } else {
                assert_eq!(found, places.map(Ok), "{first} of {} bytes, {gap} of {fill}", lens[0]);
            }
        }
    }
}

#[test]
fn walks_stop_at_the_edges_of_numbers() {
    for (start, end, step) in triples() {
        let mut walk = Walk::new(start, end);
        assert_eq!(walk.room(), end.saturating_sub(start));
        walk.skip(step);
        let wide = (u128::from(start) + u128::from(step)).min(u64::MAX.into());
        assert_eq!(u128::from(walk.position()), wide);
        let mut other = Walk::new(start, end);
        other.enter(FrameType::FooterIndex, step).unwrap();
        assert_eq!((other.position(), other.room()), (walk.position(), end.saturating_sub(walk.position())));
    }
}

fn pairs() -> impl Iterator<Item = (u64, u64)> {
    EDGES.into_iter().flat_map(|a| EDGES.map(|b| (a, b)))
}

fn triples() -> impl Iterator<Item = (u64, u64, u64)> {
    pairs().flat_map(|(a, b)| EDGES.map(|c| (a, b, c)))
}

/// `number` in CBOR with a head of `width` bytes.
fn uint(number: u64, width: usize) -> Vec<u8> {
    let bytes = number.to_be_bytes();
    let head =
        [(1, number as u8), (2, 24), (3, 25), (5, 26), (9, 27)].into_iter().find(|(w, _)| *w == width).unwrap().1;
    [&[head], &bytes[9 - width..]].concat()
}

#[test]
fn arrays_are_read_whatever_the_widths_of_their_integers() {
    const WIDTHS: [usize; 5] = [1, 2, 3, 5, 9];
    for (most, other) in WIDTHS.into_iter().flat_map(|most| WIDTHS.map(|other| (most, other))) {
        for (len, odd) in (0..=26_usize).flat_map(|len| (0..len.max(1)).map(move |odd| (len, odd))) {
            for is_swapped in [false, true] {
                let mut numbers: Vec<u64> =
                    (0..len as u64).map(|n| if most == 1 { n.min(23) } else { n * 3 }).collect();
                if is_swapped && odd > 0 && odd < len {
                    numbers.swap(odd - 1, odd);
                }
                // A head of one byte holds no number above 23.
                if other == 1 && odd < len {
                    numbers[odd] = numbers[odd].min(23);
                }
                let width = |at: usize| if at == odd { other } else { most };
                let items = numbers.iter().enumerate().map(|(at, number)| uint(*number, width(at)));
                let bytes = [uint_head(len), items.collect::<Vec<_>>().concat(), vec![0xff; 80]].concat();
                let mut cursor = Cursor::new(&bytes, 0);
                let found = Uints::read(&mut cursor).unwrap();
                assert_eq!(cursor.offset() as usize, bytes.len() - 80);
                assert!(found.iter().eq(numbers.iter().copied()), "{numbers:?}: {found:?}");
                assert!((0..=len).all(|at| found.get(at) == numbers.get(at).copied()));
                assert_eq!(found.is_ascending(), numbers.is_sorted_by(|a, b| a < b), "{numbers:?}");
            }
        }
    }
}

/// The head of an array of `len` items.
fn uint_head(len: usize) -> Vec<u8> {
    if len < 24 { vec![0x80 | len as u8] } else { vec![0x98, len as u8] }
}

/// Every field is a sum of its bits, and taking fields apart keeps sums: so one bit at a time is enough, beside all bits
/// together, which shows that none is counted twice.
#[test]
fn bit_fields_are_exact_at_every_width_and_place() {
    const COUNT: usize = 10;
    for bits in 0..=64_u32 {
        let width = bits as usize;
        let packing =
            Packing { reference_value: 0.0, binary_scale_factor: 0, decimal_scale_factor: 0, bits_per_value: bits };
        for first in 0..=17_usize {
            let len = ((first + COUNT) * width).div_ceil(8);
            let mut packed = vec![0_u8; len];
            let mut values = [7.0_f64; COUNT];
            for bit in first * width..(first + COUNT) * width {
                packed[bit / 8] = 0x80 >> (bit % 8);
                unpack_into(&packed, &packing, first as u64, &mut values).unwrap();
                packed[bit / 8] = 0;
                let place = bit - first * width;
                let expected = 2_f64.powi((width - 1 - place % width) as i32);
                let is_right = |(at, value): (usize, &f64)| *value == if at == place / width { expected } else { 0.0 };
                assert!(values.iter().enumerate().all(is_right), "{bits} bits, element {first}, bit {bit}: {values:?}");
            }
            packed.fill(0xff);
            unpack_into(&packed, &packing, first as u64, &mut values).unwrap();
            let all = if bits == 0 { 0.0 } else { (u64::MAX >> (64 - bits)) as f64 };
            assert_eq!(values, [all; COUNT], "{bits} bits, element {first}");
            let mut bytes = [0; 8 * COUNT];
            unpack_bytes_into(&packed, &packing, first as u64, ByteOrder::Big, &mut bytes).unwrap();
            assert!(bytes.as_chunks().0.iter().all(|value| f64::from_be_bytes(*value) == all));
            if let Some(short) = len.checked_sub(1) {
                let error = unpack_into(&packed[..short], &packing, first as u64, &mut values).unwrap_err();
                assert_eq!((error.kind(), error.offset(), values), (ErrorKind::Truncated, short as u64, [all; COUNT]));
            }
        }
    }
}

#[test]
fn fields_beyond_64_bits_of_position_are_errors() {
    for (start, bits) in EDGES.into_iter().flat_map(|start| (0..=64).map(move |bits| (start, bits))) {
        let packing =
            Packing { reference_value: 1.0, binary_scale_factor: 0, decimal_scale_factor: 0, bits_per_value: bits };
        let mut values = [0.0_f64; 3];
        let found = unpack_into(&[0; 16], &packing, start, &mut values).map_err(|error| error.kind());
        let end = u128::from(start) + 3;
        let end_bit = end * u128::from(bits);
        let expected = match end_bit {
            _ if end > u64::MAX.into() || end_bit > u64::MAX.into() => Err(ErrorKind::RangeOutOfBounds),
            129.. => Err(ErrorKind::Truncated),
            _ => Ok(()),
        };
        assert_eq!(found, expected, "{bits} bits, element {start}");
        let bytes = (u128::from(start) * u128::from(bits)).div_ceil(8);
        let fits = u128::from(start) * u128::from(bits) <= u64::MAX.into();
        assert_eq!(packing.packed_len(start).map(u128::from), fits.then_some(bytes));
    }
}

/// A descriptor of `shape` in CBOR.
fn descriptor(shape: u64, dtype: &str, bits: Option<u32>) -> Vec<u8> {
    let text = |text: &str| minicbor::to_vec(text).unwrap();
    let mut entries = vec![
        ("ndim", vec![1]),
        ("type", text("ntensor")),
        ("dtype", text(dtype)),
        ("shape", minicbor::to_vec([shape]).unwrap()),
        ("filter", text("none")),
        ("strides", vec![0x81, 1]),
        ("encoding", text(if bits.is_some() { "simple_packing" } else { "none" })),
        ("byte_order", text("big")),
        ("compression", text("none")),
    ];
    if let Some(bits) = bits {
        entries.push(("sp_bits_per_value", minicbor::to_vec(bits).unwrap()));
        entries.push(("sp_reference_value", minicbor::to_vec(1.0).unwrap()));
        entries.push(("sp_binary_scale_factor", vec![0]));
        entries.push(("sp_decimal_scale_factor", vec![0]));
    }
    let count = entries.len() as u8;
    let entries = entries.into_iter().flat_map(|(key, value)| [text(key), value]);
    [vec![0xa0 | count], entries.collect::<Vec<_>>().concat()].concat()
}

/// Windows are computed in 128 bits, where nothing overflows, and then compared with the end of 64.
#[test]
fn windows_of_elements_are_exact_or_refused() {
    let plain = Dtype::ALL.map(|dtype| (dtype, None));
    let packed = [0, 1, 7, 8, 12, 33, 63, 64].map(|bits| (Dtype::Float64, Some(bits)));
    for (dtype, bits) in plain.into_iter().chain(packed) {
        let width = bits.unwrap_or(if dtype == Dtype::Bitmask { 1 } else { 8 * dtype.byte_width() as u32 });
        let in_groups = bits.is_some() || dtype == Dtype::Bitmask;
        let bytes = |elements: u64| {
            let bytes = (u128::from(elements) * u128::from(width)).div_ceil(8);
            // Packed bits are counted in 64 bits too.
            let is_counted = bits.is_none() || u128::from(elements) * u128::from(width) <= u64::MAX.into();
            u64::try_from(bytes).ok().filter(|_| is_counted)
        };
        for count in EDGES {
            let cbor = descriptor(count, dtype.name(), bits);
            let descriptor = Descriptor::parse(&cbor, 0).unwrap();
            assert_eq!(stored_len(&descriptor).ok(), bytes(count), "{count} of {dtype} in {bits:?}");
            for (start, end) in pairs() {
                let first = if in_groups { start / 8 * 8 } else { start };
                let expected = bytes(first).zip(bytes(end)).filter(|_| start <= end && end <= count);
                let found = window_of(&descriptor, &(start..end)).map_err(|error| error.kind());
                let expected = expected.map(|(start, end)| start..end).ok_or(ErrorKind::RangeOutOfBounds);
                assert_eq!(found, expected, "{start} to {end} of {count} {dtype} in {bits:?}");
            }
        }
    }
}

#[test]
fn boxes_of_tensors_are_exact_or_refused() {
    let dims: Vec<u64> = EDGES.into_iter().step_by(2).collect();
    for (a, b) in dims.iter().flat_map(|a| dims.iter().map(move |b| (*a, *b))) {
        let (shape, elements) = ([a, b], u128::from(a) * u128::from(b));
        let counted = Shape::from(&shape).element_count();
        assert_eq!(counted.map(u128::from), (elements <= u64::MAX.into()).then_some(elements));
        for (first, second) in picks(a).into_iter().flat_map(|first| picks(b).map(|second| (first, second))) {
            let picks = [first, second];
            let found = Selection::new(Shape::from(&shape), &picks);
            let indices = [indices(first, a), indices(second, b)];
            let [Some(rows), Some(columns)] = indices else {
                let wrong = indices.iter().position(Option::is_none).unwrap() as u16;
                let expected =
                    if counted.is_none() { ErrorKind::ShapeOverflow } else { ErrorKind::SelectionBounds(wrong) };
                assert_eq!(found.unwrap_err().kind(), expected, "{picks:?} of {shape:?}");
                continue;
            };
            if counted.is_none() {
                assert_eq!(found.unwrap_err().kind(), ErrorKind::ShapeOverflow, "{picks:?} of {shape:?}");
                continue;
            }
            let found = found.unwrap();
            assert_eq!(u128::from(found.element_count()), rows.count * columns.count, "{picks:?} of {shape:?}");
            let at = |row: u128, column: u128| {
                (rows.start + row * rows.step) * u128::from(b) + columns.start + column * columns.step
            };
            let hull = match (rows.count.checked_sub(1), columns.count.checked_sub(1)) {
                (Some(last_row), Some(last_column)) => at(0, 0)..at(last_row, last_column) + 1,
                _ => 0..0,
            };
            let found_hull = found.hull();
            assert_eq!(u128::from(found_hull.start)..u128::from(found_hull.end), hull, "{picks:?} of {shape:?}");
            if let Some(Row { start, count, .. }) = found.rows().next() {
                assert_eq!(u128::from(start), hull.start);
                assert_eq!(u128::from(count) * u128::from(found.row_count()), rows.count * columns.count);
            }
        }
    }
}

/// Picks at the edges of a dimension, some of them beyond it.
fn picks(len: u64) -> [Pick; 8] {
    let range = |start, end, step| Pick::Range { start, end, step: NonZeroU64::new(step).unwrap_or(NonZeroU64::MIN) };
    [
        Pick::All,
        Pick::Index(len.wrapping_sub(1)),
        Pick::Index(len),
        range(0, len, 2),
        range(len / 2, len, u64::MAX),
        range(len / 2, len.wrapping_add(1), 3),
        range(len.saturating_sub(3), len, len / 2),
        range(len, len.saturating_sub(1), 1),
    ]
}

/// Indices of a dimension in 128 bits.
struct Indices {
    start: u128,
    count: u128,
    step: u128,
}

fn indices(pick: Pick, len: u64) -> Option<Indices> {
    let (start, end, step) = match pick {
        Pick::All => (0, len, 1),
        Pick::Index(index) => (index, index.checked_add(1)?, 1),
        Pick::Range { start, end, step } => (start, end, step.get()),
    };
    let count = u128::from(end).checked_sub(start.into())?.div_ceil(step.into());
    (end <= len).then_some(Indices { start: start.into(), count, step: step.into() })
}

#[test]
fn lengths_of_elements_are_exact_or_refused() {
    for (dtype, count) in Dtype::ALL.into_iter().flat_map(|dtype| EDGES.map(|count| (dtype, count))) {
        let bits = if dtype == Dtype::Bitmask { 1 } else { 8 * dtype.byte_width() as u128 };
        let bytes = (u128::from(count) * bits).div_ceil(8);
        assert_eq!(dtype.byte_len(count), u64::try_from(bytes).ok(), "{count} of {dtype}");
    }
}
