#include "python/flag_reader.h"

#include "core/base/errors.h"
#include "planner/question/value_text.h"
#include "planner/session/flags/foreign_flags.h"

namespace plumbline::python {

void FlagReader::take(const char* flag, std::string type, std::optional<std::string>& value) {
  known_.emplace_back(flag, std::move(type));
  auto node = given_.extract(flag);
  if (!node) return;
  if (node.mapped().empty()) throw InputError({flag, "its value is empty", "a value", ""});
  value = std::move(node.mapped());
}

void FlagReader::take(const char* flag, std::string type, bool& value) {
  std::optional<std::string> text;
  take(flag, std::move(type), text);
  if (text) value = on_or_off(flag, *text);
}

void FlagReader::refuse_rest() const {
  if (given_.empty()) return;
  const std::string& flag = given_.begin()->first;
  throw InputError({flag, "unknown argument of plumbline." + function_, "", session::nearest_flag(flag, names())});
}

std::vector<std::string> FlagReader::names() const {
  std::vector<std::string> flags;
  for (const TypedName& one : known_) flags.push_back(one.first);
  return flags;
}

namespace {

template <class Flags>
void take_option(FlagReader& reader, const session::Option<Flags>& option, std::string type, Flags& flags) {
  const char* const flag = option.words.flag.c_str();
  if (option.is_on)
    reader.take(flag, std::move(type), option.is_on(flags));
  else if (option.text)
    reader.take(flag, std::move(type), option.text(flags));
  else {
    std::optional<std::string> texts;
    reader.take(flag, std::move(type), texts);
    if (texts) option.list(flags) = list_of(flag, *texts);
  }
}

template <class Flags>
void take_options(FlagReader& reader, const session::Options<Flags>& options, Flags& flags) {
  for (const session::Option<Flags>& option : options) take_option(reader, option, argument_type(option.words), flags);
}

}  // namespace

void take(FlagReader& reader, session::QuestionFlags& flags) {
  take_options(reader, session::question_options(flags.recipes, flags.counts), flags);
}

void take(FlagReader& reader, session::StrategyFlags& flags) {
  session::for_each_flag(flags, [&](const StrategyAxis& axis, std::optional<std::string>& text) {
    reader.take(axis.flag.c_str(), argument_type(axis), text);
  });
}

void take(FlagReader& reader, session::SimulationFlags& flags) {
  take_options(reader, session::simulation_options(), flags);
}

void take(FlagReader& reader, const std::vector<session::BoundOption>& options) {
  for (const session::BoundOption& option : options) {
    std::optional<std::string> text;
    reader.take(option.words.flag.c_str(), option.axis ? argument_type(*option.axis) : argument_type(option.words),
                text);
    if (text) option.give(std::move(*text));
  }
}

}  // namespace plumbline::python
