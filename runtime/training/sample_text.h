#pragma once
/// \file sample_text.h: a short text inside of the binary, so that training runs at once.
///
/// A book in the public domain (title and licence in sample/genesis.json); plain ASCII, about 200 kB: a minute of
/// training on two cores reads a part of it once, so that what a network writes is learnt and not remembered.
/// Checked against: tests/runtime/training/data_feed_test.cpp.

#include <string>

namespace plumbline {

[[nodiscard]] std::string sample_text();

}  // namespace plumbline
