// tgm.hpp: what owns, what borrows, what throws. Environment: DATA has the test data, SCRATCH takes files.
#include "tgm.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <complex>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <numeric>
#include <set>
#include <sstream>
#include <thread>

namespace {

const std::vector<float> kFloats = {0, 1, 2, 3, 4, 5};
const std::vector<double> kDoubles = {1.5, -2, 3, 4};

std::string data(const std::string &name) { return std::string(std::getenv("DATA")) + "/" + name; }
std::string scratch(const std::string &name) { return std::string(std::getenv("SCRATCH")) + "/" + name; }

std::vector<std::uint8_t> read(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

tgm::encoder two_objects() {
  tgm::encoder encoder;
  encoder.extra("run", "7").extra("quo\"te", "\"x\"");
  encoder.add(tgm::descriptor::of<float>({2, 3}), kFloats, R"({"mars":{"param":"2t","levels":[500,850]}})");
  encoder.add(tgm::descriptor::of<double>({4}).compression("zstd").param("zstd_level", 3), kDoubles,
              R"({"mars":{"param":"tp"}})");
  return encoder;
}

tgm::byte_span span_of(const tgm::bytes &bytes) { return {bytes.data(), bytes.size()}; }

// The values of the first object, as a copy.
std::vector<double> first_of(const tgm::message &message) {
  const auto values = message[0].view<double>();
  return {values.begin(), values.end()};
}

template <class F> tgm::error thrown_by(F f) {
  try {
    f();
  } catch (const tgm::error &error) {
    return error;
  }
  ADD_FAILURE() << "nothing was thrown";
  return tgm::error(TGM_ERROR_OK, "");
}

TEST(Encode, WhatIsEncodedIsDecoded) {
  const tgm::bytes bytes = two_objects().encode();
  const tgm::message message = tgm::decode(span_of(bytes));
  ASSERT_EQ(message.size(), 2u);
  const auto floats = message[0].view<float>();
  EXPECT_EQ(std::vector<float>(floats.begin(), floats.end()), kFloats);
  const auto doubles = message[1].view<double>();
  EXPECT_EQ(std::vector<double>(doubles.begin(), doubles.end()), kDoubles);
  EXPECT_EQ(message[1].compression(), "zstd");
  EXPECT_EQ(message[1].param("zstd_level").as_int(), 3);
  EXPECT_EQ(message[0].digest().size(), 16u);
  EXPECT_EQ(message[0].shape()[1], 3u);
}

TEST(Encode, OptionsReachTheLibrary) {
  tgm::encoder encoder;
  const std::vector<double> values = {1, std::numeric_limits<double>::quiet_NaN()};
  encoder.add(tgm::descriptor::of<double>({2}), values);
  EXPECT_EQ(thrown_by([&] { encoder.encode(); }).code(), TGM_ERROR_ENCODING);
  tgm::encode_options options;
  options.allow_nan = true;
  options.hashing = false;
  const tgm::bytes bytes = encoder.encode(options);
  tgm::decode_options decoding;
  EXPECT_TRUE(std::isnan(first_of(tgm::decode(span_of(bytes)))[1]));
  decoding.restore_non_finite = false;
  EXPECT_EQ(first_of(tgm::decode(span_of(bytes), decoding))[1], 0);
  decoding.verify_hash = true;
  const tgm::error error = thrown_by([&] { tgm::decode(span_of(bytes), decoding); });
  EXPECT_EQ(error.code(), TGM_ERROR_MISSING_HASH);
  EXPECT_EQ(error.object_index(), 0u);
}

TEST(Encode, ValuesAreOfTheTypeThatTheDescriptorNames) {
  const std::vector<double> doubles = {1, 2};
  const std::vector<std::int64_t> integers = {1, 2};
  const std::vector<std::uint32_t> unsigneds = {1, 2};
  const std::vector<std::uint8_t> bytes(16);
  tgm::encoder encoder;
  tgm::stream stream(scratch("wrapper-types.tgm"));
  const auto refused = [&](const tgm::descriptor &what, const auto &values) {
    const tgm::error added = thrown_by([&] { encoder.add(what, values); });
    const tgm::error written = thrown_by([&] { stream.write(what, values); });
    return added.code() == TGM_ERROR_INVALID_ARG && written.code() == TGM_ERROR_INVALID_ARG;
  };
  // As many bytes, in another type.
  EXPECT_TRUE(refused(tgm::descriptor::of<float>({4}), doubles));
  EXPECT_TRUE(refused(tgm::descriptor::of<double>({2}), integers));
  EXPECT_TRUE(refused(tgm::descriptor::of<std::int32_t>({2}), unsigneds));
  EXPECT_TRUE(refused(tgm::descriptor::of<double>({2}), bytes));
  EXPECT_TRUE(refused(tgm::descriptor(tgm::dtype::float16, {8}), doubles));
  EXPECT_STREQ(thrown_by([&] { encoder.add(tgm::descriptor::of<float>({4}), doubles); }).what(),
               "the descriptor has type float32, the values have float64");
  // Types that C++ has under another name, or not at all.
  const std::array<std::complex<float>, 2> complexes = {{{1, 2}, {3, 4}}};
  const std::vector<std::uint16_t> halves = {0x3c00, 0x4000};
  const std::vector<std::uint8_t> bits = {0xa0};
  encoder.add(tgm::descriptor::of<std::complex<float>>({2}), complexes);
  encoder.add(tgm::descriptor(tgm::dtype::float16, {2}), halves);
  encoder.add(tgm::descriptor(tgm::dtype::bitmask, {3}), bits);
  encoder.add<float>(tgm::descriptor::of<float>({6}), kFloats);
  const tgm::message message = tgm::decode(encoder.encode());
  EXPECT_EQ(message[0].view<std::complex<float>>()[1], complexes[1]);
  EXPECT_EQ(message[1].view<std::uint16_t>()[1], 0x4000);
  EXPECT_EQ(message[2].view<std::uint8_t>()[0], 0xa0);
  EXPECT_EQ(message[3].view<float>()[5], 5);
}

TEST(Encode, LengthsAreChecked) {
  tgm::encoder encoder;
  encoder.add(tgm::descriptor::of<float>({7}), kFloats);
  EXPECT_THROW(encoder.encode(), tgm::error);
  EXPECT_THROW(tgm::stream(scratch("wrapper-length.tgm")).write(tgm::descriptor::of<float>({7}), kFloats), tgm::error);
  const std::uint64_t shape[1] = {7};
  tgm_object_input_t object{};
  object.struct_size = sizeof object;
  object.dtype = TGM_DTYPE_FLOAT32;
  object.ndim = 1;
  object.shape = shape;
  object.data = kFloats.data();
  object.size = kFloats.size() * sizeof(float);
  tgm_bytes_t out{nullptr, 0};
  EXPECT_NE(tgm_encode_objects(&object, 1, nullptr, nullptr, &out), TGM_ERROR_OK);
  for (const std::size_t count : {SIZE_MAX, SIZE_MAX / sizeof object, SIZE_MAX / 2})
    EXPECT_EQ(tgm_encode_objects(&object, count, nullptr, nullptr, &out), TGM_ERROR_INVALID_ARG);
  object.ndim = SIZE_MAX;
  EXPECT_EQ(tgm_encode_objects(&object, 1, nullptr, nullptr, &out), TGM_ERROR_INVALID_ARG);
  object.ndim = 1;
  object.size = SIZE_MAX;
  EXPECT_EQ(tgm_encode_objects(&object, 1, nullptr, nullptr, &out), TGM_ERROR_INVALID_ARG);
}

TEST(Errors, AnEmptyBufferIsTooShort) {
  const std::vector<std::uint8_t> nothing;
  for (const tgm::error &error :
       {thrown_by([&] { tgm::decode(nothing); }), thrown_by([&] { tgm::decode_object(nothing, 0); }),
        thrown_by([&] { tgm::check(nothing); }), thrown_by([&] { tgm::view view(nothing); })})
    EXPECT_EQ(error.code(), TGM_ERROR_FRAMING) << error.what();
  EXPECT_EQ(tgm::messages(nothing).size(), 0u);
}

TEST(Encode, PreEncodedBytesStayAsTheyAre) {
  tgm::encoder encoder;
  encoder.add(tgm::descriptor::of<double>({4}).simple_packing(12).compression("zstd"), kDoubles);
  const tgm::bytes packed = encoder.encode();
  const tgm::view view(span_of(packed));
  const tgm::message message = tgm::decode(span_of(packed));
  tgm::encoder again;
  again.add_raw(message[0].descriptor_json(), view[0].payload());
  const tgm::bytes bytes = again.encode_pre_encoded();
  const tgm::message decoded = tgm::decode(span_of(bytes));
  const auto values = decoded[0].view<double>();
  const auto expected = message[0].view<double>();
  EXPECT_TRUE(std::equal(values.begin(), values.end(), expected.begin(), expected.end()));

  tgm::stream stream(scratch("wrapper-pre.tgm"));
  stream.write_pre_encoded(message[0].descriptor_json(), view[0].payload());
  stream.finish();
  const auto streamed = read(scratch("wrapper-pre.tgm"));
  const tgm::view third{tgm::byte_span(streamed)};
  EXPECT_EQ(third[0].decode<double>(), view[0].decode<double>());
}

TEST(Object, AWrongTypeIsRefused) {
  const tgm::bytes bytes = two_objects().encode();
  const tgm::message message = tgm::decode(span_of(bytes));
  EXPECT_EQ(thrown_by([&] { message[0].view<double>(); }).code(), TGM_ERROR_ENCODING);
  EXPECT_EQ(thrown_by([&] { message[0].view<std::int32_t>(); }).code(), TGM_ERROR_ENCODING);
  EXPECT_EQ(tgm::dtype_of<std::uint16_t>, tgm::dtype::uint16);
  EXPECT_EQ(tgm::dtype_of<std::int64_t>, tgm::dtype::int64);
}

TEST(Object, AnIndexBeyondTheEndIsAnError) {
  const tgm::bytes bytes = two_objects().encode();
  const tgm::message message = tgm::decode(bytes);
  const tgm::error error = thrown_by([&] { message[2]; });
  EXPECT_EQ(error.code(), TGM_ERROR_OBJECT);
  EXPECT_STREQ(error.what(), "object 2 of 2: there is none of that number");
  EXPECT_THROW(message[SIZE_MAX], tgm::error);
  const tgm::view view(span_of(bytes));
  EXPECT_THROW(view[2], tgm::error);
  const tgm::messages messages(bytes);
  EXPECT_THROW(messages[1], tgm::error);
  const tgm::file file = tgm::file::open(data("realistic/surface-181x360.tgm"));
  EXPECT_THROW(file[1], tgm::error);
  EXPECT_THROW(file.query("mars.param=tp")[1], tgm::error);
  EXPECT_STREQ(tgm::name(static_cast<tgm::dtype>(-1)), "unknown");
}

TEST(Object, ForeignByteOrderIsSwappedOrRefused) {
  const auto bytes = read(data("dtypes/float32-big.tgm"));
  const auto swapped = tgm::decode(bytes);
  EXPECT_EQ(swapped[0].view<float>()[2], 1);
  tgm::decode_options options;
  options.native_byte_order = false;
  const auto message = tgm::decode(bytes, options);
  EXPECT_THROW(message[0].view<float>(), tgm::error);
  const tgm::view view{tgm::byte_span(bytes)};
  EXPECT_FALSE(view[0].is_native());
  EXPECT_THROW(view[0].view<float>(), tgm::error);
  EXPECT_EQ(view[0].stored().size(), view[0].size_bytes());
  EXPECT_EQ(view[0].decode<float>()[2], 1);
}

TEST(View, ValuesAreBorrowed) {
  const tgm::bytes bytes = two_objects().encode();
  const tgm::view view(span_of(bytes));
  std::size_t count = 0;
  for (const tgm::object_view object : view)
    count += object.num_elements();
  EXPECT_EQ(count, 10u);
  const auto stored = view[0].stored();
  EXPECT_GT(stored.data(), bytes.data());
  EXPECT_LT(stored.data(), bytes.data() + bytes.size());
  const tgm::error error = thrown_by([&] { view[1].stored(); });
  EXPECT_EQ(error.code(), TGM_ERROR_ENCODING);
  EXPECT_EQ(error.kind(), "NeedsDecoding");
  EXPECT_TRUE(error.offset().has_value());
  EXPECT_EQ(view[1].decode<double>(), kDoubles);
  EXPECT_EQ(view[1].as_double(), kDoubles);
  std::vector<float> narrow(4);
  view[1].as_float(narrow);
  EXPECT_EQ(narrow[1], -2.0f);
  std::vector<double> two(2);
  view[1].decode_range_into<double>(1, 2, two);
  EXPECT_EQ(two, (std::vector<double>{-2, 3}));
  std::vector<double> small(3);
  EXPECT_THROW(view[1].decode_into<double>(small), tgm::error);
  EXPECT_EQ(thrown_by([&] { view[2]; }).code(), TGM_ERROR_OBJECT);
}

TEST(View, ABoxIsSelectedAsInPython) {
  const tgm::bytes bytes = two_objects().encode();
  const tgm::view view(span_of(bytes));
  const auto column = view[0].select<float>("..., 1");
  EXPECT_EQ(column.shape, (std::vector<std::uint64_t>{2}));
  EXPECT_EQ(column.values, (std::vector<float>{1, 4}));
  EXPECT_THROW(view[0].select<float>("5"), tgm::error);
}

TEST(View, ThreadsShareAView) {
  const auto bytes = read(data("realistic/surface-181x360.tgm"));
  const tgm::view view{tgm::byte_span(bytes)};
  const auto expected = view[0].decode<double>();
  std::vector<std::thread> threads;
  std::vector<int> equal(4, 0);
  for (std::size_t i = 0; i < equal.size(); ++i)
    threads.emplace_back([&, i] { equal[i] = view[0].decode<double>() == expected; });
  for (auto &thread : threads)
    thread.join();
  EXPECT_EQ(std::accumulate(equal.begin(), equal.end(), 0), 4);
}

TEST(Metadata, ValuesAreFoundByPath) {
  const tgm::bytes bytes = two_objects().encode();
  const tgm::metadata metadata = tgm::decode(span_of(bytes)).metadata();
  EXPECT_EQ(metadata.get("mars.param").as_string(), "2t");
  EXPECT_EQ(metadata.get(1, "mars.param").as_string(), "tp");
  EXPECT_EQ(metadata.get("extra.run").as_int(), 7);
  EXPECT_EQ(metadata.get("run").as_double(), 7.0);
  EXPECT_EQ(metadata.get("run").as_bool(), std::nullopt);
  EXPECT_FALSE(metadata.get("absent"));
  EXPECT_EQ(metadata.get("mars.levels").size(), 2u);
  EXPECT_EQ(metadata.get("mars.levels")[1].as_uint(), 850u);
  EXPECT_EQ(metadata.extra()["quo\"te"].as_string(), "x");
  EXPECT_EQ(metadata.object(0).key(1), "mars");
  EXPECT_EQ(metadata.object(0)[1]["param"].as_string(), "2t");
  EXPECT_NE(metadata.json().find("\"run\":7"), std::string::npos);
}

TEST(Metadata, IsBuiltWithByteStrings) {
  const std::vector<std::uint8_t> raw = {0, 255};
  tgm::metadata_builder of_object, of_message;
  of_object.set_bytes("raw", raw).set("mars.number", 3u).set("mars.ratio", 0.5f);
  of_message.set("by", "hand").set("flag", true);
  tgm::encoder encoder = two_objects();
  encoder.metadata(of_object).extra(of_message);
  const tgm::bytes bytes = encoder.encode();
  const tgm::metadata metadata = tgm::decode(span_of(bytes)).metadata();
  const auto found = metadata.get(1, "raw").as_bytes();
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(std::vector<std::uint8_t>(found->begin(), found->end()), raw);
  EXPECT_EQ(metadata.get(1, "mars.number").as_int(), 3);
  EXPECT_EQ(metadata.get(1, "mars.ratio").as_double(), 0.5);
  EXPECT_EQ(metadata.get(1, "mars.param").as_string(), "tp");
  EXPECT_EQ(metadata.get("extra.by").as_string(), "hand");
  EXPECT_EQ(metadata.get("extra.flag").as_bool(), true);
  EXPECT_FALSE(metadata.get(0, "raw"));
  EXPECT_THROW(tgm::encoder().metadata(of_object), tgm::error);
}

TEST(Metadata, ThreadsShareMetadata) {
  const tgm::bytes bytes = two_objects().encode();
  const tgm::metadata metadata = tgm::decode(span_of(bytes)).metadata();
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&] {
      for (int k = 0; k < 1000; ++k) {
        EXPECT_STREQ(tgm_metadata_get_string(metadata.raw(), "mars.param"), "2t");
        EXPECT_NE(metadata.json(), "");
      }
    });
  for (auto &thread : threads)
    thread.join();
}

