#include "core/graph/shape.h"

#include <algorithm>

namespace plumbline {

std::int64_t element_count(const Shape& shape, const SymbolValues& values) {
  std::int64_t count = 1;
  for (const Dimension& dimension : shape) count *= size_of(dimension, values);
  return count;
}

bool depends_on(const Shape& shape, Symbol symbol) {
  return std::any_of(shape.begin(), shape.end(), [&](const Dimension& d) { return d.symbol == symbol; });
}

std::string to_text(const Shape& shape) {
  std::string text = "[";
  for (const Dimension& dimension : shape) {
    if (text.size() > 1) text += ", ";
    const std::string factor = std::to_string(dimension.factor);
    switch (dimension.symbol) {
      case Symbol::constant: text += factor; break;
      case Symbol::batch: text += dimension.factor == 1 ? "batch" : factor + " batch"; break;
      case Symbol::sequence: text += dimension.factor == 1 ? "sequence" : factor + " sequence"; break;
    }
  }
  return text + "]";
}

}  // namespace plumbline
