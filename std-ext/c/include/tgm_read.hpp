// Reading with tgm.hpp: archives, messages, objects, and requests for their values.
#ifndef TGM_READ_HPP
#define TGM_READ_HPP

#include "tgm_basics.hpp"

#include <functional>
#include <istream>

namespace tgm {

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

// The bytes of a source that a function reads, for tgm_archive_open_source().
struct source {
  std::function<void(std::uint64_t, span<std::uint8_t>)> read;

  static std::int32_t call(void *user, std::uint64_t offset, std::uint8_t *out, std::size_t len) noexcept {
    try {
      static_cast<source *>(user)->read(offset, span<std::uint8_t>(out, len));
      return 0;
    } catch (...) {
      return 1;
    }
  }
};

// What an archive, its messages and its objects share: the handle is closed after the last of them.
using shared_source = std::shared_ptr<source>;

// The numbers of objects that a query found.
inline std::vector<tgm_object_ref_t> taken(tgm_object_list_t *list, std::string *hint = nullptr) {
  const handle<tgm_object_list_t, tgm_object_list_free> owned(list);
  const char *told = tgm_object_list_hint(list);
  if (hint)
    hint->assign(told ? told : "");
  const tgm_object_ref_t *data = tgm_object_list_data(list);
  return {data, data + tgm_object_list_count(list)};
}

// Whether values of a dtype become T.
template <class T> void require_type(tgm::dtype type) {
  if (!holds<T>(type))
    throw error(TGM_ERROR_ENCODING,
                std::string("the values are of type ") + name(type) + ", and not of type " + name(dtype_of<T>));
}

} // namespace detail

// ---- Tensors of DLPack 1.0 -----------------------------------------------------------------------------------------

// A tensor that is owned until it is released. <dlpack/dlpack.h> has its struct.
class tensor {
public:
  explicit tensor(DLManagedTensorVersioned *owned) noexcept : handle_(owned) {}

  DLManagedTensorVersioned *get() const noexcept { return handle_.get(); }
  // The caller owns it from now on, and calls its deleter.
  DLManagedTensorVersioned *release() noexcept { return handle_.release(); }

private:
  // As the struct begins in all versions from 1.0 on.
  struct head {
    std::uint32_t version[2];
    void *context;
    void (*deleter)(DLManagedTensorVersioned *);
  };
  struct deleted {
    void operator()(DLManagedTensorVersioned *tensor) const noexcept {
      head start;
      std::memcpy(&start, tensor, sizeof start);
      if (start.deleter != nullptr)
        start.deleter(tensor);
    }
  };
  std::unique_ptr<DLManagedTensorVersioned, deleted> handle_;
};

// Where the values of a tensor are.
enum class copy : std::int32_t {
  // Where they lie in the archive, if that is possible.
  as_needed = TGM_COPY_AS_NEEDED,
  always = TGM_COPY_ALWAYS,
  never = TGM_COPY_NEVER
};

// ---- Objects and requests ------------------------------------------------------------------------------------------

class object;

// A request for values of an object, which it borrows. Nothing is read before one of the last methods is called. Each of the
// first three gives a request of its own.
class read {
public:
  explicit read(const object &of);
  explicit read(const object &&) = delete;

  // Ranges of elements of the flattened tensor: first elements and counts. It replaces a selection.
  read ranges(std::vector<std::pair<std::uint64_t, std::uint64_t>> wanted) const {
    read out = *this;
    out.selection_.reset();
    out.starts_.clear();
    out.counts_.clear();
    for (const auto &[start, count] : wanted) {
      out.starts_.push_back(start);
      out.counts_.push_back(count);
    }
    // A place for none, which says that ranges are meant.
    out.starts_.push_back(0);
    return out;
  }
  // A box of the tensor: "0, 10:20, ::4, -1, ..". Dimensions with a single index vanish. It replaces ranges.
  read select(std::string box) const {
    read out = *this;
    out.starts_.clear();
    out.counts_.clear();
    out.selection_ = std::move(box);
    return out;
  }
  read options(const decode_options &how) const {
    read out = *this;
    out.options_ = how;
    return out;
  }

