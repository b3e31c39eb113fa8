// Kernels that the estimators price by the bytes they move. Bytes as core/sharding/op_work.cpp counts them.
#include <cmath>
#include <cstring>
#include <vector>

#include "kernels/adamw.h"
#include "kernels/cross_entropy.h"
#include "kernels/dropout.h"
#include "kernels/elementwise.h"
#include "kernels/gated_activation.h"
#include "kernels/gelu.h"
#include "kernels/reductions.h"
#include "kernels/rotary.h"
#include "runtime/device/cpu_kernels.h"
#include "runtime/device/norm_kernels.h"
#include "runtime/measure/measure_kernels.h"
#include "runtime/measure/measured_tensor.h"
#include "runtime/measure/timing.h"

namespace plumbline {
namespace {

constexpr Seconds memory_bound_budget{0.03};

/// Kernels over one activation of [rows, columns].
class Elementwise {
 public:
  Elementwise(NumberFormat format, std::int64_t rows, std::int64_t columns, KernelTable& table)
      : size_(storage(rows * columns, format)),
        columns_(columns),
        x_(format, rows, columns),
        y_(format, rows, columns),
        z_(format, rows, columns),
        u_(format, rows, columns),
        v_(format, rows, columns),
        weight_(NumberFormat::fp32, 1, columns),
        weight_gradient_(NumberFormat::fp32, 1, columns),
        statistics_(NumberFormat::fp32, 2, rows),
        table_(table) {}

  void run() {
    norms();
    activations();
    forward(OpKind::add, [this] { reference::add({x_, y_, z_}); });
    turns();
    dropouts();
  }

 private:
  template <class Call>
  void forward(OpKind kind, Call call) {
    add(record_of(kind).timed.forward, record_of(kind).moved.forward * size_, call);
  }
  template <class Call>
  void backward(OpKind kind, Call call) {
    add(record_of(kind).timed.backward, record_of(kind).moved.backward * size_, call);
  }
  template <class Call>
  void add(std::string_view op, Bytes bytes, Call call) {
    table_.memory_bound.push_back(
        {std::string(op), x_.view().format, bytes, median_time(call, memory_bound_budget).value()});
  }
  void norms() {
    for (const OpKind kind : executed_norms) {
      forward(kind, [&] { norm_forward(cpu_kernels(), kind, {x_, weight_, weight_, y_, statistics_.floats()}); });
      backward(kind, [&] {
        norm_backward(cpu_kernels(), kind, {y_, x_, weight_, statistics_.floats(), z_, {weight_gradient_}},
                      [](const auto& kernel, const auto& arguments) { kernel.run(arguments); });
      });
    }
  }
  void activations() {
    forward(OpKind::gated_activation, [this] { reference::swiglu_forward({x_, y_, z_}); });
    backward(OpKind::gated_activation, [this] { reference::swiglu_backward({z_, x_, y_, u_, v_}); });
    forward(OpKind::activation, [this] { reference::gelu_forward({x_, y_}); });
    backward(OpKind::activation, [this] { reference::gelu_backward({y_, x_, z_}); });
  }
  void turns() {
    constexpr std::int64_t head_dim = 32;
    constexpr double base = 10'000;
    std::vector<float> frequencies(head_dim / 2);
    rotary_frequencies(base, head_dim, frequencies.data());
    const std::int64_t rows = size_.value() / storage(columns_, x_.view().format).value();
    forward(OpKind::rotary, [&] {
      reference::rotary({x_, y_, frequencies.data(), head_dim, head_dim, {rows, 0, rows, 0}, Rotation::forward});
    });
  }

  /// With a mask, which is a byte for each element.
  void dropouts() {
    constexpr float probability = 0.1F;
    const ConstTensorView x = x_;
    std::vector<std::uint8_t> mask(static_cast<std::size_t>(x.size()));
    const Bytes bytes = 2 * size_ + storage(x.size(), NumberFormat::int8);
    const DropoutDraw draw{probability, {1, 2, 0}};
    const KernelNames names = record_of(OpKind::dropout).timed;
    const DropoutPlace place{{x.rows, 0, x.rows, 0}, 0, x.columns};
    add(names.forward, bytes, [&] { reference::dropout_forward({x_, y_, mask.data(), draw, place}); });
    add(names.backward, bytes, [&] { reference::dropout_backward({y_, x_, mask.data(), draw, {}}); });
  }

