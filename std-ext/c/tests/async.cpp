// tgm_async.hpp: what tasks give, throw and outlive. Environment: SCRATCH takes files. Coroutines are tried with C++20.
#include "tgm_async.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <thread>

namespace {

using namespace std::chrono_literals;

const std::vector<double> kDoubles = {1.5, -2, 3, 4};
const tgm::descriptor kFour = tgm::descriptor::of<double>({4});

std::string scratch(const std::string &name) { return std::string(std::getenv("SCRATCH")) + "/" + name; }

template <class F> tgm::error thrown_by(F f) {
  try {
    f();
  } catch (const tgm::error &error) {
    return error;
  }
  ADD_FAILURE() << "nothing was thrown";
  return tgm::error(TGM_ERROR_OK, "");
}

// A file with one message: objects that begin with 0, 1, 2 ...
std::string numbered(const std::string &name, int count) {
  tgm::async_stream stream = tgm::async_stream::create(scratch(name), R"({"run":7})").get();
  std::vector<tgm::task<void>> tasks;
  for (int i = 0; i < count; ++i) {
    std::vector<double> values = kDoubles;
    values[0] = i;
    // The values are copied.
    tasks.push_back(stream.write(kFour, values));
  }
  auto end = stream.finish(true);
  for (auto &task : tasks)
    task.get();
  end.get();
  return stream.path();
}

TEST(Async, WhatIsWrittenIsRead) {
  const tgm::async_file file = tgm::async_file::open(numbered("async-read.tgm", 20)).get();
  EXPECT_EQ(file.path(), scratch("async-read.tgm"));
  auto size = file.size();
  auto bytes = file.read(0);
  auto metadata = file.metadata(0);
  auto message = file.decode(0);
  auto object = file.decode_object(0, 3);
  auto ranges = file.decode_range(0, 3, {{0, 2}, {3, 1}, {1, 0}});
  auto no_ranges = file.decode_range(0, 3, {});
  EXPECT_EQ(size.get(), 1u);
  EXPECT_EQ(bytes.get().str().substr(0, 8), "TENSOGRM");
  const tgm::metadata read = metadata.get();
  EXPECT_EQ(read.get("run").as_int(), 7);
  const tgm::decoded_message all = message.get();
  ASSERT_EQ(all.size(), 20u);
  for (std::size_t i = 0; i < all.size(); ++i)
    EXPECT_EQ(all[i].view<double>()[0], static_cast<double>(i));
  const tgm::decoded_message one = object.get();
  EXPECT_EQ(one[0].view<double>()[0], 3);
  EXPECT_FALSE(one[0].digest().empty());
  const std::vector<tgm::bytes> parts = ranges.get();
  ASSERT_EQ(parts.size(), 3u);
  EXPECT_EQ(parts[0].size(), 16u);
  EXPECT_EQ(std::memcmp(parts[1].data(), &kDoubles[3], 8), 0);
  EXPECT_TRUE(parts[2].empty());
  EXPECT_TRUE(no_ranges.get().empty());
}

TEST(Async, WrongArgumentsThrowAtOnceAndTheRestLater) {
  EXPECT_EQ(thrown_by([] { (void)tgm::async_file::open("\xff"); }).code(), TGM_ERROR_INVALID_ARG);
  EXPECT_EQ(thrown_by([] { (void)tgm::async_stream::create(scratch("x.tgm"), "["); }).code(), TGM_ERROR_METADATA);
  auto absent = tgm::async_file::open(scratch("async-absent.tgm"));
  EXPECT_EQ(thrown_by([&] { absent.get(); }).code(), TGM_ERROR_IO);
  EXPECT_EQ(thrown_by([&] { absent.get(); }).code(), TGM_ERROR_INVALID_ARG);
  auto moved = std::move(absent);
  EXPECT_EQ(thrown_by([&] { absent.get(); }).code(), TGM_ERROR_INVALID_ARG);
  EXPECT_FALSE(absent.is_ready());
  EXPECT_TRUE(moved.is_ready());
  const tgm::async_file file = tgm::async_file::open(numbered("async-wrong.tgm", 1)).get();
  EXPECT_EQ(thrown_by([&] { file.decode(1).get(); }).code(), TGM_ERROR_FRAMING);
  EXPECT_EQ(thrown_by([&] { file.decode_object(0, 1).get(); }).code(), TGM_ERROR_OBJECT);
  if (!tgm_has_feature("async-remote")) {
    EXPECT_EQ(thrown_by([] { (void)tgm::async_file::open_address("file:///x"); }).code(), TGM_ERROR_REMOTE);
    return;
  }
  const auto source = tgm::async_file::open_address("file://" + scratch("async-wrong.tgm")).get();
  EXPECT_EQ(source.size().get(), 1u);
  EXPECT_EQ(thrown_by([] { tgm::async_file::open_address("file:///none", {{"no such option", "1"}}).get(); }).code(),
            TGM_ERROR_REMOTE);
}

TEST(Async, FuturesGiveTheValueOrThrow) {
  std::future<tgm::async_file> opened = tgm::async_file::open(numbered("async-future.tgm", 2)).future();
  const tgm::async_file file = opened.get();
  std::vector<std::future<tgm::decoded_message>> decoded;
  for (int i = 0; i < 50; ++i)
    decoded.push_back(file.decode(0).future());
  for (auto &future : decoded)
    EXPECT_EQ(future.get().size(), 2u);
  auto failed = file.decode(9).future();
  EXPECT_EQ(thrown_by([&] { failed.get(); }).code(), TGM_ERROR_FRAMING);
  std::vector<tgm::bytes> parts = file.decode_range(0, 1, {{0, 4}}).future().get();
  EXPECT_EQ(parts[0].size(), 32u);
  // The future outlives what it was made of.
  std::future<void> end;
  {
    tgm::async_stream stream = tgm::async_stream::create(scratch("async-outlives.tgm")).get();
    (void)stream.write(kFour, kDoubles);
    end = stream.finish().future();
  }
  end.get();
  EXPECT_EQ(tgm::archive::open(scratch("async-outlives.tgm")).size(), 1u);
}

TEST(Async, CancelledBeforeItDoesNothing) {
  tgm::async_stream stream = tgm::async_stream::create(scratch("async-cancelled.tgm")).get();
  tgm::launch_options how;
  {
    tgm::cancellation cancellation;
    how.cancel = &cancellation;
    cancellation.cancel();
    EXPECT_TRUE(cancellation.is_cancelled());
    EXPECT_EQ(thrown_by([&] { stream.write(kFour, kDoubles, how).get(); }).code(), TGM_ERROR_CANCELLED);
    EXPECT_EQ(thrown_by([&] { stream.finish(false, how).future().get(); }).code(), TGM_ERROR_CANCELLED);
    EXPECT_EQ(thrown_by([&] { tgm::async_stream::create(scratch("async-never.tgm"), "{}", {}, how).get(); }).code(),
              TGM_ERROR_CANCELLED);
    EXPECT_FALSE(std::ifstream(scratch("async-never.tgm")).good());
  }
  EXPECT_EQ(stream.size(), 0u);
  stream.preceder(R"({"step":6})").get();
  stream.write_pre_encoded(kFour.json(), {reinterpret_cast<const std::uint8_t *>(kDoubles.data()), 32}).get();
  stream.write(tgm::descriptor::of<float>({0}), std::vector<float>()).get();
  EXPECT_EQ(stream.size(), 2u);
  how.cancel = nullptr;
  how.timeout = 1h;
  stream.finish(true, how).get();
  EXPECT_EQ(stream.size(), std::nullopt);
  const tgm::metadata metadata = tgm::archive::open(stream.path()).object(0, 0).metadata();
  EXPECT_EQ(metadata.get(0, "step").as_int(), 6);
}

TEST(Async, TasksEndInAnyOrderOnManyThreads) {
  const tgm::async_file file = tgm::async_file::open(numbered("async-threads.tgm", 10)).get();
  std::atomic<int> right{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      for (std::size_t i = 0; i < 10; ++i) {
        auto task = file.decode_object(0, i);
        if (i % 3 == 0)
          task.cancel();
        try {
          const tgm::decoded_message one = task.get();
          right += one[0].view<double>()[0] == static_cast<double>(i);
        } catch (const tgm::error &error) {
          right += error.code() == TGM_ERROR_CANCELLED;
        }
      }
    });
  for (auto &thread : threads)
    thread.join();
  EXPECT_EQ(right, 40);
}

