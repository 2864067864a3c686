//! Cases in which the reference is wrong, or writes what no reader can use. Each class is narrow and gives its reason.

use tgm_std::core::Message;
use tgm_std::core::szip::{Params, RsiOffsets};

use crate::case::{Case, Compression, Encoding, Flaw, Object};
use crate::plain::Refusal;
use crate::values::{Dtype, Kind, Order};

/// Tag 3 over 16 bytes from 2^127 on: its integer is below the smallest i128, and the reference fails to read the whole
/// frame.
pub const UNREADABLE_BIGNUM: (u64, [u8; 16]) = (3, [0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);

/// Whether the reference's c-blosc2 would end the process when it reads the object: of zeros alone that are not whole
/// items it makes a frame that it fails to read, and then it frees memory that it never allocated.
///
/// A narrower condition would need the packed values.
pub fn ends_the_process(object: &Object) -> bool {
    let Encoding::SimplePacking { bits, given, .. } = &object.encoding else { return false };
    let len = (object.shape.iter().product::<u64>() * bits).div_ceil(8);
    let differ = matches!(object.values.kind, Kind::Ramp | Kind::Smooth) && object.element_count() > 1;
    let is_whole = len.is_multiple_of(bits.div_ceil(8).max(1));
    matches!(object.compression, Compression::Blosc2 { .. }) && !is_whole && !(differ && given.is_none())
}

/// A reason why the reference may decode this object to other values than we do.
pub fn decode(object: &Object) -> Option<&'static str> {
    if !matches!(object.compression, Compression::Zfp(_) | Compression::Sz3(..)) {
        return None;
    }
    if object.dtype != Dtype::Float64 {
        return Some(
            "zfp and SZ3 take the bytes of any dtype for doubles, and give back values that are not of that dtype",
        );
    }
    if object.encoding != Encoding::None || object.shuffle.is_some() {
        return Some("zfp and SZ3 take the bytes of another stage for doubles and change them");
    }
    None
}

/// A reason why the reference may give other ranges of this object than we do.
pub fn ranges(object: &Object, bytes: &[u8], index: usize, ranges: &[(u64, u64)]) -> Option<&'static str> {
    if object.shuffle.is_some() {
        return None;
    }
    let count = object.element_count() as u64;
    let beyond = ranges.iter().any(|(start, len)| start.checked_add(*len).is_none_or(|end| end > count));
    let szip = matches!(object.compression, Compression::Szip { .. });
    if beyond && (szip || object.encoding != Encoding::None) {
        return Some("the reference gives szip and packed values beyond the last one: repeats of it, or padding");
    }
    if let (Compression::Blosc2 { .. }, Encoding::SimplePacking { bits, .. }) = (&object.compression, &object.encoding)
    {
        let len = (count * bits).div_ceil(8);
        let item = bits.div_ceil(8).max(1);
        let end = |(start, wanted): &(u64, u64)| (start.saturating_add(*wanted)).saturating_mul(*bits).div_ceil(8);
        if ranges.iter().any(|range| end(range) > len - len % item) {
            return Some("the reference reads whole items of packed values in blosc2, and the last item is incomplete");
        }
    }
    if szip && !has_true_offsets(object, bytes, index) {
        return Some("libaec counts some offsets too small, and then the reference gives ranges of another place");
    }
    None
}

/// Whether `szip_block_offsets` are where intervals start.
fn has_true_offsets(object: &Object, bytes: &[u8], index: usize) -> bool {
    let Compression::Szip { rsi, block_size, flags } = object.compression else { return true };
    let (bits, flags) = match object.packed_bits() {
        0 if object.shuffle.is_some() => (8, flags),
        0 => (8 * object.dtype.width() as u64, flags),
        packed => (packed, flags | 4),
    };
    let number = |n: u64| u32::try_from(n).expect("small parameters");
    let params =
        Params::new(number(bits), number(block_size), number(rsi), number(flags)).expect("the reference took them");
    let found = Message::parse(bytes).and_then(|message| message.object(index));
    let found = found.expect("both could read it");
    let stored = found.descriptor().szip_block_offsets().expect("a list").expect("the encoder's");
    let len = match object.packed_bits() {
        0 => object.dtype.byte_len(object.element_count()) as u64,
        packed => (object.element_count() as u64 * packed).div_ceil(8),
    };
    let samples = len.div_ceil(params.container_size() as u64);
    RsiOffsets::new(found.payload(), &params, samples).eq(stored.iter().map(Ok))
}

