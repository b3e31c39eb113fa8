#pragma once
/// \file verdict.h: whether a plan fits, as a value with its reason. Not fitting is an answer, not an error.

#include <string>

#include "core/quantity/quantity.h"

namespace plumbline {

struct Verdict {
  bool fits = false;
  std::string reason;        ///< one sentence: the binding stage and tensor class, or the margin
  Bytes capacity{0};         ///< of one device
  Bytes margin{0};           ///< capacity - need; negative when it does not fit
  bool near_edge = false;    ///< fits, but the interval of the peak memory reaches beyond the device
  Bytes headroom{0};         ///< that was to be left free: it fits where the margin is at least this
  double chance_to_fit = 0;  ///< that the device holds what the heaviest rank will need (planner/pricing/trust.h)
};

}  // namespace plumbline
