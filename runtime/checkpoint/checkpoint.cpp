#include "runtime/checkpoint/checkpoint.h"

#include <algorithm>
#include <charconv>

#include "core/base/errors.h"

namespace plumbline {
namespace {

constexpr std::string_view step_prefix = "step-";
constexpr std::string_view partial_suffix = ".partial";
constexpr const char* manifest_name = "manifest.json";

std::string padded(std::int64_t number, std::size_t width) {
  std::string text = std::to_string(number);
  if (text.size() < width) text.insert(0, width - text.size(), '0');
  return text;
}

std::filesystem::path complete_path(const std::filesystem::path& folder, std::int64_t step) {
  return folder / (std::string(step_prefix) + padded(step, 8));
}
/// The step of a folder's name; none for other names, such as partial ones.
std::optional<std::int64_t> step_of(const std::string& name) {
  if (!name.starts_with(step_prefix)) return std::nullopt;
  std::int64_t step = 0;
  const char* const end = name.data() + name.size();
  const auto [stop, error] = std::from_chars(name.data() + step_prefix.size(), end, step);
  return error == std::errc() && stop == end && step >= 0 ? std::optional(step) : std::nullopt;
}

[[noreturn]] void disk_failed(const std::filesystem::path& path, const std::error_code& error) {
  throw EnvironmentError(path.string() + ": " + error.message());
}

}  // namespace

void require_absent(const std::filesystem::path& folder, std::int64_t step) {
  const std::filesystem::path complete = complete_path(folder, step);
  std::error_code error;
  if (std::filesystem::exists(complete, error))
    throw InputError({complete.string(), "is there already", "a folder without this step", ""});
}

std::filesystem::path begun_checkpoint(const std::filesystem::path& folder, std::int64_t step) {
  return complete_path(folder, step).string() + std::string(partial_suffix);
}

std::filesystem::path begin_checkpoint(const std::filesystem::path& folder, std::int64_t step) {
  require_absent(folder, step);
  std::error_code error;
  std::filesystem::path partial = begun_checkpoint(folder, step);
  std::filesystem::remove_all(partial, error);
  if (error) disk_failed(partial, error);
  make_folder(partial);
  return partial;
}

void commit_checkpoint(const std::filesystem::path& folder, const CheckpointManifest& manifest) {
  const std::filesystem::path partial = begun_checkpoint(folder, manifest.step);
  (void)write_durable_file(partial / manifest_name, manifest_text(manifest));
  try {
    const Checkpoint written(partial);
  } catch (const InputError& error) {
    throw InternalError(std::string("a checkpoint just written does not fit together: ") + error.what());
  }
  rename_folder(partial, complete_path(folder, manifest.step));
}

void remove_partial_checkpoints(const std::filesystem::path& folder) {
  std::error_code error;
  std::vector<std::filesystem::path> partial;
  for (std::filesystem::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    std::string name = entry->path().filename().string();
    if (!name.ends_with(partial_suffix)) continue;
    name.resize(name.size() - partial_suffix.size());
    if (step_of(name)) partial.push_back(entry->path());
  }
  for (const std::filesystem::path& path : partial) {
    std::filesystem::remove_all(path, error);
    if (error) disk_failed(path, error);
  }
}

std::vector<std::int64_t> checkpoint_steps(const std::filesystem::path& folder) {
  std::vector<std::int64_t> steps;
  std::error_code error;
  for (std::filesystem::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error))
    if (const auto step = step_of(entry->path().filename().string())) steps.push_back(*step);
  if (error && error != std::errc::no_such_file_or_directory) disk_failed(folder, error);
  return steps;
}

std::optional<std::filesystem::path> latest_checkpoint(const std::filesystem::path& folder) {
  const std::vector<std::int64_t> steps = checkpoint_steps(folder);
  if (steps.empty()) return std::nullopt;
  return complete_path(folder, *std::max_element(steps.begin(), steps.end()));
}

Checkpoint::Checkpoint(std::filesystem::path path)
    : path_(std::move(path)), manifest_(read_manifest(path_ / manifest_name)) {
  for (std::size_t file = 0; file < manifest_.files.size(); ++file) open(file);
}

void Checkpoint::open(std::size_t file) {
  const StoredFile& stored = manifest_.files[file];
  const std::filesystem::path path = path_ / stored.name;
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error))
    throw InputError({path.string(), "is no file that can be read", "a file of the checkpoint", ""});
  const auto bytes = static_cast<std::int64_t>(std::filesystem::file_size(path, error));
  if (error) disk_failed(path, error);
  if (bytes != stored.written.bytes)
    throw InputError({path.string(), "has " + std::to_string(bytes) + " bytes",
                      std::to_string(stored.written.bytes) + ", as its manifest says", ""});
  headers_.emplace_back();
  if (!stored.name.ends_with(".safetensors")) return;
  headers_.back() = read_safetensors_header(path);
  for (std::size_t i = 0; i < headers_.back().tensors.size(); ++i) {
    const std::string& name = headers_.back().tensors[i].name;
    if (!places_.emplace(name, Place{file, i}).second)
      throw InputError({path.string(), "has the tensor " + name + " of another file", "each tensor once", ""});
  }
}

void Checkpoint::require_undamaged(std::size_t first, std::size_t stride) const {
  for (std::size_t file = first; file < manifest_.files.size(); file += stride) {
    const StoredFile& stored = manifest_.files[file];
    const std::filesystem::path path = path_ / stored.name;
    const std::string found = checksum_of_file(path);
    if (found != stored.written.checksum)
      throw InputError({path.string(), "is damaged: its checksum (XXH64) is " + found, stored.written.checksum,
                        "an earlier checkpoint"});
  }
}

const StoredTensor* Checkpoint::find(std::string_view name) const {
  const auto place = places_.find(name);
  return place == places_.end() ? nullptr : &headers_[place->second.file].tensors[place->second.tensor];
}

void Checkpoint::read(std::string_view name, std::int64_t first, std::span<std::byte> to) const {
  const auto place = places_.find(name);
  check(place != places_.end(), "the caller has found the tensor");
  const SafetensorsHeader& header = headers_[place->second.file];
  const StoredTensor& tensor = header.tensors[place->second.tensor];
  read_tensor(path_ / manifest_.files[place->second.file].name, header, tensor, first, to);
}

}  // namespace plumbline