  // The dimensions of the values. Ranges have one.
  std::vector<std::uint64_t> shape() const { return extent().shape; }
  std::size_t size_bytes() const { return extent().size; }

  // The values as bytes, in the byte order that the options say.
  std::vector<std::uint8_t> bytes() const {
    std::vector<std::uint8_t> out(extent().size);
    bytes_into(out);
    return out;
  }
  // Into all of `out`.
  void bytes_into(span<std::uint8_t> out) const {
    const raw_request raw(*this, options_);
    detail::check(tgm_read_into(object_, &raw.request, out.data(), out.size()));
  }
  // The values as T: float and double take any values but complex ones; any other type the values of its dtype. Bits of
  // float16 and bfloat16 are std::uint16_t, packed bits std::uint8_t.
  template <class T> std::vector<T> values() const {
    const extents wanted = extent();
    std::size_t count = wanted.size / sizeof(T);
    if constexpr (is_float<T>) {
      count = 1;
      for (const std::uint64_t dim : wanted.shape)
        count *= static_cast<std::size_t>(dim);
    }
    std::vector<T> out(count);
    fill(span<T>(out.data(), out.size()));
    return out;
  }
  // Into all of `out`: a vector, an array, a span.
  template <class C> void values_into(C &&out) const {
    using T = std::remove_pointer_t<decltype(out.data())>;
    static_assert(!std::is_const_v<T>, "values cannot be written there");
    fill(span<T>(out.data(), out.size()));
  }
  template <class T, std::size_t N> void values_into(T (&out)[N]) const { fill(span<T>(out, N)); }
  // The values where they lie, as T: of archives in memory. Throws if they are not there as T of this machine, side by side
  // and aligned. They are borrowed from the archive.
  template <class T> span<const T> view() const {
    require<T>();
    const void *data = nullptr;
    std::size_t size = 0;
    const raw_request raw(*this, native());
    detail::check(tgm_read_view(object_, &raw.request, &data, &size));
    if (reinterpret_cast<std::uintptr_t>(data) % alignof(T) != 0)
      throw error(TGM_ERROR_ENCODING, "the values are not aligned");
    return {static_cast<const T *>(data), size / sizeof(T)};
  }
  // A tensor of DLPack. It keeps the archive, but not the buffer of an archive of bytes.
  tgm::tensor tensor(copy how = copy::as_needed) const {
    DLManagedTensorVersioned *out = nullptr;
    const raw_request raw(*this, options_);
    detail::check(tgm_read_dlpack(object_, &raw.request, static_cast<std::int32_t>(how), &out));
    return tgm::tensor(out);
  }

private:
  template <class T> static constexpr bool is_float = std::is_same_v<T, float> || std::is_same_v<T, double>;

  struct extents {
    std::vector<std::uint64_t> shape;
    std::size_t size;
  };
  // The structs of C, with pointers to what this has.
  struct raw_request {
    tgm_decode_options_t options;
    tgm_read_t request;

    raw_request(const read &from, const decode_options &how) : options(how.raw()), request() {
      request.struct_size = sizeof request;
      request.selection = from.selection_ ? from.selection_->c_str() : nullptr;
      request.range_starts = from.starts_.empty() ? nullptr : from.starts_.data();
      request.range_counts = from.counts_.data();
      request.num_ranges = from.counts_.size();
      request.options = &options;
    }
    raw_request(const raw_request &) = delete;
    raw_request &operator=(const raw_request &) = delete;
  };

