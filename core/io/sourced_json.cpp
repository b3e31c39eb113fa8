#include "core/io/sourced_json.h"

#include <array>
#include <charconv>
#include <span>

#include "core/base/ascii.h"
#include "core/base/errors.h"
#include "core/io/json_choice.h"
#include "core/quantity/text.h"
#include "core/training/limits.h"

namespace plumbline {
namespace {

// Beyond any machine, so that a slipped unit is caught and no later sum overflows.
constexpr Bytes most_bytes(std::int64_t{1} << 60);
constexpr BytesPerSecond most_bandwidth(1e16);
constexpr BytesPerSecond least_bandwidth(1e3);
constexpr FlopsPerSecond most_flop_rate(1e19);
constexpr FlopsPerSecond least_flop_rate(1e6);
constexpr Watts most_power(1e6);
constexpr Seconds most_latency(10);

/// Of a number that a file states bare: "80 GiB".
constexpr std::string_view no_source = "stated without a source";

constexpr std::size_t longest_text = 14;  // what people would write

struct Unit {
  std::string_view name;
  double scale;
};
constexpr std::array byte_units{Unit{" GiB", 1073741824.}, Unit{" MiB", 1048576.}, Unit{" TB", 1e12},
                                Unit{" GB", 1e9},          Unit{" KiB", 1024.},    Unit{" B", 1}};
constexpr std::array bandwidth_units{Unit{" GB/s", 1e9}, Unit{" B/s", 1}};
constexpr std::array flop_rate_units{Unit{" TFLOP/s", 1e12}, Unit{" FLOP/s", 1}};
constexpr std::array power_units{Unit{" W", 1}};
constexpr std::array duration_units{Unit{" us", 1e-6}, Unit{" s", 1}};

std::string read_date(const JsonPlace& place) {
  const std::string& date = place.string();
  bool right = date.size() == 4 || date.size() == 7 || date.size() == 10;
  for (std::size_t i = 0; right && i < date.size(); ++i)
    right = (i == 4 || i == 7) ? date[i] == '-' : is_digit(date[i]);
  if (!right)
    throw InputError({place.where(), "\"" + date.substr(0, 40) + "\" is no date", "2024, 2024-05 or 2024-05-31", ""});
  return date;
}

template <class T, class Parse>
Sourced<T> read_sourced(const JsonPlace& place, Parse parse) {
  if (place.value().if_object() == nullptr) return {parse(place), std::string(no_source), SourceKind::assumed, ""};
  JsonObject object(place);
  Sourced<T> number;
  const JsonPlace value = object.at("value");
  number.value = parse(value);
  const JsonPlace source = object.at("source");
  number.source = source.string();
  if (number.source.empty()) throw InputError({source.where(), "an empty source", "a document, table or person", ""});
  number.kind = choice_from_json(object.at("kind"), all_source_kinds);
  if (const auto date = object.find("date")) number.date = read_date(*date);
  object.finish();
  return number;
}

template <class T>
T require_within(T value, T least, T most, const JsonPlace& place, const std::string& expected) {
  if (value >= least && value <= most) return value;
  throw InputError({place.where(), "\"" + place.string().substr(0, 40) + "\" is beyond any machine", expected, ""});
}

/// The value in the first unit whose short text reads back exactly; the last unit has scale 1 and always does.
template <class Parse>
std::string exact_text(double value, std::span<const Unit> units, Parse parse) {
  std::string text;
  for (const Unit& unit : units) {
    if (value < unit.scale && unit.scale > 1) continue;
    std::array<char, 32> buffer{};
    const auto [end, error] = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value / unit.scale);
    check(error == std::errc{}, "32 characters hold every shortest double");
    text = std::string(buffer.data(), end).append(unit.name);
    if (text.size() <= longest_text && parse(text) == value) return text;
  }
  return text;
}

Json with_source(Json value, const std::string& source, SourceKind kind, const std::string& date) {
  Json::Object object{{"value", std::move(value)}, {"source", source}, {"kind", to_text(kind)}};
  if (!date.empty()) object.emplace_back("date", date);
  return Json(std::move(object));
}

template <class T, class Parse>
Json written(const Sourced<T>& number, std::span<const Unit> units, Parse parse) {
  const auto value_of = [&](const std::string& text) { return static_cast<double>(parse(text, "").value()); };
  return with_source(exact_text(static_cast<double>(number.value.value()), units, value_of), number.source, number.kind,
                     number.date);
}

}  // namespace

Sourced<Bytes> read_sourced_bytes(const JsonPlace& place) {
  return read_sourced<Bytes>(place, [](const JsonPlace& value) {
    return require_within(parse_bytes(value.string(), value.where()), Bytes(1), most_bytes, value,
                          "more than 0 B, at most 1024 PiB");
  });
}

Sourced<BytesPerSecond> read_sourced_bandwidth(const JsonPlace& place) {
  return read_sourced<BytesPerSecond>(place, [](const JsonPlace& value) {
    return require_within(parse_bandwidth(value.string(), value.where()), least_bandwidth, most_bandwidth, value,
                          "from 1 KB/s to 10000 TB/s");
  });
}

Sourced<FlopsPerSecond> read_sourced_flop_rate(const JsonPlace& place) {
  return read_sourced<FlopsPerSecond>(place, [](const JsonPlace& value) {
    return require_within(parse_flop_rate(value.string(), value.where()), least_flop_rate, most_flop_rate, value,
                          "from 1 MFLOP/s to 10000 PFLOP/s");
  });
}

Sourced<Watts> read_sourced_power(const JsonPlace& place) {
  return read_sourced<Watts>(place, [](const JsonPlace& value) {
    return require_within(parse_power(value.string(), value.where()), Watts(1e-3), most_power, value,
                          "more than 0 W, at most 1 MW");
  });
}

Sourced<Seconds> read_sourced_duration(const JsonPlace& place) {
  return read_sourced<Seconds>(place, [](const JsonPlace& value) {
    return require_within(parse_duration(value.string(), value.where()), Seconds(0), most_latency, value,
                          "from 0 s to 10 s");
  });
}

Sourced<Dollars> read_sourced_dollars(const JsonPlace& place) {
  return read_sourced<Dollars>(place, [](const JsonPlace& value) { return Dollars(value.number(0, most_dollars)); });
}

Sourced<double> read_sourced_number(const JsonPlace& place, double smallest, double largest) {
  return read_sourced<double>(place, [&](const JsonPlace& value) { return value.number(smallest, largest); });
}

Json to_json(const Sourced<Bytes>& number) { return written(number, byte_units, parse_bytes); }
Json to_json(const Sourced<BytesPerSecond>& number) { return written(number, bandwidth_units, parse_bandwidth); }
Json to_json(const Sourced<FlopsPerSecond>& number) { return written(number, flop_rate_units, parse_flop_rate); }
Json to_json(const Sourced<Watts>& number) { return written(number, power_units, parse_power); }
Json to_json(const Sourced<Seconds>& number) { return written(number, duration_units, parse_duration); }
Json to_json(const Sourced<Dollars>& number) {
  return with_source(number.value.value(), number.source, number.kind, number.date);
}
Json to_json(const Sourced<double>& number) {
  return with_source(number.value, number.source, number.kind, number.date);
}

}  // namespace plumbline
