//! Messages of version 2: an upgraded message is one whole message of version 3 with right digests, and validation up
//! to its metadata finds no error. If the old digests are right, checking them does not change the result.

use tgm_core::Message;
use tgm_std::v2::{UpgradeOptions, upgrade_message};
use tgm_std::{EncodeOptions, ValidateOptions, ValidationLevel, scan, validate_message};

use crate::{limits, provenance};

/// Upgrades the message at the start of `bytes`.
pub fn check(bytes: &[u8]) {
    for (masks, ignore_hash) in [(false, true), (false, false), (true, true)] {
        let encode = EncodeOptions { provenance: Some(provenance()), ..EncodeOptions::default() };
        let options = UpgradeOptions { masks, ignore_hash, encode, limits: limits() };
        let Ok(new) = upgrade_message(bytes, &options) else { continue };
        assert_eq!(scan(&new), [(0, new.len())]);
        let asked = ValidateOptions { max_level: ValidationLevel::Metadata, limits: limits(), ..Default::default() };
        let report = validate_message(&new, &asked);
        assert!(report.is_ok(), "{report:?}");
        let message = Message::parse(&new).expect("valid");
        let presence = message.hash_presence().expect("valid");
        assert!(message.verify(presence).all(|frame| frame.is_ok_and(|frame| frame.frame.verify_slot().is_ok())));
        // If the old digests are right, upgrading without checking them gives the same bytes.
        if !masks && !ignore_hash {
            let unchecked = UpgradeOptions { ignore_hash: true, ..options };
            assert_eq!(upgrade_message(bytes, &unchecked).ok(), Some(new));
        }
    }
}
