// Tables made from known coefficients give those coefficients back.

#include "planner/calibrate/kernel_fit.h"

#include "core/base/errors.h"
#include "models/calibration_catalog.h"
#include "models/machine_catalog.h"
#include "tests/catch.h"
#include "tests/kernel_tables.h"

namespace plumbline::kernel_fit_test {
namespace {

struct Known {
  Cluster computer = find_machine("cpu");
  Calibration calibration = CalibrationSet::shipped().of(slowest_device(computer), own_stack);
};

Known known() {
  Known k;
  k.calibration.device.products = {{NumberFormat::fp32, {0.5, 0, "", ""}, {80, 0, "", ""}}};
  k.calibration.device.wave_exponent.value = 0;
  k.calibration.device.kernel_gap_s.value = 1e-7;
  k.calibration.device.bandwidth_fraction.value = 0.4;
  k.calibration.device.flash_forward_fraction.value = 0.2;
  k.calibration.device.flash_half_sequence.value = 60;
  k.calibration.device.flash_backward_factor.value = 0.8;
  k.calibration.device.grouped_product_factor.value = 0.7;
  k.calibration.stack.compute.memory_bound_factor.value = 1.5;
  k.calibration.stack.compute.loss_factor.value = 2;
  k.calibration.stack.compute.flash_factor.value = 1;
  return k;
}

/// What kernels would take if the laws of core/cost were true.
KernelTable table_of(const Known& k) {
  const Device device = with_device_count(k.computer, 1).groups.front().node.device;
  const KernelClock clock(device, k.calibration);
  const double stream = device.memory_bandwidth.value.value() * k.calibration.device.bandwidth_fraction;
  KernelTable table{"here", "a computer", "loops", 2, {}, {}, {}, {}, {}};
  add_products(table, clock, {{512, 2048}, {128, 512}, {64, 128, 256, 1024}}, NumberFormat::fp32);
  table.products.push_back({8, 512, 256, 256, NumberFormat::fp32, "grouped",
                            clock.grouped_product({8, 512, 256, 256}, NumberFormat::fp32).value()});
  add_attention(table, clock, {4, 0, 8, 4, 64, NumberFormat::fp32}, {512, 1024, 2048});
  table.memory_bound = {{"tiny_add", NumberFormat::fp32, Bytes(192), 1e-7},
                        {"add", NumberFormat::fp32, 1_MiB, Bytes(1 << 20) / BytesPerSecond(stream) / Seconds(1)},
                        {"rms_norm_forward", NumberFormat::fp32, 64_MiB, 2.0 * static_cast<double>(1 << 26) / stream},
                        {"cross_entropy", NumberFormat::fp32, 1_MiB, 2.0 * static_cast<double>(1 << 20) / stream},
                        {"adamw", NumberFormat::fp32, 1_MiB, 1.25 * static_cast<double>(1 << 20) / stream}};
  return table;
}

double own(const KernelFit& fit, const std::string& name) {
  for (const NamedCoefficient& c : fit.stack)
    if (c.name == name) return c.coefficient.value;
  return -1;
}

}  // namespace

TEST_CASE("a line by medians passes points of which a few are far off") {
  std::vector<std::pair<double, double>> points;
  for (int i = 0; i < 9; ++i) points.emplace_back(i, 3.0 + 2.0 * i);
  points.emplace_back(4.5, 1000.0);
  points.emplace_back(5.5, -1000.0);
  const MedianLine line = median_line(points);
  CHECK(line.slope == Approx(2.0));
  CHECK(line.intercept == Approx(3.0));
}

TEST_CASE("kernels that follow the laws of the estimators give their coefficients back") {
  const Known k = known();
  const KernelFit fit = fit_kernels(table_of(k), k.computer, k.calibration);
  REQUIRE(fit.device.products.size() == 1);
  CHECK(fit.device.products.front().peak_fraction == Approx(0.5).epsilon(0.01));
  CHECK(fit.device.products.front().half_depth == Approx(80).epsilon(0.03));
  CHECK(fit.device.grouped_product_factor == Approx(0.7).epsilon(0.01));
  CHECK(fit.device.bandwidth_fraction == Approx(0.4));
  CHECK(fit.device.flash_forward_fraction == Approx(0.2).epsilon(0.01));
  CHECK(fit.device.flash_half_sequence == Approx(60).epsilon(0.03));
  CHECK(fit.device.flash_backward_factor == Approx(0.8).epsilon(0.01));
  // Sums run at the plain rate and norms at half of it: 1.5 in the mean.
  CHECK(own(fit, "memory_bound_factor") == Approx(1.5));
  CHECK(own(fit, "loss_factor") == Approx(2));
  CHECK(own(fit, "optimizer_traffic_factor") == Approx(1.25));
  CHECK(fit.device.products.front().peak_fraction.kind == "measured");
  for (const KernelResidual& r : fit.residuals)
    if (r.kind.starts_with("gemm") || r.kind.starts_with("attention")) CHECK(r.worst < 0.01);
}

// A step makes every product in turn, so its time is their sum: where one in three takes twice as long, the mean of
// measured over priced is 1, while the median product is priced (1 + 1 + 2) / 3 = 4/3 times too slow.
TEST_CASE("rates are means: the slow products of a step count as much as the others") {
  const Known k = known();
  KernelTable table = table_of(k);
  std::size_t products = 0;
  for (ProductTiming& p : table.products)
    if (p.kind != grouped_kernel && products++ % 3 == 0) p.median_s *= 2;
  const KernelFit fit = fit_kernels(table, k.computer, k.calibration);
  const Device device = with_device_count(k.computer, 1).groups.front().node.device;
  const KernelClock priced(device, {fit.device, k.calibration.stack});
  double ratios = 0;
  double count = 0;
  for (const ProductTiming& p : table.products) {
    if (p.kind == grouped_kernel) continue;
    ratios += p.median_s / priced.product({1, p.m, p.n, p.k}, p.format).value();
    ++count;
  }
  CHECK(ratios / count == Approx(1).epsilon(0.02));
}

// What dropout adds inside of attention is no operator of its own.
TEST_CASE("kernels are known by the names of operators' rows, whose order calibrations keep") {
  const Known k = known();
  KernelTable table = table_of(k);
  for (const OpRecord& record : op_records)
    for (const std::string_view name : {record.timed.backward, record.timed.forward})
      if (!name.empty()) table.memory_bound.push_back({std::string(name), NumberFormat::fp32, 1_MiB, 1e-3});
  table.memory_bound.push_back({std::string(attention_dropout_forward), NumberFormat::fp32, 1_MiB, 1e-3});
  const KernelFit fit = fit_kernels(table, k.computer, k.calibration);
  std::vector<OpKind> kinds;
  for (const OperatorTraffic& traffic : fit.device.operators) kinds.push_back(traffic.kind);
  CHECK(kinds == std::vector{OpKind::layer_norm, OpKind::rms_norm, OpKind::activation, OpKind::gated_activation,
                             OpKind::rotary, OpKind::add, OpKind::dropout, OpKind::attention});
}

// Over plain streaming: a forward norm of 2 and 4 is 3 in the mean over its shapes, its backward was not measured and
// is as all kernels are: (1 + 3) / 2, the sum of two tensors and the median of the norms. Dropout inside of attention
// takes 5 for a byte a score, and changes nothing of other kernels.
TEST_CASE("each kind of memory-bound kernel has its own factor, and attention with dropout what that adds") {
  const Known k = known();
  KernelTable table = table_of(k);
  const Device device = with_device_count(k.computer, 1).groups.front().node.device;
  const double stream = device.memory_bandwidth.value.value() * k.calibration.device.bandwidth_fraction;
  const auto entry = [&](std::string_view op, double factor) {
    return MemoryTiming{std::string(op), NumberFormat::fp32, 64_MiB, factor * static_cast<double>(1 << 26) / stream};
  };
  std::erase_if(table.memory_bound, [](const MemoryTiming& m) { return m.op == "rms_norm_forward"; });
  table.memory_bound.push_back(entry("layer_norm_forward", 2));
  table.memory_bound.push_back(entry("layer_norm_forward", 4));
  table.memory_bound.push_back(entry(attention_dropout_forward, 5));
  table.memory_bound.push_back(entry(attention_dropout_backward, 6));
  const KernelFit fit = fit_kernels(table, k.computer, k.calibration);
  const OperatorTraffic* norm = fit.device.traffic(OpKind::layer_norm);
  REQUIRE(norm != nullptr);
  CHECK(norm->forward == Approx(3));
  CHECK(norm->backward == Approx(2));
  CHECK(own(fit, "memory_bound_factor") == Approx(2));
  CHECK(fit.device.traffic(OpKind::rms_norm) == nullptr);

  const KernelClock clock(device, {fit.device, k.calibration.stack});
  AttentionWork work{2, 8, 8, 256, 256, 32, 32, true, false};
  const auto times = [&] {
    return std::pair(clock.attention_forward(work, FlashAttention::on, NumberFormat::fp32),
                     clock.attention_backward(work, FlashAttention::on, NumberFormat::fp32));
  };
  const auto [forward, backward] = times();
  work.dropout = true;
  const auto [dropped_forward, dropped_backward] = times();
  const double scores = 2.0 * 8 * 256 * 256 / 2;
  CHECK((dropped_forward - forward).value() == Approx(5 * scores / stream).epsilon(0.01));
  CHECK((dropped_backward - backward).value() == Approx(6 * scores / stream).epsilon(0.01));
}

TEST_CASE("a table without products, or without kernels bound by memory, is refused") {
  const Known k = known();
  KernelTable table = table_of(k);
  table.products.clear();
  CHECK_THROWS_AS(fit_kernels(table, k.computer, k.calibration), InputError);
  table = table_of(k);
  table.memory_bound.clear();
  CHECK_THROWS_AS(fit_kernels(table, k.computer, k.calibration), InputError);
}

}  // namespace plumbline::kernel_fit_test
