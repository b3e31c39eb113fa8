// Kernels that take several tensors in one launch against the CPU's, tensor by tensor: parts of one element and of more
// than a block takes, more tensors than fit one launch, and some that only the kernels for one tensor take.
#include <memory>

#include "kernels/adamw.h"
#include "kernels/reductions.h"
#include "tests/kernels/cuda/both_devices.h"

namespace plumbline {
namespace {

constexpr std::int64_t of_part = 32'768;  // kernels/cuda/tensors_together.h

/// More than one launch of steps takes, of one element to more than a part.
std::vector<std::int64_t> many_sizes() {
  std::vector<std::int64_t> sizes{1, 8, 67, of_part, of_part + 13};
  for (std::int64_t i = 0; i < 62; ++i) sizes.push_back(1 + 37 * i % 300);
  return sizes;
}

struct Stepped {
  Stepped(std::int64_t elements, NumberFormat weights, NumberFormat gradients, bool with_master, std::uint32_t seed,
          std::int64_t shift = 0)
      : first_element(shift),
        weight(random_both(1, elements + shift, seed, weights)),
        master(random_both(1, elements + shift, seed + 1)),
        gradient(random_both(1, elements + shift, seed + 2, gradients)),
        first(random_both(1, elements + shift, seed + 3)),
        second(1, elements + shift, NumberFormat::fp32, squares(elements + shift, seed + 4)),
        has_master(with_master),
        decay(seed % 3 == 0 ? 0.0F : 0.1F) {}
  static std::vector<float> squares(std::int64_t count, std::uint32_t seed) {
    std::vector<float> values = random_values(count, seed);
    for (float& value : values) value *= value;
    return values;
  }
  AdamwStep step(TensorView (BothTensor::*side)()) {
    const auto view = [&](BothTensor& tensor) {
      const TensorView whole = (tensor.*side)();
      return whole.columns_from(first_element, whole.columns - first_element);
    };
    OptimizedParameter p;
    p.parameter = view(weight);
    if (has_master) p.master = view(master);
    p.gradient = view(gradient);
    p.learning_rate = 0.01F;
    p.weight_decay = decay;
    p.gradient_factor = 0.5F;
    return {p, view(first), view(second), 0.9F, 0.95F, 1e-8F, 3};
  }

  std::int64_t first_element;
  BothTensor weight, master, gradient, first, second;
  bool has_master;
  float decay;
};

double largest_error(std::vector<std::unique_ptr<Stepped>>& tensors) {
  double most = 0;
  for (const auto& one : tensors)
    for (BothTensor* tensor : {&one->master, &one->first, &one->second}) most = std::max(most, tensor->error());
  return most;
}

void check_steps(cudaStream_t stream, NumberFormat weights, NumberFormat gradients, bool has_master) {
  std::vector<std::unique_ptr<Stepped>> tensors;
  std::uint32_t seed = 1;
  for (const std::int64_t size : many_sizes())
    tensors.push_back(std::make_unique<Stepped>(size, weights, gradients, has_master, seed += 5));
  tensors.push_back(std::make_unique<Stepped>(70, weights, gradients, has_master, 3, 1));  // begins in between
  tensors.push_back(std::make_unique<Stepped>(70, NumberFormat::bf16, NumberFormat::fp32, true, 4));
  tensors.push_back(std::make_unique<Stepped>(70, weights, gradients, has_master, 5));
  std::vector<AdamwStep> steps;
  for (const auto& one : tensors) {
    reference::adamw_step(one->step(&BothTensor::host));
    steps.push_back(one->step(&BothTensor::device));
  }
  cuda::adamw_steps(steps, stream);
  finish(stream);
  CHECK(largest_error(tensors) <= 1e-6);
  for (const auto& one : tensors) CHECK(one->weight.error() <= tolerance(weights));
}

TEST_CASE("AdamW's steps of many tensors are the CPU's of each") {
  on_both([](cudaStream_t stream) {
    check_steps(stream, NumberFormat::bf16, NumberFormat::bf16, true);
    check_steps(stream, NumberFormat::fp16, NumberFormat::fp32, true);
    check_steps(stream, NumberFormat::fp32, NumberFormat::fp32, false);
    check_steps(stream, NumberFormat::bf16, NumberFormat::bf16, false);  // one by one
  });
}

TEST_CASE("a decision against a step leaves every tensor as it was") {
  on_both([](cudaStream_t stream) {
    Stepped one(300, NumberFormat::bf16, NumberFormat::bf16, true, 1);
    Stepped other(20, NumberFormat::bf16, NumberFormat::bf16, true, 9);
    BothArray<StepDecision> decision(std::vector<StepDecision>{{1.0F, 0, 1}});
    std::vector<AdamwStep> steps{one.step(&BothTensor::device), other.step(&BothTensor::device)};
    for (AdamwStep& step : steps) step.parameter.decision = decision.device();
    cuda::adamw_steps(steps, stream);
    finish(stream);
    for (Stepped* tensor : {&one, &other})
      for (BothTensor* part : {&tensor->weight, &tensor->master, &tensor->first, &tensor->second})
        CHECK(part->is_same());
  });
}

TEST_CASE("the health of many gradients is the sum of theirs, and one element that is not finite is found") {
  on_both([](cudaStream_t stream) {
    for (const bool has_bad : {false, true}) {
      std::vector<std::unique_ptr<BothTensor>> tensors;
      std::uint32_t seed = 1;
      for (const std::int64_t size : many_sizes())
        tensors.push_back(std::make_unique<BothTensor>(
            random_both(1, size, ++seed, size % 2 == 0 ? NumberFormat::bf16 : NumberFormat::fp32)));
      tensors.push_back(std::make_unique<BothTensor>(random_both(3, 5, 2, NumberFormat::bf16, 2)));  // with gaps
      std::vector<float> last = random_values(of_part + 5, 3);
      if (has_bad) last[of_part + 2] = std::numeric_limits<float>::infinity();
      tensors.push_back(std::make_unique<BothTensor>(1, of_part + 5, NumberFormat::bf16, last));
      BothArray<TensorHealth> health(std::vector<TensorHealth>{{.sum_of_squares = 3.0, .has_non_finite = 0}});
      std::vector<ConstTensorView> inputs;
      for (const auto& one : tensors) {
        reference::add_health({one->host(), health.host()});
        inputs.emplace_back(one->device());
      }
      HealthSums args{inputs, health.device()};
      args.workspace = device_workspace(cuda::health_sums_workspace(args));
      cuda::add_health_sums(args, stream);
      finish(stream);
      const TensorHealth found = health.on_device().front();
      CHECK((found.has_non_finite != 0) == has_bad);
      if (!has_bad) CHECK(found.sum_of_squares == Approx(health.host()->sum_of_squares).epsilon(1e-12));
    }
  });
}

}  // namespace
}  // namespace plumbline
