#pragma once
/// \file stack_efficiencies.h: how well a software stack does what it does: numbers with an uncertainty, by domain.
///
/// Keys in files and ranges: calibration_fields.h. What is a choice between ways is a feature (stack_features.h).

#include "core/cost/residuals.h"

namespace plumbline {

struct ComputeEfficiency {
  Coefficient step_factor;          ///< everything that no other term explains, multiplies what blocks take
  Coefficient memory_bound_factor;  ///< fused (below 1) or not (above 1)
  Coefficient loss_factor;          ///< bytes of the loss over the model's
  Coefficient flash_factor;         ///< attention kernels over the device's FlashAttention 2 efficiency
  Coefficient score_bytes_forward;  ///< unfused attention: bytes per score alongside the two products
  Coefficient score_bytes_backward;
  Coefficient quantisation_factor;  ///< bytes that casts to few bits move over those of kernels of their own
  Coefficient row_scaled_rate;      ///< fp8 products with a scale for each row, over those with one for a tensor
  Coefficient block_scaled_rate;    ///< the same for blocks that tensor cores do not scale themselves
  Coefficient microscaled_rate;     ///< the same for blocks that they do
};

struct CommunicationEfficiency {
  Coefficient tensor_parallel_exposure;
  Coefficient tensor_parallel_backward_factor;  ///< backward collectives over forward ones (contention)
  Coefficient pipeline_exposure;
  Coefficient data_parallel_exposure;  ///< of a gradient reduction, what a long backward leaves in the step
  Coefficient context_parallel_exposure;
  Coefficient expert_parallel_exposure;
  Coefficient overlap_slowdown;    ///< by how much overlapped compute and collectives take longer: 0 to 1 (one by one)
  Coefficient bucket_bytes;        ///< of gradients that are reduced at once
  Coefficient collective_gap_s;    ///< on the device, around a collective that kernels wait for: streams hand over
  Coefficient network_card_share;  ///< of a node's network cards, what sharing states makes use of
  Coefficient ring_bytes_forward;  ///< per element of the queries and step of a ring: merging what was attended to
  Coefficient ring_bytes_backward;
};

/// What ZeRO's gathers and reductions move and hold besides the states themselves.
struct ShardingEfficiency {
  Coefficient gather_copy_bytes;       ///< per parameter and pass: copies of gathered units into their tensors
  Coefficient scatter_copy_bytes;      ///< per trained parameter: copies of gradients into what is reduced
  Coefficient gathered_from_elements;  ///< ZeRO-3 gathers tensors of so many one by one; 0: unit by unit, all
  /// ZeRO-3 lets go of a parameter after its recomputed forward, and gathers it again for its gradients, where modules
  /// with so many parameters run in between; 0: never.
  Coefficient regathered_from_elements;
  Coefficient host_time_per_piece_s;   ///< of a tensor gathered or reduced alone, for every rank's part of it
  Coefficient host_time_per_tensor_s;  ///< under ZeRO-3: of the host's work around one tensor in each pass
  Coefficient gathered_parameters;     ///< under ZeRO-3: the most that are gathered at once, whatever a block has
  Coefficient gathered_gradients;      ///< under ZeRO-2 and 3: the most that wait whole for their reduction
};

struct HostEfficiency {
  Coefficient host_time_per_kernel_s;      ///< until the host has launched one kernel, with its views and bookkeeping
  Coefficient host_time_per_collective_s;  ///< the same for one collective
  Coefficient kernels_per_operator;        ///< of operators other than products and attention, over one fused kernel
  Coefficient step_overhead_s;             ///< of one rank alone
  Coefficient rank_delay_s;         ///< by which pauses of its host delay a rank in a step; the slowest rank counts
  Coefficient host_bytes_per_rank;  ///< host memory of one rank's process
};

struct ExpertEfficiency {
  Coefficient kernels_per_expert;      ///< of a product of experts: 0 one for all, 1 one each
  Coefficient kernels_per_routing;     ///< of choosing, permuting and restoring, over a fused implementation
  Coefficient expert_synchronisation;  ///< of waiting for the tokens per expert, what holds the host up: 0 to 1
  Coefficient routing_factor;          ///< bytes that dispatch and combine move over those of one kernel per step
  Coefficient expert_imbalance;        ///< busiest expert rank over the mean
};

struct OptimizerEfficiency {
  Coefficient accumulation_bytes;  ///< per parameter and micro-batch, for adding gradients
  Coefficient optimizer_traffic_factor;
};

struct MemoryEfficiency {
  Coefficient logit_bytes;             ///< live bytes per logit at the peak of the loss
  Coefficient copied_gradient_bytes;   ///< per trained parameter, kept alongside gradients that are summed in 32 bits
  Coefficient updated_gradient_bytes;  ///< per parameter that a rank updates, alongside gradients kept in 16 bits
  Coefficient context_bytes;           ///< device context and loaded kernels
  Coefficient communicator_bytes;      ///< buffers of one communicator
  Coefficient workspace_bytes;         ///< matrix-product workspaces
  Coefficient fragmentation_fraction;  ///< of live bytes, lost in the allocator
};

/// What widens the interval of a step time (extrapolation.h).
struct UncertaintySlopes {
  Coefficient shared_time_sigma;       ///< what the residuals of device and stack both contain
  Coefficient sigma_per_doubling;      ///< added to step times' residual outside of what was measured
  Coefficient sigma_per_novelty;       ///< added for a device, number format or kind of network never measured
  Coefficient host_sigma;              ///< of the host's times, under a stack that was calibrated
  Coefficient unstated_network_sigma;  ///< of a network between nodes that the source of a run does not state
  Coefficient unmeasured_host_sigma;   ///< of the host's times, under any other stack
};

}  // namespace plumbline
