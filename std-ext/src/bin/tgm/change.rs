//! What the commands share that make messages of messages.

pub(crate) mod assign;
pub(crate) mod edit;
pub(crate) mod rescue;
pub(crate) mod rewrite;
pub(crate) mod survive;
