// Element-wise optimizers: a thread reads eight elements' weights, gradients and states, and
// writes what changed.
#include <cmath>

#include "kernels/cuda/cuda_kernels.h"
#include "kernels/cuda/optimizer_rules.h"
#include "kernels/cuda/vectors.h"

namespace plumbline::cuda {
namespace {

enum class Rounding : std::uint8_t { nearest, by_draw };

/// States that are nothing are neither read nor written.
template <int N, class Step, Rounding rounding>
__global__ void update_elements(OptimizedParameter p, TensorView first, TensorView second, Step step) {
  if (!is_decided(p)) return;
  if constexpr (requires { step.prepare(p); }) step.prepare(p);
  const TensorView source = p.master.data != nullptr ? p.master : p.parameter;
  for_each_element_group<N>(
      p.parameter.rows, p.parameter.columns, [&](auto count, std::int64_t row, std::int64_t column) {
        Numbers<count> weight = load_numbers<count>(source, row, column);
        const Numbers<count> gradient = load_numbers<count>(p.gradient, row, column);
        Numbers<count> moment = {};
        Numbers<count> moment_of_squares = {};
        if (first.data != nullptr) moment = load_numbers<count>(first, row, column);
        if (second.data != nullptr) moment_of_squares = load_numbers<count>(second, row, column);
        for (int i = 0; i < count; ++i) {
          Element e{weight.at[i], Step::takes_gradients ? scaled_gradient(p, gradient.at[i]) : gradient.at[i],
                    moment.at[i], moment_of_squares.at[i]};
          step.run(p, e);
          weight.at[i] = e.weight;
          moment.at[i] = e.first;
          moment_of_squares.at[i] = e.second;
        }
        if constexpr (rounding == Rounding::by_draw) {
          RoundingWords words(p.rounding);
          for (int i = 0; i < count; ++i)
            weight.at[i] =
                stochastically_rounded(weight.at[i], source.format, words.of(row * p.parameter.columns + column + i));
        }
        store_numbers<count>(p.parameter, row, column, weight);
        if (p.master.data != nullptr) store_numbers<count>(p.master, row, column, weight);
        if (first.data != nullptr) store_numbers<count>(first, row, column, moment);
        if (second.data != nullptr) store_numbers<count>(second, row, column, moment_of_squares);
      });
}

struct Sgd {
  static constexpr bool takes_gradients = true;
  float momentum;
  bool has_velocity;
  __device__ void run(const OptimizedParameter& p, Element& e) const {
    const float g = e.gradient + p.weight_decay * e.weight;
    e.first = has_velocity ? momentum * e.first + g : g;
    e.weight -= p.learning_rate * e.first;
  }
};

struct Adagrad {
  static constexpr bool takes_gradients = true;
  float epsilon;
  __device__ void run(const OptimizedParameter& p, Element& e) const {
    const float g = e.gradient + p.weight_decay * e.weight;
    e.first += g * g;
    e.weight -= p.learning_rate * g / (sqrtf(e.first) + epsilon);
  }
};

struct Rmsprop {
  static constexpr bool takes_gradients = true;
  float beta;
  float epsilon;
  __device__ void run(const OptimizedParameter& p, Element& e) const {
    const float g = e.gradient + p.weight_decay * e.weight;
    e.first = beta * e.first + (1.0F - beta) * g * g;
    e.weight -= p.learning_rate * g / (sqrtf(e.first) + epsilon);
  }
};

struct Lion {
  static constexpr bool takes_gradients = true;
  float beta1;
  float beta2;
  __device__ void run(const OptimizedParameter& p, Element& e) const {
    const float direction = beta1 * e.first + (1.0F - beta1) * e.gradient;
    const float sign = direction > 0.0F ? 1.0F : (direction < 0.0F ? -1.0F : direction);  // 0 and NaN stay
    e.weight -= p.learning_rate * (sign + p.weight_decay * e.weight);
    e.first = beta2 * e.first + (1.0F - beta2) * e.gradient;
  }
};

struct MuonApply {
  static constexpr bool takes_gradients = false;  // a direction, which was multiplied already
  float ratio;
  float rate = 0;
  float keep = 1;
  __device__ void prepare(const OptimizedParameter& p) {
    rate = p.learning_rate * ratio;
    keep = kept_share(p);
  }
  __device__ void run(const OptimizedParameter&, Element& e) const { e.weight = e.weight * keep - rate * e.gradient; }
};

__global__ void muon_directions(OptimizedParameter p, TensorView state, float momentum, float* direction) {
  if (!is_decided(p)) return;
  for_each_element(p.gradient.rows, p.gradient.columns, [&](std::int64_t row, std::int64_t column) {
    const float g = scaled_gradient(p, load(p.gradient, row, column));
    const float sum = momentum * load(state, row, column) + g;
    direction[row * p.gradient.columns + column] = g + momentum * sum;  // Nesterov's
    store(state, row, column, sum);
  });
}

template <Rounding rounding, class Step>
void launch_update(const char* name, const OptimizedParameter& p, const TensorView& first, const TensorView& second,
                   const Step& step, cudaStream_t stream) {
  const std::int64_t columns = p.parameter.columns;
  if (takes_vectors(p.parameter, p.master, p.gradient, first, second))
    launch(name, element_shape(p.parameter.rows, (columns + vector_elements - 1) / vector_elements), stream,
           update_elements<vector_elements, Step, rounding>, p, first, second, step);
  else
    launch(name, element_shape(p.parameter.rows, columns), stream, update_elements<1, Step, rounding>, p, first, second,
           step);
}

template <class Step>
void update(const char* name, const OptimizedParameter& p, const TensorView& first, const TensorView& second,
            const Step& step, cudaStream_t stream) {
  check_same_shape(p.parameter, p.gradient);
  for (const TensorView* view : {&p.master, &first, &second})
    if (view->is_there()) check_same_shape(p.parameter, *view);
  if (p.rounding.is_on)
    launch_update<Rounding::by_draw>(name, p, first, second, step, stream);
  else
    launch_update<Rounding::nearest>(name, p, first, second, step, stream);
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
  update("adamw_step", p, args.first_moment, args.second_moment, Adamw{args.beta1, args.beta2, args.epsilon, args.step},
         stream);
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
  update("muon_apply", p, {}, {}, MuonApply{ratio}, stream);
}

}  // namespace plumbline::cuda