  extents extent() const {
    extents out{std::vector<std::uint64_t>(rank_ + 1), 0};
    std::size_t ndim = 0;
    const raw_request raw(*this, options_);
    detail::check(tgm_read_size(object_, &raw.request, out.shape.data(), out.shape.size(), &ndim, &out.size));
    out.shape.resize(ndim);
    return out;
  }
  decode_options native() const {
    decode_options out = options_;
    out.native_byte_order = true;
    return out;
  }
  template <class T> void require() const { detail::require_type<T>(dtype_); }
  template <class T> void fill(span<T> out) const {
    const raw_request raw(*this, native());
    if constexpr (std::is_same_v<T, float>) {
      detail::check(tgm_read_f32(object_, &raw.request, out.data(), out.size()));
    } else if constexpr (std::is_same_v<T, double>) {
      detail::check(tgm_read_f64(object_, &raw.request, out.data(), out.size()));
    } else {
      require<T>();
      detail::check(tgm_read_into(object_, &raw.request, out.data(), out.size_bytes()));
    }
  }

  const tgm_object_t *object_;
  std::size_t rank_;
  tgm::dtype dtype_;
  std::optional<std::string> selection_;
  std::vector<std::uint64_t> starts_;
  std::vector<std::uint64_t> counts_;
  decode_options options_;
};

// One tensor of an archive, not yet read. It keeps the archive, but not the buffer of an archive of bytes.
class object {
public:
  explicit object(tgm_object_t *owned, detail::shared_source source = nullptr)
      : source_(std::move(source)), handle_(owned), facts_() {
    facts_.struct_size = sizeof facts_;
    detail::check(tgm_object_facts(owned, &facts_));
  }

  span<const std::uint64_t> shape() const & noexcept { return {facts_.shape, facts_.ndim}; }
  span<const std::uint64_t> shape() const && = delete;
  tgm::dtype dtype() const noexcept { return static_cast<tgm::dtype>(facts_.dtype); }
  std::uint64_t element_count() const noexcept { return facts_.num_elements; }
  // Bytes of all values, decoded; bytes as they are stored.
  std::uint64_t byte_len() const noexcept { return facts_.size; }
  std::uint64_t payload_len() const noexcept { return facts_.payload_size; }
  // Where it can be cut, in elements. Empty if any part needs all of the payload, or all before it.
  std::optional<std::uint64_t> grain() const noexcept {
    return facts_.grain != 0 ? std::optional<std::uint64_t>(facts_.grain) : std::nullopt;
  }
  // The number of its message in the archive, and its number in the message.
  std::pair<std::size_t, std::size_t> place() const noexcept { return {facts_.message, facts_.object}; }

  // The stages of the pipeline, and a parameter of them; the whole descriptor as JSON.
  std::string encoding() const { return facts_.encoding; }
  std::string filter() const { return facts_.filter; }
  std::string compression() const { return facts_.compression; }
  value parameter(const char *name) const & noexcept { return value(tgm_object_parameter(handle_.get(), name)); }
  value parameter(const char *) const && = delete;
  std::string descriptor_json() const { return detail::text(tgm_object_descriptor_json(handle_.get())); }

  // The metadata of the message as the object sees it: object 0 there is this one.
  tgm::metadata metadata() const {
    tgm_metadata_t *out = nullptr;
    detail::check(tgm_object_metadata(handle_.get(), &out));
    return tgm::metadata(out);
  }
  // The payload as it is stored, without masks: of archives in memory.
  byte_span payload() const & {
    const std::uint8_t *data = nullptr;
    std::size_t len = 0;
    detail::check(tgm_object_payload(handle_.get(), &data, &len));
    return {data, len};
  }
  byte_span payload() const && = delete;
  // A request for its values.
  tgm::read read() const & { return tgm::read(*this); }
  tgm::read read() const && = delete;

  const tgm_object_t *raw() const noexcept { return handle_.get(); }

private:
  // Before the handle, whose end may not come after that of the function that it reads with.
  detail::shared_source source_;
  detail::handle<tgm_object_t, tgm_object_free> handle_;
  tgm_object_facts_t facts_;
};

inline read::read(const object &of) : object_(of.raw()), rank_(of.shape().size()), dtype_(of.dtype()) {}

// ---- Archives and their messages -----------------------------------------------------------------------------------

class archive;

