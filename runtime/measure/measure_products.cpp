// Products of linear layers, forward and backward, and experts' grouped ones.
#include <algorithm>
#include <array>
#include <vector>

#include "kernels/grouped_linear.h"
#include "kernels/linear.h"
#include "runtime/measure/measure_kernels.h"
#include "runtime/measure/measured_tensor.h"
#include "runtime/measure/timing.h"

namespace plumbline {
namespace {

constexpr Seconds product_budget{0.03};

struct Widths {
  std::int64_t in;
  std::int64_t out;
};
/// Projections of attention, of GPT's and of Llama's feed-forward layers, whole and divided by two ranks.
constexpr std::array widths{Widths{256, 128},  Widths{128, 256},  Widths{256, 256},  Widths{256, 768}, Widths{768, 256},
                            Widths{256, 1024}, Widths{1024, 256}, Widths{384, 1536}, Widths{512, 512}};
constexpr std::array<std::int64_t, 4> token_counts{64, 128, 512, 2048};

/// What a layer has just made lies in a cache; its weights, their gradients and the input that was kept do not.
struct Memory {
  ColdTensors operands;
  ColdTensors gradients;
};

void measure_linear(const Widths& w, std::int64_t tokens, NumberFormat format, Memory& memory, KernelTable& table) {
  MeasuredTensor input(format, tokens, w.in);
  MeasuredTensor output(format, tokens, w.out);
  const auto weight = [&] { return memory.operands.next(w.out, w.in); };
  LinearForward forward{input, weight(), {}, output, {}};
  LinearInputGradient backward{output, weight(), input, Write::overwrite, {}};
  LinearWeightGradient gradient{input, output, memory.gradients.next(w.out, w.in), {}, Write::accumulate, {}};
  MeasuredWorkspace scratch(std::max({reference::linear_workspace(forward), reference::linear_workspace(backward),
                                      reference::linear_workspace(gradient)}));
  forward.workspace = backward.workspace = gradient.workspace = scratch.view();
  const auto add = [&](const char* kind, std::int64_t m, std::int64_t n, std::int64_t k, auto call) {
    table.products.push_back({1, m, n, k, format, kind, median_time(call, product_budget).value()});
  };
  add("forward", tokens, w.out, w.in, [&] {
    forward.weight = weight();
    reference::linear_forward(forward);
  });
  add("weight_gradient", w.out, w.in, tokens, [&] {
    gradient.input = memory.operands.next(tokens, w.in);
    gradient.weight_gradient = memory.gradients.next(w.out, w.in);
    reference::linear_weight_gradient(gradient);
  });
  add("input_gradient", tokens, w.in, w.out, [&] {
    backward.weight = weight();
    reference::linear_input_gradient(backward);
  });
}

void measure_grouped(std::int64_t experts, std::int64_t rows, const Widths& w, KernelTable& table) {
  constexpr NumberFormat format = NumberFormat::fp32;
  MeasuredTensor input(format, experts * rows, w.in);
  MeasuredTensor weight(format, experts * w.out, w.in);
  MeasuredTensor output(format, experts * rows, w.out);
  const std::vector<std::int64_t> counts(static_cast<std::size_t>(experts), rows);
  GroupedLinearForward forward{{experts, counts.data()}, input, weight, {}, output, {}};
  MeasuredWorkspace scratch(reference::grouped_linear_workspace(forward));
  forward.workspace = scratch.view();
  const Seconds time = median_time([&] { reference::grouped_linear_forward(forward); }, product_budget);
  table.products.push_back({experts, rows, w.out, w.in, format, std::string(grouped_kernel), time.value()});
}

}  // namespace

FlopsPerSecond measured_product_rate() {
  constexpr NumberFormat format = NumberFormat::fp32;
  constexpr std::int64_t width = 512;
  MeasuredTensor input(format, width, width);
  MeasuredTensor weight(format, width, width);
  MeasuredTensor output(format, width, width);
  LinearForward call{input, weight, {}, output, {}};
  MeasuredWorkspace scratch(reference::linear_workspace(call));
  call.workspace = scratch.view();
  const Flops flops(2.0 * static_cast<double>(width * width * width));
  return flops / median_time([&] { reference::linear_forward(call); }, Seconds(0.1));
}

void measure_products(const MeasureOptions& options, KernelTable& table) {
  const bool brief = options.extent == MeasureExtent::brief;
  const Bytes beyond_cache = brief ? 8_MiB : 2 * options.cache;
  for (const NumberFormat format : {NumberFormat::fp32, NumberFormat::bf16, NumberFormat::fp16}) {
    if (options.stop.stop_requested() || (brief && format != NumberFormat::fp32)) break;
    Memory memory{{format, beyond_cache}, {NumberFormat::fp32, beyond_cache}};
    for (const std::int64_t tokens : token_counts)
      for (const Widths& w : widths) {
        if (options.stop.stop_requested()) return;
        if (brief && tokens != token_counts.front()) continue;
        options.progress("matrix products, " + std::string(to_text(format)) + ", " + std::to_string(tokens) +
                         " tokens");
        measure_linear(w, tokens, format, memory, table);
      }
  }
  for (const std::int64_t rows : {std::int64_t{32}, std::int64_t{128}, std::int64_t{512}}) {
    if (brief && rows > 32) continue;
    measure_grouped(8, rows, {256, 256}, table);
    measure_grouped(4, rows, {256, 512}, table);
  }
}

}  // namespace plumbline
