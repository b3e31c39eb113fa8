#pragma once
/// \file product_format.h: the format in which a matrix product reads its operands under a precision recipe.
///
/// Answers: a format. Model: the recipe's for products; fp8 recipes keep heads, routers, adapters, attention and small
/// products in the format of activations. Source: the sizes that torchao's auto_filter_small_kn leaves out; NeMo's
/// adapters are linears in 16 bits; Transformer Engine's default keeps heads. Not modelled: layers that a user
/// excludes. Checked against: tests/runtime/execution/fp8_test.cpp (what is executed holds the bytes of these copies).

#include "core/sharding/op_work.h"

namespace plumbline {

/// Of one operator of a block on one rank. Attention and operators that multiply nothing have no say here.
[[nodiscard]] NumberFormat product_format(const Block& block, const Op& op, const Shard& shard);

}  // namespace plumbline
