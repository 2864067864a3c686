// Tensogram in C++17: owners that move, views that borrow, exceptions with kind and offset. Header only, over
// tensogram.h; link with -ltensogram.
//
//   tgm::encoder        a message out of arrays                 tgm::message    a decoded message, and its objects
//   tgm::stream         a message written object by object      tgm::view       a message where it lies: no copies
//   tgm::file           messages of a file, mapped or not       tgm::catalog    queries without reading the file
//   tgm::messages(...)  the messages of a buffer, range-for     tgm::metadata   metadata by dotted path
//
// A class that owns something can be moved and not copied. A class that borrows says from what; it is small and can be
// copied. What borrows cannot be taken from a temporary owner: that does not compile. A span is as std::span is, which
// takes temporaries: functions that take one use it during the call, or say that they borrow. Indexes are checked, except
// in spans and bytes. Every failure is a tgm::error. Several threads may use one handle as tensogram.h says.
#ifndef TGM_HPP
#define TGM_HPP

#include <complex>
#include <cstddef>
#include <cstdint>
#include <cstring>
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

#include "tensogram.h"

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

[[noreturn]] inline void no_object(std::size_t index, std::size_t count) {
  throw error(TGM_ERROR_OBJECT,
              "object " + std::to_string(index) + " of " + std::to_string(count) + ": there is none of that number");
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

// Whether values of a dtype lie in memory as T. C++ lacks types for half precision, whose bits are the bits of an unsigned
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
            nullptr,
            nullptr,
            0};
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

// ---- Range-for over anything with size() and [] --------------------------------------------------------------------

namespace detail {

template <class Owner, class Item> class index_iterator {
public:
  using iterator_category = std::input_iterator_tag;
  using value_type = Item;
  using difference_type = std::ptrdiff_t;
  using pointer = const Item *;
  using reference = Item;

  index_iterator(const Owner *owner, std::size_t index) noexcept : owner_(owner), index_(index) {}
  Item operator*() const { return (*owner_)[index_]; }
  index_iterator &operator++() noexcept {
    ++index_;
    return *this;
  }
  index_iterator operator++(int) noexcept { return {owner_, index_++}; }
  bool operator==(const index_iterator &other) const noexcept { return index_ == other.index_; }
  bool operator!=(const index_iterator &other) const noexcept { return index_ != other.index_; }

private:
  const Owner *owner_;
  std::size_t index_;
};

// Types of raw bytes.
template <class T>
inline constexpr bool is_byte = std::is_same_v<T, std::uint8_t> || std::is_same_v<T, char> || std::is_same_v<T, std::byte>;

// The values as T, if they are of that type, in this machine's order and aligned.
template <class T>
span<const T> typed(const void *data, std::size_t size, std::int32_t stored, bool native, bool aligned) {
  const auto type = static_cast<dtype>(stored);
  if (!holds<T>(type))
    throw error(TGM_ERROR_ENCODING,
                std::string("the values are of type ") + name(type) + ", and not of type " + name(dtype_of<T>));
  if (!native)
    throw error(TGM_ERROR_ENCODING, "the values are not in this machine's byte order");
  if (!aligned)
    throw error(TGM_ERROR_ENCODING, "the values are not aligned");
  return {static_cast<const T *>(data), size / sizeof(T)};
}

inline bool is_native(const char *order) {
  const std::uint16_t one = 1;
  unsigned char first = 0;
  std::memcpy(&first, &one, 1);
  return order != nullptr && std::strcmp(order, first == 1 ? "little" : "big") == 0;
}

} // namespace detail

// ---- Decoded messages ----------------------------------------------------------------------------------------------

// An object of a decoded message: borrowed from the message.
class object {
public:
  object(const tgm_message_t *message, std::size_t index) : message_(message), index_(index) {
    if (const std::size_t count = tgm_message_num_objects(message); index >= count)
      detail::no_object(index, count);
  }

