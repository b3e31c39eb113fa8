#include "core/cost/recompute_modules.h"

#include <algorithm>
#include <string_view>

#include "core/graph/slot.h"

namespace plumbline {
namespace {

class ModuleMarks {
 public:
  explicit ModuleMarks(const Block& block) : block_(block), marked_(block.ops().size(), false) {}

  void mark(RecomputeModule module) {
    switch (module) {
      case RecomputeModule::core_attn: return mark_where([](const Op& op) { return op.kind == OpKind::attention; });
      case RecomputeModule::moe_act:
        return mark_where([&](const Op& op) { return is_activation(op.kind) && is_part(op, "experts."); });
      case RecomputeModule::layernorm: return mark_where([&](const Op& op) { return is_layer_norm(op); });
      case RecomputeModule::mla_up_proj: return mark_up_projections();
      case RecomputeModule::mlp: return mark_dense_mlp();
      case RecomputeModule::moe:
        return mark_where([&](const Op& op) { return is_part(op, "experts.") || is_part(op, "shared_expert."); });
      case RecomputeModule::shared_experts:
        return mark_where([&](const Op& op) { return is_part(op, "shared_expert."); });
    }
  }
  [[nodiscard]] std::vector<bool> in_order() const {
    std::vector<bool> replayed;
    for (const OpId id : block_.execution_order()) replayed.push_back(marked_[slot(id)]);
    return replayed;
  }

 private:
  [[nodiscard]] static bool is_part(const Op& op, std::string_view prefix) { return op.name.starts_with(prefix); }
  /// The norms before attention and MLP: their weights are as wide as what enters the layer, those of heads are not.
  [[nodiscard]] bool is_layer_norm(const Op& op) const {
    if (!is_token_norm(op.kind)) return false;
    const auto width = [&](TensorId id) { return block_.tensor(id).shape.back().factor; };
    return !block_.inputs().empty() && !op.parameters.empty() &&
           width(op.parameters.front()) == width(block_.inputs().front()) && !op.name.ends_with(".post_norm");
  }
  template <class Belongs>
  void mark_where(Belongs belongs) {
    for (std::size_t i = 0; i < marked_.size(); ++i)
      if (belongs(block_.ops()[i])) marked_[i] = true;
  }
  void mark_dense_mlp() {
    for (std::size_t i = 0; i < marked_.size(); ++i) {
      const Op& op = block_.ops()[i];
      if (!is_part(op, "mlp.") || op.kind == OpKind::add || op.name.ends_with(".post_norm")) continue;
      if (is_layer_norm(op) && !feeds_dense_mlp(op)) continue;
      marked_[i] = true;
    }
  }
  [[nodiscard]] bool feeds_dense_mlp(const Op& norm) const {
    const auto& readers = block_.consumers(norm.outputs.front());
    return std::any_of(readers.begin(), readers.end(),
                       [&](OpId id) { return block_.op(id).kind == OpKind::linear && is_part(block_.op(id), "mlp."); });
  }
  /// From attention's inputs back to what is compressed. A layer that compresses nothing has no such module.
  void mark_up_projections() {
    const auto compresses = [](const Op& op) {
      return op.kind == OpKind::linear && is_part(op, "attention.") &&
             std::get<LinearAttributes>(op.attributes).partition == WeightPartition::replicated;
    };
    if (std::none_of(block_.ops().begin(), block_.ops().end(), compresses)) return;
    for (const Op& op : block_.ops())
      if (op.kind == OpKind::attention)
        for (const TensorId input : op.inputs) mark_back(input, compresses);
  }
  template <class Stops>
  void mark_back(TensorId tensor, const Stops& stops) {
    const OpId producer = block_.producer(tensor);
    if (!producer.is_valid() || marked_[slot(producer)]) return;
    const Op& op = block_.op(producer);
    if (stops(op) || is_layer_norm(op) || op.kind == OpKind::add) return;
    marked_[slot(producer)] = true;
    for (const TensorId input : op.inputs) mark_back(input, stops);
  }

  const Block& block_;
  std::vector<bool> marked_;
};

}  // namespace

std::vector<bool> replayed_by_modules(const Block& block, const RecomputeModules& modules) {
  ModuleMarks marks(block);
  for (const RecomputeModule module : all_recompute_modules)
    if (modules.has(module)) marks.mark(module);
  return marks.in_order();
}

Bytes kept_bytes(const Block& block, const Shard& shard, const Replay& replay) {
  const std::vector<SavedTensor> saved = saved_tensors(block, shard);
  const KeepRule rule = keep_rule(block, saved, replay);
  Bytes sum(0);
  for (std::size_t t = 0; t < rule.keeps_tensor.size(); ++t)
    if (rule.keeps_tensor[t]) sum += local_bytes(block.tensors()[t], shard);
  for (std::size_t t = 0; t < rule.keeps_gathered.size(); ++t)
    if (rule.keeps_gathered[t]) sum += gathered_bytes(block.tensors()[t], shard);
  for (const SavedTensor& s : saved)
    if (s.op.is_valid() && rule.keeps_side[static_cast<std::size_t>(s.op.index())]) sum += s.bytes;
  return sum;
}

}  // namespace plumbline
