#pragma once
/// \file number_text.h: a number as somebody writes it in a flag: as in JSON.

#include <string>
#include <string_view>

namespace plumbline {

/// Throws InputError that names `where` for what is no number or out of range.
[[nodiscard]] double number_from_text(std::string_view where, const std::string& text, double smallest, double largest);

}  // namespace plumbline
