#pragma once
/// \file process_memory.h: what this process holds in memory.
///
/// Source: getrusage(2). Not modelled: pages that it shares with other processes. Checked against:
/// tests/integration/run_test.py (more than the tensors of a rank).

#include "core/quantity/quantity.h"

namespace plumbline {

/// Bytes of this process in memory at its highest; 0 where the system does not say.
[[nodiscard]] Bytes process_resident_bytes();

}  // namespace plumbline
