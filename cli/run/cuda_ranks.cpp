#include "cli/run/cuda_ranks.h"

#include "core/base/errors.h"
#include "runtime/rendezvous/rendezvous.h"

namespace plumbline {

const DeviceModule& cuda_module() {
  try {
    const DeviceModule& module = load_cuda_module();
    module.require_device();
    return module;
  } catch (const EnvironmentError& error) {
    throw EnvironmentError(std::string("--backend cuda: ") + error.what() + "; plan doctor says what is missing");
  }
}

void use_cuda(RunOptions& options, const DeviceModule& module, const RankRole& role, Terminal& terminal) {
  for (const std::string& missing : module.missing_libraries()) terminal.note("plan: " + missing);
  const bool is_nccl = role.transport == Transport::nccl;
  const bool has_threads = is_nccl && options.ranks.session == nullptr;
  const std::int32_t here = role.place ? role.place->local_rank : 0;
  options.device.backend = ComputeBackend::cuda;
  options.device.make = [&module, has_threads, here](std::int32_t rank) {
    return module.make_device(has_threads ? rank : here);
  };
  if (!has_threads) return;
  const auto meeting = std::make_shared<LocalRendezvous>();
  options.ranks.groups = [&module, meeting](std::int32_t rank) { return module.make_groups(rank, *meeting); };
}

void note_refused_calls(const DeviceModule& module, Terminal& terminal) {
  if (const std::string refused = module.refused_calls(); !refused.empty()) terminal.note("plan: " + refused);
}

}  // namespace plumbline
