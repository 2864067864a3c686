//! The error bound of lossy compression.

use crate::error::CodecError;

/// The most that values may change.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ErrorBound {
    /// Each value changes by no more than this, in the unit of the values. 0 keeps all values.
    Absolute(f64),
    /// Each value changes by no more than this part of the difference between the greatest and the least value. 0 keeps
    /// all values.
    Relative(f64),
    /// All values together keep at least this peak signal-to-noise ratio, in dB: 20·log₁₀(range / root mean square
    /// error).
    Psnr(f64),
}

impl ErrorBound {
    /// The bound of a descriptor's `sz3_error_bound_mode` and `sz3_error_bound`.
    ///
    /// # Errors
    /// [`CodecError`] for a mode other than `abs`, `rel` and `psnr`.
    ///
    /// ```
    /// use tgm_codec::ErrorBound;
    ///
    /// assert_eq!(ErrorBound::new("rel", 1e-3)?, ErrorBound::Relative(1e-3));
    /// # Ok::<(), tgm_codec::CodecError>(())
    /// ```
    pub fn new(mode: &str, bound: f64) -> Result<Self, CodecError> {
        match mode {
            "abs" => Ok(Self::Absolute(bound)),
            "rel" => Ok(Self::Relative(bound)),
            "psnr" => Ok(Self::Psnr(bound)),
            other => Err(CodecError::new(format!("unknown sz3_error_bound_mode {other:?}: neither abs, rel nor psnr"))),
        }
    }

    /// The mode and the number, as descriptors have them.
    #[inline]
    pub const fn parts(self) -> (&'static str, f64) {
        match self {
            Self::Absolute(bound) => ("abs", bound),
            Self::Relative(bound) => ("rel", bound),
            Self::Psnr(bound) => ("psnr", bound),
        }
    }

    /// The number, in the unit of its mode.
    #[cfg(feature = "sz3-decode")]
    const fn number(self) -> f64 {
        let (Self::Absolute(number) | Self::Relative(number) | Self::Psnr(number)) = self;
        number
    }

    /// Whether all values must be kept as they are.
    #[cfg(feature = "sz3-decode")]
    pub(super) fn is_zero(self) -> bool {
        !matches!(self, Self::Psnr(_)) && self.number() == 0.0
    }

    /// Checks that the number makes sense.
    #[cfg(feature = "sz3-decode")]
    pub(super) fn check(self) -> Result<(), CodecError> {
        let number = self.number();
        if number.is_finite() && number >= 0.0 {
            Ok(())
        } else {
            Err(CodecError::new(format!("error bound cannot be {number:?}: it is a finite number, not negative")))
        }
    }
}
