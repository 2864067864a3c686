// tgm.hpp: what is written is read, what owns, what borrows, what throws. Environment: DATA has the test data, SCRATCH takes files.
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

// A message of two objects.
void write_two(tgm::writer &writer) {
  writer.extra("run", 7);
  writer.extra_json(R"({"quo\"te": "x"})");
  writer.object(tgm::object_builder({2, 3}, kFloats).metadata_json(R"({"mars":{"param":"2t","levels":[500,850]}})"));
  writer.object(tgm::object_builder({4}, kDoubles).zstd(3).metadata("mars.param", "tp"));
}

tgm::bytes two_objects(const tgm::encode_options &options = {}) {
  tgm::writer writer = tgm::writer::memory(options);
  write_two(writer);
  return writer.finish();
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

// Writes one object, and reads it.
template <class T> std::vector<T> there_and_back(const tgm::object_builder &builder) {
  tgm::writer writer = tgm::writer::memory();
  writer.object(builder);
  const tgm::bytes bytes = writer.finish();
  const tgm::object object = tgm::archive::from_bytes(bytes).object(0, 0);
  return object.read().values<T>();
}

TEST(Model, WhatIsWrittenIsRead) {
  const tgm::bytes bytes = two_objects();
  const tgm::archive archive = tgm::archive::from_bytes(bytes);
  ASSERT_EQ(archive.size(), 1u);
  const tgm::message message = archive[0];
  ASSERT_EQ(message.size(), 2u);
  EXPECT_NO_THROW(message.verify());
  EXPECT_EQ(message.bytes().size(), bytes.size());
  EXPECT_EQ(message.view().data(), bytes.data());
  const tgm::object floats = message[0], doubles = message.object(1);
  EXPECT_EQ(floats.read().values<float>(), kFloats);
  EXPECT_EQ(doubles.read().values<double>(), kDoubles);
  EXPECT_EQ(doubles.compression(), "zstd");
  EXPECT_EQ(doubles.parameter("zstd_level").as_int(), 3);
  EXPECT_EQ(floats.shape()[1], 3u);
  EXPECT_EQ(floats.dtype(), tgm::dtype::float32);
  EXPECT_EQ(floats.element_count(), 6u);
  EXPECT_EQ(floats.byte_len(), 24u);
  EXPECT_EQ(floats.grain(), 1u);
  EXPECT_EQ(doubles.grain(), std::nullopt);
  EXPECT_EQ(doubles.place(), (std::pair<std::size_t, std::size_t>{0, 1}));
  std::size_t count = 0;
  for (const tgm::message each : archive)
    for (const tgm::object object : each)
      count += object.element_count();
  EXPECT_EQ(count, 10u);
}

TEST(Model, AnObjectIsTheSameWhateverItsSourceIs) {
  const std::string path = scratch("wrapper-sources.tgm");
  tgm::writer writer = tgm::writer::create(std::filesystem::path(path));
  write_two(writer);
  writer.finish();
  const std::vector<std::uint8_t> bytes = read(path);
  std::ifstream file(path, std::ios::binary);
  std::istringstream text(std::string(bytes.begin(), bytes.end()));
  std::vector<tgm::archive> archives;
  archives.push_back(tgm::archive::open(path));
  archives.push_back(tgm::archive::open(std::filesystem::path(path)));
  archives.push_back(tgm::archive::map(path));
  archives.push_back(tgm::archive::from_bytes(bytes));
  archives.push_back(tgm::archive::from_reader(file));
  archives.push_back(tgm::archive::from_reader(text));
  archives.push_back(tgm::archive::from_source(bytes.size(), [&](std::uint64_t offset, tgm::span<std::uint8_t> out) {
    std::copy_n(bytes.begin() + static_cast<std::ptrdiff_t>(offset), out.size(), out.begin());
  }));
  for (tgm::archive &archive : archives) {
    std::vector<tgm::object> found = archive.query("mars.param = tp");
    ASSERT_EQ(found.size(), 1u);
    const tgm::archive moved = std::move(archive);
    EXPECT_EQ(moved.size(), 1u);
    archive = tgm::archive::map(path); // the objects keep what they read from
    EXPECT_EQ(found[0].read().values<double>(), kDoubles);
    const tgm::metadata metadata = found[0].metadata();
    EXPECT_EQ(metadata.get("mars.param").as_string(), "tp");
    EXPECT_EQ(moved[0].metadata().json(), archive[0].metadata().json());
    EXPECT_NO_THROW(moved[0].verify());
  }
  const tgm::archive broken = tgm::archive::from_source(
      100, [](std::uint64_t, tgm::span<std::uint8_t>) { throw std::runtime_error("no"); });
  EXPECT_THROW(broken.size(), tgm::error);
  std::istringstream short_text("x");
  const tgm::archive nothing = tgm::archive::from_reader(short_text);
  EXPECT_EQ(nothing.size(), 0u);
  EXPECT_EQ(thrown_by([&] { tgm::archive::open(std::string("a\0b", 3)); }).code(), TGM_ERROR_INVALID_ARG);
}

TEST(Read, ABoxRangesAndAllOfAnyTypeGoAnywhere) {
  const tgm::bytes bytes = two_objects();
  const tgm::archive archive = tgm::archive::from_bytes(bytes);
  const tgm::object object = archive.object(0, 0), packed = archive.object(0, 1);
  const tgm::read all = object.read(), column = all.select("..., 1");
  EXPECT_EQ(column.shape(), (std::vector<std::uint64_t>{2}));
  EXPECT_EQ(column.size_bytes(), 8u);
  EXPECT_EQ(column.values<float>(), (std::vector<float>{1, 4}));
  EXPECT_EQ(all.ranges({{4, 2}, {0, 1}}).values<float>(), (std::vector<float>{4, 5, 0}));
  EXPECT_EQ(column.ranges({{0, 1}}).shape(), (std::vector<std::uint64_t>{1}));
  EXPECT_TRUE(all.ranges({}).values<float>().empty());
  EXPECT_EQ(all.ranges({}).select("0").values<float>().size(), 3u);
  EXPECT_EQ(all.values<double>()[5], 5.0);
  EXPECT_EQ(packed.read().values<float>()[1], -2.0f);
  std::array<float, 2> two{};
  column.values_into(two);
  EXPECT_EQ(two[1], 4);
  double three[3];
  all.select("1").values_into(three);
  EXPECT_EQ(three[2], 5);
  std::vector<double> four(4);
  packed.read().values_into(tgm::span<double>(four.data(), four.size()));
  EXPECT_EQ(four, kDoubles);
  std::vector<std::uint8_t> raw(24);
  all.bytes_into(raw);
  EXPECT_EQ(raw, all.bytes());
  EXPECT_THROW(packed.read().values_into(two), tgm::error);
  EXPECT_THROW(all.select("5").values<float>(), tgm::error);
  EXPECT_EQ(thrown_by([&] { all.values<std::int32_t>(); }).code(), TGM_ERROR_ENCODING);
  EXPECT_STREQ(thrown_by([&] { all.values<std::int32_t>(); }).what(),
               "the values are of type float32, and not of type int32");
}

TEST(Read, ValuesAreBorrowedWhereTheyLie) {
  const tgm::bytes bytes = two_objects();
  const tgm::archive archive = tgm::archive::from_bytes(bytes);
  const tgm::object object = archive.object(0, 0), packed = archive.object(0, 1);
  const tgm::byte_span payload = object.payload();
  EXPECT_GT(payload.data(), bytes.data());
  EXPECT_LT(payload.data(), bytes.data() + bytes.size());
  if (reinterpret_cast<std::uintptr_t>(payload.data()) % 4 == 0) {
    EXPECT_EQ(object.read().view<float>()[5], 5);
  }
  EXPECT_THROW(object.read().view<double>(), tgm::error);
  const tgm::error error = thrown_by([&] { packed.read().view<double>(); });
  EXPECT_EQ(error.code(), TGM_ERROR_ENCODING);
  EXPECT_EQ(error.kind(), "NeedsDecoding");
  EXPECT_TRUE(error.offset().has_value());
  tgm::tensor tensor = object.read().select("1").tensor(tgm::copy::always), other = std::move(tensor);
  EXPECT_NE(other.get(), nullptr);
  EXPECT_EQ(tensor.get(), nullptr); // NOLINT: a moved tensor is empty
  EXPECT_THROW(packed.read().tensor(tgm::copy::never), tgm::error);
}

TEST(Read, ForeignByteOrderIsSwappedOrRefused) {
  const auto bytes = read(data("dtypes/float32-big.tgm"));
  const tgm::object object = tgm::archive::from_bytes(bytes).object(0, 0);
  EXPECT_EQ(object.read().values<float>()[2], 1);
  EXPECT_EQ(object.read().values<double>()[2], 1);
  EXPECT_THROW(object.read().view<float>(), tgm::error);
  tgm::decode_options stored;
  stored.native_byte_order = false;
  const auto payload = object.payload();
  EXPECT_EQ(object.read().options(stored).bytes(), std::vector<std::uint8_t>(payload.begin(), payload.end()));
  EXPECT_EQ(object.read().options(stored).values<float>()[2], 1);
}

TEST(Read, ThreadsShareAnObject) {
  const tgm::object object = tgm::archive::map(data("realistic/surface-181x360.tgm")).object(0, 0);
  const auto expected = object.read().values<double>();
  std::vector<std::thread> threads;
  std::vector<int> equal(4, 0);
  for (std::size_t i = 0; i < equal.size(); ++i)
    threads.emplace_back([&, i] { equal[i] = object.read().values<double>() == expected; });
  for (auto &thread : threads)
    thread.join();
  EXPECT_EQ(std::accumulate(equal.begin(), equal.end(), 0), 4);
}

TEST(Write, TypesThatCppHasNot) {
  const std::array<std::complex<float>, 2> complexes = {{{1, 2}, {3, 4}}};
  const std::vector<std::uint16_t> halves = {0x3c00, 0x4000};
  const std::vector<std::uint8_t> bits = {0xa0};
  const tgm::byte_span half_bytes(reinterpret_cast<const std::uint8_t *>(halves.data()), 4);
  EXPECT_EQ(there_and_back<std::complex<float>>(tgm::object_builder({2}, complexes))[1], complexes[1]);
  const auto half = tgm::object_builder::from_bytes(tgm::dtype::float16, {2}, half_bytes);
  EXPECT_EQ(there_and_back<std::uint16_t>(half)[1], 0x4000);
  EXPECT_EQ(there_and_back<float>(half), (std::vector<float>{1, 2}));
  const auto mask = tgm::object_builder::from_bytes(tgm::dtype::bitmask, {3}, bits);
  EXPECT_EQ(there_and_back<std::uint8_t>(mask)[0], 0xa0);
  EXPECT_EQ(there_and_back<float>(mask), (std::vector<float>{1, 0, 1}));
  EXPECT_EQ(tgm::dtype_of<std::uint16_t>, tgm::dtype::uint16);
  EXPECT_EQ(tgm::dtype_of<std::int64_t>, tgm::dtype::int64);
  EXPECT_STREQ(tgm::name(static_cast<tgm::dtype>(-1)), "unknown");
}

TEST(Write, StagesChooseTheirParameters) {
  std::vector<float> field(1000);
  for (std::size_t i = 0; i < field.size(); ++i)
    field[i] = 280 + 15 * std::sin(static_cast<float>(i) / 50);
  const std::vector<double> wide(field.begin(), field.end());
  const auto near = [&](const tgm::object_builder &builder, double error) {
    const auto found = there_and_back<double>(builder);
    return std::equal(found.begin(), found.end(), field.begin(), field.end(),
                      [&](double a, float b) { return std::abs(a - static_cast<double>(b)) <= error; });
  };
  using builder = tgm::object_builder;
  EXPECT_TRUE(near(builder({1000}, field).szip(), 0));
  EXPECT_TRUE(near(builder({1000}, field).shuffle().szip(), 0));
  EXPECT_TRUE(near(builder({1000}, wide).shuffle().zstd(), 0));
  EXPECT_TRUE(near(builder({10, 100}, field).shuffle().lz4(), 0));
  EXPECT_TRUE(near(builder({1000}, field).simple_packing(12).szip(), 0.01));
  EXPECT_TRUE(near(builder({1000}, field).simple_packing(16).shuffle().zstd(1), 0.001));
  EXPECT_TRUE(near(builder({1000}, field).compress(tgm::compress::within(0.01)), 0.01));
  EXPECT_TRUE(near(builder({1000}, field).compress(tgm::compress::bits(24)), 1e-5));
  EXPECT_TRUE(near(builder({1000}, field).compress(tgm::compress::lossless()), 0));
  EXPECT_TRUE(near(builder({1000}, wide).zfp_accuracy(0.01), 0.01));
  EXPECT_TRUE(near(builder({1000}, wide).zfp_rate(32), 1e-4));
  EXPECT_TRUE(near(builder({1000}, wide).zfp_precision(32), 1e-4));
  if (tgm_has_feature("blosc2")) {
    EXPECT_TRUE(near(builder({1000}, field).blosc2("lz4", 5), 0));
  }
  if (tgm_has_feature("sz3")) {
    EXPECT_TRUE(near(builder({1000}, wide).sz3("abs", 0.01), 0.01));
  }
  const std::vector<std::uint8_t> bits = {0xff, 0x00};
  const auto mask = [&] { return builder::from_bytes(tgm::dtype::bitmask, {16}, bits); };
  EXPECT_EQ(there_and_back<std::uint8_t>(mask().rle()), bits);
  EXPECT_EQ(there_and_back<std::uint8_t>(mask().roaring()), bits);
  EXPECT_THROW(there_and_back<double>(builder({1000}, field).shuffle().compress(tgm::compress::lossless())),
               tgm::error);
  EXPECT_THROW(builder({1000}, field).byte_order("middle"), tgm::error);
  EXPECT_THROW(there_and_back<double>(builder({999}, field)), tgm::error);
}

TEST(Write, GoesToFilesAndStreams) {
  const std::filesystem::path path = scratch("wrapper.tgm");
  tgm::writer writer = tgm::writer::create(path);
  write_two(writer);
  writer.end_message();
  EXPECT_TRUE(writer.finish().empty());
  EXPECT_THROW(writer.finish(), tgm::error);
  tgm::encode_options plain;
  plain.hashing = false;
  tgm::writer more = tgm::writer::append(path, plain);
  write_two(more);
  more.finish();
  tgm::append_raw(path, two_objects());
  const tgm::archive archive = tgm::archive::open(path);
  ASSERT_EQ(archive.size(), 3u);
  EXPECT_EQ(thrown_by([&] { archive[1].verify(); }).code(), TGM_ERROR_MISSING_HASH);
  const tgm::metadata metadata = archive.object(2, 1).metadata();
  EXPECT_EQ(metadata.get("extra.run").as_int(), 7);
  std::ostringstream sink;
  tgm::writer to_stream = tgm::writer::to(sink);
  write_two(to_stream);
  to_stream.finish();
  const std::string text = sink.str();
  const tgm::byte_span bytes(reinterpret_cast<const std::uint8_t *>(text.data()), text.size());
  const tgm::object second = tgm::archive::from_bytes(bytes).object(0, 1);
  EXPECT_EQ(second.read().values<double>(), kDoubles);
  std::ostringstream broken;
  broken.setstate(std::ios::badbit);
  tgm::writer refused = tgm::writer::to(broken);
  write_two(refused);
  EXPECT_EQ(thrown_by([&] { refused.finish(); }).code(), TGM_ERROR_IO);
  EXPECT_THROW(tgm::writer::append(scratch("nothing")), tgm::error);
}

TEST(Object, AnIndexBeyondTheEndIsAnError) {
  const tgm::bytes bytes = two_objects();
  const tgm::archive archive = tgm::archive::from_bytes(bytes);
  EXPECT_EQ(thrown_by([&] { archive[0][2]; }).code(), TGM_ERROR_OBJECT);
  EXPECT_THROW(archive.object(0, SIZE_MAX), tgm::error);
  EXPECT_EQ(thrown_by([&] { archive[1].metadata(); }).code(), TGM_ERROR_FRAMING);
  EXPECT_THROW(archive[1].size(), tgm::error);
  EXPECT_THROW(archive.object(SIZE_MAX, 0), tgm::error);
}

TEST(Metadata, ValuesAreFoundByPath) {
  const tgm::bytes bytes = two_objects();
  const tgm::archive archive = tgm::archive::from_bytes(bytes);
  const tgm::metadata metadata = archive[0].metadata();
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
  tgm::metadata_builder of_message;
  of_message.set("by", "hand").set("flag", true);
  tgm::object_builder object({4}, kDoubles);
  object.metadata("mars.number", 3u).metadata("mars.ratio", 0.5f).metadata("mars.param", "tp");
  object.metadata_bytes("raw", raw);
  tgm::writer writer = tgm::writer::memory();
  writer.extra(of_message);
  writer.object(object);
  const tgm::bytes bytes = writer.finish();
  const tgm::archive archive = tgm::archive::from_bytes(bytes);
  const tgm::metadata metadata = archive[0].metadata();
  const auto found = metadata.get(0, "raw").as_bytes();
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(std::vector<std::uint8_t>(found->begin(), found->end()), raw);
  EXPECT_EQ(metadata.get(0, "mars.number").as_int(), 3);
  EXPECT_EQ(metadata.get(0, "mars.ratio").as_double(), 0.5);
  EXPECT_EQ(metadata.get(0, "mars.param").as_string(), "tp");
  EXPECT_EQ(metadata.get("extra.by").as_string(), "hand");
  EXPECT_EQ(metadata.get("extra.flag").as_bool(), true);
}

TEST(Metadata, ThreadsShareMetadata) {
  const tgm::bytes bytes = two_objects();
  const tgm::archive archive = tgm::archive::from_bytes(bytes);
  const tgm::metadata metadata = archive[0].metadata();
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
  const tgm::bytes one = two_objects();
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
  const std::vector<std::uint8_t> junk(40, 7), nothing;
  const tgm::error error = thrown_by([&] { tgm::check(junk); });
  EXPECT_EQ(error.code(), TGM_ERROR_FRAMING);
  EXPECT_EQ(error.offset(), 0u);
  EXPECT_FALSE(error.kind().empty());
  EXPECT_STRNE(error.what(), "");
  EXPECT_EQ(thrown_by([&] { tgm::check(nothing); }).code(), TGM_ERROR_FRAMING);
  EXPECT_EQ(tgm::archive::from_bytes(nothing).size(), 0u);
  const tgm::error io = thrown_by([&] { tgm::archive::open(scratch("nothing")); });
  EXPECT_EQ(io.code(), TGM_ERROR_IO);
  EXPECT_EQ(io.offset(), std::nullopt);
}

TEST(Errors, DamageIsFound) {
  const tgm::bytes bytes = two_objects();
  EXPECT_NO_THROW(tgm::check(bytes));
  EXPECT_NE(tgm::validate(bytes, "full").find("\"issues\":[]"), std::string::npos);
  std::vector<std::uint8_t> damaged(bytes.begin(), bytes.end());
  const tgm::object object = tgm::archive::from_bytes(bytes).object(0, 0);
  damaged[static_cast<std::size_t>(object.payload().data() - bytes.data())] ^= 1;
  const tgm::archive archive = tgm::archive::from_bytes(damaged);
  for (const tgm::error &error : {thrown_by([&] { tgm::check(damaged); }), thrown_by([&] { archive[0].verify(); })}) {
    EXPECT_EQ(error.code(), TGM_ERROR_HASH_MISMATCH);
    EXPECT_EQ(error.object_index(), 0u);
  }
  EXPECT_NE(tgm::validate(damaged).find("hash_mismatch"), std::string::npos);
  EXPECT_NE(tgm::validate_file(data("multi/three.tgm")).find("\"messages\""), std::string::npos);
  EXPECT_THROW(tgm::validate(bytes, "teleport"), tgm::error);
  const std::string a = "a";
  EXPECT_EQ(tgm::compute_hash({reinterpret_cast<const std::uint8_t *>(a.data()), 1}), "e6c632b61e964e1f");
}

TEST(Archive, MessagesAreFoundBetweenOtherBytes) {
  const tgm::bytes bytes = two_objects();
  std::vector<std::uint8_t> buffer(bytes.begin(), bytes.end());
  buffer.insert(buffer.end(), {1, 2, 3});
  buffer.insert(buffer.end(), bytes.begin(), bytes.end());
  const tgm::archive archive = tgm::archive::from_bytes(buffer);
  std::size_t objects = 0;
  for (const tgm::message message : archive)
    for (const tgm::object object : message)
      objects += object.read().bytes().size() > 0;
  EXPECT_EQ(objects, 4u);
}

TEST(Archive, AnswersQueries) {
  const tgm::archive archive = tgm::archive::open(data("realistic/surface-181x360.tgm"));
  const auto found = archive.query("mars.param=tp", 2);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].place().second, 1u);
  EXPECT_THROW(archive.query("="), tgm::error);
  std::string hint;
  EXPECT_TRUE(archive.query("parm=tp", 0, &hint).empty());
  EXPECT_NE(hint.find("no key parm; did you mean mars.param?"), std::string::npos) << hint;
  EXPECT_FALSE(archive.query("mars.param=tp", 0, &hint).empty());
  EXPECT_TRUE(hint.empty());
  const tgm::catalog catalog(archive, {"mars.param", "dtype"});
  catalog.save(scratch("wrapper.catalogue"));
  const tgm::catalog again(scratch("wrapper.catalogue"));
  EXPECT_EQ(again.num_objects(), 3u);
  for (const tgm_object_ref_t &place : again.query("mars.param=tp"))
    EXPECT_EQ(archive.object(place.message, place.object).place().second, 1u);
}

