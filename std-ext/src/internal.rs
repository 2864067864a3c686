//! What the packages beside this one take besides the public names. Changes in any release.

// scan
pub use crate::scan::{Window, Windowed};
