// Every option in every call that takes options, in C and C++. Threads do not change what comes out. `tests/header.rs` finds calls that are not listed here.
// Environment: SCRATCH takes files.
#include "tgm_async.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <functional>
#include <limits>
#include <sstream>

namespace {

using numbers = std::vector<double>;

const double kNan = std::numeric_limits<double>::quiet_NaN();
const double kInf = std::numeric_limits<double>::infinity();

std::string scratch(const std::string &name) { return std::string(std::getenv("SCRATCH")) + "/" + name; }

tgm::span<const std::uint8_t> bytes_of(const std::vector<std::uint8_t> &bytes) { return {bytes.data(), bytes.size()}; }

void check(tgm_error code) {
  if (code != TGM_ERROR_OK)
    throw tgm::error::last(code);
}

double swapped(double value) {
  unsigned char bytes[8];
  std::memcpy(bytes, &value, 8);
  for (int i = 0; i < 4; ++i)
    std::swap(bytes[i], bytes[7 - i]);
  std::memcpy(&value, bytes, 8);
  return value;
}

std::string foreign_order() {
  const std::uint16_t one = 1;
  unsigned char first = 0;
  std::memcpy(&first, &one, 1);
  return first == 1 ? "big" : "little";
}

// Numbers, or bytes of them, as numbers.
numbers as_numbers(const void *data, std::size_t size) {
  numbers out(size / 8);
  if (size != 0)
    std::memcpy(out.data(), data, size);
  return out;
}

numbers first_object(const tgm::message &message) {
  const tgm::byte_span data = message[0].data();
  return as_numbers(data.data(), data.size());
}

numbers first_object(tgm_message_t *message) { return first_object(tgm::message(message)); }

// ---- Decoding ------------------------------------------------------------------------------------------------------

// A message on which calls are tried, and a file that holds it.
struct input {
  std::vector<std::uint8_t> bytes;
  std::string path;

