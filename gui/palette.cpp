#include "gui/palette.h"

#include <QWidget>
#include <algorithm>
#include <cmath>

namespace plumbline::gui {
namespace {

/// Everything that a picture tells by a colour, once: what is the same thing on two pages has the same colour there,
/// and no two things share one.
struct Meanings {
  // What a rank does.
  QRgb compute, backward, gradients, recompute, communication, offload, optimizer, idle, waiting;
  // What memory holds beyond what these name already.
  QRgb weights, master_weights, activations, working_buffers, logits, gathered, overhead, fragmentation;
  // Communication by what is parallel.
  QRgb tensor_parallel, context_parallel, expert_parallel, data_parallel;
};

constexpr Meanings light_meanings{.compute = 0xff0f669f,
                                  .backward = 0xff9f5502,
                                  .gradients = 0xff069f74,
                                  .recompute = 0xffb174d2,
                                  .communication = 0xff6f90ae,
                                  .offload = 0xff958f45,
                                  .optimizer = 0xffe36a14,
                                  .idle = 0xffe4e7ec,
                                  .waiting = 0xff7f8e97,
                                  .weights = 0xff066b4c,
                                  .master_weights = 0xff977c38,
                                  .activations = 0xff4679df,
                                  .working_buffers = 0xff797877,
                                  .logits = 0xff891e57,
                                  .gathered = 0xff342186,
                                  .overhead = 0xff3b3e49,
                                  .fragmentation = 0xffae2829,
                                  .tensor_parallel = 0xff218ba2,
                                  .context_parallel = 0xff7b60cf,
                                  .expert_parallel = 0xff986839,
                                  .data_parallel = 0xff294c9c};

constexpr Meanings dark_meanings{.compute = 0xff4c9ddb,
                                 .backward = 0xffe79f01,
                                 .gradients = 0xff3fd39f,
                                 .recompute = 0xffd48bb4,
                                 .communication = 0xff8eccf7,
                                 .offload = 0xfff0e440,
                                 .optimizer = 0xfff1783c,
                                 .idle = 0xff353b45,
                                 .waiting = 0xff858c96,
                                 .weights = 0xff6fac6d,
                                 .master_weights = 0xffdac96c,
                                 .activations = 0xff899ffe,
                                 .working_buffers = 0xffa3a39c,
                                 .logits = 0xffd672b2,
                                 .gathered = 0xff8f7bf0,
                                 .overhead = 0xffc9ced5,
                                 .fragmentation = 0xffff8a81,
                                 .tensor_parallel = 0xff14cfde,
                                 .context_parallel = 0xffbc97fe,
                                 .expert_parallel = 0xffc7a16a,
                                 .data_parallel = 0xff057adb};

/// In the order of Activity, MemoryClass and TimeCause.
void give_meanings(Palette& p, const Meanings& m) {
  p.activities = {m.compute, m.backward, m.gradients, m.recompute, m.communication, m.offload, m.optimizer, m.idle};
  p.memory = {m.weights, m.gradients, m.master_weights, m.optimizer, m.activations,  m.working_buffers,
              m.logits,  m.gathered,  m.communication,  m.overhead,  m.fragmentation};
  p.causes = {m.compute,         m.recompute,     m.offload, m.tensor_parallel, m.context_parallel,
              m.expert_parallel, m.data_parallel, m.waiting, m.optimizer,       m.overhead};
  p.other = m.waiting;
}

Palette light_palette() {
  Palette p;
  p.window = 0xfff4f6f8;
  p.card = 0xffffffff;
  p.field = 0xfff8fafc;
  p.border = 0xffd3dae2;
  p.outline = 0xff7d8894;
  p.grid = 0xffe6eaef;
  p.text = 0xff1d2733;
  p.faint = 0xff5d6b7a;
  p.accent = 0xff2a6aa3;
  p.on_accent = 0xffffffff;
  p.chosen = p.text;
  p.refusal = 0xffb42318;
  p.refused = 0xfffbe9e9;
  p.amounts = {0xff440154, 0xff443a83, 0xff31688e, 0xff21808c, 0xff1f9788};
  give_meanings(p, light_meanings);
  return p;
}

Palette dark_palette() {
  Palette p = light_palette();
  p.window = 0xff171b21;
  p.card = 0xff1f252d;
  p.field = 0xff262d37;
  p.border = 0xff3a4450;
  p.outline = 0xff7b8796;
  p.grid = 0xff2d3540;
  p.text = 0xffe6eaf0;
  p.faint = 0xff9eabba;
  p.accent = 0xff6fb1ea;
  p.on_accent = 0xff10151b;
  p.chosen = p.text;
  p.refusal = 0xffff8a80;
  p.refused = 0xff3a2226;
  p.amounts = {0xff6b76c4, 0xff4795bd, 0xff35b0a0, 0xff7fd34e, 0xfffde725};
  give_meanings(p, dark_meanings);
  return p;
}

double linear_light(float share) {  // IEC 61966-2-1
  const auto s = static_cast<double>(share);
  return s <= 0.04045 ? s / 12.92 : std::pow((s + 0.055) / 1.055, 2.4);
}

}  // namespace

QColor Palette::sequential(double share) const {
  const double at = std::clamp(share, 0., 1.) * static_cast<double>(amounts.size() - 1);
  const std::size_t below = std::min(amounts.size() - 2, static_cast<std::size_t>(at));
  const auto part = static_cast<float>(at - static_cast<double>(below));
  const QColor &from = amounts[below], &to = amounts[below + 1];
  const auto mixed = [&](float a, float b) { return a + part * (b - a); };
  return QColor::fromRgbF(mixed(from.redF(), to.redF()), mixed(from.greenF(), to.greenF()),
                          mixed(from.blueF(), to.blueF()));
}

const char* words_of(Activity activity) {
  switch (activity) {
    case Activity::forward: return "forward";
    case Activity::backward: return "backward";
    case Activity::weight: return "weight gradient";
    case Activity::recompute: return "recompute";
    case Activity::communication: return "communication";
    case Activity::offload: return "offload";
    case Activity::optimizer: return "optimizer";
    case Activity::idle: return "idle";
  }
  return "";
}

const Palette& palette_of(Scheme scheme) {
  static const Palette light = light_palette();
  static const Palette dark = dark_palette();
  return scheme == Scheme::light ? light : dark;
}

const Palette& palette_of(const QWidget& widget) {
  constexpr int half = 128;
  return palette_of(widget.palette().color(QPalette::Window).lightness() < half ? Scheme::dark : Scheme::light);
}

QColor text_on(const QColor& colour) {
  constexpr double half = 0.179;  // of relative luminance: black and white contrast alike, 4.6 to 1
  const double luminance = 0.2126 * linear_light(colour.redF()) + 0.7152 * linear_light(colour.greenF()) +
                           0.0722 * linear_light(colour.blueF());
  return luminance > half ? QColor(0xff000000) : QColor(0xffffffff);
}

QPalette application_palette(Scheme scheme) {
  const Palette& p = palette_of(scheme);
  QPalette q;
  q.setColor(QPalette::Window, p.window);
  q.setColor(QPalette::WindowText, p.text);
  q.setColor(QPalette::Base, p.card);
  q.setColor(QPalette::AlternateBase, p.window);
  q.setColor(QPalette::Text, p.text);
  q.setColor(QPalette::PlaceholderText, p.faint);
  q.setColor(QPalette::Button, p.field);
  q.setColor(QPalette::ButtonText, p.text);
  q.setColor(QPalette::ToolTipBase, p.card);
  q.setColor(QPalette::ToolTipText, p.text);
  q.setColor(QPalette::Highlight, p.accent);
  q.setColor(QPalette::HighlightedText, p.on_accent);
  q.setColor(QPalette::Link, p.accent);
  q.setColor(QPalette::Light, p.card);
  q.setColor(QPalette::Midlight, p.grid);
  q.setColor(QPalette::Mid, p.border);
  q.setColor(QPalette::Dark, p.outline);
  for (const QPalette::ColorRole role : {QPalette::WindowText, QPalette::Text, QPalette::ButtonText})
    q.setColor(QPalette::Disabled, role, p.faint);
  return q;
}

}  // namespace plumbline::gui
