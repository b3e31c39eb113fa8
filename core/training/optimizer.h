#pragma once
/// \file optimizer.h: what an optimizer keeps and moves per parameter, which numbers it reads and where it is executed:
/// one record each.
///
/// Source: the update rules of each method (SGD; Polyak momentum; Duchi 2011; RMSProp; Kingma & Ba, arXiv:1412.6980;
/// Loshchilov & Hutter, arXiv:1711.05101; Chen et al., arXiv:2302.06675; Jordan et al., "Muon", 2024; Shazeer & Stern,
/// arXiv:1804.04235; Dettmers et al., "8-bit Optimizers via Block-wise Quantization", arXiv:2110.02861, as bitsandbytes
/// 0.50 keeps their states).

#include <array>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string_view>
#include <vector>

#include "core/quantity/quantity.h"
#include "core/training/precision.h"

namespace plumbline {

enum class Optimizer : std::uint8_t {
  sgd,
  momentum,
  adagrad,
  rmsprop,
  adam,
  adamw,
  lion,
  muon,
  adafactor,
  adamw_8bit,
  paged_adamw_8bit
};

/// A number of an update rule that a user may set.
enum class Hyperparameter : std::uint8_t { beta1, beta2, epsilon, momentum, weight_decay };
class Hyperparameters {
 public:
  constexpr Hyperparameters(std::initializer_list<Hyperparameter> all) {
    for (const Hyperparameter each : all) bits_ |= bit(each);
  }
  [[nodiscard]] constexpr bool has(Hyperparameter each) const { return (bits_ & bit(each)) != 0; }

 private:
  [[nodiscard]] static constexpr unsigned bit(Hyperparameter each) { return 1U << static_cast<unsigned>(each); }
  unsigned bits_ = 0;
};

/// Whether `plan run` trains with it; else it is refused.
enum class IsExecuted : std::uint8_t { no, yes };

struct OptimizerFacts {
  Optimizer optimizer;
  std::string_view name;
  int matrix_states = 0;                 ///< values kept per parameter of a weight matrix inside the layers
  int other_states = 0;                  ///< values kept per embedding, head, norm and bias parameter
  bool orthogonalises_matrices = false;  ///< Newton-Schulz iterations on each matrix update
  /// Keeps means of squared gradients: of matrices by row and by column, of vectors of each element
  /// (core/sharding/factored_squares.h); neither of the numbers above.
  bool factors_squares = false;
  /// Keeps states of large parameters in codes of a byte, block by block (core/sharding/layer_matrix.h:
  /// has_quantized_states); those of the others in fp32, whatever the recipe says.
  bool quantizes_states = false;
  // How often one update reads them:
  int gradient_reads = 1;
  int weight_reads = 1;
  Hyperparameters reads;
  // What checkpoints call the first state, as PyTorch does; the second is exp_avg_sq, that of columns col_var.
  std::string_view matrix_state = {};
  std::string_view other_state = {};
  IsExecuted executed = IsExecuted::no;  ///< the update: one case in runtime/execution/optimizer_update.cpp

