#include "tests/campaign/campaign.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <iomanip>
#include <mutex>
#include <optional>
#include <thread>

#include "planner/pricing/evaluate.h"

namespace plumbline {
namespace {

constexpr std::size_t most_examples = 20;  ///< of one law
constexpr std::int64_t cases_per_report = 1000;

/// The entry of known_violations() that covers what was found, or none.
std::optional<std::size_t> known_entry(const Law& law, const Finding& finding, const Subject& subject) {
  const std::vector<KnownViolation>& all = known_violations();
  const auto at = std::find_if(all.begin(), all.end(), [&](const KnownViolation& known) {
    return known.law == law.name && finding.excess() <= known.largest_excess && known.covers(subject);
  });
  return at == all.end() ? std::nullopt : std::optional(static_cast<std::size_t>(at - all.begin()));
}

void add(KnownTally& into, const KnownTally& part) {
  if (part.count > 0 && (into.count == 0 || part.largest_excess > into.largest_excess)) {
    into.largest_excess = part.largest_excess;
    into.largest = part.largest;
  }
  into.count += part.count;
}

/// One thread's part.
class Worker {
 public:
  explicit Worker(const CampaignRange& range) : range_(range) { tally_.known.resize(known_violations().size()); }

  void look_at(std::int64_t index) {
    Draw draw(range_.seed, static_cast<std::uint64_t>(index));
    const LegalPlan legal = random_plan(draw);
    const auto broken = [&](const std::string& what) {
      return BrokenCase{index, what, command_of(index, legal.asked), repeat_of(index)};
    };
    try {
      const Plan plan = evaluate(legal.question, legal.asked.strategy);
      if (is_priceable(plan))
        look_at(index, legal, plan, broken);
      else
        ++tally_.refused;
    } catch (const std::exception& error) {
      add_broken("priced", broken(error.what()));
    }
    ++tally_.cases;
  }
  [[nodiscard]] const CampaignResult& tally() const { return tally_; }

 private:
  template <class Broken>
  void look_at(std::int64_t index, const LegalPlan& legal, const Plan& plan, const Broken& broken) {
    std::int64_t position = 0;
    for (const Law& law : all_laws()) {
      ++position;
      if (range_.law.empty() ? (index + position) % law.one_in != 0 : law.name != range_.law) continue;
      // Each law draws for itself, so that it does the same alone.
      Draw draw(range_.seed + static_cast<std::uint64_t>(position), static_cast<std::uint64_t>(index));
      const Subject subject{legal.asked, legal.question, plan, draw};
      const Finding finding = timed(law, subject);
      if (!finding.applies()) continue;
      if (finding.broken().empty()) {
        ++tally_.laws[std::string(law.name)].held;
      } else if (const auto known = known_entry(law, finding, subject)) {
        ++tally_.laws[std::string(law.name)].known;
        // What a report does not show needs no command and no files.
        const BrokenCase shown = range_.cases == 1 ? broken(finding.broken()) : BrokenCase{index, "", "", ""};
        add(tally_.known[*known], {1, finding.excess(), shown});
      } else {
        add_broken(law.name, broken(finding.broken()));
      }
    }
  }
  Finding timed(const Law& law, const Subject& subject) {
    const auto begin = std::chrono::steady_clock::now();
    Finding finding;
    try {
      law.check(subject, finding);
    } catch (const std::exception& error) {
      finding.expect(false, std::string("threw: ") + error.what());
    }
    tally_.laws[std::string(law.name)].seconds +=
        std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    return finding;
  }
  void add_broken(std::string_view law, BrokenCase broken) {
    LawTally& tally = tally_.laws[std::string(law)];
    ++tally.broken;
    if (tally.first.size() < most_examples) tally.first.push_back(std::move(broken));
  }
  [[nodiscard]] std::string command_of(std::int64_t index, const AskedPlan& asked) const {
    const std::filesystem::path folder = range_.folder / (std::to_string(range_.seed) + "-" + std::to_string(index));
    if (!range_.folder.empty() && (asked.network.config || asked.machine.file)) write_files(asked, folder);
    return command(asked, folder);
  }

  [[nodiscard]] std::string repeat_of(std::int64_t index) const {
    const auto given = [](const char* flag, const std::string& value) { return value.empty() ? "" : flag + value; };
    return "campaign_plans --seed " + std::to_string(range_.seed) + " --first " + std::to_string(index) + " --cases 1" +
           given(" --law ", range_.law) + given(" --folder ", range_.folder.string());
  }

