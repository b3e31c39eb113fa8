#pragma once
/// \file evaluation.h: what a network has learnt: its loss on held-out sequences, and text that it goes on with.
///
/// Answers: nats per token; tokens. The same on every rank, and on every layout within what rounding does. Model:
/// forwards of the program that trains (Executor::run_forwards), so any layout evaluates, with the memory and the wire
/// of a step's forwards. Held-out sequences are spread evenly; where they end inside of a batch, the rest of it
/// has no targets. A token is drawn after a forward over all that is before it, as far as the sequence length
/// reaches: at temperature 0 the most likely one, else by softmax(logits / temperature). Source: Ackley, Hinton and
/// Sejnowski (1985), eq. 5 (temperature). Not modelled: a cache of keys and values; other ways to draw. Checked
/// against: tests/runtime/execution/evaluation_test.cpp (every layout; a loss put together by hand).

#include "runtime/execution/executor.h"
#include "runtime/training/data_feed.h"

namespace plumbline {

struct ContinuationOptions {
  std::vector<std::int32_t> prompt;  ///< at least one token
  std::int64_t tokens = 0;           ///< to draw
  double temperature = 0;
  std::uint64_t seed = 0;
};

class Evaluation {
 public:
  Evaluation(const Strategy& strategy, const DataFeed& feed, const RankShare& share, RankDevice& device,
             Executor& executor)
      : strategy_(strategy), feed_(feed), share_(share), device_(device), executor_(executor) {}

  /// The mean over at most `most_sequences` of the held-out ones. There is at least one.
  [[nodiscard]] double held_out_loss(std::int64_t most_sequences, const Executor::BeforeAction& before);
  /// Tokens below `vocabulary`, without the prompt.
  [[nodiscard]] std::vector<std::int32_t> continuation(const ContinuationOptions& options, std::int32_t vocabulary,
                                                       const Executor::BeforeAction& before);

 private:
  /// Of the token behind the last of `context`.
  [[nodiscard]] std::vector<float> next_logits(std::span<const std::int32_t> context, std::int32_t vocabulary,
                                               const Executor::BeforeAction& before);

  const Strategy& strategy_;
  const DataFeed& feed_;
  const RankShare& share_;
  RankDevice& device_;
  Executor& executor_;
};

}  // namespace plumbline
