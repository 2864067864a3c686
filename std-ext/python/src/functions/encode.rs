//! Messages from arrays.

use pyo3::prelude::*;
use pyo3::types::PyBytes;
use tgm_std::{DataObjectDescriptor, EncodeOptions, GlobalMetadata};

use crate::convert::arguments::{encoding, hashing};
use crate::convert::array_in::{self, Data, Payload, SMALL, SMALL_AS_THEY_ARE};
use crate::convert::descriptor_in::Keys;
use crate::convert::{bytes_out, descriptor_in, metadata_in};
use crate::errors::{of_object, raise};

/// The descriptors and payloads of one message, ready for the encoder.
pub(crate) struct Objects<'py> {
    pub(crate) descriptors: Vec<DataObjectDescriptor>,
    pub(crate) payloads: Vec<Payload<'py>>,
}

impl<'py> Objects<'py> {
    /// The objects of pairs of descriptor and data.
    ///
    /// # Errors
    /// The errors of the pairs.
    pub(crate) fn new(descriptors_and_data: &Bound<'py, PyAny>, keys: Keys) -> PyResult<Self> {
        Self::of_pairs(descriptors_and_data, |descriptor, data| {
            object(descriptor, data, |descriptor, data| descriptor_in::descriptor(descriptor, data, keys))
        })
    }

    /// [`Self::new`] that ignores the masks of masked arrays, and takes any keys.
    ///
    /// # Errors
    /// The errors of the pairs.
    pub(crate) fn without_masks(descriptors_and_data: &Bound<'py, PyAny>) -> PyResult<Self> {
        Self::of_pairs(descriptors_and_data, |descriptor, data| {
            object(descriptor, &array_in::without_mask(data)?, |descriptor, data| {
                descriptor_in::descriptor(descriptor, data, Keys::Any)
            })
        })
    }

    /// The objects of pairs of descriptor and bytes that went through the pipeline.
    ///
    /// # Errors
    /// The errors of the pairs.
    pub(crate) fn encoded(descriptors_and_data: &Bound<'py, PyAny>, keys: Keys) -> PyResult<Self> {
        Self::of_pairs(descriptors_and_data, |descriptor, data| {
            Ok((descriptor_in::descriptor(descriptor, None, keys)?, array_in::encoded_bytes(data, false)?))
        })
    }

    fn of_pairs(
        pairs: &Bound<'py, PyAny>,
        object: impl Fn(&Bound<'py, PyAny>, &Bound<'py, PyAny>) -> PyResult<(DataObjectDescriptor, Payload<'py>)>,
    ) -> PyResult<Self> {
        let py = pairs.py();
        let objects = descriptor_in::pairs(pairs)?.into_iter().enumerate().map(|(index, (keys, data))| {
            py.check_signals()?;
            object(&keys, &data).map_err(|error| of_object(py, error, index))
        });
        let (descriptors, payloads) = objects.collect::<PyResult<Vec<_>>>()?.into_iter().unzip();
        Ok(Self { descriptors, payloads })
    }

    /// The pairs of descriptor and bytes, as long as no other thread can change them.
    pub(crate) fn while_attached<'a>(&'a self, py: Python<'a>) -> Vec<(&'a DataObjectDescriptor, &'a [u8])> {
        self.descriptors.iter().zip(self.payloads.iter().map(|payload| payload.while_attached(py))).collect()
    }

    /// Runs `work` on pairs of descriptor and bytes.
    ///
    /// # Errors
    /// The errors of the work.
    pub(crate) fn with<R: Send>(
        self,
        py: Python<'_>,
        work: impl FnOnce(&[(&DataObjectDescriptor, &[u8])]) -> tgm_std::Result<R> + Send,
    ) -> PyResult<R> {
        let Self { descriptors, payloads } = self;
        let is_stored_as_it_is = |descriptor: &DataObjectDescriptor| {
            let DataObjectDescriptor { encoding, filter, compression, .. } = descriptor;
            [encoding, filter, compression].iter().all(|stage| *stage == "none")
        };
        let small = if descriptors.iter().all(is_stored_as_it_is) { SMALL_AS_THEY_ARE } else { SMALL };
        let run = |bytes: &[&[u8]]| {
            let pairs: Vec<_> = descriptors.iter().zip(bytes.iter().copied()).collect();
            work(&pairs)
        };
        array_in::with_payloads(py, payloads, small, run)?.map_err(raise(py))
    }
}

/// The descriptor and the payload of one object. `describe` makes the descriptor.
///
/// # Errors
/// `ValueError` and `TypeError` for what does not fit.
pub(crate) fn object<'py>(
    descriptor: &Bound<'py, PyAny>,
    data: &Bound<'py, PyAny>,
    describe: impl Fn(&Bound<'py, PyAny>, Option<&Data<'py>>) -> PyResult<DataObjectDescriptor>,
) -> PyResult<(DataObjectDescriptor, Payload<'py>)> {
    // An encoding chooses the keys of a descriptor by the array, and widens arrays that it packs.
    let chosen = descriptor_in::chosen(descriptor, data)?;
    let (descriptor, data) = chosen.as_ref().map_or((descriptor, data), |(keys, data)| (keys, data));
    // The descriptor is looked at first if it can be, so that its errors come first.
    let parsed = Data::new(data);
    if descriptor.is_none()
        && let Err(error) = parsed
    {
        return Err(error);
    }
    let descriptor = describe(descriptor, parsed.as_ref().ok())?;
    let payload = parsed?.into_payload(&descriptor)?;
    Ok((descriptor, payload))
}

