#include "runtime/mpi/launch_place.h"

#include <array>
#include <charconv>
#include <cstdlib>

#include "core/base/errors.h"

namespace plumbline {
namespace {

struct Names {
  const char* launcher;
  const char* rank;
  const char* ranks;
  const char* local_rank;
};
// A Slurm job's batch script has SLURM_PROCID and SLURM_NTASKS too, but is no rank; only steps count their tasks.
constexpr std::array launchers{
    Names{"torchrun", "RANK", "WORLD_SIZE", "LOCAL_RANK"},
    Names{"mpirun", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK"},
    Names{"Slurm", "SLURM_PROCID", "SLURM_STEP_NUM_TASKS", "SLURM_LOCALID"},
    Names{"mpiexec", "PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID"}};

constexpr std::int32_t most_ranks = 10'000'000;

std::int32_t number(const std::string& name, const std::string& text, std::int32_t smallest, std::int32_t below) {
  std::int32_t value = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error == std::errc() && stop == end && value >= smallest && value < below) return value;
  throw InputError({"environment variable " + name, "is '" + text + "'",
                    "a whole number from " + std::to_string(smallest) + " to " + std::to_string(below - 1), ""});
}

/// Which variable of a set is there, when not all are.
std::string set_one(const Names& names, const EnvironmentLookup& lookup) {
  for (const char* name : {names.rank, names.ranks, names.local_rank})
    if (lookup(name)) return name;
  return "";
}

std::optional<LaunchPlace> place_by(const Names& names, const EnvironmentLookup& lookup) {
  const auto rank = lookup(names.rank);
  const auto ranks = lookup(names.ranks);
  const auto local = lookup(names.local_rank);
  if (!ranks && std::string(names.launcher) == "Slurm") return std::nullopt;  // in a job, but outside of its steps
  if (!rank && !ranks && !local) return std::nullopt;
  for (const char* name : {names.rank, names.ranks, names.local_rank})
    if (!lookup(name))
      throw InputError({"environment variable " + std::string(name),
                        "is not set, but " + set_one(names, lookup) + " is",
                        "all of " + std::string(names.rank) + ", " + names.ranks + " and " + names.local_rank +
                            ", as " + names.launcher + " sets them",
                        ""});
  LaunchPlace place{names.launcher, 0, 1, 0};
  place.ranks = number(names.ranks, *ranks, 1, most_ranks + 1);
  place.rank = number(names.rank, *rank, 0, place.ranks);
  place.local_rank = number(names.local_rank, *local, 0, place.ranks);
  return place;
}

std::string text_of(std::int32_t rank, std::int32_t ranks) {
  return "rank " + std::to_string(rank) + " of " + std::to_string(ranks);
}

}  // namespace

std::optional<std::string> process_environment(const std::string& name) {
  const char* const value = std::getenv(name.c_str());
  return value == nullptr ? std::nullopt : std::optional<std::string>(value);
}

std::optional<LaunchPlace> launch_place(const EnvironmentLookup& lookup) {
  for (const Names& names : launchers)
    if (const auto place = place_by(names, lookup)) return place;
  return std::nullopt;
}

std::optional<LaunchPlace> launched_with_others(const EnvironmentLookup& lookup) {
  for (const Names& names : launchers) {
    try {
      if (const auto place = place_by(names, lookup)) return place->ranks > 1 ? place : std::nullopt;
    } catch (const InputError&) {
      continue;
    }
  }
  return std::nullopt;
}

void check_place(const LaunchPlace& place, const std::string& told_by, std::int32_t rank, std::int32_t ranks) {
  if (place.rank == rank && place.ranks == ranks) return;
  throw InputError({"launch",
                    place.launcher + " started this process as " + text_of(place.rank, place.ranks) + ", but " +
                        told_by + " says " + text_of(rank, ranks),
                    "one launcher, which " + told_by + " understands", ""});
}

}  // namespace plumbline
