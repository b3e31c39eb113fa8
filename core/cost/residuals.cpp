#include "core/cost/residuals.h"

#include <algorithm>

namespace plumbline {
namespace {

constexpr std::array<std::string_view, calibration_regimes.size()> regime_texts{"calibrated", "few_rows", "unknown"};
constexpr std::array<std::string_view, run_scale_count> scale_texts{
    "gpus", "hidden", "sequence", "tokens_per_micro_batch", "tp", "pp", "cp", "ep"};

void insert(std::vector<std::string>& sorted, const std::string& name) {
  const auto at = std::lower_bound(sorted.begin(), sorted.end(), name);
  if (at == sorted.end() || *at != name) sorted.insert(at, name);
}

void widen(std::optional<MeasuredRange>& range, const MeasuredRange& by) {
  range = range ? MeasuredRange{std::min(range->least, by.least), std::max(range->most, by.most)} : by;
}

}  // namespace

std::string_view to_text(CalibrationRegime regime) { return regime_texts[static_cast<std::size_t>(regime)]; }

std::string_view to_text(RunScale scale) { return scale_texts[static_cast<std::size_t>(scale)]; }

void RunRanges::include(const RunFeatures& run) {
  insert(devices, run.device);
  insert(formats, run.format);
  insert(networks, run.network);
  for (std::size_t i = 0; i < run_scale_count; ++i)
    if (run.scales[i] > 0) widen(scales[i], {run.scales[i], run.scales[i]});
}

void RunRanges::include(const RunRanges& other) {
  for (const std::string& name : other.devices) insert(devices, name);
  for (const std::string& name : other.formats) insert(formats, name);
  for (const std::string& name : other.networks) insert(networks, name);
  for (std::size_t i = 0; i < run_scale_count; ++i)
    if (other.scales[i]) widen(scales[i], *other.scales[i]);
}

const Residual& Residuals::time_of(std::string_view network) const {
  const auto found = std::find_if(time_by_network.begin(), time_by_network.end(),
                                  [&](const NetworkResidual& one) { return one.network == network; });
  return found == time_by_network.end() ? time : found->time;
}

}  // namespace plumbline
