// The learning rate and the seed of a step, read from the device's memory: the bits of the same numbers as arguments.
#include "kernels/adagrad.h"
#include "kernels/adamw.h"
#include "kernels/attention.h"
#include "kernels/dropout.h"
#include "kernels/lion.h"
#include "kernels/muon.h"
#include "kernels/rmsprop.h"
#include "kernels/sgd.h"
#include "kernels/unfused_attention.h"
#include "tests/kernels/cuda/both_devices.h"

namespace plumbline::step_numbers_test {
namespace {

constexpr float rate = 0.0123F;
constexpr std::uint64_t seed = 0x123456789abcdefULL;
/// What is an argument where the memory has another number.
constexpr float stale_rate = 3;
constexpr std::uint64_t stale_seed = 8;

enum class From : std::uint8_t { arguments, memory };

/// A parameter in bf16 that is rounded by a draw, with all that its optimizer has.
struct Trained {
  BothTensor weight = random_both(5, 16, 1, NumberFormat::bf16);
  BothTensor gradient = random_both(5, 16, 2);
  BothTensor first = random_both(5, 16, 3);
  BothTensor second{5, 16, NumberFormat::fp32, std::vector<float>(80, 0.5F)};

  [[nodiscard]] std::vector<std::vector<std::byte>> on_device() const {
    return {weight.on_device(), first.on_device(), second.on_device()};
  }
};

OptimizedParameter parameter_of(const TensorView& weight, const TensorView& gradient, From from, const float* rates,
                                const std::uint64_t* seeds) {
  const bool is_argument = from == From::arguments;
  OptimizedParameter p{.parameter = weight,
                       .gradient = gradient,
                       .learning_rate = is_argument ? rate : stale_rate,
                       .weight_decay = 0.1F,
                       .rate_of_step = is_argument ? nullptr : rates};
  p.rounding = {.is_on = true,
                .seed = is_argument ? seed : stale_seed,
                .parameter = 9,
                .box = {{1, 5, 16}, {0, 0, 0}, {1, 5, 16}},
                .seed_of_step = is_argument ? nullptr : seeds};
  return p;
}

constexpr int optimizers = 6;

void step_on_host(int which, Trained& t, From from) {
  const OptimizedParameter p = parameter_of(t.weight.host(), t.gradient.host(), from, &rate, &seed);
  switch (which) {
    case 0: return reference::sgd_step({p, t.first.host(), 0.9F});
    case 1: return reference::adagrad_step({p, t.second.host()});
    case 2: return reference::rmsprop_step({p, t.second.host()});
    case 3: return reference::lion_step({p, t.first.host()});
    case 4: return reference::adamw_step({p, t.first.host(), t.second.host()});
    default: {
      MuonStep muon{.parameter = p, .momentum_state = t.first.host()};
      WorkspaceMemory memory(reference::muon_workspace(muon));
      muon.workspace = memory;
      reference::muon_step(muon);
    }
  }
}

void step_on_device(int which, Trained& t, const OptimizedParameter& p, cudaStream_t stream) {
  switch (which) {
    case 0: return cuda::sgd_step({p, t.first.device(), 0.9F}, stream);
    case 1: return cuda::adagrad_step({p, t.second.device()}, stream);
    case 2: return cuda::rmsprop_step({p, t.second.device()}, stream);
    case 3: return cuda::lion_step({p, t.first.device()}, stream);
    case 4: return cuda::adamw_step({p, t.first.device(), t.second.device()}, stream);
    default: {
      MuonStep muon{.parameter = p, .momentum_state = t.first.device()};
      muon.workspace = device_workspace(cuda::muon_workspace(muon));
      cuda::muon_step(muon, stream);
    }
  }
}

TEST_CASE("Every optimizer takes a rate and a seed that lie in the device's memory") {
  on_both([](cudaStream_t stream) {
    const BothArray<float> rates(std::vector<float>{rate});
    const BothArray<std::uint64_t> seeds(std::vector<std::uint64_t>{seed});
    for (int which = 0; which < optimizers; ++which) {
      INFO(which);
      Trained by_argument;
      Trained by_memory;
      for (const From from : {From::arguments, From::memory}) {
        Trained& t = from == From::arguments ? by_argument : by_memory;
        step_on_host(which, t, from);
        step_on_device(which, t,
                       parameter_of(t.weight.device(), t.gradient.device(), from, rates.device(), seeds.device()),
                       stream);
        finish(stream);
      }
      CHECK(by_argument.on_device() == by_memory.on_device());
      CHECK(by_argument.weight.error() <= tolerance(NumberFormat::bf16));
      CHECK(by_memory.weight.error() <= tolerance(NumberFormat::bf16));
    }
  });
}

DropoutDraw draw_of(From from, const std::uint64_t* seeds) {
  const bool is_argument = from == From::arguments;
  return {0.3F, {is_argument ? seed : stale_seed, 17, 3, is_argument ? nullptr : seeds}};
}

TEST_CASE("Dropout draws by a seed that lies in the device's memory") {
  on_both([](cudaStream_t stream) {
    const BothArray<std::uint64_t> seeds(std::vector<std::uint64_t>{seed});
    BothTensor x = random_both(5, 32, 1);
    BothTensor y = random_both(5, 32, 2);
    const DropoutPlace place{.rows = {.per_sequence = 5, .whole_sequence = 5}, .whole_columns = 32};
    reference::dropout_forward({x.host(), y.host(), nullptr, draw_of(From::arguments, nullptr), place});
    cuda::dropout_forward({x.device(), y.device(), nullptr, draw_of(From::memory, seeds.device()), place}, stream);
    finish(stream);
    CHECK(y.is_same());
    reference::dropout_backward({x.host(), y.host(), nullptr, draw_of(From::memory, &seed), place});
    CHECK(y.is_same());
  });
}

TEST_CASE("Attention drops its probabilities by a seed that lies in the device's memory") {
  on_both([](cudaStream_t stream) {
    const BothArray<std::uint64_t> seeds(std::vector<std::uint64_t>{seed});
    const AttentionShape s{.heads = 2, .kv_heads = 2, .queries = 9, .keys = 9, .qk_head_dim = 8, .v_head_dim = 8};
    BothTensor q = random_both(9, 16, 1);
    BothTensor y = random_both(9, 16, 2);
    BothArray<float> sums(18, 0.0F);
    const auto dropout = [](const DropoutDraw& draw) {
      return AttentionDropout{.draw = draw, .whole_heads = 2, .whole_positions = 9};
    };
    AttentionForward host{
        s, q.host(), q.host(), q.host(), y.host(), sums.host(), dropout(draw_of(From::arguments, nullptr))};
    WorkspaceMemory memory(reference::attention_workspace(host));
    host.workspace = memory;
    reference::attention_forward(host);
    cuda::attention_forward({s, q.device(), q.device(), q.device(), y.device(), sums.device(),
                             dropout(draw_of(From::memory, seeds.device()))},
                            stream);
    finish(stream);
    CHECK(y.error() <= 1e-5);
  });
}

}  // namespace
}  // namespace plumbline::step_numbers_test
