#include "core/cost/exponentials.h"

namespace plumbline {
namespace {

constexpr double calibrated_head = 128;
/// Operations of the two products of a score, for each number of a head.
constexpr double operations_of_a_number = 4;
constexpr double backward_products = 2.5;
constexpr double exponentials_per_clock = 16;

/// Of 16-bit products on one multiprocessor; none where exponentials are hidden.
double operations_per_clock(DeviceArchitecture architecture) {
  switch (architecture) {
    case DeviceArchitecture::hopper: return 4096;
    case DeviceArchitecture::blackwell: return 8192;
    default: return 0;
  }
}

/// Blackwell Ultra, whose fp4 is three times as fast as its fp8, makes twice as many exponentials.
bool is_ultra(const Device& device) {
  const auto fp4 = device.peak(NumberFormat::fp4);
  const auto fp8 = device.peak(NumberFormat::fp8_e4m3);
  return device.architecture == DeviceArchitecture::blackwell && fp4 && fp8 && fp4->value() > 2.5 * fp8->value();
}

/// Of a score's exponential, over its products in heads of `head`.
double share(const Device& device, double head) {
  const double rate = exponentials_per_clock * (is_ultra(device) ? 2 : 1);
  return operations_per_clock(device.architecture) / (rate * operations_of_a_number * head);
}

}  // namespace

double softmax_factor_forward(const Device& device, double head) {
  return (1 + share(device, head)) / (1 + share(device, calibrated_head));
}

double softmax_factor_backward(const Device& device, double head) {
  return (1 + share(device, head) / backward_products) / (1 + share(device, calibrated_head) / backward_products);
}

}  // namespace plumbline
