//! A decoder as PIPELINE §7 describes it: bit by bit, and without any concern for speed.

use std::vec::Vec;

use crate::szip::{Params, flags};

/// Reads bits from the front.
struct Bits<'a> {
    bytes: &'a [u8],
    position: usize,
}

impl Bits<'_> {
    fn bit(&mut self) -> Option<u64> {
        let byte = self.bytes.get(self.position / 8)?;
        let bit = byte >> (7 - self.position % 8) & 1;
        self.position += 1;
        Some(bit.into())
    }

    fn field(&mut self, width: u32) -> Option<u64> {
        (0..width).try_fold(0, |field, _| Some(field << 1 | self.bit()?))
    }

    fn unary(&mut self) -> Option<u64> {
        let mut zeros = 0;
        while self.bit()? == 0 {
            zeros += 1;
        }
        Some(zeros)
    }
}

/// `count` samples from bit `position` on, as signed numbers, and the bit after the last block; `None` if the stream does
/// not have them.
pub(super) fn decode(stream: &[u8], params: &Params, position: usize, count: usize) -> Option<(Vec<i64>, usize)> {
    let mut bits = Bits { bytes: stream, position };
    let mut samples = Vec::new();
    while samples.len() < count {
        if params.has(flags::PAD_RSI) {
            bits.position = bits.position.next_multiple_of(8);
        }
        interval(&mut bits, params, count, &mut samples)?;
    }
    samples.truncate(count);
    Some((samples, bits.position))
}

/// Decodes an interval, or only the blocks that are needed for `count` samples.
fn interval(bits: &mut Bits<'_>, params: &Params, count: usize, samples: &mut Vec<i64>) -> Option<()> {
    let n = params.bits_per_sample();
    let (id_bits, block_size) = (params.id_bits(), params.block_size() as usize);
    let has_predictor = params.has(flags::PREPROCESS);
    let (mut block, mut before) = (0, 0);
    while block < params.rsi() && samples.len() < count {
        let id = bits.field(id_bits)?;
        let is_second_extension = id == 0 && bits.bit()? == 1;
        let has_reference = block == 0 && has_predictor;
        let is_plain = id == (1 << id_bits) - 1;
        if has_reference && !is_plain {
            before = sign(bits.field(n)?, params);
        }
        let (blocks, mut values) = if id == 0 && !is_second_extension {
            zero_blocks(bits, block, params)?
        } else if is_second_extension {
            (1, pairs(bits, block_size)?)
        } else if is_plain {
            (1, (0..block_size).map(|_| bits.field(n)).collect::<Option<Vec<_>>>()?)
        } else if id > u64::from(n) + 1 {
            // k > n: every encoder has a shorter code.
            return None;
        } else {
            (1, split(bits, id as u32 - 1, block_size - usize::from(has_reference))?)
        };
        if has_reference && is_plain {
            before = sign(values[0], params);
        }
        if has_reference {
            samples.push(before);
            // A split block has no code for the first value. Every other option has one.
            if values.len() % block_size == 0 {
                values.remove(0);
            }
        }
        for value in values {
            if value >= 1 << n {
                return None;
            }
            before = if has_predictor { unmap(value as i64, before, params) } else { value as i64 };
            samples.push(before);
        }
        block += blocks;
    }
    Some(())
}

fn zero_blocks(bits: &mut Bits<'_>, block: u32, params: &Params) -> Option<(u32, Vec<u64>)> {
    let left = params.rsi() - block;
    let blocks = match bits.unary()? {
        code @ 0..=3 => code as u32 + 1,
        4 => left.min(64 - block % 64),
        code => code as u32,
    };
    let values = (blocks * params.block_size()) as usize;
    (blocks <= left).then(|| (blocks, std::vec![0; values]))
}

fn pairs(bits: &mut Bits<'_>, block_size: usize) -> Option<Vec<u64>> {
    let mut values = Vec::new();
    while values.len() < block_size {
        let code = bits.unary()?;
        if code > 90 {
            return None;
        }
        let sum = (0..=12).take_while(|sum| sum * (sum + 1) / 2 <= code).last()?;
        let second = code - sum * (sum + 1) / 2;
        values.extend([sum - second, second]);
    }
    Some(values)
}

fn split(bits: &mut Bits<'_>, k: u32, count: usize) -> Option<Vec<u64>> {
    let upper = (0..count).map(|_| bits.unary()).collect::<Option<Vec<_>>>()?;
    upper.into_iter().map(|upper| Some(upper << k | bits.field(k)?)).collect()
}

/// A sample's bits as a number.
fn sign(field: u64, params: &Params) -> i64 {
    let is_negative = params.has(flags::SIGNED) && field >> (params.bits_per_sample() - 1) == 1;
    field as i64 - if is_negative { 1 << params.bits_per_sample() } else { 0 }
}

/// PIPELINE §7.2.
pub(super) fn unmap(mapped: i64, before: i64, params: &Params) -> i64 {
    let n = params.bits_per_sample();
    let (min, max) = if params.has(flags::SIGNED) { (-(1 << (n - 1)), (1 << (n - 1)) - 1) } else { (0, (1 << n) - 1) };
    let theta = (before - min).min(max - before);
    match mapped {
        _ if mapped <= 2 * theta && mapped % 2 == 0 => before + mapped / 2,
        _ if mapped <= 2 * theta => before - (mapped + 1) / 2,
        _ if before - min <= max - before => min + mapped,
        _ => max - mapped,
    }
}
