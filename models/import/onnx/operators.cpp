#include "models/import/onnx/operators.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <unordered_map>

#include "core/base/errors.h"

namespace plumbline::onnx {
namespace {

#define MS "com.microsoft."
constexpr std::array table = std::to_array<Operator>({
    {"Constant", Role::shape, infer_constant},
    {"ConstantOfShape", Role::shape, infer_constant_of_shape},
    {"Shape", Role::shape, infer_shape},
    {"Size", Role::shape, infer_size},
    {"Range", Role::shape, infer_range},
    {"EyeLike", Role::shape, infer_same},
    {"RandomNormal", Role::shape, infer_random},
    {"RandomUniform", Role::shape, infer_random},
    {"RandomNormalLike", Role::shape, infer_same},
    {"RandomUniformLike", Role::shape, infer_same},
    {"Bernoulli", Role::shape, infer_same},

    {"Identity", Role::view, infer_same},
    {"Cast", Role::view, infer_cast},
    {"CastLike", Role::view, infer_cast},
    {"Reshape", Role::view, infer_reshape},
    {"Flatten", Role::view, infer_flatten},
    {"Transpose", Role::view, infer_transpose},
    {"Squeeze", Role::view, infer_squeeze},
    {"Unsqueeze", Role::view, infer_unsqueeze},
    {"DequantizeLinear", Role::view, infer_cast},
    {"QuantizeLinear", Role::view, infer_cast},

    {"Slice", Role::slice, infer_slice},
    {"Split", Role::slice, infer_split},
    {"SplitToSequence", Role::slice, infer_split_to_sequence},
    {"SequenceAt", Role::slice, infer_same},
    {"Trilu", Role::copy, infer_same},
    {"Expand", Role::copy, infer_expand},
    {"Tile", Role::copy, infer_tile},
    {"Pad", Role::copy, infer_pad},
    {"Resize", Role::copy, infer_resize},
    {"Upsample", Role::copy, infer_resize},
    {"DepthToSpace", Role::copy, infer_depth_to_space},
    {"SpaceToDepth", Role::copy, infer_space_to_depth},
    {"ReverseSequence", Role::copy, infer_same},
    {"OneHot", Role::copy, infer_one_hot},
    {"TopK", Role::copy, infer_top_k},
    {"CumSum", Role::copy, infer_same},
    {"Concat", Role::concatenate, infer_concat},
    {"Gather", Role::gather, infer_gather},
    {"GatherElements", Role::copy, infer_gather_elements},
    {"GatherND", Role::copy, infer_gather_nd},
    {"ScatterND", Role::scatter, infer_same},
    {"ScatterElements", Role::scatter, infer_same},
    {"Scatter", Role::scatter, infer_same},
    {"TensorScatter", Role::scatter, infer_same},

    {"Add", Role::add, infer_broadcast},
    {"Sub", Role::add, infer_broadcast},
    {"Sum", Role::add, infer_broadcast},
    {"Mean", Role::add, infer_broadcast},
    {"Where", Role::add, infer_where},
    {"Neg", Role::add, infer_same},
    {"Mul", Role::multiply, infer_broadcast},
    {"Div", Role::multiply, infer_broadcast},
    {"Pow", Role::multiply, infer_broadcast},
    {"Mod", Role::multiply, infer_broadcast},
    {"Min", Role::multiply, infer_broadcast},
    {"Max", Role::multiply, infer_broadcast},
    {"PRelu", Role::multiply, infer_broadcast},
    {"BitShift", Role::multiply, infer_broadcast},
    {"BitwiseAnd", Role::multiply, infer_broadcast},
    {"BitwiseOr", Role::multiply, infer_broadcast},
    {"BitwiseXor", Role::multiply, infer_broadcast},
    {"And", Role::multiply, infer_comparison},
    {"Or", Role::multiply, infer_comparison},
    {"Xor", Role::multiply, infer_comparison},
    {"Equal", Role::multiply, infer_comparison},
    {"Less", Role::multiply, infer_comparison},
    {"LessOrEqual", Role::multiply, infer_comparison},
    {"Greater", Role::multiply, infer_comparison},
    {"GreaterOrEqual", Role::multiply, infer_comparison},
    {MS "BiasGelu", Role::multiply, infer_broadcast},

    {"Not", Role::unary, infer_comparison},
    {"IsNaN", Role::unary, infer_comparison},
    {"IsInf", Role::unary, infer_comparison},
    {"Abs", Role::unary, infer_same},
    {"Acos", Role::unary, infer_same},
    {"Asin", Role::unary, infer_same},
    {"Atan", Role::unary, infer_same},
    {"Ceil", Role::unary, infer_same},
    {"Celu", Role::unary, infer_same},
    {"Clip", Role::unary, infer_same},
    {"Cos", Role::unary, infer_same},
    {"Elu", Role::unary, infer_same},
    {"Erf", Role::unary, infer_same},
    {"Exp", Role::unary, infer_same},
    {"Floor", Role::unary, infer_same},
    {"Gelu", Role::unary, infer_same},
    {"HardSigmoid", Role::unary, infer_same},
    {"HardSwish", Role::unary, infer_same},
    {"LeakyRelu", Role::unary, infer_same},
    {"Log", Role::unary, infer_same},
    {"Mish", Role::unary, infer_same},
    {"Reciprocal", Role::unary, infer_same},
    {"Relu", Role::unary, infer_same},
    {"Round", Role::unary, infer_same},
    {"Selu", Role::unary, infer_same},
    {"Sigmoid", Role::unary, infer_same},
    {"Sign", Role::unary, infer_same},
    {"Sin", Role::unary, infer_same},
    {"Softplus", Role::unary, infer_same},
    {"Softsign", Role::unary, infer_same},
    {"Sqrt", Role::unary, infer_same},
    {"Swish", Role::unary, infer_same},
    {"Tan", Role::unary, infer_same},
    {"Tanh", Role::unary, infer_same},
    {"ThresholdedRelu", Role::unary, infer_same},
    {MS "FastGelu", Role::unary, infer_same},
    {MS "Gelu", Role::unary, infer_same},
    {MS "QuickGelu", Role::unary, infer_same},

    {"ReduceMax", Role::reduce, infer_reduce},
    {"ReduceMean", Role::reduce, infer_reduce},
    {"ReduceMin", Role::reduce, infer_reduce},
    {"ReduceProd", Role::reduce, infer_reduce},
    {"ReduceSum", Role::reduce, infer_reduce},
    {"ReduceSumSquare", Role::reduce, infer_reduce},
    {"ReduceL1", Role::reduce, infer_reduce},
    {"ReduceL2", Role::reduce, infer_reduce},
    {"ReduceLogSum", Role::reduce, infer_reduce},
    {"ReduceLogSumExp", Role::reduce, infer_reduce},
    {"ArgMax", Role::reduce, infer_arg},
    {"ArgMin", Role::reduce, infer_arg},

    {"BatchNormalization", Role::normalization, infer_normalization},
    {"InstanceNormalization", Role::normalization, infer_normalization},
    {"GroupNormalization", Role::normalization, infer_normalization},
    {"LayerNormalization", Role::normalization, infer_normalization},
    {"RMSNormalization", Role::normalization, infer_normalization, NormMean::kept},
    {"SimplifiedLayerNormalization", Role::normalization, infer_normalization, NormMean::kept},
    {"LpNormalization", Role::normalization, infer_normalization},
    {"LRN", Role::normalization, infer_normalization},
    {"MeanVarianceNormalization", Role::normalization, infer_normalization},
    {MS "SkipLayerNormalization", Role::normalization, infer_skip_normalization},
    {MS "SkipSimplifiedLayerNormalization", Role::normalization, infer_skip_normalization, NormMean::kept},
    {MS "GroupNorm", Role::normalization, infer_normalization},
    {"Softmax", Role::softmax, infer_same},
    {"LogSoftmax", Role::softmax, infer_same},
    {"Hardmax", Role::softmax, infer_same},
    {"Dropout", Role::dropout, infer_same},

    {"MatMul", Role::product, infer_matmul},
    {"MatMulInteger", Role::product, infer_matmul},
    {MS "FusedMatMul", Role::product, infer_matmul},
    {"Gemm", Role::product, infer_gemm},
    {MS "FusedGemm", Role::product, infer_gemm},
    {"Einsum", Role::product, infer_einsum},
    {MS "MatMulNBits", Role::product, infer_matmul_n_bits},
    {"Conv", Role::convolution, infer_convolution},
    {"ConvInteger", Role::convolution, infer_convolution},
    {MS "FusedConv", Role::convolution, infer_convolution},
    {"ConvTranspose", Role::transposed_convolution, infer_transposed_convolution},
    {"MaxPool", Role::pooling, infer_pooling},
    {"AveragePool", Role::pooling, infer_pooling},
    {"LpPool", Role::pooling, infer_pooling},
    {"GlobalAveragePool", Role::pooling, infer_global_pooling},
    {"GlobalMaxPool", Role::pooling, infer_global_pooling},

    {"Attention", Role::attention, infer_attention},
    {MS "MultiHeadAttention", Role::attention, infer_multi_head_attention},
    {MS "GroupQueryAttention", Role::attention, infer_multi_head_attention},
    {MS "Attention", Role::attention, infer_packed_attention},
    {"RotaryEmbedding", Role::add, infer_same},
    {MS "RotaryEmbedding", Role::add, infer_same},
    {"SoftmaxCrossEntropyLoss", Role::loss, infer_loss},
    {"NegativeLogLikelihoodLoss", Role::loss, infer_loss},
});
#undef MS

constexpr std::array class_names = std::to_array<std::string_view>(
    {"matmul", "convolution", "attention", "normalization", "softmax", "elementwise", "pooling", "movement"});

}  // namespace

std::string_view to_text(OperatorClass c) { return class_names[static_cast<std::size_t>(c)]; }

const Operator* find_operator(const Node& node) {
  static const auto rows = [] {
    std::unordered_map<std::string_view, const Operator*> result;
    for (const Operator& row : table) result.emplace(row.type, &row);
    return result;
  }();
  const auto found = rows.find(node.full_type());
  return found == rows.end() ? nullptr : found->second;
}

OperatorClass class_of(Role role) {
  switch (role) {
    case Role::product: return OperatorClass::matmul;
    case Role::convolution:
    case Role::transposed_convolution: return OperatorClass::convolution;
    case Role::attention: return OperatorClass::attention;
    case Role::normalization: return OperatorClass::normalization;
    case Role::softmax: return OperatorClass::softmax;
    case Role::pooling: return OperatorClass::pooling;
    case Role::add:
    case Role::multiply:
    case Role::unary:
    case Role::reduce:
    case Role::dropout:
    case Role::loss: return OperatorClass::elementwise;
    default: return OperatorClass::movement;
  }
}

std::int64_t Value::elements() const {
  std::int64_t product = 1;
  for (const std::int64_t d : dims) product *= d;
  return product;
}

const Value& Call::in(std::size_t input) const {
  if (!has(input)) refuse("has no input " + std::to_string(input), "the inputs of its specification");
  return *inputs[input];
}

Dims Call::constants(std::size_t input) const {
  const Value& value = in(input);
  if (!value.numbers)
    refuse("computes a shape from input " + std::to_string(input) + ", whose numbers are not known",
           "shapes that follow from constants and dimensions");
  Dims result;
  constexpr double largest = 9.0e18;
  for (const double n : *value.numbers)
    result.push_back(std::isnan(n) ? 0 : static_cast<std::int64_t>(std::clamp(n, -largest, largest)));
  return result;
}

std::optional<Dims> Call::attribute_or_input(std::string_view attribute, std::size_t input) const {
  if (const auto* list = node.integers(attribute)) return *list;
  if (has(input)) return constants(input);
  return std::nullopt;
}

std::size_t Call::axis(std::int64_t axis, std::int64_t rank) const {
  if (axis < -rank || axis >= rank)
    refuse("axis " + std::to_string(axis) + " of a value with " + std::to_string(rank) + " dimensions",
           "an axis that exists");
  return static_cast<std::size_t>(axis < 0 ? axis + rank : axis);
}

void Call::set(std::size_t output, DataType type, Dims dims) {
  constexpr double most_elements = 1e15;
  double elements = 1;
  for (const std::int64_t d : dims) {
    if (d < 0) refuse("makes a dimension of " + std::to_string(d), "dimensions of 0 or more");
    elements *= std::max(1.0, static_cast<double>(d));
  }
  if (elements > most_elements || dims.size() > 64)
    refuse("makes a value of more than 10^15 elements", "at most 10^15");
  if (output < outputs.size()) outputs[output] = Value{type, std::move(dims), std::nullopt};
}

void Call::refuse(const std::string& what, const std::string& expected) const {
  throw InputError({node.full_type().substr(0, 100) + " " + node.name.substr(0, 200), what, expected, ""});
}

}  // namespace plumbline::onnx
