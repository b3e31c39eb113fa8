#include "cli/run/nccl_processes.h"

#include <charconv>
#include <chrono>

#include "core/base/errors.h"

namespace plumbline {
namespace {

/// As rank 0 may take so long to start. Source: PyTorch's TCPStore (5 minutes).
constexpr std::chrono::minutes patience(5);

/// 1 where the launcher does not say: then nothing is concluded from a shared clock.
std::int32_t ranks_on_host() {
  for (const char* const name : {"LOCAL_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_SIZE"})
    if (const auto text = process_environment(name)) {
      std::int32_t value = 0;
      std::from_chars(text->data(), text->data() + text->size(), value);
      return std::max(1, value);
    }
  return 1;
}

std::unique_ptr<Rendezvous> rendezvous_of(const LaunchPlace& place, const std::optional<std::string>& named) {
  if (named) return open_rendezvous(meeting_point(*named, "--rendezvous"), place.rank, patience);
  if (place.ranks == 1) return std::make_unique<LocalRendezvous>();
  return open_rendezvous(meeting_point(place, process_environment), place.rank, patience);
}

}  // namespace

ExitCode run_as_nccl_rank(const DeviceModule& module, const LaunchPlace& place,
                          const std::optional<std::string>& rendezvous,
                          const std::function<ExitCode(ProcessSession&)>& work) {
  const std::unique_ptr<Rendezvous> meeting = rendezvous_of(place, rendezvous);
  (void)module.require_nccl();
  LaunchedSession session(place, ranks_on_host(), *meeting, [&](std::int32_t rank, std::int32_t, Rendezvous& at) {
    return module.make_groups(rank, at);
  });
  return work(session);
}

void require_devices(const DeviceModule& module, std::int64_t ranks) {
  const std::int32_t devices = module.require_nccl();
  if (devices >= ranks) return;
  throw InputError({"--ranks",
                    "\"nccl\" needs a GPU for each of the plan's " + std::to_string(ranks) + " ranks, and there " +
                        (devices == 1 ? "is 1" : "are " + std::to_string(devices)),
                    "--ranks local, whose ranks share one, or processes on more computers", ""});
}

}  // namespace plumbline
