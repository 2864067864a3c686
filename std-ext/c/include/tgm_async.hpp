// Calls that do not block, beside tgm.hpp: C++17, and co_await with C++20. Link with -ltensogram -lpthread.
//
//   tgm::async_file     messages of a file or of an address     tgm::task<T>        a call under way
//   tgm::async_stream   a message written object by object      tgm::cancellation   ends tasks
//   tgm::decoded_message   all values of a message, with their metadata
//
// A launch returns at once. It throws a tgm::error if its arguments are wrong; all else comes by the task: get() waits,
// future() gives a std::future, and co_await resumes the coroutine on a thread of the library. Each of them gives the value or
// throws a tgm::error. A task that is destroyed goes on. What a launch is given is copied, tokens included.
#ifndef TGM_ASYNC_HPP
#define TGM_ASYNC_HPP

#include "tgm.hpp"

#include <chrono>
#include <exception>
#include <future>
#include <tuple>
#if defined(__cpp_impl_coroutine)
#include <coroutine>
#endif

namespace tgm {

class async_file;
class async_stream;

// ---- Decoded messages ----------------------------------------------------------------------------------------------

namespace detail {

inline bool is_native(const char *order) {
  const std::uint16_t one = 1;
  unsigned char first = 0;
  std::memcpy(&first, &one, 1);
  return order != nullptr && std::strcmp(order, first == 1 ? "little" : "big") == 0;
}

inline dtype dtype_named(const char *text) noexcept {
  for (std::int32_t code = 0; text != nullptr && code <= TGM_DTYPE_BITMASK; ++code)
    if (std::strcmp(name(static_cast<dtype>(code)), text) == 0)
      return static_cast<dtype>(code);
  return static_cast<dtype>(-1);
}

} // namespace detail

// An object of a decoded message: borrowed from the message.
class decoded_object {
public:
  decoded_object(const tgm_message_t *message, std::size_t index) : message_(message), index_(index) {
    if (const std::size_t count = tgm_message_num_objects(message); index >= count)
      throw error(TGM_ERROR_OBJECT,
                  "object " + std::to_string(index) + " of " + std::to_string(count) + ": there is none of that number");
  }

  span<const std::uint64_t> shape() const {
    return {tgm_object_shape(message_, index_), static_cast<std::size_t>(tgm_object_ndim(message_, index_))};
  }
  tgm::dtype dtype() const noexcept { return detail::dtype_named(tgm_object_dtype(message_, index_)); }
  std::string type() const { return detail::text(tgm_object_type(message_, index_)); }
  std::string encoding() const { return detail::text(tgm_payload_encoding(message_, index_)); }
  std::string filter() const { return detail::text(tgm_object_filter(message_, index_)); }
  std::string compression() const { return detail::text(tgm_object_compression(message_, index_)); }
  // 16 hexadecimal digits; empty without a digest.
  std::string digest() const { return detail::text(tgm_object_hash_value(message_, index_)); }

  // The values as bytes.
  byte_span data() const {
    std::size_t len = 0;
    const std::uint8_t *data = tgm_object_data(message_, index_, &len);
    return {data, len};
  }
  // The values as T. Throws if they are of another type or byte order. Packed values are float64.
  template <class T> span<const T> view() const {
    detail::require_type<T>(dtype());
    if (sizeof(T) > 1 && !detail::is_native(tgm_object_data_byte_order(message_, index_)))
      throw error(TGM_ERROR_ENCODING, "the values are not in this machine's byte order");
    const byte_span values = data();
    return {reinterpret_cast<const T *>(values.data()), values.size() / sizeof(T)};
  }

private:
  const tgm_message_t *message_;
  std::size_t index_;
};

// A decoded message. Range-for gives its objects.
class decoded_message {
public:
  using iterator = detail::index_iterator<decoded_message, decoded_object>;

  explicit decoded_message(tgm_message_t *owned) noexcept : handle_(owned) {}

  std::size_t size() const noexcept { return tgm_message_num_objects(handle_.get()); }
  decoded_object operator[](std::size_t index) const & { return {handle_.get(), index}; }
  decoded_object operator[](std::size_t) const && = delete;
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

// ---- Cancelling ----------------------------------------------------------------------------------------------------

// Ends all tasks that were launched with it, and all that will be.
class cancellation {
public:
  cancellation() : handle_(tgm_cancellation_token_create()) {}

