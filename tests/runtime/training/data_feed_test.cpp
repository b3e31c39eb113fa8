// One global batch for every layout of ranks; token files, right and wrong.

#include "runtime/training/data_feed.h"

#include <filesystem>
#include <numeric>

#include "core/base/errors.h"
#include "runtime/training/sample_text.h"
#include "tests/catch.h"
#include "tests/temporary_folder.h"

namespace plumbline {
namespace {

TokenSource counting(std::int32_t tokens) {
  std::vector<std::int32_t> numbers(static_cast<std::size_t>(tokens));
  std::iota(numbers.begin(), numbers.end(), 0);
  return {std::move(numbers), tokens};
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
  const auto read = [&](const std::string& bytes, TokenFileFormat format, std::int32_t vocabulary) {
    const Tokens tokens = read_tokens(written(folder, bytes), format, vocabulary).tokens;
    return tokens.read(0, tokens.size());
  };
  CHECK(read("az\xff", TokenFileFormat::text, 256) == std::vector<std::int32_t>{97, 122, 255});
  CHECK(read(std::string("\x01\x02\x00\x00", 4), TokenFileFormat::u16, 50257) == std::vector<std::int32_t>{513, 0});
  CHECK(read(std::string("\x01\x02\x01\x00", 4), TokenFileFormat::u32, 100000) == std::vector<std::int32_t>{66049});
}

TEST_CASE("A token file that is shortened or damaged during a run is said, not trained on") {
  const TemporaryFolder folder;
  const std::filesystem::path path = written(folder, std::string(40'000, '\x01'));
  const Tokens tokens = read_tokens(path, TokenFileFormat::u16, 1000).tokens;
  CHECK(tokens.read(19'999, 1) == std::vector<std::int32_t>{257});
  std::fstream(path, std::ios::in | std::ios::out | std::ios::binary).seekp(10'001).put('\x7f');
  CHECK_THROWS_WITH(tokens.read(4'990, 20),
                    Catch::Matchers::EndsWith("changed while it was read: token 5000 is 32513"));
  std::filesystem::resize_file(path, 30'000);
  CHECK(tokens.read(14'999, 1).front() == 257);
  CHECK_THROWS_WITH(tokens.read(14'999, 2),
                    Catch::Matchers::EndsWith("was shortened while it was read: it had 40000 bytes"));
}

// The file is sparse: it takes no space on the disk.
TEST_CASE("A text that is larger than memory is not held in memory") {
  const TemporaryFolder folder;
  const std::filesystem::path path = written(folder, "");
  std::filesystem::resize_file(path, std::uintmax_t{4'000'000'000});
  const std::vector<DataFeed> copies(2, DataFeed(read_tokens(path, TokenFileFormat::text, 256), 16, 1));
  CHECK(copies.back().micro_batch({1, 0, 1, 4}, 0, 0).tokens == std::vector<std::int32_t>(64, 0));
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

// 1000 tokens numbered from 0, of which the last 100 are held out: six sequences of 16 and a target each, since
// 6 x 16 + 1 = 97 fit.
TEST_CASE("What is held out is not trained on, and is read in order") {
  std::vector<std::int32_t> numbers;
  for (std::int32_t i = 0; i < 1000; ++i) numbers.push_back(i);
  TokenSource source{numbers, 1000};
  source.held_out = held_out_tokens(source, 0.1, 16);
  REQUIRE(source.held_out == 100);
  const DataFeed feed(source, 16, 3);
  std::int32_t largest = 0;
  for (std::int64_t step = 0; step < 300; ++step)
    for (const std::int32_t target : feed.micro_batch({1, 0, 1, 8}, step, 0).targets)
      largest = std::max(largest, target);
  CHECK(largest < 900);
  CHECK(largest > 880);
  REQUIRE(feed.held_out_sequences() == 6);
  TokenBatch batch;
  feed.append_held_out(batch, 5);
  CHECK(batch.tokens.front() == 980);
  CHECK(batch.targets.back() == 996);
}

TEST_CASE("Nothing is held out of what would not make a sequence, or not leave one") {
  const TokenSource source = tokens_of_text(std::string(100, 'a'));
  CHECK(held_out_tokens(source, 0.1, 9) == 10);
  CHECK(held_out_tokens(source, 0.1, 10) == 0);
  CHECK(held_out_tokens(source, 0.9, 9) == 90);
  CHECK(held_out_tokens(source, 0.9, 10) == 0);
}

// Of "aabc" without the held-out "c": a twice, b once: 2/3 ln 3/2 + 1/3 ln 3 = 0.6365.
TEST_CASE("The unigram entropy is that of what is trained on") {
  TokenSource source = tokens_of_text("aabc");
  source.held_out = 1;
  CHECK(unigram_entropy(source) == Approx(0.636514168));
  CHECK(unigram_entropy(tokens_of_text("abababab")) == Approx(0.693147181));
}

TEST_CASE("The sample text is plain and long enough to train on") {
  const std::string text = sample_text();
  CHECK(text.starts_with("In the beginning"));
  CHECK(text.size() > 150'000);
  for (const char c : text) REQUIRE((c == '\n' || (c >= ' ' && c <= '~')));
  CHECK(sample_tokens().tokens.size() == std::ssize(text));
}

// A sparse file of 5 GB holds nothing on the disk; its size says more than the 4 294 967 295 tokens of 32 bits.
TEST_CASE("a file with too many tokens is refused by its size alone") {
  const TemporaryFolder folder;
  std::ofstream(folder / "large").close();
  std::filesystem::resize_file(folder / "large", 5'000'000'000);
  bool is_read = false;
  const TokenReading reading{most_trained_tokens, [&] { return is_read = true; }};
  CHECK_THROWS_WITH(read_tokens(folder / "large", TokenFileFormat::text, 100, reading),
                    Catch::Matchers::ContainsSubstring("has 5000000000 tokens; expected at most 4294967295"));
  CHECK(!is_read);
}

TEST_CASE("a pass over all tokens ends when it is asked to") {
  const TemporaryFolder folder;
  std::ofstream(folder / "text") << std::string(3'000'000, 'a');
  int parts = 0;
  const TokenReading reading{most_trained_tokens, [&] { return ++parts == 2; }};
  CHECK_THROWS_AS(read_tokens(folder / "text", TokenFileFormat::text, 100, reading), ReadingStopped);
  CHECK(parts == 2);
  const TokenSource source = read_tokens(folder / "text", TokenFileFormat::text, 100);
  CHECK_THROWS_AS(unigram_entropy(source, [] { return true; }), ReadingStopped);
}

}  // namespace
}  // namespace plumbline
