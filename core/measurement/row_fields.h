#pragma once
/// \file row_fields.h: the keys of a row that a prediction may depend on, with the range of each number.
///
/// Keys that are in neither table are allowed in a row (others collect more than this program reads) and ignored.

#include <array>
#include <cstdint>
#include <string_view>

namespace plumbline {

struct RowNumberField {
  std::string_view key;
  std::int64_t smallest;
  std::int64_t largest;
};

inline constexpr std::array row_number_fields{
    RowNumberField{"num_layers_override", 1, 100'000},
    RowNumberField{"gpus", 1, 10'000'000},
    RowNumberField{"nodes", 1, 10'000'000},
    RowNumberField{"gpus_per_node", 1, 100'000},
    RowNumberField{"seq_len", 1, 100'000'000},
    RowNumberField{"global_batch", 1, 1'000'000'000},
    RowNumberField{"micro_batch", 1, 1'000'000'000},
    RowNumberField{"grad_accum", 1, 1'000'000'000},
    RowNumberField{"tp", 1, 10'000'000},
    RowNumberField{"pp", 1, 10'000'000},
    RowNumberField{"dp", 1, 10'000'000},
    RowNumberField{"cp", 1, 10'000'000},
    RowNumberField{"ep", 1, 10'000'000},
    RowNumberField{"etp", 1, 10'000'000},
    RowNumberField{"vpp", 1, 100'000},
    RowNumberField{"zero_stage", 0, 3},
    RowNumberField{"fsdp_group", 0, 10'000'000},
    RowNumberField{"zero1_group", 0, 10'000'000},
    RowNumberField{"fsdp", 0, 1},
    RowNumberField{"lora_rank", 1, 1'000'000},
    RowNumberField{"document_tokens", 1, 100'000'000},
};

/// Texts; truth values become "true" and "false".
inline constexpr std::array<std::string_view, 39> row_word_fields{"model",
                                                                  "hardware",
                                                                  "network",
                                                                  "sharding",
                                                                  "optimizer_offload",
                                                                  "param_offload",
                                                                  "schedule",
                                                                  "recompute",
                                                                  "precision",
                                                                  "flash_attention",
                                                                  "optimizer",
                                                                  "compile",
                                                                  "async_tp",
                                                                  "framework",
                                                                  "release",
                                                                  "task",
                                                                  "sequence_parallel",
                                                                  "ep_comm_overlap",
                                                                  "mp_mode",
                                                                  "kernels",
                                                                  "variant",
                                                                  "loss",
                                                                  "quantization",
                                                                  "memory_basis",
                                                                  "memory_unit",
                                                                  "memory_rank",
                                                                  "gradient_format",
                                                                  "optimizer_format",
                                                                  "system",
                                                                  "machine",
                                                                  "stack",
                                                                  "activation_cpu_offload",
                                                                  "deterministic",
                                                                  "optimizer_in_backward",
                                                                  "attention_dropout",
                                                                  "hidden_dropout",
                                                                  "fake_comm",
                                                                  "lora_targets",
                                                                  "layers_per_stage"};

/// `args`: flags of the launch as published; each becomes the word "args.FLAG".
inline constexpr std::string_view row_argument_prefix = "args.";

/// The keys of `model_spec`.
inline constexpr std::array row_shape_numbers{
    RowNumberField{"layers", 1, 100'000},           RowNumberField{"hidden", 1, 10'000'000},
    RowNumberField{"heads", 1, 1'000'000},          RowNumberField{"kv_heads", 1, 1'000'000},
    RowNumberField{"kv_channels", 1, 1'000'000},    RowNumberField{"head_dim", 1, 1'000'000},
    RowNumberField{"ffn", 1, 100'000'000},          RowNumberField{"vocab", 1, 100'000'000},
    RowNumberField{"seq_len", 1, 100'000'000},      RowNumberField{"vocab_padded_multiple", 1, 10'000'000},
    RowNumberField{"num_experts", 1, 1'000'000},    RowNumberField{"top_k", 1, 1'000'000},
    RowNumberField{"moe_ffn", 1, 100'000'000},      RowNumberField{"shared_expert_ffn", 1, 100'000'000},
    RowNumberField{"shared_experts", 0, 1'000'000}, RowNumberField{"dense_layers", 0, 100'000},
    RowNumberField{"dense_ffn", 1, 100'000'000},    RowNumberField{"mtp_depth", 0, 1000},
    RowNumberField{"q_lora_rank", 0, 10'000'000},   RowNumberField{"kv_lora_rank", 0, 10'000'000},
    RowNumberField{"qk_nope_head_dim", 0, 100'000}, RowNumberField{"qk_rope_head_dim", 0, 100'000},
    RowNumberField{"v_head_dim", 0, 100'000},
};
inline constexpr std::array<std::string_view, 9> row_shape_words{
    "arch",           "activation",          "norm", "position", "tied_embeddings", "bias", "attention",
    "moe_layer_freq", "hybrid_layer_pattern"};

}  // namespace plumbline
