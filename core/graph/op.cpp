#include "core/graph/op.h"

namespace plumbline {

std::string_view to_text(OpKind kind) {
  switch (kind) {
    case OpKind::embedding: return "embedding";
    case OpKind::position_embedding: return "position_embedding";
    case OpKind::linear: return "linear";
    case OpKind::grouped_linear: return "grouped_linear";
    case OpKind::batched_matmul: return "batched_matmul";
    case OpKind::attention: return "attention";
    case OpKind::softmax: return "softmax";
    case OpKind::layer_norm: return "layer_norm";
    case OpKind::rms_norm: return "rms_norm";
    case OpKind::batch_norm: return "batch_norm";
    case OpKind::activation: return "activation";
    case OpKind::gated_activation: return "gated_activation";
    case OpKind::rotary: return "rotary";
    case OpKind::dropout: return "dropout";
    case OpKind::add: return "add";
    case OpKind::router: return "router";
    case OpKind::dispatch: return "dispatch";
    case OpKind::combine: return "combine";
    case OpKind::convolution: return "convolution";
    case OpKind::pooling: return "pooling";
    case OpKind::upsample: return "upsample";
    case OpKind::concatenate: return "concatenate";
    case OpKind::select: return "select";
    case OpKind::cross_entropy: return "cross_entropy";
  }
  return "";
}

}  // namespace plumbline
