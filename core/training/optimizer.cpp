#include "core/training/optimizer.h"

#include "core/base/errors.h"

namespace plumbline {

const OptimizerFacts& facts(Optimizer optimizer) {
  for (const OptimizerFacts& row : optimizer_table)
    if (row.optimizer == optimizer) return row;
  throw InternalError("an optimizer is missing from optimizer_table");
}

std::optional<Optimizer> optimizer_from_text(std::string_view text) {
  for (const OptimizerFacts& row : optimizer_table)
    if (row.name == text) return row.optimizer;
  return std::nullopt;
}

std::vector<Optimizer> executed_optimizers() {
  std::vector<Optimizer> executed;
  for (const OptimizerFacts& row : optimizer_table)
    if (row.executed == IsExecuted::yes) executed.push_back(row.optimizer);
  return executed;
}

Bytes optimizer_state_bytes(Optimizer optimizer, const PrecisionFormats& formats, ParameterSplit parameters) {
  const OptimizerFacts& row = facts(optimizer);
  if (row.quantizes_states)
    return storage((most_quantized_state_values(parameters.quantized, 0) + parameters.total() - parameters.quantized) *
                       row.matrix_states,
                   formats.optimizer_state);
  const std::int64_t squares = row.factors_squares ? parameters.squares : 0;
  return storage(parameters.matrix * row.matrix_states + parameters.other * row.other_states + squares,
                 formats.optimizer_state);
}

Bytes optimizer_traffic(Optimizer optimizer, const PrecisionFormats& formats, ParameterSplit parameters) {
  const Bytes states = optimizer_state_bytes(optimizer, formats, parameters);
  const std::int64_t count = parameters.total();
  const Bytes updated = storage(count, formats.master.value_or(formats.weight));
  const Bytes weight_copy = formats.master ? storage(count, formats.weight) : Bytes(0);
  const OptimizerFacts& row = facts(optimizer);
  return std::int64_t{row.gradient_reads} * storage(count, formats.gradient) + 2 * states +
         std::int64_t{row.weight_reads + 1} * updated + weight_copy;
}

}  // namespace plumbline
