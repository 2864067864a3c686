//! What the packages beside this one take besides the public names. Changes in any release.

// decode
pub use crate::decode::checked::CheckedMessage;
pub use crate::decode::trust::{Proof, Trusted};
pub use crate::decode::trusted_values;

// model
#[cfg(feature = "json")]
pub use crate::model::json::{from_cbor, to_cbor};
pub use crate::model::room::Room;
pub use crate::model::to_owned;
