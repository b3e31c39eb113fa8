#pragma once
/// \file replica_check.h: whether ranks that hold the same elements of a tensor hold the same values.
///
/// Model: each rank sums up, unit by unit, which elements of which tensors it holds and, apart from that, their bytes:
/// weights, master copies and moments. The first rank compares the checksums of all that hold the same: data-parallel
/// ranks, tensor-parallel ranks of what is not divided (norms, routers), both ends of a tied embedding. Sums over ranks
/// are the same bits on each of them (runtime/communication/communicator.h), so anything but equality is our bug.
/// Source: XXH64 (Yann Collet, xxHash 0.8, doc/xxhash_spec.md). Not modelled: parts that one rank alone holds (ZeRO),
/// which have nothing to be compared with. Checked against: tests/runtime/execution/reductions_test.cpp.

#include <string>
#include <vector>

#include "runtime/execution/parameter_store.h"

namespace plumbline {

/// What a rank holds of one unit that the same ranks hold.
struct ReplicaSum {
  std::uint64_t held = 0;    ///< which elements of which tensors
  std::uint64_t values = 0;  ///< their bytes
  std::int64_t unit = 0;     ///< execution of the network
};
[[nodiscard]] std::vector<ReplicaSum> replica_sums(const ParameterStore& parameters);

/// "layers.2 on rank 1 (and 1 other) is not what it is on rank 0"; empty where all are equal. `of_ranks`: by rank.
[[nodiscard]] std::string unequal_replicas(const std::vector<std::vector<ReplicaSum>>& of_ranks,
                                           const std::vector<std::string>& unit_names);

/// Called by every rank of the run. The first throws InternalError where replicas differ.
void require_equal_replicas(const ParameterStore& parameters, Communicator& everyone);

}  // namespace plumbline
