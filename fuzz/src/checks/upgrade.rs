//! Messages of version 2: what is upgraded is one whole message of version 3 with true digests, in which validation finds
//! nothing before it decodes. Where old digests are true, looking at them changes nothing.

use tgm_core::Message;
use tgm_std::v2::{UpgradeOptions, upgrade_message};
use tgm_std::{EncodeOptions, ValidateOptions, ValidationLevel, scan, validate_message};

use crate::{limits, provenance};

/// Upgrades the message that `bytes` begin with.
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
        // Whose digests are true, that one is upgraded whether they are looked at or not, to the same bytes.
        if !masks && !ignore_hash {
            let unlooked = UpgradeOptions { ignore_hash: true, ..options };
            assert_eq!(upgrade_message(bytes, &unlooked).ok(), Some(new));
        }
    }
}
