// Operators that make constants: shapes, counts and what is written in the file.
#include <algorithm>
#include <cmath>

#include "models/import/onnx/operators.h"
#include "models/import/onnx/read_model.h"

namespace plumbline::onnx {
namespace {

bool may_fold(const Call& call) {
  return !call.outputs.empty() && call.outputs.front().elements() <= most_read_numbers;
}

}  // namespace

void infer_constant(Call& call) {
  Value value;
  for (const Attribute& a : call.node.attributes) {
    if (a.name == "value" && a.tensor) value = {a.tensor->type, a.tensor->dims, a.tensor->numbers};
    if (a.name == "value_int" && a.integer) value = {type_int64, {}, {{static_cast<double>(*a.integer)}}};
    if (a.name == "value_float" && a.number) value = {type_float, {}, {{*a.number}}};
    if (a.name == "value_ints")
      value = {type_int64, {std::ssize(a.integers)}, std::vector<double>(a.integers.begin(), a.integers.end())};
    if (a.name == "value_floats") value = {type_float, {std::ssize(a.numbers)}, a.numbers};
  }
  call.set(0, value.type, value.dims);
  if (!call.outputs.empty() && value.numbers && std::ssize(*value.numbers) == value.elements())
    call.outputs.front().numbers = std::move(value.numbers);
}

void infer_constant_of_shape(Call& call) {
  const Attribute* fill = call.node.find("value");
  const bool has_fill = fill != nullptr && fill->tensor != nullptr;
  call.set(0, has_fill ? fill->tensor->type : type_float, call.constants(0));
  const double number =
      has_fill && fill->tensor->numbers && !fill->tensor->numbers->empty() ? fill->tensor->numbers->front() : 0;
  if (may_fold(call))
    call.outputs.front().numbers =
        std::vector<double>(static_cast<std::size_t>(call.outputs.front().elements()), number);
}

void infer_shape(Call& call) {
  const Dims& dims = call.in(0).dims;
  const auto rank = static_cast<std::int64_t>(dims.size());
  const auto inside = [&](std::int64_t at) { return std::clamp<std::int64_t>(at < 0 ? at + rank : at, 0, rank); };
  const std::int64_t begin = inside(call.node.integer("start", 0));
  const std::int64_t end = std::max(begin, inside(call.node.integer("end", rank)));
  call.set(0, type_int64, {end - begin});
  if (!call.outputs.empty())
    call.outputs.front().numbers = std::vector<double>(dims.begin() + begin, dims.begin() + end);
}

void infer_size(Call& call) {
  call.set(0, type_int64, {});
  if (!call.outputs.empty()) call.outputs.front().numbers = {{static_cast<double>(call.in(0).elements())}};
}

void infer_range(Call& call) {
  for (const std::size_t i : {0U, 1U, 2U})
    if (!call.in(i).numbers || call.in(i).numbers->empty())
      call.refuse("counts to a number that is not known", "a range that follows from constants and dimensions");
  const double begin = call.in(0).numbers->front();
  const double step = call.in(2).numbers->front();
  const double count = step == 0 ? 0 : std::ceil((call.in(1).numbers->front() - begin) / step);
  call.set(0, call.in(0).type, {count > 0 ? static_cast<std::int64_t>(std::min(count, 2e15)) : 0});
  if (!may_fold(call)) return;
  std::vector<double> numbers(static_cast<std::size_t>(call.outputs.front().elements()));
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = begin + static_cast<double>(i) * step;
  call.outputs.front().numbers = std::move(numbers);
}

void infer_random(Call& call) {
  const auto* shape = call.node.integers("shape");
  call.set(0, type_float, shape == nullptr ? Dims{} : *shape);
}

}  // namespace plumbline::onnx