  span<const std::uint64_t> shape() const {
    return {tgm_object_shape(message_, index_), static_cast<std::size_t>(tgm_object_ndim(message_, index_))};
  }
  std::uint64_t num_elements() const noexcept { return tgm_object_num_elements(message_, index_); }
  tgm::dtype dtype() const noexcept { return static_cast<tgm::dtype>(tgm_object_dtype_code(message_, index_)); }
  std::string type() const { return detail::text(tgm_object_type(message_, index_)); }
  std::string encoding() const { return detail::text(tgm_payload_encoding(message_, index_)); }
  std::string filter() const { return detail::text(tgm_object_filter(message_, index_)); }
  std::string compression() const { return detail::text(tgm_object_compression(message_, index_)); }
  // 16 hexadecimal digits; empty without a digest.
  std::string digest() const { return detail::text(tgm_object_hash_value(message_, index_)); }
  value param(const char *name) const noexcept { return value(tgm_object_param(message_, index_, name)); }
  std::string descriptor_json() const { return detail::text(tgm_object_descriptor_json(message_, index_)); }

  // The values as bytes.
  byte_span data() const {
    std::size_t len = 0;
    const std::uint8_t *data = tgm_object_data(message_, index_, &len);
    return {data, len};
  }
  // The values as T. Throws if they are of another type or byte order. Packed values are float64.
  template <class T> span<const T> view() const {
    const byte_span values = data();
    const auto stored = tgm_object_dtype_code(message_, index_);
    const bool native = sizeof(T) == 1 || detail::is_native(tgm_object_data_byte_order(message_, index_));
    return detail::typed<T>(values.data(), values.size(), stored, native, true);
  }

private:
  const tgm_message_t *message_;
  std::size_t index_;
};

// A decoded message. Range-for gives its objects.
class message {
public:
  using iterator = detail::index_iterator<message, object>;

  explicit message(tgm_message_t *owned) noexcept : handle_(owned) {}

  std::size_t size() const noexcept { return tgm_message_num_objects(handle_.get()); }
  object operator[](std::size_t index) const & { return {handle_.get(), index}; }
  object operator[](std::size_t) const && = delete;
  iterator begin() const & noexcept { return {this, 0}; }
  iterator begin() const && = delete;
  iterator end() const & noexcept { return {this, size()}; }
  iterator end() const && = delete;
  tgm::metadata metadata() const {
    tgm_metadata_t *out = nullptr;
    detail::check(tgm_message_metadata(handle_.get(), &out));
    return tgm::metadata(out);
  }
  const tgm_message_t *raw() const noexcept { return handle_.get(); }

private:
  detail::handle<tgm_message_t, tgm_message_free> handle_;
};

inline message decode(byte_span buffer, const decode_options &options = {}) {
  const auto raw = options.raw();
  tgm_message_t *out = nullptr;
  detail::check(tgm_decode_opts(detail::start(buffer), buffer.size(), &raw, &out));
  return message(out);
}

// The object `index`, as a message with one object.
inline message decode_object(byte_span buffer, std::size_t index, const decode_options &options = {}) {
  const auto raw = options.raw();
  tgm_message_t *out = nullptr;
  detail::check(tgm_decode_object_opts(detail::start(buffer), buffer.size(), index, &raw, &out));
  return message(out);
}

// The structure and all digests of a message; throws the first damage.
inline void check(byte_span buffer) { detail::check(tgm_check_message(detail::start(buffer), buffer.size())); }

// ---- Messages of a buffer ------------------------------------------------------------------------------------------

// The messages of a buffer, which it borrows. Range-for gives the bytes of each.
class messages {
public:
  using iterator = detail::index_iterator<messages, byte_span>;