  tgm::byte_span span() const { return bytes_of(bytes); }
};

// Which byte order a call gives: that of the options, or always this machine's.
enum class order { of_options, native };

struct decode_call {
  // Functions of the headers.
  std::string name;
  order gives;
  std::function<numbers(const input &, const tgm::decode_options &)> run;
};

// One range over both values.
const std::uint64_t kStart = 0, kCount = 2;

numbers joined(tgm_bytes_t bytes, std::size_t) {
  const tgm::bytes owned(bytes);
  return as_numbers(owned.data(), owned.size());
}

template <class F> numbers with_view(const input &in, F run) {
  tgm_view_t *view = nullptr;
  check(tgm_view_open(in.bytes.data(), in.bytes.size(), &view));
  const std::unique_ptr<tgm_view_t, void (*)(tgm_view_t *)> owned(view, tgm_view_free);
  numbers out(2);
  check(run(view, reinterpret_cast<std::uint8_t *>(out.data())));
  return out;
}

template <class F> numbers with_file(const input &in, F run) {
  tgm_file_t *file = nullptr;
  check(tgm_file_open(in.path.c_str(), &file));
  const std::unique_ptr<tgm_file_t, void (*)(tgm_file_t *)> owned(file, tgm_file_close);
  return run(file);
}

// Waits for a call on a file without blocking.
template <class Launch> tgm_async_task_t *ended(const input &in, Launch launch) {
  const tgm::async_file file = tgm::async_file::open(in.path).get();
  tgm_async_task_t *task = nullptr;
  check(launch(file.raw(), static_cast<tgm_cancellation_token_t *>(nullptr), std::uint64_t{0}, &task));
  return task;
}

struct dlpack_tensor {
  std::uint32_t version[2];
  void *context;
  void (*deleter)(dlpack_tensor *);
  std::uint64_t flags;
  void *data;
};

numbers tensor(DLManagedTensorVersioned *made) {
  auto *const tensor = reinterpret_cast<dlpack_tensor *>(made);
  const numbers out = as_numbers(tensor->data, 16);
  tensor->deleter(tensor);
  return out;
}

const std::vector<decode_call> &decode_calls() {
  using options = const tgm::decode_options &;
  static const std::vector<decode_call> calls = {
      {"tgm_decode_opts", order::of_options,
       [](const input &in, options o) {
         const auto raw = o.raw();
         tgm_message_t *out = nullptr;
         check(tgm_decode_opts(in.bytes.data(), in.bytes.size(), &raw, &out));
         return first_object(out);
       }},
      {"tgm_decode_object_opts", order::of_options,
       [](const input &in, options o) {
         const auto raw = o.raw();
         tgm_message_t *out = nullptr;
         check(tgm_decode_object_opts(in.bytes.data(), in.bytes.size(), 0, &raw, &out));
         return first_object(out);
       }},
      {"tgm_decode_range_opts", order::of_options,
       [](const input &in, options o) {
         const auto raw = o.raw();
         tgm_bytes_t out{nullptr, 0};
         std::size_t count = 0;
         check(tgm_decode_range_opts(in.bytes.data(), in.bytes.size(), 0, &kStart, &kCount, 1, &raw, 1, &out, &count));
         return joined(out, count);
       }},
      {"tgm_object_iter_create_opts", order::of_options,
       [](const input &in, options o) {
         const auto raw = o.raw();
         tgm_object_iter_t *made = nullptr;
         check(tgm_object_iter_create_opts(in.bytes.data(), in.bytes.size(), &raw, &made));
         const std::unique_ptr<tgm_object_iter_t, void (*)(tgm_object_iter_t *)> owned(made, tgm_object_iter_free);
         tgm_message_t *out = nullptr;
         check(tgm_object_iter_next(made, &out));
         return first_object(out);
       }},
      {"tgm_file_decode_message_opts", order::of_options,
       [](const input &in, options o) {
         const auto raw = o.raw();
         return with_file(in, [&](tgm_file_t *file) {
           tgm_message_t *out = nullptr;
           check(tgm_file_decode_message_opts(file, 0, &raw, &out));
           return first_object(out);
         });
       }},
      {"tgm_file_decode_object", order::of_options,
       [](const input &in, options o) {
         const auto raw = o.raw();
         return with_file(in, [&](tgm_file_t *file) {
           tgm_message_t *out = nullptr;
           check(tgm_file_decode_object(file, 0, 0, &raw, &out));
           return first_object(out);
         });
       }},
      {"tgm_file_decode_range", order::of_options,
       [](const input &in, options o) {
         const auto raw = o.raw();
         return with_file(in, [&](tgm_file_t *file) {
           tgm_bytes_t out{nullptr, 0};
           std::size_t count = 0;
           check(tgm_file_decode_range(file, 0, 0, &kStart, &kCount, 1, &raw, 1, &out, &count));
           return joined(out, count);
         });
       }},
      {"tgm_async_file_decode_message_opts", order::of_options,
       [](const input &in, options o) {
         const auto raw = o.raw();
         return first_object(tgm::task<tgm::message>(ended(in, [&](tgm_async_file_t *file, auto... last) {
           return tgm_async_file_decode_message_opts(file, 0, &raw, last...);
         })).get());
       }},
      {"tgm_async_file_decode_object_opts", order::of_options,
       [](const input &in, options o) {
         const auto raw = o.raw();
         return first_object(tgm::task<tgm::message>(ended(in, [&](tgm_async_file_t *file, auto... last) {
           return tgm_async_file_decode_object_opts(file, 0, 0, &raw, last...);
         })).get());
       }},
      {"tgm_async_file_decode_range_opts", order::of_options,
       [](const input &in, options o) {
         const auto raw = o.raw();
         const auto parts = tgm::task<std::vector<tgm::bytes>>(ended(in, [&](tgm_async_file_t *file, auto... last) {
           return tgm_async_file_decode_range_opts(file, 0, 0, &kStart, &kCount, 1, &raw, last...);
         })).get();
         return as_numbers(parts.at(0).data(), parts.at(0).size());
       }},
      {"async_file::decode", order::of_options,
       [](const input &in, options o) {
         return first_object(tgm::async_file::open(in.path).get().decode(0, o).get());
       }},
      {"async_file::decode_object", order::of_options,
       [](const input &in, options o) {
         return first_object(tgm::async_file::open(in.path).get().decode_object(0, 0, o).get());
       }},
      {"async_file::decode_range", order::of_options,
       [](const input &in, options o) {
         const auto parts = tgm::async_file::open(in.path).get().decode_range(0, 0, {{0, 2}}, o).get();
         return as_numbers(parts.at(0).data(), parts.at(0).size());
       }},
      {"tgm_decode_object_into", order::of_options,
       [](const input &in, options o) {
         const auto raw = o.raw();
         numbers out(2);
         check(tgm_decode_object_into(in.bytes.data(), in.bytes.size(), 0, &raw,
                                      reinterpret_cast<std::uint8_t *>(out.data()), 16));
         return out;
       }},
      {"tgm_decode_range_into", order::of_options,
       [](const input &in, options o) {
         const auto raw = o.raw();
         numbers out(2);
         check(tgm_decode_range_into(in.bytes.data(), in.bytes.size(), 0, &kStart, &kCount, 1, &raw,
                                     reinterpret_cast<std::uint8_t *>(out.data()), 16));
         return out;
       }},
      {"tgm_view_decode_into", order::of_options,
       [](const input &in, options o) {
         const auto raw = o.raw();
         return with_view(in, [&](tgm_view_t *v, std::uint8_t *out) { return tgm_view_decode_into(v, 0, &raw, out, 16); });
       }},
      {"tgm_view_decode_range_into", order::of_options,
       [](const input &in, options o) {
         const auto raw = o.raw();
         return with_view(in, [&](tgm_view_t *v, std::uint8_t *out) {
           return tgm_view_decode_range_into(v, 0, &kStart, &kCount, 1, &raw, out, 16);
         });
       }},
      {"tgm_view_select_into", order::of_options,
       [](const input &in, options o) {
         const auto raw = o.raw();
         return with_view(
             in, [&](tgm_view_t *v, std::uint8_t *out) { return tgm_view_select_into(v, 0, "..", &raw, out, 16); });
       }},
      {"tgm_view_decode_f64", order::native,
       [](const input &in, options o) {
         const auto raw = o.raw();
         return with_view(in, [&](tgm_view_t *v, std::uint8_t *out) {
           return tgm_view_decode_f64(v, 0, &raw, reinterpret_cast<double *>(out), 2);
         });
       }},
      {"tgm_view_decode_f32", order::native,
       [](const input &in, options o) {
         const auto raw = o.raw();
         float narrow[2] = {0, 0};
         with_view(in, [&](tgm_view_t *v, std::uint8_t *) { return tgm_view_decode_f32(v, 0, &raw, narrow, 2); });
         return numbers{narrow[0], narrow[1]};
       }},
      {"tgm_object_decode_to_dlpack", order::native,
       [](const input &in, options o) {
         const auto raw = o.raw();
         DLManagedTensorVersioned *made = nullptr;
         with_view(in, [&](tgm_view_t *v, std::uint8_t *) { return tgm_object_decode_to_dlpack(v, 0, &raw, &made); });
         return tensor(made);
       }},
      {"decode", order::of_options,
       [](const input &in, options o) { return first_object(tgm::decode(in.span(), o)); }},
      {"decode_object", order::of_options,
       [](const input &in, options o) { return first_object(tgm::decode_object(in.span(), 0, o)); }},
      {"file::decode", order::of_options,
       [](const input &in, options o) { return first_object(tgm::file::open(in.path).decode(0, o)); }},
      {"file::decode of a map", order::of_options,
       [](const input &in, options o) { return first_object(tgm::file::map(in.path).decode(0, o)); }},
      {"file::decode_object", order::of_options,
       [](const input &in, options o) { return first_object(tgm::file::open(in.path).decode_object(0, 0, o)); }},
      {"file::decode_object of a map", order::of_options,
       [](const input &in, options o) { return first_object(tgm::file::map(in.path).decode_object(0, 0, o)); }},
      {"object_view::decode_into", order::of_options,
       [](const input &in, options o) {
         numbers out(2);
         const tgm::view view(in.span());
         view[0].decode_into<double>(out, o);
         return out;
       }},
      {"object_view::decode", order::of_options,
       [](const input &in, options o) {
         const tgm::view view(in.span());
         return view[0].decode<double>(o);
       }},
      {"object_view::as_double", order::native,
       [](const input &in, options o) {
         const tgm::view view(in.span());
         return view[0].as_double(o);
       }},
      {"object_view::as_float", order::native,
       [](const input &in, options o) {
         std::vector<float> out(2);
         const tgm::view view(in.span());
         view[0].as_float(out, o);
         return numbers(out.begin(), out.end());
       }},
      {"object_view::decode_range_into", order::of_options,
       [](const input &in, options o) {
         numbers out(2);
         const tgm::view view(in.span());
         view[0].decode_range_into<double>(0, 2, out, o);
         return out;
       }},
      {"object_view::select", order::of_options,
       [](const input &in, options o) {
         const tgm::view view(in.span());
         return view[0].select<double>("0:2", o).values;
       }},
      {"object_view::decode_to_dlpack", order::native,
       [](const input &in, options o) {
         const tgm::view view(in.span());
         return tensor(view[0].decode_to_dlpack(o));
       }},
  };
  return calls;
}

// A message of 1 and NaN, which is masked, in the other byte order.
input foreign(const std::string &compression) {
  const numbers values = {swapped(1), swapped(kNan)};
  tgm::encoder encoder;
  encoder.add(tgm::descriptor::of<double>({2}).byte_order(foreign_order()).compression(compression), values);
  tgm::encode_options options;
  options.allow_nan = true;
  options.hashing = false;
  const tgm::bytes made = encoder.encode(options);
  input out{{made.begin(), made.end()}, scratch("options-foreign.tgm")};
  std::ofstream(out.path, std::ios::binary).write(reinterpret_cast<const char *>(made.data()), made.size());
  return out;
}

// A message of 1 and 2, stored as it is.
input plain() {
  const numbers values = {1, 2};
  tgm::encoder encoder;
  const tgm::bytes made = encoder.add(tgm::descriptor::of<double>({2}), values).encode();
  input out{{made.begin(), made.end()}, scratch("options-plain.tgm")};
  std::ofstream(out.path, std::ios::binary).write(reinterpret_cast<const char *>(made.data()), made.size());
  return out;
}

// What a call says, as text: its values, or its failure.
template <class F> std::string answer(F run) {
  try {
    std::ostringstream out;
    for (const double value : run())
      out << value << ' ';
    return out.str();
  } catch (const tgm::error &error) {
    return std::string("error ") + std::to_string(error.code()) + ": " + error.what();
  }
}

bool is_failure(const std::string &answer, tgm_error code, const std::string &word) {
  return answer.find("error " + std::to_string(code) + ":") == 0 && answer.find(word) != std::string::npos;
}

TEST(Options, OfDecodingHoldInEveryCall) {
  for (const std::string compression : {"none", "zstd"}) {
    const input in = foreign(compression);
    for (const decode_call &call : decode_calls()) {
      SCOPED_TRACE(call.name + ", compression " + compression);
      const auto with = [&](auto set) {
        tgm::decode_options options;
        set(options);
        return answer([&] { return call.run(in, options); });
      };
      EXPECT_EQ(with([](auto &) {}), "1 nan ");
      EXPECT_EQ(with([](auto &options) { options.restore_non_finite = false; }), "1 0 ");
      std::ostringstream one;
      one << (call.gives == order::native ? 1.0 : swapped(1)) << ' ' << 0.0 << ' ';
      EXPECT_EQ(with([](auto &options) { options.native_byte_order = options.restore_non_finite = false; }), one.str());
      EXPECT_TRUE(is_failure(with([](auto &options) { options.verify_hash = true; }), TGM_ERROR_MISSING_HASH, ""));
      EXPECT_TRUE(is_failure(with([](auto &options) { options.max_decoded_bytes = 15; }), TGM_ERROR_ENCODING,
                             "max_decoded_bytes"));
      EXPECT_EQ(with([](auto &options) { options.max_decoded_bytes = 16; }), "1 nan ");
    }
  }
}

TEST(Options, OfDecodingHoldForValuesThatAreStoredAsTheyAre) {
  const input in = plain();
  for (const decode_call &call : decode_calls()) {
    SCOPED_TRACE(call.name);
    tgm::decode_options options;
    EXPECT_EQ(answer([&] { return call.run(in, options); }), "1 2 ");
    options.verify_hash = true;
    options.threads = 2;
    EXPECT_EQ(answer([&] { return call.run(in, options); }), "1 2 ");
    options.max_decoded_bytes = 15;
    EXPECT_TRUE(is_failure(answer([&] { return call.run(in, options); }), TGM_ERROR_ENCODING, "max_decoded_bytes"));
  }
}

// ---- Encoding ------------------------------------------------------------------------------------------------------

// What a call can be given beside options.
struct encode_call {
  std::string name;
  // Whether it encodes values, and takes builders of metadata.
  bool encodes, of_message, of_objects;
  // The message that it makes of these values.
  std::function<std::vector<std::uint8_t>(const numbers &, const tgm_encode_options_t &)> run;
};

std::vector<std::uint8_t> read(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

std::vector<std::uint8_t> taken(tgm_bytes_t bytes) {
  const tgm::bytes owned(bytes);
  return {owned.begin(), owned.end()};
}

const char *const kMessage =
    R"({"descriptors":[{"type":"ntensor","ndim":1,"shape":[3],"strides":[1],"dtype":"float64","encoding":"none",)"
    R"("filter":"none","compression":"none"}]})";
const char *const kDescriptor = R"({"type":"ntensor","ndim":1,"shape":[3],"strides":[1],"dtype":"float64",)"
                                R"("encoding":"none","filter":"none","compression":"none"})";

std::int32_t append(void *user, const std::uint8_t *data, std::size_t len) {
  auto &bytes = *static_cast<std::vector<std::uint8_t> *>(user);
  bytes.insert(bytes.end(), data, data + len);
  return 0;
}

void write(tgm_streaming_encoder_t *encoder, const numbers &values) {
  const std::unique_ptr<tgm_streaming_encoder_t, void (*)(tgm_streaming_encoder_t *)> owned(
      encoder, tgm_streaming_encoder_free);
  check(tgm_streaming_encoder_write(encoder, kDescriptor, reinterpret_cast<const std::uint8_t *>(values.data()), 24));
  check(tgm_streaming_encoder_finish(encoder));
}

const std::vector<encode_call> &encode_calls() {
  using options = const tgm_encode_options_t &;
  static const std::size_t len = 24;
  static const std::vector<encode_call> calls = {
      {"tgm_encode_opts", true, true, true,
       [](const numbers &values, options o) {
         const auto *data = reinterpret_cast<const std::uint8_t *>(values.data());
         tgm_bytes_t out{nullptr, 0};
         check(tgm_encode_opts(kMessage, &data, &len, 1, &o, &out));
         return taken(out);
       }},
      {"tgm_encode_pre_encoded_opts", false, true, true,
       [](const numbers &values, options o) {
         const auto *data = reinterpret_cast<const std::uint8_t *>(values.data());
         tgm_bytes_t out{nullptr, 0};
         check(tgm_encode_pre_encoded_opts(kMessage, &data, &len, 1, &o, &out));
         return taken(out);
       }},
      {"tgm_encode_objects", true, true, true,
       [](const numbers &values, options o) {
         const std::uint64_t shape[1] = {3};
         tgm_object_input_t object{};
         object.struct_size = sizeof object;
         object.dtype = TGM_DTYPE_FLOAT64;
         object.ndim = 1;
         object.shape = shape;
         object.data = values.data();
         object.size = len;
         tgm_bytes_t out{nullptr, 0};
         check(tgm_encode_objects(&object, 1, nullptr, &o, &out));
         return taken(out);
       }},
      {"tgm_file_append_opts", true, true, true,
       [](const numbers &values, options o) {
         const auto *data = reinterpret_cast<const std::uint8_t *>(values.data());
         const std::string path = scratch("options-append.tgm");
         tgm_file_t *file = nullptr;
         check(tgm_file_create(path.c_str(), &file));
         const std::unique_ptr<tgm_file_t, void (*)(tgm_file_t *)> owned(file, tgm_file_close);
         check(tgm_file_append_opts(file, kMessage, &data, &len, 1, &o));
         return read(path);
       }},
      {"tgm_streaming_encoder_create_opts", true, true, false,
       [](const numbers &values, options o) {
         const std::string path = scratch("options-stream.tgm");
         tgm_streaming_encoder_t *encoder = nullptr;
         check(tgm_streaming_encoder_create_opts(path.c_str(), "{}", &o, &encoder));
         write(encoder, values);
         return read(path);
       }},
      {"tgm_async_streaming_encoder_create_opts", true, true, false,
       [](const numbers &values, options o) {
         const std::string path = scratch("options-async.tgm");
         tgm_async_task_t *task = nullptr;
         check(tgm_async_streaming_encoder_create_opts(path.c_str(), "{}", &o, nullptr, 0, &task));
         tgm::async_stream stream = tgm::task<tgm::async_stream>(task).get();
         stream.write(tgm::descriptor::of<double>({3}), values).get();
         stream.finish().get();
         return read(path);
       }},
      {"tgm_streaming_encoder_create_writer", true, true, false,
       [](const numbers &values, options o) {
         std::vector<std::uint8_t> bytes;
         tgm_streaming_encoder_t *encoder = nullptr;
         check(tgm_streaming_encoder_create_writer(append, &bytes, "{}", &o, &encoder));
         write(encoder, values);
         return bytes;
       }},
  };
  return calls;
}

// The calls of C++, which make the struct themselves.
struct wrapped_call {
  std::string name;
  bool encodes;
  std::function<std::vector<std::uint8_t>(const numbers &, const tgm::encode_options &)> run;
};

const std::vector<wrapped_call> &wrapped_calls() {
  using options = const tgm::encode_options &;
  static const tgm::descriptor what = tgm::descriptor::of<double>({3});
  static const std::vector<wrapped_call> calls = {
      {"encoder::encode", true,
       [](const numbers &values, options o) {
         const tgm::bytes out = tgm::encoder().add(what, values).encode(o);
         return std::vector<std::uint8_t>(out.begin(), out.end());
       }},
      {"encoder::encode_pre_encoded", false,
       [](const numbers &values, options o) {
         const tgm::bytes out = tgm::encoder().add(what, values).encode_pre_encoded(o);
         return std::vector<std::uint8_t>(out.begin(), out.end());
       }},
      {"file::append", true,
       [](const numbers &values, options o) {
         tgm::file::create(scratch("options-append.tgm")).append(tgm::encoder().add(what, values), o);
         return read(scratch("options-append.tgm"));
       }},
      {"stream::stream of a path", true,
       [](const numbers &values, options o) {
         tgm::stream stream(scratch("options-stream.tgm"), "{}", o);
         stream.write(what, values);
         stream.finish();
         return read(scratch("options-stream.tgm"));
       }},
      {"async_stream::create", true,
       [](const numbers &values, options o) {
         tgm::async_stream stream = tgm::async_stream::create(scratch("options-async.tgm"), "{}", o).get();
         stream.write(what, values).get();
         stream.finish().get();
         return read(scratch("options-async.tgm"));
       }},
      {"stream::stream of an ostream", true,
       [](const numbers &values, options o) {
         std::ostringstream sink;
         tgm::stream stream(sink, "{}", o);
         stream.write(what, values);
         stream.finish();
         const std::string text = sink.str();
         return std::vector<std::uint8_t>(text.begin(), text.end());
       }},
  };
  return calls;
}

// What is in a message, as text: whether it has digests, where the descriptor is, and its masks.
std::string about(const std::vector<std::uint8_t> &bytes) {
  const tgm::message message = tgm::decode(bytes);
  const tgm::view view(bytes_of(bytes));
  const std::string text(bytes.begin(), bytes.end());
  const std::size_t descriptor = text.find("ntensor");
  const bool is_first = descriptor < static_cast<std::size_t>(view[0].payload().data() - bytes.data());
  const std::string json = message[0].descriptor_json();
  const std::size_t masks = json.find("\"masks\"");
  std::string out = message[0].digest().empty() ? "plain" : "hashed";
  out += is_first ? ", descriptor first" : ", payload first";
  for (const char *const method : {"none", "rle", "roaring"}) {
    const std::string quoted = std::string("\"method\":\"") + method + '"';
    for (std::size_t at = masks; at < json.size() && (at = json.find(quoted, at)) != std::string::npos; ++at)
      out += std::string(", ") + method;
  }
  return out;
}

template <class F> std::string made(F run) {
  try {
    return about(run());
  } catch (const tgm::error &error) {
    return std::string("error ") + std::to_string(error.code()) + ": " + error.what();
  }
}

// All options, one after the other. `run` makes a message of values with options.
void try_encoding(const std::string &name, bool encodes,
                  const std::function<std::vector<std::uint8_t>(const numbers &, const tgm::encode_options &)> &run) {
  SCOPED_TRACE(name);
  const numbers finite = {1, 2, 3}, wild = {kNan, kInf, -kInf};
  const auto with = [&](const numbers &values, auto set) {
    tgm::encode_options options;
    set(options);
    return made([&] { return run(values, options); });
  };
  EXPECT_EQ(with(finite, [](auto &) {}), "hashed, payload first");
  EXPECT_EQ(with(finite, [](auto &o) { o.hashing = false; }), "plain, payload first");
  EXPECT_EQ(with(finite, [](auto &o) { o.descriptor_first = true; }), "hashed, descriptor first");
  EXPECT_TRUE(is_failure(with(finite, [](auto &o) { o.value_order = 9; }), TGM_ERROR_INVALID_ARG, "value order"));
  for (const auto method : {&tgm::encode_options::nan_mask_method, &tgm::encode_options::pos_inf_mask_method,
                            &tgm::encode_options::neg_inf_mask_method})
    EXPECT_TRUE(is_failure(with(finite, [&](auto &o) { o.*method = "x"; }), TGM_ERROR_INVALID_ARG, "mask method"));
  if (!encodes) {
    EXPECT_EQ(with(wild, [](auto &) {}), "hashed, payload first");
    return;
  }
  EXPECT_TRUE(is_failure(with(wild, [](auto &o) { o.allow_nan = true; }), TGM_ERROR_ENCODING, "allow_inf"));
  EXPECT_TRUE(is_failure(with(wild, [](auto &o) { o.allow_inf = true; }), TGM_ERROR_ENCODING, "allow_nan"));
  const auto allowed = [](auto &o) { o.allow_nan = o.allow_inf = true; };
  EXPECT_EQ(with(wild, allowed), "hashed, payload first, none, none, none");
  for (const auto method : {&tgm::encode_options::nan_mask_method, &tgm::encode_options::pos_inf_mask_method,
                            &tgm::encode_options::neg_inf_mask_method})
    EXPECT_EQ(with(wild,
                   [&](auto &o) {
                     allowed(o);
                     o.small_mask_threshold_bytes = 0;
                     o.*method = "rle";
                   }),
              "hashed, payload first, rle, roaring, roaring");
}

TEST(Options, OfEncodingHoldInEveryCall) {
  for (const encode_call &call : encode_calls())
    try_encoding(call.name, call.encodes,
                 [&](const numbers &values, const tgm::encode_options &options) { return call.run(values, options.raw()); });
  for (const wrapped_call &call : wrapped_calls())
    try_encoding(call.name, call.encodes, call.run);
}

TEST(Options, BuildersOfMetadataAreWrittenByEveryCall) {
  tgm::metadata_builder more, of_object;
  more.set("by", "hand");
  of_object.set("step", 6);
  const auto *const base = of_object.raw();
  for (const encode_call &call : encode_calls()) {
    SCOPED_TRACE(call.name);
    auto raw = tgm::encode_options().raw();
    raw.extra = more.raw();
    const auto with_extra = tgm::decode(call.run({1, 2, 3}, raw)).metadata();
    EXPECT_EQ(with_extra.get("extra.by").as_string(), "hand");
    raw.base = &base;
    raw.num_base = 1;
    if (call.of_objects) {
      const auto with_base = tgm::decode(call.run({1, 2, 3}, raw)).metadata();
      EXPECT_EQ(with_base.get(0, "step").as_int(), 6);
    } else {
      EXPECT_THROW(call.run({1, 2, 3}, raw), tgm::error);
    }
  }
  const numbers values = {1, 2, 3};
  tgm::encoder encoder;
  encoder.add(tgm::descriptor::of<double>({3}), values).metadata(of_object).extra(more);
  tgm::file file = tgm::file::create(scratch("options-append.tgm"));
  file.append(encoder);
  std::vector<tgm::metadata> all;
  all.push_back(file.metadata(0));
  all.push_back(tgm::decode(encoder.encode()).metadata());
  all.push_back(tgm::decode(encoder.encode_pre_encoded()).metadata());
  for (const tgm::metadata &metadata : all) {
    EXPECT_EQ(metadata.get("extra.by").as_string(), "hand");
    EXPECT_EQ(metadata.get(0, "step").as_int(), 6);
  }
}

} // namespace
