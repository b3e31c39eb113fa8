#pragma once
/// \file residuals.h: how far measured runs were from what a calibration predicts of them, and which runs these were.
///
/// A residual is the standard deviation of log(predicted / measured) over runs that the calibration never saw. The runs
/// are remembered as ranges: a question outside of them is extrapolated (extrapolation.h).

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace plumbline {

/// One fitted, measured or assumed number. `relative_sigma`: one standard deviation over the value; 0 when unknown.
struct Coefficient {
  double value = 0;
  double relative_sigma = 0;
  std::string kind;  ///< "fitted", "measured" or "assumed"
  std::string source;
  /// Reads like the number that it is.
  operator double() const { return value; }
};

/// What a calibration rests on: many runs of its own, a handful, or what it shares with others.
enum class CalibrationRegime : std::uint8_t { calibrated, few_runs, unknown };
inline constexpr std::array calibration_regimes{CalibrationRegime::calibrated, CalibrationRegime::few_runs,
                                                CalibrationRegime::unknown};
[[nodiscard]] std::string_view to_text(CalibrationRegime regime);

/// What a run is large or small in.
enum class RunScale : std::uint8_t { gpus, hidden, sequence, tokens_per_micro_batch, tp, pp, cp, ep };
inline constexpr std::size_t run_scale_count = 8;
/// Key in files: "gpus", ...
[[nodiscard]] std::string_view to_text(RunScale scale);

/// A run as calibrations look at it.
struct RunFeatures {
  std::string device;   ///< catalogue name
  std::string format;   ///< of the matrix products: "bf16"
  std::string network;  ///< "dense", "moe" or "image"
  /// At least 1, or 0 of what such a network has not. Tokens of a micro-batch: of one rank, after context parallelism.
  std::array<std::int64_t, run_scale_count> scales{1, 1, 1, 1, 1, 1, 1, 1};
  double host_share = 0;     ///< of its step, what moves with the host's times (host_share.h)
  double network_share = 0;  ///< of its step, what moves with a network that nobody stated (network_share.h)

  [[nodiscard]] std::int64_t& operator[](RunScale scale) { return scales[static_cast<std::size_t>(scale)]; }
  [[nodiscard]] std::int64_t operator[](RunScale scale) const { return scales[static_cast<std::size_t>(scale)]; }
};

struct MeasuredRange {
  std::int64_t least = 1;
  std::int64_t most = 1;
};

/// What the runs behind a calibration covered. An empty list, an absent range: nobody said.
struct RunRanges {
  std::vector<std::string> devices;  ///< sorted, as the next two
  std::vector<std::string> formats;
  std::vector<std::string> networks;
  std::array<std::optional<MeasuredRange>, run_scale_count> scales{};

  /// Widens everything so that the run lies inside.
  void include(const RunFeatures& run);
  /// Widens everything so that the other's runs lie inside.
  void include(const RunRanges& other);
};

/// `runs`: measured runs that are known of it, whether or not sigma was taken over them (its kind says).
struct Residual {
  Coefficient sigma;
  std::int64_t runs = 0;
};

/// Of step times of one kind of network (RunFeatures::network).
struct NetworkResidual {
  std::string network;
  Residual time;
};

struct Residuals {
  CalibrationRegime regime = CalibrationRegime::unknown;
  Residual time;                                 ///< of step times of all runs
  std::vector<NetworkResidual> time_by_network;  ///< sorted; of kinds with enough runs of their own
  Residual memory;                               ///< of peak memory; a device leaves it open
  RunRanges measured;

  /// For step times of a kind of network: its own residual where it has one, else that of all runs.
  [[nodiscard]] const Residual& time_of(std::string_view network) const;
};

/// What stands for a calibration that states no residuals.
struct RegimeSigma {
  Coefficient time;
  Coefficient memory;
};

}  // namespace plumbline
