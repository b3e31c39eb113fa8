// How attention is computed: its kernels, and how context-parallel ranks bring queries and keys together.
#include <cstdint>

#include "core/plan/asked_strategy.h"
#include "core/plan/axis_row.h"

namespace plumbline::axes {
namespace {

bool divides_sequences(const Strategy& s) { return s.context_parallel > 1; }

Broken fused_attention(const AskedStrategy& a) {
  if (a.s.flash_attention == FlashAttention::off || a.facts.head_features <= a.limits.flash_head) return std::nullopt;
  if (a.limits.flash_head == 0) return "FlashAttention, which has no kernels for these devices";
  return "FlashAttention over heads of " + number(a.facts.head_features) +
         " features, where its kernels for these "
         "devices take at most " +
         number(a.limits.flash_head);
}

Broken head_exchange(const AskedStrategy& a) {
  if (a.s.context_communication == ContextCommunication::ring) return std::nullopt;
  if (a.s.context_parallel == 1) return "all-to-all context parallelism with cp 1";
  if (a.facts.has_fixed_attention)
    return "all-to-all context parallelism for attention over tokens that no sequence divides";
  const std::int64_t ranks = std::int64_t{a.s.tensor_parallel} * a.s.context_parallel;
  for (const std::int64_t heads : a.facts.heads)
    if (heads % ranks != 0) return not_divisible("attention heads", heads, "tp x cp", ranks);
  for (const std::int64_t groups : a.facts.kv_heads)
    if (groups % ranks != 0) return not_divisible("kv heads", groups, "tp x cp", ranks);
  return std::nullopt;
}

}  // namespace

StrategyAxis context_communication_axis() {
  StrategyAxis row =
      new_row(choice_kind<&Strategy::context_communication>(all_context_communications),
              {.flag = "--cp-comm",
               .key = "cp_comm",
               .change = "context communication",
               .help = "how they attend to all tokens (ring); all-to-all scatters heads, as DeepSpeed Ulysses",
               .foreign = {"--cp-comm-type"},
               .meaning = "how context-parallel ranks attend to all tokens",
               .examples = ": ring, all-to-all or both",
               .column = "cp comm",
               .caption = "CP by",
               .in_schema = "how context-parallel ranks attend to all tokens; absent: ring"});
  row.in_tables = InTables::where_unusual;
  row.change_place = 8;
  row.column_place = 4;
  row.form_place = 5;
  row.applies = divides_sequences;
  row.follows = [](const Strategy& a, const Strategy& b) { return !divides_sequences(a) || !divides_sequences(b); };
  row.rules = {{{"R25",
                 "all-to-all context parallelism goes with cp above 1, and tp x cp divides the attention heads and the "
                 "kv heads"},
                head_exchange}};
  return row;
}

StrategyAxis flash_attention_axis() {
  StrategyAxis row = first_row({.file = StrategyAxis::recipe_place + 1, .change = 18, .column = 16},
                               toggle_kind<&Strategy::flash_attention, FlashAttention::on, FlashAttention::off>(),
                               {.flag = "--flash-attention",
                                .key = "flash_attention",
                                .change = "flash attention",
                                .help = "fused attention kernels (on)",
                                .foreign = {"--flash-attn", "--use-flash-attn", "--attn-implementation"},
                                .meaning = "fused attention kernels (FlashAttention)",
                                .column = "flash"});
  row.in_search = InSearch::listed;
  row.in_tables = InTables::where_different;
  row.is_of_question = true;
  row.rules = {
      {{"R24",
        "fused attention goes with devices and heads that it has kernels for (--flash-attention off keeps scores)"},
       fused_attention}};
  return row;
}

}  // namespace plumbline::axes