TEST(Iterators, ThreadsThatShareOneGetDifferentMessages) {
  const tgm::bytes one = two_objects().encode();
  std::vector<std::uint8_t> many;
  for (int i = 0; i < 100; ++i)
    many.insert(many.end(), one.begin(), one.end());
  tgm_buffer_iter_t *iterator = nullptr;
  ASSERT_EQ(tgm_buffer_iter_create(many.data(), many.size(), &iterator), TGM_ERROR_OK);
  std::vector<std::vector<const std::uint8_t *>> found(4);
  std::vector<std::thread> threads;
  for (auto &mine : found)
    threads.emplace_back([&mine, iterator] {
      const std::uint8_t *message = nullptr;
      std::size_t len = 0;
      while (tgm_buffer_iter_next(iterator, &message, &len) == TGM_ERROR_OK)
        mine.push_back(message);
    });
  for (auto &thread : threads)
    thread.join();
  std::set<const std::uint8_t *> all;
  for (const auto &mine : found)
    all.insert(mine.begin(), mine.end());
  EXPECT_EQ(all.size(), 100u);
  EXPECT_EQ(found[0].size() + found[1].size() + found[2].size() + found[3].size(), 100u);
  tgm_buffer_iter_free(iterator);
}

TEST(Errors, TellCodeKindAndOffset) {
  const std::vector<std::uint8_t> junk(40, 7);
  const tgm::error error = thrown_by([&] { tgm::decode(junk); });
  EXPECT_EQ(error.code(), TGM_ERROR_FRAMING);
  EXPECT_EQ(error.offset(), 0u);
  EXPECT_FALSE(error.kind().empty());
  EXPECT_STRNE(error.what(), "");
  const tgm::error io = thrown_by([&] { tgm::file::open(scratch("nothing")); });
  EXPECT_EQ(io.code(), TGM_ERROR_IO);
  EXPECT_EQ(io.offset(), std::nullopt);
}

