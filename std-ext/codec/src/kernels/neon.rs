//! Loads and stores of NEON registers, as `registers` has them for x86.
//!
//! Each function takes a reference to a value that is exactly as long as the register.

#![allow(unsafe_code, reason = "vector loads and stores take pointers; each one is made of a reference here")]

use std::arch::aarch64::{uint8x16_t, vld1q_u8, vst1q_u8};

use zerocopy::{FromBytes, Immutable, IntoBytes};

/// Loads a value of 16 bytes.
#[inline]
#[target_feature(enable = "neon")]
pub(super) fn load<T: IntoBytes + Immutable>(value: &T) -> uint8x16_t {
    const { assert!(size_of::<T>() == 16) };
    // SAFETY: the reference is to 16 initialised bytes.
    unsafe { vld1q_u8((&raw const *value).cast()) }
}

/// Stores a register to a value of 16 bytes.
#[inline]
#[target_feature(enable = "neon")]
pub(super) fn store<T: FromBytes>(register: uint8x16_t, value: &mut T) {
    const { assert!(size_of::<T>() == 16) };
    // SAFETY: the reference is to 16 bytes, and any bytes are a value of this type.
    unsafe { vst1q_u8((&raw mut *value).cast(), register) }
}
