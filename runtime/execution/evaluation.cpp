#include "runtime/execution/evaluation.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>

#include "runtime/device/device_kernels.h"

namespace plumbline {
namespace {

constexpr std::int32_t no_target = -1;  // kernels/cross_entropy.h

/// In the order of the ranks.
CrossEntropyLoss sum_over_ranks(Communicator& everyone, const CrossEntropyLoss& own) {
  std::vector<CrossEntropyLoss> all(static_cast<std::size_t>(everyone.rank_set().size()));
  everyone.all_gather(std::as_bytes(std::span(&own, 1)), std::as_writable_bytes(std::span(all)), ElementFormat::bytes);
  CrossEntropyLoss sum;
  for (const CrossEntropyLoss& one : all) {
    sum.sum += one.sum;
    sum.tokens += one.tokens;
  }
  return sum;
}

/// In [0, 1), from the upper 53 bits: as many as a double holds.
double uniform(std::mt19937_64& random) { return std::ldexp(static_cast<double>(random() >> 11), -53); }

std::int32_t drawn(const std::vector<float>& logits, double temperature, double place) {
  const auto largest = std::max_element(logits.begin(), logits.end());
  if (temperature <= 0) return static_cast<std::int32_t>(largest - logits.begin());
  std::vector<double> reached;  // the sum of the weights up to each token
  double sum = 0;
  for (const float logit : logits) reached.push_back(sum += std::exp((logit - *largest) / temperature));
  const auto found = std::upper_bound(reached.begin(), reached.end(), place * sum);
  return static_cast<std::int32_t>(std::min(found - reached.begin(), std::ssize(logits) - 1));
}

}  // namespace

double Evaluation::held_out_loss(std::int64_t most_sequences, const Executor::BeforeAction& before) {
  const std::int64_t available = feed_.held_out_sequences();
  const std::int64_t count = std::min(available, std::max<std::int64_t>(1, most_sequences));
  const std::int64_t of_micro_batch = strategy_.sequences_at_once();
  const std::int64_t of_pass = strategy_.batch();
  CrossEntropyLoss sums;
  for (std::int64_t begin = 0; begin < count; begin += of_pass) {
    const BatchSource batches = [&](const BatchLayout& layout, std::int32_t micro_batch) {
      TokenBatch batch{layout.micro_batch_sequences, feed_.sequence_length(), {}, {}};
      const std::int64_t first =
          begin + (std::int64_t{micro_batch} * layout.data_ranks + layout.data_rank) * layout.micro_batch_sequences;
      for (std::int64_t i = first; i < first + layout.micro_batch_sequences; ++i)
        feed_.append_held_out(batch, i < count ? i * available / count : 0);
      const std::int64_t counted = std::clamp<std::int64_t>(count - first, 0, layout.micro_batch_sequences);
      std::fill(batch.targets.begin() + counted * batch.length, batch.targets.end(), no_target);
      return batch;
    };
    const std::int64_t rest = divided(std::min(count - begin, of_pass), of_micro_batch);
    const CrossEntropyLoss one = executor_.run_forwards(batches, static_cast<std::int32_t>(rest), before);
    sums.sum += one.sum;
    sums.tokens += one.tokens;
  }
  // Every tensor-parallel rank computes the whole loss of its tokens.
  const CrossEntropyLoss all =
      sum_over_ranks(share_.groups.everyone(), share_.groups.index(Axis::tensor) == 0 ? sums : CrossEntropyLoss());
  return all.sum / static_cast<double>(all.tokens);
}

std::vector<float> Evaluation::next_logits(std::span<const std::int32_t> context, std::int32_t vocabulary,
                                           const Executor::BeforeAction& before) {
  const std::int64_t length = feed_.sequence_length();
  const BatchSource batches = [&](const BatchLayout& layout, std::int32_t) {
    TokenBatch batch{layout.micro_batch_sequences, feed_.sequence_length(), {}, {}};
    for (std::int32_t i = 0; i < layout.micro_batch_sequences; ++i) {
      batch.tokens.insert(batch.tokens.end(), context.begin(), context.end());
      batch.tokens.resize(static_cast<std::size_t>((i + 1) * length));  // nobody looks behind the context
    }
    batch.targets.assign(batch.tokens.size(), no_target);
    return batch;
  };
  std::vector<float> logits(static_cast<std::size_t>(vocabulary));
  (void)device_.memory.workspace(storage(vocabulary, NumberFormat::fp32));  // the forwards may reserve nothing
  const std::int64_t place = std::ssize(context) - 1;
  executor_.show_logits([&](const LocalLogits& made) {
    const std::int64_t first_class = made.first_class;
    const std::int64_t row = place - share_.first_position();
    // Of copies the first counts: among replicas, and where the vocabulary is not divided.
    const bool is_first =
        share_.groups.index(Axis::data) == 0 && (first_class > 0 || share_.groups.index(Axis::tensor) == 0);
    if (!is_first || row < 0 || row >= share_.local_sequence() || first_class >= vocabulary) return;
    const std::int64_t classes = std::min<std::int64_t>(made.values.columns, vocabulary - first_class);
    const Workspace room = device_.memory.workspace(storage(classes, NumberFormat::fp32));
    device_.lanes.kernels().cast({made.values.rows_from(row, 1).columns_from(0, classes),
                                  dense_view(room.data, NumberFormat::fp32, 1, classes)});
    device_.lanes.download(Stream::compute, logits.data() + first_class, room.data, room.size);
  });
  (void)executor_.run_forwards(batches, 1, before);
  executor_.show_logits(nullptr);
  share_.groups.everyone().all_reduce(std::as_writable_bytes(std::span(logits)), ElementFormat::fp32, Reduction::sum);
  return logits;
}

std::vector<std::int32_t> Evaluation::continuation(const ContinuationOptions& options, std::int32_t vocabulary,
                                                   const Executor::BeforeAction& before) {
  check(!options.prompt.empty(), "a continuation has a begin");
  const auto length = static_cast<std::size_t>(feed_.sequence_length());
  std::mt19937_64 random(options.seed);  // its numbers are those of the C++ standard, everywhere
  std::vector<std::int32_t> text = options.prompt;
  for (std::int64_t i = 0; i < options.tokens; ++i) {
    const std::span<const std::int32_t> all(text);
    const std::vector<float> logits = next_logits(all.last(std::min(length, all.size())), vocabulary, before);
    text.push_back(drawn(logits, options.temperature, uniform(random)));
  }
  text.erase(text.begin(), text.begin() + std::ssize(options.prompt));
  return text;
}

}  // namespace plumbline
