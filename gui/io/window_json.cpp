#include "gui/io/window_json.h"

#include <utility>

namespace plumbline::gui {
namespace {

Json to_json(const MachineEdit& edit) {
  Json::Object object{{"place", edit.place}};
  for (const auto& [key, text] : {std::pair{"value", &edit.value}, {"source", &edit.source}, {"kind", &edit.kind}})
    if (!text->empty()) object.emplace_back(key, *text);
  return object;
}

MachineEdit machine_edit_from_json(const JsonPlace& place) {
  JsonObject object(place);
  MachineEdit edit;
  edit.place = object.at("place").string();
  for (const auto& [key, text] : {std::pair{"value", &edit.value}, {"source", &edit.source}, {"kind", &edit.kind}})
    if (const auto given = object.find(key)) *text = given->string();
  object.finish();
  return edit;
}

}  // namespace

Json to_json(const WindowState& state) {
  Json::Object question;
  for (const FieldFacts& facts : all_fields())
    if (!state.form[facts.field].empty()) question.emplace_back(facts.id, state.form[facts.field]);
  Json::Object result{{"format", window_format}, {"question", std::move(question)}};
  if (!state.form.machine_edits.empty()) {
    Json::Array edits;
    for (const MachineEdit& edit : state.form.machine_edits) edits.emplace_back(to_json(edit));
    result.emplace_back("cluster_numbers", std::move(edits));
  }
  result.emplace_back("page", state.page);
  return result;
}

WindowState window_state_from_json(const JsonPlace& root) {
  WindowState state;
  JsonObject document = open_document(root, window_format);
  JsonObject question(document.at("question"));
  for (const FieldFacts& facts : all_fields())
    if (const auto text = question.find(facts.id)) state.form[facts.field] = text->string();
  question.finish();
  if (const auto edits = document.find("cluster_numbers"))
    for (const JsonPlace& edit : edits->elements()) state.form.machine_edits.push_back(machine_edit_from_json(edit));
  if (const auto page = document.find("page")) state.page = page->string();
  document.finish();
  return state;
}

}  // namespace plumbline::gui
