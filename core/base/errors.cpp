#include "core/base/errors.h"

#include <algorithm>
#include <cctype>
#include <numeric>

#include "core/base/escape.h"

namespace plumbline {
namespace {

std::string lower_case(std::string_view text) {
  std::string result(text);
  std::transform(result.begin(), result.end(), result.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return result;
}

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t substitution = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, substitution});
    }
  }
  return row[b.size()];
}

/// A part of a message: a list that is longer says no more.
std::string shown(const std::string& part) {
  constexpr std::size_t longest = 400;
  return part.size() <= longest ? part : part.substr(0, longest) + "...";
}

}  // namespace

std::string to_text(const InputProblem& problem) {
  std::string text = shown(problem.what);
  // The place of a whole file, "plan.json:", ends with the colon that separates it from a place inside.
  if (!problem.where.empty()) text = problem.where + (problem.where.back() == ':' ? " " : ": ") + text;
  if (!problem.expected.empty()) text += "; expected " + shown(problem.expected);
  if (!problem.nearest.empty()) text += "; nearest: " + shown(problem.nearest);
  // Names from foreign files may hold line breaks or terminal codes; a message is one printable line.
  return printable(text);
}

InputError::InputError(InputProblem problem) : std::runtime_error(to_text(problem)), problem_(std::move(problem)) {}

std::vector<std::string> nearest_names(std::string_view name, const std::vector<std::string>& candidates,
                                       std::size_t most) {
  // Names longer than this are not typing errors of ours; the quadratic distance would only cost time.
  constexpr std::size_t longest_sensible_name = 128;
  const std::string wanted = lower_case(name.substr(0, longest_sensible_name));
  struct Scored {
    std::size_t distance;
    std::size_t order;
  };
  std::vector<Scored> scored;
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    const std::string candidate = lower_case(candidates[i]);
    std::size_t distance = edit_distance(wanted, candidate);
    if (!wanted.empty() && candidate.find(wanted) != std::string::npos) distance = std::min(distance, std::size_t{1});
    if (distance <= std::max<std::size_t>(2, wanted.size() / 3)) scored.push_back({distance, i});
  }
  std::stable_sort(scored.begin(), scored.end(),
                   [](const Scored& a, const Scored& b) { return a.distance < b.distance; });
  std::vector<std::string> result;
  for (const Scored& s : scored) {
    if (result.size() == most) break;
    result.push_back(candidates[s.order]);
  }
  return result;
}

std::string nearest_text(std::string_view name, const std::vector<std::string>& candidates) {
  std::string text;
  for (const std::string& candidate : nearest_names(name, candidates)) text += (text.empty() ? "" : ", ") + candidate;
  return text;
}

}  // namespace plumbline
