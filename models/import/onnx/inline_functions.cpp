#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "core/base/errors.h"
#include "models/import/onnx/read_model.h"

namespace plumbline::onnx {
namespace {

constexpr std::size_t most_inlined_nodes = 500'000;
constexpr std::size_t most_inlined_bytes = 256U << 20U;
constexpr std::size_t most_calls_deep = 32;

using FunctionId = std::tuple<std::string, std::string, std::string>;

class Inliner {
 public:
  Inliner(const std::vector<Function>& functions, std::string where) : where_(std::move(where)) {
    for (const Function& f : functions) functions_.emplace(FunctionId{f.domain, f.name, f.overload}, &f);
  }

  void append(const Node& node, std::vector<Node>& nodes) {
    const auto found = functions_.find({node.domain, node.type, node.overload});
    if (found == functions_.end()) {
      if (nodes.size() >= most_inlined_nodes)
        refuse(node, "makes more than 500000 nodes when functions are inlined", "fewer");
      nodes.push_back(node);
      return;
    }
    if (calls_.size() >= most_calls_deep) refuse(node, "calls functions more than 32 deep", "fewer");
    if (std::find(calls_.begin(), calls_.end(), found->second) != calls_.end())
      refuse(node, "calls itself", "functions without recursion");
    calls_.push_back(found->second);
    append_body(node, *found->second, nodes);
    calls_.pop_back();
  }

 private:
  [[noreturn]] void refuse(const Node& node, const std::string& what, const std::string& expected) const {
    throw InputError({where_ + ", function " + node.full_type(), what, expected, ""});
  }

  void append_body(const Node& call, const Function& function, std::vector<Node>& nodes) {
    const std::string prefix = function.name.substr(0, 60) + "." + std::to_string(++instances_) + "/";
    std::map<std::string, std::string> names;
    for (std::size_t i = 0; i < function.inputs.size(); ++i)
      names[function.inputs[i]] = i < call.inputs.size() ? call.inputs[i] : "";
    for (std::size_t i = 0; i < function.outputs.size() && i < call.outputs.size(); ++i)
      if (!call.outputs[i].empty()) names[function.outputs[i]] = call.outputs[i];
    const auto renamed = [&](std::string& name) {
      if (name.empty()) return;
      const auto found = names.find(name);
      name = found == names.end() ? prefix + name : found->second;
    };
    for (const Node& inner : function.nodes) {
      if (nodes.size() >= most_inlined_nodes || ++visited_ > most_inlined_nodes)
        refuse(call, "makes more than 500000 nodes when functions are inlined", "fewer");
      Node copy = inner;
      copy.name = prefix + inner.name;
      for (std::string& input : copy.inputs) renamed(input);
      for (std::string& output : copy.outputs) renamed(output);
      bind_attributes(call, function, copy);
      for (const std::string& name : copy.inputs) bytes_ += name.size();
      for (const std::string& name : copy.outputs) bytes_ += name.size();
      if (bytes_ > most_inlined_bytes)
        refuse(call, "makes more than 256 MiB of names when functions are inlined", "fewer");
      append(copy, nodes);
    }
  }

  static void bind_attributes(const Node& call, const Function& function, Node& node) {
    for (Attribute& a : node.attributes) {
      if (a.refers_to.empty()) continue;
      const Attribute* given = call.find(a.refers_to);
      const auto otherwise = std::find_if(function.defaults.begin(), function.defaults.end(),
                                          [&](const Attribute& d) { return d.name == a.refers_to; });
      if (given == nullptr && otherwise != function.defaults.end()) given = &*otherwise;
      if (given == nullptr) continue;  // absent in the call: absent here
      const std::string name = a.name;
      a = *given;
      a.name = name;
      a.refers_to.clear();
    }
  }

  std::string where_;
  std::map<FunctionId, const Function*> functions_;
  std::vector<const Function*> calls_;
  std::size_t instances_ = 0;
  std::size_t visited_ = 0;
  std::size_t bytes_ = 0;
};

}  // namespace

void inline_functions(Model& model, const std::string& where) {
  if (model.functions.empty()) return;
  Inliner inliner(model.functions, where);
  std::vector<Node> nodes;
  for (const Node& node : model.graph.nodes) inliner.append(node, nodes);
  model.graph.nodes = std::move(nodes);
}

}  // namespace plumbline::onnx
