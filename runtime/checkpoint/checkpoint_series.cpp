#include "runtime/checkpoint/checkpoint_series.h"

#include <unistd.h>

#include "core/base/errors.h"
#include "core/quantity/text.h"

namespace plumbline {

std::int64_t CheckpointSeries::count() const { return every > 0 ? (steps + every - 1) / every : 1; }

bool CheckpointSeries::writes(std::int64_t number) const {
  const std::int64_t step = number - first_step;
  return step == steps || (every > 0 && step > 0 && step < steps && step % every == 0);
}

std::optional<std::string> missing_room(const CheckpointSeries& series, Bytes bytes_of_each, Bytes free) {
  const std::int64_t count = series.count();
  if (bytes_of_each.value() == 0 || count <= free.value() / bytes_of_each.value()) return std::nullopt;
  return series.folder.string() + ": has room for " + to_text(free) + "; " +
         (count == 1 ? "the checkpoint of this run needs " + to_text(bytes_of_each)
                     : std::to_string(count) + " checkpoints of this run need " + to_text(bytes_of_each) + " each");
}

void require_room(const CheckpointSeries& series, Bytes bytes_of_each) {
  std::error_code error;
  std::filesystem::create_directories(series.folder, error);
  if (error) throw EnvironmentError(series.folder.string() + ": " + error.message());
  if (::access(series.folder.c_str(), W_OK) != 0)
    throw EnvironmentError(series.folder.string() + ": cannot be written");
  for (const std::int64_t number : checkpoint_steps(series.folder))
    if (series.writes(number)) require_absent(series.folder, number);
  const std::filesystem::space_info space = std::filesystem::space(series.folder, error);
  if (error) return;  // a file system that does not say
  constexpr std::uintmax_t most = std::uintmax_t{1} << 62U;
  const Bytes free(static_cast<std::int64_t>(std::min(space.available, most)));
  if (const auto missing = missing_room(series, bytes_of_each, free)) throw EnvironmentError(*missing);
}

CheckpointManifest manifest_to_resume(const std::filesystem::path& path) {
  return read_manifest(latest_checkpoint(path).value_or(path) / "manifest.json");
}

Checkpoint checkpoint_to_resume(const std::filesystem::path& path) {
  return Checkpoint(latest_checkpoint(path).value_or(path));
}

}  // namespace plumbline
