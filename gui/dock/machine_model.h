#pragma once
/// \file machine_model.h: the numbers of the question's cluster for Qt's views, to be edited.
///
/// Every edit is a change of the question, undone with the others. What the format's reader refuses is not taken and
/// said by `refused`.
/// Checked against: tests/gui/dock/machine_model_test.cpp, with QAbstractItemModelTester.

#include <QAbstractTableModel>
#include <QString>
#include <vector>

#include "gui/question/question_model.h"

namespace plumbline::gui {

class MachineModel : public QAbstractTableModel {
  Q_OBJECT

 public:
  enum Column : std::uint8_t { part, name, value, source, kind, date };
  static constexpr int column_count = 6;

  /// The question outlives it.
  explicit MachineModel(QuestionModel& question, QObject* parent = nullptr);

  [[nodiscard]] bool is_edited(int row) const;
  /// To the cluster's own number.
  void reset(int row);
  void reset_all();
  /// Why there are no numbers; empty: there are.
  [[nodiscard]] const QString& trouble() const { return trouble_; }

  [[nodiscard]] int rowCount(const QModelIndex& parent = {}) const override;
  [[nodiscard]] int columnCount(const QModelIndex& parent = {}) const override;
  [[nodiscard]] QVariant data(const QModelIndex& index, int role) const override;
  [[nodiscard]] QVariant headerData(int section, Qt::Orientation orientation, int role) const override;
  [[nodiscard]] Qt::ItemFlags flags(const QModelIndex& index) const override;
  bool setData(const QModelIndex& index, const QVariant& to, int role) override;

 Q_SIGNALS:
  /// In a line; empty: the last edit was taken.
  void refused(const QString& words);

 private:
  void follow_question();
  void load();
  [[nodiscard]] const MachineEdit* edit_of(int row) const;
  [[nodiscard]] QString text(const QModelIndex& index) const;
  [[nodiscard]] bool take(const MachineEdit& edit);

  QuestionModel* question_;
  std::string machine_;  ///< whose numbers these are
  Json document_;
  std::vector<MachineNumber> own_;   ///< as the cluster has them
  std::vector<MachineNumber> seen_;  ///< with edits
  QString trouble_;
};

}  // namespace plumbline::gui
