#pragma once
/// \file philox.h: Philox4x32-10, a random generator without state: the random number of a counter under a key.
///
/// Which rank computes an element, in which order and how often (recompute) changes nothing, because the element's own
/// number is the counter. Dropout's counter is (element / 4, op, micro-batch), its key the seed.
/// Source: Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", SC'11, section 3.3 and table 2.
/// Checked against: the known answers that the authors publish with Random123 (tests/kernels/philox_test.cpp), exact.

#include <array>
#include <cstdint>

namespace plumbline {

using PhiloxCounter = std::array<std::uint32_t, 4>;
using PhiloxKey = std::array<std::uint32_t, 2>;

inline constexpr int philox_rounds = 10;

constexpr PhiloxCounter philox_round(PhiloxCounter counter, PhiloxKey key) {
  const std::uint64_t a = std::uint64_t{0xD2511F53U} * counter[0];
  const std::uint64_t b = std::uint64_t{0xCD9E8D57U} * counter[2];
  return {static_cast<std::uint32_t>(b >> 32) ^ counter[1] ^ key[0], static_cast<std::uint32_t>(b),
          static_cast<std::uint32_t>(a >> 32) ^ counter[3] ^ key[1], static_cast<std::uint32_t>(a)};
}

/// The key moves by the golden ratio and sqrt(3) - 1.
constexpr PhiloxKey next_philox_key(PhiloxKey key) { return {key[0] + 0x9E3779B9U, key[1] + 0xBB67AE85U}; }

constexpr PhiloxCounter philox(PhiloxCounter counter, PhiloxKey key) {
  for (int round = 0; round < philox_rounds; ++round) {
    counter = philox_round(counter, key);
    key = next_philox_key(key);
  }
  return counter;
}

/// What a dropout draws: `seed` of the run (or run and step), the op's number and the micro-batch's number.
struct DropoutKey {
  std::uint64_t seed = 0;
  std::uint32_t op = 0;
  std::uint32_t micro_batch = 0;
  const std::uint64_t* seed_of_step = nullptr;  ///< in the memory of the tensors; nothing: `seed`

  [[nodiscard]] constexpr PhiloxKey key() const {
    const std::uint64_t drawn = seed_of_step != nullptr ? *seed_of_step : seed;
    return {static_cast<std::uint32_t>(drawn), static_cast<std::uint32_t>(drawn >> 32)};
  }
};

/// Four consecutive elements' random words, those of elements 4 * quad to 4 * quad + 3.
/// `drawn`: what key.key() is.
constexpr PhiloxCounter dropout_words(const DropoutKey& key, PhiloxKey drawn, std::uint64_t quad) {
  return philox({static_cast<std::uint32_t>(quad), static_cast<std::uint32_t>(quad >> 32), key.op, key.micro_batch},
                drawn);
}
constexpr PhiloxCounter dropout_words(const DropoutKey& key, std::uint64_t quad) {
  return dropout_words(key, key.key(), quad);
}

/// Elements whose word lies below are dropped: probability * 2^32, rounded down.
constexpr std::uint32_t dropout_threshold(float probability) {
  return static_cast<std::uint32_t>(static_cast<double>(probability) * 4294967296.0);
}

}  // namespace plumbline
