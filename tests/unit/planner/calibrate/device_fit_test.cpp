// Tables made from the laws of known devices give their coefficients back; what cannot be of the device is refused.

#include "planner/calibrate/device_fit.h"

#include "core/base/errors.h"
#include "models/calibration_catalog.h"
#include "models/machine_catalog.h"
#include "tests/catch.h"
#include "tests/kernel_tables.h"

namespace plumbline {
namespace {

constexpr std::string_view stack = "torchtitan-2025.06";

/// A device that is not as it ships: what a table has to find out.
struct Known {
  Device device;
  Calibration calibration;
};
Known known(const std::string& machine, double wave_exponent) {
  Known k{slowest_device(find_machine(machine)), {}};
  k.calibration = CalibrationSet::shipped().of(k.device, stack);
  for (ProductEfficiency& p : k.calibration.device.products) {
    p.peak_fraction.value *= 0.9;
    p.half_depth.value = 400;
  }
  k.calibration.device.wave_exponent.value = wave_exponent;
  k.calibration.device.kernel_gap_s.value = 2e-6;
  k.calibration.device.bandwidth_fraction.value = 0.77;
  k.calibration.device.flash_forward_fraction.value = 0.31;
  k.calibration.device.flash_half_sequence.value = 500;
  k.calibration.device.flash_backward_factor.value = 0.7;
  k.calibration.stack.compute.flash_factor.value = 1;
  return k;
}

KernelTable table_of(const Known& k, std::vector<NumberFormat> formats) {
  const KernelClock clock(k.device, k.calibration);
  KernelTable table{k.device.name, "a GPU", "its library", 1, {}, {}, {}, {}, {}};
  for (const NumberFormat format : formats)
    add_products(table, clock, {{512, 2048, 8192}, {1792, 4096, 14336}, {1024, 4096, 8192}}, format);
  add_attention(table, clock, {1, 0, 32, 8, 128, NumberFormat::bf16}, {1024, 4096, 16384});
  table.memory_bound = {{"tiny_add", NumberFormat::fp32, Bytes(384), 2e-6},
                        {"add", NumberFormat::bf16, 3_MiB, 1e-7},  // from the cache: faster than memory
                        {"add", NumberFormat::bf16, 3_GiB, clock.stream(3.0 * (1 << 30)).value()},
                        {"add", NumberFormat::fp32, 6_GiB, clock.stream(6.0 * (1 << 30)).value()}};
  return table;
}

DeviceFit fit_of(const KernelTable& table, const Known& k) {
  const CalibrationSet& shipped = CalibrationSet::shipped();
  return fit_device(table, k.device, shipped.of(k.device, stack), shipped.axis_table());
}

std::string refusal(const KernelTable& table, const Known& k) {
  try {
    (void)fit_of(table, k);
  } catch (const InputError& error) {
    return error.what();
  }
  return "accepted";
}

}  // namespace

// Above 1 an underfilled device would do more work in less time.
TEST_CASE("no timings fit a wave exponent above 1") {
  const Known k = known("dgx-h100", 1.5);
  const DeviceFit fit = fit_of(table_of(k, {NumberFormat::bf16, NumberFormat::fp16}), k);
  CHECK(fit.device.wave_exponent <= 1.);
}

TEST_CASE("kernels of a GPU that follow the laws give its coefficients back") {
  for (const auto& [machine, exponent] : {std::pair{"dgx-a100-80g", 0.5}, {"dgx-h100", 1.0}, {"dgx-h100", 0.0}}) {
    INFO(machine << " exponent " << exponent);
    const Known k = known(machine, exponent);
    const DeviceFit fit = fit_of(table_of(k, {NumberFormat::bf16, NumberFormat::fp16}), k);
    CHECK(fit.device.devices == std::vector{k.device.name});
    CHECK(fit.device.wave_exponent == Approx(exponent).margin(0.06));
    for (const NumberFormat format : {NumberFormat::bf16, NumberFormat::fp16}) {
      const ProductEfficiency& found = fit.device.product(format);
      CHECK(found.peak_fraction == Approx(k.calibration.device.product(format).peak_fraction.value).epsilon(0.02));
      CHECK(found.half_depth == Approx(400).epsilon(0.1));
      CHECK(found.peak_fraction.kind == "measured");
    }
    CHECK(fit.device.bandwidth_fraction == Approx(0.77));
    CHECK(fit.device.kernel_gap_s == Approx(2e-6));
    CHECK(fit.device.flash_forward_fraction == Approx(0.31).epsilon(0.02));
    CHECK(fit.device.flash_half_sequence == Approx(500).epsilon(0.06));
    CHECK(fit.device.flash_backward_factor == Approx(0.7).epsilon(0.02));
    for (const KernelResidual& r : fit.residuals) CHECK(r.median < 0.01);
  }
}

TEST_CASE("formats that a table leaves out keep what ships, and a few wild timings move nothing") {
  const Known k = known("dgx-h100", 1.0);
  KernelTable table = table_of(k, {NumberFormat::bf16});
  for (std::size_t i = 0; i < table.products.size(); i += 9) table.products[i].median_s *= 3;
  const DeviceFit fit = fit_of(table, k);
  CHECK(fit.device.product(NumberFormat::bf16).peak_fraction ==
        Approx(k.calibration.device.product(NumberFormat::bf16).peak_fraction.value).epsilon(0.03));
  const Calibration shipped = CalibrationSet::shipped().of(k.device, stack);
  CHECK(fit.device.product(NumberFormat::fp8_e4m3).peak_fraction ==
        shipped.device.product(NumberFormat::fp8_e4m3).peak_fraction.value);
  CHECK(fit.device.grouped_product_factor == shipped.device.grouped_product_factor.value);
}

TEST_CASE("attention that another kernel computed is counted against that kernel's trait") {
  const Known k = known("dgx-h100", 1.0);
  KernelTable table = table_of(k, {NumberFormat::bf16});
  const double flash = fit_of(table, k).device.flash_forward_fraction;
  for (AttentionTiming& a : table.attention) a.kernel = "cudnn";
  const StackAxis* axis = CalibrationSet::shipped().axis_table().find("attention");
  REQUIRE(axis != nullptr);
  double factor = 0;
  for (const NamedCoefficient& c : axis->find("cudnn")->coefficients)
    if (c.name == "flash_factor") factor = c.coefficient.value;
  CHECK(factor > 1.1);
  CHECK(fit_of(table, k).device.flash_forward_fraction * factor ==
        Approx(flash * axis->find("flash-2")->coefficients.front().coefficient.value));
  table.attention.front().kernel = "flash-2";
  CHECK(refusal(table, k).find("holds two kernels") != std::string::npos);
  for (AttentionTiming& a : table.attention) a.kernel = "cudn";
  CHECK(refusal(table, k).find("nearest: cudnn") != std::string::npos);
}

TEST_CASE("a table that cannot be of the device is refused") {
  const Known k = known("dgx-h100", 1.0);
  const KernelTable good = table_of(k, {NumberFormat::bf16});
  KernelTable table = good;
  for (ProductTiming& p : table.products) p.median_s *= 1000;  // milliseconds
  CHECK(refusal(table, k).find("of the dense bf16 peak of H100-SXM-80GB") != std::string::npos);
  table = good;
  for (MemoryTiming& m : table.memory_bound) m.median_s /= 10;
  CHECK(refusal(table, k).find("of the memory bandwidth of H100-SXM-80GB") != std::string::npos);
  table = good;
  table.products.resize(2);
  CHECK(refusal(table, k).find("fewer than three products of bf16 or fp16") != std::string::npos);
  table = good;
  table.memory_bound.resize(1);
  CHECK(refusal(table, k).find("holds no entry \"add\"") != std::string::npos);
}

}  // namespace plumbline
