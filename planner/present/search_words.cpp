#include "planner/present/search_words.h"

#include "core/plan/legality.h"
#include "core/quantity/text.h"

namespace plumbline::present {
namespace {

std::string sentence_of(const std::string& id) {
  for (const Rule rule : all_rules)
    if (rule_id(rule) == id) return std::string(rule_sentence(rule));
  return "";
}

}  // namespace

std::string audit_words(const SearchAudit& audit) {
  std::int64_t illegal = 0;
  for (const auto& [rule, count] : audit.illegal) illegal += count;
  std::string text = "considered " + grouped(audit.total) + " = " + grouped(illegal) + " illegal + " +
                     grouped(audit.memory) + " beyond memory + " + grouped(audit.bound) + " bounded away + " +
                     grouped(audit.dominated) + " dominated + " + grouped(audit.infeasible) + " infeasible + " +
                     grouped(audit.solved) + " priced";
  if (audit.unvisited > 0) text += " + " + grouped(audit.unvisited) + " not looked at";
  return text;
}

std::vector<std::string> rejections(const SearchAudit& audit) {
  std::vector<std::string> all;
  for (const auto& [rule, count] : audit.illegal) all.push_back(rule + " " + grouped(count) + ": " + sentence_of(rule));
  return all;
}

}  // namespace plumbline::present
