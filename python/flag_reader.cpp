#include "python/flag_reader.h"

#include "core/base/errors.h"
#include "planner/question/value_text.h"
#include "planner/session/foreign_flags.h"

namespace plumbline::python {

void FlagReader::take(const char* flag, std::optional<std::string>& value) {
  known_.emplace_back(flag);
  auto node = given_.extract(flag);
  if (!node) return;
  if (node.mapped().empty()) throw InputError({flag, "its value is empty", "a value", ""});
  value = std::move(node.mapped());
}

void FlagReader::take(const char* flag, bool& value) {
  std::optional<std::string> text;
  take(flag, text);
  if (text) value = on_or_off(flag, *text);
}

void FlagReader::refuse_rest() const {
  if (given_.empty()) return;
  const std::string& flag = given_.begin()->first;
  throw InputError({flag, "unknown argument of plumbline." + function_, "", session::nearest_flag(flag, known_)});
}

namespace {

template <class Flags>
void take_options(FlagReader& reader, const session::Options<Flags>& options, Flags& flags) {
  for (const session::Option<Flags>& option : options) {
    const char* const flag = option.words.flag.c_str();
    if (option.is_on) reader.take(flag, option.is_on(flags));
    if (option.text) reader.take(flag, option.text(flags));
    if (!option.list) continue;
    std::optional<std::string> texts;
    reader.take(flag, texts);
    if (texts) option.list(flags) = list_of(flag, *texts);
  }
}

}  // namespace

void take(FlagReader& reader, session::QuestionFlags& flags) {
  take_options(reader, session::question_options(flags.recipes, flags.counts), flags);
}

void take(FlagReader& reader, session::StrategyFlags& flags) {
  session::for_each_flag(
      flags, [&](const StrategyAxis& axis, std::optional<std::string>& text) { reader.take(axis.flag.c_str(), text); });
}

void take_ranking(FlagReader& reader, session::SearchFlags& flags) {
  take_options(reader, session::ranking_options(), flags);
}

void take(FlagReader& reader, session::SearchFlags& flags) { take_options(reader, session::search_options(), flags); }

void take(FlagReader& reader, session::SimulationFlags& flags) {
  take_options(reader, session::simulation_options(), flags);
}

void take(FlagReader& reader, session::SizeFlags& flags) { take_options(reader, session::size_options(), flags); }

}  // namespace plumbline::python
