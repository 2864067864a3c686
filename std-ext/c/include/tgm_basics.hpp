// What the headers of C++ share: errors, borrowed and owned memory, types of elements, options, metadata.
#ifndef TGM_BASICS_HPP
#define TGM_BASICS_HPP

#include <complex>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <memory>
#include <optional>
#include <ostream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#if defined(__has_include)
#if __has_include(<version>)
#include <version>
#endif
#endif
#if defined(__cpp_lib_span)
#include <span>
#endif

#include "tgm.h"

namespace tgm {

// ---- Errors --------------------------------------------------------------------------------------------------------

// A failure: its code, its text, the kind of defect, the byte and the object where it is.
class error : public std::runtime_error {
public:
  error(tgm_error code, const std::string &text) : std::runtime_error(text), code_(code) {}

  // The last error of this thread, for a call that returned `code`.
  static error last(tgm_error code) {
    const char *text = tgm_last_error();
    error made(code, text != nullptr ? text : tgm_error_string(code));
    if (const char *kind = tgm_last_error_kind())
      made.kind_ = kind;
    if (const auto offset = tgm_last_error_offset(); offset != UINT64_MAX)
      made.offset_ = offset;
    if (const auto object = tgm_last_error_object_index(); object != SIZE_MAX)
      made.object_ = object;
    return made;
  }

  tgm_error code() const noexcept { return code_; }
  // The name of the defect in the bytes, such as "Truncated"; empty if they are not the cause.
  const std::string &kind() const noexcept { return kind_; }
  // The byte of the message.
  std::optional<std::uint64_t> offset() const noexcept { return offset_; }
  // The number of the object.
  std::optional<std::size_t> object_index() const noexcept { return object_; }

private:
  tgm_error code_;
  std::string kind_;
  std::optional<std::uint64_t> offset_;
  std::optional<std::size_t> object_;
};

namespace detail {

inline void check(tgm_error code) {
  if (code != TGM_ERROR_OK)
    throw error::last(code);
}

// A handle with the function that frees it.
template <class T, void (*Free)(T *)> struct freed {
  void operator()(T *handle) const noexcept { Free(handle); }
};
template <class T, void (*Free)(T *)> using handle = std::unique_ptr<T, freed<T, Free>>;

inline std::string text(const char *borrowed) { return borrowed != nullptr ? std::string(borrowed) : std::string(); }

} // namespace detail

// A path or an address, for calls that open. Paths and texts become one.
class location {
public:
  location(const char *text) : location(std::string(text)) {}
  location(std::string text) : text_(std::move(text)) {
    if (text_.find('\0') != std::string::npos)
      throw error(TGM_ERROR_INVALID_ARG, "a path has a NUL in it");
  }
  location(const std::filesystem::path &path) : location(path.string()) {}

