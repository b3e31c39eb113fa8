#include "core/io/timed_collectives.h"

#include <array>
#include <charconv>
#include <cmath>
#include <set>
#include <utility>

#include "core/base/errors.h"
#include "core/io/json_choice.h"

namespace plumbline {
namespace {

constexpr std::string_view collectives_format = "plumbline.collectives/1";
// Beyond any machine; they refuse a wrong unit, and no answer depends on them. Times as in kernel_table_json.cpp.
constexpr std::int64_t most_collective_bytes = 1'000'000'000'000'000;
constexpr std::int64_t most_ranks = 1'000'000;
constexpr double least_seconds = 1e-12;
constexpr double most_collective_seconds = 1e6;
constexpr double most_gbps = 1e6;
constexpr std::size_t longest_quoted = 40;

std::vector<std::string_view> words_of(std::string_view line) {
  constexpr std::string_view blanks = " \t\r";
  std::vector<std::string_view> words;
  for (std::size_t at = line.find_first_not_of(blanks); at != std::string_view::npos;
       at = line.find_first_not_of(blanks, at)) {
    const std::size_t end = std::min(line.find_first_of(blanks, at), line.size());
    words.push_back(line.substr(at, end - at));
    at = end;
  }
  return words;
}

template <class T>
std::optional<T> number_of(std::string_view word) {
  T value{};
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (error != std::errc() || end != word.data() + word.size()) return std::nullopt;
  return value;
}

/// Follows the output of nccl-tests line by line.
class NcclTestsReader {
 public:
  NcclTestsReader(std::string_view source, std::optional<Collective> kind) : source_(source), asked_(kind) {}

  std::vector<TimedCollective> read(std::string_view text) {
    while (!text.empty()) {
      const std::size_t end = std::min(text.find('\n'), text.size());
      ++line_;
      take(words_of(text.substr(0, end)));
      text.remove_prefix(std::min(end + 1, text.size()));
    }
    require_kind();
    if (timings_.empty())
      throw InputError({std::string(source_), "holds no timing", "the output of a program of nccl-tests, or JSON", ""});
    return std::move(timings_);
  }

 private:
  void take(const std::vector<std::string_view>& words) {
    if (words.empty()) return;
    if (words[0] == "#") return take_comment(words);
    const auto size = number_of<std::int64_t>(words[0]);
    if (size && ranks_ > 0) take_timing(words, *size);
  }

  void take_comment(const std::vector<std::string_view>& words) {
    const auto starts = [&](std::size_t at, std::string_view word) { return words.size() > at && words[at] == word; };
    if (starts(1, "Collective") && starts(2, "test") && starts(3, "starting:")) {
      begin();
      kind_ = kind_of(words.size() > 4 ? words[4] : "");
    } else if (starts(1, "nThread")) {
      if (ranks_ > 0) begin();
    } else if (starts(1, "Rank")) {
      take_rank(words);
    } else if (starts(1, "size")) {
      has_root_ = false;
      for (const std::string_view word : words) has_root_ = has_root_ || word == "root";
    }
  }

  /// Another test begins.
  void begin() {
    require_kind();
    ranks_ = 0;
    hosts_.clear();
    kind_.reset();
  }

  Collective kind_of(std::string_view program) const {
    std::vector<std::string> names;
    for (const Collective kind : all_collectives) {
      const std::string_view name = record_of(kind).timed_by;
      if (name != program) {
        names.emplace_back(name);
        continue;
      }
      if (asked_ && *asked_ != kind)
        fail("is of " + std::string(program), "the output of a test of " + std::string(to_text(*asked_)), "");
      return kind;
    }
    fail("is of \"" + std::string(program.substr(0, longest_quoted)) + "\"", "a collective that plans use",
         nearest_text(program.substr(0, longest_quoted), names));
  }

  /// "# Rank 0 [Group 0] Pid 65234 on gpu49 device 0 [0x0a] NVIDIA H200"
  void take_rank(const std::vector<std::string_view>& words) {
    for (std::size_t i = 2; i + 1 < words.size(); ++i) {
      if (words[i] == "Group" && words[i + 1] != "0") fail("is of several groups of ranks", "one group", "");
      if (words[i] != "on") continue;
      if (++ranks_ > most_ranks) fail("names more than a million ranks", "fewer", "");
      hosts_.emplace(words[i + 1]);
      return;
    }
    fail("a rank without \"on HOST\"", "a line as nccl-tests prints it", "");
  }

  /// size count type redop [root] time algbw busbw #wrong ...
  void take_timing(const std::vector<std::string_view>& words, std::int64_t size) {
    const std::size_t place = has_root_ ? 5 : 4;
    const auto microseconds = words.size() > place ? number_of<double>(words[place]) : std::nullopt;
    if (!microseconds || !std::isfinite(*microseconds))
      fail("a line of numbers without a time in column " + std::to_string(place + 1), "a line as nccl-tests prints it",
           "");
    if (size == 0) return;
    if (ranks_ < 2) fail("is of one rank, which sends nothing", "a test of two ranks or more", "");
    const double seconds = *microseconds * 1e-6;
    if (size < 0 || size > most_collective_bytes || seconds < least_seconds || seconds > most_collective_seconds)
      fail("a size or a time beyond any machine", "bytes and microseconds", "");
    if (ranks_ % std::ssize(hosts_) != 0)
      fail(std::to_string(ranks_) + " ranks on " + std::to_string(hosts_.size()) + " hosts",
           "as many ranks on each host", "");
    if (!kind_ && !asked_) settle(words, place);
    timings_.push_back({kind_.value_or(asked_.value_or(Collective::all_reduce)), Bytes(size),
                        static_cast<std::int32_t>(ranks_), static_cast<std::int32_t>(hosts_.size()), Seconds(seconds)});
  }

