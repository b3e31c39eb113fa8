// Shapes of elementwise operators and norms, and their numbers where all operands are small constants.
#include <algorithm>
#include <cmath>
#include <functional>

#include "models/import/onnx/operators.h"
#include "models/import/onnx/read_model.h"

namespace plumbline::onnx {
namespace {

using Binary = double (*)(double, double);

double divided_as(DataType type, double a, double b) {
  if (is_floating(type)) return b == 0 ? 0 : a / b;
  return b == 0 ? 0 : std::trunc(a / b);  // integers divide towards zero, as C does
}

Binary binary_of(const std::string& type, bool is_float) {
  if (type == "Add" || type == "Sum") return [](double a, double b) { return a + b; };
  if (type == "Sub") return [](double a, double b) { return a - b; };
  if (type == "Mul") return [](double a, double b) { return a * b; };
  if (type == "Div" && is_float) return [](double a, double b) { return divided_as(type_float, a, b); };
  if (type == "Div") return [](double a, double b) { return divided_as(type_int64, a, b); };
  if (type == "Mod") return [](double a, double b) { return b == 0 ? 0 : a - b * std::floor(a / b); };
  if (type == "Pow") return [](double a, double b) { return std::pow(a, b); };
  if (type == "Min") return [](double a, double b) { return std::min(a, b); };
  if (type == "Max") return [](double a, double b) { return std::max(a, b); };
  if (type == "And") return [](double a, double b) { return a != 0 && b != 0 ? 1. : 0.; };
  if (type == "Or") return [](double a, double b) { return a != 0 || b != 0 ? 1. : 0.; };
  if (type == "Equal") return [](double a, double b) { return a == b ? 1. : 0.; };
  if (type == "Less") return [](double a, double b) { return a < b ? 1. : 0.; };
  if (type == "LessOrEqual") return [](double a, double b) { return a <= b ? 1. : 0.; };
  if (type == "Greater") return [](double a, double b) { return a > b ? 1. : 0.; };
  if (type == "GreaterOrEqual") return [](double a, double b) { return a >= b ? 1. : 0.; };
  return nullptr;
}

double (*unary_of(const std::string& type))(double) {
  if (type == "Identity" || type == "Dropout") return [](double a) { return a; };
  if (type == "Neg") return [](double a) { return -a; };
  if (type == "Not") return [](double a) { return a == 0 ? 1. : 0.; };
  if (type == "Abs") return [](double a) { return std::abs(a); };
  if (type == "Ceil") return [](double a) { return std::ceil(a); };
  if (type == "Floor") return [](double a) { return std::floor(a); };
  if (type == "Round") return [](double a) { return std::nearbyint(a); };
  if (type == "Sqrt") return [](double a) { return a < 0 ? 0 : std::sqrt(a); };
  if (type == "Reciprocal") return [](double a) { return a == 0 ? 0 : 1 / a; };
  return nullptr;
}

/// Where element `index` of a value of `out` dimensions is read from a value that was broadcast to them.
std::size_t source_of(std::size_t index, const Dims& out, const Dims& in) {
  std::size_t stride = 1;
  std::size_t source = 0;
  for (std::size_t i = 0; i < out.size(); ++i) {
    const std::size_t axis = out.size() - 1 - i;
    const auto size = static_cast<std::size_t>(out[axis]);
    const std::size_t coordinate = index % size;
    index /= size;
    if (i >= in.size()) continue;
    const auto own = static_cast<std::size_t>(in[in.size() - 1 - i]);
    if (own != 1) source += coordinate * stride;
    stride *= own;
  }
  return source;
}

bool is_small(const Value& value) { return value.elements() <= most_read_numbers; }

void fold(Call& call, const std::function<double(std::size_t)>& number) {
  Value& out = call.outputs.front();
  std::vector<double> numbers(static_cast<std::size_t>(out.elements()));
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = number(i);
  out.numbers = std::move(numbers);
}

void set_broadcast(Call& call, DataType type) {
  Dims dims = call.in(0).dims;
  for (std::size_t i = 1; i < call.inputs.size(); ++i)
    if (call.has(i)) dims = broadcast(call, dims, call.in(i).dims);
  call.set(0, type, dims);
  if (call.outputs.empty() || !is_small(call.outputs.front()) || call.inputs.size() != 2 || !call.has(1)) return;
  const Value& a = call.in(0);
  const Value& b = call.in(1);
  const Binary binary = binary_of(call.node.type, is_floating(a.type));
  if (!a.numbers || !b.numbers || binary == nullptr) return;
  fold(call, [&](std::size_t i) {
    return binary((*a.numbers)[source_of(i, dims, a.dims)], (*b.numbers)[source_of(i, dims, b.dims)]);
  });
}

}  // namespace

Dims broadcast(const Call& call, const Dims& a, const Dims& b) {
  Dims result(std::max(a.size(), b.size()));
  for (std::size_t i = 0; i < result.size(); ++i) {
    const std::int64_t from_a = i < a.size() ? a[a.size() - 1 - i] : 1;
    const std::int64_t from_b = i < b.size() ? b[b.size() - 1 - i] : 1;
    if (from_a != from_b && from_a != 1 && from_b != 1)
      call.refuse("dimensions " + std::to_string(from_a) + " and " + std::to_string(from_b) + " do not broadcast",
                  "equal dimensions, or 1");
    result[result.size() - 1 - i] = from_a == 1 ? from_b : from_a;
  }
  return result;
}

void infer_same(Call& call) {
  const Value& in = call.in(0);
  for (std::size_t i = 0; i < call.outputs.size(); ++i) call.set(i, in.type, in.dims);
  if (call.node.type == "Dropout" && call.outputs.size() > 1) call.set(1, type_bool, in.dims);
  const auto unary = unary_of(call.node.type);
  if (!in.numbers || unary == nullptr || call.outputs.empty()) return;
  fold(call, [&](std::size_t i) { return unary((*in.numbers)[i]); });
}

void infer_broadcast(Call& call) { set_broadcast(call, call.in(0).type); }

void infer_comparison(Call& call) {
  if (call.inputs.size() > 1) return set_broadcast(call, type_bool);
  infer_same(call);
  if (!call.outputs.empty()) call.outputs.front().type = type_bool;
}

void infer_where(Call& call) {
  const Value& condition = call.in(0);
  const Value& a = call.in(1);
  const Value& b = call.in(2);
  const Dims dims = broadcast(call, condition.dims, broadcast(call, a.dims, b.dims));
  call.set(0, a.type, dims);
  if (call.outputs.empty() || !is_small(call.outputs.front()) || !condition.numbers || !a.numbers || !b.numbers) return;
  fold(call, [&](std::size_t i) {
    const bool first = (*condition.numbers)[source_of(i, dims, condition.dims)] != 0;
    return first ? (*a.numbers)[source_of(i, dims, a.dims)] : (*b.numbers)[source_of(i, dims, b.dims)];
  });
}

void infer_cast(Call& call) {
  const Value& in = call.in(0);
  DataType type = type_float;
  if (call.node.type == "Cast") type = static_cast<DataType>(call.node.integer("to", type_float));
  if (call.node.type == "CastLike") type = call.in(1).type;
  if (call.node.type == "QuantizeLinear") type = 2;
  call.set(0, type, in.dims);
  if (!in.numbers || call.outputs.empty() || call.node.domain.size() + call.node.type.size() > 8) return;
  const bool truncates = !is_floating(type) && is_floating(in.type);
  fold(call, [&](std::size_t i) {
    const double n = (*in.numbers)[i];
    return type == type_bool ? (n == 0 ? 0. : 1.) : truncates ? std::trunc(n) : n;
  });
}

void infer_normalization(Call& call) {
  const Value& in = call.in(0);
  call.set(0, in.type, in.dims);
  const bool is_batch = call.node.type == "BatchNormalization";
  Dims statistics = in.dims;
  if (is_batch) {
    if (in.dims.size() < 2) call.refuse("normalizes a value without channels", "[batch, channels, ...]");
    statistics = {in.dims[1]};
  } else if (!in.dims.empty()) {
    const std::size_t axis = call.axis(call.node.integer("axis", -1), in.rank());
    for (std::size_t i = axis; i < statistics.size(); ++i) statistics[i] = 1;
  }
  for (std::size_t i = 1; i < call.outputs.size(); ++i) call.set(i, type_float, statistics);
}

/// Outputs: the norm, its statistics (two), the sum that was normalized.
void infer_skip_normalization(Call& call) {
  const Value& in = call.in(0);
  Dims statistics = in.dims;
  if (call.in(1).dims != in.dims) call.refuse("adds values of other dimensions", "equal dimensions");
  if (!statistics.empty()) statistics.back() = 1;
  for (std::size_t i = 0; i < call.outputs.size(); ++i) call.set(i, in.type, i == 0 || i == 3 ? in.dims : statistics);
}

void infer_loss(Call& call) {
  const Value& scores = call.in(0);
  const Value& labels = call.in(1);
  call.set(0, scores.type, call.node.text("reduction", "mean") == "none" ? labels.dims : Dims{});
  call.set(1, scores.type, scores.dims);
}

}  // namespace plumbline::onnx