  template <class B, class = std::enable_if_t<detail::is_temporary_owner<B> && std::is_constructible_v<byte_span, B>>>
  explicit messages(B &&) = delete;
  explicit messages(byte_span buffer) : buffer_(buffer) {
    tgm_scan_result_t *out = nullptr;
    detail::check(tgm_scan(buffer.data(), buffer.size(), &out));
    handle_.reset(out);
  }
  std::size_t size() const noexcept { return tgm_scan_count(handle_.get()); }
  byte_span operator[](std::size_t index) const {
    if (index >= size())
      throw error(TGM_ERROR_INVALID_ARG, "message " + std::to_string(index) + " of " + std::to_string(size()) +
                                             ": there is none of that number");
    const tgm_scan_entry_t entry = tgm_scan_entry(handle_.get(), index);
    return {buffer_.data() + entry.offset, entry.length};
  }
  iterator begin() const & noexcept { return {this, 0}; }
  iterator begin() const && = delete;
  iterator end() const & noexcept { return {this, size()}; }
  iterator end() const && = delete;

private:
  byte_span buffer_;
  detail::handle<tgm_scan_result_t, tgm_scan_free> handle_;
};

// ---- Views: messages where they lie --------------------------------------------------------------------------------

// An object of a view: borrowed from the view.
class object_view {
public:
  object_view(const tgm_view_t *view, std::size_t index) : view_(view), index_(index), array_() {
    array_.struct_size = sizeof array_;
    detail::check(tgm_object_describe(view, index, &array_));
  }

  span<const std::uint64_t> shape() const noexcept { return {array_.shape, array_.ndim}; }
  std::uint64_t num_elements() const noexcept { return array_.num_elements; }
  tgm::dtype dtype() const noexcept { return static_cast<tgm::dtype>(array_.dtype); }
  // Bytes of the decoded values.
  std::size_t size_bytes() const noexcept { return array_.size; }
  bool is_native() const noexcept { return array_.is_native != 0; }

  // The values where they lie in the message, as bytes in the declared order. Throws if they have to be decoded.
  byte_span stored() const {
    const tgm_array_view_t array = borrow();
    return {static_cast<const std::uint8_t *>(array.data), array.size};
  }
  // The values where they lie, as T. Throws if they are not there as T of this machine, aligned.
  template <class T> span<const T> view() const {
    const tgm_array_view_t array = borrow();
    return detail::typed<T>(array.data, array.size, array.dtype, array.is_native != 0, array.is_aligned != 0);
  }

  // The payload as it is stored, without masks.
  byte_span payload() const {
    const std::uint8_t *data = nullptr;
    std::size_t len = 0;
    detail::check(tgm_view_payload(view_, index_, &data, &len));
    return {data, len};
  }

  // Writes all values to `out`, whose bytes are exactly size_bytes().
  template <class T> void decode_into(span<T> out, const decode_options &options = {}) const {
    require<T>();
    const auto raw = options.raw();
    detail::check(tgm_view_decode_into(view_, index_, &raw, bytes_of(out), out.size_bytes()));
  }
  // All values.
  template <class T> std::vector<T> decode(const decode_options &options = {}) const {
    require<T>();
    std::vector<T> out(array_.size / sizeof(T));
    decode_into(span<T>(out.data(), out.size()), options);
    return out;
  }
  // All values as double or float, whatever their type is.
  std::vector<double> as_double(const decode_options &options = {}) const {
    std::vector<double> out(static_cast<std::size_t>(array_.num_elements));
    const auto raw = options.raw();
    detail::check(tgm_view_decode_f64(view_, index_, &raw, out.data(), out.size()));
    return out;
  }
  void as_float(span<float> out, const decode_options &options = {}) const {
    const auto raw = options.raw();
    detail::check(tgm_view_decode_f32(view_, index_, &raw, out.data(), out.size()));
  }
  // `count` elements from element `first` on.
  template <class T>
  void decode_range_into(std::uint64_t first, std::uint64_t count, span<T> out,
                         const decode_options &options = {}) const {
    require<T>();
    const auto raw = options.raw();
    detail::check(
        tgm_view_decode_range_into(view_, index_, &first, &count, 1, &raw, bytes_of(out), out.size_bytes()));
  }

