#include "gui/window/style.h"

#include <QApplication>
#include <QStyle>
#include <QStyleFactory>

/// Of a static library, which the linker would leave out. Outside of any namespace, as the macro asks for.
static void load_resources() { Q_INIT_RESOURCE(resources); }

namespace plumbline::gui {
namespace {

constexpr const char* sheet = R"(
QWidget#question { background: @card; }
QWidget#question QLineEdit, QWidget#question QComboBox { padding: 2px 5px; }
QWidget#question QComboBox QLineEdit { padding: 0; }
QWidget#question QToolButton { padding: 2px 8px; }
QWidget#foot { background: @card; border-top: 1px solid @border; }
QFrame#card { background: @card; border: 1px solid @border; border-radius: 4px; }
QLabel#title { font-weight: bold; }
QLabel#heading { font-size: 17pt; font-weight: bold; }
QLabel#caption { color: @faint; }
QLabel#group { color: @faint; font-weight: bold; font-size: 8pt; }
QLabel#refusal { color: @refusal; }
QLabel#message { color: @refusal; background: @refused; border: 1px solid @refusal; border-radius: 4px; padding: 6px; }
QLineEdit, QComboBox, QPlainTextEdit { background: @field; border: 1px solid @outline; border-radius: 3px;
  padding: 3px 5px; selection-background-color: @accent; selection-color: @onaccent; }
QComboBox QLineEdit { border: none; padding: 0; background: transparent; }
QLineEdit:focus, QComboBox:focus { border-color: @accent; }
QLineEdit[wrong="true"], QComboBox[wrong="true"] { border: 1px solid @refusal; background: @refused; }
QComboBox::drop-down { border: none; width: 18px; }
QComboBox::down-arrow { image: url(:/down.svg); width: 10px; height: 10px; }
QComboBox QAbstractItemView { background: @card; color: @text; border: 1px solid @border; }
QPushButton, QToolButton { background: @field; color: @text; border: 1px solid @outline; border-radius: 3px; padding: 4px 10px; }
QPushButton:hover, QToolButton:hover, QPushButton:focus, QToolButton:focus { border-color: @accent; }
QPushButton:disabled, QToolButton:disabled { color: @faint; }
QToolButton:checked { background: @accent; color: @onaccent; }
QPushButton#primary { background: @accent; color: @onaccent; border-color: @accent; font-weight: bold; }
QPushButton#primary:focus { border-color: @text; }
QPushButton#choice { text-align: left; padding: 9px 12px; }
QProgressBar { background: @grid; border: none; border-radius: 3px; }
QProgressBar::chunk { background: @accent; border-radius: 3px; }
QTabWidget::pane { border: none; }
QTabBar { qproperty-drawBase: 0; }
QTabBar::tab { color: @faint; padding: 7px 13px; margin: 6px 1px 0 1px; border: 1px solid transparent; border-radius: 4px; }
QTabBar::tab:selected { color: @text; background: @card; border-color: @border; font-weight: bold; }
QTabBar::tab:hover { color: @text; }
QTabBar::tab:focus { border-color: @accent; }
QTableView { background: @card; color: @text; border: 1px solid transparent; selection-background-color: @accent; selection-color: @onaccent; }
QTableView:focus, QPlainTextEdit:focus { border: 1px solid @accent; }
QHeaderView { background: @card; }
QHeaderView::section { background: @card; color: @faint; border: none; border-bottom: 1px solid @border; padding: 4px; font-weight: bold; }
QScrollBar:vertical { background: transparent; width: 10px; margin: 0; }
QScrollBar:horizontal { background: transparent; height: 10px; margin: 0; }
QScrollBar::handle { background: @outline; border-radius: 4px; margin: 1px; min-height: 24px; min-width: 24px; }
QScrollBar::add-line, QScrollBar::sub-line { width: 0; height: 0; }
QScrollBar::add-page, QScrollBar::sub-page { background: transparent; }
QSpinBox { background: @field; color: @text; border: 1px solid @outline; border-radius: 3px; padding: 3px 5px; }
QSlider::groove:horizontal { background: @grid; height: 4px; border-radius: 2px; }
QSlider::sub-page:horizontal { background: @accent; border-radius: 2px; }
QSlider::handle:horizontal { background: @field; border: 1px solid @faint; border-radius: 4px; width: 12px; margin: -6px 0; }
QSlider::handle:horizontal:focus, QSlider::handle:horizontal:hover { border: 2px solid @accent; }
QSplitter::handle { background: transparent; }
QDockWidget { titlebar-close-icon: none; }
QMainWindow::separator { background: @border; width: 1px; height: 1px; }
QMenuBar, QStatusBar { background: @card; border-bottom: 1px solid @border; }
QToolTip { background: @card; color: @text; border: 1px solid @border; padding: 3px; }
)";

/// Fusion's, where Qt has it built in (everywhere).
void set_fusion() {
  if (QApplication::style()->name().compare("fusion", Qt::CaseInsensitive) != 0)
    QApplication::setStyle(QStyleFactory::create("Fusion"));
}

}  // namespace

QString style_sheet(const Palette& palette) {
  QString text = QString::fromLatin1(sheet);
  // The longer name first: one begins with the other.
  const std::pair<const char*, QColor> colours[] = {
      {"@onaccent", palette.on_accent}, {"@accent", palette.accent},   {"@card", palette.card},
      {"@border", palette.border},      {"@outline", palette.outline}, {"@faint", palette.faint},
      {"@refusal", palette.refusal},    {"@refused", palette.refused}, {"@field", palette.field},
      {"@text", palette.text},          {"@grid", palette.grid}};
  for (const auto& [name, colour] : colours) text.replace(QString::fromLatin1(name), colour.name());
  return text;
}

void apply_scheme(QApplication& application, Scheme scheme) {
  load_resources();
  set_fusion();
  QApplication::setPalette(application_palette(scheme));
  application.setStyleSheet(style_sheet(palette_of(scheme)));
}

Scheme desktop_scheme() {
  constexpr int half = 128;
  return QApplication::palette().color(QPalette::Window).lightness() < half ? Scheme::dark : Scheme::light;
}

}  // namespace plumbline::gui
