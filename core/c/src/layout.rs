//! One number for the sizes of all structs, by which header and library see that they agree.

use crate::abi::{Event, Fault, FrameInfo, ObjectInfo, Slice, SzipParams};
use crate::message::{Frames, Message};
use crate::object::Object;
use crate::value::Value;

/// The sizes that the header computes too, in one number (`TGMC_LAYOUT`).
pub const LAYOUT: u32 = {
    let sizes = [
        size_of::<Slice>(),
        size_of::<Fault>(),
        size_of::<FrameInfo>(),
        size_of::<ObjectInfo>(),
        size_of::<SzipParams>(),
        size_of::<Event>(),
        size_of::<Message>(),
        size_of::<Frames>(),
        size_of::<Object>(),
        size_of::<Value>(),
    ];
    let (mut mixed, mut left) = (0_u32, sizes.as_slice());
    while let [first, rest @ ..] = left {
        mixed = mixed.wrapping_mul(31).wrapping_add(*first as u32);
        left = rest;
    }
    mixed
};
