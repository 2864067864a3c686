// Writing with tgm.hpp: objects to be written, writers, and streams.
#ifndef TGM_WRITE_HPP
#define TGM_WRITE_HPP

#include "tgm_basics.hpp"

#include <cstdio>

namespace tgm {

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

// A number as JSON. Those that JSON does not have become null, which the library refuses.
inline std::string number(double value) {
  char text[40];
  const int len = std::snprintf(text, sizeof text, "%.17g", value);
  const bool is_finite = value - value == 0;
  return is_finite && len > 0 ? std::string(text, static_cast<std::size_t>(len)) : "null";
}

inline std::string numbers(const std::vector<std::uint64_t> &items) {
  std::string out = "[";
  for (std::size_t i = 0; i < items.size(); ++i)
    out += (i != 0 ? "," : "") + std::to_string(items[i]);
  return out + "]";
}

} // namespace detail

// ---- Objects to be written -----------------------------------------------------------------------------------------

// What a compression has to keep. The library chooses the stages and their parameters.
class compress {
public:
  static compress lossless() noexcept { return compress(0, 0, 1); }
  // Floats change by no more than this, in their own unit. Other values are kept as they are.
  static compress within(double error) noexcept { return compress(error, 0, 0); }
  // Floats are packed into this many bits each, 1 to 64.
  static compress bits(std::uint32_t count) noexcept { return compress(0, count, 0); }

private:
  friend class object_builder;
  compress(double within, std::uint32_t bits, std::int32_t lossless) noexcept
      : within_(within), bits_(bits), lossless_(lossless) {}
  double within_;
  std::uint32_t bits_;
  std::int32_t lossless_;
};

// A tensor to be written: values, which it borrows, their shape, metadata, and the stages that they go through. Parameters of
// stages that are not given follow from the values.
class object_builder {
public:
  template <class T>
  object_builder(std::vector<std::uint64_t> shape, span<const T> values) : object_builder(std::move(shape)) {
    input_.dtype = static_cast<std::int32_t>(dtype_of<T>);
    put(values.data(), values.size_bytes());
  }
  template <class C, class E = detail::elements_of<C>, std::enable_if_t<!detail::is_temporary_owner<C>, int> = 0>
  object_builder(std::vector<std::uint64_t> shape, C &&values) : object_builder(std::move(shape), E(values)) {}
  template <class C, class E = detail::elements_of<C>, std::enable_if_t<detail::is_temporary_owner<C>, int> = 0>
  object_builder(std::vector<std::uint64_t>, C &&) = delete;
  // Bytes of elements of any dtype: bits of float16 and bfloat16, packed bits of a bitmask, values in a byte order.
  static object_builder from_bytes(tgm::dtype type, std::vector<std::uint64_t> shape, byte_span data) {
    object_builder out(std::move(shape));
    out.input_.dtype = static_cast<std::int32_t>(type);
    out.put(data.data(), data.size());
    return out;
  }
  template <class B, class = std::enable_if_t<detail::is_temporary_owner<B> && std::is_constructible_v<byte_span, B>>>
  static object_builder from_bytes(tgm::dtype, std::vector<std::uint64_t>, B &&) = delete;

