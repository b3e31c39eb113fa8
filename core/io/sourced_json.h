#pragma once
/// \file sourced_json.h: one number with its source, in and out of JSON; used by the readers of machine files.
///
/// {"value", "source", "kind", "date"}, or the value alone, which is then assumed: people write machines by hand.

#include <string>
#include <string_view>

#include "core/io/json.h"
#include "core/machine/sourced.h"
#include "core/quantity/quantity.h"

namespace plumbline {

// Each throws InputError for a value outside what any machine has: zero, or beyond the limits in sourced_json.cpp.
[[nodiscard]] Sourced<Bytes> read_sourced_bytes(const JsonPlace& place);
[[nodiscard]] Sourced<BytesPerSecond> read_sourced_bandwidth(const JsonPlace& place);
[[nodiscard]] Sourced<FlopsPerSecond> read_sourced_flop_rate(const JsonPlace& place);
[[nodiscard]] Sourced<Watts> read_sourced_power(const JsonPlace& place);
/// May be zero.
[[nodiscard]] Sourced<Seconds> read_sourced_duration(const JsonPlace& place);
/// A plain number of dollars; may be zero.
[[nodiscard]] Sourced<Dollars> read_sourced_dollars(const JsonPlace& place);
/// A plain number from `smallest` to `largest`.
[[nodiscard]] Sourced<double> read_sourced_number(const JsonPlace& place, double smallest, double largest);

// Written with a unit whose short text reads back to the same value: GiB or MiB first, bytes at last.
[[nodiscard]] Json to_json(const Sourced<Bytes>& number);
[[nodiscard]] Json to_json(const Sourced<BytesPerSecond>& number);
[[nodiscard]] Json to_json(const Sourced<FlopsPerSecond>& number);
[[nodiscard]] Json to_json(const Sourced<Watts>& number);
[[nodiscard]] Json to_json(const Sourced<Seconds>& number);
[[nodiscard]] Json to_json(const Sourced<Dollars>& number);
[[nodiscard]] Json to_json(const Sourced<double>& number);

}  // namespace plumbline
