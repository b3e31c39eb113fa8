#pragma once
/// \file text.h: quantities as people write them: "80 GiB", "450 GB/s", "989 TFLOP/s", "15T", "30s", "2.5 us".
///
/// GB is 10^9 bytes, GiB 2^30. Bits per second ("400 Gb/s") are accepted for rates and become bytes per second.
/// A number without its unit is an InputError, because a unit that is guessed is a unit that is wrong.

#include <cstdint>
#include <string>
#include <string_view>

#include "core/quantity/quantity.h"

namespace plumbline {

/// Each throws InputError (where as given) for a missing or foreign unit, a negative or non-finite number, or overflow.
[[nodiscard]] Bytes parse_bytes(std::string_view text, std::string_view where);
[[nodiscard]] BytesPerSecond parse_bandwidth(std::string_view text, std::string_view where);
[[nodiscard]] FlopsPerSecond parse_flop_rate(std::string_view text, std::string_view where);
[[nodiscard]] Seconds parse_duration(std::string_view text, std::string_view where);
[[nodiscard]] Watts parse_power(std::string_view text, std::string_view where);
/// A whole count with an optional decimal suffix: "4096", "500B", "15T", "1.5M" (K, M, B or G, T). Always positive.
[[nodiscard]] std::int64_t parse_count(std::string_view text, std::string_view where);

/// Three significant digits with the unit that fits: "79.4 GiB", "450 GB/s", "12.3 ms".
[[nodiscard]] std::string to_text(Bytes amount);
[[nodiscard]] std::string to_text(BytesPerSecond rate);
[[nodiscard]] std::string to_text(FlopsPerSecond rate);
[[nodiscard]] std::string to_text(Seconds time);
[[nodiscard]] std::string to_text(Flops work);
/// "1 234 567" with thin grouping; "70.6 B" with `count_text`.
[[nodiscard]] std::string grouped(std::int64_t count);
[[nodiscard]] std::string count_text(std::int64_t count);
/// `digits` after the point, no locale, no exponent.
[[nodiscard]] std::string fixed(double value, int digits);

}  // namespace plumbline
