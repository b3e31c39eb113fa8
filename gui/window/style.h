#pragma once
/// \file style.h: how the window looks in a scheme: Qt's Fusion style with the colours of gui/palette.h.

#include <QString>

#include "gui/palette.h"

class QApplication;

namespace plumbline::gui {

[[nodiscard]] QString style_sheet(const Palette& palette);
/// Style, palette and sheet of the whole program; may be called again to change the scheme.
void apply_scheme(QApplication& application, Scheme scheme);
/// What the desktop asks for, by the palette that Qt started with.
[[nodiscard]] Scheme desktop_scheme();

}  // namespace plumbline::gui
