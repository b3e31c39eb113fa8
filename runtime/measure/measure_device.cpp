#include "runtime/measure/measure_device.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <new>

#include "runtime/device/norm_kernels.h"
#include "runtime/measure/device_timing.h"

namespace plumbline {
namespace {

struct DeviceWidths {
  std::int64_t out;
  std::int64_t in;
};
/// GPT-2 and Llama 3, as scripts/measure_kernels.py has them.
constexpr std::array layers{DeviceWidths{2048, 2048},  DeviceWidths{8192, 2048},   DeviceWidths{2048, 8192},
                            DeviceWidths{4096, 4096},  DeviceWidths{6144, 4096},   DeviceWidths{14336, 4096},
                            DeviceWidths{4096, 14336}, DeviceWidths{1792, 4096},   DeviceWidths{4096, 1792},
                            DeviceWidths{8192, 8192},  DeviceWidths{1024, 8192},   DeviceWidths{8192, 1024},
                            DeviceWidths{3584, 8192},  DeviceWidths{12288, 12288}, DeviceWidths{1536, 12288},
                            DeviceWidths{50304, 1600}, DeviceWidths{128256, 4096}};
constexpr std::array<std::int64_t, 4> product_tokens{512, 2048, 8192, 32768};
/// Multiplications of a product in fp16 or fp32 at most: larger ones take most of the time and say nothing new.
constexpr std::int64_t most_multiplications = 100'000'000'000;
constexpr std::array brief_layers{DeviceWidths{24, 16}};
constexpr std::array<std::int64_t, 1> brief_tokens{32};

struct DeviceHeads {
  std::int64_t batch, heads, kv_heads, head_dim;
};
constexpr std::array device_head_shapes{DeviceHeads{1, 32, 8, 128}, DeviceHeads{1, 12, 12, 64},
                                        DeviceHeads{4, 32, 32, 128}};
constexpr std::array<std::int64_t, 5> device_sequences{1024, 2048, 4096, 8192, 16384};
constexpr std::array brief_device_head_shapes{DeviceHeads{1, 2, 1, 64}};
constexpr std::array<std::int64_t, 1> brief_sequences{32};
/// Bytes of one tensor, for memory-bound kernels.
constexpr std::array<std::int64_t, 4> large{1 << 22, 1 << 26, 1 << 28, std::int64_t{1} << 30};
constexpr std::array<std::int64_t, 1> brief_large{1 << 14};
constexpr int tiny_calls = 50;
/// One for all: norms move the same bytes.
constexpr OpKind timed_norm = executed_norms.front();

class Measurement {
 public:
  Measurement(ComputeDevice& device, const MeasureOptions& options, KernelTable& table)
      : brief_(options.extent == MeasureExtent::brief),
        timing_(device, Seconds(brief_ ? 0.0 : 0.03)),
        kernels_(device.kernels()),
        options_(options),
        table_(table) {}

  void run() {
    calls();
    const auto each = [&](const auto& full, const auto& small, const auto& act) {
      if (brief_)
        for (const auto& one : small) act(one);
      else
        for (const auto& one : full)
          if (!options_.stop.stop_requested()) act(one);
    };
    each(large, brief_large, [&](std::int64_t bytes) { within_room("memory", [&] { memory_bound(bytes); }); });
    each(device_sequences, brief_sequences, [&](std::int64_t sequence) {
      each(device_head_shapes, brief_device_head_shapes,
           [&](const DeviceHeads& heads) { within_room("attention", [&] { attention(heads, sequence); }); });
    });
    for (const NumberFormat format : {NumberFormat::bf16, NumberFormat::fp16, NumberFormat::fp32})
      each(product_tokens, brief_tokens, [&](std::int64_t rows) {
        each(layers, brief_layers, [&](const DeviceWidths& w) {
          if (format != NumberFormat::bf16 && rows * w.in * w.out > most_multiplications) return;
          within_room("matrix products", [&] { products(w, rows, format); });
        });
      });
  }

