#include "gui/pages/plans/plans_page.h"

#include <QComboBox>
#include <QLineEdit>
#include <QSignalSpy>
#include <QTest>
#include <QToolButton>

#include "gui/pages/plans/plans_picture.h"
#include "gui/tables/table_view.h"
#include "planner/present/plan_words.h"
#include "tests/catch.h"
#include "tests/gui/forms.h"
#include "tests/gui/pages/command.h"
#include "tests/gui/waiting.h"

namespace plumbline::gui {
namespace {

SharedFound found_for(const QuestionForm& form) {
  return std::make_shared<const Found>(Found{form, session::search(search_request(form))});
}

const SharedFound& small_found() {
  static const SharedFound found = found_for(small_form());
  return found;
}

TableView& ranking_view(const PlansPage& page) {
  for (TableView* const view : page.findChildren<TableView*>())
    if (view->model() == &page.ranking()) return *view;
  throw std::logic_error("no ranking");
}

struct Shown {
  PlansPage page;
  QSignalSpy chosen{&page, &PlansPage::chosen};

  Shown() {
    page.resize(980, 740);
    page.show_found(small_found());
    page.show();
  }
  [[nodiscard]] std::vector<int> last() const { return chosen.back().front().value<std::vector<int>>(); }
  void click_row(int place, Qt::KeyboardModifiers modifiers = {}) {
    TableView& view = ranking_view(page);
    QTest::mouseClick(view.viewport(), Qt::LeftButton, modifiers,
                      view.visualRect(view.model()->index(place, 0)).center());
  }
};

}  // namespace

TEST_CASE("the plans of the window are those of plan search --json, number by number") {
  const Json answer = command_answer(QStringList{"search", "--top", "200", "--pareto", "--json", "--fix", "zero=0"} +
                                     flags_of_question(small_form()));
  const Json::Array& plans = *answer.find("plans")->if_array();
  const ScatterPicture picture = scatter_of(small_found()->answer, folded_plans(small_found()->answer));
  const present::Table ranking = ranking_of(folded_plans(small_found()->answer));
  REQUIRE(plans.size() == picture.points.size());
  REQUIRE(plans.size() == ranking.rows.size());
  constexpr double gib = 1024. * 1024 * 1024;
  for (std::size_t i = 0; i < plans.size(); ++i) {
    const Json& prediction = *plans[i].find("prediction");
    const Json& step = *prediction.find("step_time_s");
    CHECK(picture.points[i].low_s == number_at(step, "low"));
    CHECK(picture.points[i].high_s == number_at(step, "high"));
    const Json* const simulated = prediction.find("simulated_step_time_s");
    if (simulated == nullptr || simulated->is_null()) CHECK(picture.points[i].step_s == number_at(step, "expected"));
    CHECK(picture.points[i].memory_gib == number_at(prediction, "peak_memory_bytes") / gib);
  }
  CHECK(picture.front.size() == answer.find("pareto")->if_array()->size());
  CHECK(static_cast<double>(small_found()->answer.result.audit.total) == number_at(answer, "considered"));
}

TEST_CASE("a click on a row chooses its plan, another with Ctrl both, and the picture follows") {
  Shown shown;
  shown.click_row(1);
  CHECK(shown.last() == std::vector<int>{1});
  shown.click_row(0, Qt::ControlModifier);
  CHECK(shown.last() == std::vector<int>{0, 1});
}

TEST_CASE("a click on a point chooses its row") {
  Shown shown;
  auto* const plot = static_cast<ScatterPlot*>(shown.page.picture());
  QTest::mouseClick(plot, Qt::LeftButton, {}, plot->place_of(2).toPoint());
  REQUIRE(shown.chosen.count() > 0);
  const int chosen = shown.last().front();
  CHECK((plot->place_of(chosen) - plot->place_of(2)).manhattanLength() < 12);
  CHECK(ranking_view(shown.page).chosen_rows() == shown.last());
}

TEST_CASE("a pointer over a row hovers its point") {
  Shown shown;
  TableView& view = ranking_view(shown.page);
  QTest::mouseMove(view.viewport(), view.visualRect(view.model()->index(2, 1)).center());
  CHECK(static_cast<ScatterPlot*>(shown.page.picture())->hovered() == 2);
}

TEST_CASE("typing a filter hides plans that do not hold it, and what is exported is what is shown") {
  Shown shown;
  auto* const filter = shown.page.findChild<QLineEdit*>();
  const int before = shown.page.ranking().rowCount();
  QTest::keyClicks(filter, "tp=1");
  const int after = shown.page.ranking().rowCount();
  CHECK(after > 0);
  CHECK(after < before);
  CHECK(static_cast<int>(shown.page.tables().front().table.rows.size()) == after);
  QTest::keyClicks(filter, "0000");
  CHECK(shown.page.ranking().rowCount() == 0);
}

TEST_CASE("plans within the noise are marked as the command line groups them") {
  const session::SearchAnswer& answer = small_found()->answer;
  const RowMarks marks = marks_of(answer, folded_plans(answer));
  CHECK(static_cast<std::size_t>(std::count(marks.tied.begin(), marks.tied.end(), 1)) == answer.ties.tied);
  CHECK(marks.bold[answer.ties.simplest] == 1);
}

TEST_CASE("a click unfolds plans that are alike, which are chosen as others are, and folds them again") {
  Shown shown;
  QToolButton* unfold = nullptr;
  for (QToolButton* const button : shown.page.findChildren<QToolButton*>())
    if (button->text().contains("nfold")) unfold = button;
  REQUIRE(unfold != nullptr);
  REQUIRE(unfold->isEnabled());
  const std::size_t folded = shown.page.plans().size();
  QTest::mouseClick(unfold, Qt::LeftButton);
  REQUIRE(wait_for([&] { return shown.page.is_complete(); }));
  REQUIRE(shown.page.plans().size() > folded);
  CHECK(shown.page.ranking().rowCount() == static_cast<int>(shown.page.plans().size()));
  const int last = static_cast<int>(shown.page.plans().size()) - 1;
  shown.page.choose(last);
  CHECK(shown.last() == std::vector<int>{last});
  QTest::mouseClick(unfold, Qt::LeftButton);
  CHECK(shown.page.plans().size() == folded);
}

TEST_CASE("the best so far are shown, cannot be chosen, and give way to the answer or to what was there before") {
  Shown shown;
  const int rows = shown.page.ranking().rowCount();
  const SharedSoFar so_far =
      std::make_shared<const FoundSoFar>(FoundSoFar{large_form(), {small_found()->answer.result.best.front()}});
  shown.page.show_so_far(so_far);
  CHECK(shown.page.ranking().rowCount() == 1);
  const auto before = shown.chosen.count();
  shown.click_row(0);
  CHECK(shown.chosen.count() == before);
  shown.page.end_so_far();
  CHECK(shown.page.ranking().rowCount() == rows);
  shown.page.show_so_far(so_far);
  shown.page.show_found(small_found());
  shown.click_row(0);
  CHECK(shown.chosen.count() == before + 1);
}

TEST_CASE("colours and intervals of the picture are chosen beside it") {
  Shown shown;
  auto* const plot = static_cast<ScatterPlot*>(shown.page.picture());
  auto* const list = shown.page.findChild<QComboBox*>();
  QTest::keyClick(list, Qt::Key_Down);
  CHECK(plot->shade().shade() == Shade::cost);
  CHECK(plot->shade().least_words().startsWith("$"));
  QTest::keyClick(list, Qt::Key_Down);
  CHECK(plot->shade().shade() == Shade::devices);
  CHECK(plot->shade().most_words() == "8");
}

TEST_CASE("every plan that was considered is shown or has a reason") {
  const SearchAudit& audit = small_found()->answer.result.audit;
  std::int64_t set_aside = 0;
  for (const auto& row : rejection_table(audit).rows) set_aside += static_cast<std::int64_t>(*row[1].number);
  CHECK(set_aside + audit.solved == audit.total);
}

TEST_CASE("where nothing fits the page says so, with the nearest plan") {
  QuestionForm form = small_form();
  form[Field::model] = "llama-3-70b";
  form[Field::machine] = "rtx4090-pcie";
  form[Field::gpus] = "1";
  form[Field::framework] = "any";
  PlansPage page;
  page.show_found(found_for(form));
  CHECK(page.ranking().rowCount() == 0);
  CHECK(page.found()->answer.plans.empty());
}

}  // namespace plumbline::gui
