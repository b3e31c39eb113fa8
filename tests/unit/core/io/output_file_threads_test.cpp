#include <atomic>
#include <filesystem>
#include <fstream>
#include <thread>

#include "core/io/output_file.h"
#include "tests/catch.h"
#include "tests/temporary_folder.h"

namespace plumbline {
namespace {

// Texts of different lengths: a mixture of two, or a part of one, has another length or another letter.
TEST_CASE("Two writers of one file leave one of their texts, and a reader never sees anything else") {
  constexpr int rounds = 500;
  const TemporaryFolder folder;
  const std::filesystem::path path = folder / "plan.json";
  const std::string one(70'000, '1');
  const std::string other(150'000, '2');
  write_output_file(path, one);
  std::atomic<int> writers{2};
  const auto write = [&](const std::string& text) {
    for (int round = 0; round < rounds; ++round) write_output_file(path, text);
    --writers;
  };
  std::thread first(write, one);
  std::thread second(write, other);
  std::int64_t broken = 0;
  do {
    std::ifstream file(path, std::ios::binary);
    const std::string seen{std::istreambuf_iterator<char>(file), {}};
    if (seen != one && seen != other) ++broken;
  } while (writers > 0);
  first.join();
  second.join();
  CHECK(broken == 0);
  CHECK(std::distance(std::filesystem::directory_iterator(folder.path()), {}) == 1);
}

}  // namespace
}  // namespace plumbline
