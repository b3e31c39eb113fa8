#include <iostream>

#include "core/graph/parameter_count.h"
#include "core/io/json.h"
#include "core/io/json_file.h"
#include "core/sharding/op_work.h"
#include "models/import/onnx/onnx_network.h"
#include "tests/catch.h"
#include "tests/source_folder.h"

namespace plumbline {
namespace {

struct Exported {
  const char* file;   ///< tests/data/onnx/FILE.onnx
  const char* facts;  ///< tests/data/onnx/FACTS.json: what PyTorch counted
  const char* binding;
  std::int64_t repeated;  ///< executions of the block that repeats most
};

/// Written by tests/data/onnx/export_models.py with both of PyTorch's exporters.
constexpr Exported exported[] = {{"resnet50-script", "resnet50", "", 5},
                                 {"resnet50-dynamo", "resnet50", "", 4},
                                 {"convnext-dynamo", "convnext", "", 8},
                                 {"vit-dynamo", "vit", "", 12},
                                 {"bert-script", "bert", "@sequence=128", 12},
                                 {"bert-dynamo", "bert", "@sequence=128", 12},
                                 {"gpt2-dynamo", "gpt2", "@sequence=96", 12},
                                 {"llama-dynamo", "llama", "@sequence=96", 3},
                                 {"unet-script", "unet", "", 1},
                                 {"unet-dynamo", "unet", "", 1},
                                 {"moe-script", "moe", "", 3},
                                 {"moe-dynamo", "moe", "", 3}};

std::string path_of(const Exported& e) { return test_data_folder() + "/onnx/" + e.file + ".onnx" + e.binding; }

Json facts_of(const Exported& e) { return read_json_file(test_data_folder() + "/onnx/" + e.facts + ".json"); }

double forward_flops(const Graph& graph, std::int64_t batch) {
  Shard shard;
  shard.lengths = {batch, 1};
  return graph_flops(graph, shard).forward.value();
}

std::int64_t most_repeated(const Graph& graph) {
  std::int64_t most = 0;
  for (const BlockRun& run : graph.runs()) most = std::max(most, run.count);
  return most;
}

}  // namespace

TEST_CASE("Exported graphs have the parameters and the forward FLOPs that PyTorch counts of their networks") {
  for (const Exported& e : exported) {
    CAPTURE(e.file);
    const Json facts = facts_of(e);
    const OnnxImport onnx = import_onnx_with_summary(path_of(e));
    const auto flops = [&](const char* c) { return static_cast<double>(*facts.find("flops")->find(c)->if_integer()); };
    std::cout << e.file << ": parameters " << onnx.summary.parameters << " (PyTorch "
              << *facts.find("parameters")->if_integer() << "), product GFLOPs "
              << onnx.summary.work.products().value() / 1e9 << " (PyTorch "
              << (flops("matmul") + flops("convolution")) / 1e9 << ")\n";
    CHECK(onnx.summary.parameters == *facts.find("parameters")->if_integer());
    CHECK(parameter_count(onnx.network.graph) == onnx.summary.parameters);
    CHECK(onnx.summary.work.of(onnx::OperatorClass::matmul).value() == flops("matmul"));
    CHECK(onnx.summary.work.of(onnx::OperatorClass::convolution).value() == flops("convolution"));
    CHECK(onnx.summary.work.unknown.empty());
  }
}

TEST_CASE("The Graph of an export has its FLOPs, in proportion to the batch, and its repeated layers") {
  for (const Exported& e : exported) {
    CAPTURE(e.file);
    const OnnxImport onnx = import_onnx_with_summary(path_of(e));
    CHECK(forward_flops(onnx.network.graph, 1) == onnx.summary.work.products().value());
    CHECK(forward_flops(onnx.network.graph, 5) == 5 * onnx.summary.work.products().value());
    CHECK(most_repeated(onnx.network.graph) == e.repeated);
  }
}

TEST_CASE("A batch bound on the command line multiplies the work and not the parameters") {
  const std::string file = test_data_folder() + "/onnx/unet-dynamo.onnx";
  const OnnxSummary one = import_onnx_with_summary(file).summary;
  const OnnxSummary three = import_onnx_with_summary(file + "@batch=3").summary;
  CHECK(three.work.products() == 3.0 * one.work.products());
  CHECK(three.work.peak == 3 * one.work.peak);
  CHECK(three.parameters == one.parameters);
}

}  // namespace plumbline
