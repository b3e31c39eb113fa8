#pragma once
/// \file rank_flags.h: the flags of `run` that say what ranks are and what computes them: --backend, --ranks,
/// --rendezvous, --graph, --lanes.

#include <optional>
#include <string>

#include "core/base/option.h"
#include "runtime/mpi/launch_place.h"
#include "runtime/run/run_options.h"

namespace plumbline {

/// What the flags say.
struct RankModes {
  ComputeBackend backend = ComputeBackend::cpu;
  std::optional<Transport> transport;  ///< nothing: what a launcher makes of it
  LaneThreads lanes = LaneThreads::none;
  StepLaunch launch = StepLaunch::calls;

  [[nodiscard]] bool is_cuda() const { return backend == ComputeBackend::cuda; }
};

/// What ranks are, and as which of them this process takes part.
struct RankRole {
  Transport transport = Transport::local;
  std::optional<LaunchPlace> place;  ///< of a process that is one rank of NCCL
};

class RankFlags {
 public:
  /// In the order of help.
  [[nodiscard]] static const Options<RankFlags>& option_table();
  /// Throws InputError that names the flag.
  [[nodiscard]] RankModes modes() const;
  [[nodiscard]] const std::optional<std::string>& rendezvous() const { return rendezvous_; }

 private:
  std::optional<std::string> backend_, transport_, rendezvous_, lanes_;
  bool graph_ = false;
};

/// By the flags, and where they leave it open by the launcher that started this process. Throws InputError for a
/// launcher's variables that cannot be read.
[[nodiscard]] RankRole rank_role(const RankModes& modes);

}  // namespace plumbline
