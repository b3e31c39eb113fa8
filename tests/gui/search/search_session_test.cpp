#include "gui/search/search_session.h"

#include "tests/catch.h"
#include "tests/gui/forms.h"
#include "tests/gui/waiting.h"

namespace plumbline::gui {
namespace {

/// What a session said.
struct Heard {
  std::vector<SharedFound> found;
  std::vector<Refusal> refusals;
  int progress = 0;
  std::vector<SharedSoFar> so_far;

  explicit Heard(SearchSession& session) {
    QObject::connect(&session, &SearchSession::answered, [this](const SharedFound& one) { found.push_back(one); });
    QObject::connect(&session, &SearchSession::refused, [this](const Refusal& one) { refusals.push_back(one); });
    QObject::connect(&session, &SearchSession::found_so_far, [this](const SharedSoFar& one) { so_far.push_back(one); });
    QObject::connect(&session, &SearchSession::progressed, [this](const SearchState&) { ++progress; });
  }
};

}  // namespace

TEST_CASE("a search starts by itself a moment after the question") {
  SearchSession session;
  const Heard heard(session);
  session.ask(small_form());
  CHECK(session.is_busy());
  REQUIRE(wait_for([&] { return !session.is_busy(); }));
  REQUIRE(heard.found.size() == 1);
  CHECK(heard.found.front()->form == small_form());
  CHECK(heard.found.front()->answer.result.complete);
}

TEST_CASE("of questions in quick succession only the last is answered") {
  SearchSession session;
  const Heard heard(session);
  QuestionForm form = small_form();
  for (const char* const batch : {"8", "16", "32", "64", "128"}) {
    form[Field::batch] = batch;
    session.ask(form);
    QTest::qWait(5);
  }
  REQUIRE(wait_for([&] { return !session.is_busy(); }));
  REQUIRE(heard.found.size() == 1);
  CHECK(heard.found.front()->answer.plans.front().training.global_batch == 128);
}

TEST_CASE("a search that runs is dropped by the next question, and its answer never shown") {
  SearchSession session;
  const Heard heard(session);
  session.ask(large_form());
  session.flush();
  REQUIRE(wait_for([&] { return heard.progress > 0 || !heard.found.empty(); }));
  const std::size_t before = heard.found.size();
  session.ask(small_form());
  session.flush();
  REQUIRE(wait_for([&] { return !session.is_busy(); }));
  QTest::qWait(200);
  REQUIRE(heard.found.size() == before + 1);
  CHECK(heard.found.back()->form == small_form());
}

TEST_CASE("a cancelled search answers with the best so far and says that it is not complete") {
  SearchSession session;
  const Heard heard(session);
  session.ask(large_form());
  session.flush();
  session.cancel();
  REQUIRE(wait_for([&] { return !session.is_busy(); }));
  REQUIRE(heard.found.size() == 1);
  CHECK_FALSE(heard.found.front()->answer.result.complete);
}

TEST_CASE("plans are told while a search goes on, best first, and none of a question that was dropped") {
  SearchSession session;
  const Heard heard(session);
  session.ask(large_form());
  session.flush();
  constexpr int patience_ms = 600'000;  // the first plans take seconds of a processor that others may keep busy
  REQUIRE(QTest::qWaitFor([&] { return !heard.so_far.empty() || !heard.found.empty(); }, patience_ms));
  REQUIRE_FALSE(heard.so_far.empty());
  const std::vector<RankedStrategy>& best = heard.so_far.back()->best;
  REQUIRE_FALSE(best.empty());
  CHECK(best.size() <= shown_plans);
  for (std::size_t i = 1; i < best.size(); ++i)
    if (!best[i].simulated && !best[i - 1].simulated) CHECK(best[i - 1].step_time <= best[i].step_time);
  CHECK(heard.so_far.back()->form == large_form());
  session.ask(small_form());
  const std::size_t before = heard.so_far.size();
  REQUIRE(wait_for([&] { return !session.is_busy(); }));
  for (std::size_t i = before; i < heard.so_far.size(); ++i) CHECK(heard.so_far[i]->form == small_form());
}

TEST_CASE("an abandoned question is never answered") {
  SearchSession session;
  const Heard heard(session);
  session.ask(small_form());
  session.abandon();
  CHECK_FALSE(session.is_busy());
  QTest::qWait(500);
  CHECK(heard.found.empty());
}

TEST_CASE("a wrong question is refused by its field") {
  SearchSession session;
  const Heard heard(session);
  QuestionForm form = small_form();
  form[Field::model] = "gpt-none";
  session.ask(form);
  REQUIRE(wait_for([&] { return !session.is_busy(); }));
  CHECK(heard.found.empty());
  REQUIRE(heard.refusals.size() == 1);
  CHECK(heard.refusals.front().field == Field::model);
}

}  // namespace plumbline::gui