TEST(Errors, DamageIsFound) {
  const tgm::bytes bytes = two_objects().encode();
  EXPECT_NO_THROW(tgm::check(span_of(bytes)));
  std::vector<std::uint8_t> damaged(bytes.begin(), bytes.end());
  const tgm::view view(span_of(bytes));
  const auto stored = view[0].stored();
  damaged[static_cast<std::size_t>(stored.data() - bytes.data())] ^= 1;
  const tgm::error error = thrown_by([&] { tgm::check(damaged); });
  EXPECT_EQ(error.code(), TGM_ERROR_HASH_MISMATCH);
  EXPECT_EQ(error.object_index(), 0u);
}

TEST(Messages, AreFoundBetweenOtherBytes) {
  const tgm::bytes bytes = two_objects().encode();
  std::vector<std::uint8_t> buffer(bytes.begin(), bytes.end());
  buffer.insert(buffer.end(), {1, 2, 3});
  buffer.insert(buffer.end(), bytes.begin(), bytes.end());
  std::size_t objects = 0;
  for (const tgm::byte_span message : tgm::messages(buffer))
    for (const tgm::object object : tgm::decode(message))
      objects += object.data().size() > 0;
  EXPECT_EQ(objects, 4u);
}

TEST(File, IsWrittenReadAndMapped) {
  const std::string path = scratch("wrapper.tgm");
  tgm::file file = tgm::file::create(path);
  file.append(two_objects());
  tgm::encode_options plain;
  plain.hashing = false;
  file.append(two_objects(), plain);
  EXPECT_EQ(file.size(), 2u);
  EXPECT_EQ(file.path(), path);
  std::size_t bytes = 0;
  for (const tgm::bytes &message : file)
    bytes += message.size();
  EXPECT_EQ(bytes, read(path).size());
  EXPECT_EQ(first_of(file.decode_object(0, 1)), kDoubles);
  const tgm::message second = file.decode(1);
  EXPECT_EQ(second[1].view<double>()[0], 1.5);
  const tgm::metadata metadata = file.metadata(1);
  EXPECT_EQ(metadata.get("run").as_int(), 7);

  tgm::file mapped = tgm::file::map(path);
  const tgm::view view = mapped.view(1);
  mapped = tgm::file::map(data("multi/three.tgm")); // the view keeps its own map
  EXPECT_EQ(view[1].decode<double>(), kDoubles);
  EXPECT_EQ(view.metadata().json(), metadata.json());
  EXPECT_THROW(mapped.append(two_objects()), tgm::error);
  EXPECT_THROW(file.view(0), tgm::error);
}

