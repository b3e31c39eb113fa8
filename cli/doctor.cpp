// plan doctor: what this computer has, what each backend of plan run could run on it, and what is missing.
#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>

#include "cli/output/table.h"
#include "cli/verb.h"
#include "core/base/escape.h"
#include "core/io/json.h"
#include "core/quantity/text.h"
#include "runtime/doctor/computer_report_json.h"
#include "runtime/mpi/mpi_session.h"

namespace plumbline {
namespace {

/// A fact under its name, wrapped; what the computer says is made printable.
std::string fact(const std::string& name, const std::string& value) {
  constexpr std::size_t indent = 16;
  std::string line = "  " + name;
  line.resize(std::max(indent, line.size() + 1), ' ');
  return line + wrapped(printable(value), terminal_columns(), indent, line.size()) + "\n";
}

std::string computer_text(const ComputerFacts& computer) {
  return "This computer\n" +
         fact("CPU", computer.model + ", " + std::to_string(computer.cores) +
                         (computer.cores == 1 ? " core" : " cores") + ", " + computer.vector_units) +
         fact("memory", to_text(computer.memory));
}

std::string driver_text(const NvidiaDriver& driver) {
  if (!driver.is_installed) return "none: " + driver.problem;
  std::string text = driver.release.empty() ? "installed" : driver.release;
  if (driver.cuda.major > 0) text += ", for CUDA up to " + to_text(driver.cuda);
  return driver.problem.empty() ? text : text + ": " + driver.problem;
}

std::string device_text(const NvidiaDevice& device) {
  return device.name + ", " + to_text(device.memory) + ", compute capability " + to_text(device.compute_capability) +
         ", " + std::to_string(device.multiprocessors) + " multiprocessors";
}

std::string library_text(const NvidiaLibrary& library) {
  if (library.version.empty()) return "none: " + library.problem;
  return library.version + (library.file.empty() ? "" : ", " + library.file);
}

std::string nvidia_text(const ComputerFound& found) {
  std::string text = "\nNVIDIA\n" + fact("driver", driver_text(found.driver));
  for (const NvidiaDevice& device : found.driver.devices)
    text += fact("device " + std::to_string(&device - found.driver.devices.data()), device_text(device));
  for (const NvidiaLibrary& library : found.libraries) text += fact(library.name, library_text(library));
  if (!found.module.problem.empty()) return text + fact("module", "none: " + found.module.problem);
  return text + fact("module", found.module.file) +
         fact("attention", found.module.cudnn_problem.empty()
                               ? "of cuDNN from compute capability 9.0 on, else our own kernels"
                               : "our own kernels alone: " + found.module.cudnn_problem);
}

std::string place_text(const LaunchFacts& launch) {
  if (!launch.problem.empty()) return launch.problem;
  if (!launch.place) return "by no launcher";
  return "rank " + std::to_string(launch.place->rank) + " of " + std::to_string(launch.place->ranks) + ", by " +
         launch.place->launcher;
}

std::string launch_text(const LaunchFacts& launch) {
  std::string text = "\nLaunch\n" + fact("this process", place_text(launch)) +
                     fact("MPI", launch.has_mpi ? "built in" : "not in this build");
  for (const auto& [name, file] : launch.programs) text += fact(name, file);
  return text;
}

std::string report_text(const ComputerReport& report) {
  std::string text = computer_text(report.found.computer) + nvidia_text(report.found) +
                     launch_text(report.found.launch) + "\nWhat plan run --backend could run\n";
  for (const BackendVerdict& one : report.backends) text += fact(one.name, (one.can_run ? "yes: " : "no: ") + one.text);
  if (report.missing.empty()) return text;
  text += "\nMissing, and how to get it\n";
  for (const MissingPart& one : report.missing)
    text += "  " + wrapped(one.what + " (for " + one.needed_for + "): " + one.command, terminal_columns(), 4, 2) + "\n";
  return text;
}

class DoctorVerb : public Verb {
 public:
  [[nodiscard]] VerbWords words() const override {
    return {"doctor", "what this computer has to run plans with, and what is missing", "[--json]",
            "Asks the system, NVIDIA's driver and libraries, and the launcher's variables what is here; says what each "
            "backend of plan run could run, what is missing for it, and the command that gets it. Nothing is changed, "
            "and the exit code is 0 whatever is found.",
            "plan doctor"};
  }
  void declare(CLI::App& app) override {
    app.add_flag("--json", json_, "JSON on standard output, and nothing else there")->group("Output");
  }
  ExitCode run(Terminal& terminal) override {
    const ComputerReport report = computer_report(MpiSession::is_built());
    terminal.print(json_ ? to_json_text(to_json(report)) : report_text(report));
    return ExitCode::done;
  }

 private:
  bool json_ = false;
};

const RegisteredVerb doctor_verb(65, make_verb<DoctorVerb>);

}  // namespace

}  // namespace plumbline