TEST(Dataset, IsReadByLabelsAndByIndices) {
  const std::string path = scratch("wrapper-dataset.tgm");
  tgm::writer writer = tgm::writer::create(path);
  for (const int step : {0, 6, 12}) {
    const std::vector<float> values(6, static_cast<float>(step));
    writer.object(tgm::object_builder({2, 3}, values).metadata("mars.param", "t").metadata("mars.step", step));
    writer.end_message();
  }
  writer.finish();
  const auto dataset = tgm::dataset::open(path);
  EXPECT_NE(dataset.json().find(R"("dimensions":["step")"), std::string::npos) << dataset.json();
  using shape = std::vector<std::uint64_t>;
  EXPECT_EQ(dataset.read("t").shape(), (shape{3, 2, 3}));
  EXPECT_EQ(dataset.read("t").select("step=6..12, step=12").shape(), (shape{2, 3}));
  EXPECT_EQ(dataset.read("t").select("1:, 0, 0").values<double>(), (std::vector<double>{6, 12}));
  std::array<float, 2> out{};
  dataset.read("t").select(":2, 1, 2").values_into(out);
  EXPECT_EQ(out, (std::array<float, 2>{0, 6}));
  EXPECT_EQ(dataset.read("t").bytes().size(), 72u);
  EXPECT_EQ(thrown_by([&] { dataset.read("u").shape(); }).code(), TGM_ERROR_METADATA);
  tgm::dataset_options options;
  options.only = "mars.step>=6";
  const auto late = tgm::dataset::open(path, options);
  EXPECT_EQ(late.read("t").shape(), (shape{2, 2, 3}));
  options.group = "none";
  options.profile = "cf";
  options.keep_single = options.ignore_catalogs = true;
  EXPECT_EQ(thrown_by([&] { tgm::dataset::open_many({path}, options); }).code(), TGM_ERROR_METADATA);
}

