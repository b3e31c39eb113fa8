// Causal attention in tiles, forward and backward, and what dropout adds to it.
#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <vector>

#include "kernels/attention.h"
#include "runtime/measure/measure_kernels.h"
#include "runtime/measure/measured_tensor.h"
#include "runtime/measure/timing.h"

namespace plumbline {
namespace {

constexpr Seconds attention_budget{0.05};

struct Heads {
  std::int64_t heads;
  std::int64_t kv_heads;
  std::int64_t head_dim;
};
constexpr std::array head_shapes{Heads{8, 4, 32}, Heads{4, 4, 64}, Heads{8, 8, 32}};
constexpr std::array<std::int64_t, 4> sequences{64, 128, 256, 512};

void measure_shape(const Heads& h, std::int64_t batch, std::int64_t sequence, NumberFormat format, KernelTable& table) {
  const std::int64_t rows = batch * sequence;
  const std::int64_t width = h.heads * h.head_dim;
  const std::int64_t kv_width = h.kv_heads * h.head_dim;
  MeasuredTensor query(format, rows, width);
  MeasuredTensor key(format, rows, kv_width);
  MeasuredTensor value(format, rows, kv_width);
  MeasuredTensor output(format, rows, width);
  MeasuredTensor gradient(format, rows, width);
  MeasuredTensor query_gradient(format, rows, width);
  MeasuredTensor key_gradient(format, rows, kv_width);
  MeasuredTensor value_gradient(format, rows, kv_width);
  std::vector<float> sums(static_cast<std::size_t>(rows * h.heads));
  AttentionShape shape{batch, h.heads, h.kv_heads, sequence, sequence, h.head_dim, h.head_dim};
  shape.scale = 1.0F / std::sqrt(static_cast<float>(h.head_dim));
  AttentionForward forward{shape, query, key, value, output, sums.data(), {}, {}};
  AttentionBackward backward{shape,
                             gradient,
                             query,
                             key,
                             value,
                             output,
                             sums.data(),
                             query_gradient,
                             key_gradient,
                             value_gradient,
                             Write::overwrite,
                             Write::overwrite,
                             {},
                             {}};
  MeasuredWorkspace scratch(
      std::max(reference::attention_workspace(forward), reference::attention_workspace(backward)));
  forward.workspace = backward.workspace = scratch.view();
  table.attention.push_back({batch, sequence, h.heads, h.kv_heads, h.head_dim, format,
                             median_time([&] { reference::attention_forward(forward); }, attention_budget).value(),
                             median_time([&] { reference::attention_backward(backward); }, attention_budget).value()});
  if (format != NumberFormat::fp32) return;
  AttentionForward forward_dropping = forward;
  AttentionBackward backward_dropping = backward;
  forward_dropping.dropout = backward_dropping.dropout = {{0.1F, {1, 2, 0}}, 0, 0, h.heads, sequence};
  const Bytes scores(batch * h.heads * sequence * sequence / 2);
  const auto added = [&](std::string_view name, std::optional<Seconds> more) {
    if (more) table.memory_bound.push_back({std::string(name), format, scores, more->value()});
  };
  added(attention_dropout_forward, median_difference([&] { reference::attention_forward(forward_dropping); },
                                                     [&] { reference::attention_forward(forward); }, attention_budget));
  added(attention_dropout_backward,
        median_difference([&] { reference::attention_backward(backward_dropping); },
                          [&] { reference::attention_backward(backward); }, attention_budget));
}

}  // namespace

void measure_attention(const MeasureOptions& options, KernelTable& table) {
  const bool brief = options.extent == MeasureExtent::brief;
  for (const NumberFormat format : {NumberFormat::fp32, NumberFormat::bf16})
    for (const std::int64_t sequence : sequences)
      for (const Heads& heads : head_shapes) {
        if (options.stop.stop_requested()) return;
        if (brief && (sequence != sequences.front() || format != NumberFormat::fp32)) continue;
        options.progress("attention over " + std::to_string(sequence) + " tokens");
        measure_shape(heads, 2, sequence, format, table);
      }
}

}  // namespace plumbline
