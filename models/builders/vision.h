#pragma once
/// \file vision.h: image networks as graphs: vision transformers and residual convolutional networks.
///
/// Images are constants of the first block; a vision transformer's tokens are a fixed number, not the sequence symbol.

#include <string>

#include "core/graph/graph.h"
#include "models/description/transformer_description.h"

namespace plumbline {

/// Dosovitskiy et al., arXiv:2010.11929, section 3.1.
struct VisionTransformerDescription {
  std::int64_t channels = 0;
  std::int64_t height = 0;
  std::int64_t width = 0;
  std::int64_t patch = 0;  ///< edge of a square patch; divides both
  std::int64_t hidden = 0;
  std::int64_t layers = 0;
  std::int64_t labels = 0;
  bool embedding_dropout = false;
  LayerDescription layer;
};
/// Patches and the class token.
[[nodiscard]] std::int64_t token_count(const VisionTransformerDescription& description);
[[nodiscard]] Graph vision_transformer(std::string name, const VisionTransformerDescription& description);

/// He et al., arXiv:1512.03385, table 1.
struct ResidualNetworkDescription {
  std::int64_t channels = 0;
  std::int64_t image = 0;  ///< edge of the square image
  std::int64_t stem = 0;   ///< channels after the first convolution
  std::vector<std::int64_t> widths;
  std::vector<std::int64_t> depths;
  bool bottleneck = true;
  bool downsample_first_stage = false;
  bool downsample_in_first_product = false;  ///< the stride is in the 1x1 convolution of a bottleneck, not in the 3x3
  std::int64_t labels = 0;
};
[[nodiscard]] Graph residual_network(std::string name, const ResidualNetworkDescription& description);

}  // namespace plumbline
