#pragma once
/// \file graph_page.h: the network's repeated block, operator by operator: work, bytes, and how ranks divide it.
///
/// Checked against: tests/gui/pages/graph/graph_page_test.cpp.

#include "gui/background/latest_job.h"
#include "gui/page.h"
#include "gui/pages/graph/block_picture.h"
#include "gui/tables/table_model.h"

class QComboBox;
class QLabel;
class QScrollArea;

namespace plumbline::gui {

class GraphView;
class TableView;

class GraphPage : public Page {
  Q_OBJECT

 public:
  explicit GraphPage(QWidget* parent = nullptr);

  [[nodiscard]] QString id() const override { return QStringLiteral("graph"); }
  [[nodiscard]] QString title() const override { return tr("Graph"); }
  void show_plan(SharedPlan plan) override;
  [[nodiscard]] bool is_complete() const override { return !task_->is_busy(); }
  [[nodiscard]] QWidget* picture() override;
  [[nodiscard]] std::vector<NamedTable> tables() const override;

 private:
  void show_pictures(std::vector<BlockPicture> pictures);
  void show_block(int block);
  void show_node(std::size_t node);
  [[nodiscard]] std::size_t node_at(int line) const;

  LatestJob* task_;
  std::vector<BlockPicture> pictures_;
  QLabel* words_ = nullptr;
  QComboBox* blocks_ = nullptr;
  QScrollArea* scroll_ = nullptr;
  GraphView* graph_ = nullptr;
  TableView* table_ = nullptr;
  TableModel nodes_;
};

}  // namespace plumbline::gui
