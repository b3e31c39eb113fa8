#pragma once
/// \file step_comparison.h: whether two runs took the same step from one state, when their gradients differ by
/// rounding.
///
/// Answers: what weights lie apart beyond what the measured difference of their gradients explains, over what rounding
/// the weights explains; at most 1.
/// Model, for a step of rate r and an element's gradients a and b (clipped and unscaled), e = |a - b| / min(|a|, |b|):
/// SGD and momentum are linear: r |a - b|. AdaGrad's and RMSProp's step is x / sqrt(p + q x^2) with p of the steps
/// before (q 1 and 1 - beta): it is at most 1 / sqrt(q), and its slope at most 1 / (sqrt(q) |x|). Adam's step
/// m / sqrt(v) changes by at most e of itself as long as e < 1/4; Lion's, a sign, by nothing as long as the direction
/// changes by less than a quarter. Beyond that the element's gradient is rounding, and all that is known is the largest
/// step: r for Lion, and for Adam by Cauchy's inequality r sqrt(sum a_t^2 / b_t), a_t and b_t the normalised weights of
/// its two means. Muon's quintic has a slope below 4 on
/// [0, 1.21], where its iterates stay: five of them change by at most 4^5 of the relative difference of the directions,
/// in Frobenius' norm, and by 2 * 1.21 sqrt(rank) at all. Both runs round a weight once to its format, after at most 12
/// operations in fp32, counted three times. Not modelled: Adam's second step with moments in fp16, where a square
/// underflows.

#include <algorithm>
#include <cmath>

#include "tests/executed.h"

namespace plumbline {

/// Whole tensors of one step, what its gradients were multiplied by, and its rate.
struct TakenStep {
  const WholeTensors& gradients;
  const WholeTensors& weights;
  double factor = 1;
  double rate = 0;
};

/// From what a run collected at the step of `record`.
inline TakenStep taken_step(const WholeTensors& gradients, const WholeTensors& weights, const StepRecord& record) {
  double squares = 0;
  for (const auto& [name, values] : gradients)
    for (const float value : values) squares += double(value) * double(value);
  const double clip = std::min(1.0, OptimizerSettings().clip_norm / record.gradient_norm);
  const double unscale = squares == 0 ? 1 : record.gradient_norm / std::sqrt(squares);
  return {gradients, weights, record.gradient_norm == 0 ? 1 : clip * unscale, record.learning_rate};
}

inline double roundoff(NumberFormat format) {
  if (format == NumberFormat::bf16) return 0x1p-8;
  return format == NumberFormat::fp16 ? 0x1p-11 : 0x1p-24;
}

/// Below it the distance to the next number stays the same.
inline double smallest(NumberFormat format) { return format == NumberFormat::fp16 ? 0x1p-14 : 0x1p-126; }

/// What may differ in one element or matrix, and whether that is less than the largest step.
struct Explained {
  double difference = 0;
  bool is_settled = true;
};

struct StepDifference {
  double worst = 0;  ///< beyond what gradients explain, over rounding
  std::string where;
  double settled = 0;  ///< elements
  double elements = 0;
  void see(double unexplained, double rounding, const std::string& name) {
    const double ratio = unexplained <= 0 ? 0 : unexplained / rounding;
    if (ratio <= worst) return;
    worst = ratio;
    where = name;
  }
};

class StepComparison {
 public:
  /// `before`: the step before, of the run whose state both go on from; none: both begin.
  StepComparison(const Training& training, const MatrixShapes& matrices, const TakenStep* before)
      : optimizer_(training.optimizer), formats_(training.formats()), matrices_(matrices), before_(before) {}

  [[nodiscard]] bool is_modelled() const {
    return before_ == nullptr || !uses_adam() || formats_.optimizer_state != NumberFormat::fp16;
  }

  [[nodiscard]] StepDifference of(const TakenStep& one, const TakenStep& other) const {
    StepDifference all;
    for (const auto& [name, values] : other.gradients) {
      const auto matrix = matrices_.find(name);
      if (optimizer_ == Optimizer::muon && matrix != matrices_.end())
        for (std::int64_t expert = 0; expert < matrix->second.experts; ++expert)
          compare_matrix(all, name, matrix->second, expert, one, other);
      else
        compare_elements(all, name, one, other);
    }
    return all;
  }

 private:
  [[nodiscard]] bool uses_adam() const {
    return optimizer_ == Optimizer::adam || optimizer_ == Optimizer::adamw || optimizer_ == Optimizer::muon;
  }

  void compare_elements(StepDifference& all, const std::string& name, const TakenStep& one,
                        const TakenStep& other) const {
    const std::vector<float>& w1 = one.weights.at(name);
    const std::vector<float>& w2 = other.weights.at(name);
    for (std::size_t i = 0; i < w1.size(); ++i) {
      const double a = one.factor * one.gradients.at(name).at(i);
      const double b = other.factor * other.gradients.at(name).at(i);
      const double m = before_ == nullptr ? 0 : before_->factor * before_->gradients.at(name).at(i);
      const Explained explained = of_element(one.rate, a, b, m);
      all.elements += 1;
      all.settled += explained.is_settled ? 1 : 0;
      const double step = one.rate * (divides_by_root() ? largest_divided_step() : 1);
      all.see(std::abs(double(w1[i]) - double(w2[i])) - explained.difference,
              rounding(std::max(std::abs(w1[i]), std::abs(w2[i])), step), name);
    }
  }

