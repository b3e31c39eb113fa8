#pragma once
/// \file calibrate_kernels.h: `calibrate --backend cpu|cuda` measures this computer or its GPUs, `calibrate --kernels`
/// reads what was measured of a GPU; both write a stack file that holds a device calibration too.

#include <optional>
#include <stop_token>
#include <string>

#include "cli/output/output_flag.h"
#include "core/machine/device.h"
#include "core/measurement/kernel_table.h"

namespace CLI {
class App;
}

namespace plumbline {

struct KernelCalibrationAsked {
  const OutputFlag& out;             ///< the stack file, whose stem names the stack
  std::optional<std::string> stack;  ///< of a GPU: the software that runs on it
  bool json = false;
};

/// The flags of kernels, as a part of the verb `calibrate`.
class KernelCalibration {
 public:
  void declare(CLI::App& app);
  /// Whether kernels are what to calibrate from.
  [[nodiscard]] bool asked() const { return backend_ || kernels_; }
  [[nodiscard]] const std::optional<std::string>& machine() const { return machine_; }
  /// Throws InputError for a flag of the verb that neither way reads.
  void require_only_its_flags(const CLI::App& app) const;
  /// Measures this computer, or reads the table of --kernels, and writes the stack file. Prints what was fitted and how
  /// far the laws are from the measurements. Throws InputError for another backend, an unusable name, a table that
  /// cannot be fitted.
  void run(const KernelCalibrationAsked& asked, const std::stop_token& stop, Terminal& terminal) const;

 private:
  [[nodiscard]] Device measured_device(const KernelTable& table) const;
  void run_on_gpu(const KernelCalibrationAsked& asked, const std::stop_token& stop, Terminal& terminal) const;

  std::optional<std::string> backend_, kernels_, machine_;
  bool brief_ = false;
  OutputFlag kernels_out_{"--kernels-out", "table of kernels"};
};

}  // namespace plumbline
