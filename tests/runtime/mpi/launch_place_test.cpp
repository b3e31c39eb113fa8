#include "runtime/mpi/launch_place.h"

#include "core/base/errors.h"
#include "tests/catch.h"

namespace plumbline {
namespace {

using Variables = std::map<std::string, std::string>;

EnvironmentLookup lookup_in(const Variables& variables) {
  return [variables](const std::string& name) {
    const auto found = variables.find(name);
    return found == variables.end() ? std::nullopt : std::optional<std::string>(found->second);
  };
}

std::string refusal(const Variables& variables) {
  try {
    (void)launch_place(lookup_in(variables));
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

const Variables torchrun{{"RANK", "5"}, {"WORLD_SIZE", "8"}, {"LOCAL_RANK", "1"}};
const Variables slurm_step{{"SLURM_PROCID", "3"}, {"SLURM_STEP_NUM_TASKS", "4"}, {"SLURM_LOCALID", "0"}};
const Variables mpirun{
    {"OMPI_COMM_WORLD_RANK", "2"}, {"OMPI_COMM_WORLD_SIZE", "4"}, {"OMPI_COMM_WORLD_LOCAL_RANK", "2"}};

TEST_CASE("Each launcher's variables are read") {
  CHECK(launch_place(lookup_in(torchrun)) == LaunchPlace{"torchrun", 5, 8, 1});
  CHECK(launch_place(lookup_in(slurm_step)) == LaunchPlace{"Slurm", 3, 4, 0});
  CHECK(launch_place(lookup_in(mpirun)) == LaunchPlace{"mpirun", 2, 4, 2});
  CHECK_FALSE(launch_place(lookup_in({})));
}

TEST_CASE("A process knows whether others were started with it") {
  CHECK(launched_with_others(lookup_in(mpirun)) == LaunchPlace{"mpirun", 2, 4, 2});
  CHECK(launched_with_others(lookup_in({{"PMI_RANK", "1"}, {"PMI_SIZE", "3"}, {"MPI_LOCALRANKID", "1"}})) ==
        LaunchPlace{"mpiexec", 1, 3, 1});
  CHECK_FALSE(launched_with_others(lookup_in({})));
  CHECK_FALSE(
      launched_with_others(lookup_in({{"SLURM_PROCID", "0"}, {"SLURM_STEP_NUM_TASKS", "1"}, {"SLURM_LOCALID", "0"}})));
}

TEST_CASE("Variables that other programs use as well are no launch") {
  CHECK_FALSE(launched_with_others(lookup_in({{"RANK", "1"}, {"WORLD_SIZE", "2"}})));
  CHECK_FALSE(launched_with_others(lookup_in({{"RANK", "high"}, {"WORLD_SIZE", "2"}, {"LOCAL_RANK", "0"}})));
  Variables both = mpirun;
  both["RANK"] = "1";
  CHECK(launched_with_others(lookup_in(both))->launcher == "mpirun");
}

TEST_CASE("The innermost launcher counts") {
  Variables all = slurm_step;
  all.insert(mpirun.begin(), mpirun.end());
  CHECK(launch_place(lookup_in(all))->launcher == "mpirun");
  all.insert(torchrun.begin(), torchrun.end());
  CHECK(launch_place(lookup_in(all))->launcher == "torchrun");
}

TEST_CASE("A batch script of Slurm is no rank") {
  CHECK_FALSE(launch_place(lookup_in({{"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "4"}, {"SLURM_LOCALID", "0"}})));
}

TEST_CASE("Partial sets, ranks out of range and words are refused") {
  CHECK_THAT(refusal({{"RANK", "0"}}), Catch::Matchers::ContainsSubstring("WORLD_SIZE: is not set, but RANK is"));
  Variables bad = torchrun;
  bad["RANK"] = "8";
  CHECK_THAT(refusal(bad), Catch::Matchers::ContainsSubstring("RANK: is '8'; expected a whole number from 0 to 7"));
  bad["RANK"] = "two";
  CHECK_THAT(refusal(bad), Catch::Matchers::ContainsSubstring("is 'two'"));
  bad["RANK"] = "1x";
  CHECK_FALSE(refusal(bad).empty());
  bad["RANK"] = "-1";
  CHECK_FALSE(refusal(bad).empty());
}

TEST_CASE("Two launchers that disagree are refused with both ranks") {
  const LaunchPlace place{"torchrun", 2, 4, 2};
  CHECK_NOTHROW(check_place(place, "MPI", 2, 4));
  try {
    check_place(place, "MPI", 0, 1);
    FAIL("a disagreement was accepted");
  } catch (const InputError& error) {
    CHECK_THAT(error.what(), Catch::Matchers::ContainsSubstring(
                                 "torchrun started this process as rank 2 of 4, but MPI says rank 0 of 1"));
  }
}

}  // namespace
}  // namespace plumbline
