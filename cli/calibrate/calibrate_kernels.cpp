#include "cli/calibrate/calibrate_kernels.h"

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>

#include "cli/flags/flag_values.h"
#include "cli/output/plan_view.h"
#include "cli/output/table.h"
#include "core/base/errors.h"
#include "core/cost/calibration_fields.h"
#include "core/io/calibration_json.h"
#include "core/io/kernel_table_json.h"
#include "core/io/stack_json.h"
#include "core/quantity/text.h"
#include "models/calibration_catalog.h"
#include "models/machine_catalog.h"
#include "models/this_computer.h"
#include "planner/calibrate/device_fit.h"
#include "planner/calibrate/kernel_fit.h"
#include "planner/session/calibrate/calibrated_json.h"
#include "runtime/device/compute_backend.h"
#include "runtime/device/device_module.h"
#include "runtime/doctor/nvidia_facts.h"
#include "runtime/measure/computer_load.h"
#include "runtime/measure/measure_device.h"
#include "runtime/measure/measure_kernels.h"
#include "runtime/rendezvous/rendezvous.h"

namespace plumbline {
namespace {

/// A table that was measured, or was read, with what disturbed its measurement as far as that is known.
struct MeasuredTable {
  KernelTable table;
  double cores_of_others = 0;
  bool is_interrupted = false;  ///< before all kernels were measured
};

MeasuredTable measured(const std::stop_token& stop, Terminal& terminal) {
  const ComputerFacts facts = computer_facts();
  const std::optional<LoadReading> before = read_load();
  MeasureOptions options;
  options.cores = facts.cores;
  if (facts.cache.value() > 0) options.cache = facts.cache;
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
  const std::optional<LoadReading> after = read_load();
  return {std::move(table), before && after ? cores_of_others(*before, *after) : 0};
}

/// Of this computer's GPUs: kernels on the first, collectives among all.
MeasuredTable measured_gpu(MeasureExtent extent, const std::string& device_name, const std::stop_token& stop,
                           Terminal& terminal) {
  const DeviceModule& module = load_cuda_module();
  module.require_device();
  MeasureOptions options;
  options.extent = extent;
  options.stop = stop;
  options.progress = [&](std::string_view what) {
    if (!what.empty()) terminal.progress("measuring " + std::string(what));
  };
  KernelTable table = measure_device(*module.make_device(0), options);
  table.machine = computer_facts().model;
  table.device = device_name;
  try {
    const auto meet = [&]() -> MeasuredRanks::MakeGroups {
      const auto meeting = std::make_shared<LocalRendezvous>();
      return [&module, meeting](std::int32_t rank) { return module.make_groups(rank, *meeting); };
    };
    measure_device_collectives({module.require_nccl(), module.make_device, meet}, options, table);
  } catch (const EnvironmentError& error) {
    terminal.note(std::string("no collectives are measured: ") + error.what());
  }
  terminal.clear_progress();
  return {std::move(table), 0, stop.stop_requested()};
}

/// What is written and printed of a fit.
struct Fitted {
  SoftwareStack stack;
  std::vector<KernelResidual> residuals;
};

Fitted of_this_computer(const std::string& name, const KernelTable& table) {
  const Cluster computer = find_machine(this_computer_name);
  const KernelFit fit = fit_kernels(table, computer, CalibrationSet::shipped().of(slowest_device(computer), own_stack));
  return {{name,
           {},
           "Plumbline",
           std::nullopt,
           "this program's own runtime on this computer, as plan calibrate --backend cpu measured it",
           std::string(own_stack),
           {},
           fit.stack,
           fit.device.residuals,
           fit.device},
          fit.residuals};
}

Fitted of_gpu(const std::string& name, const KernelTable& table, const Device& device, const std::string& stack) {
  const CalibrationSet& shipped = CalibrationSet::shipped();
  const DeviceFit fit = fit_device(table, device, shipped.of(device, stack), shipped.axis_table());
  const SoftwareStack like = shipped.software_stack(stack);
  return {{name,
           {},
           like.framework,
           std::nullopt,
           like.name + " on " + device.name + " as its kernels were measured",
           like.name,
           {},
           {},
           like.residuals,
           fit.device},
          fit.residuals};
}

/// Those that the table decided.
std::vector<NamedCoefficient> measured_coefficients(const Fitted& fitted) {
  std::vector<NamedCoefficient> all;
  for (const NamedCoefficient& c : coefficients(*fitted.stack.device))
    if (c.coefficient.kind == "measured") all.push_back(c);
  all.insert(all.end(), fitted.stack.coefficients.begin(), fitted.stack.coefficients.end());
  return all;
}

std::string fit_text(const Fitted& fitted, const KernelTable& kernels) {
  Table numbers({{"coefficient", Align::left}, {"value"}});
  for (const NamedCoefficient& c : measured_coefficients(fitted))
    numbers.add_row({c.name, fixed(c.coefficient.value, c.coefficient.value < 0.01 ? 9 : 4)});
  Table residuals({{"kernels", Align::left}, {"entries"}, {"median error"}, {"worst"}});
  for (const KernelResidual& r : fitted.residuals)
    residuals.add_row({r.kind, std::to_string(r.entries), per_cent_text(r.median), per_cent_text(r.worst)});
  std::string text = numbers.text(terminal_columns()) + "\n" + residuals.text(terminal_columns());
  for (const CrowdTiming& crowd : kernels.crowds)
    if (crowd.threads > 1)
      text += std::to_string(crowd.threads) + " threads on " + std::to_string(kernels.cores) +
              " cores: a product takes " + fixed(crowd.slowdown, 2) + " times as long as alone\n";
  return text;
}

}  // namespace

void KernelCalibration::declare(CLI::App& app) {
  const auto option = [&](const char* flag, std::optional<std::string>& value, const char* type, const char* text) {
    app.add_option(flag, value, text)->group("Kernels")->type_name(type);
  };
  option("--backend", backend_, "cpu|cuda",
         "measure the kernels of this computer, or of its GPUs, and fit them instead of rows");
  app.add_flag("--brief", brief_, "with --backend cuda: a few small shapes, to see that it works")->group("Kernels");
  option("--kernels", kernels_, "FILE", "fit this table of kernels: of a GPU, or with --backend of this computer");
  kernels_out_.declare(app, "with --backend: write the table of kernels", "Kernels");
  option("--machine", machine_, "MACHINE",
         "with --kernels or --collectives: what was measured; absent: the device that the kernels name");
}

void KernelCalibration::require_only_its_flags(const CLI::App& app) const {
  if (backend_ && compute_backend_from_text(*backend_) == ComputeBackend::cuda)
    require_only(app, "--backend", {"--brief", "--kernels-out", "--machine", "--stack", "--out", "--json"});
  else if (backend_)
    require_only(app, "--backend", {"--kernels", "--kernels-out", "--out", "--json"});
  else
    require_only(app, "--kernels", {"--machine", "--stack", "--out", "--json"});
}

Device KernelCalibration::measured_device(const KernelTable& table) const {
  if (machine_) return slowest_device(find_machine(*machine_));
  std::vector<std::string> names;
  for (const Device& device : machine_parts().devices) {
    if (device.name == table.device) return device;
    names.push_back(device.name);
  }
  throw InputError({kernels_ ? *kernels_ + ":/device" : "--backend cuda",
                    "\"" + table.device.substr(0, 40) + "\" is not in the catalogue",
                    "a device of the catalogue, or --machine", nearest_text(table.device.substr(0, 40), names)});
}

/// The table is written before anything is fitted: minutes on a GPU are not to be lost.
void KernelCalibration::run_on_gpu(const KernelCalibrationAsked& asked, const std::stop_token& stop,
                                   Terminal& terminal) const {
  if (!kernels_out_ && !asked.out)
    throw InputError(
        {"--backend cuda", "is given without a file to write", "--kernels-out FILE, --out FILE, or both", ""});
  if (asked.out && !asked.stack)
    throw InputError({"--stack", "is missing", "the software stack that you train with (plan stacks)", ""});
  require_writable({&asked.out, &kernels_out_}, asked.json ? StandardOutput::json : StandardOutput::text, terminal);
  const auto devices = nvidia_driver(system_libraries()).devices;
  const std::string name = machine_          ? slowest_device(find_machine(*machine_)).name
                           : devices.empty() ? "unknown device"
                                             : devices.front().name;
  const MeasuredTable kernels = measured_gpu(brief_ ? MeasureExtent::brief : MeasureExtent::full, name, stop, terminal);
  const KernelTable& table = kernels.table;
  kernels_out_.write([&] { return to_json_text(to_json(table)); }, terminal, Narration::notes);
  if (kernels.is_interrupted)
    throw EnvironmentError("calibrate: interrupted before all kernels were measured" +
                           (kernels_out_
                                ? "; " + *kernels_out_.name() + " has " + std::to_string(table.products.size()) +
                                      " products and what came before them"
                                : std::string()));
  if (!asked.out) {
    if (!asked.json)
      terminal.print(std::to_string(table.products.size()) + " products, " + std::to_string(table.attention.size()) +
                     " of attention, " + std::to_string(table.memory_bound.size()) + " bound by memory or calls, " +
                     std::to_string(table.collectives.size()) + " collectives\n");
    return;
  }
  const Fitted fitted =
      of_gpu(asked.out.stem("a file for the calibrated stack"), table, measured_device(table), *asked.stack);
  asked.out.write([&] { return to_json_text(software_stack_json(fitted.stack)); }, terminal, Narration::notes);
  terminal.print(asked.json
                     ? to_json_text(kernel_fit_json(measured_coefficients(fitted), fitted.residuals, table.core_share))
                     : fit_text(fitted, table));
}

void KernelCalibration::run(const KernelCalibrationAsked& asked, const std::stop_token& stop,
                            Terminal& terminal) const {
  if (backend_ &&
      choice_of("--backend", *backend_, all_compute_backends, compute_backend_from_text) == ComputeBackend::cuda)
    return run_on_gpu(asked, stop, terminal);
  const std::string name = asked.out.stem("a file for the calibrated stack");
  if (!backend_ && !asked.stack)
    throw InputError({"--stack", "is missing", "the software stack that you train with (plan stacks)", ""});
  require_writable({&asked.out, &kernels_out_}, asked.json ? StandardOutput::json : StandardOutput::text, terminal);
  const MeasuredTable kernels = kernels_ ? MeasuredTable{read_kernel_table_file(*kernels_)} : measured(stop, terminal);
  const KernelTable& table = kernels.table;
  const Fitted fitted =
      backend_ ? of_this_computer(name, table) : of_gpu(name, table, measured_device(table), *asked.stack);
  kernels_out_.write([&] { return to_json_text(to_json(table)); }, terminal, Narration::silent);
  asked.out.write([&] { return to_json_text(software_stack_json(fitted.stack)); }, terminal, Narration::silent);
  const std::string busy = busy_words({table.core_share, kernels.cores_of_others, table.cores});
  if (!busy.empty()) terminal.note(busy);
  if (!asked.json && !asked.out.is_standard_output())
    terminal.note("calibration written to " + *asked.out.name() + "; use it with --stack " + *asked.out.name() +
                  (backend_ ? " --machine this-computer" : ""));
  terminal.print(asked.json
                     ? to_json_text(kernel_fit_json(measured_coefficients(fitted), fitted.residuals, table.core_share))
                     : fit_text(fitted, table));
}

}  // namespace plumbline
