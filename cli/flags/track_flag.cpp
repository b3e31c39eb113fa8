#include "cli/flags/track_flag.h"

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <chrono>
#include <filesystem>

#include "core/base/errors.h"
#include "core/io/output_file.h"

namespace plumbline {
namespace {

struct Target {
  const Tracker& tracker;
  std::string folder;
};

Target target_of(const std::string& text) {
  const std::size_t colon = text.find(':');
  const Tracker& found = tracker(text.substr(0, colon), "--track");
  if (colon == std::string::npos || colon + 1 == text.size())
    throw InputError(
        {"--track", "\"" + text.substr(0, 60) + "\" names no folder", std::string(found.name) + ":DIR", ""});
  return {found, text.substr(colon + 1)};
}

void write_below(const std::filesystem::path& folder, const TrackedFile& file) {
  const std::filesystem::path path = folder / file.path;
  if (file.is_shared && std::filesystem::exists(path)) return;
  require_writable_folder("--track", path.parent_path().string());
  write_output_file(path, file.bytes);
}

}  // namespace

Milliseconds time_now() {
  return std::chrono::duration_cast<Milliseconds>(std::chrono::system_clock::now().time_since_epoch());
}

Milliseconds time_of_file(const std::string& name) {
  std::error_code failed;
  const auto written = std::filesystem::last_write_time(name, failed);
  if (failed) return time_now();  // standard input
  return std::chrono::duration_cast<Milliseconds>(std::chrono::file_clock::to_sys(written).time_since_epoch());
}

void TrackFlag::declare(CLI::App& app) {
  app.add_option("--track", names_,
                 "write the run for an experiment tracker: tensorboard:DIR, mlflow:DIR or wandb:DIR; several times")
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
      ->expected(1)
      ->group("Output")
      ->type_name("TRACKER:DIR");
}

void TrackFlag::require_writable() const {
  for (const std::string& name : names_) require_writable_folder("--track", target_of(name).folder);
}

void TrackFlag::write(const TrackedRun& run, Terminal& terminal, Narration narration) const {
  for (const std::string& name : names_) {
    const Target target = target_of(name);
    TrackedRun placed = run;
    placed.place = std::filesystem::absolute(target.folder).lexically_normal().string();
    const std::vector<TrackedFile> files = target.tracker.files(placed);
    for (const TrackedFile& file : files) write_below(target.folder, file);
    if (narration == Narration::notes)
      terminal.note("run written for " + std::string(target.tracker.name) + ": " + std::string(target.tracker.opens) +
                    " " + target.folder);
  }
}

}  // namespace plumbline
