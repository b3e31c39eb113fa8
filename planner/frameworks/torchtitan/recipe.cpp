#include "planner/frameworks/torchtitan/recipe.h"

#include <algorithm>
#include <array>
#include <optional>

#include "core/base/errors.h"
#include "planner/frameworks/syntax/quoting.h"
#include "planner/frameworks/torchtitan/flavors.h"
#include "planner/frameworks/torchtitan/launch_keys.h"

namespace plumbline::torchtitan {
namespace {

constexpr std::size_t largest_recipe_text = std::size_t{1} << 20;

std::string text_of(const Json& tree, std::string_view path) {
  const Json* const value = value_at(tree, path);
  return value == nullptr || value->if_string() == nullptr ? "" : *value->if_string();
}

struct ClassOfMode {
  std::string_view mode;
  std::string_view name;
};
constexpr std::array recompute_classes{ClassOfMode{"full", "FullAC"}, ClassOfMode{"selective", "SelectiveAC"},
                                       ClassOfMode{"memory_budget", "MemoryBudgetAC"}};

std::string_view recompute_class(std::string_view mode) {
  for (const ClassOfMode& one : recompute_classes)
    if (one.mode == mode) return one.name;
  return "";
}

std::string head(const Flavor* flavor, const std::string& model, std::string_view recompute) {
  std::string text =
      "# A recipe of torchtitan: torchrun ... -m torchtitan.train --module torchtitan_recipe --config plan\n";
  if (!recompute.empty())
    text += "from torchtitan.distributed.activation_checkpoint import " + std::string(recompute) + "\n";
  const std::string module = "torchtitan.models." + (flavor != nullptr ? std::string(flavor->model) : "YOUR_MODEL");
  if (flavor == nullptr) {
    text += "from YOUR_MODULE import YOUR_RECIPE  # that makes " + comment_text(model) + "\n";
  } else {
    if (flavor->flavor != flavor->recipe_flavor) text += "from " + module + " import model_registry\n";
    text += "from " + module + ".config_registry import " + std::string(flavor->recipe) + "\n";
  }
  return text + "from torchtitan.trainer import Trainer\n\n\ndef plan() -> Trainer.Config:\n    config = " +
         (flavor != nullptr ? std::string(flavor->recipe) : "YOUR_RECIPE") + "()\n";
}

/// Reads the literals that recipe_text writes, and Python's spaces, comments and trailing commas in them.
class LiteralReader {
 public:
  LiteralReader(std::string_view text, std::size_t at) : text_(text), at_(at) {}

  std::optional<Json> value(int depth = 0) {
    skip_space(depth > 0);
    if (at_ >= text_.size() || depth > 16) return std::nullopt;
    const char c = text_[at_];
    if (c == '[' || c == '(') return list(c == '[' ? ']' : ')', depth);
    if (c == '"' || c == '\'') return string(c);
    return word();
  }
  [[nodiscard]] std::size_t position() const { return at_; }

 private:
  void skip_space(bool over_lines) {
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '#' && over_lines) {
        at_ = std::min(text_.find('\n', at_), text_.size());
      } else if (c == ' ' || c == '\t' || (over_lines && (c == '\n' || c == '\r'))) {
        ++at_;
      } else {
        return;
      }
    }
  }

  std::optional<Json> list(char end, int depth) {
    ++at_;
    Json::Array elements;
    for (skip_space(true); at_ < text_.size(); skip_space(true)) {
      if (text_[at_] == end) {
        ++at_;
        return Json(std::move(elements));
      }
      auto element = value(depth + 1);
      if (!element) return std::nullopt;
      elements.push_back(std::move(*element));
      skip_space(true);
      if (at_ < text_.size() && text_[at_] == ',') ++at_;
    }
    return std::nullopt;
  }

  std::optional<Json> string(char quote) {
    std::string content;
    for (++at_; at_ < text_.size() && text_[at_] != '\n'; ++at_) {
      if (text_[at_] == quote) {
        ++at_;
        return Json(std::move(content));
      }
      if (text_[at_] == '\\' && at_ + 1 < text_.size()) ++at_;
      content += text_[at_];
    }
    return std::nullopt;
  }

  /// A number, a product of numbers (4 * 8192), True, False or None.
  std::optional<Json> word() {
    const std::size_t end = std::min(text_.find_first_of(",])\n#", at_), text_.size());
    std::string plain;
    for (const char c : text_.substr(at_, end - at_))
      if (c != ' ' && c != '_' && c != '\t' && c != '\r') plain += c;
    at_ = end;
    if (plain == "True") return Json(true);
    if (plain == "False") return Json(false);
    if (plain == "None") return Json();
    return product(plain);
  }

  static std::optional<Json> product(const std::string& plain) {
    std::optional<Json> all;
    for (std::size_t start = 0; start <= plain.size();) {
      const std::size_t end = std::min(plain.find('*', start), plain.size());
      const auto factor = number(plain.substr(start, end - start));
      if (!factor || (all && (all->if_integer() == nullptr || factor->if_integer() == nullptr))) return std::nullopt;
      std::int64_t result = 0;
      if (all && __builtin_mul_overflow(*all->if_integer(), *factor->if_integer(), &result)) return std::nullopt;
      all = all ? Json(result) : *factor;
      start = end + 1;
    }
    return all;
  }

  static std::optional<Json> number(const std::string& plain) {
    if (plain.empty() || plain.find_first_not_of("0123456789+-.eE") != std::string::npos) return std::nullopt;
    try {
      return parse_json(plain, "");
    } catch (const InputError&) {
      return std::nullopt;
    }
  }

