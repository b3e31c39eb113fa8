#include "cli/output/output_options.h"

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>

#include "core/quantity/text.h"

namespace plumbline {

void OutputOptions::declare(CLI::App& app, const char* what_out_writes) {
  out_.declare(app, what_out_writes);
  app.add_flag("--json", json_, "JSON on standard output, and nothing else there")->group("Output");
  app.add_flag("--stats", stats_, "how long this program took, on standard error")->group("Output");
}

void OutputOptions::require_writable(Terminal& terminal, const std::vector<const OutputFlag*>& own) const {
  std::vector<const OutputFlag*> flags{&out_};
  flags.insert(flags.end(), own.begin(), own.end());
  plumbline::require_writable(flags, json_ ? StandardOutput::json : StandardOutput::text, terminal);
}

void OutputOptions::write(const std::function<std::string(const std::filesystem::path& folder)>& plan_file,
                          Terminal& terminal) const {
  out_.write([&] { return plan_file(out_.folder()); }, terminal, narration());
}

void OutputOptions::lap(const std::string& phase) {
  const auto now = std::chrono::steady_clock::now();
  laps_.emplace_back(phase, std::chrono::duration<double>(now - lap_begin_).count());
  lap_begin_ = now;
}

void OutputOptions::print_stats(Terminal& terminal) const {
  if (!stats_) return;
  std::string line = "stats:";
  for (const auto& [phase, seconds] : laps_) line += " " + phase + " " + to_text(Seconds(seconds)) + ",";
  line.pop_back();
  terminal.note(line);
}

}  // namespace plumbline
