#include "planner/calibrate/ranking.h"

#include <algorithm>
#include <cmath>

#include "planner/validate/summary.h"

namespace plumbline {
namespace {

struct Answer {
  double measured = 0;
  double predicted = 0;
};

void count_pairs(const std::vector<Answer>& answers, RankedQuestion& result) {
  for (std::size_t a = 0; a < answers.size(); ++a)
    for (std::size_t b = a + 1; b < answers.size(); ++b) {
      const double measured = std::log(answers[a].measured / answers[b].measured);
      if (std::abs(measured) <= 2 * result.noise) continue;
      ++result.pairs;
      result.pairs_right += measured * std::log(answers[a].predicted / answers[b].predicted) > 0 ? 1 : 0;
    }
}

RankedQuestion ranked(const std::string& question, const std::string& source, double noise,
                      const std::vector<Answer>& answers) {
  RankedQuestion result;
  result.question = question;
  result.source = source;
  result.noise = noise;
  result.runs = static_cast<std::int64_t>(answers.size());
  count_pairs(answers, result);
  std::vector<double> measured;
  std::vector<double> predicted;
  for (const Answer& answer : answers) {
    measured.push_back(answer.measured);
    predicted.push_back(answer.predicted);
  }
  result.spearman = spearman(measured, predicted);
  const auto best = static_cast<std::size_t>(std::min_element(predicted.begin(), predicted.end()) - predicted.begin());
  result.regret = measured[best] / *std::min_element(measured.begin(), measured.end()) - 1;
  return result;
}

}  // namespace

std::map<std::string, SourceNoise> noise_by_source(const std::vector<FitRun>& runs) {
  std::map<std::string, SourceNoise> result;
  std::map<std::string, double> squares;
  for (const FitRun& run : runs) {
    SourceNoise& noise = result[run.source];
    if (run.repetitions_s.size() < 2 || run.trust == RunTrust::doubtful) continue;
    std::vector<double> logs;
    for (const double seconds : run.repetitions_s) logs.push_back(std::log(seconds));
    const double middle = mean(logs);
    for (const double log : logs) squares[run.source] += (log - middle) * (log - middle);
    noise.repetitions += static_cast<std::int64_t>(logs.size()) - 1;
  }
  for (auto& [source, noise] : result)
    if (noise.repetitions > 0)
      noise.sigma = std::max(default_noise, std::sqrt(squares[source] / static_cast<double>(noise.repetitions)));
  return result;
}

std::vector<RankedQuestion> rank_questions(const std::vector<FitRun>& runs, const std::vector<TestedRun>& tested) {
  const std::map<std::string, SourceNoise> noise = noise_by_source(runs);
  std::map<std::pair<std::string, std::string>, std::vector<Answer>> questions;
  for (const TestedRun& one : tested) {
    const FitRun& run = runs[one.run];
    if (run.trust != RunTrust::doubtful)
      questions[{run.source, run.question}].push_back({run.measured_s, one.predicted.expected});
  }
  std::vector<RankedQuestion> result;
  for (const auto& [key, answers] : questions)
    if (answers.size() >= 2) result.push_back(ranked(key.second, key.first, noise.at(key.first).sigma, answers));
  return result;
}

}  // namespace plumbline
