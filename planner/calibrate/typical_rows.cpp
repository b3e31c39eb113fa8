#include "planner/calibrate/typical_rows.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace plumbline {
namespace {

double distance(const FitRow& a, const FitRow& b) {
  double sum = 0;
  for (std::size_t f = 0; f < a.features.size(); ++f) {
    const double apart = a.features[f] - b.features[f];
    sum += apart * apart;
  }
  return std::sqrt(sum);
}

/// The candidate that, put at `place`, makes the sum least; the first of equals, the present one where none is better.
std::size_t best_at(std::size_t place, const std::vector<FitRow>& rows, const std::vector<std::size_t>& candidates,
                    std::vector<std::size_t> chosen) {
  std::size_t best = chosen[place];
  double least = distance_to_nearest(rows, candidates, chosen);
  for (const std::size_t candidate : candidates) {
    chosen[place] = candidate;
    const double sum = distance_to_nearest(rows, candidates, chosen);
    if (sum < least) best = candidate, least = sum;
  }
  return best;
}

}  // namespace

double distance_to_nearest(const std::vector<FitRow>& rows, const std::vector<std::size_t>& candidates,
                           const std::vector<std::size_t>& chosen) {
  double sum = 0;
  for (const std::size_t candidate : candidates) {
    double nearest = std::numeric_limits<double>::infinity();
    for (const std::size_t one : chosen) nearest = std::min(nearest, distance(rows[candidate], rows[one]));
    sum += nearest;
  }
  return sum;
}

std::vector<std::size_t> typical_rows(const std::vector<FitRow>& rows, const std::vector<std::size_t>& candidates,
                                      std::size_t count) {
  if (candidates.size() <= count) return candidates;
  std::vector<std::size_t> chosen;
  for (std::size_t place = 0; place < count; ++place) {
    const auto is_free = [&](std::size_t c) { return std::find(chosen.begin(), chosen.end(), c) == chosen.end(); };
    chosen.push_back(*std::find_if(candidates.begin(), candidates.end(), is_free));
    chosen.back() = best_at(place, rows, candidates, chosen);
  }
  for (bool moves = true; moves;) {
    moves = false;
    for (std::size_t place = 0; place < count; ++place) {
      const std::size_t better = best_at(place, rows, candidates, chosen);
      moves = moves || better != chosen[place];
      chosen[place] = better;
    }
  }
  return chosen;
}

}  // namespace plumbline
