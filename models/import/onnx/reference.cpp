#include "models/import/onnx/reference.h"

#include <charconv>

#include "core/base/errors.h"

namespace plumbline::onnx {
namespace {

constexpr std::string_view suffix = ".onnx";
constexpr std::int64_t largest_dimension = 1'000'000'000;

/// Where the dimensions begin; npos: there are none.
std::size_t dimensions_at(std::string_view text) {
  const std::size_t found = text.rfind(".onnx@");
  return found == std::string_view::npos ? found : found + suffix.size();
}

void add_dimension(std::string_view part, std::string_view where, Reference& reference) {
  const std::size_t equals = part.rfind('=');
  std::int64_t size = 0;
  bool is_right = equals != std::string_view::npos && equals > 0;
  if (is_right) {
    const std::string_view digits = part.substr(equals + 1);
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), size);
    is_right = error == std::errc() && end == digits.data() + digits.size() && size >= 1 && size <= largest_dimension;
  }
  const std::string shown(part.substr(0, 60));
  if (!is_right)
    throw InputError({std::string(where), "\"" + shown + "\" binds no dimension", "NAME=N, N from 1 to 10^9", ""});
  if (!reference.dimensions.emplace(part.substr(0, equals), size).second)
    throw InputError({std::string(where), std::string(part.substr(0, equals)) + " is bound twice", "once", ""});
}

}  // namespace

bool is_reference(std::string_view text) {
  return text.ends_with(suffix) || dimensions_at(text) != std::string_view::npos;
}

Reference reference_of(std::string_view text) {
  const std::size_t at = dimensions_at(text);
  Reference reference{std::string(text.substr(0, at)), {}};
  if (at == std::string_view::npos) return reference;
  std::string_view rest = text.substr(at + 1);
  for (;;) {
    const std::size_t comma = rest.find(',');
    add_dimension(rest.substr(0, comma), text.substr(0, 100), reference);
    if (comma == std::string_view::npos) return reference;
    rest = rest.substr(comma + 1);
  }
}

std::string with_dimensions(std::string_view text, const std::vector<std::string>& dimensions, std::string_view where) {
  if (dimensions.empty()) return std::string(text);
  if (!is_reference(text))
    throw InputError({std::string(where), std::string(text.substr(0, 100)) + " has no symbolic dimensions",
                      "a model that is an ONNX file", ""});
  Reference all = reference_of(text);
  for (const std::string& one : dimensions) add_dimension(one, where, all);
  std::string result = all.path;
  for (const auto& [name, size] : all.dimensions)
    result += (result.size() == all.path.size() ? "@" : ",") + name + "=" + std::to_string(size);
  return result;
}

}  // namespace plumbline::onnx
