#include "planner/present/numbers.h"

#include <algorithm>
#include <cmath>

#include "core/quantity/text.h"

namespace plumbline::present {

std::string_view unit_text(Unit unit) {
  switch (unit) {
    case Unit::text: return "text";
    case Unit::number: return "number";
    case Unit::bytes: return "B";
    case Unit::mebibytes: return "MiB";
    case Unit::gibibytes: return "GiB";
    case Unit::milliseconds: return "ms";
    case Unit::seconds: return "s";
    case Unit::per_cent: return "%";
    case Unit::tokens_per_second: return "tokens/s";
    case Unit::samples_per_second: return "samples/s";
    case Unit::flops_per_second: return "FLOP/s";
    case Unit::bytes_per_second: return "B/s";
    case Unit::dollars_per_hour: return "$/h";
  }
  return "";
}

std::string words_of(std::string_view name) {
  std::string words(name);
  std::replace(words.begin(), words.end(), '_', ' ');
  return words;
}

std::string gib_text(Bytes amount, int digits) {
  return fixed(static_cast<double>(amount.value()) / bytes_per_gib, digits);
}

std::string per_cent_text(double fraction, int digits) { return fixed(100 * fraction, digits) + " %"; }

std::string interval_text(const Interval& seconds) {
  const int digits = seconds.expected >= 10 ? 2 : 3;
  return fixed(seconds.expected, digits) + " s (" + fixed(seconds.low, digits) + " to " + fixed(seconds.high, digits) +
         ")";
}

std::string difference_text(double now, double before) {
  const double difference = before == 0 ? 0 : now / before - 1;
  return (difference < 0 ? "" : "+") + per_cent_text(difference);
}

std::string dollars_text(double dollars) { return "$" + grouped(std::llround(dollars)); }

Cell words(std::string_view text) { return {std::string(text)}; }
Cell whole(std::int64_t count) { return {std::to_string(count), static_cast<double>(count)}; }
Cell grouped_cell(std::int64_t count) { return {grouped(count), static_cast<double>(count)}; }
Cell decimal(double value, int digits) { return {fixed(value, digits), value}; }
Cell gib_cell(Bytes amount, int digits) {
  return {gib_text(amount, digits), static_cast<double>(amount.value()) / bytes_per_gib};
}
Cell per_cent_cell(double fraction, int digits) { return {per_cent_text(fraction, digits), 100 * fraction}; }
Cell difference_cell(double now, double before) {
  return {difference_text(now, before), before == 0 ? 0 : 100 * (now / before - 1)};
}

}  // namespace plumbline::present
