//! Options of C as options of `tgm_std`.

use std::ffi::c_char;
use std::mem::MaybeUninit;
use std::ptr;

use tgm_std::codec;
use tgm_std::codec::about::Support;
use tgm_std::core::descriptor::Compression;
use tgm_std::options::{MaskMethod, ValueOrder};
use tgm_std::{DecodeLimits, DecodeOptions, EncodeOptions, parse_hash_name};

use crate::args;
use crate::builder::Builder;
use crate::error::{Result, invalid};

/// `TgmEncodeMaskOptions` of C. A truth value is a byte here, because C can put any byte there.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct EncodeMaskOptions {
    allow_nan: u8,
    allow_inf: u8,
    nan_mask_method: *const c_char,
    pos_inf_mask_method: *const c_char,
    neg_inf_mask_method: *const c_char,
    small_mask_threshold_bytes: isize,
}

/// `TgmDecodeMaskOptions` of C.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct DecodeMaskOptions {
    restore_non_finite: u8,
}

/// `tgm_decode_options_t` of C.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct DecodeOptionsStruct {
    struct_size: usize,
    native_byte_order: i32,
    restore_non_finite: i32,
    verify_hash: i32,
    threads: u32,
    max_decoded_bytes: u64,
}

impl DecodeOptionsStruct {
    /// The options that functions without a struct take.
    #[cfg(feature = "async")]
    pub(crate) const fn new(
        native_byte_order: bool,
        threads: u32,
        restore_non_finite: bool,
        verify_hash: bool,
    ) -> Self {
        Self {
            struct_size: size_of::<Self>(),
            native_byte_order: native_byte_order as i32,
            restore_non_finite: restore_non_finite as i32,
            verify_hash: verify_hash as i32,
            threads,
            max_decoded_bytes: 0,
        }
    }
}

/// `tgm_encode_options_t` of C.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct EncodeOptionsStruct {
    struct_size: usize,
    hash_algo: *const c_char,
    threads: u32,
    value_order: i32,
    descriptor_first: i32,
    reserved: u32,
    masks: EncodeMaskOptions,
    /// Metadata of the message.
    extra: *const Builder,
}

impl EncodeOptionsStruct {
    /// The options that functions without a struct take. If `masks` is NULL, NaN and infinities are errors.
    ///
    /// # Safety
    /// `masks` is NULL or leads to options.
    pub(crate) unsafe fn new(hash_algo: *const c_char, threads: u32, masks: *const EncodeMaskOptions) -> Result<Self> {
        // SAFETY: the caller makes the same promise.
        let masks = unsafe { args::given(masks)? }.copied().unwrap_or(EncodeMaskOptions {
            allow_nan: 0,
            allow_inf: 0,
            nan_mask_method: ptr::null(),
            pos_inf_mask_method: ptr::null(),
            neg_inf_mask_method: ptr::null(),
            small_mask_threshold_bytes: -1,
        });
        Ok(Self {
            struct_size: size_of::<Self>(),
            hash_algo,
            threads,
            value_order: 0,
            descriptor_first: 0,
            reserved: 0,
            masks,
            extra: ptr::null(),
        })
    }
}

/// Options of encoding. If `masks` is NULL, NaN and infinities are errors.
///
/// # Safety
/// The texts are NULL or end with NUL. `masks` is NULL or leads to options.
pub(crate) unsafe fn encoding(
    hash_algo: *const c_char,
    threads: u32,
    masks: *const EncodeMaskOptions,
) -> Result<EncodeOptions> {
    // SAFETY: the caller makes the same promise.
    let (masks, hash_algo) = unsafe { (args::given(masks)?, args::optional_text(hash_algo, "hash_algo")?) };
    let hashing = match hash_algo {
        None => false,
        Some(name) => parse_hash_name(Some(name)).map_err(|error| invalid(error.to_string()))?,
    };
    let options = EncodeOptions { hashing, threads, ..EncodeOptions::default() };
    let Some(masks) = masks else { return Ok(options) };
    // SAFETY: the caller makes the same promise for each of the texts.
    let [nan, pos_inf, neg_inf] = unsafe {
        [method(masks.nan_mask_method)?, method(masks.pos_inf_mask_method)?, method(masks.neg_inf_mask_method)?]
    };
    Ok(EncodeOptions {
        allow_nan: masks.allow_nan != 0,
        allow_inf: masks.allow_inf != 0,
        nan_mask_method: nan,
        pos_inf_mask_method: pos_inf,
        neg_inf_mask_method: neg_inf,
        small_mask_threshold_bytes: usize::try_from(masks.small_mask_threshold_bytes)
            .unwrap_or(options.small_mask_threshold_bytes),
        ..options
    })
}

