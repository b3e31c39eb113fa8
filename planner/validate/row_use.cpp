#include "planner/validate/row_use.h"

#include <algorithm>
#include <array>

namespace plumbline {
namespace {

/// A row that only infers one of these proves less.
constexpr std::array<std::string_view, 12> decisive_fields{
    "seq_len", "global_batch", "micro_batch", "local_batch", "grad_accum", "tp",
    "pp",      "dp",           "cp",          "ep",          "gpus",       "measured.step_time_s"};

}  // namespace

std::string_view to_text(RowKind kind) {
  switch (kind) {
    case RowKind::time: return "time";
    case RowKind::memory: return "memory";
    case RowKind::fit: return "fit";
  }
  return "";
}

std::string_view to_text(RowTrust trust) {
  switch (trust) {
    case RowTrust::trusted: return "trusted";
    case RowTrust::inferred: return "inferred";
    case RowTrust::doubtful: return "doubtful";
  }
  return "";
}

std::optional<double> measured_time(const MeasuredRow& row) {
  if (row.measured.step_time_s) return row.measured.step_time_s;
  const RowFields& fields = row.question.fields;
  const auto batch = fields.number("global_batch");
  const auto sequence = fields.number("seq_len");
  const auto gpus = fields.number("gpus");
  if (!row.measured.tokens_per_s_per_gpu || !batch || !sequence || !gpus) return std::nullopt;
  return static_cast<double>(*batch) * static_cast<double>(*sequence) /
         (*row.measured.tokens_per_s_per_gpu * static_cast<double>(*gpus));
}

RowUses uses_of(const MeasuredRow& row) {
  if (row.suspect) return {{}, "its source contradicts itself"};
  RowUses uses;
  const auto allowed = [&](const char* use) { return !row.uses || row.uses->count(use) != 0; };
  if (allowed("time") && measured_time(row)) uses.kinds.push_back(RowKind::time);
  if (allowed("memory") && row.measured.has_memory()) uses.kinds.push_back(RowKind::memory);
  if (allowed("fit") && row.measured.out_of_memory) uses.kinds.push_back(RowKind::fit);
  if (!uses.kinds.empty()) return uses;
  if (!row.uses) return {{}, "nothing was measured that is predicted here"};
  if (row.uses->count("analytic") != 0) return {{}, "its numbers were computed, not measured"};
  if (row.uses->count("time_incomplete") != 0) return {{}, "its source does not publish enough to ask the question"};
  return {{}, "its collector found it fit for no comparison"};
}

namespace {

bool is_partly_known(const RowQuestion& question) {
  return std::any_of(decisive_fields.begin(), decisive_fields.end(),
                     [&](std::string_view field) { return question.unverified.contains(field); });
}

}  // namespace

RowTrust trust_of(const RowQuestion& question, const RowFields& fields) {
  if (fields.has("doubtful")) return RowTrust::doubtful;
  const bool inferred = is_partly_known(question);
  const bool inferred_interleaving = question.unverified.contains("vpp") && fields.number("vpp").value_or(1) > 1;
  return inferred || inferred_interleaving ? RowTrust::inferred : RowTrust::trusted;
}

std::string question_key(const RowQuestion& question) {
  std::string key = is_partly_known(question) ? "inferred;" : "";
  const auto add = [&](const RowFields& fields) {
    for (const auto& [name, word] : fields.words) key.append(name).append("=").append(word).append(";");
    for (const auto& [name, number] : fields.numbers) key += name + "=" + std::to_string(number) + ";";
  };
  add(question.fields);
  if (question.shape) key += "shape:", add(*question.shape);
  return key;
}

}  // namespace plumbline