TEST(Stream, IsWrittenObjectByObject) {
  const std::string path = scratch("wrapper-stream.tgm");
  tgm::stream stream(path, R"({"run":7})");
  stream.preceder(R"({"step":6})");
  stream.write(tgm::descriptor::of<float>({2, 3}), kFloats);
  stream.write(tgm::descriptor::of<double>({4}).simple_packing(24).compression("lz4"), kDoubles);
  EXPECT_EQ(stream.size(), 2u);
  // A builder has stages and metadata that a descriptor does not have: of a stream of its own.
  tgm::stream other(scratch("wrapper-other-stream.tgm"));
  other.write(tgm::object_builder({2, 3}, kFloats).metadata("param", "2t").compress(tgm::compress::bits(12)));
  other.finish(true);
  const tgm::object first = tgm::archive::open(scratch("wrapper-other-stream.tgm")).object(0, 0);
  EXPECT_EQ(first.encoding(), "simple_packing");
  const tgm::metadata of_first = first.metadata();
  EXPECT_EQ(of_first.get("param").as_string(), "2t");
  EXPECT_EQ(thrown_by([&] { stream.write(tgm::descriptor::of<float>({4}), kDoubles); }).code(), TGM_ERROR_INVALID_ARG);
  EXPECT_STREQ(thrown_by([&] { stream.write(tgm::descriptor::of<float>({8}), kDoubles); }).what(),
               "the descriptor has type float32, the values have float64");
  EXPECT_THROW(stream.write(tgm::descriptor::of<float>({7}), kFloats), tgm::error);
  stream.finish(true);
  EXPECT_THROW(stream.finish(), tgm::error);
  const auto bytes = read(path);
  EXPECT_NO_THROW(tgm::check(bytes));
  const tgm::object packed = tgm::archive::from_bytes(bytes).object(0, 1);
  EXPECT_NEAR(packed.read().values<double>()[1], -2, 1e-5);
  const tgm::metadata metadata = tgm::archive::from_bytes(bytes).object(0, 0).metadata();
  EXPECT_EQ(metadata.get(0, "step").as_int(), 6);

  // Payloads that are encoded already stay as they are.
  tgm::stream again(scratch("wrapper-pre.tgm"));
  again.write_pre_encoded(packed.descriptor_json(), packed.payload());
  again.finish();
  const tgm::object copied = tgm::archive::open(scratch("wrapper-pre.tgm")).object(0, 0);
  EXPECT_EQ(copied.read().values<double>(), packed.read().values<double>());
}

TEST(Stream, GoesToAnOstream) {
  std::ostringstream sink;
  tgm::stream stream(sink);
  stream.write(tgm::descriptor::of<double>({4}), kDoubles);
  EXPECT_THROW(stream.finish(true), tgm::error);
  stream.finish();
  const std::string text = sink.str();
  const tgm::byte_span bytes(reinterpret_cast<const std::uint8_t *>(text.data()), text.size());
  const tgm::object object = tgm::archive::from_bytes(bytes).object(0, 0);
  EXPECT_EQ(object.read().values<double>(), kDoubles);
  std::ostringstream broken;
  broken.setstate(std::ios::badbit);
  EXPECT_EQ(thrown_by([&] { tgm::stream refused(broken); }).code(), TGM_ERROR_IO);
}

TEST(Bytes, OwnTheirMemory) {
  tgm::bytes first = two_objects();
  const auto size = first.size();
  tgm::bytes second = std::move(first);
  EXPECT_EQ(second.size(), size);
  EXPECT_TRUE(first.empty()); // NOLINT: a moved buffer is empty
  second = two_objects();
  EXPECT_FALSE(second.empty());
}

} // namespace
