#pragma once
/// \file shape.h: tensor shapes whose batch and sequence lengths stay symbols until a plan binds them.
///
/// One graph serves every micro-batch and sequence length, so a search never rebuilds it.

#include <cstdint>
#include <string>
#include <vector>

namespace plumbline {

/// What a dimension grows with. `batch`: sequences (or images) in a micro-batch; `sequence`: tokens of one sequence.
enum class Symbol : std::uint8_t { constant, batch, sequence };

/// One dimension: `factor` times the symbol's value (the value of `constant` is 1).
struct Dimension {
  Symbol symbol = Symbol::constant;
  std::int64_t factor = 1;
  bool operator==(const Dimension&) const = default;
};

/// The lengths that a plan gives to the symbols.
struct SymbolValues {
  std::int64_t batch = 1;
  std::int64_t sequence = 1;
};

using Shape = std::vector<Dimension>;

inline constexpr Dimension batch_dimension{Symbol::batch, 1};
inline constexpr Dimension sequence_dimension{Symbol::sequence, 1};
[[nodiscard]] constexpr Dimension fixed_dimension(std::int64_t size) { return {Symbol::constant, size}; }

[[nodiscard]] constexpr std::int64_t size_of(const Dimension& dimension, const SymbolValues& values) {
  switch (dimension.symbol) {
    case Symbol::batch: return dimension.factor * values.batch;
    case Symbol::sequence: return dimension.factor * values.sequence;
    case Symbol::constant: break;
  }
  return dimension.factor;
}

/// Product of all dimensions.
[[nodiscard]] std::int64_t element_count(const Shape& shape, const SymbolValues& values);
/// Whether any dimension grows with `symbol`.
[[nodiscard]] bool depends_on(const Shape& shape, Symbol symbol);
/// "[batch, sequence, 4096]".
[[nodiscard]] std::string to_text(const Shape& shape);

}  // namespace plumbline