  const char *c_str() const noexcept { return text_.c_str(); }

private:
  std::string text_;
};

// ---- Borrowed memory -----------------------------------------------------------------------------------------------

#if defined(__cpp_lib_span)
template <class T> using span = std::span<T>;
#else
// A borrowed array: std::span of C++20, as far as it is needed here.
template <class T> class span {
public:
  using element_type = T;
  using value_type = std::remove_cv_t<T>;

  constexpr span() noexcept = default;
  constexpr span(T *data, std::size_t size) noexcept : data_(data), size_(size) {}
  template <std::size_t N> constexpr span(T (&array)[N]) noexcept : data_(array), size_(N) {}
  // Anything with data() and size(): vectors, arrays, strings, other spans.
  template <class C, class = std::enable_if_t<std::is_convertible_v<
                         std::remove_pointer_t<decltype(std::declval<C &>().data())> (*)[], T (*)[]>>>
  constexpr span(C &&from) : data_(from.data()), size_(from.size()) {}

  constexpr T *data() const noexcept { return data_; }
  constexpr std::size_t size() const noexcept { return size_; }
  constexpr std::size_t size_bytes() const noexcept { return size_ * sizeof(T); }
  constexpr bool empty() const noexcept { return size_ == 0; }
  constexpr T *begin() const noexcept { return data_; }
  constexpr T *end() const noexcept { return data_ + size_; }
  constexpr T &operator[](std::size_t index) const noexcept { return data_[index]; }

private:
  T *data_ = nullptr;
  std::size_t size_ = 0;
};
#endif

using byte_span = span<const std::uint8_t>;

namespace detail {

template <class T> struct is_span : std::false_type {};
template <class T> struct is_span<span<T>> : std::true_type {};

// Whether the memory of an argument `C &&` dies with the expression: it is a temporary, and not a span.
template <class C>
inline constexpr bool is_temporary_owner =
    !std::is_lvalue_reference_v<C> && !is_span<std::remove_cv_t<std::remove_reference_t<C>>>::value;

// The elements of vectors, arrays and spans.
template <class C>
using element_of = std::remove_cv_t<std::remove_pointer_t<decltype(std::declval<std::remove_reference_t<C> &>().data())>>;
template <class C> using elements_of = decltype(span<const element_of<C>>(std::declval<std::remove_reference_t<C> &>()));

// The start of a buffer for the library, which takes NULL for a missing argument. Nothing is read of an empty one.
inline const std::uint8_t *start(byte_span buffer) noexcept {
  static constexpr std::uint8_t nothing[16] = {};
  return buffer.data() != nullptr ? buffer.data() : nothing;
}

} // namespace detail

// Bytes of the library.
class bytes {
public:
  bytes() noexcept = default;
  explicit bytes(tgm_bytes_t owned) noexcept : owned_(owned) {}
  bytes(bytes &&other) noexcept : owned_(std::exchange(other.owned_, tgm_bytes_t{nullptr, 0})) {}
  bytes &operator=(bytes &&other) noexcept {
    std::swap(owned_, other.owned_);
    return *this;
  }
  bytes(const bytes &) = delete;
  bytes &operator=(const bytes &) = delete;
  ~bytes() { tgm_bytes_free(owned_); }

  const std::uint8_t *data() const & noexcept { return owned_.data; }
  const std::uint8_t *data() const && = delete;
  std::size_t size() const noexcept { return owned_.len; }
  bool empty() const noexcept { return owned_.len == 0; }
  const std::uint8_t *begin() const & noexcept { return owned_.data; }
  const std::uint8_t *begin() const && = delete;
  const std::uint8_t *end() const & noexcept { return owned_.data + owned_.len; }
  const std::uint8_t *end() const && = delete;
  std::uint8_t operator[](std::size_t index) const noexcept { return owned_.data[index]; }
  std::string str() const { return std::string(begin(), end()); }

private:
  tgm_bytes_t owned_{nullptr, 0};
};

// ---- Types of elements ---------------------------------------------------------------------------------------------

enum class dtype : std::int32_t {
  float16 = TGM_DTYPE_FLOAT16,
  bfloat16 = TGM_DTYPE_BFLOAT16,
  float32 = TGM_DTYPE_FLOAT32,
  float64 = TGM_DTYPE_FLOAT64,
  complex64 = TGM_DTYPE_COMPLEX64,
  complex128 = TGM_DTYPE_COMPLEX128,
  int8 = TGM_DTYPE_INT8,
  int16 = TGM_DTYPE_INT16,
  int32 = TGM_DTYPE_INT32,
  int64 = TGM_DTYPE_INT64,
  uint8 = TGM_DTYPE_UINT8,
  uint16 = TGM_DTYPE_UINT16,
  uint32 = TGM_DTYPE_UINT32,
  uint64 = TGM_DTYPE_UINT64,
  bitmask = TGM_DTYPE_BITMASK
};

namespace detail {

template <class T> constexpr dtype arithmetic_dtype() {
  static_assert(std::is_arithmetic_v<T> && !std::is_same_v<T, bool> && sizeof(T) <= 8, "no dtype has this type");
  if constexpr (std::is_floating_point_v<T>) {
    return sizeof(T) == 4 ? dtype::float32 : dtype::float64;
  } else {
    constexpr int step = sizeof(T) == 1 ? 0 : sizeof(T) == 2 ? 1 : sizeof(T) == 4 ? 2 : 3;
    return static_cast<dtype>((std::is_signed_v<T> ? TGM_DTYPE_INT8 : TGM_DTYPE_UINT8) + step);
  }
}

} // namespace detail

// The dtype of an arithmetic or complex type: dtype_of<float> is float32.
template <class T>
inline constexpr dtype dtype_of = [] {
  if constexpr (std::is_same_v<T, std::complex<float>>)
    return dtype::complex64;
  else if constexpr (std::is_same_v<T, std::complex<double>>)
    return dtype::complex128;
  else
    return detail::arithmetic_dtype<T>();
}();

namespace detail {

// Whether values of a dtype lie in memory as T. C++ lacks types for half precision, whose bits lie in an unsigned
// integer, and for bits, which are packed into bytes.
template <class T> bool holds(dtype type) noexcept {
  if (type == dtype::float16 || type == dtype::bfloat16)
    return std::is_same_v<T, std::uint16_t>;
  if (type == dtype::bitmask)
    return std::is_same_v<T, std::uint8_t>;
  return dtype_of<T> == type;
}

} // namespace detail

// "unknown" for a number that is not one of a type.
inline const char *name(dtype type) {
  static constexpr const char *names[] = {"float16", "bfloat16", "float32", "float64", "complex64",
                                          "complex128", "int8", "int16", "int32", "int64",
                                          "uint8", "uint16", "uint32", "uint64", "bitmask"};
  const auto index = static_cast<std::size_t>(type);
  return index < sizeof names / sizeof names[0] ? names[index] : "unknown";
}

// ---- Options -------------------------------------------------------------------------------------------------------

struct decode_options {
  bool native_byte_order = true;
  bool restore_non_finite = true;
  bool verify_hash = false;
  std::uint32_t threads = 0;
  // 0 is the library's limit of 16 GiB.
  std::uint64_t max_decoded_bytes = 0;

