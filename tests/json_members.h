#pragma once
/// \file json_members.h: keys and members of an object of JSON, for tests of what scripts read.

#include <string>
#include <string_view>
#include <vector>

#include "core/io/json.h"
#include "tests/catch.h"

namespace plumbline {

using Names = std::vector<std::string>;

/// In the order of the text.
[[nodiscard]] inline Names keys(const Json& object) {
  Names names;
  for (const Json::Member& member : *object.if_object()) names.push_back(member.first);
  return names;
}

/// Fails the test where there is none.
[[nodiscard]] inline const Json& at(const Json& object, std::string_view key) {
  const Json* found = object.find(key);
  REQUIRE(found != nullptr);
  return *found;
}

}  // namespace plumbline
