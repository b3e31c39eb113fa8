#pragma once
/// \file sample_text.h: a short text inside of the binary, so that training runs at once.
///
/// Passages in the public domain (title and licence in sample/passages.json); plain ASCII, about 12 kB: enough to see a
/// loss fall, not to learn a language. Not modelled: anything else.
/// Checked against: tests/runtime/training/data_feed_test.cpp.

#include <string>

namespace plumbline {

[[nodiscard]] std::string sample_text();

}  // namespace plumbline
