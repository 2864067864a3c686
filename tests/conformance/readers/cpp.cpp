// A reader for run.py out of the model of tgm.hpp:
//
//   c++ -std=c++17 cpp.cpp $(pkg-config --cflags --libs tgm) -o reader-cpp
//   python3 ../run.py ./reader-cpp --without metadata
#include "reader.h"
#include "tensogram.h"
#include "tgm.hpp"

#include <iostream>

namespace {

std::string digest_of(const tgm::object &object) {
  const std::vector<std::uint8_t> values = object.read().bytes();
  char digits[65];
  sha256(values.data(), values.size(), digits);
  std::string shape;
  for (const std::uint64_t dim : object.shape())
    shape += (shape.empty() ? "" : ", ") + std::to_string(dim);
  return std::string("{\"dtype\": \"") + tgm::name(object.dtype()) + "\", \"shape\": [" + shape +
         "], \"bytes\": " + std::to_string(values.size()) + ", \"sha256\": \"" + digits + "\"}";
}

// The objects of the message that bytes hold, or the refusal.
std::string digest_of(tgm::byte_span bytes, bool &is_wrong) {
  try {
    const tgm::archive archive = tgm::archive::from_bytes(bytes);
    std::string objects;
    for (const tgm::object &object : archive[0])
      objects += (objects.empty() ? "" : ", ") + digest_of(object);
    return "\"objects\": [" + objects + "]";
  } catch (const tgm::error &) {
    is_wrong = true;
    return "\"error\": \"refused\"";
  }
}

int digest(const file_bytes &file) {
  tgm_scan_result_t *found = nullptr;
  if (tgm_scan(file.data, file.size, &found) != TGM_ERROR_OK)
    return 1;
  bool is_wrong = false;
  std::size_t covered = 0;
  std::string messages;
  for (std::size_t i = 0; i < tgm_scan_count(found); i++) {
    const tgm_scan_entry_t entry = tgm_scan_entry(found, i);
    covered += entry.length;
    messages += (messages.empty() ? "" : ", ") + ("{\"offset\": " + std::to_string(entry.offset)) +
                ", \"length\": " + std::to_string(entry.length) + ", " +
                digest_of(tgm::byte_span(file.data + entry.offset, entry.length), is_wrong) + "}";
  }
  tgm_scan_free(found);
  std::cout << "{\"messages\": [" << messages << "]}\n";
  return is_wrong || covered != file.size;
}

int extract(const char *path, int count, char **words) {
  const auto number = [&](const char *name) { return std::stoul(option(count, words, name)); };
  const std::string range = option(count, words, "--range");
  const std::size_t colon = range.find(':');
  const tgm::archive archive = tgm::archive::open(path);
  const tgm::object object = archive.object(number("--message"), number("--object"));
  const std::vector<std::uint8_t> part =
      object.read().ranges({{std::stoull(range.substr(0, colon)), std::stoull(range.substr(colon + 1))}}).bytes();
  write_file(option(count, words, "--output"), part.data(), part.size());
  return 0;
}

} // namespace

int main(int count, char **words) try {
  const char *path = file_of(count, words);
  const std::string verb = count > 2 ? words[1] : "";
  if (verb == "validate") {
    const std::string report = tgm::validate_file(path, "full");
    std::cout << report << '\n';
    return has_errors(report.c_str());
  }
  if (verb == "extract")
    return extract(path, count, words);
  const file_bytes file = read_file(path);
  const int status = digest(file);
  free(file.data);
  return status;
} catch (const std::exception &error) {
  std::cerr << error.what() << '\n';
  return 1;
}
