//! What the packages of this workspace take besides the public names: few, which a check counts. Changes in any release.

// base
pub use crate::base::limits::{reserve, reserve_more};

// decode
pub use crate::decode::checked::CheckedMessage;
pub use crate::decode::masks::mask_set;
pub use crate::decode::trust::{Trust, Trusted};
pub use crate::decode::whole::trusted_values;

// encode
pub use crate::encode::masks::store as store_masks;

// file
pub use crate::file::append::Growing;
pub use crate::file::identity::{identity_at, is_of_server};

// model
pub use crate::model::cbor::canonical;
pub use crate::model::metadata_budget::MetadataBudget;
pub use crate::model::to_owned;

// read
pub use crate::read::open::read_file;