  // For every call that decodes.
  tgm_decode_options_t raw() const noexcept {
    return {sizeof(tgm_decode_options_t), native_byte_order, restore_non_finite, verify_hash, threads,
            max_decoded_bytes};
  }
};

struct encode_options {
  bool hashing = true;
  std::uint32_t threads = 0;
  bool allow_nan = false;
  bool allow_inf = false;
  // NULL is "roaring".
  const char *nan_mask_method = nullptr;
  const char *pos_inf_mask_method = nullptr;
  const char *neg_inf_mask_method = nullptr;
  std::ptrdiff_t small_mask_threshold_bytes = -1;
  std::int32_t value_order = TGM_VALUE_ORDER_CHECKED;
  bool descriptor_first = false;

  // For every call that encodes.
  tgm_encode_options_t raw() const noexcept {
    return {sizeof(tgm_encode_options_t),
            hashing ? "xxh3" : nullptr,
            threads,
            value_order,
            descriptor_first,
            0,
            {allow_nan, allow_inf, nan_mask_method, pos_inf_mask_method, neg_inf_mask_method,
             small_mask_threshold_bytes},
            nullptr};
  }
};

// ---- Metadata ------------------------------------------------------------------------------------------------------

// Metadata that is built value by value, with byte strings, which JSON does not have. A path is dotted: "mars.param".
class metadata_builder {
public:
  metadata_builder() {
    tgm_metadata_builder_t *out = nullptr;
    detail::check(tgm_metadata_builder_new(&out));
    handle_.reset(out);
  }
  template <class T> metadata_builder &set(const std::string &path, const T &value) & {
    put(path.c_str(), value);
    return *this;
  }
  template <class T> metadata_builder &&set(const std::string &path, const T &value) && {
    put(path.c_str(), value);
    return std::move(*this);
  }
  metadata_builder &set_bytes(const std::string &path, byte_span data) & {
    detail::check(tgm_metadata_builder_set_bytes(handle_.get(), path.c_str(), data.data(), data.size()));
    return *this;
  }
  metadata_builder &&set_bytes(const std::string &path, byte_span data) && { return std::move(set_bytes(path, data)); }
  const tgm_metadata_builder_t *raw() const noexcept { return handle_.get(); }

private:
  template <class T> void put(const char *name, const T &value) {
    tgm_metadata_builder_t *const raw = handle_.get();
    if constexpr (std::is_same_v<T, bool>)
      detail::check(tgm_metadata_builder_set_bool(raw, name, value));
    else if constexpr (std::is_floating_point_v<T>)
      detail::check(tgm_metadata_builder_set_f64(raw, name, static_cast<double>(value)));
    else if constexpr (std::is_unsigned_v<T>)
      detail::check(tgm_metadata_builder_set_u64(raw, name, value));
    else if constexpr (std::is_integral_v<T>)
      detail::check(tgm_metadata_builder_set_i64(raw, name, value));
    else
      detail::check(tgm_metadata_builder_set_string(raw, name, std::string(value).c_str()));
  }
  detail::handle<tgm_metadata_builder_t, tgm_metadata_builder_free> handle_;
};

// A value of metadata: borrowed from the metadata or message that it comes from. Empty if there is no such value.
class value {
public:
  explicit value(const tgm_value_t *cursor = nullptr) noexcept : cursor_(cursor) {}