// One message of an archive, which it borrows. Range-for gives its objects. A number that the archive does not have is an error
// of the first method that looks at it.
class message {
public:
  using iterator = detail::index_iterator<message, tgm::object>;

  message(const archive &of, std::size_t index) noexcept : archive_(&of), index_(index) {}
  message(const archive &&, std::size_t) = delete;

  std::size_t index() const noexcept { return index_; }
  tgm::metadata metadata() const;
  // The number of objects.
  std::size_t size() const;
  tgm::object object(std::size_t index) const;
  tgm::object operator[](std::size_t index) const { return object(index); }
  iterator begin() const & noexcept { return {this, 0}; }
  iterator begin() const && = delete;
  iterator end() const & { return {this, size()}; }
  iterator end() const && = delete;
  // All bytes of the message; where they lie, of archives in memory.
  tgm::bytes bytes() const;
  byte_span view() const;
  // Checks its structure and all digests; throws the first damage.
  void verify() const;

private:
  const archive *archive_;
  std::size_t index_;
};

// Messages of any source. Range-for gives them.
class archive {
public:
  using iterator = detail::index_iterator<archive, tgm::message>;

  // A path or an address; addresses need a library with feature "async-remote".
  static archive open(const location &source) { return made(tgm_archive_open, source.c_str()); }
  // tgm_archive_open_map() says what must not happen to the file meanwhile.
  static archive map(const location &path) { return made(tgm_archive_open_map, path.c_str()); }
  // Messages in memory, which it borrows, and its objects do.
  template <class B, class = std::enable_if_t<detail::is_temporary_owner<B> && std::is_constructible_v<byte_span, B>>>
  static archive from_bytes(B &&) = delete;
  static archive from_bytes(byte_span messages) {
    return made(tgm_archive_open_bytes, messages.data(), messages.size());
  }
  // Something that seeks, such as a std::ifstream. It must live until the archive and its objects are gone.
  static archive from_reader(std::istream &&) = delete;
  static archive from_reader(std::istream &reader) {
    reader.clear();
    reader.seekg(0, std::ios::end);
    const auto end = reader.tellg();
    if (!reader || end < 0)
      throw error(TGM_ERROR_IO, "the reader cannot seek");
    return from_source(static_cast<std::uint64_t>(end), [&reader](std::uint64_t offset, span<std::uint8_t> out) {
      reader.clear();
      reader.seekg(static_cast<std::istream::off_type>(offset));
      if (!reader.read(reinterpret_cast<char *>(out.data()), static_cast<std::streamsize>(out.size())))
        throw error(TGM_ERROR_IO, "the reader ends too early");
    });
  }
  // A source of `size` bytes. `read` fills a span with those from an offset on, or throws; its calls come one at a time.
  static archive from_source(std::uint64_t size, std::function<void(std::uint64_t, span<std::uint8_t>)> read) {
    auto source = std::make_shared<detail::source>(detail::source{std::move(read)});
    archive out = made(tgm_archive_open_source, detail::source::call, static_cast<void *>(source.get()), size);
    out.source_ = std::move(source);
    return out;
  }

