//! The types that packed values are unpacked to.

/// A type that packed values are unpacked to.
pub(crate) trait Float: tgm_core::formula::Unpack + tgm_core::tensor::Element {
    /// The value of this type that is nearest to `value`.
    #[cfg_attr(not(feature = "szip"), expect(dead_code, reason = "other values are rounded by tgm-core"))]
    fn nearest(value: f64) -> Self;
}

impl Float for f32 {
    fn nearest(value: f64) -> Self {
        value as Self
    }
}

impl Float for f64 {
    fn nearest(value: f64) -> Self {
        value
    }
}