  // A box of the tensor.
  template <class T> struct box {
    std::vector<std::uint64_t> shape;
    std::vector<T> values;
  };
  // The box that a text names: "0, 10:20, ::4, -1, ..".
  template <class T> box<T> select(const std::string &text, const decode_options &options = {}) const {
    require<T>();
    box<T> out;
    out.shape.resize(array_.ndim);
    std::size_t ndim = 0;
    std::size_t size = 0;
    detail::check(
        tgm_view_select_size(view_, index_, text.c_str(), out.shape.data(), out.shape.size(), &ndim, &size));
    out.shape.resize(ndim);
    out.values.resize(size / sizeof(T));
    const auto raw = options.raw();
    detail::check(tgm_view_select_into(view_, index_, text.c_str(), &raw,
                                       reinterpret_cast<std::uint8_t *>(out.values.data()), size));
    return out;
  }
  // Tensors of DLPack 1.0: the values where they lie, or decoded. The caller owns them, and calls their deleters.
  DLManagedTensorVersioned *to_dlpack() const {
    DLManagedTensorVersioned *out = nullptr;
    detail::check(tgm_object_to_dlpack(view_, index_, &out));
    return out;
  }
  DLManagedTensorVersioned *decode_to_dlpack(const decode_options &options = {}) const {
    const auto raw = options.raw();
    DLManagedTensorVersioned *out = nullptr;
    detail::check(tgm_object_decode_to_dlpack(view_, index_, &raw, &out));
    return out;
  }
  const tgm_array_view_t &raw() const noexcept { return array_; }

private:
  tgm_array_view_t borrow() const {
    tgm_array_view_t array{};
    array.struct_size = sizeof array;
    detail::check(tgm_object_view(view_, index_, &array));
    return array;
  }
  // Bytes are allowed for values of any type.
  template <class T> void require() const {
    if constexpr (!detail::is_byte<T>)
      detail::typed<T>(nullptr, 0, array_.dtype, true, true);
  }
  template <class T> static std::uint8_t *bytes_of(span<T> out) noexcept {
    return reinterpret_cast<std::uint8_t *>(out.data());
  }

  const tgm_view_t *view_;
  std::size_t index_;
  tgm_array_view_t array_;
};

// A message where it lies. It borrows the buffer, or keeps a mapped file. Range-for gives its objects.
class view {
public:
  using iterator = detail::index_iterator<view, object_view>;

  template <class B, class = std::enable_if_t<detail::is_temporary_owner<B> && std::is_constructible_v<byte_span, B>>>
  explicit view(B &&) = delete;
  explicit view(byte_span buffer) {
    tgm_view_t *out = nullptr;
    detail::check(tgm_view_open(detail::start(buffer), buffer.size(), &out));
    handle_.reset(out);
  }
  explicit view(tgm_view_t *owned) noexcept : handle_(owned) {}

  std::size_t size() const noexcept { return tgm_view_num_objects(handle_.get()); }
  object_view operator[](std::size_t index) const & { return {handle_.get(), index}; }
  object_view operator[](std::size_t) const && = delete;
  iterator begin() const & noexcept { return {this, 0}; }
  iterator begin() const && = delete;
  iterator end() const & noexcept { return {this, size()}; }
  iterator end() const && = delete;
  tgm::metadata metadata() const {
    tgm_metadata_t *out = nullptr;
    detail::check(tgm_view_metadata(handle_.get(), &out));
    return tgm::metadata(out);
  }

private:
  detail::handle<tgm_view_t, tgm_view_free> handle_;
};

// ---- Encoding ------------------------------------------------------------------------------------------------------

namespace detail {

inline std::string quoted(std::string_view text) {
  static constexpr char digits[] = "0123456789abcdef";
  std::string out = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte == '"' || byte == '\\') {
      out += '\\';
      out += c;
    } else if (byte < 0x20) {
      out += "\\u00";
      out += digits[byte >> 4];
      out += digits[byte & 15];
    } else {
      out += c;
    }
  }
  return out + '"';
}

