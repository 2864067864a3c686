//! Lets a firmware choose the functions that the library exports.
//!
//! A static library has to keep every exported function whole. If `TGMC_FUNCTIONS` lists the functions that the program
//! calls, the others are dropped before code is optimised. What is left is joined and specialised, and is much smaller.

use std::env;

fn main() {
    println!("cargo::rerun-if-env-changed=TGMC_FUNCTIONS");
    println!("cargo::rustc-check-cfg=cfg(chosen)");
    println!("cargo::rustc-check-cfg=cfg(only, values(any()))");
    if let Ok(functions) = env::var("TGMC_FUNCTIONS") {
        println!("cargo::rustc-cfg=chosen");
        for function in functions.split_whitespace() {
            println!("cargo::rustc-cfg=only=\"{function}\"");
        }
    }
}
