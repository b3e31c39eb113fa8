#include "models/network_picture.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "core/base/escape.h"
#include "core/graph/parameter_count.h"
#include "core/quantity/text.h"

namespace plumbline {
namespace {

/// Lines of a label.
std::string label(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += (text.empty() ? "" : "\n") + printable(line);
  return dot_quoted(text);
}

std::string short_text(const Shape& shape) {
  std::string text;
  for (const Dimension& dimension : shape) {
    if (!text.empty()) text += ", ";
    const std::string factor = dimension.factor == 1 ? "" : std::to_string(dimension.factor);
    switch (dimension.symbol) {
      case Symbol::constant: text += std::to_string(dimension.factor); break;
      case Symbol::batch: text += factor + "b"; break;
      case Symbol::sequence: text += factor + "s"; break;
    }
  }
  return text;
}

std::string node(std::size_t block, const char* kind, std::int32_t index) {
  return "b" + std::to_string(block) + kind + std::to_string(index);
}

/// The node that a tensor comes from: its op, or itself when it enters the block.
std::string origin(const Graph& graph, std::size_t block, TensorId tensor) {
  const OpId producer = graph.blocks()[block].producer(tensor);
  return producer.is_valid() ? node(block, "op", producer.index()) : node(block, "in", tensor.index());
}

std::string op_label(const Block& block, const Op& op) {
  std::vector<std::string> lines = {op.name, std::string(to_text(op.kind))};
  for (const TensorId id : op.parameters) {
    const Tensor& parameter = block.tensor(id);
    // "mlp.up.weight" of "mlp.up" reads "weight".
    const bool own = parameter.name.starts_with(op.name + ".");
    lines.push_back((own ? parameter.name.substr(op.name.size() + 1) : parameter.name) + " [" +
                    short_text(parameter.shape) + "]" + (parameter.tied ? ", tied" : ""));
  }
  return label(lines);
}

std::int64_t executions(const Graph& graph, std::size_t block) {
  std::int64_t count = 0;
  for (const BlockRun& run : graph.runs())
    if (static_cast<std::size_t>(run.block.index()) == block) count += run.count;
  return count;
}

void draw_entering_tensors(const Block& block, std::size_t index, std::string& out) {
  for (std::size_t i = 0; i < block.tensors().size(); ++i) {
    const Tensor& tensor = block.tensors()[i];
    if (tensor.role != TensorRole::input) continue;
    out += "    " + node(index, "in", static_cast<std::int32_t>(i)) +
           " [shape=ellipse, style=solid, label=" + label({tensor.name, short_text(tensor.shape)}) + "];\n";
  }
}

void draw_operators(const Graph& graph, std::size_t index, std::string& out) {
  const Block& block = graph.blocks()[index];
  for (std::size_t i = 0; i < block.ops().size(); ++i) {
    const Op& op = block.ops()[i];
    const std::string name = node(index, "op", static_cast<std::int32_t>(i));
    const char* colour = op.parameters.empty() ? "white" : "lightblue";
    out += "    " + name + " [fillcolor=" + colour + ", label=" + op_label(block, op) + "];\n";
    for (const TensorId input : op.inputs)
      out += "    " + origin(graph, index, input) + " -> " + name +
             " [label=" + dot_quoted(short_text(block.tensor(input).shape)) + "];\n";
  }
}

void draw_block(const Graph& graph, std::size_t index, std::string& out) {
  const Block& block = graph.blocks()[index];
  const std::int64_t count = executions(graph, index);
  out += "  subgraph cluster_" + std::to_string(index) + " {\n    label=" +
         label({block.name() + (count > 1 ? "  x " + grouped(count) : ""),
                grouped(parameter_count(block)) + " parameters" + (count > 1 ? " each" : "")}) +
         ";\n";
  draw_entering_tensors(block, index, out);
  draw_operators(graph, index, out);
  out += "  }\n";
}

/// Each pair of neighbouring blocks once, in order of first execution.
std::vector<std::pair<std::size_t, std::size_t>> neighbours(const Graph& graph) {
  std::vector<std::pair<std::size_t, std::size_t>> result;
  const auto add = [&](BlockId from, BlockId to) {
    const std::pair pair{static_cast<std::size_t>(from.index()), static_cast<std::size_t>(to.index())};
    if (std::find(result.begin(), result.end(), pair) == result.end()) result.push_back(pair);
  };
  const std::vector<BlockRun>& runs = graph.runs();
  for (std::size_t i = 0; i < runs.size(); ++i) {
    if (runs[i].count > 1) add(runs[i].block, runs[i].block);
    if (i + 1 < runs.size()) add(runs[i].block, runs[i + 1].block);
  }
  return result;
}

void draw_handovers(const Graph& graph, std::string& out) {
  for (const auto& [from, to] : neighbours(graph)) {
    const std::vector<TensorId>& given = graph.blocks()[from].outputs();
    const std::vector<TensorId>& taken = graph.blocks()[to].inputs();
    for (std::size_t i = 0; i < given.size(); ++i)
      out += "  " + origin(graph, from, given[i]) + " -> " + node(to, "in", taken[i].index()) + " [style=dashed" +
             (from >= to ? ", constraint=false" : "") + "];\n";
  }
}

}  // namespace

std::string graphviz(const Graph& graph) {
  std::string out = "digraph network {\n  label=" +
                    label({graph.name(), grouped(parameter_count(graph)) + " parameters; b: batch, s: sequence"}) +
                    ";\n  labelloc=t; fontname=Helvetica; ranksep=0.3; nodesep=0.25;\n"
                    "  node [shape=box, style=filled, fillcolor=white, fontname=Helvetica, fontsize=10];\n"
                    "  edge [fontname=Helvetica, fontsize=9];\n";
  for (std::size_t i = 0; i < graph.blocks().size(); ++i) draw_block(graph, i, out);
  draw_handovers(graph, out);
  return out + "}\n";
}

}  // namespace plumbline
