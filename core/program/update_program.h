#pragma once
/// \file update_program.h: what a rank does at its optimizer step, as a straight list of instructions.
///
/// Answers: which gradients' squares the rank adds up, which elements of which parameter it updates, where an optimizer
/// needs whole matrices what is gathered, orthogonalised and taken from them, and the buffers that this takes. Model: a
/// rank sums the gradients that it answers for; all ranks decide alike on the clip factor and on whether the step is
/// taken; each rank then updates the elements whose states it holds (parameter_layout.h). Muon, where ranks share or
/// divide matrices: each makes the direction of its own elements; section by section, ranks that share states gather
/// the directions, matrix by matrix those that divide it gather the slices; ranks with elements of a matrix
/// orthogonalise it and take theirs. Directions are fp32. An optimizer that factors squared gradients sums them,
/// section by section, keeps the means of whole matrices on every rank, and sums its updates' squares. Source: ZeRO,
/// arXiv:1910.02054, section 5; Liu et al., arXiv:2502.16982, section 2.3. Not modelled: scratch of kernels; gathers
/// alongside other work. Checked against: tests/unit/core/program/update_program_test.cpp (lists by hand),
/// tests/property/update_program_test.cpp (core/cost/matrix_gathers.h; every element once); tests/runtime/execution
/// (weights of every strategy).

#include "core/plan/strategy.h"
#include "core/program/parameter_layout.h"

namespace plumbline {

enum class UpdateKind : std::uint8_t {
  sum_gradients,  ///< of `owned`: adds its squares, and whether all are finite, to the rank's sums
  decide,         ///< gathers all ranks' sums; every device makes the same decision of them
  update,         ///< `owned`, element by element
  update_matrix,  ///< `elements` of `owned`, which are a whole matrix
  allocate,       ///< buffer `to.buffer`
  release,
  clear,          ///< `to`
  direction,      ///< of `owned`, whose momentum it updates, into `to`
  copy,           ///< `from` to `to`
  gather,         ///< over `group`: `from` of each rank, in the order of ranks, into `to`
  orthogonalise,  ///< `to`, in place; `from`: where scratch of the kernel begins
  apply,          ///< `from`, the orthogonalised direction of `owned`, to its weights
  // Of an optimizer that factors squared gradients, at `places`:
  add_squares,  ///< of `owned`: squares of its gradients by row and column, and of its weights
  reduce,       ///< over `group`: adds `to` of all ranks up, in place
  keep_means,   ///< of a whole parameter: moves the kept means towards those of the sums
  add_updates,  ///< of `owned`: squares of its update, which the means make
  take_update   ///< of `owned`: its update, to its weights
};
[[nodiscard]] std::string_view to_text(UpdateKind kind);

/// Who gathers: ranks that share the states of a section, or ranks that each hold a slice of its matrices.
enum class GatherGroup : std::uint8_t { states, slices };

/// Of a buffer, in fp32: rows of `columns` elements that begin `stride` apart.
struct FloatRows {
  std::int32_t buffer = -1;
  std::int64_t first = 0;
  std::int64_t rows = 1;
  std::int64_t columns = 0;
  std::int64_t stride = 0;

  [[nodiscard]] std::int64_t elements() const { return rows * columns; }
};

struct UpdateInstruction {
  UpdateKind kind = UpdateKind::update;
  GatherGroup group = GatherGroup::states;
  std::int32_t ranks = 1;     ///< of the group
  std::int32_t owned = -1;    ///< of ParameterLayout::owned
  std::int32_t section = -1;  ///< whose ranks communicate
  ElementRange elements;      ///< of the parameter's box
  std::int64_t rows = 0;      ///< of the whole matrix
  std::int64_t columns = 0;
  FloatRows from;
  FloatRows to;
  std::int32_t places = -1;  ///< of UpdateProgram::places
};

/// Where a parameter's sums lie in buffer 0 (core/sharding/factored_squares.h).
struct SumPlaces {
  std::int32_t parameter = -1;
  std::int64_t rows = 0;  ///< of vectors each element
  std::int64_t columns = 0;
  std::int64_t weights = 0;
  std::int64_t updates = 0;
  std::int64_t means = 0;  ///< of a matrix's means by row, or by column where ranks divide the rows
};

struct UpdateBuffer {
  std::int64_t elements = 0;  ///< of fp32
  /// Counts as no tensor; behind its elements there is room for what a kernel needs that orthogonalises `rows` by
  /// `columns`.
  bool is_scratch = false;
  std::int64_t rows = 0;
  std::int64_t columns = 0;
};

struct UpdateProgram {
  std::vector<UpdateBuffer> buffers;
  std::vector<UpdateInstruction> instructions;
  std::vector<SumPlaces> places;
};

/// Whether ranks each hold a slice of every matrix of a parameter, and how many.
[[nodiscard]] std::int64_t dividing_ranks(const LocalParameter& parameter, const Strategy& strategy);

/// Of the rank whose layout it is.
[[nodiscard]] UpdateProgram lower_update(const ParameterLayout& layout, const Strategy& strategy, Optimizer optimizer,
                                         std::int32_t rank);

/// One line for each instruction, for tests and people.
[[nodiscard]] std::string to_text(const UpdateProgram& program, const ParameterLayout& layout);

}  // namespace plumbline