  // An entry of the object's metadata, by dotted path.
  template <class T> object_builder &metadata(const std::string &path, const T &entry) & {
    metadata_.set(path, entry);
    return *this;
  }
  template <class T> object_builder &&metadata(const std::string &path, const T &entry) && {
    return std::move(metadata(path, entry));
  }
  object_builder &metadata_bytes(const std::string &path, byte_span entry) & {
    metadata_.set_bytes(path, entry);
    return *this;
  }
  // More entries: a JSON object.
  object_builder &metadata_json(std::string json) & { return set(metadata_json_, std::move(json)); }
  object_builder &&metadata_json(std::string json) && { return std::move(metadata_json(std::move(json))); }

#define TGM_STAGE(declaration, change)         \
  object_builder &declaration & {              \
    change;                                    \
    return *this;                              \
  }                                            \
  object_builder &&declaration && {            \
    change;                                    \
    return std::move(*this);                   \
  }
  // Chooses all stages.
  TGM_STAGE(compress(const tgm::compress &how), keep(how))
  // The stages by name: README.md lists them with their parameters.
  TGM_STAGE(encoding(std::string name), set(encoding_, std::move(name)))
  TGM_STAGE(filter(std::string name), set(filter_, std::move(name)))
  TGM_STAGE(compression(std::string name), set(compression_, std::move(name)))
  TGM_STAGE(parameter(std::string_view key, double number), add(key, detail::number(number)))
  TGM_STAGE(parameter(std::string_view key, std::int64_t number), add(key, std::to_string(number)))
  TGM_STAGE(parameter(std::string_view key, int number), add(key, std::to_string(number)))
  TGM_STAGE(parameter(std::string_view key, std::string_view text), add(key, detail::quoted(text)))
  TGM_STAGE(parameter(std::string_view key, const char *text), add(key, detail::quoted(text)))
  // Floats packed into so many bits each: lossy. Floats of 32 bits are widened.
  TGM_STAGE(simple_packing(std::uint32_t bits), encoding("simple_packing").parameter("sp_bits_per_value", int(bits)))
  // Bytes of elements, or of packed values, sorted by their place.
  TGM_STAGE(shuffle(), filter("shuffle"))
  TGM_STAGE(zstd(int level = 3), compression("zstd").parameter("zstd_level", level))
  TGM_STAGE(lz4(), compression("lz4"))
  TGM_STAGE(szip(), compression("szip"))
  TGM_STAGE(blosc2(std::string_view codec, int level),
            compression("blosc2").parameter("blosc2_codec", codec).parameter("blosc2_clevel", level))
  // Lossy, for float64: bits of each value; bits of precision; the largest error.
  TGM_STAGE(zfp_rate(double rate), zfp("fixed_rate").parameter("zfp_rate", rate))
  TGM_STAGE(zfp_precision(int bits), zfp("fixed_precision").parameter("zfp_precision", bits))
  TGM_STAGE(zfp_accuracy(double error), zfp("fixed_accuracy").parameter("zfp_tolerance", error))
  // Lossy, for float64: `mode` is "abs", "rel" or "psnr".
  TGM_STAGE(sz3(std::string_view mode, double bound),
            compression("sz3").parameter("sz3_error_bound_mode", mode).parameter("sz3_error_bound", bound))
  // For bitmasks.
  TGM_STAGE(rle(), compression("rle"))
  TGM_STAGE(roaring(), compression("roaring"))
  // The byte order of the values, if it is not this machine's: "little" or "big".
  TGM_STAGE(byte_order(std::string_view name), order(name))
#undef TGM_STAGE

private:
  friend class writer;
  friend class stream;
  friend class async_stream;

  explicit object_builder(std::vector<std::uint64_t> shape) : input_(), shape_(std::move(shape)) {}
  object_builder &set(std::string &field, std::string text) {
    field = std::move(text);
    return *this;
  }
  void put(const void *data, std::size_t size) noexcept {
    input_.data = data;
    input_.size = size;
  }
  void add(std::string_view key, const std::string &json) {
    params_ += (params_.empty() ? "" : ",") + detail::quoted(key) + ":" + json;
  }
  void keep(const tgm::compress &how) noexcept {
    input_.within = how.within_;
    input_.bits = how.bits_;
    input_.lossless = how.lossless_;
  }
  object_builder &zfp(std::string_view mode) { return compression("zfp").parameter("zfp_mode", mode); }
  void order(std::string_view name) {
    if (name != "little" && name != "big")
      throw error(TGM_ERROR_INVALID_ARG, "a byte order is little or big");
    input_.byte_order = name == "little" ? 1 : 2;
  }
  // The struct of C, and the text that it points to. It borrows from this.
  tgm_object_input_t raw(std::string &params) const {
    const auto named = [](const std::string &name) { return name.empty() ? nullptr : name.c_str(); };
    params = "{" + params_ + "}";
    tgm_object_input_t out = input_;
    out.struct_size = sizeof out;
    out.ndim = shape_.size();
    out.shape = shape_.data();
    out.encoding = named(encoding_);
    out.filter = named(filter_);
    out.compression = named(compression_);
    out.params_json = params_.empty() ? nullptr : params.c_str();
    out.metadata_json = named(metadata_json_);
    out.metadata = metadata_.raw();
    return out;
  }

