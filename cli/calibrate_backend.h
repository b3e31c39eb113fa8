#pragma once
/// \file calibrate_backend.h: `calibrate --backend cpu`: measures this computer and writes a stack file that holds its
/// device calibration too.

#include <optional>
#include <stop_token>
#include <string>

#include "cli/terminal.h"

namespace CLI {
class App;
}

namespace plumbline {

/// The flags of measuring, as a part of the verb `calibrate`.
class BackendCalibration {
 public:
  void declare(CLI::App& app);
  /// Whether --backend was given.
  [[nodiscard]] bool asked() const { return backend_.has_value(); }
  /// Measures, or reads the table of --kernels, and writes the stack file `out`, whose stem names the stack. Prints
  /// what was fitted and how far the laws are from the measurements. Throws InputError for another backend, an unusable
  /// name, a table that cannot be fitted.
  void run(const std::optional<std::string>& out, bool json, const std::stop_token& stop, Terminal& terminal) const;

 private:
  std::optional<std::string> backend_, kernels_, kernels_out_;
};

}  // namespace plumbline
