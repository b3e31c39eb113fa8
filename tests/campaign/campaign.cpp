#include "tests/campaign/campaign.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <iomanip>
#include <mutex>
#include <thread>

#include "planner/question/evaluate.h"

namespace plumbline {
namespace {

constexpr std::size_t most_examples = 5;  ///< of one law
constexpr std::int64_t cases_per_report = 1000;

bool is_known(const Law& law, const Finding& finding, const Subject& subject) {
  return std::any_of(known_violations().begin(), known_violations().end(), [&](const KnownViolation& known) {
    return (known.law.empty() || known.law == law.name) && finding.excess() <= known.largest_excess &&
           known.covers(subject);
  });
}

/// One thread's part.
class Worker {
 public:
  explicit Worker(const CampaignRange& range) : range_(range) {}

  void look_at(std::int64_t index) {
    Draw draw(range_.seed, static_cast<std::uint64_t>(index));
    const LegalPlan legal = random_plan(draw);
    const auto broke = [&](std::string_view law, const std::string& what) {
      add_broken(law, {index, what, command_of(index, legal.asked)});
    };
    try {
      const Plan plan = evaluate(legal.question, legal.asked.strategy);
      look_at(index, legal, plan, broke);
    } catch (const std::exception& error) {
      broke("priced", error.what());
    }
    ++tally_.cases;
  }
  [[nodiscard]] const CampaignResult& tally() const { return tally_; }

 private:
  template <class Broke>
  void look_at(std::int64_t index, const LegalPlan& legal, const Plan& plan, const Broke& broke) {
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
      } else if (is_known(law, finding, subject)) {
        ++tally_.laws[std::string(law.name)].known;
      } else {
        broke(law.name, finding.broken());
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

  const CampaignRange& range_;
  CampaignResult tally_;
};

void merge(CampaignResult& all, const CampaignResult& part) {
  all.cases += part.cases;
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
  std::mutex mutex;
  std::atomic<std::int64_t> next{0};
  const auto work = [&] {
    Worker worker(range);
    for (std::int64_t n = next++; n < range.cases; n = next++) {
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

std::string report(const CampaignResult& result) {
  std::ostringstream out;
  out << result.cases << " plans, " << result.checks() << " checks of " << all_laws().size() << " laws\n";
  out << std::left << std::setw(26) << "law" << std::right << std::setw(12) << "held" << std::setw(10) << "known"
      << std::setw(10) << "broken" << std::setw(10) << "seconds" << '\n';
  for (const auto& [name, tally] : result.laws)
    out << std::left << std::setw(26) << name << std::right << std::setw(12) << tally.held << std::setw(10)
        << tally.known << std::setw(10) << tally.broken << std::setw(10) << std::fixed << std::setprecision(1)
        << tally.seconds << '\n';
  for (const auto& [name, tally] : result.laws)
    for (const BrokenCase& broken : tally.first)
      out << "\nbroken: " << name << ", case " << broken.index << "\n  " << broken.what << "\n  " << broken.command
          << '\n';
  return out.str();
}

}  // namespace plumbline
