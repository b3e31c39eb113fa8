// Every word of an answer has a meaning.

#include "planner/present/glossary.h"

#include <algorithm>
#include <cctype>

#include "tests/catch.h"

namespace plumbline::present {
namespace {

TEST_CASE("every cause of time and every class of memory has a meaning of its own") {
  std::vector<std::string_view> meanings;
  for (std::size_t i = 0; i < time_cause_count; ++i) meanings.push_back(meaning(static_cast<TimeCause>(i)));
  for (std::size_t i = 0; i < memory_class_count; ++i) meanings.push_back(meaning(static_cast<MemoryClass>(i)));
  std::sort(meanings.begin(), meanings.end());
  CHECK_FALSE(meanings.front().empty());
  CHECK(std::adjacent_find(meanings.begin(), meanings.end()) == meanings.end());
}

TEST_CASE("terms are in the order of the alphabet, each once") {
  const auto key = [](const Term& term) {
    std::string lower;
    for (const char c : term.name) lower += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    return lower;
  };
  const auto not_before = [&](const Term& a, const Term& b) { return key(a) >= key(b); };
  CHECK(std::adjacent_find(terms().begin(), terms().end(), not_before) == terms().end());
}

}  // namespace
}  // namespace plumbline::present
