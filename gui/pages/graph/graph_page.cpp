#include "gui/pages/graph/graph_page.h"

#include <QComboBox>
#include <QHBoxLayout>
#include <QItemSelectionModel>
#include <QLabel>
#include <QScrollArea>
#include <QSignalBlocker>
#include <QSplitter>
#include <QVBoxLayout>
#include <utility>

#include "gui/pages/graph/graph_view.h"
#include "gui/tables/table_view.h"

namespace plumbline::gui {
namespace {}  // namespace

GraphPage::GraphPage(QWidget* parent) : Page(parent), task_(new LatestJob(this)) {
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(page_margin, page_margin, page_margin, page_margin);
  auto* head = new QHBoxLayout;
  blocks_ = new QComboBox(this);
  blocks_->setAccessibleName(tr("Block of the network"));
  blocks_->setSizeAdjustPolicy(QComboBox::AdjustToContents);
  words_ = new QLabel(
      tr("FLOPs and bytes of one micro-batch on one rank; width/4: each of 4 ranks has a quarter of it"), this);
  words_->setWordWrap(true);
  head->addWidget(blocks_);
  head->addWidget(words_, 1);
  layout->addLayout(head);
  auto* across = new QSplitter(Qt::Horizontal, this);
  across->setChildrenCollapsible(false);
  scroll_ = new QScrollArea(across);
  scroll_->setWidgetResizable(true);
  scroll_->setFrameShape(QFrame::NoFrame);
  scroll_->setFocusPolicy(Qt::NoFocus);
  scroll_->setMinimumWidth(260);
  graph_ = new GraphView(scroll_);
  scroll_->setWidget(graph_);
  table_ = new TableView(nodes_, tr("Operators of the block"), across);
  across->addWidget(scroll_);
  across->addWidget(table_);
  across->setSizes({486, 461});
  layout->addWidget(across, 1);
  connect(blocks_, &QComboBox::currentIndexChanged, this, &GraphPage::show_block);
  connect(graph_, &GraphView::node_chosen, this, &GraphPage::show_node);
  connect(table_->selectionModel(), &QItemSelectionModel::currentRowChanged, this, [this](const QModelIndex& now) {
    if (now.isValid() && node_at(now.row()) != graph_->node()) graph_->choose(node_at(now.row()));
  });
  connect(task_, &LatestJob::failed, words_, &QLabel::setText);
}

QWidget* GraphPage::picture() { return graph_; }

void GraphPage::show_plan(SharedPlan plan) {
  show_pictures({});
  if (!plan) return task_->abandon();
  task_->start([this, plan = std::move(plan)](const LatestJob::Context&) -> LatestJob::Delivery {
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
  nodes_.set_table(node_table(picture));
}

void GraphPage::show_node(std::size_t node) {
  const QRect area = graph_->area_of(node).toRect();
  scroll_->ensureVisible(area.center().x(), area.center().y(), area.width() / 2, area.height());
  table_->choose_row(static_cast<int>(node));
}

std::size_t GraphPage::node_at(int line) const { return static_cast<std::size_t>(nodes_.row_of(line)); }

std::vector<NamedTable> GraphPage::tables() const {
  if (pictures_.empty()) return {};
  return {{"graph", nodes_.table()}};
}

}  // namespace plumbline::gui
