#include "cli/calibrate/calibrate_collectives.h"

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <filesystem>

#include "cli/output/plan_view.h"
#include "cli/output/table.h"
#include "core/base/errors.h"
#include "core/io/json_file.h"
#include "core/io/machine_json.h"
#include "core/io/timed_collectives.h"
#include "core/quantity/text.h"
#include "models/machine_catalog.h"
#include "planner/session/calibrate/calibrated_json.h"

namespace plumbline {
namespace {

/// "all-gather=FILE" or "FILE".
std::vector<TimedCollective> read_file(const std::string& text) {
  constexpr std::string_view expected = "the output of a program of nccl-tests, or JSON";
  for (const Collective kind : all_collectives) {
    const std::string prefix = std::string(to_text(kind)) + "=";
    if (!text.starts_with(prefix)) continue;
    const std::string file = text.substr(prefix.size());
    return read_timed_collectives(read_text_file(file, expected), file, kind);
  }
  return read_timed_collectives(read_text_file(text, expected), text, std::nullopt);
}

std::string fit_text(const LinkFit& fit, const LinkFactors& before) {
  Table factors({{"factor on the model of links", Align::left}, {"before"}, {"now"}});
  for (const LinkFactor factor : all_link_factors)
    if (fit.factors.number(factor))
      factors.add_row({std::string(to_text(factor)), fixed(before[factor], 3), fixed(fit.factors[factor], 3)});
  Table residuals(
      {{"collective", Align::left}, {"ranks"}, {"nodes"}, {"timings"}, {"before"}, {"fitted"}, {"left out"}});
  for (const LinkResidual& r : fit.residuals)
    residuals.add_row({std::string(to_text(r.kind)), std::to_string(r.ranks), std::to_string(r.nodes),
                       std::to_string(r.timings), per_cent_text(r.before), per_cent_text(r.fitted),
                       fit.residuals.size() > 1 ? per_cent_text(r.left_out) : ""});
  return factors.text(terminal_columns()) + "\nmedian error of the times of\n" + residuals.text(terminal_columns());
}

/// Which files, without their folders.
std::string source_text(const std::vector<std::string>& files, std::size_t timings) {
  std::string names;
  for (const std::string& file : files)
    names += (names.empty() ? "" : ", ") + std::filesystem::path(file).filename().string();
  return std::to_string(timings) + " timed collectives of " + names;
}

}  // namespace

void CollectiveCalibration::declare(CLI::App& app) {
  app.add_option(
         "--collectives", files_,
         "fit a machine's links to these outputs of nccl-tests (all-reduce=FILE where one does not tell what it "
         "tested) or JSON")
      ->group("Links")
      ->type_name("FILE");
}

void CollectiveCalibration::run(const CollectiveCalibrationAsked& asked, Terminal& terminal) const {
  if (!asked.machine)
    throw InputError({"--machine", "is missing", "the machine that was measured (plan machines)", ""});
  const std::string name = asked.out.stem("a file for the calibrated machine");
  MachineDocument document;
  document.cluster = find_machine(*asked.machine);
  std::vector<TimedCollective> timings;
  for (const std::string& file : files_) {
    const std::vector<TimedCollective> read = read_file(file);
    timings.insert(timings.end(), read.begin(), read.end());
  }
  const LinkFactors before = document.cluster->link_factors;
  const LinkFit fit = fit_links(timings, *document.cluster, source_text(files_, timings.size()));
  document.cluster->name = name;
  document.cluster->link_factors = fit.factors;
  asked.out.write([&] { return to_json_text(machine_json(document)); }, terminal, Narration::silent);
  terminal.print(asked.json ? to_json_text(to_json(fit, document)) : fit_text(fit, before));
  if (!asked.json && !asked.out.is_standard_output())
    terminal.note("machine written to " + *asked.out.name() + ": use it with --machine " + *asked.out.name());
}

}  // namespace plumbline
