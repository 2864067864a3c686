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

numbers first_object(const tgm::decoded_message &message) {
  const tgm::byte_span data = message[0].data();
  return as_numbers(data.data(), data.size());
}

// ---- Decoding ------------------------------------------------------------------------------------------------------

// A message on which calls are tried, and a file that holds it.
struct input {
  std::vector<std::uint8_t> bytes;
  std::string path;

  tgm::archive memory() const { return tgm::archive::from_bytes(bytes); }
  tgm::archive file() const { return tgm::archive::open(path); }
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

template <class F> void with_object(const input &in, const tgm::decode_options &options, F run) {
  const tgm::object object = in.memory().object(0, 0);
  const auto raw = options.raw();
  tgm_read_t request = TGM_READ_INIT;
  request.options = &raw;
  check(run(object.raw(), &request));
}

template <class F> void with_variable(const input &in, const tgm::decode_options &options, F run) {
  const auto dataset = tgm::dataset::open(in.path);
  const auto raw = options.raw();
  tgm_read_t request = TGM_READ_INIT;
  request.options = &raw;
  check(run(dataset.raw(), &request));
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

numbers of_tensor(const tgm::tensor &tensor) {
  dlpack_tensor begin;
  std::memcpy(&begin, tensor.get(), sizeof begin);
  return as_numbers(begin.data, 16);
}

const std::vector<decode_call> &decode_calls() {
  using options = const tgm::decode_options &;
  static const std::vector<decode_call> calls = {
      {"tgm_async_file_decode_message_opts", order::of_options,
       [](const input &in, options o) {
         const auto raw = o.raw();
         return first_object(tgm::task<tgm::decoded_message>(ended(in, [&](tgm_async_file_t *file, auto... last) {
           return tgm_async_file_decode_message_opts(file, 0, &raw, last...);
         })).get());
       }},
      {"tgm_async_file_decode_object_opts", order::of_options,
       [](const input &in, options o) {
         const auto raw = o.raw();
         return first_object(tgm::task<tgm::decoded_message>(ended(in, [&](tgm_async_file_t *file, auto... last) {
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
      {"tgm_read_into", order::of_options,
       [](const input &in, options o) {
         numbers out(2);
         with_object(in, o, [&](const tgm_object_t *object, const tgm_read_t *request) {
           return tgm_read_into(object, request, out.data(), 16);
         });
         return out;
       }},
      {"tgm_read_f64", order::native,
       [](const input &in, options o) {
         numbers out(2);
         with_object(in, o, [&](const tgm_object_t *object, const tgm_read_t *request) {
           return tgm_read_f64(object, request, out.data(), 2);
         });
         return out;
       }},
      {"tgm_read_f32", order::native,
       [](const input &in, options o) {
         float narrow[2] = {0, 0};
         with_object(in, o, [&](const tgm_object_t *object, const tgm_read_t *request) {
           return tgm_read_f32(object, request, narrow, 2);
         });
         return numbers{narrow[0], narrow[1]};
       }},
      {"tgm_read_dlpack", order::native,
       [](const input &in, options o) {
         DLManagedTensorVersioned *made = nullptr;
         with_object(in, o, [&](const tgm_object_t *object, const tgm_read_t *request) {
           return tgm_read_dlpack(object, request, TGM_COPY_ALWAYS, &made);
         });
         const tgm::tensor owned(made);
         return of_tensor(owned);
       }},
      {"read::bytes", order::of_options,
       [](const input &in, options o) {
         const tgm::object object = in.memory().object(0, 0);
         const auto bytes = object.read().options(o).bytes();
         return as_numbers(bytes.data(), bytes.size());
       }},
      {"read::bytes of ranges", order::of_options,
       [](const input &in, options o) {
         const tgm::object object = in.file().object(0, 0);
         const auto bytes = object.read().options(o).ranges({{0, 1}, {1, 1}}).bytes();
         return as_numbers(bytes.data(), bytes.size());
       }},
      {"read::bytes_into of a box", order::of_options,
       [](const input &in, options o) {
         std::vector<std::uint8_t> bytes(16);
         const tgm::object object = tgm::archive::map(in.path).object(0, 0);
         object.read().options(o).select("0:2").bytes_into(bytes);
         return as_numbers(bytes.data(), bytes.size());
       }},
      {"read::values", order::native,
       [](const input &in, options o) {
         const tgm::object object = in.memory().object(0, 0);
         return object.read().options(o).values<double>();
       }},
      {"read::values of a file", order::native,
       [](const input &in, options o) {
         const tgm::object object = in.file().object(0, 0);
         return object.read().options(o).values<double>();
       }},
      {"read::values_into", order::native,
       [](const input &in, options o) {
         float out[2];
         const tgm::object object = in.file().object(0, 0);
         object.read().select("..").options(o).values_into(out);
         return numbers{out[0], out[1]};
       }},
      {"tgm_dataset_read_into", order::native,
       [](const input &in, options o) {
         numbers out(2);
         with_variable(in, o, [&](const tgm_dataset_t *dataset, const tgm_read_t *request) {
           return tgm_dataset_read_into(dataset, "v", request, out.data(), 16);
         });
         return out;
       }},
      {"tgm_dataset_read_f64", order::native,
       [](const input &in, options o) {
         numbers out(2);
         with_variable(in, o, [&](const tgm_dataset_t *dataset, const tgm_read_t *request) {
           return tgm_dataset_read_f64(dataset, "v", request, out.data(), 2);
         });
         return out;
       }},
      {"tgm_dataset_read_f32", order::native,
       [](const input &in, options o) {
         float narrow[2] = {0, 0};
         with_variable(in, o, [&](const tgm_dataset_t *dataset, const tgm_read_t *request) {
           return tgm_dataset_read_f32(dataset, "v", request, narrow, 2);
         });
         return numbers{narrow[0], narrow[1]};
       }},
      {"variable_read::values", order::native,
       [](const input &in, options o) {
         const auto dataset = tgm::dataset::open(in.path);
         return dataset.read("v").options(o).values<double>();
       }},
      {"variable_read::bytes of a box", order::native,
       [](const input &in, options o) {
         const auto dataset = tgm::dataset::open(in.path);
         const auto bytes = dataset.read("v").select("0:2").options(o).bytes();
         return as_numbers(bytes.data(), bytes.size());
       }},
      {"read::tensor", order::native,
       [](const input &in, options o) {
         const tgm::object object = in.memory().object(0, 0);
         const tgm::tensor made = object.read().options(o).tensor(tgm::copy::always);
         return of_tensor(made);
       }},
  };
  return calls;
}

// A message of 1 and NaN, which is masked, in the other byte order.
input foreign(const std::string &compression) {
  const numbers values = {swapped(1), swapped(kNan)};
  tgm::encode_options options;
  options.allow_nan = true;
  options.hashing = false;
  tgm::writer writer = tgm::writer::memory(options);
  writer.object(tgm::object_builder({2}, values).metadata("param", "v").byte_order(foreign_order()).compression(compression));
  const tgm::bytes made = writer.finish();
  input out{{made.begin(), made.end()}, scratch("options-foreign.tgm")};
  std::ofstream(out.path, std::ios::binary).write(reinterpret_cast<const char *>(made.data()), made.size());
  return out;
}

// A message of 1 and 2, stored as it is.
input plain() {
  const numbers values = {1, 2};
  tgm::writer writer = tgm::writer::memory();
  writer.object(tgm::object_builder({2}, values).metadata("param", "v"));
  const tgm::bytes made = writer.finish();
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

struct encode_call {
  std::string name;
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

// The bytes of a writer to memory.
std::vector<std::uint8_t> write(tgm_writer_t *writer, const numbers &values) {
  const std::unique_ptr<tgm_writer_t, void (*)(tgm_writer_t *)> owned(writer, tgm_writer_free);
  const std::uint64_t shape[1] = {3};
  tgm_object_input_t object{};
  object.struct_size = sizeof object;
  object.dtype = TGM_DTYPE_FLOAT64;
  object.ndim = 1;
  object.shape = shape;
  object.data = values.data();
  object.size = 24;
  check(tgm_writer_object(writer, &object));
  tgm_bytes_t out{nullptr, 0};
  check(tgm_writer_finish(writer, &out));
  return taken(out);
}

const std::vector<encode_call> &encode_calls() {
  using options = const tgm_encode_options_t &;
  static const std::vector<encode_call> calls = {
      {"tgm_writer_memory",
       [](const numbers &values, options o) {
         tgm_writer_t *writer = nullptr;
         check(tgm_writer_memory(&o, &writer));
         return write(writer, values);
       }},
      {"tgm_writer_create",
       [](const numbers &values, options o) {
         const std::string path = scratch("options-create.tgm");
         tgm_writer_t *writer = nullptr;
         check(tgm_writer_create(path.c_str(), &o, &writer));
         write(writer, values);
         return read(path);
       }},
      {"tgm_writer_append",
       [](const numbers &values, options o) {
         const std::string path = scratch("options-append.tgm");
         std::ofstream(path, std::ios::binary);
         tgm_writer_t *writer = nullptr;
         check(tgm_writer_append(path.c_str(), &o, &writer));
         write(writer, values);
         return read(path);
       }},
      {"tgm_writer_to",
       [](const numbers &values, options o) {
         std::vector<std::uint8_t> bytes;
         tgm_writer_t *writer = nullptr;
         check(tgm_writer_to(append, &bytes, &o, &writer));
         write(writer, values);
         return bytes;
       }},
      {"tgm_streaming_encoder_create_opts",
       [](const numbers &values, options o) {
         const std::string path = scratch("options-stream.tgm");
         tgm_streaming_encoder_t *encoder = nullptr;
         check(tgm_streaming_encoder_create_opts(path.c_str(), "{}", &o, &encoder));
         write(encoder, values);
         return read(path);
       }},
      {"tgm_async_streaming_encoder_create_opts",
       [](const numbers &values, options o) {
         const std::string path = scratch("options-async.tgm");
         tgm_async_task_t *task = nullptr;
         check(tgm_async_streaming_encoder_create_opts(path.c_str(), "{}", &o, nullptr, 0, &task));
         tgm::async_stream stream = tgm::task<tgm::async_stream>(task).get();
         stream.write(tgm::descriptor::of<double>({3}), values).get();
         stream.finish().get();
         return read(path);
       }},
      {"tgm_streaming_encoder_create_writer",
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
  std::function<std::vector<std::uint8_t>(const numbers &, const tgm::encode_options &)> run;
};

std::vector<std::uint8_t> write(tgm::writer writer, const numbers &values) {
  writer.object(tgm::object_builder({3}, values));
  const tgm::bytes out = writer.finish();
  return {out.begin(), out.end()};
}

const std::vector<wrapped_call> &wrapped_calls() {
  using options = const tgm::encode_options &;
  static const tgm::descriptor what = tgm::descriptor::of<double>({3});
  static const std::vector<wrapped_call> calls = {
      {"writer::memory", [](const numbers &values, options o) { return write(tgm::writer::memory(o), values); }},
      {"writer::create",
       [](const numbers &values, options o) {
         write(tgm::writer::create(scratch("options-create.tgm"), o), values);
         return read(scratch("options-create.tgm"));
       }},
      {"writer::append",
       [](const numbers &values, options o) {
         std::ofstream(scratch("options-append.tgm"), std::ios::binary);
         write(tgm::writer::append(scratch("options-append.tgm"), o), values);
         return read(scratch("options-append.tgm"));
       }},
      {"writer::to",
       [](const numbers &values, options o) {
         std::ostringstream sink;
         write(tgm::writer::to(sink, o), values);
         const std::string text = sink.str();
         return std::vector<std::uint8_t>(text.begin(), text.end());
       }},
      {"stream::stream of a path",
       [](const numbers &values, options o) {
         tgm::stream stream(scratch("options-stream.tgm"), "{}", o);
         stream.write(what, values);
         stream.finish();
         return read(scratch("options-stream.tgm"));
       }},
      {"async_stream::create",
       [](const numbers &values, options o) {
         tgm::async_stream stream = tgm::async_stream::create(scratch("options-async.tgm"), "{}", o).get();
         stream.write(what, values).get();
         stream.finish().get();
         return read(scratch("options-async.tgm"));
       }},
      {"stream::stream of an ostream",
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
  const tgm::object object = tgm::archive::from_bytes(bytes).object(0, 0);
  const std::string text(bytes.begin(), bytes.end());
  const std::size_t descriptor = text.find("ntensor");
  const bool is_first = descriptor < static_cast<std::size_t>(object.payload().data() - bytes.data());
  const std::string json = object.descriptor_json();
  const std::size_t masks = json.find("\"masks\"");
  std::string out = "hashed";
  try {
    tgm::check(bytes);
  } catch (const tgm::error &error) {
    out = error.code() == TGM_ERROR_MISSING_HASH ? "plain" : error.what();
  }
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
void try_encoding(const std::string &name,
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
    try_encoding(call.name,
                 [&](const numbers &values, const tgm::encode_options &options) { return call.run(values, options.raw()); });
  for (const wrapped_call &call : wrapped_calls())
    try_encoding(call.name, call.run);
}

TEST(Options, MetadataOfTheMessageIsWrittenByEveryCall) {
  tgm::metadata_builder more;
  more.set("by", "hand");
  for (const encode_call &call : encode_calls()) {
    SCOPED_TRACE(call.name);
    auto raw = tgm::encode_options().raw();
    raw.extra = more.raw();
    const auto bytes = call.run({1, 2, 3}, raw);
    const tgm::archive archive = tgm::archive::from_bytes(bytes);
    const tgm::metadata metadata = archive[0].metadata();
    EXPECT_EQ(metadata.get("extra.by").as_string(), "hand");
  }
}

} // namespace
