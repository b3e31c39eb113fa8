#include "core/cost/exponentials.h"

namespace plumbline {
namespace {

/// Of the heads whose attention the calibrations describe (scripts that measure kernels use Llama's).
constexpr double calibrated_head = 128;
/// A multiplication and an addition in each of the two products of a score, for each number of a head.
constexpr double flops_of_a_number = 4;
/// Five products for the two of a forward pass (arXiv:2205.14135).
constexpr double backward_products = 2.5;
/// Of one multiprocessor, in 32 bits (CUDA C++ Programming Guide, throughput of arithmetic instructions).
constexpr double exponentials_per_clock = 16;

/// Of 16-bit products on one multiprocessor; 0 where exponentials run alongside products.
double flops_per_clock(DeviceArchitecture architecture) {
  switch (architecture) {
    case DeviceArchitecture::hopper: return 4096;
    case DeviceArchitecture::blackwell: return 8192;
    default: return 0;
  }
}

/// Blackwell Ultra evaluates twice as many exponentials; its fp4 products run three times as fast as fp8, not twice.
bool is_ultra(const Device& device) {
  const auto fp4 = device.peak(NumberFormat::fp4);
  const auto fp8 = device.peak(NumberFormat::fp8_e4m3);
  return device.architecture == DeviceArchitecture::blackwell && fp4 && fp8 && fp4->value() > 2.5 * fp8->value();
}

/// Time of a score's exponential relative to its products.
double share(const Device& device, double head) {
  const double rate = exponentials_per_clock * (is_ultra(device) ? 2 : 1);
  return flops_per_clock(device.architecture) / (rate * flops_of_a_number * head);
}

}  // namespace

double softmax_factor_forward(const Device& device, double head) {
  return (1 + share(device, head)) / (1 + share(device, calibrated_head));
}

double softmax_factor_backward(const Device& device, double head) {
  return (1 + share(device, head) / backward_products) / (1 + share(device, calibrated_head) / backward_products);
}

}  // namespace plumbline
