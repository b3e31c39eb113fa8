#include "gui/dock/machine_model.h"

#include <QFont>
#include <algorithm>
#include <array>

#include "core/base/errors.h"
#include "gui/text.h"

namespace plumbline::gui {
namespace {

struct Title {
  const char* words;
  const char* explanation;
};
constexpr std::array<Title, MachineModel::column_count> titles{
    {{"of", "which part of the cluster"},
     {"number", "what it says"},
     {"value", "with its unit; rates are per direction and per device, peaks are dense"},
     {"source", "document, table or person"},
     {"kind", "datasheet, measured, published or assumed; assumed numbers are named where they move an answer"},
     {"date", "of a number that ages"}}};

const std::string& part_of(const MachineNumber& number, int column) {
  switch (column) {
    case MachineModel::part: return number.part;
    case MachineModel::name: return number.name;
    case MachineModel::value: return number.value;
    case MachineModel::source: return number.source;
    case MachineModel::kind: return number.kind;
    default: return number.date;
  }
}

std::string& part_of(MachineEdit& edit, int column) {
  if (column == MachineModel::value) return edit.value;
  return column == MachineModel::source ? edit.source : edit.kind;
}

}  // namespace

MachineModel::MachineModel(QuestionModel& question, QObject* parent)
    : QAbstractTableModel(parent), question_(&question) {
  connect(question_, &QuestionModel::changed, this, &MachineModel::follow_question);
  load();
}

void MachineModel::load() {
  beginResetModel();
  const QuestionForm& form = question_->form();
  machine_ = form[Field::machine];
  own_.clear();
  trouble_.clear();
  try {
    if (machine_.empty()) trouble_ = tr("The question has no cluster yet.");
    if (!machine_.empty()) own_ = machine_numbers(document_ = machine_document(machine_));
    seen_ = own_;
    if (!form.machine_edits.empty()) seen_ = machine_numbers(edited_machine(document_, form.machine_edits, machine_));
  } catch (const InputError& error) {
    trouble_ = qt(error.what());
    seen_ = own_;
  }
  endResetModel();
}

void MachineModel::follow_question() {
  const QuestionForm& form = question_->form();
  if (form[Field::machine] != machine_) return load();
  if (own_.empty()) return;
  try {
    seen_ = machine_numbers(edited_machine(document_, form.machine_edits, machine_));
  } catch (const InputError& error) {
    Q_EMIT refused(qt(error.what()));  // of a session that was written by hand
  }
  Q_EMIT dataChanged(index(0, 0), index(rowCount() - 1, column_count - 1));
}

const MachineEdit* MachineModel::edit_of(int row) const {
  const std::vector<MachineEdit>& edits = question_->form().machine_edits;
  const std::string& place = own_[static_cast<std::size_t>(row)].place;
  const auto found =
      std::find_if(edits.begin(), edits.end(), [&](const MachineEdit& edit) { return edit.place == place; });
  return found == edits.end() ? nullptr : &*found;
}

bool MachineModel::is_edited(int row) const { return edit_of(row) != nullptr; }

void MachineModel::reset(int row) { question_->edit_machine({own_[static_cast<std::size_t>(row)].place, "", "", ""}); }

void MachineModel::reset_all() {
  QuestionForm form = question_->form();
  form.machine_edits.clear();
  question_->replace(form, tr("Numbers of the cluster"));
}

int MachineModel::rowCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(own_.size());
}
int MachineModel::columnCount(const QModelIndex& parent) const { return parent.isValid() ? 0 : column_count; }

QString MachineModel::text(const QModelIndex& index) const {
  return qt(part_of(seen_[static_cast<std::size_t>(index.row())], index.column()));
}

QVariant MachineModel::data(const QModelIndex& index, int role) const {
  if (!index.isValid()) return {};
  switch (role) {
    case Qt::DisplayRole:
    case Qt::EditRole: return text(index);
    case Qt::ToolTipRole:
      if (!is_edited(index.row())) return text(index);
      return tr("edited; the cluster's own: %1")
          .arg(qt(part_of(own_[static_cast<std::size_t>(index.row())], index.column())));
    case Qt::FontRole:
      if (is_edited(index.row())) {
        QFont bold;
        bold.setBold(true);
        return bold;
      }
      return {};
    case Qt::UserRole: return is_edited(index.row());
    default: return {};
  }
}

QVariant MachineModel::headerData(int section, Qt::Orientation orientation, int role) const {
  if (orientation != Qt::Horizontal || section < 0 || section >= column_count) return {};
  if (role == Qt::DisplayRole) return tr(titles[static_cast<std::size_t>(section)].words);
  if (role == Qt::ToolTipRole) return tr(titles[static_cast<std::size_t>(section)].explanation);
  if (role == Qt::TextAlignmentRole) return QVariant::fromValue(Qt::Alignment(Qt::AlignLeft | Qt::AlignVCenter));
  return {};
}

Qt::ItemFlags MachineModel::flags(const QModelIndex& index) const {
  const Qt::ItemFlags usual = QAbstractTableModel::flags(index);
  if (!index.isValid()) return usual;
  const bool has_source = !own_[static_cast<std::size_t>(index.row())].kind.empty();
  const bool is_open = index.column() == value || (has_source && (index.column() == source || index.column() == kind));
  return is_open ? usual | Qt::ItemIsEditable : usual;
}

bool MachineModel::take(const MachineEdit& edit) {
  std::vector<MachineEdit> edits = question_->form().machine_edits;
  std::erase_if(edits, [&](const MachineEdit& other) { return other.place == edit.place; });
  edits.push_back(edit);
  try {
    (void)edited_machine(document_, edits, machine_);
  } catch (const InputError& error) {
    Q_EMIT refused(qt(error.what()));
    return false;
  }
  Q_EMIT refused({});
  question_->edit_machine(edit);
  return true;
}

bool MachineModel::setData(const QModelIndex& index, const QVariant& to, int role) {
  if (role != Qt::EditRole || !flags(index).testFlag(Qt::ItemIsEditable)) return false;
  const QString typed = to.toString().trimmed();
  if (typed == text(index)) return false;
  const MachineNumber& own = own_[static_cast<std::size_t>(index.row())];
  const MachineEdit* const before = edit_of(index.row());
  MachineEdit edit = before != nullptr ? *before : MachineEdit{own.place, "", "", ""};
  part_of(edit, index.column()) =
      typed.toStdString() == part_of(own, index.column()) ? std::string() : typed.toStdString();
  return take(edit);
}

}  // namespace plumbline::gui
