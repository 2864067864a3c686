//! What the packages beside this one take besides the public names. Changes in any release.

// base
pub use crate::base::limits::{reserve, reserve_more};

// decode
pub use crate::decode::masks::mask_set;
pub use crate::decode::trust::{Trust, Trusted};

// encode
pub use crate::encode::masks::store as store_masks;

// model
#[cfg(feature = "json")]
pub use crate::model::json::{from_cbor, to_cbor};
