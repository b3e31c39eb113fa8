#pragma once
/// \file optimizer.h: what an optimizer keeps and moves per parameter. A new optimizer is one row of the table.
///
/// Source: the update rules of each method (SGD; Polyak momentum; Duchi 2011; RMSProp; Kingma & Ba, arXiv:1412.6980;
/// Loshchilov & Hutter, arXiv:1711.05101; Chen et al., arXiv:2302.06675; Jordan et al., "Muon", 2024).

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "core/quantity/quantity.h"
#include "core/training/precision.h"

namespace plumbline {

enum class Optimizer : std::uint8_t { sgd, momentum, adagrad, rmsprop, adam, adamw, lion, muon };

struct OptimizerFacts {
  Optimizer optimizer;
  std::string_view name;
  int matrix_states;             ///< values kept per parameter of a weight matrix inside the layers
  int other_states;              ///< values kept per embedding, head, norm and bias parameter
  bool orthogonalises_matrices;  ///< Newton-Schulz iterations on each matrix update
};

inline constexpr std::array optimizer_table{OptimizerFacts{Optimizer::sgd, "sgd", 0, 0, false},
                                            OptimizerFacts{Optimizer::momentum, "momentum", 1, 1, false},
                                            OptimizerFacts{Optimizer::adagrad, "adagrad", 1, 1, false},
                                            OptimizerFacts{Optimizer::rmsprop, "rmsprop", 1, 1, false},
                                            OptimizerFacts{Optimizer::adam, "adam", 2, 2, false},
                                            OptimizerFacts{Optimizer::adamw, "adamw", 2, 2, false},
                                            OptimizerFacts{Optimizer::lion, "lion", 1, 1, false},
                                            OptimizerFacts{Optimizer::muon, "muon", 1, 2, true}};

[[nodiscard]] const OptimizerFacts& facts(Optimizer optimizer);
[[nodiscard]] inline std::string_view to_text(Optimizer optimizer) { return facts(optimizer).name; }
[[nodiscard]] std::optional<Optimizer> optimizer_from_text(std::string_view text);

/// How many parameters of a rank are weight matrices inside layers and how many are not.
struct ParameterSplit {
  std::int64_t matrix = 0;
  std::int64_t other = 0;
  [[nodiscard]] constexpr std::int64_t total() const { return matrix + other; }
};

/// Bytes of optimizer state (moments, without the master copy).
[[nodiscard]] Bytes optimizer_state_bytes(Optimizer optimizer, const PrecisionFormats& formats,
                                          ParameterSplit parameters);
/// Bytes read and written by one update: gradient, master (or weight), moments both ways, weight out.
[[nodiscard]] Bytes optimizer_traffic(Optimizer optimizer, const PrecisionFormats& formats, ParameterSplit parameters);

}  // namespace plumbline
