#include "kernels/cross_entropy.h"

#include <cmath>
#include <limits>

#include "core/base/errors.h"
#include "kernels/reference/chunk.h"
#include "kernels/reference/vector_loops.h"

namespace plumbline::reference {
namespace {

/// Column of a token's target in this rank's logits, or nothing (-1).
std::int64_t target_column(const CrossEntropy& args, std::int64_t token) {
  const std::int64_t target = args.targets[token];
  const std::int64_t column = target - args.first_class;
  return target >= 0 && column >= 0 && column < args.logits.columns ? column : -1;
}

float row_maximum(const CrossEntropy& args, std::int64_t token) {
  float top = -std::numeric_limits<float>::infinity();
  for_each_chunk(args.logits.columns, [&](std::int64_t begin, std::int64_t count) {
    Chunk chunk;
    const float* x = load(args.logits, token, begin, count, chunk);
    top = maximum_of(x, count, top);
  });
  return top;
}

float row_sum(const CrossEntropy& args, std::int64_t token) {
  const float top = args.maximum[token];
  double sum = 0;
  for_each_chunk(args.logits.columns, [&](std::int64_t begin, std::int64_t count) {
    Chunk chunk;
    const float* x = load(args.logits, token, begin, count, chunk);
    Chunk exponentials;
    sum += static_cast<double>(exp_and_sum(x, count, top, exponentials.values));
  });
  return static_cast<float>(sum);
}

float scale_of_gradients(const CrossEntropy& args) {
  return args.loss_scale != nullptr ? args.gradient_scale * static_cast<float>(*args.loss_scale) : args.gradient_scale;
}

void gradient_row(const CrossEntropy& args, std::int64_t token) {
  const bool counts = args.targets[token] >= 0;
  const std::int64_t target = target_column(args, token);
  const float top = args.maximum[token];
  const float scale = scale_of_gradients(args);
  const float factor = counts ? scale / args.sum[token] : 0.0F;
  for_each_chunk(args.logits.columns, [&](std::int64_t begin, std::int64_t count) {
    Chunk in;
    Chunk out;
    const float* x = load(args.logits, token, begin, count, in);
    exp_and_sum(x, count, top, out.values);
    for (std::int64_t i = 0; i < count; ++i) out.values[i] = counts ? out.values[i] * factor : 0.0F;
    if (target >= begin && target < begin + count) out.values[target - begin] -= scale;
    store(args.logit_gradient, token, begin, count, out.values);
  });
}

}  // namespace

void cross_entropy_local_maximum(const CrossEntropy& args) {
  for (std::int64_t token = 0; token < args.logits.rows; ++token) args.maximum[token] = row_maximum(args, token);
}

void cross_entropy_local_sum(const CrossEntropy& args) {
  for (std::int64_t token = 0; token < args.logits.rows; ++token) {
    args.sum[token] = row_sum(args, token);
    const std::int64_t column = target_column(args, token);
    args.target_logit[token] = column >= 0 ? load_one(args.logits, token, column) : 0.0F;
  }
}

CrossEntropyLoss cross_entropy_combine(const CrossEntropy& args) {
  CrossEntropyLoss loss;
  if (args.logit_gradient.is_there()) check_same_shape(args.logits, args.logit_gradient);
  for (std::int64_t token = 0; token < args.logits.rows; ++token) {
    if (args.targets[token] >= 0) {
      loss.sum += std::log(static_cast<double>(args.sum[token])) + static_cast<double>(args.maximum[token]) -
                  static_cast<double>(args.target_logit[token]);
      ++loss.tokens;
    }
    if (args.logit_gradient.is_there()) gradient_row(args, token);
  }
  return loss;
}

CrossEntropyLoss cross_entropy(const CrossEntropy& args) {
  for (std::int64_t token = 0; token < args.logits.rows; ++token)
    check(args.targets[token] < args.logits.columns && args.first_class == 0, "a target is a class of the whole");
  cross_entropy_local_maximum(args);
  cross_entropy_local_sum(args);
  return cross_entropy_combine(args);
}

void cross_entropy_add(const CrossEntropy& args, CrossEntropyLoss* sum) {
  const CrossEntropyLoss loss = cross_entropy_combine(args);
  sum->sum += loss.sum;
  sum->tokens += loss.tokens;
}

}  // namespace plumbline::reference