  const CampaignRange& range_;
  CampaignResult tally_;
};

void merge(CampaignResult& all, const CampaignResult& part) {
  all.cases += part.cases;
  all.refused += part.refused;
  for (std::size_t i = 0; i < all.known.size(); ++i) add(all.known[i], part.known[i]);
  for (const auto& [name, tally] : part.laws) {
    LawTally& into = all.laws[name];
    into.held += tally.held;
    into.known += tally.known;
    into.broken += tally.broken;
    into.seconds += tally.seconds;
    into.first.insert(into.first.end(), tally.first.begin(), tally.first.end());
    std::sort(into.first.begin(), into.first.end(),
              [](const BrokenCase& a, const BrokenCase& b) { return a.index < b.index; });
    if (into.first.size() > most_examples) into.first.resize(most_examples);
  }
}

}  // namespace

std::int64_t CampaignResult::checks() const {
  std::int64_t sum = 0;
  for (const auto& [name, tally] : laws) sum += tally.held + tally.known + tally.broken;
  return sum;
}

std::int64_t CampaignResult::broken() const {
  std::int64_t sum = 0;
  for (const auto& [name, tally] : laws) sum += tally.broken;
  return sum;
}

CampaignResult run_campaign(const CampaignRange& range, const std::function<void(std::int64_t)>& progress) {
  CampaignResult all;
  all.known.resize(known_violations().size());
  std::mutex mutex;
  std::atomic<std::int64_t> next{0};
  const auto work = [&] {
    Worker worker(range);
    const auto is_stopped = [&] { return range.stop != nullptr && *range.stop; };
    for (std::int64_t n = 0; !is_stopped() && (n = next++) < range.cases;) {
      worker.look_at(range.first + n);
      if (!progress || (n + 1) % cases_per_report != 0) continue;
      const std::lock_guard lock(mutex);
      progress(n + 1);
    }
    const std::lock_guard lock(mutex);
    merge(all, worker.tally());
  };
  std::vector<std::thread> others;
  for (std::int32_t t = 1; t < range.threads; ++t) others.emplace_back(work);
  work();
  for (std::thread& other : others) other.join();
  return all;
}

namespace {

void write_laws(std::ostringstream& out, const CampaignResult& result) {
  out << std::left << std::setw(26) << "law" << std::right << std::setw(12) << "held" << std::setw(10) << "known"
      << std::setw(10) << "broken" << std::setw(10) << "seconds" << '\n';
  for (const auto& [name, tally] : result.laws)
    out << std::left << std::setw(26) << name << std::right << std::setw(12) << tally.held << std::setw(10)
        << tally.known << std::setw(10) << tally.broken << std::setw(10) << std::fixed << std::setprecision(1)
        << tally.seconds << '\n';
}

void write_known(std::ostringstream& out, const CampaignResult& result) {
  out << std::left << std::setw(26) << "\nknown violation of" << std::right << std::setw(13) << "count" << std::setw(12)
      << "largest" << std::setw(12) << "allowed" << std::setw(12) << "case"
      << "  reason\n";
  for (std::size_t i = 0; i < result.known.size(); ++i) {
    const KnownViolation& entry = known_violations()[i];
    const KnownTally& tally = result.known[i];
    out << std::left << std::setw(26) << entry.law << std::right << std::setw(12) << tally.count << std::setw(12)
        << std::setprecision(6) << tally.largest_excess << std::setw(12) << entry.largest_excess << std::setw(12)
        << tally.largest.index << "  " << entry.reason.substr(0, 60) << '\n';
  }
}

void write_case(std::ostringstream& out, std::string_view kind, std::string_view law, const BrokenCase& broken) {
  out << '\n'
      << kind << ": " << law << ", case " << broken.index << "\n  " << broken.what << "\n  " << broken.command
      << "\n  again: build/bin/" << broken.repeat << '\n';
}

}  // namespace

std::string report(const CampaignResult& result) {
  std::ostringstream out;
  out << result.cases << " plans, " << result.refused << " of them of more than 24 hours a step and refused; "
      << result.checks() << " checks of " << all_laws().size() << " laws\n";
  write_laws(out, result);
  write_known(out, result);
  for (std::size_t i = 0; i < result.known.size(); ++i)
    if (result.cases == 1 && result.known[i].count > 0)
      write_case(out, "known", known_violations()[i].law, result.known[i].largest);
  for (const auto& [name, tally] : result.laws)
    for (const BrokenCase& broken : tally.first) write_case(out, "broken", name, broken);
  return out.str();
}

}  // namespace plumbline