  explicit operator bool() const noexcept { return cursor_ != nullptr; }
  tgm_value_type type() const noexcept { return tgm_value_get_type(cursor_); }
  std::optional<bool> as_bool() const { return as<bool, tgm_value_as_bool>(); }
  std::optional<std::int64_t> as_int() const { return as<std::int64_t, tgm_value_as_i64>(); }
  std::optional<std::uint64_t> as_uint() const { return as<std::uint64_t, tgm_value_as_u64>(); }
  std::optional<double> as_double() const { return as<double, tgm_value_as_f64>(); }
  std::optional<std::string_view> as_string() const {
    std::size_t len = 0;
    const char *text = tgm_value_as_string(cursor_, &len);
    if (text == nullptr)
      return std::nullopt;
    return std::string_view(text, len);
  }
  std::optional<byte_span> as_bytes() const {
    std::size_t len = 0;
    const std::uint8_t *data = tgm_value_as_bytes(cursor_, &len);
    if (data == nullptr)
      return std::nullopt;
    return byte_span(data, len);
  }

  // Items of an array, or entries of a map.
  std::size_t size() const noexcept {
    return type() == TGM_VALUE_TYPE_MAP ? tgm_value_map_len(cursor_) : tgm_value_array_len(cursor_);
  }
  // An item of an array, or the value of an entry of a map. Empty beyond the end.
  value operator[](std::size_t index) const noexcept {
    return value(type() == TGM_VALUE_TYPE_MAP ? tgm_value_map_value_at(cursor_, index)
                                              : tgm_value_array_get(cursor_, index));
  }
  // The value of one key of a map; dots are part of it.
  value operator[](const char *key) const noexcept { return value(tgm_value_map_get(cursor_, key)); }
  // The key of an entry of a map; empty for a key that is not text.
  std::string_view key(std::size_t index) const noexcept {
    std::size_t len = 0;
    const char *text = tgm_value_map_key_at(cursor_, index, &len);
    return text != nullptr ? std::string_view(text, len) : std::string_view();
  }
  const tgm_value_t *raw() const noexcept { return cursor_; }

private:
  template <class T, bool (*Get)(const tgm_value_t *, T *)> std::optional<T> as() const {
    T out{};
    return Get(cursor_, &out) ? std::optional<T>(out) : std::nullopt;
  }
  const tgm_value_t *cursor_;
};

// Metadata of a message.
class metadata {
public:
  explicit metadata(tgm_metadata_t *owned) noexcept : handle_(owned) {}

  std::size_t num_objects() const noexcept { return tgm_metadata_num_objects(handle_.get()); }
  // The value at a dotted path: in the first object that has it, then in the message's annotations.
  value get(const std::string &path) const & { return value(tgm_metadata_get(handle_.get(), path.c_str())); }
  value get(const std::string &) const && = delete;
  value get(std::size_t object, const std::string &path) const & {
    return value(tgm_metadata_get_at(handle_.get(), object, path.c_str()));
  }
  value get(std::size_t, const std::string &) const && = delete;
  value object(std::size_t index) const & { return value(tgm_metadata_object(handle_.get(), index)); }
  value object(std::size_t) const && = delete;
  value extra() const & { return value(tgm_metadata_extra(handle_.get())); }
  value extra() const && = delete;
  value reserved() const & { return value(tgm_metadata_reserved(handle_.get())); }
  value reserved() const && = delete;
  std::string json() const { return detail::text(tgm_metadata_to_json(handle_.get())); }
  const tgm_metadata_t *raw() const noexcept { return handle_.get(); }

private:
  detail::handle<tgm_metadata_t, tgm_metadata_free> handle_;
};

} // namespace tgm

#endif // TGM_BASICS_HPP