  // The number of messages. The first call searches for them.
  std::size_t size() const {
    std::size_t out = 0;
    detail::check(tgm_archive_len(handle_.get(), &out));
    return out;
  }
  tgm::message message(std::size_t index) const & { return {*this, index}; }
  tgm::message message(std::size_t) const && = delete;
  tgm::message operator[](std::size_t index) const & { return message(index); }
  tgm::message operator[](std::size_t) const && = delete;
  iterator begin() const & { return {this, 0}; }
  iterator begin() const && = delete;
  iterator end() const & { return {this, size()}; }
  iterator end() const && = delete;
  // An object of a message. It keeps the archive.
  tgm::object object(std::size_t message, std::size_t index) const {
    tgm_object_t *out = nullptr;
    detail::check(tgm_archive_object(handle_.get(), message, index, &out));
    return tgm::object(out, source_);
  }
  // Whether the digests of metadata frames are checked where metadata is handed out. They are unless told otherwise.
  void verify_metadata(bool on) const { detail::check(tgm_archive_verify_metadata(handle_.get(), on)); }
  // The objects for which a query holds: "mars.param = 2t and mars.step = 24". `hint` becomes why nothing was found, if a key
  // looks like a slip: "... no key param; did you mean mars.param?". Otherwise it becomes empty.
  std::vector<tgm::object> query(const std::string &text, std::uint32_t threads = 0, std::string *hint = nullptr) const {
    tgm_object_list_t *found = nullptr;
    detail::check(tgm_archive_query(handle_.get(), text.c_str(), threads, &found));
    std::vector<tgm::object> out;
    for (const tgm_object_ref_t &place : detail::taken(found, hint))
      out.push_back(object(place.message, place.object));
    return out;
  }
  const tgm_archive_t *raw() const noexcept { return handle_.get(); }

private:
  template <class Open, class... Args> static archive made(Open open, Args... args) {
    tgm_archive_t *out = nullptr;
    detail::check(open(args..., &out));
    archive made;
    made.handle_.reset(out);
    return made;
  }
  archive() = default;

  // Before the handle, which reads with it.
  detail::shared_source source_;
  detail::handle<tgm_archive_t, tgm_archive_close> handle_;
};

inline tgm::metadata message::metadata() const {
  tgm_metadata_t *out = nullptr;
  detail::check(tgm_archive_metadata(archive_->raw(), index_, &out));
  return tgm::metadata(out);
}
inline std::size_t message::size() const {
  std::size_t out = 0;
  detail::check(tgm_archive_num_objects(archive_->raw(), index_, &out));
  return out;
}
inline tgm::object message::object(std::size_t index) const { return archive_->object(index_, index); }
inline tgm::bytes message::bytes() const {
  tgm_bytes_t out{nullptr, 0};
  detail::check(tgm_archive_message(archive_->raw(), index_, &out));
  return tgm::bytes(out);
}
inline byte_span message::view() const {
  const std::uint8_t *data = nullptr;
  std::size_t len = 0;
  detail::check(tgm_archive_view(archive_->raw(), index_, &data, &len));
  return {data, len};
}
inline void message::verify() const { detail::check(tgm_archive_verify(archive_->raw(), index_)); }

// ---- Checks and digests --------------------------------------------------------------------------------------------

// The structure and all digests of a message; throws the first damage.
inline void check(byte_span buffer) { detail::check(tgm_check_message(detail::start(buffer), buffer.size())); }

// What is found in a message, or in all messages of a file, as JSON. `level` is "quick", "default", "checksum" or "full".
inline std::string validate(byte_span buffer, const std::string &level = "default", bool check_canonical = false) {
  tgm_bytes_t out{nullptr, 0};
  detail::check(tgm_validate(detail::start(buffer), buffer.size(), level.c_str(), check_canonical, &out));
  return bytes(out).str();
}
inline std::string validate_file(const location &path, const std::string &level = "default",
                                 bool check_canonical = false) {
  tgm_bytes_t out{nullptr, 0};
  detail::check(tgm_validate_file(path.c_str(), level.c_str(), check_canonical, &out));
  return bytes(out).str();
}

// The digest of bytes: 16 hexadecimal digits.
inline std::string compute_hash(byte_span data) {
  tgm_bytes_t out{nullptr, 0};
  detail::check(tgm_compute_hash(data.data(), data.size(), nullptr, &out));
  return bytes(out).str();
}

// Appends bytes to a file as they are, unchecked.
inline void append_raw(const location &path, byte_span messages) {
  tgm_file_t *file = nullptr;
  detail::check(tgm_file_open(path.c_str(), &file));
  const detail::handle<tgm_file_t, tgm_file_close> owned(file);
  detail::check(tgm_file_append_raw(file, messages.data(), messages.size()));
}

} // namespace tgm

#endif // TGM_READ_HPP
