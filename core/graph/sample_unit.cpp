#include "core/graph/sample_unit.h"

#include <algorithm>

#include "core/base/found_by_name.h"

namespace plumbline {
namespace {

bool grows_with_sequence(const Graph& graph) {
  return std::any_of(graph.blocks().begin(), graph.blocks().end(), [](const Block& block) {
    return std::any_of(block.tensors().begin(), block.tensors().end(),
                       [](const Tensor& tensor) { return depends_on(tensor.shape, Symbol::sequence); });
  });
}

bool takes_pictures(const Block& first) {
  constexpr std::size_t picture_dimensions = 4;
  return std::any_of(first.tensors().begin(), first.tensors().end(), [](const Tensor& tensor) {
    return tensor.shape.size() == picture_dimensions && depends_on(tensor.shape, Symbol::batch);
  });
}

/// Whether it has attention, and none that hides later tokens.
bool only_encodes(const Graph& graph) {
  bool attends = false;
  for (const Block& block : graph.blocks())
    for (const Op& op : block.ops()) {
      const auto* attention = std::get_if<AttentionAttributes>(&op.attributes);
      if (attention == nullptr) continue;
      if (attention->causal) return false;
      attends = true;
    }
  return attends;
}

}  // namespace

std::string_view to_text(SampleUnit unit) {
  switch (unit) {
    case SampleUnit::sequence: return "sequence";
    case SampleUnit::sample: return "sample";
    case SampleUnit::image: return "image";
  }
  return "";
}

std::optional<SampleUnit> sample_unit_from_text(std::string_view text) { return value_named(all_sample_units, text); }

SampleUnit sample_unit(const Graph& graph) {
  if (grows_with_sequence(graph)) return only_encodes(graph) ? SampleUnit::sample : SampleUnit::sequence;
  return takes_pictures(graph.block(graph.runs().front().block)) ? SampleUnit::image : SampleUnit::sample;
}

}  // namespace plumbline
