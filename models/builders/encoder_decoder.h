#pragma once
/// \file encoder_decoder.h: networks of two stacks (T5) as one sequence of blocks.
///
/// The state between blocks is a pair: the encoder's and the decoder's, each [batch, sequence, hidden]. An encoder
/// layer hands the decoder's state on untouched and the other way round, so that a pipeline may be cut anywhere.
/// Model: the target is as long as the source (the one sequence symbol).

#include <string>

#include "core/graph/graph.h"
#include "models/description/transformer_description.h"

namespace plumbline {

struct EncoderDecoderDescription {
  std::int64_t vocabulary = 0;
  std::int64_t hidden = 0;
  std::int64_t encoder_layers = 0;
  std::int64_t decoder_layers = 0;
  bool tied_head = true;
  bool dropout = false;
  LayerDescription layer;  ///< of the encoder; the decoder's is causal and attends to the encoder as well
};

[[nodiscard]] Graph encoder_decoder_model(std::string name, const EncoderDecoderDescription& description);

}  // namespace plumbline
