//! Code that the images share: messages in flash or in pieces, a buffer for values, start-up, and a report by
//! semihosting.
//!
//! An image prints the lines of `expected.txt` that begin with its name, then the bytes of stack that it has used.
#![no_std]

pub mod machine;
pub mod messages;
pub mod pieces;
pub mod report;
