#include <algorithm>

#include "cli/verb.h"

#include "core/base/errors.h"

namespace plumbline {
namespace {

const RegisteredVerb*& last_registered() noexcept {
  static const RegisteredVerb* last = nullptr;
  return last;
}

}  // namespace

RegisteredVerb::RegisteredVerb(int place, Make make) noexcept : place_(place), make_(make), before_(last_registered()) {
  last_registered() = this;
}

std::vector<std::unique_ptr<Verb>> all_verbs() {
  std::vector<const RegisteredVerb*> registered;
  for (const RegisteredVerb* each = last_registered(); each != nullptr; each = each->before_)
    registered.push_back(each);
  std::sort(registered.begin(), registered.end(),
            [](const RegisteredVerb* a, const RegisteredVerb* b) { return a->place_ < b->place_; });
  std::vector<std::unique_ptr<Verb>> verbs;
  for (const RegisteredVerb* each : registered) verbs.push_back(each->make_());
  return verbs;
}

std::unique_ptr<Verb> find_verb(const std::string& name) {
  std::vector<std::unique_ptr<Verb>> verbs = all_verbs();
  std::vector<std::string> names;
  for (auto& verb : verbs) {
    if (verb->words().name == name) return std::move(verb);
    names.emplace_back(verb->words().name);
  }
  std::string expected;
  for (const std::string& known : names) expected += (expected.empty() ? "" : ", ") + known;
  throw InputError({name.substr(0, 60), "unknown verb", "one of " + expected, nearest_text(name, names)});
}

}  // namespace plumbline
