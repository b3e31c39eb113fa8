// A manifest reads back as it was written; any other byte in it is refused in its name.
#include "runtime/checkpoint/manifest.h"

#include <filesystem>
#include <fstream>
#include <limits>

#include "core/base/errors.h"
#include "tests/catch.h"
#include "tests/sanitized.h"
#include "tests/temporary_folder.h"

namespace plumbline {
namespace {

using Catch::Matchers::ContainsSubstring;

CheckpointManifest example() {
  CheckpointManifest manifest;
  manifest.step = 42;
  manifest.updates = 40;
  manifest.loss_scale = {65536, 3, 2};
  manifest.early_stopping = {2.5, 1};
  manifest.plan_fingerprint = "abc";
  manifest.settings = {{"seed", std::int64_t{7}}, {"learning-rate", 0.001}, {"lr-schedule", "cosine"}};
  manifest.data = {"corpus.txt", "text"};
  manifest.files = {{"model.safetensors", {100, "44bc2cf5ad770999"}}, {"config.json", {12, "ef46db3751d8e999"}}};
  return manifest;
}

std::string refusal(const std::filesystem::path& file, const std::string& text) {
  std::ofstream(file, std::ios::binary) << text;
  try {
    (void)read_manifest(file);
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

TEST_CASE("A manifest reads back as it was written") {
  const TemporaryFolder folder;
  const std::string text = manifest_text(example());
  REQUIRE(refusal(folder / "manifest.json", text).empty());
  CHECK(manifest_text(read_manifest(folder / "manifest.json")) == text);
}

TEST_CASE("A manifest of which one byte is another, is missing or is too much is refused in its name") {
  const TemporaryFolder folder;
  const std::filesystem::path file = folder / "manifest.json";
  const std::string text = manifest_text(example());
  for (std::size_t i = 0; i < text.size(); i += sanitized ? 7 : 1) {
    INFO("byte " << i);
    for (const int bit : {0, 5, 7}) {
      std::string damaged = text;
      damaged[i] = static_cast<char>(damaged[i] ^ (1 << bit));
      CHECK_THAT(refusal(file, damaged), ContainsSubstring(file.string()));
    }
    CHECK_THAT(refusal(file, text.substr(0, i) + text.substr(i + 1)), ContainsSubstring(file.string()));
    CHECK_THAT(refusal(file, text.substr(0, i) + " " + text.substr(i)), ContainsSubstring(file.string()));
  }
  CHECK_THAT(refusal(file, text + "\n"), ContainsSubstring(file.string()));
}

TEST_CASE("A changed step is refused, and says why") {
  const TemporaryFolder folder;
  std::string text = manifest_text(example());
  text.replace(text.find("42"), 2, "41");
  CHECK_THAT(
      refusal(folder / "manifest.json", text),
      ContainsSubstring("is damaged: its checksum is not that of its text; expected the file as it was written"));
}

// Sealed by who forged it: 2^63 - 1 and one more step would overflow.
TEST_CASE("A sealed manifest of more steps than all runs take is refused") {
  const TemporaryFolder folder;
  for (const char* const key : {"step", "updates", "good_steps", "skipped_steps", "without_improvement"}) {
    CheckpointManifest forged = example();
    constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
    if (key == std::string("step")) forged.step = most;
    if (key == std::string("updates")) forged.updates = most;
    if (key == std::string("good_steps")) forged.loss_scale.good_steps = most;
    if (key == std::string("skipped_steps")) forged.loss_scale.skipped_steps = most;
    if (key == std::string("without_improvement")) forged.early_stopping.without_improvement = most;
    CHECK_THAT(refusal(folder / "manifest.json", manifest_text(forged)), ContainsSubstring(key));
  }
}

TEST_CASE("A file is written over no link that somebody put in its place") {
  const TemporaryFolder folder;
  std::ofstream(folder / "victim") << "another's";
  std::filesystem::create_symlink(folder / "victim", folder / "file.partial");
  (void)write_durable_file(folder / "file", "own");
  CHECK(std::filesystem::file_size(folder / "victim") == 9);
  CHECK(std::filesystem::file_size(folder / "file") == 3);
  CHECK(!std::filesystem::exists(std::filesystem::symlink_status(folder / "file.partial")));
}

TEST_CASE("A manifest of the form before is refused with its version") {
  const TemporaryFolder folder;
  CHECK_THAT(refusal(folder / "manifest.json", R"({"format": "plumbline.checkpoint/1", "step": 5})"),
             ContainsSubstring("plumbline.checkpoint/2"));
}

TEST_CASE("Files outside of the checkpoint's folder, twice or without checksum are refused") {
  const auto fault = [](const std::string& name, const std::string& checksum) -> std::string {
    CheckpointManifest manifest = example();
    manifest.files.push_back({name, {1, checksum}});
    const Json json = to_json(manifest);
    try {
      (void)manifest_from_json(JsonPlace(json, "m:"));
    } catch (const InputError& error) {
      return error.what();
    }
    return "";
  };
  const std::string good(16, '0');
  CHECK(fault("optimizer.safetensors", good).empty());
  CHECK(fault("adapter/adapter_model.safetensors", good).empty());
  for (const char* name : {"../model.safetensors", "/etc/passwd", "", ".", "a/../b", "a//b", "a/"})
    CHECK_THAT(fault(name, good), ContainsSubstring("is no file of the checkpoint"));
  CHECK_THAT(fault("config.json", good), ContainsSubstring("is there twice"));
  CHECK_THAT(fault("optimizer.safetensors", "12"), ContainsSubstring("has no checksum"));
}

}  // namespace
}  // namespace plumbline
