#pragma once
/// \file run_fields.h: the keys of a run that a prediction may depend on, and of what was measured of it, with the
/// range of each number and the meaning of each key.
///
/// The reader (core/io/measured_runs_json.h), models/schemas/rows.schema.json and the keys on docs/rows.md are loops
/// over these tables (tests/golden/rows_schema_test.cpp writes the schema and the page).
///
/// Keys that are in no table are allowed in an array of runs (others collect more than this program reads), and
/// listed as unread.

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "core/measurement/measured_run.h"

namespace plumbline {

struct RunNumberField {
  std::string_view key;
  std::int64_t smallest;
  std::int64_t largest;
  std::string_view meaning;  ///< in the schema and on docs/rows.md
};

inline constexpr std::array run_number_fields{
    RunNumberField{"num_layers_override", 1, 100'000, "layers in place of the network's own"},
    RunNumberField{"gpus", 1, 10'000'000, "devices of the run"},
    RunNumberField{"nodes", 1, 10'000'000, "computers that hold them"},
    RunNumberField{
        "gpus_per_node", 1, 100'000,
        "beyond what its nodes hold it takes the machine with the same device whose nodes do, or skips the run"},
    RunNumberField{"seq_len", 1, 100'000'000, "tokens of a sequence"},
    RunNumberField{"global_batch", 1, 1'000'000'000, "sequences of a step"},
    RunNumberField{"micro_batch", 1, 1'000'000'000, "sequences of a micro-batch on a rank"},
    RunNumberField{"grad_accum", 1, 1'000'000'000, "micro-batches of a step"},
    RunNumberField{"tp", 1, 10'000'000, "tensor-parallel ranks"},
    RunNumberField{"pp", 1, 10'000'000, "pipeline stages"},
    RunNumberField{"dp", 1, 10'000'000, "data-parallel ranks"},
    RunNumberField{"cp", 1, 10'000'000, "context-parallel ranks"},
    RunNumberField{"ep", 1, 10'000'000, "expert-parallel ranks"},
    RunNumberField{"etp", 1, 10'000'000, "tensor-parallel ranks of an expert"},
    RunNumberField{"vpp", 1, 100'000, "virtual stages (chunks of layers) of a pipeline rank"},
    RunNumberField{"zero_stage", 0, 3,
                   "what data-parallel ranks shard: 1 optimizer states, 2 also gradients, 3 also parameters"},
    RunNumberField{"fsdp_group", 0, 10'000'000, "ranks that shard parameters together"},
    RunNumberField{"zero1_group", 0, 10'000'000, "ranks that shard optimizer states together"},
    RunNumberField{"fsdp", 0, 1, "1: parameters are sharded"},
    RunNumberField{"lora_rank", 1, 1'000'000, "of adapters alongside the frozen linears"},
    RunNumberField{"document_tokens", 1, 100'000'000,
                   "tokens of one of several documents packed into a sequence, which do not see each other; absent: "
                   "the sequence is one"},
};

/// What a key with a text may hold: also the layers of each pipeline chunk, as an array of numbers.
enum class RunWordValue : std::uint8_t { text, text_or_layers };
inline constexpr std::int64_t most_chunk_layers = 100'000;
/// Bytes of a text.
inline constexpr std::int64_t longest_run_word = 4096;

struct RunWordField {
  std::string_view key;
  std::string_view meaning;
  RunWordValue value = RunWordValue::text;
};

/// Texts; truth values become "true" and "false".
inline constexpr std::array run_word_fields{
    RunWordField{"model", "a name of `plan models`; or `model_spec` says the shape"},
    RunWordField{"hardware", "the device, as published"},
    RunWordField{"network",
                 "between nodes; a rate counts before the machine's: `4x100Gb RoCE per node`, `800 Gb/s` (of a node), "
                 "`400 Gb/s per GPU`, `8x NDR`"},
    RunWordField{"sharding", "the data parallelism, as published: `FSDP`, `SHARD_GRAD_OP`"},
    RunWordField{"optimizer_offload", "whether the optimizer's state is on the host"},
    RunWordField{"param_offload", "whether parameters are on the host"},
    RunWordField{"schedule", "of the pipeline"},
    RunWordField{"recompute", "which activations the backward pass computes again"},
    RunWordField{"precision",
                 "number formats; `bf16-autocast` and `fp16-autocast` are torch.autocast; of "
                 "`nvfp4, then fp8` the steps in the first are measured"},
    RunWordField{"flash_attention", "whether attention is fused"},
    RunWordField{"optimizer", "what updates the weights"},
    RunWordField{"compile", "whether the model was compiled"},
    RunWordField{"async_tp", "whether tensor-parallel communication is split to hide behind products"},
    RunWordField{"framework", "what trained it"},
    RunWordField{"release", "of the framework or its container"},
    RunWordField{"task", "`pretrain`, `sft`, `lora`"},
    RunWordField{"sequence_parallel", "whether tensor-parallel ranks share the tokens outside of attention and MLP"},
    RunWordField{"ep_comm_overlap", "whether expert-parallel communication is hidden behind compute"},
    RunWordField{"mp_mode", "of mixed precision, as published"},
    RunWordField{"kernels", "which implementations were chosen, as published"},
    RunWordField{"variant", "of the network or the method, as published"},
    RunWordField{"loss", "as `--loss`; absent: as the stack does"},
    RunWordField{"overlap", "as `--overlap`; absent: as the stack does"},
    RunWordField{"cuda_graphs",
                 "as `--cuda-graphs`; `full_iteration` is `iteration`, false is `none`; absent: as the stack does"},
    RunWordField{"tp_comm_overlap", "as `--tp-comm-overlap`, or true and false; absent: as the stack does"},
    RunWordField{"quantization", "of frozen weights"},
    RunWordField{"memory_basis", "which bytes: `allocated`, `reserved`, `device`"},
    RunWordField{"memory_unit", "what a printed GB is: `GB`, `GiB`"},
    RunWordField{"memory_rank", "whose memory: `heaviest`, `first`, `last`"},
    RunWordField{"gradient_format", "of accumulated gradients"},
    RunWordField{"optimizer_format", "of the optimizer's moments"},
    RunWordField{"system", "the product that the nodes are, with the network that it is sold with"},
    RunWordField{"machine", "a machine of the catalogue or a file, outright"},
    RunWordField{"stack",
                 "one of `plan stacks`, outright, with other values of traits or choices of features where a launch "
                 "says so: `nemo-fp8+fp8_copies=none`"},
    RunWordField{"activation_cpu_offload", "whether activations are on the host"},
    RunWordField{"deterministic", "whether kernels were kept to those that give the same bits"},
    RunWordField{"optimizer_in_backward", "whether weights are updated during the backward pass"},
    RunWordField{"attention_dropout", "of attention's probabilities: `on`, `off`"},
    RunWordField{"hidden_dropout", "ahead of residual sums: `on`, `off`"},
    RunWordField{"fake_comm", "whether collectives were left out"},
    RunWordField{"lora_targets", "`all`, `qkv` or `attention`; NeMo's `linear_qkv`, `linear_qkv,linear_proj`"},
    RunWordField{"section", "the table or benchmark that it is from"},
    RunWordField{
        "layers_per_stage",
        "layers of each pipeline chunk: `[4, 4, 4, 3]`, `4,4,4,3`, or Megatron-Core's layout, `Et*4|(t*4|)*14tmL`",
        RunWordValue::text_or_layers},
    RunWordField{"cp_comm",
                 "how context-parallel ranks attend to all tokens: `ring` (also where it is absent) or `all-to-all`"},
};

/// `args`: flags of the launch as published; each becomes the word "args.FLAG".
inline constexpr std::string_view row_argument_prefix = "args.";

/// The keys of `model_spec`.
inline constexpr std::array run_shape_numbers{
    RunNumberField{"layers", 1, 100'000, "transformer layers"},
    RunNumberField{"hidden", 1, 10'000'000, "width of the residual stream"},
    RunNumberField{"heads", 1, 1'000'000, "attention heads"},
    RunNumberField{"kv_heads", 1, 1'000'000, "heads of keys and values; absent: as many as `heads`"},
    RunNumberField{"kv_channels", 1, 1'000'000, "features of a head, as Megatron calls it"},
    RunNumberField{"head_dim", 1, 1'000'000, "features of a head"},
    RunNumberField{"ffn", 1, 100'000'000, "inner width of the MLP"},
    RunNumberField{"vocab", 1, 100'000'000, "tokens of the vocabulary"},
    RunNumberField{"seq_len", 1, 100'000'000, "longest sequence"},
    RunNumberField{"vocab_padded_multiple", 1, 10'000'000, "the vocabulary is padded to a multiple of it"},
    RunNumberField{"num_experts", 1, 1'000'000, "of an expert layer"},
    RunNumberField{"top_k", 1, 1'000'000, "experts of a token"},
    RunNumberField{"moe_ffn", 1, 100'000'000, "inner width of an expert"},
    RunNumberField{"shared_expert_ffn", 1, 100'000'000, "inner width of the experts that see every token"},
    RunNumberField{"shared_experts", 0, 1'000'000, "how many experts see every token"},
    RunNumberField{"dense_layers", 0, 100'000, "leading layers without experts"},
    RunNumberField{"dense_ffn", 1, 100'000'000, "their inner width"},
    RunNumberField{"mtp_depth", 0, 1000, "modules that predict further tokens"},
    RunNumberField{"q_lora_rank", 0, 10'000'000, "of compressed queries"},
    RunNumberField{"kv_lora_rank", 0, 10'000'000, "of compressed keys and values"},
    RunNumberField{"qk_nope_head_dim", 0, 100'000, "features of a query's or key's head without positions"},
    RunNumberField{"qk_rope_head_dim", 0, 100'000, "with rotary positions"},
    RunNumberField{"v_head_dim", 0, 100'000, "features of a value's head"},
};
inline constexpr std::array run_shape_words{
    RunWordField{"arch", "`gpt`, `llama` or a network derived from them"},
    RunWordField{"activation", "of the MLP"},
    RunWordField{"norm", "`LayerNorm`, `RMSNorm`"},
    RunWordField{"position", "`learned`, `rope`, `none`"},
    RunWordField{"tied_embeddings", "whether the head is the embedding"},
    RunWordField{"bias", "whether linears have biases"},
    RunWordField{"attention", "`MLA` where it is multi-head latent attention"},
    RunWordField{"moe_layer_freq", "which layers have experts, as Megatron writes it: `([0]*3+[1]*12)`"},
    RunWordField{"hybrid_layer_pattern", "layers of other kinds, which are not modelled"},
    RunWordField{"gated", "of the MLP: a product of two projections, one of them through the activation"},
};

/// What came out. A number is above zero and at most `largest`: beyond what any run reaches, which refuses a wrong
/// unit, and no answer depends on it.
struct RunMeasuredField {
  std::string_view key;
  std::optional<double> RunMeasurement::*value;
  double largest;
  std::string_view meaning;
};
inline constexpr double most_run_seconds = 1e9;
inline constexpr double most_run_bytes = 1e18;
inline constexpr double most_run_gib = 1e9;
inline constexpr double most_run_tokens = 1e12;
inline constexpr double most_run_tflops = 1e6;
inline constexpr std::array run_measured_fields{
    RunMeasuredField{"step_time_s", &RunMeasurement::step_time_s, most_run_seconds, "seconds of a step"},
    RunMeasuredField{"tokens_per_s_per_gpu", &RunMeasurement::tokens_per_s_per_gpu, most_run_tokens,
                     "tokens of a second on one device"},
    RunMeasuredField{"tokens_per_s", &RunMeasurement::tokens_per_s, most_run_tokens, "of all devices together"},
    RunMeasuredField{"samples_per_s", &RunMeasurement::samples_per_s, most_run_tokens,
                     "sequences, or images, of all devices together"},
    RunMeasuredField{
        "tflops_per_gpu", &RunMeasurement::tflops_per_gpu, most_run_tflops,
        "10^12 of the model's FLOPs a second: the whole square of attention, without recompute, as Megatron-LM prints"},
    RunMeasuredField{"hfu_tflops_per_gpu", &RunMeasurement::hfu_tflops_per_gpu, most_run_tflops,
                     "the same of the executed FLOPs: what is recomputed counts again"},
    RunMeasuredField{"memory_max_allocated_bytes", &RunMeasurement::memory_max_allocated_bytes, most_run_bytes,
                     "bytes that the allocator had handed out at its peak"},
    RunMeasuredField{"memory_gib", &RunMeasurement::memory_gib, most_run_gib,
                     "peak of the memory that `memory_basis` says"},
    RunMeasuredField{"memory_reserved_gib", &RunMeasurement::memory_reserved_gib, most_run_gib,
                     "peak that the allocator reserved"},
    RunMeasuredField{"memory_active_gib", &RunMeasurement::memory_active_gib, most_run_gib, "peak of active memory"},
    RunMeasuredField{"memory_gb_as_published", &RunMeasurement::memory_gb_as_published, most_run_gib,
                     "in the unit that the source calls GB"},
};

}  // namespace plumbline
