#include "gui/export/picture_file.h"

#include <QImage>
#include <QPainter>
#include <QSvgGenerator>
#include <QWidget>

#include "core/base/errors.h"
#include "gui/palette.h"

namespace plumbline::gui {
namespace {

constexpr int png_scale = 2;
constexpr int dots_per_inch = 96;  // of a Qt pixel

[[noreturn]] void refuse(const QString& file) { throw EnvironmentError(file.toStdString() + ": cannot be written"); }

}  // namespace

void write_picture(QWidget& widget, const QString& file) {
  if (file.endsWith(".svg", Qt::CaseInsensitive)) {
    QSvgGenerator generator;
    generator.setFileName(file);
    generator.setSize(widget.size());
    generator.setViewBox(QRect(QPoint(), widget.size()));
    generator.setResolution(dots_per_inch);
    generator.setTitle(widget.accessibleName());
    QPainter painter;
    if (!painter.begin(&generator)) refuse(file);
    painter.fillRect(QRect(QPoint(), widget.size()), palette_of(widget).card);
    widget.render(&painter, QPoint(), QRegion(), QWidget::DrawChildren);
    return;
  }
  QImage image(widget.size() * png_scale, QImage::Format_ARGB32);
  image.setDevicePixelRatio(png_scale);
  image.fill(palette_of(widget).card);
  widget.render(&image, QPoint(), QRegion(), QWidget::DrawChildren);
  if (!image.save(file)) refuse(file);
}

}  // namespace plumbline::gui
