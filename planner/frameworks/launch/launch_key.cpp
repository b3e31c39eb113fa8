#include "planner/frameworks/launch/launch_key.h"

#include <algorithm>

#include "core/base/errors.h"

namespace plumbline {
namespace {

/// The numbers of "core_v0.14.0": 0, 14, 0. None: a name such as "main", behind all numbered ones.
std::vector<std::int64_t> numbers(std::string_view release) {
  std::vector<std::int64_t> all;
  bool inside = false;
  for (const char c : release) {
    const bool digit = c >= '0' && c <= '9';
    if (digit && !inside) all.push_back(0);
    if (digit && all.back() < 1'000'000) all.back() = all.back() * 10 + (c - '0');
    inside = digit;
  }
  return all;
}

bool is_before(std::string_view a, std::string_view b) {
  const std::vector<std::int64_t> first = numbers(a);
  const std::vector<std::int64_t> second = numbers(b);
  if (first.empty() || second.empty()) return !first.empty() && second.empty();
  return first < second;
}

/// Puts a value at "a.b.c", making the objects between.
void put(Json::Object& object, std::string_view path, Json value) {
  const std::size_t dot = path.find('.');
  const std::string key(path.substr(0, dot));
  const auto found =
      std::find_if(object.begin(), object.end(), [&](const Json::Member& member) { return member.first == key; });
  if (dot == std::string_view::npos) {
    if (found == object.end())
      object.emplace_back(key, std::move(value));
    else
      found->second = std::move(value);
    return;
  }
  Json::Object inner;
  if (found != object.end() && found->second.if_object() != nullptr) inner = *found->second.if_object();
  put(inner, path.substr(dot + 1), std::move(value));
  if (found == object.end())
    object.emplace_back(key, std::move(inner));
  else
    found->second = std::move(inner);
}

const Json* find_at(const Json& tree, std::string_view path) {
  if (const Json* const whole = tree.find(path)) return whole;
  for (std::size_t dot = path.find('.'); dot != std::string_view::npos; dot = path.find('.', dot + 1))
    if (const Json* const inner = tree.find(path.substr(0, dot)))
      if (const Json* const found = find_at(*inner, path.substr(dot + 1))) return found;
  return nullptr;
}

bool is_prefix(const LaunchKey& key) { return !key.path.empty() && key.path.back() == '*'; }

void read_key(const LaunchKey& key, const Json& value, std::string_view source, LaunchSettings& settings) {
  const std::string where = std::string(source) + ": " + std::string(key.path);
  try {
    key.read(value, settings);
  } catch (const InputError& error) {
    const InputProblem& problem = error.problem();
    throw InputError({where, problem.what, problem.expected, problem.nearest});
  }
}

std::string_view changed_by(KeyEffect effect) {
  switch (effect) {
    case KeyEffect::none: return "";
    case KeyEffect::memory: return "memory";
    case KeyEffect::time: return "time";
    case KeyEffect::memory_and_time:
    case KeyEffect::decides: return "memory and time";
  }
  return "";
}

/// false or "none"; sections that are switched off are gone by then (usual_values.h).
bool turns_off(const Json& value) {
  if (const bool* const flag = value.if_bool()) return !*flag;
  const std::string* const word = value.if_string();
  return word != nullptr && (*word == "none" || *word == "no" || *word == "false" || *word == "False");
}

/// What of the tree no row reads.
class Remainder {
 public:
  explicit Remainder(const std::vector<LaunchKey>& keys) : keys_(keys) {}

  void look_at(const Json& tree, const std::string& above) {
    if (const Json::Object* const object = tree.if_object())
      for (const auto& [name, value] : *object) look_at_member(value, above + (above.empty() ? "" : ".") + name);
  }
  [[nodiscard]] ImportNotes take() { return std::move(notes_); }
  [[nodiscard]] bool knows_a_key() const { return knows_a_key_; }

