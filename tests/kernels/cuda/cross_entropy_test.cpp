#include "kernels/cross_entropy.h"

#include "tests/kernels/cuda/both_devices.h"

namespace plumbline {
namespace {

struct Losses {
  Losses(const Size& size, NumberFormat format, std::int64_t vocabulary)
      : logits(random_both(size.rows, size.columns, 1, format, 3)),
        targets(targets_of(size.rows, vocabulary)),
        maximum(size.rows, -1.0F),
        sum(size.rows, -1.0F),
        target_logit(size.rows, -1.0F),
        loss(std::vector<CrossEntropyLoss>{{.sum = 2.0, .tokens = 1}}) {}

  /// Every fifth token has no target.
  static std::vector<std::int32_t> targets_of(std::int64_t count, std::int64_t vocabulary) {
    std::vector<std::int32_t> targets;
    for (std::int64_t i = 0; i < count; ++i)
      targets.push_back(i % 5 == 4 ? -1 : static_cast<std::int32_t>(i * 7 % vocabulary));
    return targets;
  }
  CrossEntropy on_host(std::int64_t first_class) {
    return {logits.host(), targets.host(), maximum.host(), sum.host(),       target_logit.host(),
            logits.host(), 0.25F,          first_class,    loss_scale.host()};
  }
  CrossEntropy on_device(std::int64_t first_class) {
    return {logits.device(), targets.device(), maximum.device(),   sum.device(), target_logit.device(), logits.device(),
            0.25F,           first_class,      loss_scale.device()};
  }

  BothTensor logits;
  BothArray<std::int32_t> targets;
  BothArray<float> maximum;
  BothArray<float> sum;
  BothArray<float> target_logit;
  BothArray<CrossEntropyLoss> loss;
  BothArray<double> loss_scale{1, 8.0};
};

/// A rank's classes [first_class, first_class + columns) of a vocabulary; the gradient overwrites the logits.
void check_losses(cudaStream_t stream, const Size& size, NumberFormat format, std::int64_t first_class) {
  Losses l(size, format, size.columns + 2 * first_class);
  const CrossEntropy host = l.on_host(first_class);
  const CrossEntropy device = l.on_device(first_class);
  reference::cross_entropy_local_maximum(host);
  cuda::cross_entropy_local_maximum(device, stream);
  reference::cross_entropy_local_sum(host);
  cuda::cross_entropy_local_sum(device, stream);
  finish(stream);
  CHECK(l.maximum.is_same());
  CHECK(l.target_logit.is_same());
  CHECK(relative_error(l.sum.on_device(), l.sum.on_host()) <= 1e-6);
  reference::cross_entropy_add(host, l.loss.host());
  cuda::cross_entropy_add(device, l.loss.device(), stream);
  finish(stream);
  CHECK(l.logits.error() <= tolerance(format));
  CHECK(l.loss.on_device().front().sum == Approx(l.loss.host()->sum).epsilon(1e-6));
  CHECK(l.loss.on_device().front().tokens == l.loss.host()->tokens);
}

TEST_CASE("the loss and the gradient in place of 16-bit logits are the CPU's, whole or of a rank's classes") {
  on_both([](cudaStream_t stream) {
    for (const Size& size : {Size{1, 1}, Size{5, 67}, Size{2, 600}, Size{37, 5}})
      for (const NumberFormat format : float_formats)
        for (const std::int64_t first_class : {0, 30}) check_losses(stream, size, format, first_class);
  });
}

TEST_CASE("a loss without a gradient writes none") {
  on_both([](cudaStream_t stream) {
    Losses l({5, 67}, NumberFormat::bf16, 67);
    CrossEntropy device = l.on_device(0);
    device.logit_gradient = {};
    cuda::cross_entropy_local_maximum(device, stream);
    cuda::cross_entropy_local_sum(device, stream);
    cuda::cross_entropy_add(device, l.loss.device(), stream);
    finish(stream);
    CHECK(l.logits.is_same());
    CHECK(l.loss.on_device().front().tokens == 5);
  });
}

}  // namespace
}  // namespace plumbline