inline std::string numbers(const std::vector<std::uint64_t> &items) {
  std::string out = "[";
  for (std::size_t i = 0; i < items.size(); ++i)
    out += (i != 0 ? "," : "") + std::to_string(items[i]);
  return out + "]";
}

} // namespace detail

// What an object is, as JSON of a descriptor.
class descriptor {
public:
  descriptor(tgm::dtype type, std::vector<std::uint64_t> shape) : type_(type), shape_(std::move(shape)) {}
  template <class T> static descriptor of(std::vector<std::uint64_t> shape) { return {dtype_of<T>, std::move(shape)}; }

  descriptor &encoding(std::string name) { return set(encoding_, std::move(name)); }
  descriptor &filter(std::string name) { return set(filter_, std::move(name)); }
  descriptor &compression(std::string name) { return set(compression_, std::move(name)); }
  // "big" or "little", if it is not this machine's.
  descriptor &byte_order(std::string name) { return set(byte_order_, std::move(name)); }
  descriptor &param(std::string_view key, std::int64_t number) { return raw_param(key, std::to_string(number)); }
  descriptor &param(std::string_view key, std::string_view text) { return raw_param(key, detail::quoted(text)); }
  // A parameter as JSON.
  descriptor &raw_param(std::string_view key, const std::string &json) {
    params_ += "," + detail::quoted(key) + ":" + json;
    return *this;
  }
  // Fields of `bits` bits for float64, with the scale that the values need.
  descriptor &simple_packing(std::int64_t bits) { return encoding("simple_packing").param("sp_bits_per_value", bits); }

  tgm::dtype type() const noexcept { return type_; }
  std::string json() const {
    std::vector<std::uint64_t> strides(shape_.size(), 1);
    for (std::size_t i = shape_.size(); i > 1; --i)
      strides[i - 2] = strides[i - 1] * shape_[i - 1];
    std::string out = "{\"type\":\"ntensor\",\"ndim\":" + std::to_string(shape_.size());
    out += ",\"shape\":" + detail::numbers(shape_) + ",\"strides\":" + detail::numbers(strides);
    out += std::string(",\"dtype\":\"") + name(type_) + '"';
    out += ",\"encoding\":" + detail::quoted(encoding_) + ",\"filter\":" + detail::quoted(filter_);
    out += ",\"compression\":" + detail::quoted(compression_);
    if (!byte_order_.empty())
      out += ",\"byte_order\":" + detail::quoted(byte_order_);
    return out + params_ + "}";
  }

private:
  descriptor &set(std::string &field, std::string name) {
    field = std::move(name);
    return *this;
  }
  tgm::dtype type_;
  std::vector<std::uint64_t> shape_;
  std::string encoding_ = "none";
  std::string filter_ = "none";
  std::string compression_ = "none";
  std::string byte_order_;
  std::string params_;
};

namespace detail {

// The bytes of an object's values, which are of the type that its descriptor names.
template <class T> byte_span bytes_of(const descriptor &what, span<const T> values) {
  if (!holds<T>(what.type()))
    throw error(TGM_ERROR_INVALID_ARG,
                std::string("the descriptor has type ") + name(what.type()) + ", the values have " + name(dtype_of<T>));
  return {reinterpret_cast<const std::uint8_t *>(values.data()), values.size_bytes()};
}

} // namespace detail

