#include "runtime/checkpoint/checkpoint.h"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstring>

#include "core/base/errors.h"
#include "runtime/checkpoint/durable_file.h"

namespace plumbline {
namespace {

constexpr std::string_view step_prefix = "step-";
constexpr const char* manifest_name = "manifest.json";

std::string padded(std::int64_t number, std::size_t width) {
  std::string text = std::to_string(number);
  if (text.size() < width) text.insert(0, width - text.size(), '0');
  return text;
}

std::filesystem::path complete_path(const std::filesystem::path& folder, std::int64_t step) {
  return folder / (std::string(step_prefix) + padded(step, 8));
}
std::filesystem::path partial_path(const std::filesystem::path& folder, std::int64_t step) {
  return complete_path(folder, step).string() + ".partial";
}
std::filesystem::path shard_path(const std::filesystem::path& checkpoint, std::int32_t rank) {
  return checkpoint / ("rank-" + padded(rank, 5) + ".safetensors");
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

CheckpointManifest read_manifest(const std::filesystem::path& path) {
  const Json json = read_json_file(path / manifest_name);
  return manifest_from_json(JsonPlace(json, (path / manifest_name).string() + ":"));
}

/// `visit(first element of the slice, first element of the tensor, elements)` for each run of neighbours.
template <class Visit>
void for_each_run(const ShardedTensor& tensor, const TensorSlice& slice, Visit visit) {
  const std::size_t dimensions = tensor.shape.size();
  const std::int64_t row = dimensions == 0 ? 1 : slice.shape.back();
  for (std::int64_t done = 0; done < slice.count;) {
    std::int64_t rest = slice.first + done;  // element of the box
    const std::int64_t count = std::min(row - rest % row, slice.count - done);
    std::int64_t target = 0;
    std::int64_t stride = 1;
    for (std::size_t d = dimensions; d-- > 0;) {
      target += (slice.begin[d] + rest % slice.shape[d]) * stride;
      rest /= slice.shape[d];
      stride *= tensor.shape[d];
    }
    visit(done, target, count);
    done += count;
  }
}

}  // namespace

void require_absent(const std::filesystem::path& folder, std::int64_t step) {
  const std::filesystem::path complete = complete_path(folder, step);
  std::error_code error;
  if (std::filesystem::exists(complete, error))
    throw InputError({complete.string(), "is there already", "a folder without this step", ""});
}

void begin_checkpoint(const std::filesystem::path& folder, std::int64_t step) {
  require_absent(folder, step);
  std::error_code error;
  const std::filesystem::path partial = partial_path(folder, step);
  std::filesystem::remove_all(partial, error);
  if (error) disk_failed(partial, error);
  std::filesystem::create_directories(partial, error);
  if (error) disk_failed(partial, error);
}

std::int64_t write_shard(const std::filesystem::path& folder, std::int64_t step, std::int32_t rank,
                         std::span<const TensorToWrite> tensors) {
  const std::filesystem::path path = shard_path(partial_path(folder, step), rank);
  write_safetensors(path, tensors, {{"rank", std::to_string(rank)}, {"step", std::to_string(step)}});
  return static_cast<std::int64_t>(std::filesystem::file_size(path));
}

void commit_checkpoint(const std::filesystem::path& folder, const CheckpointManifest& manifest) {
  const auto fault = manifest_fault(manifest);
  check(!fault, fault.value_or(""));
  const std::filesystem::path partial = partial_path(folder, manifest.step);
  {
    const std::string text = to_json_text(to_json(manifest));
    DurableFile file(partial / manifest_name);
    file.write(std::as_bytes(std::span(text)));
    file.commit();
  }
  try {
    const Checkpoint written(partial);
  } catch (const InputError& error) {
    throw InternalError(std::string("a checkpoint just written does not fit together: ") + error.what());
  }
  rename_folder(partial, complete_path(folder, manifest.step));
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

Checkpoint::Checkpoint(std::filesystem::path path) : path_(std::move(path)), manifest_(read_manifest(path_)) {
  for (std::int32_t rank = 0; rank < manifest_.ranks(); ++rank) {
    headers_.push_back(read_safetensors_header(shard_path(path_, rank)));
    check_file(rank);
  }
}

void Checkpoint::check_file(std::int32_t rank) const {
  const std::string file = shard_path(path_, rank).string();
  const SafetensorsHeader& header = headers_[static_cast<std::size_t>(rank)];
  const std::int64_t expected = manifest_.file_bytes[static_cast<std::size_t>(rank)];
  if (header.data_begin + header.data_bytes != expected)
    throw InputError({file, "has " + std::to_string(header.data_begin + header.data_bytes) + " bytes",
                      std::to_string(expected) + ", as its manifest says", ""});
  std::size_t slices = 0;
  for (const ShardedTensor& tensor : manifest_.tensors)
    for (const TensorSlice& slice : tensor.slices) {
      if (slice.rank != rank) continue;
      ++slices;
      const StoredTensor* const stored = header.find(tensor.name);
      if (stored == nullptr) throw InputError({file, "has no tensor " + tensor.name, "one, as its manifest says", ""});
      if (stored->format != tensor.format || stored->bytes != slice.count * bytes_of(tensor.format))
        throw InputError({file,
                          "its tensor " + tensor.name + " is " + std::to_string(stored->bytes) + " bytes of " +
                              std::string(to_text(stored->format)),
                          std::to_string(slice.count) + " elements of " + std::string(to_text(tensor.format)), ""});
    }
  if (slices != header.tensors.size())
    throw InputError({file, "has " + std::to_string(header.tensors.size()) + " tensors",
                      std::to_string(slices) + ", as its manifest says", ""});
}

void Checkpoint::require_plan(const std::string& fingerprint) const {
  if (manifest_.plan_fingerprint == fingerprint) return;
  throw InputError({path_.string(), "is of a run with plan " + manifest_.plan_fingerprint,
                    "plan " + fingerprint + ": resume with the plan that wrote it, and its config", ""});
}

const ShardedTensor* Checkpoint::find(std::string_view name) const {
  const auto found = std::find_if(manifest_.tensors.begin(), manifest_.tensors.end(),
                                  [&](const ShardedTensor& tensor) { return tensor.name == name; });
  return found == manifest_.tensors.end() ? nullptr : &*found;
}

void Checkpoint::read_slice(const ShardedTensor& tensor, const TensorSlice& slice, std::span<std::byte> to) const {
  const SafetensorsHeader& header = headers_[static_cast<std::size_t>(slice.rank)];
  const StoredTensor* const stored = header.find(tensor.name);
  check(stored != nullptr, "the constructor has found every slice");
  read_tensor(shard_path(path_, slice.rank), header, *stored, to);
}

void Checkpoint::read_whole(const ShardedTensor& tensor, std::span<std::byte> to) const {
  const std::int64_t width = bytes_of(tensor.format);
  check(static_cast<std::int64_t>(to.size()) == *element_count(tensor.shape) * width,
        "a tensor is read into a buffer of its size");
  for (const TensorSlice& slice : tensor.slices) {
    std::vector<std::byte> part(static_cast<std::size_t>(slice.count * width));
    read_slice(tensor, slice, part);
    for_each_run(tensor, slice, [&](std::int64_t from, std::int64_t target, std::int64_t count) {
      std::memcpy(to.data() + target * width, part.data() + from * width, static_cast<std::size_t>(count * width));
    });
  }
}

}  // namespace plumbline
