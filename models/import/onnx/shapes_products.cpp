// Shapes of matrix products, attention, convolutions and pooling.
#include <algorithm>
#include <cmath>

#include "models/import/onnx/operators.h"

namespace plumbline::onnx {
namespace {

constexpr std::int64_t longest_edge = 1'000'000'000;

/// One spatial axis of a window that moves.
struct Window {
  std::int64_t kernel = 1;
  std::int64_t stride = 1;
  std::int64_t dilation = 1;
  std::int64_t before = 0;
  std::int64_t after = 0;
};

std::int64_t bounded(const Call& call, const std::vector<std::int64_t>* list, std::size_t i, std::int64_t otherwise,
                     std::int64_t smallest) {
  if (list == nullptr || list->empty()) return otherwise;
  if (i >= list->size()) call.refuse("has attributes for another number of axes", "one number for each axis");
  const std::int64_t value = (*list)[i];
  if (value < smallest || value > longest_edge)
    call.refuse(std::to_string(value) + " in its attributes is out of range",
                std::to_string(smallest) + " to " + std::to_string(longest_edge));
  return value;
}

std::vector<Window> windows(const Call& call, const Dims& kernel) {
  const auto* strides = call.node.integers("strides");
  const auto* dilations = call.node.integers("dilations");
  const auto* pads = call.node.integers("pads");
  std::vector<Window> result;
  for (std::size_t i = 0; i < kernel.size(); ++i) {
    Window w;
    w.kernel = kernel[i];
    if (w.kernel < 1 || w.kernel > longest_edge) call.refuse("a kernel of " + std::to_string(w.kernel), "1 or more");
    w.stride = bounded(call, strides, i, 1, 1);
    w.dilation = bounded(call, dilations, i, 1, 1);
    w.before = bounded(call, pads, i, 0, 0);
    w.after = bounded(call, pads, i + kernel.size(), 0, 0);
    result.push_back(w);
  }
  return result;
}

std::int64_t moved(const Call& call, const Window& w, std::int64_t size, bool ceil) {
  const std::string pad = call.node.text("auto_pad", "NOTSET");
  const std::int64_t extent = w.dilation * (w.kernel - 1) + 1;
  if (pad == "SAME_UPPER" || pad == "SAME_LOWER") return (size + w.stride - 1) / w.stride;
  const std::int64_t room = size + (pad == "VALID" ? 0 : w.before + w.after) - extent;
  if (room < 0)
    call.refuse("a window of " + std::to_string(extent) + " over " + std::to_string(size) + " elements",
                "a window inside its input");
  std::int64_t count = (ceil ? room + w.stride - 1 : room) / w.stride + 1;
  if (ceil && (count - 1) * w.stride >= size + w.before) --count;  // no window begins in the padding
  return count;
}

Dims spatial(const Call& call, const Value& in) {
  if (in.dims.size() < 3) call.refuse("reads a value without spatial axes", "[batch, channels, ...]");
  return {in.dims.begin() + 2, in.dims.end()};
}

void set_moved(Call& call, std::int64_t channels, const std::vector<Window>& all, bool ceil) {
  const Value& in = call.in(0);
  const Dims edges = spatial(call, in);
  if (edges.size() != all.size()) call.refuse("has a kernel of another number of axes", std::to_string(edges.size()));
  Dims dims{in.dims[0], channels};
  for (std::size_t i = 0; i < edges.size(); ++i) dims.push_back(moved(call, all[i], edges[i], ceil));
  call.set(0, in.type, dims);
  call.set(1, type_int64, dims);
}

Dims transposed(Dims dims, bool yes) {
  if (yes && dims.size() > 1) std::swap(dims[dims.size() - 1], dims[dims.size() - 2]);
  return dims;
}

std::vector<std::string> split_terms(const std::string& text) {
  std::vector<std::string> terms(1);
  for (const char c : text) {
    if (c == ',')
      terms.emplace_back();
    else if (c != ' ')
      terms.back() += c;
  }
  return terms;
}

/// "..ab" with its ellipsis written as labels of their own.
std::string expanded(const Call& call, const std::string& term, std::size_t rank) {
  const std::size_t dots = term.find("...");
  if (dots == std::string::npos) return term;
  const std::size_t named = term.size() - 3;
  if (named > rank || rank - named > 26) call.refuse("an equation for another number of dimensions", "one label each");
  std::string labels;
  for (std::size_t i = rank - named; i-- > 0;)
    labels += static_cast<char>(i + 1);  // unprintable: no clash with letters
  return term.substr(0, dots) + labels + term.substr(dots + 3);
}

Dims attention_output(const Value& query, std::int64_t value_features) {
  Dims dims = query.dims;
  dims.back() = value_features;
  return dims;
}

}  // namespace

void infer_matmul(Call& call) {
  Dims a = transposed(call.in(0).dims, call.node.integer("transA", 0) != 0);
  Dims b = transposed(call.in(1).dims, call.node.integer("transB", 0) != 0);
  if (a.empty() || b.empty()) call.refuse("multiplies a scalar", "matrices");
  const bool is_row = a.size() == 1;
  const bool is_column = b.size() == 1;
  if (is_row) a.insert(a.begin(), 1);
  if (is_column) b.push_back(1);
  if (a.back() != b[b.size() - 2])
    call.refuse("multiplies " + std::to_string(a.back()) + " columns by " + std::to_string(b[b.size() - 2]) + " rows",
                "as many");
  Dims dims = broadcast(call, {a.begin(), a.end() - 2}, {b.begin(), b.end() - 2});
  if (!is_row) dims.push_back(a[a.size() - 2]);
  if (!is_column) dims.push_back(b.back());
  call.set(0, call.in(0).type, std::move(dims));
}

void infer_gemm(Call& call) {
  const Dims a = transposed(call.in(0).dims, call.node.integer("transA", 0) != 0);
  const Dims b = transposed(call.in(1).dims, call.node.integer("transB", 0) != 0);
  if (a.size() != 2 || b.size() != 2 || a[1] != b[0]) call.refuse("multiplies what does not fit", "[m, k] by [k, n]");
  call.set(0, call.in(0).type, {a[0], b[1]});
}

EinsumTerms einsum_terms(const Call& call) {
  const std::string equation = call.node.text("equation", "");
  const std::size_t arrow = equation.find("->");
  EinsumTerms terms;
  terms.inputs = split_terms(equation.substr(0, arrow));
  if (terms.inputs.size() != call.inputs.size())
    call.refuse("an equation of another number of terms", "one an operand");
  for (std::size_t i = 0; i < terms.inputs.size(); ++i) {
    const Value& in = call.in(i);
    terms.inputs[i] = expanded(call, terms.inputs[i], in.dims.size());
    if (terms.inputs[i].size() != in.dims.size()) call.refuse("an equation for another rank", "one label each");
    for (std::size_t d = 0; d < in.dims.size(); ++d) {
      std::int64_t& size = terms.sizes[terms.inputs[i][d]];
      if (size > 1 && in.dims[d] > 1 && size != in.dims[d]) call.refuse("one label of two sizes", "one size");
      size = std::max(size, in.dims[d]);
    }
  }
  if (arrow != std::string::npos) {
    std::string all;
    for (const char c : equation.substr(arrow + 2))
      if (c != ' ') all += c;
    const std::size_t ellipsis = static_cast<std::size_t>(
        std::count_if(terms.sizes.begin(), terms.sizes.end(), [](const auto& s) { return s.first <= 26; }));
    terms.output = all.find("...") == std::string::npos ? all : expanded(call, all, all.size() - 3 + ellipsis);
  } else {  // labels that occur once, in their order
    for (const auto& [label, size] : terms.sizes) {
      std::size_t times = 0;
      for (const std::string& term : terms.inputs)
        times += static_cast<std::size_t>(std::count(term.begin(), term.end(), label));
      if (times == 1 || label <= 26) terms.output += label;
    }
  }
  return terms;
}

void infer_einsum(Call& call) {
  const EinsumTerms terms = einsum_terms(call);
  Dims dims;
  for (const char label : terms.output) {
    const auto found = terms.sizes.find(label);
    if (found == terms.sizes.end()) call.refuse("an output label that no operand has", "labels of the operands");
    dims.push_back(found->second);
  }
  call.set(0, call.in(0).type, std::move(dims));
}

void infer_matmul_n_bits(Call& call) {
  Dims dims = call.in(0).dims;
  if (dims.empty()) call.refuse("multiplies a scalar", "matrices");
  dims.back() = call.node.integer("N", 0);
  call.set(0, call.in(0).type, std::move(dims));
}

/// Of opset 23: [batch, sequence, heads * head] or [batch, heads, sequence, head]; then present key and value, scores.
void infer_attention(Call& call) {
  const Value& query = call.in(0);
  const Value& value = call.in(2);
  if (query.dims.size() < 3 || query.dims.size() > 4 || value.dims.size() != query.dims.size() ||
      call.in(1).dims.size() != query.dims.size())
    call.refuse("attends with other ranks", "3 or 4 dimensions");
  std::int64_t features = value.dims.back();
  if (query.dims.size() == 3) {
    const std::int64_t heads = call.node.integer("q_num_heads", 0);
    const std::int64_t kv = call.node.integer("kv_num_heads", 0);
    if (heads < 1 || kv < 1 || features % kv != 0) call.refuse("states no heads", "q_num_heads and kv_num_heads");
    if (features > 0 && heads > longest_edge / features) call.refuse("states too many heads", "fewer");
    features = features / kv * heads;
  }
  call.set(0, query.type, attention_output(query, features));
  if (call.outputs.size() > 1) call.set(1, query.type, call.in(1).dims);
  if (call.outputs.size() > 2) call.set(2, query.type, value.dims);
  if (call.outputs.size() > 3) call.refuse("hands out its scores", "three outputs at most");
}

void infer_multi_head_attention(Call& call) {
  const Value& query = call.in(0);
  if (query.dims.size() != 3 || !call.has(2) || call.in(1).dims.size() != 3 || call.in(2).dims.size() != 3)
    call.refuse("reads packed or cached keys", "query, key and value of rank 3");
  const std::int64_t heads = call.node.integer("num_heads", 0);
  const std::int64_t kv = call.node.integer("kv_num_heads", heads);
  const std::int64_t features = call.in(2).dims.back();
  if (heads < 1 || kv < 1 || features % kv != 0 || (features > 0 && heads > longest_edge / features))
    call.refuse("states no heads", "num_heads");
  call.set(0, query.type, attention_output(query, features / kv * heads));
  for (std::size_t i = 1; i < call.outputs.size(); ++i)
    call.set(i, query.type, call.in(std::min<std::size_t>(i, 2)).dims);
}

void infer_packed_attention(Call& call) {
  const Value& in = call.in(0);
  const Value& weight = call.in(1);
  if (in.dims.size() != 3 || weight.dims.size() != 2) call.refuse("reads other ranks", "[batch, sequence, hidden]");
  call.set(0, in.type, attention_output(in, weight.dims.back() / 3));
}

void infer_convolution(Call& call) {
  const Value& weight = call.in(1);
  const Value& in = call.in(0);
  if (weight.dims.size() < 3) call.refuse("has a weight without spatial axes", "[out, in / groups, ...]");
  const std::int64_t groups = call.node.integer("group", 1);
  if (in.dims.size() < 2 || groups < 1 || in.dims[1] % groups != 0 || in.dims[1] / groups != weight.dims[1] ||
      weight.dims[0] % groups != 0)
    call.refuse("its weight does not fit its input's channels", "[out, in / groups, ...]");
  set_moved(call, weight.dims[0], windows(call, {weight.dims.begin() + 2, weight.dims.end()}), false);
}

void infer_transposed_convolution(Call& call) {
  const Value& in = call.in(0);
  const Value& weight = call.in(1);
  const std::int64_t groups = call.node.integer("group", 1);
  if (weight.dims.size() < 3 || in.dims.size() != weight.dims.size() || in.dims[1] != weight.dims[0] || groups < 1 ||
      groups > longest_edge || in.dims[1] % groups != 0)
    call.refuse("its weight does not fit its input's channels", "[in, out / groups, ...]");
  const std::vector<Window> all = windows(call, {weight.dims.begin() + 2, weight.dims.end()});
  const auto* extra = call.node.integers("output_padding");
  const auto* stated = call.node.integers("output_shape");
  Dims dims{in.dims[0], weight.dims[1] > longest_edge ? longest_edge : weight.dims[1] * groups};
  for (std::size_t i = 0; i < all.size(); ++i) {
    const Window& w = all[i];
    if (in.dims[i + 2] > longest_edge) call.refuse("reads an axis beyond 10^9", "less");
    const std::int64_t edge = w.stride * (in.dims[i + 2] - 1) + bounded(call, extra, i, 0, 0) +
                              w.dilation * (w.kernel - 1) + 1 - w.before - w.after;
    const bool same = call.node.text("auto_pad", "NOTSET").starts_with("SAME");
    dims.push_back(stated != nullptr && !stated->empty() ? bounded(call, stated, i, 1, 1)
                   : same                                ? in.dims[i + 2] * w.stride
                                                         : edge);
  }
  call.set(0, in.type, std::move(dims));
}

void infer_pooling(Call& call) {
  const auto* kernel = call.node.integers("kernel_shape");
  if (kernel == nullptr) call.refuse("has no kernel", "kernel_shape");
  if (call.in(0).dims.size() < 3) call.refuse("reads a value without spatial axes", "[batch, channels, ...]");
  set_moved(call, call.in(0).dims[1], windows(call, *kernel), call.node.integer("ceil_mode", 0) != 0);
}

void infer_global_pooling(Call& call) {
  const Value& in = call.in(0);
  Dims dims = in.dims;
  for (std::size_t i = 2; i < dims.size(); ++i) dims[i] = 1;
  call.set(0, in.type, std::move(dims));
}

/// Inputs: value, (regions, scales, sizes); of Upsample and opset 10 value and scales.
void infer_resize(Call& call) {
  const Value& in = call.in(0);
  if (call.has(3) && call.in(3).elements() > 0) {
    const Dims sizes = call.constants(3);
    if (sizes.size() == in.dims.size()) return call.set(0, in.type, sizes);
    const auto* axes = call.node.integers("axes");
    if (axes == nullptr || axes->size() != sizes.size()) call.refuse("states other sizes", "one for each dimension");
    Dims dims = in.dims;
    for (std::size_t i = 0; i < sizes.size(); ++i) dims[call.axis((*axes)[i], in.rank())] = sizes[i];
    return call.set(0, in.type, std::move(dims));
  }
  const std::size_t at = call.has(2) ? 2 : 1;
  std::vector<double> scales;
  if (const Attribute* a = call.node.find("scales")) scales = a->numbers;
  if (scales.empty() && call.in(at).numbers) scales = *call.in(at).numbers;
  if (scales.size() != in.dims.size()) call.refuse("scales that are not known", "constant scales or sizes");
  Dims dims = in.dims;
  for (std::size_t i = 0; i < dims.size(); ++i) {
    const double size = std::floor(static_cast<double>(dims[i]) * scales[i]);
    dims[i] = size > 0 ? static_cast<std::int64_t>(std::min(size, 2e15)) : 0;
  }
  call.set(0, in.type, std::move(dims));
}

namespace {

std::int64_t block_of(const Call& call) {
  const std::int64_t block = call.node.integer("blocksize", 1);
  if (call.in(0).dims.size() != 4 || block < 1 || block > 1000)
    call.refuse("reads no images", "[batch, channels, h, w]");
  for (const std::int64_t d : call.in(0).dims)
    if (d > longest_edge) call.refuse("reads an axis beyond 10^9", "less");
  return block;
}

}  // namespace

void infer_depth_to_space(Call& call) {
  const std::int64_t b = block_of(call);
  const Dims& d = call.in(0).dims;
  call.set(0, call.in(0).type, {d[0], d[1] / (b * b), d[2] * b, d[3] * b});
}

void infer_space_to_depth(Call& call) {
  const std::int64_t b = block_of(call);
  const Dims& d = call.in(0).dims;
  call.set(0, call.in(0).type, {d[0], d[1] * (b * b), d[2] / b, d[3] / b});
}

}  // namespace plumbline::onnx
