//! Messages from descriptors and bytes.

use ciborium::Value;
use tgm_std::encode::{MaskMethod, Provenance, ValueOrder};
use tgm_std::{DataObjectDescriptor, EncodeOptions};

use crate::answer::{buffer, run};
use crate::args::Args;
use crate::failure::{Failure, map, wrong};
use crate::metadata::{to_descriptor, to_metadata};

/// The options of encoding among arguments. Values are in the byte order that their descriptor declares.
///
/// # Errors
/// [`Failure`] for names that are not known.
pub(crate) fn encoding(args: &mut Args) -> Result<EncodeOptions, Failure> {
    let defaults = EncodeOptions::default();
    let method = |args: &mut Args, name: &str| -> Result<MaskMethod, Failure> {
        Ok(args.text(name)?.map_or(Ok(MaskMethod::Roaring), |method| MaskMethod::from_name(&method))?)
    };
    let text = |args: &mut Args, name: &str| args.text(name).map(Option::unwrap_or_default);
    Ok(EncodeOptions {
        hashing: !args.flag("noHash"),
        allow_nan: args.flag("allowNan"),
        allow_inf: args.flag("allowInf"),
        nan_mask_method: method(args, "nanMaskMethod")?,
        pos_inf_mask_method: method(args, "posInfMaskMethod")?,
        neg_inf_mask_method: method(args, "negInfMaskMethod")?,
        small_mask_threshold_bytes: args
            .optional("smallMaskThresholdBytes")?
            .unwrap_or(defaults.small_mask_threshold_bytes),
        value_order: ValueOrder::Declared,
        provenance: Some(Provenance {
            time: text(args, "time")?,
            uuid: text(args, "uuid")?,
            encoder_name: "tgm-web".to_owned(),
            encoder_version: env!("CARGO_PKG_VERSION").to_owned(),
        }),
        ..defaults
    })
}

/// An object: its descriptor and its bytes.
///
/// # Errors
/// [`Failure`] for a descriptor that cannot be read.
pub(crate) fn object(args: &mut Args) -> Result<(DataObjectDescriptor, Vec<u8>), Failure> {
    // The buffer is taken first, so that an error leaves none behind.
    let bytes = args.bytes("data")?;
    let descriptor = args.value("descriptor").ok_or_else(|| wrong("no descriptor"))?;
    Ok((to_descriptor(&descriptor)?, bytes))
}

/// `metadata`, `objects` (each a `descriptor` and `data`), `stored` (whether the data went through the pipeline before), options:
/// a message.
#[unsafe(no_mangle)]
pub extern "C" fn tgm_encode(args: u32) -> u32 {
    run(args, |mut args| {
        let objects = args.list("objects")?.into_iter().map(|value| object(&mut Args::of(value)?));
        // All buffers are taken before the first error ends the call.
        let objects = objects.collect::<Vec<_>>().into_iter().collect::<Result<Vec<_>, _>>()?;
        let metadata = to_metadata(args.value("metadata").ok_or_else(|| wrong("no metadata"))?)?;
        let (is_stored, options) = (args.flag("stored"), encoding(&mut args)?);
        let pairs: Vec<_> = objects.iter().map(|(descriptor, data)| (descriptor, &data[..])).collect();
        let encode = if is_stored { tgm_std::encode::encode_pre_encoded } else { tgm_std::encode };
        Ok(buffer(encode(&metadata, &pairs, &options)?))
    })
}

/// `values` (float64), `bits`, `decimal`: parameters of simple packing.
#[unsafe(no_mangle)]
pub extern "C" fn tgm_packing(args: u32) -> u32 {
    run(args, |mut args| {
        let bytes = args.bytes("values")?;
        let values: Vec<f64> = bytes.as_chunks().0.iter().map(|chunk| f64::from_ne_bytes(*chunk)).collect();
        let (bits, decimal) = (args.integer("bits")?, args.integer("decimal")?);
        let params = tgm_std::simple_packing::compute_params(&values, bits, decimal)?;
        Ok(map([
            ("sp_reference_value", params.reference_value.into()),
            ("sp_binary_scale_factor", Value::from(params.binary_scale_factor)),
            ("sp_decimal_scale_factor", Value::from(params.decimal_scale_factor)),
            ("sp_bits_per_value", Value::from(params.bits_per_value)),
        ]))
    })
}
