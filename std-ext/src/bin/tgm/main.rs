//! The `tgm` tool.

fn main() {}
