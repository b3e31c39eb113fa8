#pragma once
/// \file operator_constants.h: numbers of a network's operators that no shape, price or byte depends on.
///
/// Source of the values without a config: Vaswani et al., arXiv:1706.03762, section 5.4 (dropout); Su et al.,
/// arXiv:2104.09864, section 3.3 (rotary base); PyTorch's LayerNorm (epsilon). Not modelled: probabilities of dropout
/// that differ between places, rotary scaling and partial rotation, other forms of GELU than tanh's.

namespace plumbline {

struct OperatorConstants {
  float dropout = 0.1F;
  double rotary_base = 10000;
  float norm_epsilon = 1e-5F;
};

}  // namespace plumbline
