// One global batch for every layout of ranks; token files, right and wrong.

#include "runtime/training/data_feed.h"

#include <numeric>

#include "core/base/errors.h"
#include "runtime/training/sample_text.h"
#include "tests/catch.h"
#include "tests/temporary_folder.h"

namespace plumbline {
namespace {

TokenSource counting(std::int32_t tokens) {
  TokenSource source;
  source.tokens.resize(static_cast<std::size_t>(tokens));
  std::iota(source.tokens.begin(), source.tokens.end(), 0);
  source.vocabulary = tokens;
  return source;
}

/// The first tokens of all sequences of a step, whoever sees them.
std::multiset<std::int32_t> global_batch(const DataFeed& feed, BatchLayout layout, std::int64_t step) {
  std::multiset<std::int32_t> first;
  for (layout.data_rank = 0; layout.data_rank < layout.data_ranks; ++layout.data_rank)
    for (std::int32_t m = 0; m < layout.micro_batches; ++m) {
      const TokenBatch batch = feed.micro_batch(layout, step, m);
      for (std::int32_t row = 0; row < batch.sequences; ++row)
        first.insert(batch.tokens[static_cast<std::size_t>(row) * static_cast<std::size_t>(batch.length)]);
    }
  return first;
}

TEST_CASE("Every layout of ranks sees the same global batch") {
  const DataFeed feed(counting(5000), 16, 42);
  for (const std::int64_t step : {0, 1, 99}) {
    const auto expected = global_batch(feed, {1, 0, 1, 24}, step);
    CHECK(expected.size() == 24);
    for (const BatchLayout& layout : {BatchLayout{1, 0, 24, 1}, BatchLayout{2, 0, 3, 4}, BatchLayout{8, 0, 3, 1},
                                      BatchLayout{24, 0, 1, 1}, BatchLayout{3, 0, 2, 4}})
      CHECK(global_batch(feed, layout, step) == expected);
  }
}

TEST_CASE("Targets are the tokens one further, rows are neighbours in the source") {
  const DataFeed feed(counting(300), 7, 1);
  const TokenBatch batch = feed.micro_batch({2, 1, 3, 4}, 5, 2);
  CHECK(batch.tokens.size() == 28);
  for (std::size_t i = 0; i < batch.tokens.size(); ++i) {
    CHECK(batch.targets[i] == batch.tokens[i] + 1);
    if (i % 7 != 0) CHECK(batch.tokens[i] == batch.tokens[i - 1] + 1);
  }
}

TEST_CASE("Steps, seeds and sequences differ; the same ones agree") {
  const DataFeed feed(counting(100000), 8, 1);
  const DataFeed other(counting(100000), 8, 2);
  const DataFeed again(counting(100000), 8, 1);
  const BatchLayout layout{1, 0, 1, 8};
  CHECK(feed.micro_batch(layout, 3, 0).tokens == again.micro_batch(layout, 3, 0).tokens);
  CHECK(feed.micro_batch(layout, 3, 0).tokens != feed.micro_batch(layout, 4, 0).tokens);
  CHECK(feed.micro_batch(layout, 3, 0).tokens != other.micro_batch(layout, 3, 0).tokens);
}

// 1000 places, 200 000 draws: 200 expected at each, standard deviation 14.1; the first and the last place can be drawn.
// The sum of squares over expectation is chi-square with 999 degrees of freedom: 999 +- 45; five deviations are
// allowed.
TEST_CASE("Places are even over the source") {
  const DataFeed feed(counting(1016), 16, 9);
  std::vector<int> drawn(1000);
  for (std::int64_t step = 0; step < 2000; ++step)
    for (std::int64_t i = 0; i < 100; ++i) ++drawn.at(static_cast<std::size_t>(feed.place(step, i)));
  double chi_square = 0;
  for (const int count : drawn) chi_square += (count - 200.0) * (count - 200.0) / 200.0;
  CHECK(chi_square > 999 - 5 * 45);
  CHECK(chi_square < 999 + 5 * 45);
}

TEST_CASE("A source that is one token longer than a sequence has one place") {
  const DataFeed feed(counting(9), 8, 3);
  CHECK(feed.place(7, 7) == 0);
  CHECK_THROWS_AS(DataFeed(counting(8), 8, 3), InputError);
}

std::filesystem::path written(const TemporaryFolder& folder, const std::string& bytes) {
  std::ofstream(folder / "data.bin", std::ios::binary) << bytes;
  return folder / "data.bin";
}

TEST_CASE("Texts are bytes, token files are little-endian numbers") {
  const TemporaryFolder folder;
  CHECK(read_tokens(written(folder, "az\xff"), TokenFileFormat::text, 256).tokens ==
        std::vector<std::int32_t>{97, 122, 255});
  CHECK(read_tokens(written(folder, std::string("\x01\x02\x00\x00", 4)), TokenFileFormat::u16, 50257).tokens ==
        std::vector<std::int32_t>{513, 0});
  CHECK(read_tokens(written(folder, std::string("\x01\x02\x01\x00", 4)), TokenFileFormat::u32, 100000).tokens ==
        std::vector<std::int32_t>{66049});
}

TEST_CASE("Token files that do not fit the model are refused") {
  const TemporaryFolder folder;
  CHECK_THROWS_AS(read_tokens(folder / "none", TokenFileFormat::text, 256), InputError);
  CHECK_THROWS_AS(read_tokens(written(folder, "abc"), TokenFileFormat::u16, 50257), InputError);
  CHECK_THROWS_AS(read_tokens(written(folder, "\xff\xff\xff\xff"), TokenFileFormat::u32, 50257), InputError);
  try {
    (void)read_tokens(written(folder, std::string("\x00\x00\x51\xc4", 4)), TokenFileFormat::u16, 50257);
    FAIL("token 50257 is outside of a vocabulary of 50257");
  } catch (const InputError& error) {
    CHECK_THAT(error.what(),
               Catch::Matchers::ContainsSubstring("token 1 is 50257; expected below the vocabulary of 50257"));
  }
}

TEST_CASE("The sample text is plain and long enough to train on") {
  const std::string text = sample_text();
  CHECK(text.starts_with("In the beginning"));
  CHECK(text.size() > 10'000);
  for (const char c : text) REQUIRE((c == '\n' || (c >= ' ' && c <= '~')));
  CHECK(std::ssize(sample_tokens().tokens) == std::ssize(text));
}

}  // namespace
}  // namespace plumbline