  void cancel() noexcept { tgm_cancellation_token_cancel(handle_.get()); }
  bool is_cancelled() const noexcept { return tgm_cancellation_token_is_cancelled(handle_.get()); }
  tgm_cancellation_token_t *raw() const noexcept { return handle_.get(); }

private:
  detail::handle<tgm_cancellation_token_t, tgm_cancellation_token_free> handle_;
};

// What ends a task early, for every launch.
struct launch_options {
  // NULL is none. It may be destroyed after the launch.
  const cancellation *cancel = nullptr;
  // From the launch on; 0 is any time.
  std::chrono::milliseconds timeout{0};

  tgm_cancellation_token_t *token() const noexcept { return cancel != nullptr ? cancel->raw() : nullptr; }
  std::uint64_t timeout_ms() const noexcept {
    // A time that is over already is the shortest.
    return timeout.count() < 0 ? 1 : static_cast<std::uint64_t>(timeout.count());
  }
};

// ---- Tasks ---------------------------------------------------------------------------------------------------------

namespace detail {

using task_handle = handle<tgm_async_task_t, tgm_async_task_free>;

// How C gives the value of a task.
template <class Raw, tgm_error (*Join)(tgm_async_task_t *, Raw *)> struct joined_as {
  using raw = Raw;
  static tgm_error join(tgm_async_task_t *task, Raw *out) { return Join(task, out); }
};
template <class T> struct joining;
template <> struct joining<std::uint64_t> : joined_as<std::uint64_t, tgm_async_task_join_size> {};
template <> struct joining<bytes> : joined_as<tgm_bytes_t, tgm_async_task_join_bytes> {};
template <> struct joining<decoded_message> : joined_as<tgm_message_t *, tgm_async_task_join_message> {};
template <> struct joining<metadata> : joined_as<tgm_metadata_t *, tgm_async_task_join_metadata> {};
template <> struct joining<async_file> : joined_as<tgm_async_file_t *, tgm_async_task_join_async_file> {};
template <>
struct joining<async_stream>
    : joined_as<tgm_async_streaming_encoder_t *, tgm_async_task_join_async_streaming_encoder> {};

inline std::vector<bytes> join_all(tgm_async_task_t *task) {
  tgm_bytes_t *array = nullptr;
  std::size_t count = 0;
  check(tgm_async_task_join_multi_bytes(task, &array, &count));
  const auto release = [count](tgm_bytes_t *all) { tgm_multi_bytes_free(all, count); };
  const std::unique_ptr<tgm_bytes_t, decltype(release)> owned(array, release);
  std::vector<bytes> out;
  out.reserve(count);
  // What the array has not any more is not freed with it.
  for (std::size_t i = 0; i < count; ++i)
    out.emplace_back(std::exchange(array[i], tgm_bytes_t{nullptr, 0}));
  return out;
}

// Waits for a task.
template <class T> T join(tgm_async_task_t *task) {
  if constexpr (std::is_void_v<T>) {
    check(tgm_async_task_join_void(task));
  } else if constexpr (std::is_same_v<T, std::vector<bytes>>) {
    return join_all(task);
  } else {
    typename joining<T>::raw out{};
    check(joining<T>::join(task, &out));
    return T(out);
  }
}

// A task whose end fulfils a promise.
template <class T> struct promised {
  task_handle task;
  std::promise<T> promise;

  static void fulfil(void *user) noexcept {
    const std::unique_ptr<promised> self(static_cast<promised *>(user));
    try {
      if constexpr (std::is_void_v<T>) {
        join<T>(self->task.get());
        self->promise.set_value();
      } else {
        self->promise.set_value(join<T>(self->task.get()));
      }
    } catch (...) {
      self->promise.set_exception(std::current_exception());
    }
  }
};

} // namespace detail

// A call under way.
template <class T> class [[nodiscard]] task {
public:
  explicit task(tgm_async_task_t *owned) noexcept : handle_(owned) {}

  // Whether get() does not wait.
  bool is_ready() const noexcept { return tgm_async_task_is_ready(handle_.get()); }
  void cancel() noexcept { tgm_async_task_cancel(handle_.get()); }
  // Waits, and gives the value. For once: a second time it throws.
  T get() { return detail::join<T>(handle_.get()); }
  // The destructor of the future does not wait.
  std::future<T> future() && {
    auto made = std::make_unique<detail::promised<T>>();
    made->task = std::move(handle_);
    std::future<T> out = made->promise.get_future();
    detail::check(tgm_async_task_set_completion(made->task.get(), detail::promised<T>::fulfil, made.get()));
    made.release();
    return out;
  }
  tgm_async_task_t *raw() const noexcept { return handle_.get(); }

#if defined(__cpp_impl_coroutine)
  class awaiter {
  public:
    explicit awaiter(detail::task_handle owned) noexcept : handle_(std::move(owned)) {}
    bool await_ready() const noexcept { return tgm_async_task_is_ready(handle_.get()); }
    // Nothing of this may be used afterwards: the coroutine may have gone on, on the other thread.
    void await_suspend(std::coroutine_handle<> waiting) {
      detail::check(tgm_async_task_set_completion(handle_.get(), resume, waiting.address()));
    }
    T await_resume() { return detail::join<T>(handle_.get()); }

  private:
    static void resume(void *waiting) noexcept { std::coroutine_handle<>::from_address(waiting).resume(); }
    detail::task_handle handle_;
  };
  awaiter operator co_await() && noexcept { return awaiter(std::move(handle_)); }
#endif

private:
  detail::task_handle handle_;
};

namespace detail {

// The task of a launch: `call` is a function of C without its last three arguments.
template <class T, class Call> task<T> launch(const launch_options &how, Call call) {
  tgm_async_task_t *out = nullptr;
  check(call(how.token(), how.timeout_ms(), &out));
  return task<T>(out);
}

} // namespace detail

// ---- Files ---------------------------------------------------------------------------------------------------------

// A file of messages. Several tasks may use it at once, and it may be destroyed meanwhile.
class async_file {
public:
  explicit async_file(tgm_async_file_t *owned) noexcept : handle_(owned) {}

