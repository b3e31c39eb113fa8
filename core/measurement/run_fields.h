#pragma once
/// \file run_fields.h: the keys of a run that a prediction may depend on, with the range of each number.
///
/// Keys that are in neither table are allowed in an array of runs (others collect more than this program reads), and
/// listed as unread.

#include <array>
#include <cstdint>
#include <string_view>

namespace plumbline {

struct RunNumberField {
  std::string_view key;
  std::int64_t smallest;
  std::int64_t largest;
};

inline constexpr std::array run_number_fields{
    RunNumberField{"num_layers_override", 1, 100'000},
    RunNumberField{"gpus", 1, 10'000'000},
    RunNumberField{"nodes", 1, 10'000'000},
    RunNumberField{"gpus_per_node", 1, 100'000},
    RunNumberField{"seq_len", 1, 100'000'000},
    RunNumberField{"global_batch", 1, 1'000'000'000},
    RunNumberField{"micro_batch", 1, 1'000'000'000},
    RunNumberField{"grad_accum", 1, 1'000'000'000},
    RunNumberField{"tp", 1, 10'000'000},
    RunNumberField{"pp", 1, 10'000'000},
    RunNumberField{"dp", 1, 10'000'000},
    RunNumberField{"cp", 1, 10'000'000},
    RunNumberField{"ep", 1, 10'000'000},
    RunNumberField{"etp", 1, 10'000'000},
    RunNumberField{"vpp", 1, 100'000},
    RunNumberField{"zero_stage", 0, 3},
    RunNumberField{"fsdp_group", 0, 10'000'000},
    RunNumberField{"zero1_group", 0, 10'000'000},
    RunNumberField{"fsdp", 0, 1},
    RunNumberField{"lora_rank", 1, 1'000'000},
    RunNumberField{"document_tokens", 1, 100'000'000},
};

/// Texts; truth values become "true" and "false".
inline constexpr std::array<std::string_view, 44> run_word_fields{"model",
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
                                                                  "overlap",
                                                                  "cuda_graphs",
                                                                  "tp_comm_overlap",
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
                                                                  "section",
                                                                  "layers_per_stage",
                                                                  "cp_comm"};

/// `args`: flags of the launch as published; each becomes the word "args.FLAG".
inline constexpr std::string_view row_argument_prefix = "args.";

/// The keys of `model_spec`.
inline constexpr std::array run_shape_numbers{
    RunNumberField{"layers", 1, 100'000},           RunNumberField{"hidden", 1, 10'000'000},
    RunNumberField{"heads", 1, 1'000'000},          RunNumberField{"kv_heads", 1, 1'000'000},
    RunNumberField{"kv_channels", 1, 1'000'000},    RunNumberField{"head_dim", 1, 1'000'000},
    RunNumberField{"ffn", 1, 100'000'000},          RunNumberField{"vocab", 1, 100'000'000},
    RunNumberField{"seq_len", 1, 100'000'000},      RunNumberField{"vocab_padded_multiple", 1, 10'000'000},
    RunNumberField{"num_experts", 1, 1'000'000},    RunNumberField{"top_k", 1, 1'000'000},
    RunNumberField{"moe_ffn", 1, 100'000'000},      RunNumberField{"shared_expert_ffn", 1, 100'000'000},
    RunNumberField{"shared_experts", 0, 1'000'000}, RunNumberField{"dense_layers", 0, 100'000},
    RunNumberField{"dense_ffn", 1, 100'000'000},    RunNumberField{"mtp_depth", 0, 1000},
    RunNumberField{"q_lora_rank", 0, 10'000'000},   RunNumberField{"kv_lora_rank", 0, 10'000'000},
    RunNumberField{"qk_nope_head_dim", 0, 100'000}, RunNumberField{"qk_rope_head_dim", 0, 100'000},
    RunNumberField{"v_head_dim", 0, 100'000},
};
inline constexpr std::array<std::string_view, 10> run_shape_words{
    "arch",           "activation",           "norm", "position", "tied_embeddings", "bias", "attention",
    "moe_layer_freq", "hybrid_layer_pattern", "gated"};

}  // namespace plumbline