/// The method of that name; roaring for NULL.
///
/// # Safety
/// The text is NULL or ends with NUL.
unsafe fn method(name: *const c_char) -> Result<MaskMethod> {
    // SAFETY: the caller makes the same promise.
    let Some(name) = (unsafe { args::optional_text(name, "mask method")? }) else { return Ok(MaskMethod::Roaring) };
    let method = MaskMethod::from_name(name).map_err(|error| invalid(error.to_string()))?;
    let codec = Compression::from_name(method.name()).and_then(codec::find);
    if let Some(Support::Lacking(feature)) = codec.map(|codec| codec.about().encoding) {
        let name = method.name();
        return Err(invalid(format!("mask method {name} is not compiled in: build with feature `{feature}`")));
    }
    Ok(method)
}

/// Options of encoding as a struct, and the metadata of the message in it. NULL stands for the options of `tgm_encode` with digests.
///
/// # Safety
/// The pointer is NULL or leads to a struct of as many bytes as it says. Its texts are NULL or end with NUL, and its
/// builder lives during `'a`.
pub(crate) unsafe fn encoding_struct<'a>(
    options: *const EncodeOptionsStruct,
) -> Result<(EncodeOptions, Option<&'a Builder>)> {
    // SAFETY: the caller makes the same promise.
    let Some(given) = (unsafe { sized(options, size_of::<EncodeOptionsStruct>())? }) else {
        return Ok(Default::default());
    };
    let value_order = match given.value_order {
        0 => ValueOrder::Checked,
        1 => ValueOrder::Declared,
        2 => ValueOrder::Native,
        other => return Err(invalid(format!("unknown value order: {other}"))),
    };
    // SAFETY: the caller makes the same promise.
    let (options, extra) =
        unsafe { (encoding(given.hash_algo, given.threads, &raw const given.masks)?, args::given(given.extra)?) };
    Ok((EncodeOptions { value_order, descriptor_first: given.descriptor_first != 0, ..options }, extra))
}

/// Options of decoding as a struct; the defaults for NULL.
///
/// # Safety
/// The pointer is NULL or leads to a struct of as many bytes as it says.
pub(crate) unsafe fn decoding_struct(options: *const DecodeOptionsStruct) -> Result<DecodeOptions> {
    // SAFETY: the caller makes the same promise.
    let given = unsafe { sized(options, size_of::<DecodeOptionsStruct>())? };
    let Some(given) = given else { return Ok(DecodeOptions::default()) };
    let limits = DecodeLimits::default();
    let max_decoded_bytes =
        if given.max_decoded_bytes == 0 { limits.max_decoded_bytes } else { given.max_decoded_bytes };
    Ok(DecodeOptions {
        native_byte_order: given.native_byte_order != 0,
        restore_non_finite: given.restore_non_finite != 0,
        verify_hash: given.verify_hash != 0,
        threads: given.threads,
        limits: DecodeLimits { max_decoded_bytes, ..limits },
        ..DecodeOptions::default()
    })
}

/// A copy of a struct that begins with its size. The caller's struct has `least` bytes at least. Fields that it lacks
/// are zeros here, and fields that this version does not know are left out.
///
/// # Safety
/// The pointer is NULL or leads to as many bytes as the struct says in its first field. Zeros, and any bytes of C, are
/// a valid `T`.
pub(crate) unsafe fn sized<T: Copy>(given: *const T, least: usize) -> Result<Option<T>> {
    if given.is_null() {
        return Ok(None);
    }
    // SAFETY: the struct begins with its size, which is there whatever the size is.
    let size = *unsafe { args::required(given.cast::<usize>())? };
    if size < least {
        return Err(invalid(format!("struct_size {size} is less than {least}")));
    }
    let mut copy = MaybeUninit::<T>::zeroed();
    let len = size.min(size_of::<T>());
    // SAFETY: both structs have `len` bytes, and the copy was made just now. By the caller's promise it is a valid `T`.
    unsafe {
        copy.as_mut_ptr().cast::<u8>().copy_from_nonoverlapping(given.cast(), len);
        Ok(Some(copy.assume_init()))
    }
}

/// Writes a struct that begins with its size, which the caller set. `make` gets the size.
///
/// # Safety
/// The pointer is NULL or leads to a struct of as many bytes as it says. The caller does not use it during the call.
pub(crate) unsafe fn put_sized<T>(out: *mut T, make: impl FnOnce(usize) -> T) -> Result<()> {
    // SAFETY: the struct begins with its size.
    let size = *unsafe { args::required(out.cast::<usize>())? };
    if size < size_of::<T>() {
        return Err(invalid(format!("struct_size {size} is less than {}", size_of::<T>())));
    }
    // SAFETY: the struct has all fields that this version knows.
    unsafe { args::place(out)? }.put(make(size));
    Ok(())
}

/// Options of decoding from flags. `masks` says whether NaN and infinities are put back.
pub(crate) fn decoding(
    native_byte_order: i32,
    threads: u32,
    verify_hash: i32,
    masks: Option<&DecodeMaskOptions>,
) -> DecodeOptions {
    DecodeOptions {
        native_byte_order: native_byte_order != 0,
        threads,
        verify_hash: verify_hash != 0,
        restore_non_finite: masks.is_none_or(|masks| masks.restore_non_finite != 0),
        ..DecodeOptions::default()
    }
}
