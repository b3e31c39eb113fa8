#pragma once
/// \file catch.h: Catch2, version 2 (Debian 12) or 3 (later), and what nearly every test includes; precompiled.

#if __has_include(<catch2/catch_all.hpp>)
#include <catch2/catch_all.hpp>
using Catch::Approx;  // version 2 puts it into the global namespace
#else
#include <catch2/catch.hpp>
namespace Catch::Matchers {
/// What version 3 calls the matcher; its own `Contains` is about elements of ranges.
inline auto ContainsSubstring(const std::string& text) { return Contains(text); }
}  // namespace Catch::Matchers
#endif

#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>
