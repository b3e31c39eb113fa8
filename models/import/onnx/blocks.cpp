#include "models/import/onnx/blocks.h"

#include <algorithm>
#include <map>
#include <set>

#include "core/base/errors.h"
#include "core/graph/block_builder.h"

namespace plumbline::onnx {
namespace {

/// Ops [begin, end) of the list.
struct Piece {
  int begin = 0;
  int end = 0;
};
/// Pieces that repeat, or one.
struct Run {
  Piece first;
  std::int64_t count = 1;
};

std::size_t at(int i) { return static_cast<std::size_t>(i); }

class Cutter {
 public:
  Cutter(const FlatGraph& flat, const Lowering& lowering)
      : flat_(flat), list_(lowering.graph), result_(lowering.result) {
    last_.assign(list_.tensors().size(), -1);
    for (std::size_t i = 0; i < list_.ops().size(); ++i)
      for (const int input : list_.ops()[i].inputs) last_[at(input)] = static_cast<int>(i);
    last_[at(result_)] = static_cast<int>(list_.ops().size());
    find_owners();
  }

  plumbline::Graph graph(std::string name) {
    const std::vector<Run> runs = runs_of(pieces());
    std::vector<Block> blocks;
    std::vector<BlockRun> block_runs;
    for (std::size_t i = 0; i < runs.size(); ++i) {
      const bool may_be_end = runs.size() > 1 && runs[i].count == 1;
      const BlockKind kind = may_be_end && i == 0                 ? BlockKind::input
                             : may_be_end && i + 1 == runs.size() ? BlockKind::output
                                                                  : BlockKind::layer;
      const std::string block_name = kind == BlockKind::input    ? "input"
                                     : kind == BlockKind::output ? "output"
                                                                 : "block" + std::to_string(i);
      blocks.push_back(block(runs[i].first, block_name, kind));
      block_runs.push_back({BlockId(static_cast<std::int32_t>(i)), runs[i].count});
    }
    return plumbline::Graph(std::move(name), std::move(blocks), std::move(block_runs));
  }

 private:
  /// The op that reads a parameter first holds it; others share its storage.
  void find_owners() {
    for (std::size_t i = 0; i < list_.ops().size(); ++i)
      for (const int parameter : list_.ops()[i].parameters) owner_.emplace(parameter, static_cast<int>(i));
  }

  bool is_data(int tensor) const { return list_.tensors()[at(tensor)].producer < 0; }

  /// After which ops one tensor alone goes on.
  std::vector<Piece> pieces() const {
    std::vector<Piece> result;
    const int count = static_cast<int>(list_.ops().size());
    std::vector<int> ending(at(count) + 1, 0);
    int live = 0;
    int begin = 0;
    bool has_parameters = false;
    for (int i = 0; i < count; ++i) {
      for (const int output : list_.ops()[at(i)].outputs)
        if (last_[at(output)] >= 0) ++live, ++ending[at(last_[at(output)])];
      live -= ending[at(i)];
      has_parameters = has_parameters || !list_.ops()[at(i)].parameters.empty();
      if (live > 1 && i + 1 < count) continue;
      if (!has_parameters && !result.empty())
        result.back().end = i + 1;
      else
        result.push_back({begin, i + 1});
      begin = i + 1;
      has_parameters = false;
    }
    if (begin < count) result.push_back({begin, count});
    return result;
  }

  /// Equal for pieces that compute the same.
  std::string signature(const Piece& piece) const {
    std::map<int, int> numbers;
    std::string text;
    const auto number = [&](int tensor) {
      const auto [place, is_new] = numbers.emplace(tensor, static_cast<int>(numbers.size()));
      text += "t" + std::to_string(place->second);
      if (is_new) text += (is_data(tensor) ? "d" : "") + to_text(list_.shape(tensor));
    };
    for (int i = piece.begin; i < piece.end; ++i) {
      const LoweredOp& op = list_.ops()[at(i)];
      text += std::string(to_text(op.kind)) + attributes_text(op.attributes) + "(";
      for (const int input : op.inputs) number(input);
      for (const int parameter : op.parameters) {
        text += owner_.at(parameter) == i ? "p" : "s";
        for (const std::int64_t d : flat_.stored[at(parameter)]->dims) text += std::to_string(d) + ",";
      }
      text += ")";
      for (const int output : op.outputs) number(output);
    }
    return text;
  }

