#pragma once
/// \file fuzz.h: what every fuzz target asks of a reader: one line that refuses, or a value that holds what it
/// promises. Checked against: libFuzzer itself (`make fuzz`).

#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "core/base/errors.h"

namespace plumbline {

inline void require(bool holds) {
  if (!holds) std::abort();
}

/// No message grows with its input beyond this.
inline constexpr std::size_t longest_message = 10'000;

inline std::string_view text_of(const std::uint8_t* data, std::size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

/// `read` accepts, or throws an InputError of one line.
template <class Read>
void require_accepted_or_refused(Read read, std::size_t longest = longest_message) {
  try {
    read();
  } catch (const InputError& error) {
    const std::string_view message = error.what();
    require(message.find('\n') == std::string_view::npos && message.size() < longest);
  }
}

/// `rewritten` reads a text and writes what it read: what it wrote once is written the same again.
template <class Rewrite>
void require_round_trip(std::string_view text, Rewrite rewritten, std::size_t longest = longest_message) {
  require_accepted_or_refused(
      [&] {
        const std::string once = rewritten(text);
        require(rewritten(once) == once);
      },
      longest);
}

}  // namespace plumbline
