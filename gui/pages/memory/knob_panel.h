#pragma once
/// \file knob_panel.h: the sliders of the memory page.

#include <QWidget>
#include <functional>
#include <vector>

#include "gui/pages/memory/memory_knobs.h"

class QLabel;
class QSlider;

namespace plumbline::gui {

class KnobPanel : public QWidget {
  Q_OBJECT

 public:
  explicit KnobPanel(QWidget* parent = nullptr);
  /// Sliders at the plan's own values.
  void show_choices(const KnobChoices& choices, const MemoryKnobs& own);
  /// As the sliders stand.
  [[nodiscard]] MemoryKnobs knobs() const;

 public Q_SLOTS:
  /// To the plan's own values.
  void reset();

 Q_SIGNALS:
  void changed();

 private:
  struct Knob {
    QLabel* value = nullptr;
    QSlider* slider = nullptr;
    std::function<QString(std::size_t index)> words;
  };
  Knob made_knob(const QString& name, const QString& id, QWidget* parent);
  void show_value(const Knob& knob) const;
  void place_sliders(const MemoryKnobs& at);

  KnobChoices choices_;
  MemoryKnobs own_;
  Knob micro_batch_;
  Knob recompute_;
  Knob zero_stage_;
  Knob tensor_parallel_;
};

}  // namespace plumbline::gui
