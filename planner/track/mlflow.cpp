// MLflow's file store: experiment 0 with one folder for each run.
#include <cmath>
#include <cstdio>
#include <map>

#include "planner/frameworks/syntax/quoting.h"
#include "planner/track/tracker.h"

namespace plumbline {
namespace {

constexpr std::string_view experiment = "0";

/// mlflow/store/tracking/file_store.py writes YAML files of these keys.
std::string artifacts(const TrackedRun& run, const std::string& id) {
  return run.place.empty() ? "" : run.place + "/" + std::string(experiment) + "/" + id + "/artifacts";
}

std::string experiment_meta() {
  return "artifact_location: ''\ncreation_time: 0\nexperiment_id: '0'\nlast_update_time: 0\nlifecycle_stage: active\n"
         "name: Default\n";
}

/// 32 digits, as MLflow makes them.
std::string mlflow_run_id(const TrackedRun& run) { return run.id + run.id; }

std::string run_meta(const TrackedRun& run) {
  return "artifact_uri: " + yaml_quoted(artifacts(run, mlflow_run_id(run))) +
         "\nend_time: " + std::to_string(run.end.count()) +
         "\nentry_point_name: ''\nexperiment_id: '0'\nlifecycle_stage: active\nrun_id: " +
         yaml_quoted(mlflow_run_id(run)) + "\nrun_name: " + yaml_quoted(run.name) +
         "\nrun_uuid: " + yaml_quoted(mlflow_run_id(run)) +
         "\nsource_name: plumbline\nsource_type: 4\nsource_version: ''\nstart_time: " +
         std::to_string(run.begin.count()) + "\nstatus: 3\ntags: []\nuser_id: plumbline\n";
}

std::string value_text(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  char text[32];
  std::snprintf(text, sizeof text, "%.17g", value);
  return text;
}

/// Lines of "milliseconds value step", by name.
std::map<std::string, std::string> metrics_of(const TrackedRun& run) {
  std::map<std::string, std::string> all;
  const auto add = [&](const TrackedNumber& one, Milliseconds time, std::int64_t step) {
    all[one.name] += std::to_string(time.count()) + " " + value_text(one.value) + " " + std::to_string(step) + "\n";
  };
  for (const TrackedStep& step : run.steps)
    for (const TrackedNumber& one : step.numbers) add(one, step.time, step.step);
  const std::int64_t last = run.steps.empty() ? 0 : run.steps.back().step;
  for (const TrackedNumber& one : run.summary) add(one, run.end, last);
  return all;
}

}  // namespace

std::vector<TrackedFile> mlflow_files(const TrackedRun& run) {
  const std::string folder = std::string(experiment) + "/" + mlflow_run_id(run) + "/";
  std::vector<TrackedFile> files{{std::string(experiment) + "/meta.yaml", experiment_meta(), true}};
  for (const auto& [name, value] : run.parameters) files.push_back({folder + "params/" + name, value});
  for (const auto& [name, lines] : metrics_of(run)) files.push_back({folder + "metrics/" + name, lines});
  files.push_back({folder + "tags/mlflow.runName", run.name});
  files.push_back({folder + "artifacts/run.txt", run.name + "\n"});  // a run without the folder is none either
  files.push_back({folder + "meta.yaml", run_meta(run)});            // the last: a run without it is none
  return files;
}

}  // namespace plumbline
