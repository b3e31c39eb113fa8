// Shapes of operators that arrange elements, and their numbers where shapes are computed from them.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "models/import/onnx/operators.h"
#include "models/import/onnx/read_model.h"

namespace plumbline::onnx {
namespace {

std::int64_t product(const Dims& dims, std::size_t first, std::size_t last) {
  std::int64_t result = 1;
  for (std::size_t i = first; i < last; ++i) result *= dims[i];
  return result;
}

void keep_numbers(Call& call) {
  const Value& in = call.in(0);
  if (in.numbers && !call.outputs.empty() && call.outputs.front().elements() == in.elements())
    call.outputs.front().numbers = in.numbers;
}

bool may_fold(const Call& call) {
  return !call.outputs.empty() && call.outputs.front().elements() <= most_read_numbers;
}

/// One dimension of a Slice.
struct Cut {
  std::int64_t begin = 0;
  std::int64_t step = 1;
  std::int64_t count = 0;
};

Cut cut(const Call& call, std::int64_t size, std::int64_t begin, std::int64_t end, std::int64_t step) {
  if (step == 0 || step == std::numeric_limits<std::int64_t>::min()) call.refuse("steps by 0", "a step");
  const auto inside = [&](std::int64_t at) {
    if (at < 0) at = at < -size ? -1 : at + size;  // -1 now means before the first
    return step > 0 ? std::clamp<std::int64_t>(at, 0, size) : std::clamp<std::int64_t>(at, -1, size - 1);
  };
  const std::int64_t first = inside(begin);
  const std::int64_t last = inside(end);
  const std::int64_t span = step > 0 ? last - first : first - last;
  const std::int64_t stride = step > 0 ? step : -step;
  return {first, step, span <= 0 ? 0 : (span - 1) / stride + 1};
}

/// Numbers of a value whose every axis is cut.
std::vector<double> cut_numbers(const std::vector<double>& numbers, const Dims& dims, const std::vector<Cut>& cuts,
                                std::int64_t count) {
  std::vector<double> result(static_cast<std::size_t>(count));
  for (std::int64_t i = 0; i < count; ++i) {
    std::int64_t rest = i;
    std::int64_t stride = 1;
    std::int64_t source = 0;
    for (std::size_t axis = dims.size(); axis-- > 0;) {
      source += (cuts[axis].begin + rest % cuts[axis].count * cuts[axis].step) * stride;
      rest /= cuts[axis].count;
      stride *= dims[axis];
    }
    result[static_cast<std::size_t>(i)] = numbers[static_cast<std::size_t>(source)];
  }
  return result;
}

Dims without_ones(const Call& call, const Value& in, const std::optional<Dims>& axes) {
  std::vector<bool> dropped(in.dims.size(), false);
  if (axes)
    for (const std::int64_t a : *axes) dropped[call.axis(a, in.rank())] = true;
  Dims dims;
  for (std::size_t i = 0; i < in.dims.size(); ++i)
    if (axes ? !dropped[i] : in.dims[i] != 1) dims.push_back(in.dims[i]);
  return dims;
}

}  // namespace

void infer_reshape(Call& call) {
  const Value& in = call.in(0);
  const auto stated = call.attribute_or_input("shape", 1);
  if (!stated) call.refuse("has no shape", "a shape");
  Dims dims = *stated;
  const bool takes_zeros = call.node.integer("allowzero", 0) == 0;
  std::optional<std::size_t> open;
  double others = 1;
  for (std::size_t i = 0; i < dims.size(); ++i) {
    if (dims[i] == 0 && takes_zeros) {
      if (i >= in.dims.size()) call.refuse("copies a dimension that its input does not have", "fewer dimensions");
      dims[i] = in.dims[i];
    }
    if (dims[i] == -1 && !open)
      open = i;
    else
      others *= static_cast<double>(dims[i]);
  }
  if (open) {
    if (others < 1 || others > 1e15 || in.elements() % static_cast<std::int64_t>(others) != 0)
      call.refuse(std::to_string(in.elements()) + " elements do not divide into the shape", "a shape that holds them");
    dims[*open] = in.elements() / static_cast<std::int64_t>(others);
  } else if (others != static_cast<double>(in.elements())) {
    call.refuse(std::to_string(in.elements()) + " elements in a shape of " +
                    std::to_string(static_cast<std::int64_t>(std::clamp(others, -1e18, 1e18))),
                "as many; a batch that was fixed by the export is the usual cause");
  }
  call.set(0, in.type, std::move(dims));
  keep_numbers(call);
}

void infer_flatten(Call& call) {
  const Value& in = call.in(0);
  const std::int64_t stated = call.node.integer("axis", 1);
  const std::size_t axis =
      stated == in.rank() ? in.dims.size() : call.axis(stated, std::max<std::int64_t>(1, in.rank()));
  const std::size_t at = std::min(axis, in.dims.size());
  call.set(0, in.type, {product(in.dims, 0, at), product(in.dims, at, in.dims.size())});
}

void infer_transpose(Call& call) {
  const Value& in = call.in(0);
  Dims order(in.dims.size());
  std::iota(order.rbegin(), order.rend(), 0);
  if (const auto* stated = call.node.integers("perm")) order = *stated;
  if (order.size() != in.dims.size()) call.refuse("permutes another number of dimensions", std::to_string(in.rank()));
  Dims dims;
  for (const std::int64_t from : order) dims.push_back(in.dims[call.axis(from, in.rank())]);
  const bool moves = in.rank() > 1;
  call.set(0, in.type, std::move(dims));
  if (!moves) keep_numbers(call);
}

void infer_squeeze(Call& call) {
  const Value& in = call.in(0);
  Dims dims = without_ones(call, in, call.attribute_or_input("axes", 1));
  if (product(dims, 0, dims.size()) != in.elements()) call.refuse("drops a dimension that is not 1", "dimensions of 1");
  call.set(0, in.type, std::move(dims));
  keep_numbers(call);
}

void infer_unsqueeze(Call& call) {
  const Value& in = call.in(0);
  const auto axes = call.attribute_or_input("axes", 1);
  if (!axes) call.refuse("has no axes", "axes");
  const std::int64_t rank = in.rank() + std::ssize(*axes);
  if (rank > 64) call.refuse("makes more than 64 dimensions", "fewer");
  Dims dims(static_cast<std::size_t>(rank), -1);
  for (const std::int64_t a : *axes) dims[call.axis(a, rank)] = 1;
  std::size_t next = 0;
  for (std::int64_t& d : dims)
    if (d == -1) d = next < in.dims.size() ? in.dims[next++] : 1;
  call.set(0, in.type, std::move(dims));
  keep_numbers(call);
}

void infer_concat(Call& call) {
  const Value& first = call.in(0);
  const std::size_t axis = call.axis(call.node.integer("axis", 1), first.rank());
  Dims dims = first.dims;
  bool is_known = first.rank() == 1;
  for (std::size_t i = 1; i < call.inputs.size(); ++i) {
    const Value& part = call.in(i);
    Dims expected = dims;
    if (part.rank() != first.rank()) call.refuse("joins values of different ranks", "equal ranks");
    expected[axis] = part.dims[axis];
    if (expected != part.dims) call.refuse("joins values that differ beside their axis", "equal dimensions there");
    dims[axis] += part.dims[axis];
    if (dims[axis] > 1'000'000'000'000'000) call.refuse("joins more than 10^15 elements", "fewer");
  }
  call.set(0, first.type, dims);
  std::vector<double> numbers;
  for (const Value* part : call.inputs) {
    is_known = is_known && part->numbers && may_fold(call);
    if (is_known) numbers.insert(numbers.end(), part->numbers->begin(), part->numbers->end());
  }
  if (is_known) call.outputs.front().numbers = std::move(numbers);
}

void infer_split(Call& call) {
  const Value& in = call.in(0);
  const std::size_t axis = call.axis(call.node.integer("axis", 0), in.rank());
  const std::int64_t parts = std::ssize(call.outputs);
  if (parts == 0) return;
  Dims sizes;
  if (const auto stated = call.attribute_or_input("split", 1)) sizes = *stated;
  const std::int64_t each = (in.dims[axis] + parts - 1) / parts;
  for (std::int64_t i = std::ssize(sizes); i < parts; ++i)
    sizes.push_back(std::clamp<std::int64_t>(in.dims[axis] - i * each, 0, each));
  std::int64_t begin = 0;
  for (std::size_t i = 0; i < call.outputs.size(); ++i) {
    if (sizes[i] < 0 || sizes[i] > in.dims[axis] - begin)
      call.refuse("splits off more than there is", "parts that sum to " + std::to_string(in.dims[axis]));
    Dims dims = in.dims;
    dims[axis] = sizes[i];
    call.set(i, in.type, dims);
    if (in.numbers && in.rank() == 1)
      call.outputs[i].numbers =
          std::vector<double>(in.numbers->begin() + begin, in.numbers->begin() + begin + sizes[i]);
    begin += sizes[i];
  }
}

void infer_split_to_sequence(Call& call) {
  const Value& in = call.in(0);
  const std::size_t axis = call.axis(call.node.integer("axis", 0), in.rank());
  const Dims sizes = call.has(1) ? call.constants(1) : Dims{1};
  const auto differs = [&](std::int64_t size) { return size != sizes.front(); };
  if (sizes.empty() || sizes.front() < 1 || std::any_of(sizes.begin(), sizes.end(), differs) ||
      in.dims[axis] % sizes.front() != 0)
    call.refuse("makes a sequence of unequal parts", "equal parts, or Split");
  Dims dims = in.dims;
  dims[axis] = sizes.front();
  if (!call.has(1) && call.node.integer("keepdims", 1) == 0)
    dims.erase(dims.begin() + static_cast<std::ptrdiff_t>(axis));
  call.set(0, in.type, std::move(dims));
}

void infer_slice(Call& call) {
  const Value& in = call.in(0);
  const auto starts = call.attribute_or_input("starts", 1);
  const auto ends = call.attribute_or_input("ends", 2);
  if (!starts || !ends || starts->size() != ends->size()) call.refuse("has no bounds", "starts and ends");
  Dims axes(starts->size());
  std::iota(axes.begin(), axes.end(), 0);
  if (const auto stated = call.attribute_or_input("axes", 3)) axes = *stated;
  Dims steps(starts->size(), 1);
  if (call.has(4)) steps = call.constants(4);
  if (axes.size() != starts->size() || steps.size() != starts->size())
    call.refuse("has bounds for another number of axes", std::to_string(starts->size()));
  std::vector<Cut> cuts;
  for (const std::int64_t size : in.dims) cuts.push_back({0, 1, size});
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const std::size_t axis = call.axis(axes[i], in.rank());
    cuts[axis] = cut(call, in.dims[axis], (*starts)[i], (*ends)[i], steps[i]);
  }
  Dims dims;
  for (const Cut& c : cuts) dims.push_back(c.count);
  call.set(0, in.type, std::move(dims));
  if (in.numbers && may_fold(call))
    call.outputs.front().numbers = cut_numbers(*in.numbers, in.dims, cuts, call.outputs.front().elements());
}

void infer_gather(Call& call) {
  const Value& in = call.in(0);
  const Value& indices = call.in(1);
  const std::size_t axis = call.axis(call.node.integer("axis", 0), in.rank());
  Dims dims(in.dims.begin(), in.dims.begin() + static_cast<std::ptrdiff_t>(axis));
  dims.insert(dims.end(), indices.dims.begin(), indices.dims.end());
  dims.insert(dims.end(), in.dims.begin() + static_cast<std::ptrdiff_t>(axis) + 1, in.dims.end());
  call.set(0, in.type, std::move(dims));
  if (!in.numbers || !indices.numbers || in.rank() != 1 || !may_fold(call)) return;
  std::vector<double> numbers;
  for (const std::int64_t i : call.constants(1)) numbers.push_back((*in.numbers)[call.axis(i, in.dims[0])]);
  call.outputs.front().numbers = std::move(numbers);
}

void infer_gather_elements(Call& call) { call.set(0, call.in(0).type, call.in(1).dims); }

void infer_gather_nd(Call& call) {
  const Value& in = call.in(0);
  const Value& indices = call.in(1);
  const std::int64_t batch = call.node.integer("batch_dims", 0);
  if (indices.dims.empty() || batch < 0 || batch + indices.dims.back() > in.rank())
    call.refuse("indexes more dimensions than there are", "at most " + std::to_string(in.rank()));
  Dims dims(indices.dims.begin(), indices.dims.end() - 1);
  dims.insert(dims.end(), in.dims.begin() + batch + indices.dims.back(), in.dims.end());
  call.set(0, in.type, std::move(dims));
}

void infer_expand(Call& call) {
  const Value& in = call.in(0);
  call.set(0, in.type, broadcast(call, in.dims, call.constants(1)));
  if (in.numbers && in.elements() == 1 && may_fold(call))
    call.outputs.front().numbers =
        std::vector<double>(static_cast<std::size_t>(call.outputs.front().elements()), in.numbers->front());
  else
    keep_numbers(call);
}

void infer_tile(Call& call) {
  const Value& in = call.in(0);
  const Dims times = call.constants(1);
  if (times.size() != in.dims.size()) call.refuse("repeats another number of dimensions", std::to_string(in.rank()));
  Dims dims = in.dims;
  for (std::size_t i = 0; i < dims.size(); ++i) {
    if (times[i] < 0 || times[i] > 1'000'000'000 || dims[i] > 1'000'000'000) call.refuse("repeats too often", "less");
    dims[i] *= times[i];
  }
  call.set(0, in.type, std::move(dims));
  keep_numbers(call);
}

void infer_pad(Call& call) {
  const Value& in = call.in(0);
  const auto pads = call.attribute_or_input("pads", 1);
  Dims axes(in.dims.size());
  std::iota(axes.begin(), axes.end(), 0);
  if (call.has(3)) axes = call.constants(3);
  if (!pads || pads->size() != 2 * axes.size()) call.refuse("has pads for another number of axes", "two for each");
  Dims dims = in.dims;
  for (std::size_t i = 0; i < axes.size(); ++i)
    for (const std::int64_t pad : {(*pads)[i], (*pads)[i + axes.size()]}) {
      if (std::abs(static_cast<double>(pad)) > 1e12) call.refuse("pads by more than 10^12", "less");
      dims[call.axis(axes[i], in.rank())] += pad;
    }
  call.set(0, in.type, std::move(dims));
}

void infer_one_hot(Call& call) {
  const Value& indices = call.in(0);
  const Dims depth = call.constants(1);
  if (depth.empty()) call.refuse("has no depth", "a number");
  const std::size_t axis = call.axis(call.node.integer("axis", -1), indices.rank() + 1);
  Dims dims = indices.dims;
  dims.insert(dims.begin() + static_cast<std::ptrdiff_t>(axis), depth.front());
  call.set(0, call.in(2).type, std::move(dims));
}

void infer_top_k(Call& call) {
  const Value& in = call.in(0);
  const Dims k = call.has(1) ? call.constants(1) : Dims{call.node.integer("k", 1)};
  Dims dims = in.dims;
  const std::size_t axis = call.axis(call.node.integer("axis", -1), in.rank());
  if (k.empty() || k.front() > dims[axis]) call.refuse("takes more than there is", std::to_string(dims[axis]));
  dims[axis] = k.front();
  call.set(0, in.type, dims);
  call.set(1, type_int64, dims);
}

void infer_reduce(Call& call) {
  const Value& in = call.in(0);
  std::optional<Dims> axes = call.attribute_or_input("axes", 1);
  if ((!axes || axes->empty()) && call.node.integer("noop_with_empty_axes", 0) != 0)
    return call.set(0, in.type, in.dims);
  std::vector<bool> reduced(in.dims.size(), !axes || axes->empty());
  if (axes)
    for (const std::int64_t a : *axes) reduced[call.axis(a, in.rank())] = true;
  Dims dims;
  const bool keeps = call.node.integer("keepdims", 1) != 0;
  for (std::size_t i = 0; i < in.dims.size(); ++i)
    if (!reduced[i] || keeps) dims.push_back(reduced[i] ? 1 : in.dims[i]);
  call.set(0, in.type, std::move(dims));
  if (!in.numbers || call.outputs.empty() || call.outputs.front().elements() != 1 || in.numbers->empty()) return;
  const auto& numbers = *in.numbers;
  const std::string& type = call.node.type;
  if (type == "ReduceProd")
    call.outputs.front().numbers = {{std::accumulate(numbers.begin(), numbers.end(), 1.0, std::multiplies<>())}};
  if (type == "ReduceSum") call.outputs.front().numbers = {{std::accumulate(numbers.begin(), numbers.end(), 0.0)}};
  if (type == "ReduceMax") call.outputs.front().numbers = {{*std::max_element(numbers.begin(), numbers.end())}};
  if (type == "ReduceMin") call.outputs.front().numbers = {{*std::min_element(numbers.begin(), numbers.end())}};
}

void infer_arg(Call& call) {
  const Value& in = call.in(0);
  const std::size_t axis = call.axis(call.node.integer("axis", 0), in.rank());
  Dims dims = in.dims;
  if (call.node.integer("keepdims", 1) != 0)
    dims[axis] = 1;
  else
    dims.erase(dims.begin() + static_cast<std::ptrdiff_t>(axis));
  call.set(0, type_int64, std::move(dims));
}

}  // namespace plumbline::onnx
