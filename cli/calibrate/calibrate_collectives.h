#pragma once
/// \file calibrate_collectives.h: `calibrate --collectives` reads what nccl-tests measured of a cluster and writes a
/// machine file that holds it.

#include <optional>
#include <string>
#include <vector>

#include "cli/output/output_flag.h"

namespace CLI {
class App;
}

namespace plumbline {

struct CollectiveCalibrationAsked {
  std::optional<std::string> machine;  ///< whose links were measured
  const OutputFlag& out;               ///< the machine file, whose stem names the machine
  bool json = false;
};

/// The flag of collectives, as a part of the verb `calibrate`.
class CollectiveCalibration {
 public:
  void declare(CLI::App& app);
  /// Whether collectives are what to calibrate from.
  [[nodiscard]] bool asked() const { return !files_.empty(); }
  /// Reads the files, fits, writes the machine file; prints the factors and how far predictions are from every
  /// collective before, after, and when it was left out. Throws InputError.
  void run(const CollectiveCalibrationAsked& asked, Terminal& terminal) const;

 private:
  std::vector<std::string> files_;
};

}  // namespace plumbline
