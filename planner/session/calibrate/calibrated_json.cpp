#include "planner/session/calibrate/calibrated_json.h"

#include "core/io/calibration_json.h"
#include "core/io/json_array.h"
#include "core/io/stack_json.h"

namespace plumbline {

Json to_json(const OwnCalibration& found, const std::vector<FitRun>& runs) {
  const auto run_json = [&](const OwnRun& run) {
    return Json::Object{{"id", runs[run.run].id},
                        {"measured", runs[run.run].measured_s},
                        {"shipped", run.shipped_s},
                        {"fitted", run.fitted_s},
                        {"left_out", run.left_out_s > 0 ? Json(run.left_out_s) : Json()}};
  };
  const auto number_json = [](const OwnNumber& n) {
    return Json::Object{{"path", to_text(n.id)},
                        {"before", n.before},
                        {"after", n.after},
                        {"sigma_before", n.sigma_before},
                        {"sigma_after", n.sigma_after}};
  };
  const MeanErrors mean = mean_errors(found, runs);
  return Json::Object{{"format", "plumbline.calibrated/1"},
                      {"like", found.like},
                      {"device", runs.front().device.name},
                      {"rows", json_array(found.runs, run_json)},
                      {"numbers", json_array(found.numbers, number_json)},
                      {"mean_error", Json::Object{{"shipped", mean.shipped},
                                                  {"fitted", mean.fitted},
                                                  {"left_out", found.runs.size() > 1 ? Json(mean.left_out) : Json()}}},
                      {"left_out_by", found.by_group ? "source and model" : "row"},
                      {"sigma", found.sigma},
                      {"warnings", json_array(found.warnings)},
                      {"stack", software_stack_json(found.stack)}};
}

Json to_json(const LinkFit& fit, const MachineDocument& document) {
  Json::Object factors;
  for (const LinkFactor factor : all_link_factors)
    if (fit.factors.number(factor)) factors.emplace_back(to_text(factor), fit.factors[factor]);
  Json::Array residuals;
  for (const LinkResidual& r : fit.residuals)
    residuals.emplace_back(Json::Object{{"collective", to_text(r.kind)},
                                        {"ranks", r.ranks},
                                        {"nodes", r.nodes},
                                        {"timings", r.timings},
                                        {"before", r.before},
                                        {"fitted", r.fitted},
                                        {"left_out", fit.residuals.size() > 1 ? Json(r.left_out) : Json()}});
  return Json::Object{{"format", "plumbline.link_fit/1"},
                      {"link_factors", std::move(factors)},
                      {"residuals", std::move(residuals)},
                      {"machine", machine_json(document)}};
}

Json kernel_fit_json(const std::vector<NamedCoefficient>& measured, const std::vector<KernelResidual>& residuals,
                     double core_share) {
  Json::Array kinds;
  for (const KernelResidual& r : residuals)
    kinds.emplace_back(
        Json::Object{{"kind", r.kind}, {"entries", r.entries}, {"median", r.median}, {"worst", r.worst}});
  return Json::Object{
      {"coefficients", coefficients_json(measured)}, {"residuals", std::move(kinds)}, {"core_share", core_share}};
}

}  // namespace plumbline