 private:
  /// What does not fit is left out: the device may be smaller than the largest shape.
  template <class Act>
  void within_room(const char* what, Act act) {
    options_.progress(what);
    try {
      act();
    } catch (const std::bad_alloc&) {
      options_.progress("");
    }
    timing_.release();
  }
  /// A kernel with the scratch that it asks for, as a call.
  template <class Arguments>
  std::function<void()> scratch_call(const ScratchKernel<Arguments>& kernel, Arguments arguments) {
    const Bytes size = kernel.workspace(arguments);
    if (size.value() > 0) arguments.workspace = {timing_.bytes(size).get(), size};
    return [this, run = kernel.run, arguments] { on_compute([&] { run(arguments); }); };
  }
  template <class Act>
  void on_compute(Act act) {
    timing_.device().enqueue(Stream::compute, act);
  }
  void add(std::string_view op, NumberFormat format, Bytes bytes, const std::function<void()>& call) {
    table_.memory_bound.push_back({std::string(op), format, bytes, timing_.median(call).value()});
  }

  void calls() {
    const TensorView x = timing_.tensor(NumberFormat::fp32, 1, 32);
    const TensorView y = timing_.tensor(NumberFormat::fp32, 1, 32);
    const auto call = [&] { on_compute([&] { kernels_.add({x, x, y}); }); };
    const Bytes bytes = 3 * storage(32, NumberFormat::fp32);
    const int times = brief_ ? 2 : tiny_calls;
    table_.memory_bound.push_back(
        {std::string(tiny_kernel), NumberFormat::fp32, bytes, timing_.median(call, times).value()});
    table_.memory_bound.push_back({"launch", NumberFormat::fp32, bytes, timing_.host_time(call, times).value()});
    timing_.release();
  }

  void memory_bound(std::int64_t bytes) {
    for (const NumberFormat format : {NumberFormat::bf16, NumberFormat::fp32}) {
      const std::int64_t columns = brief_ ? 64 : 4096;
      const std::int64_t rows = bytes * 8 / bits(format) / columns;
      elementwise(format, rows, columns);
      timing_.release();
    }
    copies(Bytes(bytes));
    timing_.release();
    optimizer(bytes / 4);
  }
  void elementwise(NumberFormat format, std::int64_t rows, std::int64_t columns) {
    const Bytes size = storage(rows * columns, format);
    const TensorView x = timing_.tensor(format, rows, columns);
    const TensorView y = timing_.tensor(format, rows, columns);
    const TensorView z = timing_.tensor(format, rows, columns);
    const TensorView weight = timing_.tensor(NumberFormat::fp32, 1, columns);
    const TensorView weight_gradient = timing_.tensor(NumberFormat::fp32, 1, columns);
    auto* const statistics =
        static_cast<float*>(timing_.tensor(NumberFormat::fp32, record_of(timed_norm).statistics_per_row, rows).data);
    const auto forward = [&](OpKind kind, const auto& act) {
      add(record_of(kind).timed.forward, format, record_of(kind).moved.forward * size, [&] { on_compute(act); });
    };
    forward(OpKind::add, [&] { kernels_.add({x, y, z}); });
    forward(timed_norm, [&] { norm_forward(kernels_, timed_norm, {x, weight, {}, y, statistics}); });
    add(record_of(timed_norm).timed.backward, format, record_of(timed_norm).moved.backward * size,
        norm_backward(kernels_, timed_norm, {y, x, weight, statistics, z, {weight_gradient}},
                      [&](const auto& kernel, const auto& arguments) { return scratch_call(kernel, arguments); }));
    forward(OpKind::activation, [&] { kernels_.gelu_forward({x, y}); });
    forward(OpKind::gated_activation, [&] { kernels_.swiglu_forward({x, y, z}); });
  }
  void copies(Bytes size) {
    ComputeDevice& device = timing_.device();
    const DeviceMemory from = timing_.bytes(size);
    const DeviceMemory to = timing_.bytes(size);
    const DeviceMemory host = device.reserve_host(size);
    device.fill(Stream::compute, from.get(), std::byte{1}, size);
    add("copy", NumberFormat::int8, 2 * size, [&] { device.copy(Stream::compute, to.get(), from.get(), size); });
    add("copy_to_host", NumberFormat::int8, size,
        [&] { device.download(Stream::compute, host.get(), from.get(), size); });
    add("copy_from_host", NumberFormat::int8, size, [&] { device.fetch(Stream::compute, to.get(), host.get(), size); });
  }
  /// Reads gradient, parameter and two moments and writes three of them.
  void optimizer(std::int64_t parameters) {
    constexpr NumberFormat fp32 = NumberFormat::fp32;
    const TensorView weight = timing_.tensor(fp32, 1, parameters);
    const TensorView gradient = timing_.tensor(fp32, 1, parameters);
    const TensorView first = timing_.tensor(fp32, 1, parameters);
    const TensorView second = timing_.tensor(fp32, 1, parameters);
    kernels_.fill({second, 1});
    const AdamwStep step{{weight, {}, gradient, 1.0F, 1e-4F, 0.1F}, first, second};
    add(optimizer_kernel, fp32, Bytes(28 * parameters), [&] { on_compute([&] { kernels_.adamw_step(step); }); });
  }

