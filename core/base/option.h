#pragma once
/// \file option.h: a setting that somebody gives as text: its flag, its values, what it does, what others call it.
///
/// The flags of a command line, the arguments of Python, fields of the window and the hints for a name of another
/// program are loops over tables of options: question_options, search_options, those of a run (runtime/run/flags) and
/// their like, beside the axes of core/plan/strategy_axes.h. Types of Python's arguments follow from the words for
/// values (python/stub_types.py). Checked against: tests/unit/planner/session/option_test.cpp.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace plumbline {

/// Which file says a setting too, so that its flag is refused beside the file.
enum class SaidBy : std::uint8_t { nothing, plan_file, launch_files };

/// What the window's form says of an option, beside its flag and its help.
struct OptionField {
  std::string caption;        ///< "Global batch"; empty: the form has no field for it
  std::string placeholder{};  ///< what an empty field means
  std::string where{};        ///< how checks of the question name it: "sequence length"; or empty
  std::string id{};           ///< in session files; empty: the flag's, "global_batch"
  std::string explanation{};  ///< instead of the help, which another flag's help precedes or which says less
};

struct OptionWords {
  std::string flag;                         ///< "--global-batch"
  std::string values;                       ///< as help shows them: "N", "on|off"; empty: it is on where it stands
  std::string help;                         ///< with what an absent one means
  std::vector<std::string_view> foreign{};  ///< flags of other programs that mean it
  SaidBy said_by = SaidBy::nothing;
  bool several = false;   ///< several values may stand apart by commas, also where `values` shows one
  bool is_large = false;  ///< of "N": a number that people write as 15T or 1e12
  std::string group{};    ///< of help; empty: that of its table
  OptionField field{};
};

/// One option and where `Flags` keep what was given: one text, a switch, or the texts of all that were given.
template <class Flags>
struct Option {
  using Text = std::optional<std::string>;

  OptionWords words;
  std::function<Text&(Flags&)> text;
  std::function<bool&(Flags&)> is_on;
  std::function<std::vector<std::string>&(Flags&)> list;
  bool joins = false;    ///< given twice, the texts are one, apart by commas
  bool divides = false;  ///< of a list: a comma stands between two texts, too
};

template <class Flags>
using Options = std::vector<Option<Flags>>;

template <class Flags>
[[nodiscard]] Option<Flags> text_option(std::function<std::optional<std::string>&(Flags&)> text, OptionWords words) {
  return {.words = std::move(words), .text = std::move(text), .is_on = {}, .list = {}};
}

template <class Flags>
[[nodiscard]] Option<Flags> switch_option(bool Flags::*is_on, OptionWords words) {
  return {.words = std::move(words), .text = {}, .is_on = is_on, .list = {}};
}

/// The options of a part of `Flags`, as options of the whole. `part`: from the whole to the part.
template <class Flags, class PartFlags, class PartOf>
void add_options(Options<Flags>& all, const Options<PartFlags>& options, const PartOf& part) {
  const auto lifted = [&part]<class Place>(const std::function<Place&(PartFlags&)>& place) {
    std::function<Place&(Flags&)> of_whole;
    if (place) of_whole = [part, place](Flags& flags) -> Place& { return place(part(flags)); };
    return of_whole;
  };
  for (const Option<PartFlags>& option : options)
    all.push_back({.words = option.words,
                   .text = lifted(option.text),
                   .is_on = lifted(option.is_on),
                   .list = lifted(option.list),
                   .joins = option.joins,
                   .divides = option.divides});
}

/// The flag of the first option that was given and is one of those that `is_asked` holds of; empty: none was.
template <class Flags, class IsAsked>
[[nodiscard]] std::string first_given(const Options<Flags>& options, Flags flags, const IsAsked& is_asked) {
  for (const Option<Flags>& option : options) {
    if (!is_asked(option.words)) continue;
    if ((option.text && option.text(flags)) || (option.list && !option.list(flags).empty())) return option.words.flag;
  }
  return "";
}

}  // namespace plumbline
