#include "runtime/doctor/computer_report_json.h"

namespace plumbline {
namespace {

/// Null where there is nothing to say.
Json text_or_null(const std::string& text) { return text.empty() ? Json() : Json(text); }

Json computer_json(const ComputerFacts& computer) {
  return Json::Object{{"cpu", computer.model},
                      {"vendor", computer.vendor},
                      {"cores", computer.cores},
                      {"vector_units", computer.vector_units},
                      {"memory_bytes", computer.memory.value()}};
}

Json driver_json(const NvidiaDriver& driver) {
  return Json::Object{{"installed", driver.is_installed},
                      {"release", text_or_null(driver.release)},
                      {"cuda", driver.cuda.major > 0 ? Json(to_text(driver.cuda)) : Json()},
                      {"problem", text_or_null(driver.problem)}};
}

Json devices_json(const std::vector<NvidiaDevice>& devices) {
  Json::Array array;
  for (const NvidiaDevice& one : devices)
    array.emplace_back(Json::Object{{"name", one.name},
                                    {"memory_bytes", one.memory.value()},
                                    {"compute_capability", to_text(one.compute_capability)},
                                    {"multiprocessors", one.multiprocessors}});
  return array;
}

Json libraries_json(const std::vector<NvidiaLibrary>& libraries) {
  Json::Array array;
  for (const NvidiaLibrary& one : libraries)
    array.emplace_back(Json::Object{{"name", one.name},
                                    {"version", text_or_null(one.version)},
                                    {"file", text_or_null(one.file)},
                                    {"problem", text_or_null(one.problem)}});
  return array;
}

Json launch_json(const LaunchFacts& launch) {
  Json::Object programs;
  for (const auto& [name, file] : launch.programs) programs.emplace_back(name, file);
  Json place;
  if (launch.place)
    place = Json::Object{{"launcher", launch.place->launcher},
                         {"rank", launch.place->rank},
                         {"ranks", launch.place->ranks},
                         {"local_rank", launch.place->local_rank}};
  return Json::Object{{"place", std::move(place)},
                      {"problem", text_or_null(launch.problem)},
                      {"built_with_mpi", launch.has_mpi},
                      {"programs", std::move(programs)}};
}

Json backends_json(const std::vector<BackendVerdict>& backends) {
  Json::Array array;
  for (const BackendVerdict& one : backends)
    array.emplace_back(Json::Object{{"name", one.name}, {"can_run", one.can_run}, {"text", one.text}});
  return array;
}

Json missing_json(const std::vector<MissingPart>& missing) {
  Json::Array array;
  for (const MissingPart& one : missing)
    array.emplace_back(Json::Object{{"what", one.what}, {"needed_for", one.needed_for}, {"command", one.command}});
  return array;
}

}  // namespace

Json to_json(const ComputerReport& report) {
  const ComputerFound& found = report.found;
  return Json::Object{{"format", "plumbline.doctor/1"},
                      {"computer", computer_json(found.computer)},
                      {"driver", driver_json(found.driver)},
                      {"devices", devices_json(found.driver.devices)},
                      {"libraries", libraries_json(found.libraries)},
                      {"module", Json::Object{{"file", text_or_null(found.module.file)},
                                              {"problem", text_or_null(found.module.problem)},
                                              {"cudnn_problem", text_or_null(found.module.cudnn_problem)}}},
                      {"launch", launch_json(found.launch)},
                      {"backends", backends_json(report.backends)},
                      {"missing", missing_json(report.missing)}};
}

}  // namespace plumbline
