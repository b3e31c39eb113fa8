// Element-wise optimizers: a thread reads an element's weight, gradient and states, and writes what changed.
#include <cmath>
#include <limits>

#include "kernels/cuda/cuda_kernels.h"
#include "kernels/cuda/elements.h"
#include "kernels/cuda/launch.h"

namespace plumbline::cuda {
namespace {

struct Element {
  float weight = 0;
  float gradient = 0;  ///< multiplied and clamped
  float first = 0;
  float second = 0;
};

/// As std::min(std::max(...)) on the CPU: what is no number stays so.
__device__ __forceinline__ float scaled_gradient(const OptimizedParameter& p, float gradient) {
  const float g = gradient * p.gradient_factor;
  const float above = g < -p.gradient_limit ? -p.gradient_limit : g;
  return p.gradient_limit < above ? p.gradient_limit : above;
}

/// States that are nothing are neither read nor written.
template <class Step>
__global__ void update_elements(OptimizedParameter p, TensorView first, TensorView second, Step step) {
  const TensorView source = p.master.data != nullptr ? p.master : p.parameter;
  for_each_element(p.parameter.rows, p.parameter.columns, [&](std::int64_t row, std::int64_t column) {
    Element e;
    e.weight = load(source, row, column);
    e.gradient = scaled_gradient(p, load(p.gradient, row, column));
    if (first.data != nullptr) e.first = load(first, row, column);
    if (second.data != nullptr) e.second = load(second, row, column);
    step.run(p, e);
    store(p.parameter, row, column, e.weight);
    if (p.master.data != nullptr) store(p.master, row, column, e.weight);
    if (first.data != nullptr) store(first, row, column, e.first);
    if (second.data != nullptr) store(second, row, column, e.second);
  });
}

struct Sgd {
  float momentum;
  bool has_velocity;
  __device__ void run(const OptimizedParameter& p, Element& e) const {
    const float g = e.gradient + p.weight_decay * e.weight;
    e.first = has_velocity ? momentum * e.first + g : g;
    e.weight -= p.learning_rate * e.first;
  }
};

struct Adagrad {
  float epsilon;
  __device__ void run(const OptimizedParameter& p, Element& e) const {
    const float g = e.gradient + p.weight_decay * e.weight;
    e.first += g * g;
    e.weight -= p.learning_rate * g / (sqrtf(e.first) + epsilon);
  }
};

struct Rmsprop {
  float beta;
  float epsilon;
  __device__ void run(const OptimizedParameter& p, Element& e) const {
    const float g = e.gradient + p.weight_decay * e.weight;
    e.first = beta * e.first + (1.0F - beta) * g * g;
    e.weight -= p.learning_rate * g / (sqrtf(e.first) + epsilon);
  }
};

struct Lion {
  float beta1;
  float beta2;
  __device__ void run(const OptimizedParameter& p, Element& e) const {
    const float direction = beta1 * e.first + (1.0F - beta1) * e.gradient;
    const float sign = direction > 0.0F ? 1.0F : (direction < 0.0F ? -1.0F : direction);  // 0 and NaN stay
    e.weight -= p.learning_rate * (sign + p.weight_decay * e.weight);
    e.first = beta2 * e.first + (1.0F - beta2) * e.gradient;
  }
};

struct Adamw {
  float beta1;
  float beta2;
  float epsilon;
  float rate;  ///< learning rate over the first moment's correction
  float root;  ///< 1 / root of the second moment's correction
  float keep;  ///< 1 - learning rate * weight decay
  __device__ void run(const OptimizedParameter&, Element& e) const {
    e.first = beta1 * e.first + (1.0F - beta1) * e.gradient;
    e.second = beta2 * e.second + (1.0F - beta2) * e.gradient * e.gradient;
    e.weight = e.weight * keep - rate * e.first / (sqrtf(e.second) * root + epsilon);
  }
};

struct MuonApply {
  float rate;
  float keep;
  __device__ void run(const OptimizedParameter&, Element& e) const { e.weight = e.weight * keep - rate * e.gradient; }
};

__global__ void muon_directions(OptimizedParameter p, TensorView state, float momentum, float* direction) {
  for_each_element(p.gradient.rows, p.gradient.columns, [&](std::int64_t row, std::int64_t column) {
    const float g = scaled_gradient(p, load(p.gradient, row, column));
    const float sum = momentum * load(state, row, column) + g;
    direction[row * p.gradient.columns + column] = g + momentum * sum;  // Nesterov's
    store(state, row, column, sum);
  });
}

template <class Step>
void update(const char* name, const OptimizedParameter& p, const TensorView& first, const TensorView& second,
            const Step& step, cudaStream_t stream) {
  check_same_shape(p.parameter, p.gradient);
  for (const TensorView* view : {&p.master, &first, &second})
    if (view->is_there()) check_same_shape(p.parameter, *view);
  launch(name, element_shape(p.parameter.rows, p.parameter.columns), stream, update_elements<Step>, p, first, second,
         step);
}

}  // namespace

void sgd_step(const SgdStep& args, cudaStream_t stream) {
  check(args.momentum == 0.0F || args.velocity.is_there(), "momentum needs a velocity");
  update("sgd_step", args.parameter, args.velocity, {}, Sgd{args.momentum, args.velocity.is_there()}, stream);
}

void adagrad_step(const AdagradStep& args, cudaStream_t stream) {
  check(args.sum_of_squares.is_there(), "AdaGrad has a sum of squares");
  update("adagrad_step", args.parameter, args.sum_of_squares, {}, Adagrad{args.epsilon}, stream);
}

void rmsprop_step(const RmspropStep& args, cudaStream_t stream) {
  check(args.mean_of_squares.is_there(), "RMSProp has a mean of squares");
  update("rmsprop_step", args.parameter, args.mean_of_squares, {}, Rmsprop{args.beta, args.epsilon}, stream);
}

void lion_step(const LionStep& args, cudaStream_t stream) {
  check(args.momentum.is_there(), "Lion has a momentum");
  update("lion_step", args.parameter, args.momentum, {}, Lion{args.beta1, args.beta2}, stream);
}

void adamw_step(const AdamwStep& args, cudaStream_t stream) {
  const OptimizedParameter& p = args.parameter;
  check(args.step >= 1 && args.first_moment.is_there() && args.second_moment.is_there(), "AdamW has two moments");
  // 1 - beta^t loses its digits in fp32 when beta is near 1.
  const auto t = static_cast<double>(args.step);
  const double correction1 = 1.0 - std::pow(static_cast<double>(args.beta1), t);
  const double correction2 = 1.0 - std::pow(static_cast<double>(args.beta2), t);
  const Adamw step{args.beta1,
                   args.beta2,
                   args.epsilon,
                   static_cast<float>(static_cast<double>(p.learning_rate) / correction1),
                   static_cast<float>(1.0 / std::sqrt(correction2)),
                   1.0F - p.learning_rate * p.weight_decay};
  update("adamw_step", p, args.first_moment, args.second_moment, step, stream);
}

void muon_direction(const MuonStep& args, float* direction, cudaStream_t stream) {
  const OptimizedParameter& p = args.parameter;
  check_same_shape(p.gradient, args.momentum_state);
  launch("muon_direction", element_shape(p.gradient.rows, p.gradient.columns), stream, muon_directions, p,
         args.momentum_state, args.momentum, direction);
}

void muon_apply(const MuonStep& args, const float* orthogonal, std::int64_t matrix_rows, std::int64_t matrix_columns,
                cudaStream_t stream) {
  OptimizedParameter p = args.parameter;
  const auto rows = static_cast<float>(matrix_rows);
  const auto columns = static_cast<float>(matrix_columns);
  // Both ratios as kernels/muon.h cites them.
  const float ratio = args.ratio == MuonRatio::adamw_rms ? 0.2F * std::sqrt(std::max(rows, columns))
                                                         : std::sqrt(std::max(1.0F, rows / columns));
  p.gradient =
      dense_view(static_cast<const void*>(orthogonal), NumberFormat::fp32, p.parameter.rows, p.parameter.columns);
  p.gradient_factor = 1.0F;  // which the direction was multiplied by already
  p.gradient_limit = std::numeric_limits<float>::infinity();
  update("muon_apply", p, {}, {}, MuonApply{p.learning_rate * ratio, 1.0F - p.learning_rate * p.weight_decay}, stream);
}

}  // namespace plumbline::cuda
