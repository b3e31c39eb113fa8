#include "gui/window/window_memory.h"

#include <QByteArray>
#include <QGuiApplication>
#include <QHeaderView>
#include <QScreen>
#include <QSettings>
#include <QSplitter>

#include "core/base/errors.h"
#include "gui/io/window_json.h"
#include "gui/tables/table_view.h"
#include "gui/text.h"
#include "gui/window/main_window.h"

namespace plumbline::gui {
namespace {

constexpr const char *geometry_key = "window/geometry", *state_key = "window/state", *dark_key = "window/dark",
                     *question_key = "window/question";
constexpr int state_version = 1;

QString splitter_key(const Page& page, qsizetype number) {
  return QString("splitters/%1-%2").arg(page.id()).arg(number);
}

QString columns_key(const Page& page, qsizetype number) { return QString("columns/%1-%2").arg(page.id()).arg(number); }

/// No larger than the screen, and on it.
void keep_on_screen(MainWindow& window) {
  const QScreen* const screen = window.screen() != nullptr ? window.screen() : QGuiApplication::primaryScreen();
  if (screen == nullptr) return;
  const QRect room = screen->availableGeometry();
  window.resize(window.size().boundedTo(room.size()));
  if (!room.intersects(window.geometry())) window.move(room.topLeft());
}

template <class Use>
void for_each_part(const MainWindow& window, const Use& use) {
  for (Page* const page : window.pages()) {
    qsizetype number = 0;
    for (QSplitter* const splitter : page->findChildren<QSplitter*>()) use(splitter_key(*page, number++), splitter);
    number = 0;
    for (TableView* const view : page->findChildren<TableView*>()) use(columns_key(*page, number++), view);
  }
}

QByteArray state_of(const QSplitter* splitter) { return splitter->saveState(); }
QByteArray state_of(const TableView* view) { return view->saved_columns(); }
void restore(QSplitter* splitter, const QByteArray& state) { splitter->restoreState(state); }
void restore(TableView* view, const QByteArray& state) { view->restore_columns(state); }

}  // namespace

void remember(MainWindow& window, QSettings& settings) {
  settings.setValue(geometry_key, window.saveGeometry());
  settings.setValue(state_key, window.saveState(state_version));
  settings.setValue(dark_key, &palette_of(window) == &palette_of(Scheme::dark));
  for_each_part(window, [&](const QString& key, const auto* part) {
    if (const QByteArray state = state_of(part); !state.isEmpty()) settings.setValue(key, state);
  });
  const WindowState state{window.question().form(), window.page_in_front()->id().toStdString()};
  settings.setValue(question_key, qt(to_json_text(to_json(state))));
}

void recall(MainWindow& window, QSettings& settings) {
  window.restoreGeometry(settings.value(geometry_key).toByteArray());
  window.restoreState(settings.value(state_key).toByteArray(), state_version);
  keep_on_screen(window);
  for_each_part(window, [&](const QString& key, auto* part) {
    if (const QByteArray state = settings.value(key).toByteArray(); !state.isEmpty()) restore(part, state);
  });
}

void recall_question(MainWindow& window, QSettings& settings) {
  const std::string text = settings.value(question_key).toString().toStdString();
  if (text.empty()) return;
  try {
    const WindowState state =
        window_state_from_json(JsonPlace(parse_json(text, "the last question"), "the last question:"));
    if (state.form == QuestionForm()) return;
    window.question().replace(state.form, QObject::tr("Last question"));
    window.bring_to_front(qt(state.page));
  } catch (const InputError&) {
    settings.remove(question_key);  // of another version of this program
  }
}

std::optional<Scheme> recalled_scheme(const QSettings& settings) {
  if (!settings.contains(dark_key)) return std::nullopt;
  return settings.value(dark_key).toBool() ? Scheme::dark : Scheme::light;
}

}  // namespace plumbline::gui