// A message out of arrays. It borrows the values, and builders of metadata, until it is encoded.
class encoder {
public:
  // Metadata of the message, as a JSON value.
  encoder &extra(std::string_view key, const std::string &json) {
    extra_ += (extra_.empty() ? "" : ",") + detail::quoted(key) + ":" + json;
    return *this;
  }
  // More metadata of the message, and of the object that was added last.
  encoder &extra(const metadata_builder &more) {
    more_extra_ = more.raw();
    return *this;
  }
  encoder &extra(const metadata_builder &&) = delete;
  encoder &metadata(const metadata_builder &more) {
    if (more_base_.empty())
      throw error(TGM_ERROR_INVALID_ARG, "metadata of an object that was not added yet");
    more_base_.back() = more.raw();
    return *this;
  }
  encoder &metadata(const metadata_builder &&) = delete;
  // An object, and its metadata as a JSON object. T is the type that the descriptor names.
  template <class T> encoder &add(const descriptor &what, span<const T> values, const std::string &metadata = "{}") {
    return add_raw(what.json(), detail::bytes_of(what, values), metadata);
  }
  // The same for vectors and arrays, which must live until the message is encoded.
  template <class C, class E = detail::elements_of<C>, std::enable_if_t<!detail::is_temporary_owner<C>, int> = 0>
  encoder &add(const descriptor &what, C &&values, const std::string &metadata = "{}") {
    return add(what, E(values), metadata);
  }
  template <class C, class E = detail::elements_of<C>, std::enable_if_t<detail::is_temporary_owner<C>, int> = 0>
  encoder &add(const descriptor &, C &&, const std::string & = "{}") = delete;
  template <class T>
  encoder &add(const descriptor &what, const std::vector<T> &values, const std::string &metadata = "{}") {
    return add(what, span<const T>(values.data(), values.size()), metadata);
  }
  template <class T> encoder &add(const descriptor &, const std::vector<T> &&, const std::string & = "{}") = delete;
  // An object of any bytes: values, or for encode_pre_encoded() what the pipeline made of them.
  template <class B, class = std::enable_if_t<detail::is_temporary_owner<B> && std::is_constructible_v<byte_span, B>>>
  encoder &add_raw(const std::string &, B &&, const std::string & = "{}") = delete;
  encoder &add_raw(const std::string &descriptor_json, byte_span data, const std::string &metadata = "{}") {
    const char *comma = pointers_.empty() ? "" : ",";
    descriptors_ += comma + descriptor_json;
    base_ += comma + metadata;
    pointers_.push_back(data.data());
    lengths_.push_back(data.size());
    more_base_.push_back(nullptr);
    return *this;
  }
  std::string json() const {
    return "{\"descriptors\":[" + descriptors_ + "],\"base\":[" + base_ + "],\"_extra_\":{" + extra_ + "}}";
  }
  bytes encode(const encode_options &options = {}) const {
    const auto raw = with_builders(options);
    tgm_bytes_t out{nullptr, 0};
    detail::check(
        tgm_encode_opts(json().c_str(), pointers_.data(), lengths_.data(), pointers_.size(), &raw, &out));
    return bytes(out);
  }
  // The payloads went through their pipelines already. Options about values have no effect.
  bytes encode_pre_encoded(const encode_options &options = {}) const {
    const auto raw = with_builders(options);
    tgm_bytes_t out{nullptr, 0};
    detail::check(tgm_encode_pre_encoded_opts(json().c_str(), pointers_.data(), lengths_.data(), pointers_.size(),
                                              &raw, &out));
    return bytes(out);
  }

private:
  friend class file;

  // The options with the metadata of builders.
  tgm_encode_options_t with_builders(const encode_options &options) const noexcept {
    auto raw = options.raw();
    raw.extra = more_extra_;
    raw.base = more_base_.data();
    raw.num_base = more_base_.size();
    return raw;
  }

  std::string descriptors_;
  std::string base_;
  std::string extra_;
  std::vector<const std::uint8_t *> pointers_;
  std::vector<std::size_t> lengths_;
  const tgm_metadata_builder_t *more_extra_ = nullptr;
  std::vector<const tgm_metadata_builder_t *> more_base_;
};

