// Checkpoints of several ranks: put together again, refused when a part is wrong, whole whenever a process dies.

#include "runtime/checkpoint/checkpoint.h"

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstring>
#include <numeric>
#include <random>

#include "core/base/errors.h"
#include "tests/catch.h"
#include "tests/temporary_folder.h"

namespace plumbline {
namespace {

template <class Error>
std::string refusal(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

// A 4 x 6 matrix in two boxes of 4 x 3 columns; the first box in two ranges of 5 and 7 of its 12 elements.
CheckpointManifest three_ranks(std::int64_t step) {
  CheckpointManifest manifest{step, 7, "abc", {0, 0, 0}, {}};
  manifest.tensors.push_back({"w",
                              StoredFormat::fp32,
                              {4, 6},
                              {{0, {0, 0}, {4, 3}, 0, 5}, {1, {0, 0}, {4, 3}, 5, 7}, {2, {0, 3}, {4, 3}, 0, 12}}});
  manifest.tensors.push_back(unsharded("step", StoredFormat::i64, {}, 1));
  return manifest;
}

/// Element (i, j) is 10 i + j + 1000 step.
float element(std::int64_t step, int i, int j) { return static_cast<float>(1000 * step + 10 * i + j); }

/// The elements [first, first + count) of the 4 x 3 box at column `column`.
std::vector<float> box_part(std::int64_t step, int column, int first, int count) {
  std::vector<float> values;
  for (int e = first; e < first + count; ++e) values.push_back(element(step, e / 3, column + e % 3));
  return values;
}

void write_step(const std::filesystem::path& folder, std::int64_t step) {
  begin_checkpoint(folder, step);
  CheckpointManifest manifest = three_ranks(step);
  const std::array parts{box_part(step, 0, 0, 5), box_part(step, 0, 5, 7), box_part(step, 3, 0, 12)};
  for (std::int32_t rank = 0; rank < 3; ++rank) {
    const auto& part = parts[static_cast<std::size_t>(rank)];
    std::vector<TensorToWrite> tensors{
        {"w", StoredFormat::fp32, {static_cast<std::int64_t>(part.size())}, std::as_bytes(std::span(part))}};
    if (rank == 1) tensors.push_back({"step", StoredFormat::i64, {}, std::as_bytes(std::span(&step, 1))});
    manifest.file_bytes[static_cast<std::size_t>(rank)] = write_shard(folder, step, rank, tensors);
  }
  commit_checkpoint(folder, manifest);
}

void check_step(const std::filesystem::path& folder, std::int64_t step) {
  const auto path = latest_checkpoint(folder);
  REQUIRE(path);
  const Checkpoint checkpoint(*path);
  CHECK(checkpoint.manifest().step == step);
  std::vector<float> whole(24);
  checkpoint.read_whole(*checkpoint.find("w"), std::as_writable_bytes(std::span(whole)));
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 6; ++j) REQUIRE(whole[static_cast<std::size_t>(6 * i + j)] == element(step, i, j));
  std::int64_t read = 0;
  checkpoint.read_whole(*checkpoint.find("step"), std::as_writable_bytes(std::span(&read, 1)));
  CHECK(read == step);
}

TEST_CASE("The latest complete checkpoint is put together from its slices") {
  const TemporaryFolder folder;
  CHECK_FALSE(latest_checkpoint(folder.path()));
  CHECK_FALSE(latest_checkpoint(folder / "none"));
  write_step(folder.path(), 9);
  write_step(folder.path(), 10);
  begin_checkpoint(folder.path(), 11);  // never finished
  check_step(folder.path(), 10);
  CHECK_THROWS_AS(begin_checkpoint(folder.path(), 10), InputError);
  write_step(folder.path(), 11);
  check_step(folder.path(), 11);
}

TEST_CASE("A checkpoint of another plan is refused with both") {
  const TemporaryFolder folder;
  write_step(folder.path(), 1);
  const Checkpoint checkpoint(*latest_checkpoint(folder.path()));
  CHECK_NOTHROW(checkpoint.require_plan("abc"));
  CHECK_THAT(refusal<InputError>([&] { checkpoint.require_plan("xyz"); }),
             Catch::Matchers::ContainsSubstring("is of a run with plan abc; expected plan xyz"));
}

std::string fault_after(const std::function<void(CheckpointManifest&)>& change) {
  CheckpointManifest manifest = three_ranks(1);
  REQUIRE_FALSE(manifest_fault(manifest));
  change(manifest);
  return manifest_fault(manifest).value_or("");
}

TEST_CASE("Manifests with holes, overlaps and strangers are refused") {
  using Catch::Matchers::ContainsSubstring;
  using M = CheckpointManifest;
  const auto slice = [](M& m, int i) -> TensorSlice& { return m.tensors[0].slices[static_cast<std::size_t>(i)]; };
  CHECK_THAT(fault_after([&](M& m) { slice(m, 1).count = 6; }), ContainsSubstring("leave a hole or overlap"));
  CHECK_THAT(fault_after([&](M& m) { slice(m, 1).first = 4; }), ContainsSubstring("leave a hole or overlap"));
  CHECK_THAT(fault_after([&](M& m) { slice(m, 1).count = 8; }), ContainsSubstring("leave a hole or overlap"));
  CHECK_THAT(fault_after([&](M& m) { slice(m, 2).begin[1] = 2; }), ContainsSubstring("overlap"));
  CHECK_THAT(fault_after([&](M& m) { slice(m, 2).begin[1] = 4; }), ContainsSubstring("outside of its shape"));
  CHECK_THAT(fault_after([&](M& m) { slice(m, 2).shape = {4}; }), ContainsSubstring("outside of its shape"));
  CHECK_THAT(fault_after([&](M& m) { m.tensors[0].slices.pop_back(); }), ContainsSubstring("in no slice"));
  CHECK_THAT(fault_after([&](M& m) { slice(m, 2).rank = 3; }), ContainsSubstring("a slice on rank 3"));
  CHECK_THAT(fault_after([&](M& m) { slice(m, 2).rank = 1; }), ContainsSubstring("two slices on rank 1"));
  CHECK_THAT(fault_after([&](M& m) { m.tensors[1].name.assign(1, 'w'); }), ContainsSubstring("is there twice"));
}

TEST_CASE("A manifest reads back as it was written") {
  const Json json = to_json(three_ranks(5));
  const CheckpointManifest again = manifest_from_json(JsonPlace(json, "m:"));
  CHECK(to_json_text(to_json(again)) == to_json_text(json));
}

TEST_CASE("A missing, cut or exchanged file of one rank is refused before anything is read") {
  const TemporaryFolder folder;
  write_step(folder.path(), 1);
  const std::filesystem::path step = *latest_checkpoint(folder.path());
  const auto read = [&] { const Checkpoint checkpoint(step); };
  const std::filesystem::path first = step / "rank-00000.safetensors";
  const std::filesystem::path last = step / "rank-00002.safetensors";
  std::filesystem::rename(last, step / "kept");
  CHECK_THAT(refusal<InputError>(read), Catch::Matchers::ContainsSubstring("rank-00002.safetensors: is no file"));
  std::filesystem::copy_file(first, last);
  CHECK_THAT(refusal<InputError>(read), Catch::Matchers::ContainsSubstring("as its manifest says"));
  std::filesystem::remove(last);
  std::filesystem::rename(step / "kept", last);
  CHECK(refusal<InputError>(read).empty());
  std::filesystem::resize_file(last, std::filesystem::file_size(last) - 1);
  CHECK_THAT(refusal<InputError>(read), Catch::Matchers::ContainsSubstring("rank-00002.safetensors"));
}

// The limit on the size of files stands for a full disk: write() fails in the same place, with another number.
TEST_CASE("When the disk is full, the error says so and the old file stays") {
  const TemporaryFolder folder;
  const std::vector<float> small(10, 1.0F);
  const std::vector<float> large(10000, 2.0F);
  const auto write = [&](const std::vector<float>& data) {
    const TensorToWrite tensor{"w", StoredFormat::fp32, {std::ssize(data)}, std::as_bytes(std::span(data))};
    write_safetensors(folder / "a.safetensors", std::span(&tensor, 1), {});
  };
  write(small);
  const auto old_handler = std::signal(SIGXFSZ, SIG_IGN);
  rlimit old_limit{};
  REQUIRE(::getrlimit(RLIMIT_FSIZE, &old_limit) == 0);
  const rlimit limit{4096, old_limit.rlim_max};
  REQUIRE(::setrlimit(RLIMIT_FSIZE, &limit) == 0);
  const std::string text = refusal<EnvironmentError>([&] { write(large); });
  ::setrlimit(RLIMIT_FSIZE, &old_limit);
  std::signal(SIGXFSZ, old_handler);
  CHECK_THAT(text, Catch::Matchers::ContainsSubstring("a.safetensors: cannot be written: File too large"));
  CHECK(read_safetensors_header(folder / "a.safetensors").data_bytes == 40);
  CHECK_FALSE(std::filesystem::exists(folder / "a.safetensors.partial"));
}

/// Writes one step after another until it is killed.
[[noreturn]] void write_for_ever(const std::filesystem::path& folder) {
  for (std::int64_t step = 1;; ++step) {
    const auto latest = latest_checkpoint(folder);
    write_step(folder, latest ? Checkpoint(*latest).manifest().step + 1 : step);
  }
}

TEST_CASE("A process killed at any moment leaves a whole checkpoint") {
  const TemporaryFolder folder;
  write_step(folder.path(), 0);
  std::mt19937 random(3);
  std::int64_t last = 0;
  for (int kill = 0; kill < 20 || (last == 0 && kill < 200); ++kill) {  // slow disks need longer for a first step
    const pid_t child = ::fork();
    REQUIRE(child >= 0);
    if (child == 0) {
      try {
        write_for_ever(folder.path());
      } catch (...) {
        ::_exit(1);
      }
    }
    ::usleep(5000 + random() % 100000);
    ::kill(child, SIGKILL);
    int status = 0;
    REQUIRE(::waitpid(child, &status, 0) == child);
    REQUIRE(WIFSIGNALED(status));
    const std::int64_t step = Checkpoint(*latest_checkpoint(folder.path())).manifest().step;
    CHECK(step >= last);
    check_step(folder.path(), step);
    last = step;
  }
  CHECK(last > 0);
}

}  // namespace
}  // namespace plumbline
