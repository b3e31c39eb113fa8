#include "runtime/rendezvous/launch_rendezvous.h"

#include "tests/catch.h"

namespace plumbline {
namespace {

using Variables = std::map<std::string, std::string>;

EnvironmentLookup lookup(const Variables& variables) {
  return [variables](const std::string& name) -> std::optional<std::string> {
    const auto found = variables.find(name);
    return found == variables.end() ? std::nullopt : std::optional(found->second);
  };
}

std::string text_of(const MeetingPoint& at) {
  const auto* const folder = std::get_if<std::string>(&at);
  return folder != nullptr ? "folder " + *folder : to_text(std::get<HostPort>(at));
}

std::string refusal(const LaunchPlace& place, const Variables& variables) {
  try {
    (void)meeting_point(place, lookup(variables));
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

TEST_CASE("A user names an address or a folder") {
  CHECK(text_of(meeting_point("node1:1234", "--rendezvous")) == "node1:1234");
  CHECK(text_of(meeting_point("[::1]:1234", "--rendezvous")) == "::1:1234");
  CHECK(text_of(meeting_point("/shared/job:1", "--rendezvous")) == "folder /shared/job:1");
  CHECK(text_of(meeting_point("job", "--rendezvous")) == "folder job");
  for (const char* const bad : {"", "node1:0", "node1:65536", "node1:x"})
    CHECK_THROWS_AS(meeting_point(bad, "--rendezvous"), InputError);
}

// torchrun's own store listens at MASTER_PORT.
TEST_CASE("torchrun's processes meet at the port behind its own") {
  const LaunchPlace place{"torchrun", 1, 2, 1};
  CHECK(text_of(meeting_point(place, lookup({{"MASTER_ADDR", "node1"}, {"MASTER_PORT", "29500"}}))) == "node1:29501");
  CHECK(has(refusal(place, {{"MASTER_ADDR", "node1"}}), "torchrun sets no MASTER_PORT"));
  CHECK(has(refusal(place, {{"MASTER_ADDR", "n"}, {"MASTER_PORT", "http"}}), "MASTER_PORT"));
}

// 12 345 678 mod 12 000 = 9 678.
TEST_CASE("A Slurm step's processes meet at its first node") {
  const LaunchPlace place{"Slurm", 1, 2, 1};
  CHECK(text_of(meeting_point(place, lookup({{"SLURM_STEP_NODELIST", "gpu-[03-07,9],cpu1"},
                                             {"SLURM_JOB_ID", "12345678"}}))) == "gpu-03:29678");
  CHECK(has(refusal(place, {{"SLURM_STEP_NODELIST", "a"}}), "SLURM_JOB_ID"));
  CHECK(first_host("a,b") == "a");
  CHECK(first_host("a") == "a");
  CHECK(first_host("rack2-[5]-x,b") == "rack2-5-x");
  CHECK(first_host("a,b[1-2]") == "a");
}

TEST_CASE("mpirun's processes of one computer meet there, and others need a name") {
  const LaunchPlace place{"mpirun", 1, 2, 1};
  CHECK(text_of(meeting_point(place, lookup({{"OMPI_COMM_WORLD_LOCAL_SIZE", "2"},
                                             {"OMPI_MCA_ess_base_jobid", "24001"}}))) == "127.0.0.1:20001");
  CHECK(has(refusal(place, {{"OMPI_COMM_WORLD_LOCAL_SIZE", "1"}, {"OMPI_MCA_ess_base_jobid", "1"}}), "--rendezvous"));
  CHECK(has(refusal({"mpiexec", 0, 2, 0}, {}), "--rendezvous"));
}

}  // namespace
}  // namespace plumbline