  void attention(const DeviceHeads& h, std::int64_t sequence) {
    constexpr NumberFormat format = NumberFormat::bf16;
    const std::int64_t rows = h.batch * sequence;
    const auto wide = [&] { return timing_.tensor(format, rows, h.heads * h.head_dim); };
    const auto narrow = [&] { return timing_.tensor(format, rows, h.kv_heads * h.head_dim); };
    AttentionShape shape{h.batch, h.heads, h.kv_heads, sequence, sequence, h.head_dim, h.head_dim};
    shape.scale = 1.0F / std::sqrt(static_cast<float>(h.head_dim));
    AttentionForward forward;
    forward.shape = shape;
    forward.query = wide();
    forward.key = narrow();
    forward.value = narrow();
    const TensorView output = wide();
    forward.output = output;
    auto* const sums = static_cast<float*>(timing_.tensor(NumberFormat::fp32, rows, h.heads).data);
    forward.log_sum_exp = sums;
    AttentionBackward backward;
    backward.shape = shape;
    backward.output_gradient = wide();
    backward.query = forward.query;
    backward.key = forward.key;
    backward.value = forward.value;
    backward.output = output;
    backward.log_sum_exp = sums;
    backward.query_gradient = wide();
    backward.key_gradient = narrow();
    backward.value_gradient = narrow();
    const double ahead = timing_.median(scratch_call(kernels_.attention_forward, forward)).value();
    const double back = timing_.median(scratch_call(kernels_.attention_backward, backward)).value();
    table_.attention.push_back(
        {h.batch, sequence, h.heads, h.kv_heads, h.head_dim, format, ahead, back, kernels_.attention_kernel(forward)});
  }

  void products(const DeviceWidths& w, std::int64_t rows, NumberFormat format) {
    const TensorView x = timing_.tensor(format, rows, w.in);
    const TensorView weight = timing_.tensor(format, w.out, w.in);
    const TensorView y = timing_.tensor(format, rows, w.out);
    const auto timed = [&](std::int64_t m, std::int64_t n, std::int64_t k, const char* kind, const auto& call) {
      table_.products.push_back({1, m, n, k, format, kind, timing_.median(call).value()});
    };
    timed(rows, w.out, w.in, "forward", scratch_call(kernels_.linear_forward, LinearForward{x, weight, {}, y, {}}));
    Matmul back;
    back.a = y;
    back.b = weight;
    back.c = x;
    timed(rows, w.in, w.out, "input_gradient", scratch_call(kernels_.matmul, back));
    const LinearWeightGradient gradient{x, y, weight, {}, Write::overwrite, {}, {}};
    timed(w.out, w.in, rows, "weight_gradient", scratch_call(kernels_.linear_weight_gradient, gradient));
  }

  bool brief_;
  DeviceTiming timing_;
  const DeviceKernels& kernels_;
  const MeasureOptions& options_;
  KernelTable& table_;
};

}  // namespace

KernelTable measure_device(ComputeDevice& device, const MeasureOptions& options) {
  KernelTable table;
  table.library = "Plumbline";
  Measurement(device, options, table).run();
  device.finish_all();
  return table;
}

}  // namespace plumbline
