#include "kernels/adamw_8bit.h"

#include <cmath>
#include <span>

#include "kernels/adamw.h"
#include "kernels/reference/update.h"

namespace plumbline::reference {
namespace {

constexpr CodeBook signed_book = dynamic_code_book(MomentSigns::both);
constexpr CodeBook positive_book = dynamic_code_book(MomentSigns::positive);
static_assert(chunk_size % moment_block == 0, "a chunk holds whole blocks");

void load_block(const CodeBook& book, const CodedMoment& state, std::int64_t block, std::span<float> values) {
  const std::uint8_t* const codes = state.codes + block * moment_block;
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = book[codes[i]] * state.largest[block];
}

void store_block(const CodeBook& book, const CodedMoment& state, std::int64_t block, std::span<const float> values) {
  float largest = 0.0F;
  for (const float value : values) largest = std::max(largest, std::abs(value));
  state.largest[block] = largest;
  std::uint8_t* const codes = state.codes + block * moment_block;
  const float inverse = largest > 0.0F ? 1.0F / largest : 0.0F;
  for (std::size_t i = 0; i < values.size(); ++i) codes[i] = nearest_code(book, values[i] * inverse);
}

}  // namespace

std::uint8_t nearest_code(const CodeBook& book, float value) {
  const auto* const above = std::lower_bound(book.begin(), book.end(), value);
  if (above == book.begin()) return 0;
  if (above == book.end()) return static_cast<std::uint8_t>(book.size() - 1);
  const auto code = static_cast<std::uint8_t>(above - book.begin());
  const float middle = (*above + *(above - 1)) * 0.5F;
  return value >= middle ? code : static_cast<std::uint8_t>(code - 1);
}

void adamw_8bit_step(const Adamw8bitStep& args) {
  const auto decision = decided(args.parameter);
  if (!decision) return;
  const OptimizedParameter& p = *decision;
  check(args.step >= 1 && args.first_moment.codes != nullptr && args.second_moment.codes != nullptr,
        "8-bit AdamW has two moments");
  check(p.parameter.rows == 1, "blocks lie in one row");
  const std::int64_t t = p.decision != nullptr ? p.decision->update : args.step;
  const auto rate =
      static_cast<float>(static_cast<double>(p.learning_rate) / (1.0 - power(static_cast<double>(args.beta1), t)));
  const auto root = static_cast<float>(1.0 / std::sqrt(1.0 - power(static_cast<double>(args.beta2), t)));
  const float keep = 1.0F - p.learning_rate * p.weight_decay;
  std::int64_t block = 0;
  update(p, {}, {}, [&](UpdateChunk& chunk) {
    for (std::int64_t begin = 0; begin < chunk.count; begin += moment_block, ++block) {
      const auto count = static_cast<std::size_t>(std::min(moment_block, chunk.count - begin));
      const std::span first(chunk.first.values + begin, count);
      const std::span second(chunk.second.values + begin, count);
      load_block(signed_book, args.first_moment, block, first);
      load_block(positive_book, args.second_moment, block, second);
      for (std::size_t i = 0; i < count; ++i) {
        const std::size_t at = static_cast<std::size_t>(begin) + i;
        const float g = scaled_gradient(p, chunk.gradient[at]);
        first[i] = args.beta1 * first[i] + (1.0F - args.beta1) * g;
        second[i] = args.beta2 * second[i] + (1.0F - args.beta2) * g * g;
        float& weight = chunk.weight.values[at];
        weight = weight * keep - rate * first[i] / (std::sqrt(second[i]) * root + args.epsilon);
      }
      store_block(signed_book, args.first_moment, block, first);
      store_block(positive_book, args.second_moment, block, second);
    }
  });
}

}  // namespace plumbline::reference