  std::string_view text_;
  std::size_t at_;
};

/// The tree as lines are read into it.
class RecipeReader {
 public:
  RecipeReader(std::string_view text, std::string_view name) : text_(text), name_(name) {}

  Json read() {
    for (std::size_t start = 0; start < text_.size();) {
      const std::size_t end = std::min(text_.find('\n', start), text_.size());
      start = std::max(end + 1, line(start, end));
    }
    if (tables_.empty())
      throw InputError(
          {std::string(name_), "no field of a config is set", "lines such as config.training.steps = 1000", ""});
    Json::Object tree;
    for (auto& [table, members] : tables_) tree.emplace_back(table, Json(std::move(members)));
    return tree;
  }

 private:
  /// Returns where the line's value ends.
  std::size_t line(std::size_t start, std::size_t end) {
    const std::string_view whole = text_.substr(start, end - start);
    const std::size_t equals = whole.find('=');
    if (equals == std::string_view::npos || whole.substr(equals, 2) == "==") return end;
    const std::string_view left = trimmed(whole.substr(0, equals));
    const std::string_view right = trimmed(whole.substr(equals + 1));
    if (left.find_first_of(" \t#(\"'[") != std::string_view::npos) return end;
    if (const Flavor* const flavor = flavor_of_recipe(right.substr(0, right.find('(')))) {
      put("model", "name", Json(flavor->model));
      put("model", "flavor", Json(flavor->recipe_flavor));
      return end;
    }
    return field(left, right, start + equals + 1, end);
  }

  std::size_t field(std::string_view left, std::string_view right, std::size_t value_at, std::size_t end) {
    const std::size_t first = left.find('.');
    if (first == std::string_view::npos) return end;
    const std::string_view path = left.substr(first + 1);
    if (path == "activation_checkpoint") put(path, "mode", mode_of(right));
    if (path == "model_spec") put_flavor(right);
    LiteralReader reader(text_, value_at);
    const auto value = reader.value();
    const std::size_t second = path.find('.');
    if (!value || (second == std::string_view::npos && path != "hf_assets_path")) return end;
    if (second == std::string_view::npos)
      put("model", path, *value);
    else
      put(path.substr(0, second), path.substr(second + 1), *value);
    return reader.position();
  }

  /// FullAC.Config(...), None. SelectiveAC chooses by operator.
  Json mode_of(std::string_view right) {
    for (const ClassOfMode& one : recompute_classes) {
      if (!right.starts_with(one.name)) continue;
      if (one.mode == "selective") put("activation_checkpoint", "selective_ac_option", Json("op"));
      return Json(one.mode);
    }
    return Json(right.starts_with("None") ? "none" : right);
  }

  /// model_registry("8B", ...)
  void put_flavor(std::string_view right) {
    const std::size_t open = right.find("(\"");
    if (!right.starts_with("model_registry") || open == std::string_view::npos) return;
    const std::string_view flavor = right.substr(open + 2);
    put("model", "flavor", Json(flavor.substr(0, flavor.find('"'))));
  }

  void put(std::string_view table, std::string_view key, Json value) {
    const auto same = [](std::string_view wanted) { return [wanted](const auto& one) { return one.first == wanted; }; };
    auto found = std::find_if(tables_.begin(), tables_.end(), same(table));
    if (found == tables_.end()) found = tables_.insert(tables_.end(), {std::string(table), {}});
    Json::Object& members = found->second;
    const auto member = std::find_if(members.begin(), members.end(), same(key));
    if (member == members.end())
      members.emplace_back(std::string(key), std::move(value));
    else
      member->second = std::move(value);
  }

  static std::string_view trimmed(std::string_view text) {
    const std::size_t from = text.find_first_not_of(" \t\r");
    if (from == std::string_view::npos) return {};
    return text.substr(from, text.find_last_not_of(" \t\r") - from + 1);
  }

  std::string_view text_;
  std::string_view name_;
  std::vector<std::pair<std::string, Json::Object>> tables_;
};

}  // namespace

std::string recipe_text(const Json& tree) {
  const std::string model = text_of(tree, "model.name");
  const std::string assets = text_of(tree, "model.hf_assets_path");
  const Flavor* const flavor = flavor_named(model, text_of(tree, "model.flavor"), assets);
  const std::string_view recompute = recompute_class(text_of(tree, "activation_checkpoint.mode"));
  std::string text = head(flavor, model, recompute);
  if (flavor != nullptr && flavor->flavor != flavor->recipe_flavor)
    text += "    config.model_spec = model_registry(\"" + std::string(flavor->flavor) + "\")\n";
  if (!assets.empty()) text += "    config.hf_assets_path = " + python_literal(Json(assets)) + "\n";
  if (const Json::Object* const tables = tree.if_object())
    for (const auto& [table, members] : *tables) {
      if (table == "model" || table == "activation_checkpoint" || members.if_object() == nullptr) continue;
      for (const auto& [key, value] : *members.if_object())
        text.append("    config.")
            .append(table)
            .append(".")
            .append(key)
            .append(" = ")
            .append(python_literal(value, 4))
            .append("\n");
    }
  if (value_at(tree, "activation_checkpoint.mode") != nullptr)
    text +=
        "    config.activation_checkpoint = " + (recompute.empty() ? "None" : std::string(recompute) + ".Config()") +
        "\n";
  return text + "    return config\n";
}

Json read_recipe(std::string_view text, std::string_view name) {
  if (text.size() > largest_recipe_text)
    throw InputError({std::string(name), "over 1 MiB", "a recipe of torchtitan", ""});
  return RecipeReader(text, name).read();
}

}  // namespace plumbline::torchtitan
