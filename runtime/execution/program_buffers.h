#pragma once
/// \file program_buffers.h: what a rank's program says that its buffers hold, action by action.
///
/// Answers: bytes by class; whether what operators bound fits. Source: core/program/program.h (uses). Checked against:
/// tests/runtime/execution (strict buffers).

#include "core/program/program.h"
#include "runtime/execution/live_bytes.h"

namespace plumbline {

class ProgramBuffers {
 public:
  explicit ProgramBuffers(const RankProgram& rank);

  /// What the action allocates is there.
  void begin(const Action& action) { follow(action, Access::allocate); }
  /// What it releases is not.
  void end(const Action& action) { follow(action, Access::release); }
  /// Throws InternalError where `live` had more of a class than there is; `who`: the rank.
  void require_fit(const Action& action, const LiveBytes& live, std::int32_t who) const;

 private:
  void follow(const Action& action, Access access);

  const RankProgram& rank_;
  MemoryBreakdown now_;
};

}  // namespace plumbline
