#include "runtime/training/data_feed.h"

#include <algorithm>

#include "core/base/errors.h"

namespace plumbline {
namespace {

/// The constants are those of the paper's figures.
constexpr std::uint64_t mixed(std::uint64_t z) {
  z += 0x9e3779b97f4a7c15U;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
  return z ^ (z >> 31);
}

/// The high 64 bits of a product: `random` scaled to [0, range).
std::uint64_t scaled(std::uint64_t random, std::uint64_t range) {
  const std::uint64_t low = (random & 0xffffffffU) * range;  // range is below 2^32 here: see the constructor
  return ((random >> 32) * range + (low >> 32)) >> 32;
}

}  // namespace

DataFeed::DataFeed(TokenSource source, std::int32_t sequence_length, std::uint64_t seed)
    : source_(std::move(source)), length_(sequence_length), seed_(seed) {
  const std::int64_t tokens = trained_tokens();
  if (length_ < 1 || tokens <= length_)
    throw InputError({"data", "has " + std::to_string(tokens) + " tokens",
                      "more than the sequence length of " + std::to_string(length_), ""});
  if (tokens > most_trained_tokens)
    throw InputError(
        {"data", "has " + std::to_string(tokens) + " tokens", "at most " + std::to_string(most_trained_tokens), ""});
}

std::int64_t DataFeed::place(std::int64_t step, std::int64_t sequence) const {
  const std::uint64_t of_step = mixed(mixed(seed_) ^ static_cast<std::uint64_t>(step));
  const std::uint64_t random = mixed(of_step ^ static_cast<std::uint64_t>(sequence));
  const auto places = static_cast<std::uint64_t>(trained_tokens() - length_);
  return static_cast<std::int64_t>(scaled(random, places));
}

TokenBatch DataFeed::micro_batch(const BatchLayout& layout, std::int64_t step, std::int32_t micro_batch) const {
  check(layout.data_rank >= 0 && layout.data_rank < layout.data_ranks, "a data-parallel rank is one of its group");
  check(micro_batch >= 0 && micro_batch < layout.micro_batches, "a micro-batch is one of its step");
  TokenBatch batch{layout.micro_batch_sequences, length_, {}, {}};
  const std::int64_t first =
      (std::int64_t{micro_batch} * layout.data_ranks + layout.data_rank) * layout.micro_batch_sequences;
  for (std::int64_t i = first; i < first + layout.micro_batch_sequences; ++i) append(batch, place(step, i));
  return batch;
}

void DataFeed::append(TokenBatch& batch, std::int64_t place) const {
  const std::vector<std::int32_t> read = source_.tokens.read(place, length_ + 1);
  batch.tokens.insert(batch.tokens.end(), read.begin(), read.end() - 1);
  batch.targets.insert(batch.targets.end(), read.begin() + 1, read.end());
}

std::int64_t DataFeed::held_out_sequences() const {
  return std::max<std::int64_t>(0, source_.held_out - 1) / length_;  // the last target is a token further
}

void DataFeed::append_held_out(TokenBatch& batch, std::int64_t sequence) const {
  check(sequence >= 0 && sequence < held_out_sequences(), "a held-out sequence is one of them");
  append(batch, trained_tokens() + sequence * length_);
}

}  // namespace plumbline
