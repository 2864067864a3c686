//! Start-up, the stack's depth, semihosting, and a panic handler that must not be reachable.
//!
//! All `unsafe` of the images is here, except for their calls of [`start`].

use core::arch::asm;
use core::panic::PanicInfo;
use core::ptr::{addr_of, addr_of_mut};

use tgm_core::Result;

use crate::report::Line;

/// Bytes of the buffer for values.
pub const VALUES_LEN: usize = 4096;
/// The value that words of the stack are painted with.
const PAINT: u32 = 0x5aa5_c33c;
/// Words that are not painted, because the painter's own frame is there.
const MARGIN: usize = 16;

/// The buffer for values. It belongs to the image, not to the library.
#[unsafe(link_section = ".values")]
static mut VALUES: [u8; VALUES_LEN] = [0; VALUES_LEN];

unsafe extern "C" {
    static mut __stack_start: u32;
    static __stack_end: u32;
    fn a_panic_is_reachable() -> !;
}

/// Calls a function that does not exist: the image links only if nothing can panic and this handler is removed.
#[panic_handler]
fn panic(_: &PanicInfo<'_>) -> ! {
    // SAFETY: never called, see above.
    unsafe { a_panic_is_reachable() }
}

/// Runs an image from start-up to its exit code, which is 0 if `run` could read all messages.
///
/// # Safety
/// Call it once, at the machine's start, with an empty stack.
pub unsafe fn start(run: fn(&mut [u8]) -> Result<()>) -> ! {
    paint_stack();
    // SAFETY: this is the only reference, because `start` is called once.
    let values = unsafe { &mut *addr_of_mut!(VALUES) };
    let code = match run(values) {
        Ok(()) => 0,
        Err(error) => {
            drop(Line::new("error at").number(error.offset() as u32));
            1
        }
    };
    drop(Line::new("stack").number(stack_used()));
    exit(code)
}

/// The handler of interrupts and faults.
#[unsafe(no_mangle)]
extern "C" fn Fault() -> ! {
    drop(Line::new("fault"));
    exit(2)
}

#[inline(never)]
fn paint_stack() {
    let mut word = addr_of_mut!(__stack_start);
    let end = stack_pointer().wrapping_sub(MARGIN);
    while word.cast_const() < end {
        // SAFETY: between the stack's start and the stack pointer nothing is in use.
        unsafe { word.write_volatile(PAINT) };
        word = word.wrapping_add(1);
    }
}

/// Bytes from the deepest word that was written to the top.
fn stack_used() -> u32 {
    let mut word = addr_of!(__stack_start);
    let end = addr_of!(__stack_end);
    // SAFETY: all of the stack is readable.
    while word < end && unsafe { word.read_volatile() } == PAINT {
        word = word.wrapping_add(1);
    }
    (end as usize).wrapping_sub(word as usize) as u32
}

fn stack_pointer() -> *const u32 {
    let pointer: *const u32;
    // SAFETY: copies a register.
    #[cfg(target_arch = "arm")]
    unsafe {
        asm!("mov {}, sp", out(reg) pointer, options(nomem, nostack))
    };
    // SAFETY: as above.
    #[cfg(target_arch = "riscv32")]
    unsafe {
        asm!("mv {}, sp", out(reg) pointer, options(nomem, nostack))
    };
    pointer
}

/// Semihosting's `SYS_WRITEC`.
pub fn write(byte: u8) {
    call_host(3, addr_of!(byte).cast());
}

/// Semihosting's `SYS_EXIT_EXTENDED`: QEMU ends with this code.
fn exit(code: u32) -> ! {
    const APPLICATION_EXIT: u32 = 0x2_0026;
    let block = [APPLICATION_EXIT, code];
    call_host(0x20, addr_of!(block).cast());
    loop {}
}

fn call_host(operation: u32, argument: *const u8) {
    // SAFETY: the host reads what `argument` points to, as much as the operation says, and changes one register.
    #[cfg(target_arch = "arm")]
    unsafe {
        asm!("bkpt 0xab", inout("r0") operation => _, in("r1") argument, options(nostack));
    }
    // SAFETY: as above. The three instructions mark the call; they must lie in one page.
    #[cfg(target_arch = "riscv32")]
    unsafe {
        asm!(
            ".balign 16", ".option push", ".option norvc",
            "slli x0, x0, 0x1f", "ebreak", "srai x0, x0, 7",
            ".option pop",
            inout("a0") operation => _, in("a1") argument, options(nostack)
        );
    }
}

#[cfg(target_arch = "riscv32")]
core::arch::global_asm!(".section .start, \"ax\"", ".global start", "start:", "la sp, __stack_end", "j Reset");
