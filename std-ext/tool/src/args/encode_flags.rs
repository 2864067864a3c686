//! Flags for encoding apart from the pipeline: non-finite values, digests, threads.

use clap::Args;
use clap::builder::BoolishValueParser;
use tgm_std::{Blosc2Codec, EncodeOptions, MaskDescriptor, MaskMethod, MasksMetadata, ValueOrder};

use crate::args::RARE;

/// How NaN and infinities are stored, whether digests are written, and how many threads work.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Encoding")]
pub(crate) struct EncodeFlags {
    /// Store NaN as a mask; otherwise it is an error
    #[arg(long, env = "TENSOGRAM_ALLOW_NAN", value_name = "BOOL", num_args = 0..=1, require_equals = true,
        default_missing_value = "true", value_parser = BoolishValueParser::new())]
    allow_nan: Option<bool>,
    /// Store infinities as masks; otherwise they are an error
    #[arg(long, env = "TENSOGRAM_ALLOW_INF", value_name = "BOOL", num_args = 0..=1, require_equals = true,
        default_missing_value = "true", value_parser = BoolishValueParser::new())]
    allow_inf: Option<bool>,
    /// How the mask of NaN is stored: none, rle, roaring, lz4, zstd or blosc2 [default: roaring]
    #[arg(long, help_heading = RARE, env = "TENSOGRAM_NAN_MASK_METHOD", value_name = "METHOD", value_parser = method)]
    nan_mask_method: Option<MaskMethod>,
    /// How the mask of +∞ is stored
    #[arg(long, help_heading = RARE, env = "TENSOGRAM_POS_INF_MASK_METHOD", value_name = "METHOD", value_parser = method)]
    pos_inf_mask_method: Option<MaskMethod>,
    /// How the mask of −∞ is stored
    #[arg(long, help_heading = RARE, env = "TENSOGRAM_NEG_INF_MASK_METHOD", value_name = "METHOD", value_parser = method)]
    neg_inf_mask_method: Option<MaskMethod>,
    /// Masks up to this many packed bytes are stored without compression; 0 compresses all [default: 128]
    #[arg(long, help_heading = RARE, env = "TENSOGRAM_SMALL_MASK_THRESHOLD", value_name = "BYTES")]
    small_mask_threshold: Option<usize>,
    /// Write no digests
    #[arg(long)]
    no_hash: bool,
    /// How many threads work: on messages side by side, and on the parts of large objects; 0 stands for all processors, for
    /// messages alone
    #[arg(long, env = "TENSOGRAM_THREADS", value_name = "N", default_value_t = 0, hide_default_value = true)]
    threads: u32,
}

fn method(name: &str) -> Result<MaskMethod, String> {
    MaskMethod::from_name(name).map_err(|_| "not one of none, rle, roaring, lz4, zstd, blosc2".to_string())
}

impl EncodeFlags {
    /// The options for new objects.
    pub(crate) fn options(&self) -> EncodeOptions {
        let usual = EncodeOptions::default();
        EncodeOptions {
            hashing: !self.no_hash,
            threads: self.threads,
            allow_nan: self.allow_nan.unwrap_or(usual.allow_nan),
            allow_inf: self.allow_inf.unwrap_or(usual.allow_inf),
            nan_mask_method: self.nan_mask_method.clone().unwrap_or(usual.nan_mask_method),
            pos_inf_mask_method: self.pos_inf_mask_method.clone().unwrap_or(usual.pos_inf_mask_method),
            neg_inf_mask_method: self.neg_inf_mask_method.clone().unwrap_or(usual.neg_inf_mask_method),
            small_mask_threshold_bytes: self.small_mask_threshold.unwrap_or(usual.small_mask_threshold_bytes),
            // Values come from files, which declare their byte order.
            value_order: ValueOrder::Declared,
            ..EncodeOptions::default()
        }
    }

    /// [`Self::options`] for values of other formats: NaN and infinities are masked, unless a flag forbids it.
    pub(crate) fn options_with_masks(&self) -> EncodeOptions {
        let (allow_nan, allow_inf) = (self.allow_nan.unwrap_or(true), self.allow_inf.unwrap_or(true));
        EncodeOptions { allow_nan, allow_inf, ..self.options() }
    }

    /// The options for an object that has `masks`. Masked values stay masked. A mask keeps its method unless a flag
    /// names another one.
    pub(crate) fn options_keeping(&self, masks: Option<&MasksMetadata>) -> EncodeOptions {
        let mut options = self.options();
        let Some(masks) = masks else { return options };
        options.allow_nan |= masks.nan.is_some();
        options.allow_inf |= masks.pos_inf.is_some() || masks.neg_inf.is_some();
        let kept = [
            (&mut options.nan_mask_method, &self.nan_mask_method, &masks.nan),
            (&mut options.pos_inf_mask_method, &self.pos_inf_mask_method, &masks.pos_inf),
            (&mut options.neg_inf_mask_method, &self.neg_inf_mask_method, &masks.neg_inf),
        ];
        for (method, flag, mask) in kept {
            if let (None, Some(mask)) = (flag, mask) {
                *method = method_of(mask);
                if self.small_mask_threshold.is_none() && *method != MaskMethod::None {
                    options.small_mask_threshold_bytes = 0;
                }
            }
        }
        options
    }

    /// Whether flags ask to mask NaN, and infinities.
    pub(crate) fn asks_for_masks(&self) -> (bool, bool) {
        (self.allow_nan == Some(true), self.allow_inf == Some(true))
    }

    /// Whether a flag asks to store existing masks in another way.
    pub(crate) const fn changes_masks(&self) -> bool {
        self.nan_mask_method.is_some()
            || self.pos_inf_mask_method.is_some()
            || self.neg_inf_mask_method.is_some()
            || self.small_mask_threshold.is_some()
    }

    /// How many threads may decode.
    pub(crate) const fn threads(&self) -> u32 {
        self.threads
    }
}

/// The method by which a mask is stored.
fn method_of(mask: &MaskDescriptor) -> MaskMethod {
    let level = mask.params.get("level").and_then(|level| i32::try_from(level.as_integer()?).ok());
    // An object whose masks have another method cannot be decoded, and so gets no new masks.
    match MaskMethod::from_name(&mask.method).unwrap_or_default() {
        MaskMethod::Zstd { .. } => MaskMethod::Zstd { level },
        MaskMethod::Blosc2 { codec, level: usual } => {
            let named = mask.params.get("codec").and_then(|name| Blosc2Codec::from_name(name.as_text()?));
            MaskMethod::Blosc2 { codec: named.unwrap_or(codec), level: level.unwrap_or(usual) }
        }
        other => other,
    }
}
