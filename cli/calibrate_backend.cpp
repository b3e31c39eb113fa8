#include "cli/calibrate_backend.h"

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <filesystem>

#include "cli/plan_view.h"
#include "cli/table.h"
#include "core/base/errors.h"
#include "core/cost/calibration_fields.h"
#include "core/io/calibration_json.h"
#include "core/io/kernel_table_json.h"
#include "core/io/stack_json.h"
#include "core/quantity/text.h"
#include "models/calibration_catalog.h"
#include "models/machine_catalog.h"
#include "models/this_computer.h"
#include "planner/calibrate/kernel_fit.h"
#include "runtime/measure/measure_kernels.h"

namespace plumbline {
namespace {

KernelTable measured(const std::stop_token& stop, Terminal& terminal) {
  const ComputerFacts facts = computer_facts();
  MeasureOptions options;
  options.cores = facts.cores;
  options.stop = stop;
  options.progress = [&](std::string_view what) {
    if (what.empty())
      terminal.clear_progress();
    else
      terminal.progress("measuring " + std::string(what));
  };
  KernelTable table = measure_kernels(options);
  table.machine = facts.model;
  table.device = "this-computer";
  if (stop.stop_requested()) throw EnvironmentError("calibrate: interrupted before all kernels were measured");
  return table;
}

KernelTable read_table(const std::string& file) {
  const Json json = read_json_file(file);
  return kernel_table_from_json(JsonPlace(json, file + ":"));
}

SoftwareStack stack_of(const std::string& name, const KernelFit& fit) {
  return {name,
          {},
          "Plumbline",
          std::nullopt,
          "this program's own runtime on this computer, as plan calibrate --backend cpu measured it",
          std::string(own_stack),
          {},
          fit.stack,
          fit.device.residuals,
          fit.device};
}

/// Those that the table decided.
std::vector<NamedCoefficient> measured_coefficients(const KernelFit& fit) {
  std::vector<NamedCoefficient> all;
  for (const NamedCoefficient& c : coefficients(fit.device))
    if (c.coefficient.kind == "measured") all.push_back(c);
  all.insert(all.end(), fit.stack.begin(), fit.stack.end());
  return all;
}

std::string fit_text(const KernelFit& fit, const KernelTable& kernels) {
  Table numbers({{"coefficient", Align::left}, {"value"}});
  for (const NamedCoefficient& c : measured_coefficients(fit))
    numbers.add_row({c.name, fixed(c.coefficient.value, c.coefficient.value < 0.01 ? 9 : 4)});
  Table residuals({{"kernels", Align::left}, {"entries"}, {"median error"}, {"worst"}});
  for (const KernelResidual& r : fit.residuals)
    residuals.add_row({r.kind, std::to_string(r.entries), per_cent_text(r.median), per_cent_text(r.worst)});
  std::string text = numbers.text(terminal_columns) + "\n" + residuals.text(terminal_columns);
  for (const CrowdTiming& crowd : kernels.crowds)
    if (crowd.threads > 1)
      text += std::to_string(crowd.threads) + " threads on " + std::to_string(kernels.cores) +
              " cores: a product takes " + fixed(crowd.slowdown, 2) + " times as long as alone\n";
  return text;
}

Json fit_json(const KernelFit& fit) {
  Json::Array residuals;
  for (const KernelResidual& r : fit.residuals)
    residuals.emplace_back(
        Json::Object{{"kind", r.kind}, {"entries", r.entries}, {"median", r.median}, {"worst", r.worst}});
  return Json::Object{{"coefficients", coefficients_json(measured_coefficients(fit))},
                      {"residuals", std::move(residuals)}};
}

}  // namespace

void BackendCalibration::declare(CLI::App& app) {
  const auto option = [&](const char* flag, std::optional<std::string>& value, const char* type, const char* text) {
    app.add_option(flag, value, text)->group("Measurement")->type_name(type);
  };
  option("--backend", backend_, "cpu", "measure the kernels of this computer and fit them instead of rows");
  option("--kernels", kernels_, "FILE", "with --backend: fit this table of kernels instead of measuring");
  option("--kernels-out", kernels_out_, "FILE", "with --backend: write the table of kernels");
}

void BackendCalibration::run(const std::optional<std::string>& out, bool json, const std::stop_token& stop,
                             Terminal& terminal) const {
  if (backend_ != "cpu")
    throw InputError({"--backend", "\"" + backend_.value_or("") + "\" is not built in", "cpu", ""});
  if (!out) throw InputError({"--out", "is missing", "a file for the calibrated stack", ""});
  const std::string name = std::filesystem::path(*out).stem().string();
  if (name.empty()) throw InputError({"--out", "\"" + *out + "\" names no file", "a file such as mine.json", ""});
  const KernelTable table = kernels_ ? read_table(*kernels_) : measured(stop, terminal);
  const Cluster computer = find_machine(this_computer_name);
  const KernelFit fit = fit_kernels(table, computer, CalibrationSet::shipped().of(slowest_device(computer), own_stack));
  if (kernels_out_) write_file_atomically(*kernels_out_, to_json_text(to_json(table)));
  write_file_atomically(*out, to_json_text(software_stack_json(stack_of(name, fit))));
  if (!json)
    terminal.remark("calibration written to " + *out + "; use it with --stack " + *out + " --machine this-computer");
  terminal.print(json ? to_json_text(fit_json(fit)) : fit_text(fit, table));
}

}  // namespace plumbline
