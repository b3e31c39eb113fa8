#include "core/io/schedule_csv_cells.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "core/base/ascii.h"
#include "core/base/errors.h"

namespace plumbline {
namespace {

constexpr std::size_t largest_schedule_text = std::size_t{64} << 20;
constexpr std::size_t most_actions = 4'000'000;
constexpr std::int32_t largest_index = 1 << 20;
constexpr std::array<std::string_view, 10> communication_actions{
    "SEND_F",  "RECV_F",      "SEND_B",      "RECV_B",      "UNSHARD",
    "RESHARD", "REDUCE_GRAD", "WAIT_SEND_F", "WAIT_SEND_B", "WAIT_REDUCE_GRAD"};

/// A cell as a message quotes it: short, and nothing but visible ASCII.
std::string quoted(std::string_view cell) {
  std::string text = "\"";
  for (const char c : cell.substr(0, 40)) text += c >= ' ' && c <= '~' ? c : '?';
  return text + (cell.size() > 40 ? "...\"" : "\"");
}

class Reader {
 public:
  Reader(std::string_view text, std::string_view source) : rest_(text), source_(source) {}

  std::vector<std::vector<CsvAction>> lines() {
    std::vector<std::vector<CsvAction>> result;
    while (!rest_.empty()) {
      const std::size_t end = rest_.find('\n');
      std::string_view line = rest_.substr(0, end);
      if (line.ends_with('\r')) line.remove_suffix(1);
      result.push_back(cells(line));
      rest_.remove_prefix(end == std::string_view::npos ? rest_.size() : end + 1);
      ++line_;
    }
    return result;
  }

 private:
  [[noreturn]] void refuse(std::size_t column, std::string what, std::string expected) const {
    throw InputError({csv_place(source_, line_, column), std::move(what), std::move(expected), ""});
  }

  std::vector<CsvAction> cells(std::string_view line) {
    std::vector<CsvAction> actions;
    std::size_t column = 1;
    while (true) {
      const std::size_t comma = line.find(',');
      add_cell(actions, line.substr(0, comma), column);
      if (comma == std::string_view::npos) return actions;
      line.remove_prefix(comma + 1);
      column += comma + 1;
    }
  }

  void add_cell(std::vector<CsvAction>& actions, std::string_view cell, std::size_t column) {
    while (cell.starts_with(' ')) cell.remove_prefix(1), ++column;
    while (cell.ends_with(' ')) cell.remove_suffix(1);
    if (cell.empty()) return;
    if (cell.starts_with('(')) {
      add_pair(actions, cell, column);
    } else {
      actions.push_back(action(cell, column));
    }
    seen_ += cell.starts_with('(') ? 2 : 1;
    if (seen_ > most_actions) refuse(column, "more than 4000000 actions", "a shorter schedule");
  }

  void add_pair(std::vector<CsvAction>& actions, std::string_view cell, std::size_t column) const {
    constexpr std::string_view closing = ")OVERLAP_F_B";
    const std::size_t middle = cell.find(';');
    if (!cell.ends_with(closing) || middle == std::string_view::npos)
      refuse(column, quoted(cell), "a pair such as (0F8;7B0)OVERLAP_F_B");
    CsvAction first = action(cell.substr(1, middle - 1), column + 1);
    const CsvAction second =
        action(cell.substr(middle + 1, cell.size() - closing.size() - middle - 1), column + middle + 1);
    if (first.kind != ActionKind::forward || second.kind == ActionKind::forward)
      refuse(column, quoted(cell), "a forward paired with a backward");
    first.overlap = Overlap::with_next;
    actions.push_back(first);
    actions.push_back(second);
  }

  [[nodiscard]] CsvAction action(std::string_view cell, std::size_t column) const {
    const auto letters = static_cast<std::size_t>(std::find_if_not(cell.begin(), cell.end(), is_digit) - cell.begin());
    const auto digits = static_cast<std::size_t>(
        std::find_if(cell.begin() + static_cast<std::ptrdiff_t>(letters), cell.end(), is_digit) - cell.begin());
    const std::string_view name = cell.substr(letters, digits - letters);
    if (std::find(communication_actions.begin(), communication_actions.end(), name) != communication_actions.end())
      refuse(column, quoted(cell) + " is a communication action", "a compute-only schedule: F, B, I, W");
    constexpr std::array kinds{ActionKind::forward, ActionKind::backward, ActionKind::backward_input,
                               ActionKind::backward_weight};
    const std::size_t kind = name.size() == 1 ? std::string_view("FBIW").find(name) : std::string_view::npos;
    if (kind == std::string_view::npos || letters == 0 || digits == cell.size())
      refuse(column, quoted(cell), "stage, F, B, I or W, and micro-batch, such as 0F3");
    return {kinds[kind],
            index(cell.substr(0, letters), column),
            index(cell.substr(digits), column + digits),
            Overlap::none,
            line_,
            column};
  }

  [[nodiscard]] std::int32_t index(std::string_view digits, std::size_t column) const {
    std::int32_t value = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (end != digits.data() + digits.size() || error == std::errc::invalid_argument)
      refuse(column, quoted(digits), "a number");
    if (error != std::errc{} || value >= largest_index) refuse(column, quoted(digits), "a number below 1048576");
    return value;
  }

  std::string_view rest_;
  std::string_view source_;
  std::size_t line_ = 1;
  std::size_t seen_ = 0;
};

}  // namespace

std::string csv_place(std::string_view source, std::size_t line, std::size_t column) {
  return std::string(source) + ":" + std::to_string(line) + ":" + std::to_string(column);
}

std::vector<std::vector<CsvAction>> read_csv_actions(std::string_view text, std::string_view source) {
  if (text.size() > largest_schedule_text)
    throw InputError({std::string(source), "larger than 64 MiB", "a smaller schedule", ""});
  return Reader(text, source).lines();
}

}  // namespace plumbline
