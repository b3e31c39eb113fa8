#include "planner/validate/stated_network.h"

#include <array>
#include <ratio>
#include <regex>
#include <string>

namespace plumbline {
namespace {

constexpr std::size_t longest_text = 200;  // std::regex is no place for more
constexpr double bits_of_a_byte = 8;
constexpr double bits_of_a_gigabit = std::giga::num;
constexpr double gigabits_of_a_terabit = std::kilo::num;
constexpr std::int32_t most_cards = 1024;
constexpr double fastest_card_gbits = 1e6;

struct Generation {
  std::string_view name;
  double gbits;
};
/// Longer names first: "slingshot-11" before "slingshot".
constexpr std::array generations{Generation{"slingshot-10", 100}, Generation{"slingshot-11", 200},
                                 Generation{"slingshot 11", 200}, Generation{"edr", 100},
                                 Generation{"hdr", 200},          Generation{"ndr", 400},
                                 Generation{"xdr", 800}};

/// Replaces every multiplication sign by an x.
std::string with_plain_x(std::string_view text) {
  constexpr std::string_view times = "\xC3\x97";  // U+00D7 in UTF-8
  std::string result(text);
  for (std::size_t at = result.find(times); at != std::string::npos; at = result.find(times))
    result.replace(at, times.size(), "x");
  return result;
}

std::string lower(std::string_view text) {
  std::string result(text);
  for (char& c : result)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return result;
}

/// "8x ", "8 x", "8*" right before `at`.
std::int32_t count_before(const std::string& text, std::size_t at) {
  static const std::regex count(R"((\d{1,4})\s*(x|\*)\s*$)");
  std::smatch match;
  const std::string before = text.substr(0, at);
  if (!std::regex_search(before, match, count)) return 0;
  const int cards = std::stoi(match[1]);
  return cards <= most_cards ? cards : 0;
}

struct Rate {
  double gbits = 0;
  std::size_t at = 0;
  bool of_card = false;
};

/// "HDR", "NDR400": with digits these are the rate.
std::optional<Rate> generation_rate(const std::string& text) {
  for (const Generation& generation : generations) {
    const std::regex name("(^|[^a-z])" + std::string(generation.name) + R"((\d{2,4})?($|[^a-z0-9]))");
    std::smatch match;
    if (!std::regex_search(text, match, name)) continue;
    const auto at = static_cast<std::size_t>(match.position(0) + match.length(1));
    return Rate{match[2].matched ? std::stod(match[2]) : generation.gbits, at, true};
  }
  static const std::regex omni_path(R"(omni-?\s?path\s(\d{2,4})($|[^0-9]))");
  std::smatch match;
  if (std::regex_search(text, match, omni_path))
    return Rate{std::stod(match[1]), static_cast<std::size_t>(match.position(0)), true};
  return std::nullopt;
}

/// A number with a unit. Case tells bits from bytes, so this reads the text as it was written.
std::optional<Rate> plain_rate(const std::string& text) {
  static const std::regex rate(
      R"((\d{1,6}(?:\.\d{1,3})?)\s*-?(GB/s|GBps|GByte/s|GiB/s|(?:[Gg]|[Tt])(?:b/s|bps|bit/s|bits/s|bit|bE|b|BE|/s)?(?![A-Za-z/])))");
  std::smatch match;
  if (!std::regex_search(text, match, rate)) return std::nullopt;
  const std::string unit = match[2];
  double gbits = std::stod(match[1]);
  if (unit.starts_with("GB") && unit != "GBE") gbits *= bits_of_a_byte;
  if (unit.starts_with("GiB")) gbits *= bits_of_a_byte * (1U << 30U) / bits_of_a_gigabit;
  if (unit.front() == 'T' || unit.front() == 't') gbits *= gigabits_of_a_terabit;
  return Rate{gbits, static_cast<std::size_t>(match.position(0)), false};
}

}  // namespace

std::optional<StatedNetwork> stated_network(std::string_view text) {
  if (text.empty() || text.size() > longest_text) return std::nullopt;
  const std::string written = with_plain_x(text);
  const std::string words = lower(written);
  std::optional<Rate> rate = plain_rate(written);
  if (!rate) rate = generation_rate(words);
  if (!rate || rate->gbits <= 0 || rate->gbits > fastest_card_gbits) return std::nullopt;
  static const std::regex of_device(R"(per[\s-](gpu|device|accelerator))");
  static const std::regex of_card(R"(per[\s-](nic|port|card|hca|adapter|rail|link))");
  StatedNetwork stated;
  stated.rate = BytesPerSecond(rate->gbits * bits_of_a_gigabit / bits_of_a_byte);
  stated.cards = count_before(words, rate->at);
  if (stated.cards > 0) return stated;
  if (std::regex_search(words, of_device)) {
    stated.of = RateOf::device;
  } else if (!rate->of_card && !std::regex_search(words, of_card)) {
    stated.of = RateOf::node;
  }
  return stated;
}

Node with_stated_network(Node node, const StatedNetwork& stated, std::string_view text) {
  if (!node.network) return node;
  NetworkInterfaces& cards = *node.network;
  if (stated.cards > 0) cards.count = stated.cards;
  if (stated.of == RateOf::device) cards.count = node.devices;
  const double parts = stated.of == RateOf::node ? static_cast<double>(cards.count) : 1;
  cards.bandwidth = Sourced<BytesPerSecond>{BytesPerSecond(stated.rate.value() / parts)};
  cards.bandwidth.source = "the run states: " + std::string(text);
  cards.bandwidth.kind = SourceKind::published;
  return node;
}

}  // namespace plumbline