/// The reason for other offsets beside the same payload.
pub const OFFSETS: &str = "libaec counts some offsets too small";

/// A reason why our bytes of an object differ from the reference's in `theirs`.
pub fn bytes(object: &Object, theirs: &[u8], index: usize) -> Option<&'static str> {
    if !has_true_offsets(object, theirs, index) {
        return Some(OFFSETS);
    }
    let of_doubles = matches!(object.compression, Compression::Zfp(_) | Compression::Sz3(..));
    if of_doubles && object.order != Order::NATIVE {
        return Some("zfp and SZ3 take bytes of any order for numbers of this machine");
    }
    if !keeps_bound(object, theirs, index) {
        return Some("SZ3 misses the ratio of signal to noise, or the bound of a value");
    }
    if overflows_sz3(object) {
        return Some("SZ3 mistakes values that are 2^63 bounds away from their prediction");
    }
    if matches!(object.compression, Compression::Zfp(_)) && has_tiny_block(object) {
        return Some("zfp computes integers from infinities for numbers below 2^-961");
    }
    None
}

/// Whether the values of a message are within SZ3's bound of the input; true for other codecs.
///
/// # Panics
/// If the message cannot be read.
pub fn keeps_bound(object: &Object, bytes: &[u8], index: usize) -> bool {
    let Some(bound) = sz3_bound(object) else { return true };
    let options = tgm_std::DecodeOptions { restore_non_finite: false, ..Default::default() };
    let (_, _, decoded) = tgm_std::decode_object(bytes, index, &options).expect("a message that was read already");
    let put_in = object.zeroed(Order::NATIVE);
    let errors: Vec<_> = numbers(&decoded).zip(numbers(&put_in)).map(|(a, b)| (a - b).abs()).collect();
    let squares: f64 = errors.iter().map(|error| (error / bound).powi(2)).sum();
    // A ratio of signal to noise compares squares. With a bound of 0 any error is too large, which is checked below.
    let mean_is_kept = !matches!(object.compression, Compression::Sz3("psnr", _))
        || bound == 0.0
        || squares <= EVENLY_SPREAD * (1.0 + 1e-9) * errors.len() as f64;
    mean_is_kept && errors.iter().all(|error| *error <= bound * (1.0 + 1e-9))
}

/// The mean square of errors that SZ3 assumes, in squares of their bound.
const EVENLY_SPREAD: f64 = 1.0 - 2.0 / 3.0 * 0.99;

/// The most that SZ3 may change a value by.
fn sz3_bound(object: &Object) -> Option<f64> {
    let Compression::Sz3(mode, bound) = object.compression else { return None };
    let data = object.zeroed(Order::NATIVE);
    let (low, high) = numbers(&data).fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), x| (l.min(x), h.max(x)));
    Some(match mode {
        "abs" => bound,
        "rel" if bound == 0.0 => 0.0,
        "rel" => bound * (high - low),
        _ => (high - low) * 10_f64.powf(-(bound + 10.0 * EVENLY_SPREAD.log10()) / 20.0),
    })
}

/// Whether SZ3's integers would overflow, or be computed from infinities: then we store values unchanged.
fn overflows_sz3(object: &Object) -> bool {
    let greatest = greatest(object);
    sz3_bound(object).is_some_and(|bound| {
        let is_tiny = bound > 0.0 && (bound < f64::MIN_POSITIVE * 4.0 || greatest >= bound * 2_f64.powi(59));
        is_tiny || greatest >= f64::MAX / 64.0
    })
}

/// The greatest number of the input, without its sign; 0 for shapes that are too large to be filled.
fn greatest(object: &Object) -> f64 {
    if object.shape.iter().any(|dim| *dim > 1 << 30) {
        return 0.0;
    }
    numbers(&object.zeroed(Order::NATIVE)).fold(0.0, |greatest, number| greatest.max(number.abs()))
}

fn numbers(data: &[u8]) -> impl Iterator<Item = f64> {
    data.as_chunks().0.iter().map(|bytes| f64::from_ne_bytes(*bytes))
}

