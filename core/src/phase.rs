//! The legal order of the frames in a message. Only types of frames appear here, so every reader of bytes can use it.
//!
//! ```text
//!            header frame            object                 footer frame
//!           ┌───────────┐          ┌────────┐              ┌────────────┐
//!           ▼           │          ▼        │              ▼            │
//! start ─► Header ──────┴──┬──► Body ───────┴──┬──► Footer ─────────────┴──► finish
//!                          │      ▲ │ preceder │
//!                          │ object │ ▼        │
//!                          └──► Preceded       └── from Header too, when there are no objects
//! ```
//!
//! Header, Body, Preceded and Footer are the phases. An object leads to Body, a preceder to Preceded, and a footer frame to
//! Footer. A message never goes back from objects to header frames, or from footer frames to objects. The frame after a
//! preceder is its object. Format: FORMAT §1.10 rows 13 to 15.

use crate::error::ErrorKind;
pub use crate::names::DecodePhase;
use crate::names::FrameType;

impl DecodePhase {
    /// The phase after a frame of type `frame`.
    ///
    /// # Errors
    /// [`ErrorKind::FrameOrder`] if that frame belongs to an earlier phase; [`ErrorKind::PrecederWithoutObject`] if the
    /// frame before was a preceder, and this one is not an object.
    ///
    /// ```
    /// use tgm_core::phase::DecodePhase;
    /// use tgm_core::wire::FrameType;
    ///
    /// let phase = DecodePhase::Header.after(FrameType::NTensorFrame)?;
    /// assert_eq!(phase, DecodePhase::Body);
    /// assert!(phase.after(FrameType::HeaderIndex).is_err());
    /// # Ok::<(), tgm_core::error::ErrorKind>(())
    /// ```
    pub const fn after(self, frame: FrameType) -> Result<Self, ErrorKind> {
        use FrameType as F;
        match (self, frame) {
            (Self::Header | Self::Body | Self::Preceded, F::NTensorFrame) => Ok(Self::Body),
            (Self::Preceded, other) => Err(ErrorKind::PrecederWithoutObject(other)),
            (Self::Header, F::HeaderMetadata | F::HeaderIndex | F::HeaderHash) => Ok(Self::Header),
            (Self::Header | Self::Body, F::PrecederMetadata) => Ok(Self::Preceded),
            (_, F::FooterHash | F::FooterIndex | F::FooterMetadata) => Ok(Self::Footer),
            (phase, frame) => Err(ErrorKind::FrameOrder(frame, phase)),
        }
    }

    /// Whether a message may end in this phase.
    ///
    /// # Errors
    /// [`ErrorKind::DanglingPreceder`] if the last frame was a preceder, whose object is missing.
    pub const fn finish(self) -> Result<(), ErrorKind> {
        match self {
            Self::Preceded => Err(ErrorKind::DanglingPreceder),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::DecodePhase as P;
    use crate::error::ErrorKind as E;
    use crate::wire::FrameType as F;

    #[test]
    fn phases_never_go_back() {
        for header in [F::HeaderMetadata, F::HeaderIndex, F::HeaderHash] {
            assert_eq!(P::Header.after(header), Ok(P::Header));
            assert_eq!(P::Body.after(header), Err(E::FrameOrder(header, P::Body)));
            assert_eq!(P::Footer.after(header), Err(E::FrameOrder(header, P::Footer)));
        }
        for footer in [F::FooterHash, F::FooterIndex, F::FooterMetadata] {
            for phase in [P::Header, P::Body, P::Footer] {
                assert_eq!(phase.after(footer), Ok(P::Footer));
            }
        }
        assert_eq!(P::Footer.after(F::NTensorFrame), Err(E::FrameOrder(F::NTensorFrame, P::Footer)));
        assert_eq!(P::Footer.after(F::PrecederMetadata), Err(E::FrameOrder(F::PrecederMetadata, P::Footer)));
    }

    #[test]
    fn a_preceder_is_followed_by_its_object() {
        assert_eq!(P::Body.after(F::PrecederMetadata), Ok(P::Preceded));
        assert_eq!(P::Preceded.after(F::NTensorFrame), Ok(P::Body));
        for other in F::ALL.into_iter().filter(|t| !t.is_data_object()) {
            assert_eq!(P::Preceded.after(other), Err(E::PrecederWithoutObject(other)));
        }
        assert_eq!(P::Preceded.finish(), Err(E::DanglingPreceder));
        for phase in [P::Header, P::Body, P::Footer] {
            assert_eq!(phase.finish(), Ok(()));
        }
    }
}