  [[nodiscard]] constexpr bool keeps_states() const { return other_states > 0 || factors_squares; }
};

/// AdamW whose states are quantized.
[[nodiscard]] constexpr OptimizerFacts adamw_in_codes(Optimizer optimizer, std::string_view name) {
  return {
      .optimizer = optimizer,
      .name = name,
      .matrix_states = 2,
      .other_states = 2,
      .quantizes_states = true,
      .reads = {Hyperparameter::beta1, Hyperparameter::beta2, Hyperparameter::epsilon, Hyperparameter::weight_decay},
      .matrix_state = "exp_avg",
      .other_state = "exp_avg",
      .executed = IsExecuted::yes};
}

inline constexpr std::array optimizer_table{
    OptimizerFacts{.optimizer = Optimizer::sgd,
                   .name = "sgd",
                   .reads = {Hyperparameter::weight_decay},
                   .executed = IsExecuted::yes},
    OptimizerFacts{.optimizer = Optimizer::momentum,
                   .name = "momentum",
                   .matrix_states = 1,
                   .other_states = 1,
                   .reads = {Hyperparameter::momentum, Hyperparameter::weight_decay},
                   .matrix_state = "momentum_buffer",
                   .other_state = "momentum_buffer",
                   .executed = IsExecuted::yes},
    // As published, AdaGrad, RMSProp and Adam (algorithm 1) have no weight decay.
    OptimizerFacts{.optimizer = Optimizer::adagrad,
                   .name = "adagrad",
                   .matrix_states = 1,
                   .other_states = 1,
                   .reads = {Hyperparameter::epsilon},
                   .matrix_state = "sum",
                   .other_state = "sum",
                   .executed = IsExecuted::yes},
    OptimizerFacts{.optimizer = Optimizer::rmsprop,
                   .name = "rmsprop",
                   .matrix_states = 1,
                   .other_states = 1,
                   .reads = {Hyperparameter::beta2, Hyperparameter::epsilon},
                   .matrix_state = "square_avg",
                   .other_state = "square_avg",
                   .executed = IsExecuted::yes},
    OptimizerFacts{.optimizer = Optimizer::adam,
                   .name = "adam",
                   .matrix_states = 2,
                   .other_states = 2,
                   .reads = {Hyperparameter::beta1, Hyperparameter::beta2, Hyperparameter::epsilon},
                   .matrix_state = "exp_avg",
                   .other_state = "exp_avg",
                   .executed = IsExecuted::yes},
    OptimizerFacts{
        .optimizer = Optimizer::adamw,
        .name = "adamw",
        .matrix_states = 2,
        .other_states = 2,
        .reads = {Hyperparameter::beta1, Hyperparameter::beta2, Hyperparameter::epsilon, Hyperparameter::weight_decay},
        .matrix_state = "exp_avg",
        .other_state = "exp_avg",
        .executed = IsExecuted::yes},
    OptimizerFacts{.optimizer = Optimizer::lion,
                   .name = "lion",
                   .matrix_states = 1,
                   .other_states = 1,
                   .reads = {Hyperparameter::beta1, Hyperparameter::beta2, Hyperparameter::weight_decay},
                   .matrix_state = "exp_avg",
                   .other_state = "exp_avg",
                   .executed = IsExecuted::yes},
    OptimizerFacts{.optimizer = Optimizer::muon,
                   .name = "muon",
                   .matrix_states = 1,
                   .other_states = 2,
                   .orthogonalises_matrices = true,
                   .reads = {Hyperparameter::beta1, Hyperparameter::beta2, Hyperparameter::epsilon,
                             Hyperparameter::momentum, Hyperparameter::weight_decay},
                   .matrix_state = "momentum_buffer",
                   .other_state = "exp_avg",
                   .executed = IsExecuted::yes},
    // Reads as kernels/cuda/adafactor.cu has them: sums by row, by column and of the update, and the update itself.
    OptimizerFacts{.optimizer = Optimizer::adafactor,
                   .name = "adafactor",
                   .factors_squares = true,
                   .gradient_reads = 4,
                   .weight_reads = 2,
                   .reads = {Hyperparameter::weight_decay},
                   .matrix_state = "row_var",
                   .other_state = "variance",
                   .executed = IsExecuted::yes},
    adamw_in_codes(Optimizer::adamw_8bit, "adamw-8bit"),
    // Its states lie in unified memory, which the driver may evict: they count as device memory all the same, so that
    // what fits runs without a page fault. What eviction would save, and cost, is not modelled.
    adamw_in_codes(Optimizer::paged_adamw_8bit, "paged-adamw-8bit")};

/// Elements of a quantized state that share a scale (bitsandbytes 0.50: optim/optimizer.py, `blocksize`).
inline constexpr std::int64_t state_block = 256;
/// Elements of the smallest parameter whose states are quantized (there: `min_8bit_size`).
inline constexpr std::int64_t least_quantized_state = 4096;
/// What a block takes, in values of four bytes: its scale and its codes.
inline constexpr std::int64_t state_block_values = 1 + state_block / 4;

/// Values of four bytes that one quantized state of `count` neighbours takes.
[[nodiscard]] constexpr std::int64_t quantized_state_values(std::int64_t count) {
  return (count + state_block - 1) / state_block * state_block_values;
}
/// The most that `elements` take in at most `ranges` ranges, each of which begins with a block of its own. Grows by
/// less than one for each element.
[[nodiscard]] constexpr std::int64_t most_quantized_state_values(std::int64_t elements, std::int64_t ranges) {
  return ((elements + (state_block - 1) * ranges) * state_block_values + state_block - 1) / state_block;
}

[[nodiscard]] const OptimizerFacts& facts(Optimizer optimizer);
[[nodiscard]] inline std::string_view to_text(Optimizer optimizer) { return facts(optimizer).name; }
[[nodiscard]] std::optional<Optimizer> optimizer_from_text(std::string_view text);
/// Those that `plan run` trains at least some networks with.
[[nodiscard]] std::vector<Optimizer> executed_optimizers();

/// How many parameters of a rank are weight matrices inside layers and how many are not.
struct ParameterSplit {
  std::int64_t matrix = 0;
  std::int64_t other = 0;
  std::int64_t squares = 0;  ///< means that an optimizer keeps of them which factors squares: ranks do not divide them
  std::int64_t quantized = 0;  ///< of all, those of which an optimizer that quantizes states does so
  [[nodiscard]] constexpr std::int64_t total() const { return matrix + other; }
};

/// Bytes of optimizer state (moments, without the master copy).
[[nodiscard]] Bytes optimizer_state_bytes(Optimizer optimizer, const PrecisionFormats& formats,
                                          ParameterSplit parameters);
/// Bytes read and written by one update: gradient and master (or weight) as often as it reads them, moments both ways,
/// master and weight out.
[[nodiscard]] Bytes optimizer_traffic(Optimizer optimizer, const PrecisionFormats& formats, ParameterSplit parameters);

}  // namespace plumbline