// A message written to a file or a std::ostream, object by object.
class stream {
public:
  // The bytes go to `sink`, which must live until the stream is destroyed.
  explicit stream(std::ostream &sink, const std::string &metadata_json = "{}", const encode_options &options = {}) {
    const auto raw = options.raw();
    tgm_streaming_encoder_t *out = nullptr;
    detail::check(tgm_streaming_encoder_create_writer(take, &sink, metadata_json.c_str(), &raw, &out));
    handle_.reset(out);
  }
  explicit stream(const std::string &path, const std::string &metadata_json = "{}",
                  const encode_options &options = {}) {
    const auto raw = options.raw();
    tgm_streaming_encoder_t *out = nullptr;
    detail::check(tgm_streaming_encoder_create_opts(path.c_str(), metadata_json.c_str(), &raw, &out));
    handle_.reset(out);
  }
  void preceder(const std::string &metadata_json) {
    detail::check(tgm_streaming_encoder_write_preceder(handle_.get(), metadata_json.c_str()));
  }
  // An object. T is the type that the descriptor names. The values are written at once.
  template <class T> void write(const descriptor &what, span<const T> values) {
    const byte_span raw = detail::bytes_of(what, values);
    detail::check(tgm_streaming_encoder_write(handle_.get(), what.json().c_str(), raw.data(), raw.size()));
  }
  template <class C, class E = detail::elements_of<C>> void write(const descriptor &what, C &&values) {
    write(what, E(values));
  }
  template <class T> void write(const descriptor &what, const std::vector<T> &values) {
    write(what, span<const T>(values.data(), values.size()));
  }
  void write_pre_encoded(const std::string &descriptor_json, byte_span payload) {
    detail::check(tgm_streaming_encoder_write_pre_encoded(handle_.get(), descriptor_json.c_str(), payload.data(),
                                                          payload.size()));
  }
  std::size_t size() const noexcept { return tgm_streaming_encoder_count(handle_.get()); }
  // Ends the message. Without `backfill` it does not state its length; a std::ostream cannot be filled in.
  void finish(bool backfill = false) {
    detail::check(backfill ? tgm_streaming_encoder_finish_backfill(handle_.get())
                           : tgm_streaming_encoder_finish(handle_.get()));
  }

private:
  static std::int32_t take(void *user, const std::uint8_t *data, std::size_t len) noexcept {
    try {
      auto &sink = *static_cast<std::ostream *>(user);
      return sink.write(reinterpret_cast<const char *>(data), static_cast<std::streamsize>(len)) ? 0 : 1;
    } catch (...) {
      return 2;
    }
  }
  detail::handle<tgm_streaming_encoder_t, tgm_streaming_encoder_free> handle_;
};

// ---- Files and queries ---------------------------------------------------------------------------------------------

// The objects that a query found.
class object_list {
public:
  explicit object_list(tgm_object_list_t *owned) noexcept : handle_(owned) {}
  std::size_t size() const noexcept { return tgm_object_list_count(handle_.get()); }
  const tgm_object_ref_t *begin() const & noexcept { return tgm_object_list_data(handle_.get()); }
  const tgm_object_ref_t *begin() const && = delete;
  const tgm_object_ref_t *end() const & noexcept { return begin() + size(); }
  const tgm_object_ref_t *end() const && = delete;
  tgm_object_ref_t operator[](std::size_t index) const {
    if (index >= size())
      throw error(TGM_ERROR_INVALID_ARG, "entry " + std::to_string(index) + " of " + std::to_string(size()) +
                                             ": there is none of that number");
    return begin()[index];
  }

private:
  detail::handle<tgm_object_list_t, tgm_object_list_free> handle_;
};

// A file of messages. Range-for gives the bytes of each message.
class file {
public:
  using iterator = detail::index_iterator<file, bytes>;

  static file open(const std::string &path) { return make<tgm_file_open>(path); }
  // tgm_file_open_mmap() says what must not happen to the file meanwhile.
  static file map(const std::string &path) { return make<tgm_file_open_mmap>(path); }
  static file create(const std::string &path) { return make<tgm_file_create>(path); }