#if defined(__cpp_impl_coroutine)
// A coroutine that runs by itself, and fulfils a promise.
struct fire {
  struct promise_type {
    fire get_return_object() { return {}; }
    std::suspend_never initial_suspend() { return {}; }
    std::suspend_never final_suspend() noexcept { return {}; }
    void return_void() {}
    void unhandled_exception() { std::terminate(); }
  };
};

fire sum_of_firsts(std::string path, std::promise<double> result) {
  try {
    const tgm::async_file file = co_await tgm::async_file::open(path);
    double sum = 0;
    const tgm::decoded_message all = co_await file.decode(0);
    for (std::size_t i = 0; i < all.size(); ++i) {
      const tgm::decoded_message one = co_await file.decode_object(0, i);
      sum += one[0].view<double>()[0];
    }
    result.set_value(sum);
  } catch (...) {
    result.set_exception(std::current_exception());
  }
}

TEST(Async, CoroutinesGoOnWhenTheirTaskEnds) {
  const std::string path = numbered("async-coroutine.tgm", 10);
  for (int round = 0; round < 20; ++round) {
    std::promise<double> result;
    auto sum = result.get_future();
    sum_of_firsts(path, std::move(result));
    EXPECT_EQ(sum.get(), 45);
  }
  std::promise<double> result;
  auto failed = result.get_future();
  sum_of_firsts(scratch("async-absent.tgm"), std::move(result));
  EXPECT_EQ(thrown_by([&] { failed.get(); }).code(), TGM_ERROR_IO);
}
#endif

} // namespace
