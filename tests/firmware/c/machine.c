/* Start-up, the stack's depth, and semihosting: src/machine.rs in C. */
#include "image.h"

#define PAINT 0x5aa5c33cu
/* Words that are not painted, because the painter's own frame is there. */
#define MARGIN 16

extern uint32_t __stack_start[];
extern uint32_t __stack_end[];

/* The buffer for values. It belongs to the image, not to the library. */
__attribute__((section(".values"), aligned(8))) static uint8_t values[VALUES_LEN];

void Reset(void);
void Fault(void);

static void call_host(uint32_t operation, const void *argument) {
    register uint32_t r0 __asm__("r0") = operation;
    register const void *r1 __asm__("r1") = argument;
    __asm__ volatile("bkpt 0xab" : "+r"(r0) : "r"(r1) : "memory");
}

static void write_byte(char byte) {
    call_host(3, &byte);
}

__attribute__((noreturn)) static void exit_with(uint32_t code) {
    uint32_t block[2];
    block[0] = 0x20026;
    block[1] = code;
    call_host(0x20, block);
    for (;;) {
    }
}

void word(const char *text) {
    write_byte(' ');
    line(text);
}

void line(const char *text) {
    for (; *text != 0; text++) {
        write_byte(*text);
    }
}

void end_line(void) {
    write_byte('\n');
}

void number(uint32_t value) {
    uint32_t digit = 1;
    write_byte(' ');
    while (digit <= value / 10) {
        digit *= 10;
    }
    for (; digit > 0; digit /= 10) {
        write_byte((char)('0' + value / digit % 10));
    }
}

void hex(uint64_t value) {
    int shift;
    write_byte(' ');
    for (shift = 60; shift >= 0; shift -= 4) {
        write_byte("0123456789abcdef"[value >> shift & 15]);
    }
}

uint64_t checksum(const uint8_t *bytes, size_t len) {
    uint64_t sum = UINT64_C(0xcbf29ce484222325);
    for (; len > 0; len--) {
        sum = (sum ^ *bytes++) * UINT64_C(0x100000001b3);
    }
    return sum;
}

__attribute__((noinline)) static void paint_stack(void) {
    volatile uint32_t *place = __stack_start;
    uint32_t *end;
    __asm__ volatile("mov %0, sp" : "=r"(end));
    for (end -= MARGIN; place < end; place++) {
        *place = PAINT;
    }
}

/* Bytes from the deepest word that was written to the top. */
static uint32_t stack_used(void) {
    const volatile uint32_t *place = __stack_start;
    while (place < __stack_end && *place == PAINT) {
        place++;
    }
    return (uint32_t)((uintptr_t)__stack_end - (uintptr_t)place);
}

void Reset(void) {
    uint32_t code;
    paint_stack();
    code = (uint32_t)run(values);
    line("stack");
    number(stack_used());
    end_line();
    exit_with(code);
}

void Fault(void) {
    line("fault\n");
    exit_with(2);
}
