#pragma once
/// \file autocast.h: what runs in 32 bits, and what is cast, where a framework mixes precisions by torch.autocast.
///
/// Answers the block that such a framework runs, the bytes of its casts and their kernels. Model: parameters are in 32
/// bits, and each pass of a micro-batch casts those of every product to 16, and their gradients back; that 16-bit copy
/// stands from forward to backward, as the 16-bit weights of a recipe with masters do. Sums and embeddings are in 32
/// bits, so that the residual stream is, and with it what norms read and write; a product casts what a norm wrote.
/// What a product, attention or an activation writes is in 16 bits. Residuals of images come from convolutions, batch
/// norms, which run in the format of their input, and pooling, with no table of 32 bits among them: they and their sums
/// are in 16 bits. In passes over a 16-bit tensor: a norm reads and writes 32 bits and is cast (2 + 2 + 3); backward,
/// the cast (3), the gradient of its input (6) and those of its weights (4). A sum reads a 32- and a 16-bit tensor (2 +
/// 1 + 2); backward, one is cast (3) and the branches meet in 32 bits (6). Where a compiler joins casts with their
/// neighbours a norm writes 16 bits (2 + 1; back 1 + 2 + 2) and a sum's cast is part of the norm's gradient (6).
/// Source: PyTorch, docs/source/amp.rst (layer_norm and losses in float32, sums by type promotion, linear and
/// convolutions in 16 bits, batch_norm in neither list), aten/src/ATen/autocast_mode.cpp (weights are cast once a pass
/// and kept); tools/autograd/derivatives.yaml. Not modelled: several products that each cast one input; a recompute
/// that casts weights again and keeps them. Checked against: tests/unit/core/cost/autocast_test.cpp, by hand; steps of
/// models/measurements/plumbline-h200.json.

#include "core/cost/launches.h"
#include "core/cost/primitive_operators.h"

namespace plumbline {

/// Whether the recipe mixes 16 bits with 32, and the stack does so by casting.
[[nodiscard]] bool casts_itself(const StackFeatures& features, const PrecisionFormats& formats);

/// Whether residuals of the block are images, which nothing in 32 bits was ever added to.
[[nodiscard]] bool has_image_residuals(const Block& block);
/// The block with its residual stream in 32 bits, unless that is of images.
[[nodiscard]] Block with_32_bit_residuals(const Block& block);
/// What the stack runs of a block: that, or the block as it is.
[[nodiscard]] Block as_run(const Block& block, const Shard& shard, const StackFeatures& features);

/// Of an operator that works in 32 bits, over what op_work counted of `block` as it is run.
[[nodiscard]] Traffic autocast_traffic(const Op& op, const OpWork& work, MixedPrecision how);
/// With a product: its weights to 16 bits, the gradients of those that train back to 32.
[[nodiscard]] Traffic weight_casts(const OpWork& work);
/// The kernels of casts with a product: of its weights and biases, and without a compiler of an input that a norm
/// wrote.
[[nodiscard]] Launches cast_launches(const Block& block, const Op& op, const OpWork& work, MixedPrecision how);

}  // namespace plumbline
