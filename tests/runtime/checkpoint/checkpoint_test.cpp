// Checkpoints: read back, refused when any part is wrong, whole whenever a process dies.

#include "runtime/checkpoint/checkpoint.h"

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <filesystem>

#include <csignal>
#include <fstream>
#include <functional>
#include <random>

#include "core/base/errors.h"
#include "tests/catch.h"
#include "tests/temporary_folder.h"
#include "tests/written_tensors.h"

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

/// Element `i` of the 4 x 6 matrix in the checkpoint of a step.
float element(std::int64_t step, std::size_t i) { return static_cast<float>(100 * step) + static_cast<float>(i); }

StoredFile write_file(const std::filesystem::path& folder, const std::string& name,
                      const std::vector<TensorToWrite>& tensors) {
  return {name, write_safetensors(folder / name, tensors, {})};
}

void write_step(const std::filesystem::path& folder, std::int64_t step) {
  const std::filesystem::path begun = begin_checkpoint(folder, step);
  std::vector<float> values(24);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = element(step, i);
  CheckpointManifest manifest;
  manifest.step = step;
  manifest.settings = {{"seed", std::int64_t{7}}};
  manifest.files.push_back(
      write_file(begun, "model.safetensors", {{{"w", StoredFormat::fp32, {4, 6}}, std::as_bytes(std::span(values))}}));
  manifest.files.push_back(write_file(begun, "optimizer.safetensors",
                                      {{{"w.exp_avg", StoredFormat::i64, {}}, std::as_bytes(std::span(&step, 1))}}));
  manifest.files.push_back({"config.json", write_durable_file(begun / "config.json", "{}\n")});
  commit_checkpoint(folder, manifest);
}

void check_step(const std::filesystem::path& folder, std::int64_t step) {
  const auto path = latest_checkpoint(folder);
  REQUIRE(path);
  const Checkpoint checkpoint(*path);
  CHECK_NOTHROW(checkpoint.require_undamaged());
  CHECK(checkpoint.manifest().step == step);
  CHECK(checkpoint.tensors() == 2);
  REQUIRE(checkpoint.find("w") != nullptr);
  std::vector<float> part(20);
  checkpoint.read("w", 4 * sizeof(float), std::as_writable_bytes(std::span(part)));
  for (std::size_t i = 0; i < part.size(); ++i) REQUIRE(part[i] == element(step, i + 4));
  std::int64_t read = 0;
  checkpoint.read("w.exp_avg", 0, std::as_writable_bytes(std::span(&read, 1)));
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

TEST_CASE("What killed runs have left half-written is removed, and nothing else") {
  const TemporaryFolder folder;
  write_step(folder.path(), 1);
  begin_checkpoint(folder.path(), 2);
  std::ofstream(begin_checkpoint(folder.path(), 3) / "model.safetensors.partial") << "half";
  for (const char* other : {"step-x.partial", "notes.partial", "step-00000004"})
    std::filesystem::create_directories(folder / other);
  remove_partial_checkpoints(folder.path());
  for (const char* gone : {"step-00000002.partial", "step-00000003.partial"})
    CHECK_FALSE(std::filesystem::exists(folder / gone));
  for (const char* kept : {"step-00000001", "step-x.partial", "notes.partial", "step-00000004"})
    CHECK(std::filesystem::exists(folder / kept));
  CHECK_NOTHROW(remove_partial_checkpoints(folder / "none"));
}

std::string refusal_of(const std::filesystem::path& step) {
  return refusal<InputError>([&] { Checkpoint(step).require_undamaged(); });
}

TEST_CASE("A missing, cut or exchanged file is refused before anything is read") {
  const TemporaryFolder folder;
  write_step(folder.path(), 1);
  const std::filesystem::path step = *latest_checkpoint(folder.path());
  const std::filesystem::path file = step / "optimizer.safetensors";
  std::filesystem::rename(file, step / "kept");
  CHECK_THAT(refusal_of(step), Catch::Matchers::ContainsSubstring("optimizer.safetensors: is no file"));
  std::filesystem::copy_file(step / "model.safetensors", file);
  CHECK_THAT(refusal_of(step), Catch::Matchers::ContainsSubstring("as its manifest says"));
  std::filesystem::remove(file);
  std::filesystem::rename(step / "kept", file);
  CHECK(refusal_of(step).empty());
  std::filesystem::resize_file(file, std::filesystem::file_size(file) - 1);
  CHECK_THAT(refusal_of(step), Catch::Matchers::ContainsSubstring("optimizer.safetensors"));
}

TEST_CASE("A checkpoint of which any one byte is another is refused in the name of the file") {
  const TemporaryFolder folder;
  write_step(folder.path(), 1);
  const std::filesystem::path step = *latest_checkpoint(folder.path());
  for (const char* name : {"model.safetensors", "optimizer.safetensors", "config.json", "manifest.json"}) {
    const std::filesystem::path file = step / name;
    const auto size = static_cast<std::streamoff>(std::filesystem::file_size(file));
    for (std::streamoff i = 0; i < size; ++i) {
      INFO(name << ", byte " << i);
      std::fstream stream(file, std::ios::in | std::ios::out | std::ios::binary);
      stream.seekg(i);
      const char good = static_cast<char>(stream.get());
      const auto put = [&](char byte) {
        stream.seekp(i);
        stream.put(byte);
        stream.flush();
      };
      put(static_cast<char>(good ^ (1 << (i % 8))));
      CHECK_THAT(refusal_of(step), Catch::Matchers::ContainsSubstring(file.string()));
      put(good);
    }
  }
  CHECK(refusal_of(step).empty());
}

TEST_CASE("One tensor in two files is refused") {
  const TemporaryFolder folder;
  const std::filesystem::path begun = begin_checkpoint(folder.path(), 1);
  CheckpointManifest manifest;
  manifest.step = 1;
  const float value = 1;
  for (const char* name : {"a.safetensors", "b.safetensors"})
    manifest.files.push_back(
        write_file(begun, name, {{{"w", StoredFormat::fp32, {}}, std::as_bytes(std::span(&value, 1))}}));
  CHECK_THAT(refusal<InternalError>([&] { commit_checkpoint(folder.path(), manifest); }),
             Catch::Matchers::ContainsSubstring("has the tensor w of another file"));
}

// The limit on the size of files stands for a full disk: write() fails in the same place, with another number.
TEST_CASE("When the disk is full, the error says so and the old file stays") {
  const TemporaryFolder folder;
  const std::vector<float> small(10, 1.0F);
  const std::vector<float> large(10000, 2.0F);
  const auto write = [&](const std::vector<float>& data) {
    write_safetensors(folder / "a.safetensors",
                      {{{"w", StoredFormat::fp32, {std::ssize(data)}}, std::as_bytes(std::span(data))}}, {});
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
    remove_partial_checkpoints(folder);
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