  tgm_object_input_t input_;
  std::vector<std::uint64_t> shape_;
  std::string encoding_;
  std::string filter_;
  std::string compression_;
  std::string params_;
  std::string metadata_json_;
  metadata_builder metadata_;
};

// ---- Writers -------------------------------------------------------------------------------------------------------

namespace detail {

// For tgm_write_fn: the bytes go to a std::ostream.
inline std::int32_t to_stream(void *user, const std::uint8_t *data, std::size_t len) noexcept {
  try {
    auto &sink = *static_cast<std::ostream *>(user);
    return sink.write(reinterpret_cast<const char *>(data), static_cast<std::streamsize>(len)) ? 0 : 1;
  } catch (...) {
    return 2;
  }
}

} // namespace detail

// Where messages go. Objects are encoded when they are given; a message is written in one step when it ends.
class writer {
public:
  static writer memory(const encode_options &options = {}) { return made(options, tgm_writer_memory); }
  // A new file; after the messages of a file that is there.
  static writer create(const location &path, const encode_options &options = {}) {
    return made(options, tgm_writer_create, path.c_str());
  }
  static writer append(const location &path, const encode_options &options = {}) {
    return made(options, tgm_writer_append, path.c_str());
  }
  // `sink` must live until the writer is destroyed.
  static writer to(std::ostream &&, const encode_options & = {}) = delete;
  static writer to(std::ostream &sink, const encode_options &options = {}) {
    return made(options, tgm_writer_to, detail::to_stream, static_cast<void *>(&sink));
  }

  // An entry of the message's metadata, by dotted path; entries as a JSON object, or of a builder.
  template <class T> void extra(const std::string &path, const T &entry) {
    extra(metadata_builder().set(path, entry));
  }
  void extra(const metadata_builder &entries) {
    detail::check(tgm_writer_extra(handle_.get(), nullptr, entries.raw()));
  }
  void extra_json(const std::string &entries) {
    detail::check(tgm_writer_extra(handle_.get(), entries.c_str(), nullptr));
  }
  // Encodes an object and adds it to the message. Its values are not needed any more.
  void object(const object_builder &object) {
    std::string params;
    const tgm_object_input_t raw = object.raw(params);
    detail::check(tgm_writer_object(handle_.get(), &raw));
  }
  // Ends the message and writes it. The next object begins another one.
  void end_message() { detail::check(tgm_writer_end_message(handle_.get())); }
  // Ends the message, if there is one, and the writer. A writer to memory gives its bytes, others none.
  bytes finish() {
    tgm_bytes_t out{nullptr, 0};
    detail::check(tgm_writer_finish(handle_.get(), &out));
    return bytes(out);
  }

private:
  template <class Open, class... Args> static writer made(const encode_options &options, Open open, Args... args) {
    const auto raw = options.raw();
    tgm_writer_t *out = nullptr;
    detail::check(open(args..., &raw, &out));
    writer made;
    made.handle_.reset(out);
    return made;
  }
  writer() = default;

  detail::handle<tgm_writer_t, tgm_writer_free> handle_;
};

// ---- Messages that are written before they end ---------------------------------------------------------------------

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

// A message written to a file or a std::ostream, object by object, before its end is known.
class stream {
public:
  // The bytes go to `sink`, which must live until the stream is destroyed.
  explicit stream(std::ostream &&, const std::string & = "{}", const encode_options & = {}) = delete;
  explicit stream(std::ostream &sink, const std::string &metadata_json = "{}", const encode_options &options = {}) {
    const auto raw = options.raw();
    tgm_streaming_encoder_t *out = nullptr;
    detail::check(tgm_streaming_encoder_create_writer(detail::to_stream, &sink, metadata_json.c_str(), &raw, &out));
    handle_.reset(out);
  }
  explicit stream(const location &path, const std::string &metadata_json = "{}",
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
  // An object with its metadata, and the stages that the builder has or chooses.
  void write(const object_builder &object) {
    std::string params;
    const tgm_object_input_t raw = object.raw(params);
    detail::check(tgm_streaming_encoder_write_input(handle_.get(), &raw));
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
  detail::handle<tgm_streaming_encoder_t, tgm_streaming_encoder_free> handle_;
};

} // namespace tgm

#endif // TGM_WRITE_HPP
