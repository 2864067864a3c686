//! The panic handler of the static library.

use core::panic::PanicInfo;

/// Never called: `../check` links a program that proves it. It loops, because a machine without an operating system has
/// no place for a report.
#[cfg(not(feature = "proof"))]
#[panic_handler]
fn panic(_: &PanicInfo<'_>) -> ! {
    loop {
        core::hint::spin_loop();
    }
}

#[cfg(feature = "proof")]
unsafe extern "C" {
    fn a_panic_is_reachable() -> !;
}

/// Calls a function that does not exist: a program links only if the linker can remove this handler.
#[cfg(feature = "proof")]
#[panic_handler]
fn panic(_: &PanicInfo<'_>) -> ! {
    // SAFETY: never called, because no program with this call links.
    unsafe { a_panic_is_reachable() }
}
