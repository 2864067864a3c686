//! Messages from JSON and bytes.

use std::ffi::c_char;
use std::ptr;

use tgm_std::{DataObjectDescriptor, EncodeOptions, encode, encode_pre_encoded};

use crate::args;
use crate::buffers::{TgmBytes, give};
use crate::call::call;
use crate::error::{Code, METADATA, Report, Result, invalid};
use crate::json_in::{self, Description};
use crate::options::{self, EncodeMaskOptions};

/// A description of a message and the bytes of its objects.
pub(crate) struct Input<'a> {
    description: Description,
    data: Vec<&'a [u8]>,
}

impl<'a> Input<'a> {
    /// Reads what the functions that encode have in common.
    ///
    /// # Safety
    /// The header's contract.
    pub(crate) unsafe fn new(
        metadata_json: *const c_char,
        data_ptrs: *const *const u8,
        data_lens: *const usize,
        num_objects: usize,
    ) -> Result<Self> {
        // SAFETY: the header's contract.
        let (json, pointers, lengths) = unsafe {
            (
                args::text(metadata_json, "metadata_json")?,
                args::slice_or_empty(data_ptrs, num_objects)?,
                args::slice_or_empty(data_lens, num_objects)?,
            )
        };
        let description = json_in::description(json)?;
        let count = description.descriptors.len();
        if count != num_objects {
            return Err(invalid(format!("{count} descriptors for {num_objects} objects")));
        }
        let data = pointers.iter().zip(lengths).enumerate().map(|(index, (&pointer, &len))| {
            if pointer.is_null() && len > 0 {
                return Err(invalid(format!("null data pointer at index {index}")).in_object(index));
            }
            // SAFETY: the header's contract.
            unsafe { args::slice_or_empty(pointer, len) }.map_err(|failure| failure.in_object(index))
        });
        let data = data.collect::<Result<_>>()?;
        Ok(Self { description, data })
    }

    /// The descriptors with their bytes.
    pub(crate) fn objects(&self) -> Vec<(&DataObjectDescriptor, &'a [u8])> {
        self.description.descriptors.iter().zip(self.data.iter().copied()).collect()
    }

    pub(crate) const fn metadata(&self) -> &tgm_std::GlobalMetadata {
        &self.description.metadata
    }

    /// Checks that no descriptor has masks, which only encoding makes.
    pub(crate) fn refuse_masks(&self) -> Result<()> {
        let refuse = |(index, descriptor)| refuse_masks(descriptor).map_err(|failure| failure.in_object(index));
        self.description.descriptors.iter().enumerate().try_for_each(refuse)
    }

    fn encode(&self, options: &EncodeOptions) -> Result<TgmBytes> {
        self.refuse_masks()?;
        give(encode(self.metadata(), &self.objects(), options)?)
    }
}

/// Checks that a descriptor of values has no masks. Their bits would be missing from the message.
pub(crate) fn refuse_masks(descriptor: &DataObjectDescriptor) -> Result<()> {
    match descriptor.masks {
        None => Ok(()),
        Some(_) => Err(Report::new(METADATA, "masks in a descriptor: only pre-encoded objects have them").into()),
    }
}

/// Encodes a message. NaN and infinities are errors.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tgm_encode(
    metadata_json: *const c_char,
    data_ptrs: *const *const u8,
    data_lens: *const usize,
    num_objects: usize,
    hash_algo: *const c_char,
    threads: u32,
    out: *mut TgmBytes,
) -> Code {
    // SAFETY: the header's contract. The function with options takes NULL as the defaults.
    unsafe {
        tgm_encode_with_options(metadata_json, data_ptrs, data_lens, num_objects, hash_algo, threads, ptr::null(), out)
    }
}

/// Encodes a message, with masks for NaN and infinities if the options say so.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tgm_encode_with_options(
    metadata_json: *const c_char,
    data_ptrs: *const *const u8,
    data_lens: *const usize,
    num_objects: usize,
    hash_algo: *const c_char,
    threads: u32,
    mask_options: *const EncodeMaskOptions,
    out: *mut TgmBytes,
) -> Code {
    call(|| {
        // SAFETY: the header's contract.
        let (out, options, input) = unsafe {
            let options = options::encoding(hash_algo, threads, mask_options);
            (args::place(out)?, options?, Input::new(metadata_json, data_ptrs, data_lens, num_objects)?)
        };
        out.put(input.encode(&options)?);
        Ok(())
    })
}

/// Makes a message of objects whose bytes went through the pipeline already.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tgm_encode_pre_encoded(
    metadata_json: *const c_char,
    data_ptrs: *const *const u8,
    data_lens: *const usize,
    num_objects: usize,
    hash_algo: *const c_char,
    threads: u32,
    out: *mut TgmBytes,
) -> Code {
    call(|| {
        // SAFETY: the header's contract.
        let (out, options, input) = unsafe {
            let options = options::encoding(hash_algo, threads, ptr::null());
            (args::place(out)?, options?, Input::new(metadata_json, data_ptrs, data_lens, num_objects)?)
        };
        out.put(give(encode_pre_encoded(input.metadata(), &input.objects(), &options)?)?);
        Ok(())
    })
}