TEST(File, AnswersQueries) {
  const tgm::file file = tgm::file::open(data("realistic/surface-181x360.tgm"));
  const auto found = file.query("mars.param=tp");
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].object, 1u);
  const tgm::catalog catalog(file, {"mars.param", "dtype"});
  catalog.save(scratch("wrapper.catalogue"));
  const tgm::catalog again(scratch("wrapper.catalogue"));
  EXPECT_EQ(again.num_objects(), 3u);
  for (const tgm_object_ref_t &object : again.query("mars.param=tp"))
    EXPECT_EQ(object.object, 1u);
}

TEST(Stream, IsWrittenObjectByObject) {
  const std::string path = scratch("wrapper-stream.tgm");
  tgm::stream stream(path, R"({"run":7})");
  stream.preceder(R"({"step":6})");
  stream.write(tgm::descriptor::of<float>({2, 3}), kFloats);
  stream.write(tgm::descriptor::of<double>({4}).simple_packing(24).compression("lz4"), kDoubles);
  EXPECT_EQ(stream.size(), 2u);
  stream.finish(true);
  EXPECT_THROW(stream.finish(), tgm::error);
  const auto bytes = read(path);
  EXPECT_NO_THROW(tgm::check(bytes));
  const tgm::message message = tgm::decode(bytes);
  EXPECT_NEAR(message[1].view<double>()[1], -2, 1e-5);
  const tgm::metadata metadata = message.metadata();
  EXPECT_EQ(metadata.get(0, "step").as_int(), 6);
}

TEST(Stream, GoesToAnOstream) {
  std::ostringstream sink;
  tgm::stream stream(sink);
  stream.write(tgm::descriptor::of<double>({4}), kDoubles);
  EXPECT_THROW(stream.finish(true), tgm::error);
  stream.finish();
  const std::string text = sink.str();
  const tgm::byte_span bytes(reinterpret_cast<const std::uint8_t *>(text.data()), text.size());
  EXPECT_EQ(first_of(tgm::decode(bytes)), kDoubles);
  std::ostringstream broken;
  broken.setstate(std::ios::badbit);
  EXPECT_EQ(thrown_by([&] { tgm::stream refused(broken); }).code(), TGM_ERROR_IO);
}

TEST(Bytes, OwnTheirMemory) {
  tgm::bytes first = two_objects().encode();
  const auto size = first.size();
  tgm::bytes second = std::move(first);
  EXPECT_EQ(second.size(), size);
  EXPECT_TRUE(first.empty()); // NOLINT: a moved buffer is empty
  second = two_objects().encode();
  EXPECT_FALSE(second.empty());
}

} // namespace