/// Whether one of zfp's blocks of four numbers has a greatest one below 2^-961, without its sign, that is not zero.
fn has_tiny_block(object: &Object) -> bool {
    numbers(&object.zeroed(Order::NATIVE)).collect::<Vec<_>>().chunks(4).any(|block| {
        let greatest = block.iter().fold(0.0, |greatest: f64, number| greatest.max(number.abs()));
        greatest > 0.0 && greatest < 2_f64.powi(-961)
    })
}

/// A reason why the two refuse with different errors.
pub fn other_refusal(case: &Case, theirs: &Refusal, ours: &Refusal) -> Option<&'static str> {
    let mistyped = |name| {
        theirs.text == format!("missing required parameter: {name}")
            && ours.text.contains(&format!("expected text for {name}"))
    };
    if ["zfp_mode", "sz3_error_bound_mode"].into_iter().any(mistyped) {
        return Some("the reference reports a mode that is not text as missing");
    }
    let empty_sz3 = |object: &Object| matches!(object.compression, Compression::Sz3(..)) && object.element_count() == 0;
    if theirs.kind == "panic" && case.objects.iter().any(empty_sz3) {
        return Some("the reference panics for SZ3 without values");
    }
    // Two faults: the one that we report and the one that the reference reports.
    let orders = [("unknown encoding:", "strict-"), ("shuffle: element_size must not be 0", "compression \"r")];
    if orders.into_iter().any(|(first, last)| ours.text.contains(first) && theirs.text.starts_with(last)) {
        return Some("there are two faults");
    }
    unwritable(case)
}

/// The reference only demands whole doubles. If the shape has another number, no reader can read the message.
const PACKED_LENGTH: Option<&str> = Some("the length of data to be packed is not compared with the shape");

/// A reason why we refuse what the reference has written.
pub fn refused_by_us(case: &Case, theirs: &[u8]) -> Option<&'static str> {
    let streamed = Message::parse(theirs).is_ok_and(|message| message.total_length().is_none());
    unwritable(case).filter(|reason| streamed || *reason != STREAMED_RESERVED)
}

const STREAMED_RESERVED: &str = "a streaming encoder of the reference lets callers write what only the library should";

/// A reason why we refuse to write a case, whatever other faults it has.
fn unwritable(case: &Case) -> Option<&'static str> {
    let reserved = case.base.iter().any(|entry| entry.contains_key("_reserved_")).then_some(STREAMED_RESERVED);
    reserved.or_else(|| case.objects.iter().find_map(unreadable))
}

/// A reason why no reader can read an object that the reference writes.
fn unreadable(object: &Object) -> Option<&'static str> {
    const FIELDS: [&str; 10] =
        ["ndim", "type", "dtype", "masks", "shape", "filter", "strides", "encoding", "byte_order", "compression"];
    let number = |name| {
        object
            .params()
            .get(name)
            .and_then(|value| value.as_float().or_else(|| Some(value.as_integer().map(i128::from)? as f64)))
    };
    let bound = number("sz3_error_bound");
    if matches!(object.compression, Compression::Sz3(..))
        && bound.is_some_and(|bound| !(bound.is_finite() && bound >= 0.0))
    {
        return Some("an error bound is NaN, infinite or negative");
    }
    if matches!(object.compression, Compression::Zfp(_))
        && number("zfp_rate").is_some_and(|rate| !(rate > 0.0 && rate < 1e9))
    {
        return Some("a rate is not a number of bits");
    }
    if matches!(object.compression, Compression::Zfp(_)) && number("zfp_tolerance").is_some_and(f64::is_infinite) {
        return Some("a tolerance is infinite");
    }
    if matches!(object.compression, Compression::Zfp(_)) && greatest(object) > f64::MAX / 4.0 {
        return Some("zfp makes infinities of the greatest numbers");
    }
    match &object.flaw {
        Some(Flaw::Extra(name, _)) if FIELDS.contains(&name.as_str()) => {
            Some("a field of the descriptor written twice")
        }
        Some(Flaw::Length(_)) if object.encoding != Encoding::None => PACKED_LENGTH,
        _ => decode(object),
    }
}