  Bytes size_;
  std::int64_t columns_;
  MeasuredTensor x_, y_, z_, u_, v_, weight_, weight_gradient_, statistics_;
  KernelTable& table_;
};

/// 6 x the logits forward and backward each, as the model counts.
void measure_loss(std::int64_t tokens, std::int64_t vocabulary, KernelTable& table) {
  MeasuredTensor logits(NumberFormat::fp32, tokens, vocabulary);
  MeasuredTensor gradient(NumberFormat::fp32, tokens, vocabulary);
  std::vector<std::int32_t> targets(static_cast<std::size_t>(tokens));
  for (std::size_t i = 0; i < targets.size(); ++i)
    targets[i] = static_cast<std::int32_t>(static_cast<std::int64_t>(31 * i) % vocabulary);
  std::vector<float> maximum(targets.size());
  std::vector<float> sum(targets.size());
  std::vector<float> target(targets.size());
  const auto call = [&] {
    (void)reference::cross_entropy({logits, targets.data(), maximum.data(), sum.data(), target.data(), gradient});
  };
  table.memory_bound.push_back({std::string(loss_kernel), NumberFormat::fp32,
                                12 * storage(tokens * vocabulary, NumberFormat::fp32),
                                median_time(call, memory_bound_budget).value()});
}

/// What a step does once with every parameter: its gradient is cleared, its norm taken, looked through for what is no
/// number, and the update made. The model counts the update alone: it reads gradient, parameter and two moments and
/// writes three of them, 28 bytes a parameter in fp32.
void measure_adamw(std::int64_t parameters, KernelTable& table) {
  MeasuredTensor weight(NumberFormat::fp32, 1, parameters);
  MeasuredTensor gradient(NumberFormat::fp32, 1, parameters);
  MeasuredTensor first(NumberFormat::fp32, 1, parameters);
  MeasuredTensor second(NumberFormat::fp32, 1, parameters);
  for (std::int64_t i = 0; i < parameters; ++i) second.floats()[i] = std::abs(second.floats()[i]);
  AdamwStep step{{weight, {}, gradient, 1.0F, 1e-4F, 0.1F}, first, second};
  table.memory_bound.push_back({std::string(optimizer_kernel), NumberFormat::fp32, Bytes(28 * parameters),
                                median_time(
                                    [&] {
                                      (void)reference::sum_of_squares(gradient.view());
                                      (void)reference::has_non_finite(gradient.view());
                                      reference::adamw_step(step);
                                      std::memset(gradient.floats(), 0, static_cast<std::size_t>(4 * parameters));
                                    },
                                    memory_bound_budget)
                                    .value()});
}

/// So little that what it takes is the call.
void measure_call(KernelTable& table) {
  MeasuredTensor x(NumberFormat::fp32, 1, 16);
  table.memory_bound.push_back({std::string(tiny_kernel), NumberFormat::fp32, 3 * storage(16, NumberFormat::fp32),
                                median_time(
                                    [&] {
                                      reference::add({x, x, x});
                                    },
                                    memory_bound_budget)
                                    .value()});
}

}  // namespace

void measure_memory_bound(const MeasureOptions& options, KernelTable& table) {
  measure_call(table);
  const bool brief = options.extent == MeasureExtent::brief;
  for (const NumberFormat format : {NumberFormat::fp32, NumberFormat::bf16})
    for (const std::int64_t rows : {std::int64_t{128}, std::int64_t{512}, std::int64_t{2048}})
      for (const std::int64_t columns : {std::int64_t{256}, std::int64_t{512}}) {
        if (options.stop.stop_requested()) return;
        if (brief && (rows > 128 || columns > 256 || format != NumberFormat::fp32)) continue;
        options.progress("memory-bound kernels, " + std::to_string(rows) + " x " + std::to_string(columns));
        Elementwise(format, rows, columns, table).run();
      }
  for (const std::int64_t tokens : {std::int64_t{128}, std::int64_t{1024}}) {
    measure_loss(tokens, 256, table);
    if (!brief) measure_loss(tokens, 4096, table);
  }
  for (const std::int64_t parameters : {std::int64_t{1} << 16, std::int64_t{1} << 20, std::int64_t{1} << 23})
    if (!brief || parameters < (1 << 17)) measure_adamw(parameters, table);
}

}  // namespace plumbline
