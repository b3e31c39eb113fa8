#include "core/program/host_copies.h"

#include <algorithm>

namespace plumbline {

HostCopies host_copies(const RankProgram& rank) {
  HostCopies sums;
  for (const Action& action : rank.actions) {
    if (action.pass == Pass::step) continue;
    if (action.kind == ActionKind::offload) ++sums.copies, sums.to_host += action.bytes;
    if (action.kind == ActionKind::fetch) sums.from_host += action.bytes;
    sums.most_on_host = std::max(sums.most_on_host, sums.to_host - sums.from_host);
  }
  return sums;
}

}  // namespace plumbline
