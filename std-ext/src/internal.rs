//! What the packages beside this one take besides the public names. Changes in any release.

// of tgm-codec
pub use tgm_codec::memory::{huge_pages, huge_pages_in};
pub use tgm_codec::threads::Threads;

// base
pub use crate::base::harmless::{escape, escaped, is_plain, is_unsafe};
pub use crate::base::limits::{reserve, reserve_more};

// decode
pub use crate::decode::checked::CheckedMessage;
pub use crate::decode::deferred::{DeferredObject, decode_deferred};
pub use crate::decode::masks::mask_set;
pub use crate::decode::trust::{Proof, Trust, Trusted};
pub use crate::decode::whole::trusted_values;

// encode
pub use crate::encode::buffered::prepare_stored;
pub use crate::encode::masks::store as store_masks;

// file
pub use crate::base::foreign::KINDS as FOREIGN_KINDS;
pub use crate::file::append::Growing;
pub use crate::file::identity::{identity_at, is_of_server};
pub use crate::file::in_order::{in_order, open_unread};
/// Files and folders that appear whole, or stay as they were.
#[cfg(not(target_family = "wasm"))]
pub mod replace {
    pub use crate::file::replace::{
        InFlight, Replacement, Temporary, TemporaryFolder, make_folders, write_whole, write_whole_file,
    };
}

// model
pub use crate::model::cbor::canonical;
#[cfg(feature = "json")]
pub use crate::model::json::{base64, float_to_json, from_cbor, integer_beyond_64_bits, to_cbor};
pub use crate::model::metadata_budget::MetadataBudget;
pub use crate::model::to_owned::{DeferredDescriptor, DeferredMetadata};
pub use crate::model::{hash, to_owned};
/// The tree of a query's conditions, and what they compare.
pub mod query {
    pub use crate::model::query::alias::{names, spellings};
    pub use crate::model::query::compare::Number;
    pub use crate::model::query::expr::{Condition, Expr, VERSION_KEY, annotation_path};
    pub use crate::model::query::structure::Structure;
    pub use crate::model::query::version;
}

// read
pub use crate::read::open::read_file;
pub use crate::read::options::ReadKnob;

// scan
pub use crate::scan::{Window, Windowed};

/// Whether reading this address asks the cloud instance for credentials, as neither the options nor the environment have any.
pub fn asks_instance(source: &str) -> bool {
    #[cfg(feature = "remote")]
    return crate::remote::open(source, &crate::remote::RemoteOptions::default())
        .is_ok_and(|source| source.credentials() == crate::remote::Credentials::Instance);
    #[cfg(not(feature = "remote"))]
    {
        let _ = source;
        false
    }
}
