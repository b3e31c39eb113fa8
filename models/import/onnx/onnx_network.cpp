#include "models/import/onnx/onnx_network.h"

#include <algorithm>
#include <filesystem>

#include "core/base/errors.h"
#include "core/base/joined.h"
#include "core/graph/parameter_count.h"
#include "core/quantity/text.h"
#include "core/sharding/saved_tensors.h"
#include "models/import/hugging_face.h"
#include "models/import/onnx/blocks.h"
#include "models/import/onnx/lowering.h"
#include "models/import/onnx/read_model.h"

namespace plumbline {
namespace {

using namespace onnx;

/// What the samples of a graph are counted by.
struct Batch {
  std::string symbol;                 ///< empty: fixed in the file
  std::optional<std::int64_t> fixed;  ///< that number
};

Batch batch_of(const FlatGraph& graph) {
  for (const StatedValue* input : graph.input_facts) {
    if (!input->shape || input->shape->empty()) continue;
    const StatedDimension& first = input->shape->front();
    if (first.value) return {"", first.value};
    return {symbol_of(*input, 0), std::nullopt};
  }
  return {};
}

void require_bound(const FlatGraph& graph, const Batch& batch, const Reference& reference) {
  const std::vector<std::string> names = symbols(graph);
  for (const auto& [name, size] : reference.dimensions) {
    const bool is_stated = std::any_of(graph.stated.begin(), graph.stated.end(), [&, n = name](const auto& s) {
      return s.second->shape && std::any_of(s.second->shape->begin(), s.second->shape->end(),
                                            [&](const StatedDimension& d) { return d.symbol == n; });
    });
    if (!is_stated && std::find(names.begin(), names.end(), name) == names.end())
      throw InputError({graph.where, "has no dimension \"" + name.substr(0, 60) + "\"",
                        names.empty() ? "no --dim: all its dimensions are fixed" : "one of " + joined(names),
                        nearest_text(name, names)});
  }
  std::vector<std::string> open;
  std::string flags;
  for (const std::string& name : names) {
    if (name == batch.symbol || reference.dimensions.contains(name)) continue;
    open.push_back(name);
    flags += (flags.empty() ? "--dim " : " --dim ") + name + "=N";
  }
  if (!open.empty())
    throw InputError({graph.where,
                      (open.size() == 1 ? "the size of its dimension " : "the sizes of its dimensions ") +
                          joined(open).substr(0, 500) + (open.size() == 1 ? " is open" : " are open"),
                      flags.substr(0, 500), ""});
}

Bindings bindings_for(const Batch& batch, const Reference& reference, std::int64_t samples) {
  Bindings bindings;
  bindings.symbols = reference.dimensions;
  bindings.batch_size = samples;
  if (batch.symbol.empty())
    bindings.fixed_batch = batch.fixed;
  else
    bindings.symbols[batch.symbol] = samples;
  return bindings;
}

std::vector<Value> inferred(const FlatGraph& graph, const Bindings& bindings) {
  try {
    return infer(graph, bindings);
  } catch (const InputError& error) {
    InputProblem problem = error.problem();
    problem.where = graph.where + ", " + problem.where;
    if (bindings.fixed_batch && bindings.batch_size != *bindings.fixed_batch)
      problem.expected += "; the file fixes its batch at " + std::to_string(*bindings.fixed_batch) +
                          ": export it with a dynamic batch dimension";
    throw InputError(problem);
  }
}

/// Tokens of a sample, where the first input is a matrix of whole numbers: [batch, tokens].
std::int64_t tokens_of(const FlatGraph& graph, const std::vector<Value>& values) {
  if (graph.inputs.empty()) return 1;
  const Value& first = values[static_cast<std::size_t>(graph.inputs.front())];
  return first.dims.size() == 2 && !is_floating(first.type) ? std::max<std::int64_t>(1, first.dims[1]) : 1;
}

std::string unknown_text(const Work& work) {
  std::string text;
  for (const UnknownOperator& u : work.unknown)
    text += (text.empty() ? "" : ", ") + u.type.substr(0, 60) +
            (u.count > 1 ? " (" + std::to_string(u.count) + " times)" : "");
  return text.substr(0, 500);
}

std::string note_of(const Work& work, bool has_loss) {
  std::string note = std::string("an ONNX graph has no backward pass: training is derived by rule; ") +
                     (has_loss ? "its first output is taken for scores and trained by cross-entropy"
                               : "no loss is priced: its first output does not come from a linear layer") +
                     "; masks are taken to hide nothing; weights are not divided over tensor-parallel ranks";
  if (!work.unknown.empty()) note = "UNKNOWN OPERATORS, counted as no work: " + unknown_text(work) + "; " + note;
  return note;
}

Bytes kept_bytes(const plumbline::Graph& graph, std::int64_t samples) {
  Shard shard;
  shard.lengths = {samples, 1};
  double sum = 0;  // of any file: bounded before it is whole
  for (const BlockRun& run : graph.runs())
    for (const SavedTensor& saved : saved_tensors(graph.block(run.block), shard))
      sum += static_cast<double>(run.count) * static_cast<double>(saved.bytes.value());
  constexpr double most = 1e18;
  return Bytes(static_cast<std::int64_t>(std::min(sum, most)));
}

std::string name_of(const std::string& path) { return std::filesystem::path(path).stem().string().substr(0, 200); }

OperatorConstants priced_only(const std::string& where) {
  OperatorConstants constants;
  constants.not_executed.push_back({where, "an ONNX graph is priced, not executed", "a Hugging Face config.json", ""});
  return constants;
}

void require_symbols_grow(const FlatGraph& graph, const Batch& batch) {
  if (batch.symbol.empty() && !batch.fixed)
    throw InputError({graph.where, "has no input with dimensions", "an input whose first dimension is the batch", ""});
}

}  // namespace

OnnxImport import_onnx(ByteSource& source, const Reference& reference) {
  Model model = read_model(source);
  inline_functions(model, source.name());
  const FlatGraph flat = flatten(model, source.name());
  const Batch batch = batch_of(flat);
  require_symbols_grow(flat, batch);
  require_bound(flat, batch, reference);
  OnnxSummary summary;
  summary.producer = model.producer;
  summary.opset = flat.opset;
  summary.nodes = std::ssize(flat.nodes);
  const auto asked = reference.dimensions.find(batch.symbol);
  summary.batch = asked != reference.dimensions.end() ? asked->second : batch.fixed.value_or(1);
  if (asked != reference.dimensions.end()) summary.bound_batch = batch.symbol;
  Sampled sampled{inferred(flat, bindings_for(batch, reference, first_batch)),
                  inferred(flat, bindings_for(batch, reference, second_batch))};
  const std::vector<Value> values = inferred(flat, bindings_for(batch, reference, summary.batch));
  const Provenance origins = provenance(flat, sampled.first);
  summary.work = work_of(flat, values, origins);
  const Lowering lowering = lower(flat, sampled, origins);
  plumbline::Graph graph = build_graph(name_of(reference.path), flat, lowering);
  require_countable(source.name(), graph);
  summary.parameters = parameter_count(graph);
  summary.kept = kept_bytes(graph, summary.batch);
  return {Network{name_of(reference.path),
                  {},
                  "onnx",
                  source.name(),
                  std::nullopt,
                  "",
                  tokens_of(flat, values),
                  note_of(summary.work, lowering.has_loss),
                  std::move(graph),
                  priced_only(source.name())},
          std::move(summary)};
}

OnnxImport import_onnx_with_summary(std::string_view text) {
  const Reference reference = reference_of(text);
  ByteSource source{std::filesystem::path(reference.path)};
  OnnxImport all = import_onnx(source, reference);
  all.network.source = std::string(text);
  return all;
}

Network import_onnx(std::string_view text) {
  OnnxImport onnx = import_onnx_with_summary(text);
  const OnnxSummary& summary = onnx.summary;
  if (!summary.bound_batch.empty()) {
    const std::string size = std::to_string(summary.batch);
    throw InputError({reference_of(text).path,
                      "--dim " + summary.bound_batch.substr(0, 60) + "=" + size +
                          " binds its batch, whose size is a plan's micro-batch",
                      "--micro-batch " + size + " instead, in a search --fix micro-batch=" + size, ""});
  }
  return std::move(onnx.network);
}

}  // namespace plumbline
