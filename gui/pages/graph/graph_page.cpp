#include "gui/pages/graph/graph_page.h"

#include <QComboBox>
#include <QHBoxLayout>
#include <QItemSelectionModel>
#include <QLabel>
#include <QScrollArea>
#include <QSignalBlocker>
#include <QSplitter>
#include <QTableView>
#include <QVBoxLayout>
#include <utility>

#include "gui/pages/graph/graph_view.h"
#include "gui/pages/shared/page_table.h"

namespace plumbline::gui {
namespace {

constexpr int margin = 12;

}  // namespace

GraphPage::GraphPage(QWidget* parent) : Page(parent), task_(new NewestTask(this)) {
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(margin, margin, margin, margin);
  auto* head = new QHBoxLayout;
  blocks_ = new QComboBox(this);
  blocks_->setAccessibleName(tr("Block of the network"));
  blocks_->setSizeAdjustPolicy(QComboBox::AdjustToContents);
  words_ = new QLabel(tr("FLOPs and bytes of one micro-batch on one rank"), this);
  words_->setWordWrap(true);
  head->addWidget(blocks_);
  head->addWidget(words_, 1);
  layout->addLayout(head);
  auto* across = new QSplitter(Qt::Horizontal, this);
  across->setChildrenCollapsible(false);
  scroll_ = new QScrollArea(across);
  scroll_->setWidgetResizable(true);
  scroll_->setFrameShape(QFrame::NoFrame);
  scroll_->setMinimumWidth(260);
  graph_ = new GraphView(scroll_);
  scroll_->setWidget(graph_);
  table_ = made_table(nodes_, tr("Operators of the block"), across);
  across->addWidget(scroll_);
  across->addWidget(table_);
  across->setSizes({520, 480});
  layout->addWidget(across, 1);
  connect(blocks_, &QComboBox::currentIndexChanged, this, &GraphPage::show_block);
  connect(graph_, &GraphView::node_chosen, this, &GraphPage::show_node);
  connect(table_->selectionModel(), &QItemSelectionModel::currentRowChanged, this, [this](const QModelIndex& now) {
    if (now.isValid() && nodes_.row_at(now.row()) != graph_->node()) graph_->choose(nodes_.row_at(now.row()));
  });
  connect(task_, &NewestTask::failed, words_, &QLabel::setText);
}

QWidget* GraphPage::picture() { return graph_; }

void GraphPage::show_plan(SharedPlan plan) {
  show_pictures({});
  if (!plan) return task_->cancel();
  task_->start([this, plan = std::move(plan)](const StopRequest&) -> NewestTask::Show {
    auto pictures = std::make_shared<std::vector<BlockPicture>>(block_pictures(plan->answer));
    return [this, pictures] { show_pictures(*pictures); };
  });
}

void GraphPage::show_pictures(std::vector<BlockPicture> pictures) {
  pictures_ = std::move(pictures);
  {
    const QSignalBlocker blocker(blocks_);
    blocks_->clear();
    for (const BlockPicture& picture : pictures_)
      blocks_->addItem(tr("%1 (%2 times)").arg(QString::fromStdString(picture.name)).arg(picture.repeats));
  }
  show_block(pictures_.empty() ? -1 : 0);
}

void GraphPage::show_block(int block) {
  const bool is_there = block >= 0 && block < static_cast<int>(pictures_.size());
  const BlockPicture picture = is_there ? pictures_[static_cast<std::size_t>(block)] : BlockPicture();
  graph_->show_picture(picture);
  nodes_.show(node_table(picture));
}

void GraphPage::show_node(std::size_t node) {
  const QRect area = graph_->area_of(node).toRect();
  scroll_->ensureVisible(area.center().x(), area.center().y(), area.width() / 2, area.height());
  for (int line = 0; line < nodes_.rowCount(); ++line)
    if (nodes_.row_at(line) == node) table_->selectRow(line);
}

std::vector<NamedTable> GraphPage::tables() const {
  if (pictures_.empty()) return {};
  return {{"graph", nodes_.table()}};
}

}  // namespace plumbline::gui