/// Encodes a message.
///
/// `global_meta_dict` is a mapping: `base` is a list with metadata for each object, all other entries are annotations
/// of the message. `descriptors_and_data` is a list of pairs. A descriptor is a dict with `type`, `shape` and `dtype`,
/// and optionally `byte_order`, `encoding`, `filter`, `compression` and their parameters; other keys are refused. An `Encoding` chooses
/// the parameters by the array; `None` takes all from the array, and stores values as they are. Data is an array of any layout, or bytes in row-major order and in the declared byte order.
///
/// `hash` is "xxh3", or "none" for a message without digests. `threads` work together on large payloads. NaN and
/// infinities are refused unless `allow_nan` and `allow_inf` permit them; then masks record their places.
///
/// Raises ValueError for descriptors that are wrong or do not fit their data, and for NaN and infinities; TypeError for
/// arguments of other types.
///
/// >>> import numpy, tgmio as tgm
/// >>> values = numpy.arange(6.0).reshape(2, 3)
/// >>> descriptor = {"type": "ntensor", "shape": [2, 3], "dtype": "float64", "compression": "zstd"}
/// >>> message = tgm.encode({"base": [{"mars": {"param": "2t"}}]}, [(descriptor, values)])
/// >>> message[:8]
/// b'TENSOGRM'
#[pyfunction]
#[pyo3(
    signature = (
        global_meta_dict, descriptors_and_data, hash=Some("xxh3"), threads=0, allow_nan=false, allow_inf=false,
        nan_mask_method=None, pos_inf_mask_method=None, neg_inf_mask_method=None, small_mask_threshold_bytes=None,
        aggregate_hash=None
    ),
    text_signature = "(global_meta_dict, descriptors_and_data, hash='xxh3', threads=0, allow_nan=False, \
                      allow_inf=False, nan_mask_method=None, pos_inf_mask_method=None, neg_inf_mask_method=None, \
                      small_mask_threshold_bytes=None, aggregate_hash=None)"
)]
#[allow(clippy::too_many_arguments, reason = "the face of the Python function")]
#[allow(clippy::fn_params_excessive_bools, reason = "the face of the Python function")]
pub(crate) fn encode<'py>(
    py: Python<'py>,
    global_meta_dict: &Bound<'py, PyAny>,
    descriptors_and_data: &Bound<'py, PyAny>,
    hash: Option<&str>,
    threads: u32,
    allow_nan: bool,
    allow_inf: bool,
    nan_mask_method: Option<&str>,
    pos_inf_mask_method: Option<&str>,
    neg_inf_mask_method: Option<&str>,
    small_mask_threshold_bytes: Option<usize>,
    aggregate_hash: Option<&str>,
) -> PyResult<Bound<'py, PyBytes>> {
    let metadata = metadata_in::metadata(global_meta_dict)?;
    let options = encoding(
        py,
        hash,
        threads,
        (allow_nan, allow_inf),
        [nan_mask_method, pos_inf_mask_method, neg_inf_mask_method],
        small_mask_threshold_bytes,
        aggregate_hash,
    )?;
    let message = encoded(py, &metadata, Objects::new(descriptors_and_data, Keys::Known)?, &options)?;
    bytes_out::bytes(py, message)
}

/// Encodes a message of these objects.
///
/// # Errors
/// The errors of the library.
pub(crate) fn encoded(
    py: Python<'_>,
    metadata: &GlobalMetadata,
    objects: Objects<'_>,
    options: &EncodeOptions,
) -> PyResult<Vec<u8>> {
    objects.with(py, |pairs| tgm_std::encode(metadata, pairs, options))
}

/// Makes a message of payloads that went through their pipeline before.
///
/// It takes the arguments of `encode`. Data is bytes, which become the payloads as they are. Descriptors say which
/// stages the bytes went through, with all parameters that decoding needs.
///
/// Raises ValueError for data that is not bytes, and for parameters that are missing or wrong.
///
/// >>> import tgmio as tgm
/// >>> descriptor = {"type": "ntensor", "shape": [4], "dtype": "uint8"}
/// >>> message = tgm.encode_pre_encoded({}, [(descriptor, bytes([1, 2, 3, 4]))])
/// >>> tgm.decode(message).objects[0][1]
/// array([1, 2, 3, 4], dtype=uint8)
#[pyfunction]
#[pyo3(
    signature = (global_meta_dict, descriptors_and_data, hash=Some("xxh3"), threads=0),
    text_signature = "(global_meta_dict, descriptors_and_data, hash='xxh3', threads=0)"
)]
pub(crate) fn encode_pre_encoded<'py>(
    py: Python<'py>,
    global_meta_dict: &Bound<'py, PyAny>,
    descriptors_and_data: &Bound<'py, PyAny>,
    hash: Option<&str>,
    threads: u32,
) -> PyResult<Bound<'py, PyBytes>> {
    pre_encoded(py, global_meta_dict, descriptors_and_data, (hash, threads), Keys::Known)
}

/// [`encode_pre_encoded`] of descriptors with such keys.
pub(super) fn pre_encoded<'py>(
    py: Python<'py>,
    global_meta_dict: &Bound<'py, PyAny>,
    descriptors_and_data: &Bound<'py, PyAny>,
    (hash, threads): (Option<&str>, u32),
    keys: Keys,
) -> PyResult<Bound<'py, PyBytes>> {
    let metadata = metadata_in::metadata(global_meta_dict)?;
    let options = EncodeOptions { hashing: hashing(hash)?, threads, ..EncodeOptions::default() };
    let objects = Objects::encoded(descriptors_and_data, keys)?;
    let message = objects.with(py, |pairs| tgm_std::encode::encode_pre_encoded(&metadata, pairs, &options))?;
    bytes_out::bytes(py, message)
}
