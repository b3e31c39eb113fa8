#include "cli/simulate/timeline_view.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "cli/output/table.h"
#include "core/program/action_kinds.h"
#include "core/quantity/text.h"

namespace plumbline {
namespace {

constexpr std::size_t most_runs = 16;
constexpr std::size_t lane_label_columns = 8;
constexpr std::string_view letters = "FBWRCHO";  // by timeline kind
static_assert(letters.size() == timeline_kind_count);
constexpr char idle = '.';

std::size_t letter_of(const Action& a) { return static_cast<std::size_t>(timeline_kind(a.kind())); }

/// By letter.
using LetterTimes = std::array<std::int64_t, letters.size()>;
using SlotTimes = std::vector<LetterTimes>;

std::size_t slot_count() { return terminal_columns() - lane_label_columns; }

/// Adds the picoseconds of a span to the slots that it touches.
void add_span(SlotTimes& times, const Span& span, std::size_t letter, std::int64_t slot_length) {
  std::int64_t at = span.start.value();
  while (at < span.end.value()) {
    const std::int64_t slot = std::min<std::int64_t>(at / slot_length, std::ssize(times) - 1);
    const std::int64_t end =
        slot + 1 == std::ssize(times) ? span.end.value() : std::min(span.end.value(), (slot + 1) * slot_length);
    times[static_cast<std::size_t>(slot)][letter] += end - at;
    at = end;
  }
}

Colour colour_of(char letter) {
  switch (letter) {
    case 'F': return Colour::green;
    case 'B': return Colour::yellow;
    case 'R':
    case 'C':
    case 'H': return Colour::red;
    case idle: return Colour::dim;
    default: return Colour::plain;
  }
}

/// Shares of the gap that the period before it gives to each letter, spread over the slots.
void add_left_out(SlotTimes& times, const SimulatedPlan& simulated, std::size_t rank, std::int64_t slot_length) {
  const LeftOut& left_out = simulated.simulation.left_out;
  if (left_out.micro_batches == 0) return;
  const Span between = gap(left_out, simulated.simulation.timeline, rank);
  std::array<double, letters.size()> shares{};
  for (auto i = static_cast<std::size_t>(left_out.first[rank]); i < static_cast<std::size_t>(left_out.cut[rank]); ++i) {
    const Action& action = simulated.program.ranks[rank].actions[i];
    const Picoseconds length = left_out.repeats * simulated.simulation.timeline.of_rank[rank][i].length();
    if (sent_by(action) == nullptr && action.issue == Issue::in_order)
      shares[letter_of(action)] += length / between.length();
  }
  SlotTimes whole(times.size());
  add_span(whole, between, 0, slot_length);
  for (std::size_t slot = 0; slot < times.size(); ++slot)
    for (std::size_t letter = 0; letter < letters.size(); ++letter)
      times[slot][letter] += std::llround(shares[letter] * static_cast<double>(whole[slot][0]));
}

/// The letter that most of a slot's time goes to, where at least half of it is busy. What runs alongside counts only
/// where nothing else is done: it is exposed there.
char letter_in(const LetterTimes& in_order, const LetterTimes& alongside, std::int64_t slot_length) {
  const auto most = [](const LetterTimes& times) {
    return letters[static_cast<std::size_t>(std::max_element(times.begin(), times.end()) - times.begin())];
  };
  const std::int64_t busy = std::accumulate(in_order.begin(), in_order.end(), std::int64_t{0});
  if (2 * busy >= slot_length) return most(in_order);
  const std::int64_t exposed = *std::max_element(alongside.begin(), alongside.end());
  return 2 * exposed >= slot_length ? most(alongside) : idle;
}

std::string row(const SimulatedPlan& simulated, std::size_t index, std::int64_t slot_length) {
  const RankProgram& rank = simulated.program.ranks[index];
  const std::vector<Span>& spans = simulated.simulation.timeline.of_rank[index];
  SlotTimes in_order(slot_count());
  SlotTimes alongside(slot_count());
  for (std::size_t i = 0; i < spans.size(); ++i) {
    const Action& action = rank.actions[i];
    if (sent_by(action) != nullptr) continue;
    add_span(action.issue == Issue::in_order ? in_order : alongside, spans[i], letter_of(action), slot_length);
  }
  add_left_out(in_order, simulated, index, slot_length);
  std::string text;
  for (std::size_t slot = 0; slot < slot_count(); ++slot)
    text += letter_in(in_order[slot], alongside[slot], slot_length);
  return text;
}

std::string painted_row(const std::string& row, const Terminal& terminal) {
  std::string text;
  for (std::size_t begin = 0; begin < row.size();) {
    const std::size_t end = std::min(row.size(), row.find_first_not_of(row[begin], begin));
    text += terminal.painted(row.substr(begin, end - begin), colour_of(row[begin]));
    begin = end;
  }
  return text;
}

}  // namespace

std::string timeline_text(const SimulatedPlan& simulated, const Terminal& terminal) {
  const Timeline& timeline = simulated.simulation.timeline;
  const std::int64_t slot_length =
      std::max<std::int64_t>(1, timeline.end.value() / static_cast<std::int64_t>(slot_count()));
  const std::size_t ranks = simulated.program.ranks.size();
  const std::size_t rows = std::min(ranks, most_runs);
  std::string text;
  for (std::size_t i = 0; i < rows; ++i) {
    const std::size_t rank = rows == 1 ? 0 : i * (ranks - 1) / (rows - 1);
    std::string label = "rank " + std::to_string(rank);
    label.resize(lane_label_columns, ' ');
    text += label + painted_row(row(simulated, rank, slot_length), terminal) + "\n";
  }
  const bool copies_to_host = text.find('H') != std::string::npos;
  const std::string legend =
      "a column is " + to_text(to_seconds(Picoseconds(slot_length))) +
      ": F forward, B backward, W weight gradient, R recompute, C exposed communication, " +
      (copies_to_host ? "H exposed host copies, " : "") + "O optimizer, . idle" +
      (ranks > rows ? "; " + std::to_string(rows) + " of " + std::to_string(ranks) + " ranks" : "");
  return text + wrapped(legend, terminal_columns(), 0) + "\n";
}

}  // namespace plumbline
