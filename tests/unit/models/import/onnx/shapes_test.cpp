#include "models/import/onnx/operators.h"
#include "tests/catch.h"

namespace plumbline::onnx {
namespace {

Value floats(Dims dims) { return {type_float, std::move(dims), std::nullopt}; }
Value integers(std::vector<double> numbers) {
  return {type_int64, {static_cast<std::int64_t>(numbers.size())}, std::move(numbers)};
}

Attribute attribute(std::string name, std::int64_t value) {
  Attribute a;
  a.name = std::move(name);
  a.integer = value;
  return a;
}
Attribute list(std::string name, std::vector<std::int64_t> values) {
  Attribute a;
  a.name = std::move(name);
  a.integers = std::move(values);
  return a;
}
Attribute text(std::string name, const char* value) {
  Attribute a;
  a.name = std::move(name);
  a.text = value;
  return a;
}

std::vector<Value> inferred(std::string type, const std::vector<Value>& inputs, std::vector<Attribute> attributes = {},
                            std::size_t outputs = 1) {
  Node node;
  node.name = "node";
  node.type = std::move(type);
  node.attributes = std::move(attributes);
  Call call{node, 17, {}, std::vector<Value>(outputs)};
  for (const Value& input : inputs) call.inputs.push_back(&input);
  find_operator(node)->infer(call);
  return call.outputs;
}

Dims dims(std::string type, const std::vector<Value>& inputs, std::vector<Attribute> attributes = {}) {
  return inferred(std::move(type), inputs, std::move(attributes)).front().dims;
}

}  // namespace

TEST_CASE("Elementwise operators broadcast from the last dimension on") {
  CHECK(dims("Add", {floats({3, 1, 5}), floats({6, 1})}) == Dims{3, 6, 5});
  CHECK(dims("Where", {floats({5}), floats({3, 1}), floats({})}) == Dims{3, 5});
  CHECK_THROWS_WITH(dims("Mul", {floats({3}), floats({5})}),
                    "Mul node: dimensions 3 and 5 do not broadcast; expected equal dimensions, or 1");
}

TEST_CASE("Products have the rows of the first and the columns of the second") {
  CHECK(dims("MatMul", {floats({3, 1, 5, 6}), floats({7, 6, 9})}) == Dims{3, 7, 5, 9});
  CHECK(dims("MatMul", {floats({6}), floats({6, 9})}) == Dims{9});
  CHECK(dims("Gemm", {floats({6, 5}), floats({9, 6})}, {attribute("transA", 1), attribute("transB", 1)}) == Dims{5, 9});
  CHECK(dims("Einsum", {floats({3, 5, 6}), floats({7, 6, 9})}, {text("equation", "bsd,edf->besf")}) ==
        Dims{3, 7, 5, 9});
  CHECK(dims("Einsum", {floats({3, 5, 6}), floats({6, 9})}, {text("equation", "...d, df -> ...f")}) == Dims{3, 5, 9});
}

// (10 + 2 - 2 * (3 - 1) - 1) / 2 + 1 = 4 with dilation 2; ceil((7 - 3) / 2) + 1 = 3.
TEST_CASE("Windows move by their stride over what padding makes of the input") {
  CHECK(dims("Conv", {floats({3, 6, 10, 7}), floats({4, 3, 3, 3})},
             {attribute("group", 2), list("dilations", {2, 1}), list("pads", {1, 0, 1, 0}), list("strides", {2, 1})}) ==
        Dims{3, 4, 4, 5});
  CHECK_THROWS(dims("Conv", {floats({3, 6, 10, 7}), floats({5, 6, 11, 3})}));
  CHECK(dims("MaxPool", {floats({3, 6, 8, 7})},
             {list("kernel_shape", {3, 3}), list("strides", {2, 2}), attribute("ceil_mode", 1)}) == Dims{3, 6, 4, 3});
  CHECK(dims("ConvTranspose", {floats({3, 6, 5, 7}), floats({6, 4, 3, 3})},
             {list("strides", {2, 2}), list("pads", {1, 1, 1, 1}), list("output_padding", {1, 1})}) ==
        Dims{3, 4, 10, 14});
}

TEST_CASE("Shapes that are computed from shapes are known") {
  const Value shape = inferred("Shape", {floats({3, 5, 6})}).front();
  CHECK(shape.numbers == std::vector<double>{3, 5, 6});
  const Value first = inferred("Gather", {shape, integers({0})}, {attribute("axis", 0)}).front();
  const Value all = inferred("Concat", {first, integers({-1})}, {attribute("axis", 0)}).front();
  CHECK(dims("Reshape", {floats({3, 5, 6}), all}) == Dims{3, 30});
  const Value half = inferred("Div", {shape, integers({2})}).front();
  CHECK(half.numbers == std::vector<double>{1, 2, 3});
  CHECK(inferred("Slice", {shape, integers({-1}), integers({-4}), integers({0}), integers({-1})}).front().numbers ==
        std::vector<double>{6, 5, 3});
}

TEST_CASE("Layout operators keep, drop, cut and repeat dimensions") {
  constexpr double last = 9.2e18;
  CHECK(dims("Reshape", {floats({3, 5, 6}), integers({0, -1, 2})}) == Dims{3, 15, 2});
  CHECK(dims("Transpose", {floats({3, 5, 6})}, {list("perm", {2, 0, 1})}) == Dims{6, 3, 5});
  CHECK(dims("Slice", {floats({3, 10}), integers({1}), integers({last}), integers({1}), integers({3})}) == Dims{3, 3});
  CHECK(dims("Split", {floats({3, 7})}, {attribute("axis", 1), list("split", {5, 2})}) == Dims{3, 5});
  CHECK(dims("Squeeze", {floats({3, 1, 5, 1}), integers({1})}) == Dims{3, 5, 1});
  CHECK(dims("Unsqueeze", {floats({3, 5}), integers({0, -1})}) == Dims{1, 3, 5, 1});
  CHECK(dims("Pad", {floats({3, 5}), integers({0, 2, 1, 0})}) == Dims{4, 7});
  CHECK(dims("Tile", {floats({3, 5}), integers({2, 3})}) == Dims{6, 15});
  CHECK(dims("Gather", {floats({11, 6}), floats({3, 5})}, {attribute("axis", 0)}) == Dims{3, 5, 6});
  CHECK(dims("ReduceMean", {floats({3, 5, 6})}, {list("axes", {-1}), attribute("keepdims", 0)}) == Dims{3, 5});
  CHECK(dims("Flatten", {floats({3, 5, 6})}, {attribute("axis", 2)}) == Dims{15, 6});
  CHECK_THROWS_WITH(dims("Reshape", {floats({3, 5}), integers({4, 4})}),
                    "Reshape node: 15 elements in a shape of 16; expected as many; a batch that was fixed by the "
                    "export is the usual cause");
}

TEST_CASE("Norms whose operator is a root-mean-square keep the mean of what they normalise") {
  const auto mean = [](const char* domain, const char* type) {
    Node node;
    node.domain = domain;
    node.type = type;
    return find_operator(node)->mean;
  };
  CHECK(mean("", "RMSNormalization") == NormMean::kept);
  CHECK(mean("", "SimplifiedLayerNormalization") == NormMean::kept);
  CHECK(mean("com.microsoft", "SkipSimplifiedLayerNormalization") == NormMean::kept);
  CHECK(mean("com.microsoft", "SkipLayerNormalization") == NormMean::subtracted);
  CHECK(mean("", "LayerNormalization") == NormMean::subtracted);
  CHECK(mean("", "GroupNormalization") == NormMean::subtracted);
}

}  // namespace plumbline::onnx
