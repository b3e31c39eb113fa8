#include "planner/frameworks/syntax/yaml.h"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <set>
#include <sstream>
#include <vector>

#include "core/base/errors.h"
#include "planner/frameworks/syntax/quoting.h"
#include "planner/frameworks/syntax/yaml_words.h"

namespace plumbline {
namespace {

constexpr std::size_t largest_yaml_text = std::size_t{1} << 20;
constexpr std::size_t deepest_yaml_nesting = 64;
constexpr std::string_view core_tags = "tag:yaml.org,2002:";

std::string shown(std::string_view text) {
  std::string start(text.substr(0, 40));
  std::replace_if(
      start.begin(), start.end(), [](unsigned char c) { return c < 0x20 || c >= 0x7f; }, '?');
  return start;
}

/// Builds a tree from the parser's events and stops at the first thing that is refused.
class TreeBuilder : public YAML::EventHandler {
 public:
  explicit TreeBuilder(std::string_view name) : name_(name) {}

  void OnDocumentStart(const YAML::Mark&) override {}
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t) override { add(mark, Json(), "null"); }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t) override {
    refuse(mark, "an alias (*NAME)", "the values themselves");
  }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t, const std::string& value) override {
    add(mark, value_of(mark, tag, value), value);
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t,
                       YAML::EmitterStyle::value) override {
    open(mark, tag, "seq", false);
  }
  void OnSequenceEnd() override { close(); }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t, YAML::EmitterStyle::value) override {
    open(mark, tag, "map", true);
  }
  void OnMapEnd() override { close(); }

  Json take() { return std::move(root_); }

  [[noreturn]] void refuse(const YAML::Mark& mark, std::string what, std::string expected) const {
    const std::string line = mark.line < 0 ? std::string() : ": line " + std::to_string(mark.line + 1);
    throw InputError({name_ + line, std::move(what), std::move(expected), ""});
  }

 private:
  struct Level {
    bool is_map = false;
    bool has_key = false;
    std::string key = {};
    std::set<std::string> keys = {};
    Json::Object members = {};
    Json::Array elements = {};
  };

  /// "?" is the tag of a plain word, "!" that of a quoted one.
  Json value_of(const YAML::Mark& mark, const std::string& tag, const std::string& text) const {
    if (tag == "!" || tag == std::string(core_tags) + "str") return Json(text);
    for (const std::string_view type : {"int", "float", "bool", "null"})
      if (tag == std::string(core_tags) + std::string(type)) return plain_yaml_value(text);
    if (!tag.empty() && tag != "?") refuse(mark, "tag " + shown(tag), "plain YAML");
    return plain_yaml_value(text);
  }

  void add(const YAML::Mark& mark, Json value, std::string_view text) {
    if (!levels_.empty() && levels_.back().is_map && !levels_.back().has_key) return add_key(mark, text);
    put(std::move(value));
  }

  void add_key(const YAML::Mark& mark, std::string_view text) {
    Level& level = levels_.back();
    if (text == "<<") refuse(mark, "a merge of keys (<<)", "the keys themselves");
    level.key = text;
    level.has_key = true;
    if (!level.keys.insert(level.key).second) refuse(mark, "key " + shown(text) + " appears twice", "each key once");
  }

  void put(Json value) {
    if (levels_.empty()) {
      root_ = std::move(value);
      return;
    }
    Level& level = levels_.back();
    if (level.is_map)
      level.members.emplace_back(std::move(level.key), std::move(value));
    else
      level.elements.push_back(std::move(value));
    level.has_key = false;
  }

  void open(const YAML::Mark& mark, const std::string& tag, std::string_view usual_tag, bool is_map) {
    if (!tag.empty() && tag != "?" && tag != "!" && tag != std::string(core_tags) + std::string(usual_tag))
      refuse(mark, "tag " + shown(tag), "plain YAML");
    if (!levels_.empty() && levels_.back().is_map && !levels_.back().has_key)
      refuse(mark, "a key that is a list or has keys itself", "a word");
    if (levels_.size() == deepest_yaml_nesting)
      refuse(mark, "nested deeper than " + std::to_string(deepest_yaml_nesting) + " levels", "a flatter document");
    levels_.push_back(Level{.is_map = is_map});
  }

  void close() {
    Level level = std::move(levels_.back());
    levels_.pop_back();
    put(level.is_map ? Json(std::move(level.members)) : Json(std::move(level.elements)));
  }

  std::string name_;
  std::vector<Level> levels_;
  Json root_;
};

bool is_block(const Json& value) {
  if (const Json::Object* const object = value.if_object()) return !object->empty();
  const Json::Array* const array = value.if_array();
  return array != nullptr && !array->empty();
}

void write_block(const Json& value, std::size_t indent, std::string& out);

void write_after(const Json& value, std::size_t indent, std::string& out) {
  if (is_block(value)) {
    out += "\n";
    write_block(value, indent, out);
  } else {
    out += " " + yaml_scalar(value) + "\n";
  }
}

void write_block(const Json& value, std::size_t indent, std::string& out) {
  const std::string margin(indent, ' ');
  if (const Json::Object* const object = value.if_object()) {
    for (const auto& [key, member] : *object) {
      out += margin + yaml_scalar(Json(key)) + ":";
      write_after(member, indent + 2, out);
    }
    return;
  }
  for (const Json& element : *value.if_array()) {
    out += margin + "-";
    write_after(element, indent + 2, out);
  }
}

}  // namespace

Json read_yaml(std::string_view text, std::string_view name) {
  if (text.size() > largest_yaml_text)
    throw InputError({std::string(name), "larger than 1 MiB", "a smaller document", ""});
  // No YAML holds control characters, and the parser takes some of them for the end of the text.
  const auto control = std::find_if(text.begin(), text.end(),
                                    [](unsigned char c) { return c < 0x20 && c != '\t' && c != '\n' && c != '\r'; });
  if (control != text.end())
    throw InputError({std::string(name) + ": line " + std::to_string(1 + std::count(text.begin(), control, '\n')),
                      "a control character", "a YAML document", ""});
  TreeBuilder builder(name);
  std::istringstream stream{std::string(text)};
  try {
    YAML::Parser parser(stream);
    parser.HandleNextDocument(builder);
  } catch (const YAML::Exception& error) {
    builder.refuse(error.mark, "not valid YAML: " + shown(error.msg), "a YAML document");
  }
  return builder.take();
}

std::string yaml_text(const Json& tree) {
  if (!is_block(tree)) return yaml_scalar(tree) + "\n";
  std::string out;
  write_block(tree, 0, out);
  return out;
}

}  // namespace plumbline
