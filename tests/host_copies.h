#pragma once
/// \file host_copies.h: what a rank's program copies to host memory and back in a step: a fold over the copies of its
/// micro-batches, of which what left is on the host until it comes back.

#include <algorithm>

#include "core/program/host_copies.h"
#include "core/program/program.h"

namespace plumbline {

[[nodiscard]] inline HostCopies host_copies(const RankProgram& rank) {
  HostCopies sums;
  for (const Action& action : rank.actions) {
    const auto* copy = std::get_if<HostCopy>(&action.what);
    if (copy == nullptr || copy->is_of_states()) continue;
    if (copy->to == CopyTo::host) ++sums.copies, sums.to_host += copy->bytes;
    if (copy->to == CopyTo::device) sums.from_host += copy->bytes;
    sums.most_on_host = std::max(sums.most_on_host, sums.to_host - sums.from_host);
  }
  return sums;
}

}  // namespace plumbline
