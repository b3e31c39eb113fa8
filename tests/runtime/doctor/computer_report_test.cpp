#include "runtime/doctor/computer_report.h"

#include <map>

#include "runtime/doctor/computer_report_json.h"
#include "tests/catch.h"
#include "tests/fake_driver.h"

namespace plumbline::computer_report_test {
namespace {

using fake_driver::answers;

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

/// A computer that has everything; tests take parts away.
struct Computer {
  Computer() { fake_driver::install(libraries); }
  [[nodiscard]] ComputerReport report() const {
    const auto lookup = [this](const std::string& name) {
      const auto found = variables.find(name);
      return found == variables.end() ? std::nullopt : std::optional<std::string>(found->second);
    };
    const auto computer = [] { return facts_from({}, 8, Bytes(std::int64_t{64} << 30U)); };
    return report_of(look_around({libraries, lookup, computer, [this] { return module; }, has_mpi}));
  }
  [[nodiscard]] BackendVerdict cuda() const { return report().backends[1]; }

  FakeLibraries libraries;
  std::map<std::string, std::string> variables;
  ModuleFacts module{"/opt/bin/libplumbline-cuda.so", ""};
  bool has_mpi = true;
};

TEST_CASE("A computer that has everything runs both backends, and nothing is missing") {
  const Computer computer;
  const ComputerReport report = computer.report();
  REQUIRE(report.backends.size() == 2);
  CHECK(report.backends[0].can_run);
  CHECK(report.backends[0].text == "up to 64 ranks as threads, or as processes of MPI");
  CHECK(report.backends[1].can_run);
  CHECK(report.backends[1].text == "ranks on 2 devices; a device for each with --ranks nccl (NCCL 2.28.9)");
  CHECK(report.missing.empty());
  CHECK(report.found.computer.cores == 8);
}

TEST_CASE("The first thing that is missing is why CUDA cannot run") {
  Computer computer;
  computer.module = {"", "libplumbline-cuda.so: is not in /opt/bin"};
  CHECK(computer.cuda().text == "libplumbline-cuda.so: is not in /opt/bin");
  answers.capability_major = 7;
  CHECK(has(computer.cuda().text, "no device has compute capability 8.0 or later: NVIDIA H100\t80GB has 7.0"));
  answers.devices = 0;
  CHECK(computer.cuda().text == "the driver finds no device");
  computer.variables["CUDA_VISIBLE_DEVICES"] = "7";
  CHECK(computer.cuda().text == "the driver finds no device (CUDA_VISIBLE_DEVICES is '7')");
  answers.init_error = 999;
  CHECK(computer.cuda().text == "the driver does not work: cuInit: unknown error (error 999)");
  answers.cuda = 12080;
  CHECK(computer.cuda().text == "the driver serves CUDA 12.8 and the runtime is 13.0");
  CHECK_FALSE(computer.cuda().can_run);
}

TEST_CASE("What is missing is listed with what it is for and the command that gets it") {
  Computer computer;
  computer.libraries.with("libnccl.so.2", {});
  computer.has_mpi = false;
  const auto missing = computer.report().missing;
  REQUIRE(missing.size() == 2);
  CHECK(missing[0].what == "NCCL");
  CHECK(missing[0].needed_for == "--backend cuda --ranks nccl");
  CHECK(has(missing[0].command, "pip install nvidia-nccl-cu13"));
  CHECK(missing[1].needed_for == "--ranks mpi");
  CHECK(computer.cuda().can_run);
  CHECK(computer.cuda().text == "ranks on 2 devices; all share one, since NCCL is not there");
}

TEST_CASE("A module without cuDNN's attention is told apart from one that finds the library where no loader looks") {
  Computer computer;
  computer.module.cudnn_problem = "the module was built without cudnn.h";
  REQUIRE(computer.report().missing.size() == 1);
  CHECK(has(computer.report().missing.front().command, "make cuda"));
  CHECK(has(to_json_text(to_json(computer.report())), "the module was built without cudnn.h"));
  computer.libraries.with("libcudnn.so.9", {});
  REQUIRE(computer.report().missing.size() == 1);
  CHECK(computer.report().missing.front().what == "cuDNN");
  computer.module.cudnn_problem.clear();
  CHECK(computer.report().missing.empty());
}

TEST_CASE("A computer without anything of NVIDIA's misses the driver, four libraries and the module") {
  Computer computer;
  const FakeLibraries nothing;
  const auto none = [](const std::string&) { return std::optional<std::string>(); };
  const ComputerReport report = report_of(
      look_around({nothing, none, [] { return facts_from({}, 1, Bytes(1)); }, [] { return ModuleFacts{}; }, true}));
  CHECK(report.backends[0].can_run);
  CHECK(has(report.backends[1].text, "there is no NVIDIA driver (libcuda.so.1: cannot open"));
  REQUIRE(report.missing.size() == 6);
  CHECK(report.missing.front().what == "NVIDIA driver");
  CHECK(report.missing.back().what == "libplumbline-cuda.so");
}

TEST_CASE("A launcher's variables are reported, and wrong ones do not end the report") {
  Computer computer;
  computer.variables = {{"RANK", "3"}, {"WORLD_SIZE", "8"}, {"LOCAL_RANK", "3"}};
  CHECK(computer.report().found.launch.place == LaunchPlace{"torchrun", 3, 8, 3});
  computer.variables["RANK"] = "three";
  const LaunchFacts launch = computer.report().found.launch;
  CHECK_FALSE(launch.place);
  CHECK(has(launch.problem, "environment variable RANK: is 'three'"));
}

TEST_CASE("Launchers are found on the search path, empty parts of which name no folder") {
  Computer computer;
  CHECK(computer.report().found.launch.programs.empty());
  computer.variables["PATH"] = "::/no/such/folder:";
  CHECK(computer.report().found.launch.programs.empty());
}

TEST_CASE("The report as JSON has a value or null under every key") {
  Computer computer;
  computer.module = {"", "is not there"};
  const Json json = to_json(computer.report());
  CHECK(*json.find("format")->if_string() == "plumbline.doctor/1");
  CHECK(json.find("devices")->if_array()->size() == 2);
  CHECK(*json.find("driver")->find("cuda")->if_string() == "13.0");
  CHECK(json.find("module")->find("file")->is_null());
  CHECK(*json.find("module")->find("problem")->if_string() == "is not there");
  CHECK(json.find("launch")->find("place")->is_null());
  CHECK(*(*json.find("backends")->if_array())[0].find("can_run")->if_bool());
  CHECK(json.find("missing")->if_array()->size() == 1);
}

}  // namespace
}  // namespace plumbline::computer_report_test
