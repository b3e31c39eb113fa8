#include <chrono>
#include <filesystem>
#include <fstream>

#include "core/base/errors.h"
#include "core/graph/parameter_count.h"
#include "models/import/onnx/onnx_network.h"
#include "models/network_catalog.h"
#include "tests/catch.h"
#include "tests/error/onnx_bytes.h"

namespace plumbline::onnx_test {
namespace {

using namespace onnx_bytes;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::StartsWith;

OnnxImport imported(const std::string& file, const std::string& bindings = "") {
  onnx::ByteSource source(file, "net.onnx");
  return import_onnx(source, onnx::reference_of("net.onnx" + bindings));
}

std::string refusal(const std::string& file, const std::string& bindings = "") {
  try {
    imported(file, bindings);
  } catch (const InputError& error) {
    return error.what();
  }
  return "accepted";
}

std::string function(const std::string& name, const std::string& body) {
  return bytes(1, name) + bytes(4, "a") + bytes(5, "b") + bytes(10, "f") + body;
}

}  // namespace

TEST_CASE("A product of an input and a weight is a network") {
  const OnnxImport onnx = imported(model(one_product()));
  CHECK(onnx.summary.parameters == 30);
  CHECK(onnx.summary.work.products().value() == 2 * 6 * 5);
}

TEST_CASE("A file that ends early is refused with the byte, wherever it ends") {
  const std::string whole = model(one_product());
  for (std::size_t length = 0; length < whole.size(); ++length)
    CHECK_THAT(refusal(whole.substr(0, length)), ContainsSubstring("net.onnx"));
  CHECK(refusal(whole.substr(0, whole.size() - 3)) ==
        "net.onnx, byte 6: a field of 82 bytes where 79 are left; expected a complete ONNX file");
}

TEST_CASE("What is no ONNX file is refused in one line") {
  CHECK_THAT(refusal("{\"model_type\": \"llama\"}"), ContainsSubstring("expected an ONNX file"));
  CHECK(refusal("") == "net.onnx: holds no graph of operators; expected an ONNX model");
  CHECK_THROWS_WITH(find_network("/no/such/file.onnx"),
                    "/no/such/file.onnx: is no file; expected the path of an ONNX model");
}

TEST_CASE("Open dimensions are named with the flags that bind them") {
  Parts parts = one_product();
  parts.inputs = {value("x", {{0, "batch"}, {0, "tokens"}, {6}})};
  CHECK(refusal(model(parts)) == "net.onnx: the size of its dimension tokens is open; expected --dim tokens=N");
  CHECK(refusal(model(parts), "@token=4") ==
        "net.onnx: has no dimension \"token\"; expected one of batch, tokens; nearest: tokens");
  CHECK(refusal(model(parts), "@tokens=0") ==
        "net.onnx@tokens=0: \"tokens=0\" binds no dimension; expected NAME=N, N from 1 to 10^9");
  CHECK(imported(model(parts), "@tokens=4").summary.work.products().value() == 4 * 2 * 6 * 5);
}

TEST_CASE("A cycle is refused with the node that begins it") {
  Parts parts = one_product();
  parts.nodes = {node("Add", {"x", "b"}, {"a"}), node("Relu", {"a"}, {"b"}), node("MatMul", {"b", "w"}, {"y"})};
  CHECK(refusal(model(parts)) ==
        "net.onnx, node Add_node: reads b, which nothing before it writes; expected nodes in topological order, "
        "without a cycle");
}

TEST_CASE("Absurd dimensions are refused before anything is multiplied") {
  Parts parts = one_product();
  parts.initializers = {tensor("w", {1LL << 62, 1LL << 62})};
  CHECK_THAT(refusal(model(parts)), ContainsSubstring("more than 10^15 elements"));
  parts.initializers = {tensor("w", {-6, 5})};
  CHECK_THAT(refusal(model(parts)), ContainsSubstring("tensor w has a dimension of -6"));
  parts = one_product();
  parts.initializers.push_back(integers("shape", {1LL << 40, 1LL << 40}));
  parts.nodes.push_back(node("Expand", {"y", "shape"}, {"z"}));
  CHECK_THAT(refusal(model(parts)), ContainsSubstring("Expand_node"));
}

TEST_CASE("Functions that call themselves, and functions that explode, are refused") {
  Parts parts = one_product();
  parts.nodes = {node("loop", {"x"}, {"h"}, "", "f"), node("MatMul", {"h", "w"}, {"y"})};
  parts.functions = {function("loop", bytes(7, node("loop", {"a"}, {"b"}, "", "f")))};
  CHECK(refusal(model(parts)) == "net.onnx, function f.loop: calls itself; expected functions without recursion");
  parts.functions.clear();
  parts.nodes[0] = node("f0", {"x"}, {"h"}, "", "f");
  for (int i = 0; i < 30; ++i) {  // each calls the next twice: 2^30 nodes
    const std::string next = i == 29 ? "Relu" : "f" + std::to_string(i + 1);
    const std::string domain = i == 29 ? "" : "f";
    parts.functions.push_back(function("f" + std::to_string(i), bytes(7, node(next, {"a"}, {"c"}, "", domain)) +
                                                                    bytes(7, node(next, {"c"}, {"b"}, "", domain))));
  }
  CHECK_THAT(refusal(model(parts)), ContainsSubstring("more than 500000 nodes"));
}

TEST_CASE("Subgraphs nested too deep are refused") {
  std::string inner = bytes(1, node("Relu", {"x"}, {"y"}));
  for (int i = 0; i < 40; ++i)
    inner = bytes(1, node("If", {"x"}, {"y"}, bytes(5, bytes(1, "then_branch") + bytes(6, inner))));
  CHECK_THAT(refusal(bytes(7, inner)), ContainsSubstring("subgraphs nested more than 16 deep"));
}

TEST_CASE("An unknown operator is named with its count, and refused where its output's size is not stated") {
  Parts parts = one_product();
  parts.nodes = {node("MatMul", {"x", "w"}, {"h"}), node("Mystery", {"h"}, {"i"}, "", "acme"),
                 node("Mystery", {"i"}, {"y"}, "", "acme")};
  CHECK_THAT(refusal(model(parts)),
             ContainsSubstring("acme.Mystery") && ContainsSubstring("is an operator that is not known here"));
  parts.values = {value("i", {{0, "batch"}, {5}})};
  parts.outputs = {value("y", {{0, "batch"}, {5}})};
  const OnnxImport onnx = imported(model(parts));
  REQUIRE(onnx.summary.work.unknown.size() == 1);
  CHECK(onnx.summary.work.unknown.front().count == 2);
  CHECK_THAT(onnx.network.note, StartsWith("UNKNOWN OPERATORS, counted as no work: acme.Mystery (2 times)"));
}

TEST_CASE("A batch that the export fixed in a shape is refused with the remedy") {
  Parts parts = one_product();
  parts.inputs = {value("x", {{4}, {6}})};
  CHECK(imported(model(parts)).summary.batch == 4);
  parts.initializers.push_back(integers("shape", {4, 3, 2}));
  parts.nodes.insert(parts.nodes.begin(), node("Reshape", {"x", "shape"}, {"r"}));
  CHECK_THAT(refusal(model(parts)), ContainsSubstring("the file fixes its batch at 4: export it with a dynamic batch"));
}

TEST_CASE("The batch of a graph that a plan is priced of is its micro-batch, and nothing else sets it") {
  const std::filesystem::path path = std::filesystem::temp_directory_path() / "plumbline_bound_batch.onnx";
  Parts parts = one_product();
  parts.inputs = {value("x", {{0, "samples"}, {0, "tokens"}, {6}})};
  const std::string file = model(parts);
  std::ofstream(path, std::ios::binary) << file;
  CHECK_THROWS_WITH(find_network(path.string() + "@samples=8,tokens=4"),
                    path.string() +
                        ": --dim samples=8 binds its batch, whose size is a plan's micro-batch; expected "
                        "--micro-batch 8 instead, in a search --fix micro-batch=8");
  CHECK(parameter_count(find_network(path.string() + "@tokens=4").graph) == 30);
  CHECK(import_onnx_with_summary(path.string() + "@samples=8,tokens=4").summary.batch == 8);
  std::filesystem::remove(path);
}

TEST_CASE("A file of 5 GB of weights is read in a moment") {
  const std::filesystem::path path = std::filesystem::temp_directory_path() / "plumbline_five_gigabytes.onnx";
  Parts parts = one_product();
  parts.initializers.clear();
  const std::uint64_t weight = 5ULL << 30U;
  std::string head =
      bytes(1, node("MatMul", {"x", "w"}, {"y"})) + bytes(11, parts.inputs[0]) + bytes(12, parts.outputs[0]);
  const std::string facts =
      number(1, 6) + number(1, weight / 24) + number(2, 1) + bytes(8, "w") + varint(9U << 3U | 2U) + varint(weight);
  head += varint(5U << 3U | 2U) + varint(facts.size() + weight) + facts;
  const std::string begin = number(1, 9) + varint(7U << 3U | 2U) + varint(head.size() + weight) + head;
  std::ofstream(path, std::ios::binary) << begin;
  std::error_code error;
  std::filesystem::resize_file(path, begin.size() + weight, error);  // sparse
  REQUIRE_FALSE(error);
  const auto start = std::chrono::steady_clock::now();
  CHECK(parameter_count(find_network(path.string()).graph) == static_cast<std::int64_t>(6 * (weight / 24)));
  CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(1));
  std::filesystem::remove(path);
}

}  // namespace plumbline::onnx_test
