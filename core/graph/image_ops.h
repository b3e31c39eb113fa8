#pragma once
/// \file image_ops.h: writes operators over images, [batch, channels, height, width], into a block.

#include "core/graph/token_ops.h"

namespace plumbline::ops {

TensorId convolution(BlockBuilder& block, const std::string& name, TensorId x, ConvolutionAttributes attributes,
                     Bias bias = Bias::no);
TensorId batch_norm(BlockBuilder& block, const std::string& name, TensorId x);
TensorId pooling(BlockBuilder& block, const std::string& name, TensorId x, PoolingAttributes attributes);
TensorId upsample(BlockBuilder& block, const std::string& name, TensorId x, std::int64_t factor);

}  // namespace plumbline::ops
