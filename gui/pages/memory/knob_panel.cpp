#include "gui/pages/memory/knob_panel.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QPushButton>
#include <QSignalBlocker>
#include <QSlider>
#include <QVBoxLayout>
#include <algorithm>

namespace plumbline::gui {
namespace {

template <class Value>
int place_of(const std::vector<Value>& values, const Value& value) {
  return static_cast<int>(std::find(values.begin(), values.end(), value) - values.begin());
}

}  // namespace

KnobPanel::KnobPanel(QWidget* parent) : QWidget(parent) {
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  micro_batch_ = made_knob(tr("Micro-batch"), QStringLiteral("micro_batch"), this);
  recompute_ = made_knob(tr("Recompute"), QStringLiteral("recompute"), this);
  zero_stage_ = made_knob(tr("ZeRO stage"), QStringLiteral("zero_stage"), this);
  tensor_parallel_ = made_knob(tr("Tensor parallel"), QStringLiteral("tensor_parallel"), this);
  micro_batch_.words = [this](std::size_t i) { return QString::number(choices_.micro_batches[i]); };
  recompute_.words = [this](std::size_t i) { return QString::fromStdString(to_text(choices_.recomputes[i])); };
  zero_stage_.words = [this](std::size_t i) { return QString::number(choices_.zero_stages[i]); };
  tensor_parallel_.words = [this](std::size_t i) { return QString::number(choices_.tensor_parallel[i]); };
  auto* reset = new QPushButton(tr("As in the &plan"), this);
  connect(reset, &QPushButton::clicked, this, &KnobPanel::reset);
  layout->addWidget(reset);
  setEnabled(false);
}

KnobPanel::Knob KnobPanel::made_knob(const QString& name, const QString& id, QWidget* parent) {
  Knob knob;
  auto* head = new QHBoxLayout;
  auto* label = new QLabel(name, parent);
  knob.value = new QLabel(parent);
  head->addWidget(label);
  head->addStretch(1);
  head->addWidget(knob.value);
  knob.slider = new QSlider(Qt::Horizontal, parent);
  knob.slider->setObjectName(id);
  knob.slider->setAccessibleName(name);
  knob.slider->setPageStep(1);
  knob.slider->setTickPosition(QSlider::TicksBelow);
  label->setBuddy(knob.slider);
  connect(knob.slider, &QSlider::valueChanged, this, [this] {
    for (const Knob* each : {&micro_batch_, &recompute_, &zero_stage_, &tensor_parallel_}) show_value(*each);
    Q_EMIT changed();
  });
  auto* layout = static_cast<QVBoxLayout*>(parent->layout());
  layout->addLayout(head);
  layout->addWidget(knob.slider);
  return knob;
}

void KnobPanel::show_value(const Knob& knob) const {
  const QString words = knob.words(static_cast<std::size_t>(knob.slider->value()));
  knob.value->setText(words);
  knob.slider->setAccessibleDescription(words);
}

void KnobPanel::show_choices(const KnobChoices& choices, const MemoryKnobs& own) {
  choices_ = choices;
  own_ = own;
  place_sliders(own);
  setEnabled(true);
}

void KnobPanel::place_sliders(const MemoryKnobs& at) {
  const auto place = [this](const Knob& knob, std::size_t count, int value) {
    const QSignalBlocker blocker(knob.slider);
    knob.slider->setRange(0, static_cast<int>(count) - 1);
    knob.slider->setValue(value);
    show_value(knob);
  };
  place(micro_batch_, choices_.micro_batches.size(), place_of(choices_.micro_batches, at.micro_batch));
  place(recompute_, choices_.recomputes.size(), place_of(choices_.recomputes, at.recompute));
  place(zero_stage_, choices_.zero_stages.size(), place_of(choices_.zero_stages, at.zero_stage));
  place(tensor_parallel_, choices_.tensor_parallel.size(), place_of(choices_.tensor_parallel, at.tensor_parallel));
}

MemoryKnobs KnobPanel::knobs() const {
  const auto at = [](const Knob& knob) { return static_cast<std::size_t>(knob.slider->value()); };
  return {choices_.micro_batches[at(micro_batch_)], choices_.recomputes[at(recompute_)],
          choices_.zero_stages[at(zero_stage_)], choices_.tensor_parallel[at(tensor_parallel_)]};
}

void KnobPanel::reset() {
  place_sliders(own_);
  Q_EMIT changed();
}

}  // namespace plumbline::gui