  /// Older releases print no name. A sum (column redop) to all ranks (root -1) whose bus bandwidth is 2 (n - 1) / n of
  /// its algorithm bandwidth is an all-reduce, (n - 1) / n a reduce-scatter (nccl-tests, doc/PERFORMANCE.md). Of two
  /// ranks an all-reduce has the factor 1 of a reduce, which has a root. What sums nothing cannot be told apart.
  [[nodiscard]] std::optional<Collective> implied(const std::vector<std::string_view>& words, std::size_t time) const {
    constexpr std::size_t redop = 3;
    constexpr double least_bandwidth = 1;  // GB/s: printed with two decimals, within 0.5 %
    constexpr double rounding = 0.02;      // of the quotient of two such
    if (words.size() < time + 3 || words[redop] != "sum") return std::nullopt;
    if (has_root_ ? words[redop + 1] != "-1" : ranks_ == 2) return std::nullopt;
    const auto algorithm = number_of<double>(words[time + 1]);
    const auto bus = number_of<double>(words[time + 2]);
    if (!algorithm || !bus || !(*algorithm >= least_bandwidth)) return std::nullopt;
    const double part = static_cast<double>(ranks_ - 1) / static_cast<double>(ranks_);
    const auto is_near = [&](double factor) { return std::abs(*bus / *algorithm / factor - 1) < rounding; };
    if (is_near(2 * part)) return Collective::all_reduce;
    return is_near(part) ? std::optional(Collective::reduce_scatter) : std::nullopt;
  }

  /// Of small messages both bandwidths are too small to tell: they are what a larger one of their test is.
  void settle(const std::vector<std::string_view>& words, std::size_t time) {
    kind_ = implied(words, time);
    if (!kind_) {
      if (undecided_++ == 0) first_undecided_ = line_;
      return;
    }
    for (; undecided_ > 0; --undecided_) timings_[timings_.size() - undecided_].kind = *kind_;
  }

  void require_kind() {
    if (undecided_ == 0) return;
    line_ = first_undecided_;
    fail("does not say which collective was tested",
         "the collective before the file: all-reduce=" + std::string(source_), "");
  }

  [[noreturn]] void fail(std::string what, std::string expected, std::string nearest) const {
    throw InputError(
        {std::string(source_) + ":" + std::to_string(line_), std::move(what), std::move(expected), std::move(nearest)});
  }

  std::string_view source_;
  std::optional<Collective> asked_;
  std::optional<Collective> kind_;
  std::int64_t ranks_ = 0;
  std::set<std::string, std::less<>> hosts_;
  bool has_root_ = true;
  std::int64_t line_ = 0;
  std::size_t undecided_ = 0;  ///< of the last timings, whose test has not said its collective
  std::int64_t first_undecided_ = 0;
  std::vector<TimedCollective> timings_;
};

TimedCollective timing_at(const JsonPlace& place, std::optional<Collective> kind) {
  JsonObject object(place);
  TimedCollective timing;
  timing.kind = choice_from_json(object.at("collective"), all_collectives);
  if (kind && timing.kind != *kind)
    throw InputError({object.where() + "/collective", "is " + std::string(to_text(timing.kind)),
                      std::string(to_text(*kind)) + ", as the file was said to be", ""});
  timing.ranks = static_cast<std::int32_t>(object.at("ranks").integer(2, most_ranks));
  if (const auto nodes = object.find("nodes"))
    timing.nodes = static_cast<std::int32_t>(nodes->integer(1, timing.ranks));
  if (timing.ranks % timing.nodes != 0)
    throw InputError({object.where() + "/nodes", "do not share " + std::to_string(timing.ranks) + " ranks evenly",
                      "as many ranks on each node", ""});
  timing.bytes = Bytes(object.at("bytes").integer(1, most_collective_bytes));
  const auto time = object.find("time_s");
  const auto rate = object.find("bus_bandwidth_gbps");
  if (time.has_value() == rate.has_value())
    throw InputError({object.where(), time ? "both a time and a bandwidth" : "neither a time nor a bandwidth",
                      "time_s or bus_bandwidth_gbps", ""});
  timing.time =
      time ? Seconds(time->number(least_seconds, most_collective_seconds))
           : wire_bytes(timing.kind, timing.bytes, timing.ranks) / BytesPerSecond(rate->number(1e-9, most_gbps) * 1e9);
  object.finish();
  return timing;
}

std::vector<TimedCollective> from_json(const JsonPlace& root, std::optional<Collective> kind) {
  JsonObject object = open_document(root, collectives_format);
  std::vector<TimedCollective> timings;
  const JsonPlace list = object.at("timings");
  for (const JsonPlace& place : list.elements()) timings.push_back(timing_at(place, kind));
  object.finish();
  if (timings.empty()) throw InputError({list.where(), "holds no timing", "at least one", ""});
  return timings;
}

}  // namespace

std::vector<TimedCollective> read_timed_collectives(std::string_view text, std::string_view source,
                                                    std::optional<Collective> kind) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos || text[first] != '{') return NcclTestsReader(source, kind).read(text);
  const Json json = parse_json(text, source);
  return from_json(JsonPlace(json, std::string(source) + ":"), kind);
}

}  // namespace plumbline
