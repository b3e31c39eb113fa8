#include "planner/session/export/own_settings.h"

#include <algorithm>
#include <vector>

#include "core/base/errors.h"
#include "planner/session/export/export.h"
#include "planner/session/launchable.h"

namespace plumbline::session {
namespace {

constexpr std::string_view blanks = " \t,";

std::string trimmed(std::string_view line) {
  const std::size_t first = line.find_first_not_of(blanks);
  if (first == std::string_view::npos) return "";
  return std::string(line.substr(first, line.find_last_not_of(blanks) - first + 1));
}

std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    if (std::string line = trimmed(text.substr(0, end)); !line.empty()) lines.push_back(std::move(line));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

/// Up to its value: "--tensor-model-parallel-size", "\"stage\":".
std::string key_of(const std::string& line) { return line.substr(0, line.find(' ')); }

bool has(const std::vector<std::string>& lines, const std::string& line) {
  return std::find(lines.begin(), lines.end(), line) != lines.end();
}

bool has_key(const std::vector<std::string>& lines, const std::string& line) {
  return std::any_of(lines.begin(), lines.end(), [&](const std::string& one) { return key_of(one) == key_of(line); });
}

void add(std::string& text, const std::string& words) { text += (text.empty() ? "" : ", ") + words; }

std::string difference(const std::vector<std::string>& before, const std::vector<std::string>& after) {
  std::string text;
  for (const std::string& line : after)
    if (!has(before, line)) add(text, line);
  for (const std::string& line : before)
    if (!has_key(after, line)) add(text, "without " + key_of(line));
  return text;
}

const LaunchTarget* target_of(Framework framework) {
  for (const LaunchTarget& target : launch_targets())
    if (target.framework == framework) return &target;
  return nullptr;
}

}  // namespace

std::string own_settings(const PricedQuestion& asked, const Strategy& before, const Strategy& after,
                         Framework framework) {
  const LaunchTarget* const target = target_of(framework);
  if (target == nullptr) return "";
  const NetworkFacts network = network_facts_of(asked.question);
  const FrameworkRecord& record = record_of(framework);
  if (!launches(record, before, network) || !launches(record, after, network)) return "";
  const std::string_view release = target->releases.empty() ? std::string_view() : target->releases.back();
  try {
    const LaunchFile one = target->write(launch_settings(asked, before), release).files.front();
    const LaunchFile other = target->write(launch_settings(asked, after), release).files.front();
    if (one.name == "train.py") return "";
    return difference(lines_of(one.text), lines_of(other.text));
  } catch (const InputError&) {
    return "";  // what the release does not have
  }
}

}  // namespace plumbline::session
