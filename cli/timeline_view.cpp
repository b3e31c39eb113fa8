#include "cli/timeline_view.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "cli/table.h"
#include "core/program/action_kinds.h"
#include "core/quantity/text.h"

namespace plumbline {
namespace {

constexpr std::size_t most_runs = 16;
constexpr std::size_t label_columns = 8;
constexpr std::string_view letters = "FBWRCO";
constexpr char idle = '.';

std::size_t letter_of(const Action& a) {
  switch (a.kind) {
    case ActionKind::forward: return letters.find('F');
    case ActionKind::backward:
    case ActionKind::backward_input: return letters.find('B');
    case ActionKind::backward_weight: return letters.find('W');
    case ActionKind::recompute: return letters.find('R');
    case ActionKind::optimizer_step: return letters.find('O');
    default: return letters.find('C');
  }
}

/// By slot of time, then by letter.
using SlotTimes = std::vector<std::array<std::int64_t, letters.size()>>;

std::size_t slot_count() { return terminal_columns() - label_columns; }

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
    case 'C': return Colour::red;
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
    if (!is_send(action.kind)) shares[letter_of(action)] += length / between.length();
  }
  SlotTimes whole(times.size());
  add_span(whole, between, 0, slot_length);
  for (std::size_t slot = 0; slot < times.size(); ++slot)
    for (std::size_t letter = 0; letter < letters.size(); ++letter)
      times[slot][letter] += std::llround(shares[letter] * static_cast<double>(whole[slot][0]));
}

std::string row(const SimulatedPlan& simulated, std::size_t index, std::int64_t slot_length) {
  const RankProgram& rank = simulated.program.ranks[index];
  const std::vector<Span>& spans = simulated.simulation.timeline.of_rank[index];
  SlotTimes times(slot_count());
  for (std::size_t i = 0; i < spans.size(); ++i)
    if (!is_send(rank.actions[i].kind)) add_span(times, spans[i], letter_of(rank.actions[i]), slot_length);
  add_left_out(times, simulated, index, slot_length);
  std::string text;
  for (const auto& slot : times) {
    std::int64_t busy = 0;
    for (const std::int64_t time : slot) busy += time;
    const auto most = std::max_element(slot.begin(), slot.end()) - slot.begin();
    text += 2 * busy < slot_length ? idle : letters[static_cast<std::size_t>(most)];
  }
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
    label.resize(label_columns, ' ');
    text += label + painted_row(row(simulated, rank, slot_length), terminal) + "\n";
  }
  const std::string legend =
      "a column is " + to_text(to_seconds(Picoseconds(slot_length))) +
      ": F forward, B backward, W weight gradient, R recompute, C exposed communication, O optimizer, . idle" +
      (ranks > rows ? "; " + std::to_string(rows) + " of " + std::to_string(ranks) + " ranks" : "");
  return text + wrapped(legend, terminal_columns(), 0) + "\n";
}

}  // namespace plumbline
