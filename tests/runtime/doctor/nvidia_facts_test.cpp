#include "runtime/doctor/nvidia_facts.h"

#include "tests/catch.h"
#include "tests/fake_driver.h"

namespace plumbline::nvidia_facts_test {
namespace {

using fake_driver::answers;

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

TEST_CASE("A driver says its release, the newest CUDA and its devices") {
  FakeLibraries libraries;
  fake_driver::install(libraries);
  const NvidiaDriver driver = nvidia_driver(libraries);
  CHECK(driver.is_installed);
  CHECK(driver.problem.empty());
  CHECK(driver.release == "580.65.06");
  CHECK(to_text(driver.cuda) == "13.0");
  REQUIRE(driver.devices.size() == 2);
  CHECK(driver.devices[0].name == "NVIDIA H100\t80GB");
  CHECK(driver.devices[0].memory == Bytes(std::int64_t{80} << 30U));
  CHECK(to_text(driver.devices[0].compute_capability) == "9.0");
  CHECK(driver.devices[0].multiprocessors == 132);
}

TEST_CASE("CUDA's versions are 1000 major + 10 minor") {
  FakeLibraries libraries;
  fake_driver::install(libraries);
  answers.cuda = 12080;
  CHECK(to_text(nvidia_driver(libraries).cuda) == "12.8");
}

TEST_CASE("Without a driver nothing is asked of one") {
  const NvidiaDriver driver = nvidia_driver(FakeLibraries());
  CHECK_FALSE(driver.is_installed);
  CHECK(has(driver.problem, "libcuda.so.1"));
  CHECK(driver.devices.empty());
}

TEST_CASE("A driver's call that fails is named with the driver's words") {
  FakeLibraries libraries;
  fake_driver::install(libraries);
  answers.init_error = 999;
  CHECK(nvidia_driver(libraries).problem == "cuInit: unknown error (error 999)");
  answers.init_error = 803;
  CHECK(nvidia_driver(libraries).problem == "cuInit: error 803");
  answers = {};
  answers.attribute_error = 1;
  const NvidiaDriver driver = nvidia_driver(libraries);
  CHECK(driver.problem == "cuDeviceGetAttribute: error 1");
  CHECK(driver.devices.empty());
}

TEST_CASE("A driver without a function that is asked for is a problem, and not a crash") {
  for (const char* const name : {"cuInit", "cuDeviceGetCount", "cuDeviceGetName", "cuDriverGetVersion"}) {
    FakeLibraries libraries;
    fake_driver::install(libraries);
    auto functions = fake_driver::driver_functions();
    functions.erase(name);
    libraries.with("libcuda.so.1", functions);
    CHECK(nvidia_driver(libraries).problem == std::string(name) + " is not in the driver");
  }
}

TEST_CASE("A count of devices that cannot be is not believed") {
  FakeLibraries libraries;
  fake_driver::install(libraries);
  for (const auto& [said, believed] : {std::pair(-3, 0), {0, 0}, {1'000'000'000, 64}}) {
    answers.devices = said;
    CHECK(std::ssize(nvidia_driver(libraries).devices) == believed);
  }
}

TEST_CASE("Without NVML the release is unknown, and the driver is there") {
  FakeLibraries libraries;
  fake_driver::install(libraries);
  libraries.with("libnvidia-ml.so.1", {});
  CHECK(nvidia_driver(libraries).release.empty());
  CHECK(nvidia_driver(libraries).devices.size() == 2);
}

// As cudaRuntimeGetVersion, cublasLtGetVersion, cudnnGetVersion and ncclGetVersion of CUDA 13.0, cuBLAS 13.1.0,
// cuDNN 9.19.0 and NCCL 2.28.9 answer: 13000, 130100, 91900, 22809.
TEST_CASE("Libraries say their versions and files") {
  FakeLibraries libraries;
  fake_driver::install(libraries);
  const auto all = nvidia_libraries(libraries);
  REQUIRE(all.size() == 4);
  CHECK(all[0].name + " " + all[0].version == "cudart 13.0");
  CHECK(all[1].name + " " + all[1].version == "cuBLASLt 13.1.0");
  CHECK(all[2].name + " " + all[2].version == "cuDNN 9.19.0");
  CHECK(all[3].name + " " + all[3].version == "NCCL 2.28.9");
  CHECK(all[3].file == "/lib/libnccl.so.2");
}

TEST_CASE("A library that is not there, or does not answer, says why") {
  FakeLibraries libraries;
  libraries.with("libcudart.so.12", {{"cudaRuntimeGetVersion", FakeLibraries::pointer(fake_driver::no_version)}})
      .with("libnccl.so.2", {});
  const auto all = nvidia_libraries(libraries);
  CHECK(all[0].problem == "libcudart.so.12: does not say its version");
  CHECK(has(all[1].problem, "libcublasLt.so.13: cannot open"));
  CHECK(all[3].problem == "libnccl.so.2: does not say its version");
  for (const NvidiaLibrary& one : all) CHECK(one.version.empty());
}

}  // namespace
}  // namespace plumbline::nvidia_facts_test