  static task<async_file> open(const location &path, const launch_options &how = {}) {
    return detail::launch<async_file>(
        how, [&](auto... last) { return tgm_async_file_open(path.c_str(), last...); });
  }
  // A source at an address, with options of its store. The library needs feature "async-remote".
  static task<async_file> open_address(const std::string &url,
                                       const std::vector<std::pair<std::string, std::string>> &storage = {},
                                       bool bidirectional = true, const launch_options &how = {}) {
    std::vector<const char *> keys, values;
    for (const auto &[key, value] : storage) {
      keys.push_back(key.c_str());
      values.push_back(value.c_str());
    }
    return detail::launch<async_file>(how, [&](auto... last) {
      return tgm_async_file_open_remote(url.c_str(), keys.data(), values.data(), keys.size(), bidirectional, last...);
    });
  }

  // The number of messages.
  task<std::uint64_t> size(const launch_options &how = {}) const {
    return detail::launch<std::uint64_t>(
        how, [&](auto... last) { return tgm_async_file_message_count(handle_.get(), last...); });
  }
  task<bytes> read(std::size_t index, const launch_options &how = {}) const {
    return detail::launch<bytes>(
        how, [&](auto... last) { return tgm_async_file_read_message(handle_.get(), index, last...); });
  }
  // The first metadata frame, as tgm_decode_metadata() reads it.
  task<tgm::metadata> metadata(std::size_t index, const launch_options &how = {}) const {
    return detail::launch<tgm::metadata>(
        how, [&](auto... last) { return tgm_async_file_decode_metadata(handle_.get(), index, last...); });
  }
  task<decoded_message> decode(std::size_t index, const decode_options &options = {}, const launch_options &how = {}) const {
    const auto raw = options.raw();
    return detail::launch<decoded_message>(
        how, [&](auto... last) { return tgm_async_file_decode_message_opts(handle_.get(), index, &raw, last...); });
  }
  task<decoded_message> decode_object(std::size_t index, std::size_t object, const decode_options &options = {},
                              const launch_options &how = {}) const {
    const auto raw = options.raw();
    return detail::launch<decoded_message>(how, [&](auto... last) {
      return tgm_async_file_decode_object_opts(handle_.get(), index, object, &raw, last...);
    });
  }
  // Ranges of elements: first elements and counts. A buffer for each.
  task<std::vector<bytes>> decode_range(std::size_t index, std::size_t object,
                                        const std::vector<std::pair<std::uint64_t, std::uint64_t>> &ranges,
                                        const decode_options &options = {}, const launch_options &how = {}) const {
    // One more than there are, as the arrays may not be NULL.
    std::vector<std::uint64_t> offsets(ranges.size() + 1), counts(ranges.size() + 1);
    for (std::size_t i = 0; i < ranges.size(); ++i)
      std::tie(offsets[i], counts[i]) = ranges[i];
    const auto raw = options.raw();
    return detail::launch<std::vector<bytes>>(how, [&](auto... last) {
      return tgm_async_file_decode_range_opts(handle_.get(), index, object, offsets.data(), counts.data(),
                                              ranges.size(), &raw, last...);
    });
  }
  std::string path() const { return detail::text(tgm_async_file_path(handle_.get())); }
  tgm_async_file_t *raw() const noexcept { return handle_.get(); }

private:
  detail::handle<tgm_async_file_t, tgm_async_file_close> handle_;
};

// ---- Messages ------------------------------------------------------------------------------------------------------

// A message written to a file, object by object, in the order of the launches. Values are copied, and wait in memory for
// their turn. It may be destroyed while tasks are under way.
class async_stream {
public:
  explicit async_stream(tgm_async_streaming_encoder_t *owned) noexcept : handle_(owned) {}

