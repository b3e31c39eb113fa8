#pragma once
/// \file picture_file.h: a picture of a page as a PNG or SVG file.
///
/// Checked against: tests/gui/export/export_test.cpp.

#include <QString>

class QWidget;

namespace plumbline::gui {

/// By the ending of the file's name, .svg or .png; a PNG has twice the pixels of the screen. Throws EnvironmentError.
void write_picture(QWidget& widget, const QString& file);

}  // namespace plumbline::gui
