#include "gui/io/window_json.h"

namespace plumbline::gui {

Json to_json(const WindowState& state) {
  Json::Object question;
  for (const FieldFacts& facts : all_fields())
    if (!state.form[facts.field].empty()) question.emplace_back(facts.id, state.form[facts.field]);
  return Json::Object{{"format", window_format}, {"question", std::move(question)}, {"page", state.page}};
}

WindowState window_state_from_json(const JsonPlace& root) {
  WindowState state;
  JsonObject document = open_document(root, window_format);
  JsonObject question(document.at("question"));
  for (const FieldFacts& facts : all_fields())
    if (const auto text = question.find(facts.id)) state.form[facts.field] = text->string();
  question.finish();
  if (const auto page = document.find("page")) state.page = page->string();
  document.finish();
  return state;
}

}  // namespace plumbline::gui
