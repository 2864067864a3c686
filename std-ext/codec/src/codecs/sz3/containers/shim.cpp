// SZ3's compressor for `double` in one dimension, behind two functions that C can call.
//
// It replaces SZ3's `sz.hpp` and `SZDispatcher.hpp`: the container's head and trailer, and the choice between lossy and
// lossless. Those headers would bring all dimensions, algorithms that are not used, and an encoder under the LGPL.
// No exception leaves this file. Nothing is kept between calls, and no call starts a thread.

#include <algorithm>
#include <array>
#include <cassert>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
#include <iomanip>
#include <iostream>
#include <iterator>
#include <limits>
#include <map>
#include <memory>
#include <new>
#include <numeric>
#include <random>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include <zstd.h>

// SZ3 does not check what `malloc` returns, and loses its memory when it throws, which it does for noise. So in its
// headers, and only there, `malloc` throws, and memory that a call of the shim has not freed is freed when the call ends.
namespace {

struct alignas(std::max_align_t) Block {
    Block *previous;
    Block *next;
};

// The blocks of memory of the call that this thread is in.
thread_local Block *blocks = nullptr;

struct Blocks {
    Block ring{&ring, &ring};

    Blocks() { blocks = &ring; }
    Blocks(const Blocks &) = delete;
    Blocks &operator=(const Blocks &) = delete;

    ~Blocks() {
        for (Block *block = ring.next; block != &ring;) std::free(std::exchange(block, block->next));
        blocks = nullptr;
    }
};

void *tgm_sz3_malloc(std::size_t size) {
    if (size > SIZE_MAX - sizeof(Block)) throw std::bad_alloc();
    void *memory = std::malloc(sizeof(Block) + size);
    if (memory == nullptr) throw std::bad_alloc();
    Block *block = new (memory) Block{blocks, blocks->next};
    block->previous->next = block->next->previous = block;
    return block + 1;
}

void tgm_sz3_free(void *memory) {
    if (memory == nullptr) return;
    Block *block = static_cast<Block *>(memory) - 1;
    block->previous->next = block->next;
    block->next->previous = block->previous;
    std::free(block);
}

}  // namespace

// SZ3 gets names of our own too: a program may hold another SZ3, and the linker would merge the functions of both.
#define SZ3 tgm_sz3
#define ska tgm_sz3_ska
#define malloc tgm_sz3_malloc
#define free tgm_sz3_free
#include "SZ3/api/impl/SZAlgoInterp.hpp"
#undef malloc
#undef free

namespace {

using SZ3::Config;
using SZ3::uchar;

enum Status : int { DONE = 0, OUT_OF_MEMORY = 1, FAILED = 2 };

// The level of zstd for lossless containers. SZ3's default for lossy ones is the same.
constexpr int LEVEL = 3;
// Bytes of the magic number, the version and the length of the body.
constexpr std::size_t HEAD = 4 + 4 + 8;

Config configuration(std::size_t count) {
    Config conf(count);
    conf.cmprAlgo = SZ3::ALGO_INTERP_LORENZO;
    conf.errorBoundMode = SZ3::EB_ABS;
    conf.lorenzo2 = true;
    conf.dataType = SZ_DOUBLE;
    return conf;
}

std::size_t capacity(const Config &conf) {
    return 4096 + conf.size_est() + ZSTD_compressBound(conf.num * sizeof(double));
}

// Writes a length and one zstd frame with the values as they are. Returns the length of both.
std::size_t compress_lossless(const Config &conf, const double *values, uchar *out, std::size_t cap) {
    std::uint64_t raw_len = conf.num * sizeof(double);
    if (cap < sizeof raw_len) throw std::runtime_error("no room");
    SZ3::write(raw_len, out);
    std::size_t len = ZSTD_compress(out, cap - sizeof raw_len, values, raw_len, LEVEL);
    if (ZSTD_isError(len)) throw std::bad_alloc();
    return sizeof raw_len + len;
}

// As `compress_lossless`, but by prediction. Returns 0 if that does not fit into `cap`. `conf` becomes what SZ3 chose.
std::size_t compress_lossy(Config &conf, const double *values, uchar *out, std::size_t cap) {
    std::vector<double> overwritten(values, values + conf.num);
    std::size_t len = 0;
    try {
        len = SZ3::SZ_compress_Interp_lorenzo<double, 1>(conf, overwritten.data(), out, cap);
    } catch (const std::length_error &error) {
        if (std::string(error.what()) != SZ3_ERROR_COMP_BUFFER_NOT_LARGE_ENOUGH) throw;
        return 0;
    }
    // SZ3 adds zstd's errors to its lengths.
    if (len > cap) throw std::bad_alloc();
    return len;
}

std::size_t compress_body(Config &conf, const double *values, uchar *out, std::size_t cap) {
    std::size_t lossy = compress_lossy(conf, values, out, cap);
    if (lossy == 0) {
        conf.cmprAlgo = SZ3::ALGO_LOSSLESS;
        return compress_lossless(conf, values, out, cap);
    }
    std::size_t raw_len = conf.num * sizeof(double);
    if (static_cast<double>(raw_len) / static_cast<double>(lossy) >= 3) return lossy;
    std::vector<uchar> other(ZSTD_compressBound(raw_len) + sizeof(std::uint64_t));
    std::size_t lossless = compress_lossless(conf, values, other.data(), other.size());
    if (lossless >= lossy || lossless > cap) return lossy;
    conf.cmprAlgo = SZ3::ALGO_LOSSLESS;
    std::memcpy(out, other.data(), lossless);
    return lossless;
}

std::size_t compress(Config &conf, const double *values, uchar *out, std::size_t cap) {
    if (cap < capacity(conf)) throw std::runtime_error("no room");
    std::size_t tail = 2 * conf.size_est();
    uchar *at = out;
    SZ3::write(conf.sz3MagicNumber, at);
    SZ3::write(conf.sz3DataVer, at);
    std::uint64_t len = compress_body(conf, values, out + HEAD, cap - HEAD - tail);
    SZ3::write(len, at);
    at += len;
    return HEAD + len + conf.save(at);
}

}  // namespace

extern "C" {

// The room that a container of `count` values needs while it is made. 0 if that cannot be found out.
std::size_t tgm_sz3_capacity(std::size_t count) noexcept {
    try {
        return capacity(configuration(count));
    } catch (...) {
        return 0;
    }
}

// Makes a container of `count` values, at least one, each within `bound` of its value. `relative` is the bound over the
// range of values if it was given so, and 0 otherwise: SZ3's choice of the algorithm depends on it.
//
// Reads `count` values. Writes the container to `out`, which has room for `cap` bytes, and its length to `len`.
int tgm_sz3_compress(const double *values, std::size_t count, double bound, double relative, unsigned char *out,
                     std::size_t cap, std::size_t *len) noexcept {
    Blocks of_this_call;
    try {
        Config conf = configuration(count);
        conf.absErrorBound = bound;
        conf.relErrorBound = relative;
        *len = compress(conf, values, out, cap);
        return DONE;
    } catch (const std::bad_alloc &) {
        return OUT_OF_MEMORY;
    } catch (...) {
        return FAILED;
    }
}

}
