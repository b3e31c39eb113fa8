// Scores, softmax and the product with values, found as one attention.
#include <algorithm>
#include <set>

#include "models/import/onnx/lowering_context.h"

namespace plumbline::onnx {
namespace {

class Finder {
 public:
  explicit Finder(const LoweringContext& context) : context_(context), p_(context.provenance()) {
    for (std::size_t v = 0; v < p_.root.size(); ++v)
      if (p_.root[v] != static_cast<int>(v)) made_from_[p_.root[v]].push_back(static_cast<int>(v));
    outputs_.insert(context.flat().outputs.begin(), context.flat().outputs.end());
  }

  Fusions find() {
    for (const FlatNode& node : context_.flat().nodes)
      if (node.kind != nullptr && node.kind->role == Role::product && node.node->type != "Einsum") try_end(node);
    return std::move(fusions_);
  }

 private:
  bool is_product_of_activations(const FlatNode* node) const {
    return node != nullptr && node->kind != nullptr && node->kind->role == Role::product &&
           node->node->type == "MatMul" && context_.is_activation(node->inputs[0]) &&
           context_.is_activation(node->inputs[1]) && context_.dims(node->outputs[0]).size() == 4;
  }

  /// Whether all that reads what is made from `root` makes more of it, or is `reader`.
  bool is_only_read_by(int root, const FlatNode* reader) const {
    std::vector<int> values{root};
    if (const auto found = made_from_.find(root); found != made_from_.end())
      values.insert(values.end(), found->second.begin(), found->second.end());
    return std::all_of(values.begin(), values.end(), [&](int v) {
      if (outputs_.contains(v)) return false;
      const std::vector<int>& readers = p_.consumers[static_cast<std::size_t>(v)];
      return std::all_of(readers.begin(), readers.end(), [&](int n) {
        const FlatNode& node = context_.flat().nodes[static_cast<std::size_t>(n)];
        const int made = node.outputs.front();
        // A mask's test of what it hides (IsNaN) makes data, which only its own region reads.
        return &node == reader || !context_.is_activation(made) || p_.root_of(made) == root;
      });
    });
  }

  void try_end(const FlatNode& last) {
    if (!is_product_of_activations(&last)) return;
    const int probabilities = p_.root_of(last.inputs[0]);
    const FlatNode* softmax = context_.producer(probabilities);
    if (softmax == nullptr || softmax->kind == nullptr || softmax->node->type != "Softmax") return;
    const int scores = p_.root_of(softmax->inputs[0]);
    const FlatNode* first = context_.producer(scores);
    if (!is_product_of_activations(first)) return;
    if (!is_only_read_by(probabilities, &last) || !is_only_read_by(scores, softmax)) return;
    const Dims& q = context_.dims(first->inputs[0]);
    const Dims& k = context_.dims(first->inputs[1]);
    const Dims& v = context_.dims(last.inputs[1]);
    const auto is_one_head_each = [&](const Dims& d) { return d.size() == 4 && d[0] == q[0] && d[1] == q[1]; };
    if (q.size() != 4 || !is_one_head_each(k) || !is_one_head_each(v)) return;
    fusions_.attentions[&last] = {first->inputs[0], first->inputs[1], last.inputs[1]};
    fusions_.swallowed[first] = fusions_.swallowed[softmax] = true;
  }

  const LoweringContext& context_;
  const Provenance& p_;
  std::unordered_map<int, std::vector<int>> made_from_;
  std::set<int> outputs_;
  Fusions fusions_;
};

}  // namespace

Fusions find_attentions(const LoweringContext& context) { return Finder(context).find(); }

}  // namespace plumbline::onnx
