#pragma once
/// \file host_copies.h: what a rank copies to host memory and back in a step, and what waits there.
///
/// Source: copy_pass.cpp. Not modelled: optimizer states, which are on the host outside of the step.
/// Checked against: tests/unit/core/program/lower_test.cpp (by hand), tests/runtime/execution/offload_test.cpp
/// (executed, to the byte).

#include <cstdint>

#include "core/quantity/quantity.h"

namespace plumbline {

struct HostCopies {
  Bytes to_host{0};
  Bytes from_host{0};
  Bytes most_on_host{0};    ///< at one time
  std::int64_t copies = 0;  ///< there, and as many back
  bool operator==(const HostCopies&) const = default;
};

}  // namespace plumbline