 private:
  void look_at_member(const Json& value, const std::string& path) {
    if (value.is_null()) return;
    if (const LaunchKey* const key = row_of(path)) return note(*key, value, path);
    if (value.if_object() != nullptr && has_rows_below(path)) return look_at(value, path);
    notes_.unread.push_back(path + " is not known here: whether it changes memory or time is not known either");
  }

  void note(const LaunchKey& key, const Json& value, const std::string& path) {
    knows_a_key_ = true;
    if (reads(key, value)) return;
    const bool decides = key.effect == KeyEffect::decides;
    if (key.effect == KeyEffect::none || (decides && turns_off(value))) {
      ++notes_.ignored;
      return;
    }
    notes_.unread.push_back(path + " changes " + std::string(changed_by(key.effect)) + " and is not modelled");
    if (decides) notes_.decisive.push_back(notes_.unread.back());
  }

  [[nodiscard]] const LaunchKey* row_of(const std::string& path) const {
    const LaunchKey* widest = nullptr;
    for (const LaunchKey& key : keys_) {
      if (key.path == path) return &key;
      if (is_prefix(key) && path.starts_with(key.path.substr(0, key.path.size() - 1)) &&
          (widest == nullptr || widest->path.size() < key.path.size()))
        widest = &key;
    }
    return widest;
  }

  [[nodiscard]] bool has_rows_below(const std::string& path) const {
    return std::any_of(keys_.begin(), keys_.end(),
                       [&](const LaunchKey& key) { return key.path.starts_with(path + "."); });
  }

  const std::vector<LaunchKey>& keys_;
  ImportNotes notes_;
  bool knows_a_key_ = false;
};

}  // namespace

bool reads(const LaunchKey& key, const Json& value) { return key.read && (!key.understands || key.understands(value)); }

bool has_release(const LaunchKey& key, std::string_view release) {
  return (key.since.empty() || !is_before(release, key.since)) && (key.until.empty() || !is_before(key.until, release));
}

std::vector<std::string> missing_keys(const std::vector<LaunchKey>& keys, std::string_view release,
                                      const LaunchSettings& settings) {
  std::vector<std::string> missing;
  for (const LaunchKey& key : keys)
    if (key.write && !has_release(key, release) && key.write(settings)) missing.emplace_back(key.path);
  return missing;
}

Json written_tree(const std::vector<LaunchKey>& keys, std::string_view release, const LaunchSettings& settings) {
  Json::Object tree;
  for (const LaunchKey& key : keys)
    if (key.write && has_release(key, release))
      if (std::optional<Json> value = key.write(settings)) put(tree, key.path, std::move(*value));
  return tree;
}

void require_known_key(const std::vector<LaunchKey>& keys, const Json& tree, std::string_view source) {
  const Json::Object* const object = tree.if_object();
  if (object == nullptr || object->empty()) return;
  Remainder remainder(keys);
  remainder.look_at(tree, "");
  if (remainder.knows_a_key()) return;
  std::string names;
  for (const auto& [name, value] : *object)
    if (names.size() < 60) names += (names.empty() ? "" : ", ") + name.substr(0, 40);
  throw NoKnownKey(
      {std::string(source), "holds no key of this framework, but " + names, "a file of what --from names", ""});
}

ImportNotes read_tree(const std::vector<LaunchKey>& keys, const Json& tree, std::string_view source,
                      LaunchSettings& settings) {
  if (tree.if_object() == nullptr)
    throw InputError({std::string(source), "found " + std::string(tree.type_name()), "keys with values", ""});
  for (const LaunchKey& key : keys)
    if (const Json* const value = key.read && !is_prefix(key) ? find_at(tree, key.path) : nullptr)
      if (!value->is_null() && reads(key, *value)) read_key(key, *value, source, settings);
  Remainder remainder(keys);
  remainder.look_at(tree, "");
  return remainder.take();
}

}  // namespace plumbline
