#include "gui/machine/machine_numbers.h"

#include <algorithm>
#include <charconv>
#include <functional>
#include <utility>

#include "core/base/errors.h"
#include "core/io/machine_json.h"
#include "models/machine_catalog.h"

namespace plumbline::gui {
namespace {

/// Where a value stands, and what it belongs to.
struct Path {
  std::string place;
  std::string part;  ///< the nearest name around it
  std::string name;  ///< keys since then

  [[nodiscard]] Path into(const std::string& key) const {
    std::string words = key;
    std::replace(words.begin(), words.end(), '_', ' ');
    return {place + "/" + key, part, name.empty() ? words : name + " " + words};
  }
};

std::string text_of(const Json& value) {
  if (value.if_string() != nullptr) return *value.if_string();
  std::string text = to_json_text(value, -1);
  text.erase(std::remove(text.begin(), text.end(), '\n'), text.end());
  return text;
}

std::string text_at(const Json& object, std::string_view key) {
  const Json* const value = object.find(key);
  return value == nullptr || value->is_null() ? std::string() : text_of(*value);
}

bool is_plain_number(const Json& value) { return value.if_integer() != nullptr || value.if_double() != nullptr; }
bool is_sourced(const Json& value) { return value.find("value") != nullptr && value.find("source") != nullptr; }

/// Replaces every number by what `replaced` makes of it.
using Replaced = std::function<Json(const Path& path, const Json& number)>;
Json mapped(const Json& value, const Path& path, const Replaced& replaced) {
  if (is_plain_number(value) || is_sourced(value)) return replaced(path, value);
  if (const Json::Array* const array = value.if_array()) {
    Json::Array result;
    for (std::size_t i = 0; i < array->size(); ++i)
      result.push_back(mapped((*array)[i], {path.place + "/" + std::to_string(i), path.part, path.name}, replaced));
    return result;
  }
  const Json::Object* const object = value.if_object();
  if (object == nullptr) return value;
  Path inside = path;
  if (const std::string name = text_at(value, "name"); !name.empty()) inside = {path.place, name, ""};
  Json::Object result;
  for (const auto& [key, member] : *object) result.emplace_back(key, mapped(member, inside.into(key), replaced));
  return result;
}

/// A number where it is one and was one, else the text, which the reader refuses or reads with its unit.
Json typed(const std::string& text, const Json& before) {
  if (!is_plain_number(before)) return text;
  const char* const end = text.data() + text.size();
  std::int64_t whole = 0;
  if (const auto [at, error] = std::from_chars(text.data(), end, whole); error == std::errc{} && at == end)
    return whole;
  double real = 0;
  if (const auto [at, error] = std::from_chars(text.data(), end, real); error == std::errc{} && at == end) return real;
  return text;
}

Json with_edit(const Json& number, const MachineEdit& edit) {
  if (!is_sourced(number)) return edit.value.empty() ? number : typed(edit.value, number);
  const std::string before = text_at(number, "value"), source = text_at(number, "source");
  Json value = edit.value.empty() ? *number.find("value") : typed(edit.value, *number.find("value"));
  return Json::Object{
      {"value", std::move(value)},
      {"source",
       edit.source.empty() ? "edited in the window, in place of " + before + " (" + source + ")" : edit.source},
      {"kind", edit.kind.empty() ? std::string(to_text(SourceKind::assumed)) : edit.kind}};
}

/// The document under another name of its cluster.
Json renamed(const Json& document) {
  Json::Object result;
  for (const auto& [key, member] : *document.if_object()) {
    if (key != "cluster") {
      result.emplace_back(key, member);
      continue;
    }
    Json::Object cluster;
    for (const auto& [name, value] : *member.if_object())
      cluster.emplace_back(name, name == "name" ? Json(text_of(value) + "-edited") : value);
    result.emplace_back(key, std::move(cluster));
  }
  return result;
}

}  // namespace

Json machine_document(std::string_view machine) { return machine_json({{}, {}, find_machine(machine)}); }

std::vector<MachineNumber> machine_numbers(const Json& document) {
  std::vector<MachineNumber> numbers;
  (void)mapped(document, {}, [&](const Path& path, const Json& number) {
    if (is_sourced(number))
      numbers.push_back({path.place, path.part, path.name, text_at(number, "value"), text_at(number, "source"),
                         text_at(number, "kind"), text_at(number, "date")});
    else
      numbers.push_back({path.place, path.part, path.name, text_of(number), "", "", ""});
    return number;
  });
  return numbers;
}

Json edited_machine(const Json& document, const std::vector<MachineEdit>& edits, std::string_view machine) {
  const std::string source = std::string(machine) + ", edited";
  std::vector<std::string> unknown;
  for (const MachineEdit& edit : edits) unknown.push_back(edit.place);
  Json result = mapped(renamed(document), {}, [&](const Path& path, const Json& number) {
    const auto edit =
        std::find_if(edits.begin(), edits.end(), [&](const MachineEdit& one) { return one.place == path.place; });
    if (edit == edits.end()) return number;
    std::erase(unknown, path.place);
    return with_edit(number, *edit);
  });
  if (!unknown.empty())
    throw InputError({source + ":" + unknown.front(), "is no number of this cluster", "a place that has one", ""});
  (void)read_machine(result, source, machine_parts());
  return result;
}

}  // namespace plumbline::gui
