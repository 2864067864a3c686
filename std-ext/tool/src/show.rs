//! Output for people and programs: standard output and error, tables, trees, JSON, error texts.

pub(crate) mod advice;
pub(crate) mod arguments;
pub(crate) mod foreign;
pub(crate) mod form;
pub(crate) mod json;
pub(crate) mod output;
pub(crate) mod progress;
pub(crate) mod quoted;
pub(crate) mod summary;
pub(crate) mod table;
pub(crate) mod text;
pub(crate) mod tree;
pub(crate) mod wire_flags;
pub(crate) mod wrap;