  [[nodiscard]] Explained of_element(double rate, double a, double b, double previous) const {
    if (optimizer_ == Optimizer::sgd || optimizer_ == Optimizer::momentum) return {rate * std::abs(a - b), true};
    if (divides_by_root()) return of_divided(rate * largest_divided_step(), a, b);
    if (optimizer_ == Optimizer::lion) {
      const double m = beta1_ * (1 - beta2_) * previous;
      const double kept =
          roundoff(formats_.optimizer_state) * std::max(std::abs(m), smallest(formats_.optimizer_state));
      const double change = (1 - beta1_) * std::abs(a - b) + 2 * kept;
      const double least = std::min(std::abs(m + (1 - beta1_) * a), std::abs(m + (1 - beta1_) * b));
      if (a == b || 4 * change < least) return {0, true};
      return {2 * rate, false};
    }
    const double least = std::min(std::abs(a), std::abs(b));
    if (4 * std::abs(a - b) < least) return {rate * std::abs(a - b) / least, true};
    if (a == b) return {0, true};
    return {2 * rate * largest_adam_step(), false};
  }

  [[nodiscard]] bool divides_by_root() const {
    return optimizer_ == Optimizer::adagrad || optimizer_ == Optimizer::rmsprop;
  }
  [[nodiscard]] double largest_divided_step() const {
    return optimizer_ == Optimizer::rmsprop ? 1 / std::sqrt(1 - beta2_) : 1;
  }
  [[nodiscard]] static Explained of_divided(double largest, double a, double b) {
    if (a == b) return {0, true};
    const double least = std::min(std::abs(a), std::abs(b));
    if (4 * std::abs(a - b) < least) return {largest * std::abs(a - b) / least, true};
    return {2 * largest, false};
  }

  [[nodiscard]] double largest_adam_step() const {
    if (before_ == nullptr) return 1;
    double sum = 0;
    for (const int age : {0, 1}) {
      const double first = (1 - beta1_) * std::pow(beta1_, age) / (1 - beta1_ * beta1_);
      const double second = (1 - beta2_) * std::pow(beta2_, age) / (1 - beta2_ * beta2_);
      sum += first * first / second;
    }
    return std::sqrt(sum) * (1 + 4 * roundoff(formats_.optimizer_state));
  }

  /// Of both runs: of the stored weight, and of operations in fp32 on it and on the step.
  [[nodiscard]] double rounding(double weight, double step) const {
    const NumberFormat stored = formats_.master ? *formats_.master : formats_.weight;
    return 2 * roundoff(stored) * std::max(weight, smallest(stored)) +
           3 * 2 * 12 * roundoff(NumberFormat::fp32) * (weight + step);
  }

  void compare_matrix(StepDifference& all, const std::string& name, MatrixShape shape, std::int64_t expert,
                      const TakenStep& one, const TakenStep& other) const {
    const std::vector<double> a = direction(name, one);
    const std::vector<double> b = direction(name, other);
    double apart = 0;
    double size_a = 0;
    double size_b = 0;
    double moved = 0;
    double slack = 0;
    const auto size = static_cast<std::size_t>(shape.rows * shape.columns);
    const std::size_t first = static_cast<std::size_t>(expert) * size;
    for (std::size_t i = first; i < first + size; ++i) {
      const double w1 = one.weights.at(name).at(i);
      const double w2 = other.weights.at(name).at(i);
      apart += (a[i] - b[i]) * (a[i] - b[i]);
      size_a += a[i] * a[i];
      size_b += b[i] * b[i];
      moved += (w1 - w2) * (w1 - w2);
      slack += std::pow(rounding(std::max(std::abs(w1), std::abs(w2)), 1.21 * one.rate), 2);
    }
    const double least = std::max(std::sqrt(std::min(size_a, size_b)), 1e-7);
    const double of_products = 64 * roundoff(NumberFormat::fp32);
    const double relative = std::sqrt(apart) / least + of_products;
    const auto rank = static_cast<double>(std::min(shape.rows, shape.columns));
    const double ratio = std::sqrt(std::max(1.0, double(shape.rows) / double(shape.columns)));
    const double most = 2 * 1.21 * std::sqrt(rank);
    const double steep = std::pow(4.0, 5) * relative;
    all.elements += static_cast<double>(size);
    if (steep < most) all.settled += static_cast<double>(size);
    all.see(std::sqrt(moved) - one.rate * ratio * std::min(steep, most), std::sqrt(slack), name);
  }
  /// Nesterov's.
  [[nodiscard]] std::vector<double> direction(const std::string& name, const TakenStep& step) const {
    std::vector<double> result;
    const std::vector<float>& gradients = step.gradients.at(name);
    for (std::size_t i = 0; i < gradients.size(); ++i) {
      const double old = before_ == nullptr ? 0 : before_->factor * before_->gradients.at(name).at(i);
      result.push_back((1 + momentum_) * step.factor * gradients[i] + momentum_ * momentum_ * old);
    }
    return result;
  }

  Optimizer optimizer_;
  PrecisionFormats formats_;
  const MatrixShapes& matrices_;
  const TakenStep* before_;
  double beta1_ = OptimizerSettings().beta1;
  double beta2_ = OptimizerSettings().beta2;
  double momentum_ = OptimizerSettings().momentum;
};

}  // namespace plumbline
