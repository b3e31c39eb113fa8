// Holds random plans against every law: campaign_plans --cases 1000000 --seed 1 --threads 2.
#include <charconv>
#include <csignal>
#include <iostream>

#include "tests/campaign/campaign.h"

using namespace plumbline;

namespace {

constexpr const char* usage =
    "campaign_plans [--cases N] [--seed N] [--first N] [--threads N] [--law NAME] [--folder DIR] [--list]\n";

std::atomic<bool> stop{false};

/// The cases that have begun are ended and counted. `timeout` sends its signal twice.
void end_early(int /*signal*/) { stop = true; }

std::int64_t number(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) throw std::invalid_argument(std::string(text));
  return value;
}

void list_laws() {
  for (const Law& law : all_laws()) std::cout << law.name << ": " << law.sentence << '\n';
  for (const KnownViolation& known : known_violations())
    std::cout << "known violation of " << known.law << ", by up to " << 100 * known.largest_excess
              << " %: " << known.reason << '\n';
}

CampaignRange range_from(int count, char** arguments) {
  CampaignRange range;
  for (int i = 1; i + 1 < count; i += 2) {
    const std::string_view flag = arguments[i];
    const std::string value = arguments[i + 1];
    if (flag == "--cases") {
      range.cases = number(value);
    } else if (flag == "--seed") {
      range.seed = static_cast<std::uint64_t>(number(value));
    } else if (flag == "--first") {
      range.first = number(value);
    } else if (flag == "--threads") {
      range.threads = static_cast<std::int32_t>(number(value));
    } else if (flag == "--law") {
      range.law = value;
    } else if (flag == "--folder") {
      range.folder = value;
    } else {
      throw std::invalid_argument(std::string(flag));
    }
  }
  if (count % 2 == 0) throw std::invalid_argument(arguments[count - 1]);
  return range;
}

}  // namespace

int main(int count, char** arguments) {
  if (count == 2 && std::string_view(arguments[1]) == "--list") {
    list_laws();
    return 0;
  }
  try {
    CampaignRange range = range_from(count, arguments);
    range.stop = &stop;
    std::signal(SIGINT, end_early);
    std::signal(SIGTERM, end_early);
    const CampaignResult result =
        run_campaign(range, [](std::int64_t done) { std::cerr << done << " plans\n"
                                                              << std::flush; });
    std::cout << "seed " << range.seed << ", cases from " << range.first << "\n" << report(result);
    if (result.cases < range.cases)
      std::cout << "\nstopped: " << range.cases - result.cases << " cases are left, from --first "
                << range.first + result.cases << '\n';
    return result.broken() == 0 && result.cases == range.cases ? 0 : 1;
  } catch (const std::invalid_argument& error) {
    std::cerr << "campaign_plans: \"" << error.what() << "\"; expected " << usage;
    return 2;
  }
}