  static task<async_stream> create(const location &path, const std::string &metadata_json = "{}",
                                   const encode_options &options = {}, const launch_options &how = {}) {
    const auto raw = options.raw();
    return detail::launch<async_stream>(how, [&](auto... last) {
      return tgm_async_streaming_encoder_create_opts(path.c_str(), metadata_json.c_str(), &raw, last...);
    });
  }
  task<void> preceder(const std::string &metadata_json, const launch_options &how = {}) {
    return detail::launch<void>(how, [&](auto... last) {
      return tgm_async_streaming_encoder_write_preceder(handle_.get(), metadata_json.c_str(), last...);
    });
  }
  // An object. T is the type that the descriptor names.
  template <class T>
  task<void> write(const descriptor &what, span<const T> values, const launch_options &how = {}) {
    const byte_span raw = detail::bytes_of(what, values);
    return detail::launch<void>(how, [&](auto... last) {
      return tgm_async_streaming_encoder_write_object(handle_.get(), what.json().c_str(), detail::start(raw),
                                                      raw.size(), last...);
    });
  }
  template <class C, class E = detail::elements_of<C>>
  task<void> write(const descriptor &what, C &&values, const launch_options &how = {}) {
    return write(what, E(values), how);
  }
  template <class T>
  task<void> write(const descriptor &what, const std::vector<T> &values, const launch_options &how = {}) {
    return write(what, span<const T>(values.data(), values.size()), how);
  }
  // An object with its metadata, and the stages that the builder has or chooses.
  task<void> write(const object_builder &object, const launch_options &how = {}) {
    std::string params;
    const tgm_object_input_t raw = object.raw(params);
    return detail::launch<void>(
        how, [&](auto... last) { return tgm_async_streaming_encoder_write_input(handle_.get(), &raw, last...); });
  }
  task<void> write_pre_encoded(const std::string &descriptor_json, byte_span payload, const launch_options &how = {}) {
    return detail::launch<void>(how, [&](auto... last) {
      return tgm_async_streaming_encoder_write_pre_encoded(handle_.get(), descriptor_json.c_str(),
                                                           detail::start(payload), payload.size(), last...);
    });
  }
  // Ends the message. With `backfill` it states its length.
  task<void> finish(bool backfill = false, const launch_options &how = {}) {
    return detail::launch<void>(
        how, [&](auto... last) { return tgm_async_streaming_encoder_finish(handle_.get(), backfill, last...); });
  }
  // The number of objects, if no task is under way and the message has no end yet.
  std::optional<std::size_t> size() const noexcept {
    std::size_t count = 0;
    if (tgm_async_streaming_encoder_try_object_count(handle_.get(), &count) != TGM_OBJECT_COUNT_STATUS_OK)
      return std::nullopt;
    return count;
  }
  std::string path() const { return detail::text(tgm_async_streaming_encoder_path(handle_.get())); }
  tgm_async_streaming_encoder_t *raw() const noexcept { return handle_.get(); }

private:
  detail::handle<tgm_async_streaming_encoder_t, tgm_async_streaming_encoder_free> handle_;
};

} // namespace tgm

#endif // TGM_ASYNC_HPP
