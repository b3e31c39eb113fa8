#pragma once
/// \file activation_offload.h: what forwards keep for their backwards, copied to the host and back.
///
/// Answers: bytes copied, and the most that waited on the host, of a step. Model: decides nothing; the program's
/// actions say when what leaves and comes back. Copies are work of the copy lane. A block's state holds what is on its
/// way out until the compute lane waits for the copy. Only what counts as an activation leaves; counters read no plan.
/// Source: core/program/copy_pass.cpp. Not modelled: tables of routed tokens, which are no tensors.
/// Checked against: tests/runtime/execution/offload_test.cpp.

#include <map>
#include <utility>

#include "core/program/host_copies.h"
#include "runtime/execution/block_state.h"
#include "runtime/execution/host_pool.h"

namespace plumbline {

class ActivationOffload {
 public:
  using Place = std::pair<std::int32_t, std::int32_t>;  ///< execution and micro-batch

  ActivationOffload(Backend& backend, ComputeDevice& device) : backend_(backend), device_(device), host_(device) {}

  /// Reserves the memory of the host that another rank's step needed.
  void prepare_as(const ActivationOffload& other) { host_.prepare_as(other.host_); }
  void begin_step() { counted_ = {}; }
  /// Enqueues the copies of what the state keeps.
  void copy_out(const Place& place, const BlockState& state);
  /// Gives back what was copied. The compute lane has waited for it.
  void leave(const Place& place, BlockState& state);
  /// Enqueues the copies back, into buffers that it binds.
  void copy_back(const Place& place, BlockState& state);
  [[nodiscard]] const HostCopies& counted() const { return counted_; }

 private:
  struct Copy {
    std::size_t buffer = 0;  ///< of the state
    Bytes bytes{0};
    SizeFrom size = SizeFrom::program;
    std::byte* memory = nullptr;
  };

  Backend& backend_;
  ComputeDevice& device_;
  HostPool host_;
  std::map<Place, std::vector<Copy>> on_host_;
  HostCopies counted_;
};

}  // namespace plumbline
