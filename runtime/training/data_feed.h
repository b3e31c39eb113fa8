#pragma once
/// \file data_feed.h: which tokens a rank trains on at a step: the same global batch for every layout of ranks.
///
/// Model: sequence i of step s begins at a place drawn from (seed, s, i) alone, evenly over all places of the source.
/// i counts the global batch: data-parallel rank d of n with micro-batches of b sequences has, as its micro-batch m,
/// the sequences (m n + d) b ... + b - 1. So any n, b and number of micro-batches with one product see one batch. The
/// draw is the SplitMix64 finaliser over a counter, not a state: resuming at a step needs nothing but its number.
/// Source: Steele, Lea and Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014, figures 16 and 17.
/// Not modelled: epochs without repetition, document boundaries, packing.
/// Checked against: tests/runtime/training/data_feed_test.cpp (layouts agree; places are even).

#include <cstdint>
#include <vector>

#include "runtime/training/token_source.h"

namespace plumbline {

/// Which part of the global batch a rank sees. Context-parallel ranks cut the sequences themselves.
struct BatchLayout {
  std::int32_t data_ranks = 1;
  std::int32_t data_rank = 0;
  std::int32_t micro_batches = 1;
  std::int32_t micro_batch_sequences = 1;
};

/// `sequences` rows of `length` tokens; `targets` are the tokens one further.
struct TokenBatch {
  std::int32_t sequences = 0;
  std::int32_t length = 0;
  std::vector<std::int32_t> tokens;
  std::vector<std::int32_t> targets;
};

class DataFeed {
 public:
  /// Throws InputError when the source has no sequence of this length and a token more.
  DataFeed(TokenSource source, std::int32_t sequence_length, std::uint64_t seed);

  [[nodiscard]] TokenBatch micro_batch(const BatchLayout& layout, std::int64_t step, std::int32_t micro_batch) const;
  /// Sequences of what is held out, one behind the other.
  [[nodiscard]] std::int64_t held_out_sequences() const;
  /// Appends the `sequence`th of them to a batch.
  void append_held_out(TokenBatch& batch, std::int64_t sequence) const;
  [[nodiscard]] std::int32_t sequence_length() const { return length_; }
  /// The first token of a sequence of the global batch.
  [[nodiscard]] std::int64_t place(std::int64_t step, std::int64_t sequence) const;

 private:
  [[nodiscard]] std::int64_t trained_tokens() const { return source_.tokens.size() - source_.held_out; }
  /// The sequence that begins at `place`, and its targets.
  void append(TokenBatch& batch, std::int64_t place) const;

  TokenSource source_;
  std::int32_t length_;
  std::uint64_t seed_;
};

}  // namespace plumbline
