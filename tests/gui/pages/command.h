#pragma once
/// \file command.h: what the command line answers to a question of the window.

#include <QCoreApplication>
#include <QDir>
#include <QProcess>
#include <QStringList>
#include <stdexcept>
#include <string_view>

#include "core/io/json.h"
#include "gui/question/question_form.h"

namespace plumbline::gui {

inline QString command_file() { return QDir(QCoreApplication::applicationDirPath()).filePath("plan"); }

/// The JSON that `plan` prints. Throws InputError where it prints none.
inline Json command_answer(const QStringList& arguments) {
  QProcess process;
  process.start(command_file(), arguments);
  process.waitForFinished(-1);
  return parse_json(process.readAllStandardOutput().toStdString(), "plan");
}

/// Throws std::out_of_range where there is none.
inline const Json& member(const Json& object, std::string_view key) {
  const Json* const found = object.find(key);
  if (found == nullptr) throw std::out_of_range(std::string(key));
  return *found;
}

inline const Json::Array& list_at(const Json& object, std::string_view key) { return *member(object, key).if_array(); }

inline double number_at(const Json& object, std::string_view key) {
  const Json& value = member(object, key);
  return value.if_integer() != nullptr ? static_cast<double>(*value.if_integer()) : *value.if_double();
}

/// Of fields that the flags of `plan search` name alike.
inline QStringList flags_of_question(const QuestionForm& form) {
  QStringList flags;
  for (const FieldFacts& facts : all_fields())
    if (facts.axis == nullptr && !form[facts.field].empty())
      flags << QString::fromStdString(std::string(facts.flag)) << QString::fromStdString(form[facts.field]);
  return flags;
}

}  // namespace plumbline::gui
