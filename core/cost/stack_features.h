#pragma once
/// \file stack_features.h: what a software stack does where it does one thing or another: choices, not numbers.
///
/// A feature has no uncertainty: no fit moves it and no sensitivity is taken of it. What is a share of something, or
/// was ever fitted, is an efficiency (calibration.h). Files spell features as words (stack_feature_table.h).
/// The first choice of each is what holds where nothing is said.

#include <cstdint>

#include "core/sharding/kept_forms.h"

namespace plumbline {

/// One kernel, or one for each primitive operator (primitive_operators.h).
enum class OperatorKernels : std::uint8_t { fused, primitive };
/// Rotary embeddings: one kernel; products of complex numbers in 32 bits; or products with cosines and sines of what is
/// rotated and of its halves, exchanged.
enum class Rotations : std::uint8_t { fused, complex, by_halves };
/// Where 16-bit products are mixed with 32-bit masters: 16-bit weights and activations, or torch.autocast (autocast.h),
/// whose casts are kernels of their own or joined with their neighbours by a compiler.
enum class MixedPrecision : std::uint8_t { of_weights, by_autocast, by_compiled_autocast };
/// Keys and values that several query heads share, before attention.
enum class KeyValueHeads : std::uint8_t { shared, repeated };
/// Which dimension tensor-parallel ranks gather and scatter in place. Batch first is PyTorch's DTensor: sequences are
/// copied into their order.
enum class GatheredDimension : std::uint8_t { sequence, batch };
/// Whether the host launches on while the device works.
enum class HostPace : std::uint8_t { runs_ahead, waits };
/// Weights of fp8 products.
enum class QuantizedWeights : std::uint8_t { with_16_bit, alone };
/// fp8 copies of such a weight, kept from micro-batch to micro-batch.
enum class QuantizedCopies : std::uint8_t { none, one, two };
/// What tensor-parallel ranks gather for a product in fp8: the tensor, or the copy that it multiplies where ranks can
/// cast before they gather: a scale of a row of weights is known only afterwards, and torchao casts whole tensors
/// alone.
enum class QuantizedGathers : std::uint8_t { as_read, as_multiplied };
/// What ZeRO-3 divides of trained parameters: what the recipe keeps, or parameters and gradients in 32 bits alone.
enum class ShardedStates : std::uint8_t { of_recipe, masters };
/// Gradients of a step of one micro-batch, on a rank that shares them with no other: memory of theirs, or tensors that
/// the backward makes and the next step's begin frees.
enum class StepGradients : std::uint8_t { held, freed };
/// Where what full recompute keeps of a layer waits for its backward.
enum class LayerCheckpoints : std::uint8_t { on_device, on_host };
/// When a zero-bubble rank hears whether all gradients are finite and within the norm (arXiv:2401.10241, section 4).
enum class UpdateCheck : std::uint8_t { before_update, after_update };
/// What a pipeline stage sent on, until its backward.
enum class StageOutputs : std::uint8_t { freed, kept };
/// When logits are gone: at the end of their backward, or when that of the block before them begins.
enum class LogitLifetime : std::uint8_t { own_backward, next_backward };
/// Products of the head: of all tokens of a micro-batch, or of a few at a time with their part of the loss and of its
/// gradients (chunked_head.h).
enum class HeadProducts : std::uint8_t { whole, by_chunks };
/// How often a token crosses to a rank or node that has several of its experts.
enum class ExpertCopies : std::uint8_t { one_per_expert, one_per_rank };

/// Who adds the biases of experts: their products, or PyTorch's operators expert by expert, either those of the second
/// product alone, which the router's weights scale, or of both.
enum class ExpertBiases : std::uint8_t { fused, second_by_expert, by_expert };

/// Casts of the operands of experts' products to few bits: joined with their neighbours as those of other products are,
/// or kernels of their own; and whether rows are copied to multiples of a tile before, and back after.
enum class ExpertCasts : std::uint8_t { joined, own, padded };

/// What exchanges of experts run alongside where a schedule pairs passes: the other pass, or nothing.
enum class PairedExchanges : std::uint8_t { overlapped, in_order };

/// Which collectives that share states run beside passes: gradients beside the last backward and updated parameters
/// beside the first forward, gradients alone, or none. Parameters that ZeRO-3 gathers have a setting of the strategy.
enum class CollectiveOverlap : std::uint8_t { both, reductions, none };

/// Gradients that are reduced once a step, where a rank has several chunks: buckets over the whole rank, of which a
/// share leaves late; or each chunk one bucket that leaves when its last backward has ended, the rank's first chunk in
/// several.
enum class GradientBucketsOf : std::uint8_t { rank, chunk };

/// What waits for updated parameters that are gathered beside the first forward (ZeRO-1 and 2), where a rank has
/// several chunks: whatever it runs next, or the first forward of the chunk that they belong to.
enum class UpdateWaits : std::uint8_t { next_pass, own_chunk };

/// When gradients that ranks divide (ZeRO-2 and 3) are reduced in a pipeline: behind every backward, or behind the last
/// one of their chunk in the step, until which they are whole.
enum class ShardedGradients : std::uint8_t { every_backward, last_backward };

/// What attention's backward needs beside tensors (attention_scratch.h).
enum class AttentionScratch : std::uint8_t { none, parts_by_keys };

/// Batch norms: kernels of their own, or with the addition and the activation behind them (joined_norms.h).
enum class BatchNorms : std::uint8_t { alone, with_activation };

struct StackFeatures {
  OperatorKernels norms{};             ///< root-mean-square norms, in 32 bits where primitive
  OperatorKernels gates{};             ///< gates, and sums of the gradients of an input that several products read
  OperatorKernels scaled_rotations{};  ///< rotary embeddings that scale what they turn, by halves where primitive
  Rotations rotations{};               ///< rotary embeddings
  MixedPrecision mixed_precision{};
  KeyValueHeads key_value_heads{};
  GatheredDimension tensor_parallelism{};
  HostPace at_transfers{};  ///< messages between stages
  HostPace at_passes{};     ///< the end of a forward or backward pass
  KeptForms kept;
  QuantizedWeights fp8_parameters{};
  QuantizedCopies fp8_copies{};
  QuantizedGathers fp8_gathers{};
  ShardedStates sharded_states{};
  StepGradients step_gradients{};
  LayerCheckpoints layer_checkpoints{};
  UpdateCheck update_check{};
  StageOutputs stage_outputs{};
  LogitLifetime logits{};
  HeadProducts head_products{};
  ExpertCopies expert_copies{};
  ExpertBiases expert_biases{};
  ExpertCasts expert_casts{};
  PairedExchanges paired_exchanges{};
  AttentionScratch attention_scratch{};
  CollectiveOverlap overlap{};
  UpdateWaits update_waits{};
  GradientBucketsOf gradient_buckets{};
  ShardedGradients sharded_gradients{};
  BatchNorms batch_norms{};
};

}  // namespace plumbline