  std::size_t size() const {
    std::size_t count = 0;
    detail::check(tgm_file_message_count(handle_.get(), &count));
    return count;
  }
  bytes operator[](std::size_t index) const {
    tgm_bytes_t out{nullptr, 0};
    detail::check(tgm_file_read_message(handle_.get(), index, &out));
    return bytes(out);
  }
  iterator begin() const & { return {this, 0}; }
  iterator begin() const && = delete;
  iterator end() const & { return {this, size()}; }
  iterator end() const && = delete;
  message decode(std::size_t index, const decode_options &options = {}) const {
    const auto raw = options.raw();
    tgm_message_t *out = nullptr;
    detail::check(tgm_file_decode_message_opts(handle_.get(), index, &raw, &out));
    return message(out);
  }
  message decode_object(std::size_t index, std::size_t object, const decode_options &options = {}) const {
    const auto raw = options.raw();
    tgm_message_t *out = nullptr;
    detail::check(tgm_file_decode_object(handle_.get(), index, object, &raw, &out));
    return message(out);
  }
  tgm::metadata metadata(std::size_t index) const {
    tgm_metadata_t *out = nullptr;
    detail::check(tgm_file_decode_metadata(handle_.get(), index, &out));
    return tgm::metadata(out);
  }
  // A message of a mapped file. The view keeps the map.
  tgm::view view(std::size_t index) const {
    tgm_view_t *out = nullptr;
    detail::check(tgm_view_open_file(handle_.get(), index, &out));
    return tgm::view(out);
  }
  void append(const encoder &message, const encode_options &options = {}) {
    const auto raw = message.with_builders(options);
    detail::check(tgm_file_append_opts(handle_.get(), message.json().c_str(), message.pointers_.data(),
                                       message.lengths_.data(), message.lengths_.size(), &raw));
  }
  object_list query(const std::string &text, std::uint32_t threads = 0) const {
    tgm_object_list_t *out = nullptr;
    detail::check(tgm_file_query(handle_.get(), text.c_str(), threads, &out));
    return object_list(out);
  }
  std::string path() const { return detail::text(tgm_file_path(handle_.get())); }
  tgm_file_t *raw() const noexcept { return handle_.get(); }

private:
  template <tgm_error (*Make)(const char *, tgm_file_t **)> static file make(const std::string &path) {
    file made;
    tgm_file_t *out = nullptr;
    detail::check(Make(path.c_str(), &out));
    made.handle_.reset(out);
    return made;
  }
  detail::handle<tgm_file_t, tgm_file_close> handle_;
};

// A catalogue of a file: it answers queries without reading the file.
class catalog {
public:
  catalog(const file &messages, const std::vector<std::string> &keys, std::uint32_t threads = 0) {
    std::vector<const char *> names;
    for (const std::string &key : keys)
      names.push_back(key.c_str());
    tgm_catalog_t *out = nullptr;
    detail::check(tgm_catalog_build(messages.raw(), names.data(), names.size(), threads, &out));
    handle_.reset(out);
  }
  explicit catalog(const std::string &path) {
    tgm_catalog_t *out = nullptr;
    detail::check(tgm_catalog_open(path.c_str(), &out));
    handle_.reset(out);
  }
  void save(const std::string &path) const { detail::check(tgm_catalog_save(handle_.get(), path.c_str())); }
  std::size_t num_messages() const noexcept { return tgm_catalog_num_messages(handle_.get()); }
  std::size_t num_objects() const noexcept { return tgm_catalog_num_objects(handle_.get()); }
  object_list query(const std::string &text) const {
    tgm_object_list_t *out = nullptr;
    detail::check(tgm_catalog_query(handle_.get(), text.c_str(), &out));
    return object_list(out);
  }

private:
  detail::handle<tgm_catalog_t, tgm_catalog_free> handle_;
};

} // namespace tgm

#endif // TGM_HPP
