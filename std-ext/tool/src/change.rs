//! Taking messages apart and making messages from the parts, for commands that write.

pub(crate) mod assign;
pub(crate) mod edit;
pub(crate) mod exact;
pub(crate) mod rescue;
pub(crate) mod rewrite;
pub(crate) mod survive;
