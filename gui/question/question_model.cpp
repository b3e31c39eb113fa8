#include "gui/question/question_model.h"

#include <QString>
#include <QUndoCommand>
#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>

#include "gui/text.h"

namespace plumbline::gui {

namespace {

/// Whether one text is the other with a letter more or less.
bool is_keystroke(const std::string& before, const std::string& after) {
  const std::string& shorter = before.size() < after.size() ? before : after;
  const std::string& longer = before.size() < after.size() ? after : before;
  const auto letter_length = [&](std::size_t at) {  // in UTF-8
    std::size_t end = at + 1;
    while (end < longer.size() && (static_cast<unsigned char>(longer[end]) & 0xC0U) == 0x80U) ++end;
    return end - at;
  };
  const auto differs = std::mismatch(shorter.begin(), shorter.end(), longer.begin(), longer.end());
  const auto at = static_cast<std::size_t>(differs.second - longer.begin());
  if (at == longer.size()) return false;
  const std::size_t behind = at + letter_length(at);
  return longer.size() - shorter.size() == behind - at && longer.substr(behind) == shorter.substr(at);
}

}  // namespace

class QuestionChange : public QUndoCommand {
 public:
  QuestionChange(QuestionModel& model, QuestionForm to, std::optional<Field> field, const QString& what)
      : QUndoCommand(what),
        model_(&model),
        from_(model.form()),
        to_(std::move(to)),
        field_(field),
        goes_on_(model.is_typing_ && field && is_keystroke(from_[*field], to_[*field])) {}

  void undo() override {
    model_->end_typing();
    model_->apply(from_);
  }
  void redo() override { model_->apply(to_); }
  [[nodiscard]] int id() const override { return field_ ? static_cast<int>(*field_) : -1; }
  bool mergeWith(const QUndoCommand* other) override {
    const auto& later = static_cast<const QuestionChange&>(*other);
    if (!later.goes_on_) return false;
    to_ = later.to_;
    setObsolete(to_ == from_);
    return true;
  }

 private:
  QuestionModel* model_;
  QuestionForm from_, to_;
  std::optional<Field> field_;
  bool goes_on_;  ///< a letter behind the last one
};

void QuestionModel::set(Field field, const std::string& text) {
  if (form_[field] == text) return;
  QuestionForm to = form_;
  to[field] = text;
  if (field == Field::machine) to.machine_edits.clear();  // they are of another cluster
  changes_.push(new QuestionChange(*this, to, field, qt(facts_of(field).caption)));
  is_typing_ = true;
}

void QuestionModel::edit_machine(const MachineEdit& edit) {
  QuestionForm to = form_;
  std::erase_if(to.machine_edits, [&](const MachineEdit& other) { return other.place == edit.place; });
  const bool says_anything = !edit.value.empty() || !edit.source.empty() || !edit.kind.empty();
  if (says_anything) to.machine_edits.push_back(edit);
  std::sort(to.machine_edits.begin(), to.machine_edits.end(),
            [](const MachineEdit& a, const MachineEdit& b) { return a.place < b.place; });
  replace(to, tr("Number of the cluster"));
}

void QuestionModel::replace(const QuestionForm& form, const QString& what) {
  if (form == form_) return;
  changes_.push(new QuestionChange(*this, form, std::nullopt, what));
  is_typing_ = false;
}

void QuestionModel::apply(const QuestionForm& form) {
  form_ = form;
  Q_EMIT changed();
}

}  // namespace plumbline::gui
