#pragma once
/// \file joined_norms.h: additions and activations that run in the kernels of the batch norm before them.
///
/// Answers which operators do, and what they add to the norm's kernels. Model: an activation behind a batch norm moves
/// nothing of its own, forward or backward, which works out again where it was zero. An addition between the two reads
/// its other operand once; its gradient is written once more for that operand, and is read again by the product that
/// adds what it makes to it where the branches met (MXNET_EXEC_ENABLE_ADDTO). None of them is a launch. Source: MXNet's
/// BatchNorm with act_type and BatchNormAddRelu in NVIDIA's submissions (mlcommons/training_results_v4.0,
/// NVIDIA/benchmarks/resnet: --fuse-bn-relu 1 --fuse-bn-add-relu 1, symbols/resnet-v1b-mod-fl.py); cuDNN,
/// cudnnBatchNormalizationForwardTrainingEx with CUDNN_BATCHNORM_OPS_BN_ADD_ACTIVATION. Not modelled: the bits that say
/// where a sum was positive, a sixteenth of its size; statistics that the convolution before makes; batches that stay
/// on chip between both kernels of a norm; activations other than ReLU, whose gradient needs what the norm does not
/// keep. Checked against: tests/unit/core/cost/joined_norms_test.cpp, by hand.

#include <optional>

#include "core/graph/block.h"

namespace plumbline {

/// In passes over its output, what an operator adds to the kernels of the batch norm before it, for stacks that join
/// them; nothing where it is not behind one. The norm itself is none of them.
[[nodiscard]] std::optional<PassCounts> passes_in_norm(const Block& block, const Op& op);

}  // namespace plumbline