  static std::string attributes_text(const OpAttributes& attributes) {
    const auto text = [](std::initializer_list<std::int64_t> numbers) {
      std::string all = "[";
      for (const std::int64_t n : numbers) all += std::to_string(n) + " ";
      return all + "]";
    };
    if (const auto* l = std::get_if<LinearAttributes>(&attributes)) return text({l->in_features});
    if (const auto* c = std::get_if<ConvolutionAttributes>(&attributes))
      return text({c->in_channels, c->out_channels, c->kernel_height, c->kernel_width, c->groups});
    if (const auto* a = std::get_if<AttentionAttributes>(&attributes))
      return text({a->heads, a->kv_heads, a->qk_head_dim, a->v_head_dim, a->causal ? 1 : 0});
    return "";
  }

  /// From left to right the sequence whose repetitions cover most; what does not repeat is put together.
  std::vector<Run> runs_of(const std::vector<Piece>& pieces) const {
    std::map<std::string, int> known;
    std::vector<int> ids;
    for (const Piece& piece : pieces)
      ids.push_back(known.emplace(signature(piece), static_cast<int>(known.size())).first->second);
    std::vector<Run> runs;
    bool may_extend = false;
    for (std::size_t i = 0; i < pieces.size();) {
      const auto [period, count] = repetition(ids, i);
      const Piece first{pieces[i].begin, pieces[i + period - 1].end};
      if (count > 1)
        runs.push_back({first, static_cast<std::int64_t>(count)});
      else if (may_extend)
        runs.back().first.end = first.end;
      else
        runs.push_back({first, 1});
      may_extend = count == 1;
      i += period * count;
    }
    return runs;
  }

  struct Repetition {
    std::size_t period = 1;
    std::size_t count = 1;
  };
  static Repetition repetition(const std::vector<int>& ids, std::size_t begin) {
    constexpr std::size_t longest_period = 64;
    Repetition best;
    for (std::size_t period = 1; period <= longest_period && begin + 2 * period <= ids.size(); ++period) {
      std::size_t end = begin + period;
      while (end < ids.size() && ids[end] == ids[end - period]) ++end;
      const std::size_t count = (end - begin) / period;
      if (count > 1 && period * count > best.period * best.count) best = {period, count};
    }
    return best;
  }

  Block block(const Piece& piece, const std::string& name, BlockKind kind) const {
    BlockBuilder builder(name, kind);
    std::map<int, TensorId> ids;
    std::set<std::string> names;
    add_inputs(piece, builder, ids);
    for (int i = piece.begin; i < piece.end; ++i) {
      const LoweredOp& op = list_.ops()[at(i)];
      std::vector<TensorId> inputs;
      for (const int input : op.inputs) inputs.push_back(ids.at(input));
      const std::string op_name =
          names.insert(op.name).second ? op.name : op.name + "#" + std::to_string(i - piece.begin);
      builder.add_op(op.kind, op_name, std::move(inputs), op.attributes);
      for (const int output : op.outputs)
        ids[output] = builder.add_result(list_.tensors()[at(output)].name, list_.shape(output), Partition::replicated);
      add_parameters(op, i, builder);
    }
    for (const auto& [tensor, id] : ids)
      if (!is_data(tensor) && list_.tensors()[at(tensor)].producer >= piece.begin && last_[at(tensor)] >= piece.end)
        builder.output(id);
    return builder.build();
  }

  void add_inputs(const Piece& piece, BlockBuilder& builder, std::map<int, TensorId>& ids) const {
    for (int i = piece.begin; i < piece.end; ++i)
      for (const int input : list_.ops()[at(i)].inputs) {
        const LoweredTensor& tensor = list_.tensors()[at(input)];
        if (ids.contains(input) || tensor.producer >= piece.begin) continue;
        ids[input] = is_data(input)
                         ? builder.constant(tensor.name, tensor.shape, tensor.element)
                         : builder.input(tensor.name, tensor.shape, ElementKind::compute, Partition::replicated);
      }
  }

  void add_parameters(const LoweredOp& op, int index, BlockBuilder& builder) const {
    for (const int parameter : op.parameters) {
      const StoredTensor& stored = *flat_.stored[at(parameter)];
      Shape shape;
      std::int64_t elements = 1;
      for (const std::int64_t d : stored.dims) shape.push_back(fixed_dimension(d)), elements *= d;
      if (is_norm(op.kind)) shape = {fixed_dimension(elements)};  // [1, c, 1, 1] scales c features
      builder.add_parameter(stored.name, std::move(shape), Partition::replicated, 0,
                            owner_.at(parameter) == index ? Tied::no : Tied::yes);
    }
  }

  const FlatGraph& flat_;
  const LoweredGraph& list_;
  int result_;
  std::vector<int> last_;     ///< by tensor: the op that reads it last; the number of ops for the result
  std::map<int, int> owner_;  ///< by parameter
};

}  // namespace

plumbline::Graph build_graph(std::string name, const FlatGraph& flat, const Lowering& lowering) {
  return Cutter(flat, lowering).graph(std::move(name));
}

}  // namespace plumbline::onnx
