#include "models/import/architecture.h"

namespace plumbline {
namespace {

constexpr BiasRule always{"", true, true};
constexpr BiasRule never{"", false, true};

// clang-format off
constexpr Architecture rows[] = {
    {.model_type = "llama", .class_prefix = "Llama", .vocabulary = 32000, .hidden = 4096, .ffn = 11008,
     .layers = 32, .heads = 32, .positions = 2048,
     .mlp_bias = {"mlp_bias", false, true}},
    {.model_type = "mistral", .class_prefix = "Mistral", .vocabulary = 32000, .hidden = 4096, .ffn = 14336,
     .layers = 32, .heads = 32, .kv_heads = 8, .positions = 131072,
     .attention_bias = never, .refine = refine_mistral},
    {.model_type = "mixtral", .class_prefix = "Mixtral", .vocabulary = 32000, .hidden = 4096, .ffn = 14336,
     .layers = 32, .heads = 32, .kv_heads = 8, .positions = 131072,
     .attention_bias = never, .refine = refine_mixtral},
    {.model_type = "qwen2", .class_prefix = "Qwen2", .vocabulary = 151936, .hidden = 4096, .ffn = 22016,
     .layers = 32, .heads = 32, .kv_heads = 32, .positions = 32768,
     .attention_bias = {"", true, false}, .refine = refine_qwen2},
    {.model_type = "qwen2_moe", .class_prefix = "Qwen2Moe", .vocabulary = 151936, .hidden = 2048, .ffn = 5632,
     .layers = 24, .heads = 16, .kv_heads = 16, .positions = 32768,
     .attention_bias = {"qkv_bias", true, false}, .refine = refine_qwen2_moe},
    {.model_type = "qwen3", .class_prefix = "Qwen3", .vocabulary = 151936, .hidden = 4096, .ffn = 22016,
     .layers = 32, .heads = 32, .kv_heads = 32, .head_dim = 128, .positions = 32768,
     .refine = refine_qwen3},
    {.model_type = "qwen3_moe", .class_prefix = "Qwen3Moe", .vocabulary = 151936, .hidden = 2048, .ffn = 6144,
     .layers = 24, .heads = 32, .kv_heads = 4, .positions = 32768,
     .refine = refine_qwen3_moe},
    {.model_type = "deepseek_v2", .class_prefix = "DeepseekV2", .vocabulary = 32000, .hidden = 4096, .ffn = 11008,
     .layers = 32, .heads = 32, .head_dim = 192, .positions = 2048,
     .refine = refine_deepseek_v2},
    {.model_type = "deepseek_v3", .class_prefix = "DeepseekV3", .vocabulary = 129280, .hidden = 7168, .ffn = 18432,
     .layers = 61, .heads = 128, .head_dim = 192, .positions = 4096,
     .refine = refine_deepseek_v3},
    {.model_type = "kimi_k2", .class_prefix = "KimiK2", .vocabulary = 129280, .hidden = 7168, .ffn = 18432,
     .layers = 61, .heads = 128, .head_dim = 192, .positions = 4096,
     .refine = refine_deepseek_v3},
    {.model_type = "gemma2", .class_prefix = "Gemma2", .vocabulary = 256000, .hidden = 2304, .ffn = 9216,
     .layers = 26, .heads = 8, .kv_heads = 4, .head_dim = 256, .positions = 8192, .tied = true,
     .wiring = LayerWiring::sandwich_norm, .refine = refine_gemma2},
    {.model_type = "gemma3_text", .class_prefix = "Gemma3", .vocabulary = 262208, .hidden = 2304, .ffn = 9216,
     .layers = 26, .heads = 8, .kv_heads = 4, .head_dim = 256, .positions = 131072, .tied = true,
     .wiring = LayerWiring::sandwich_norm, .refine = refine_gemma3},
    {.model_type = "llama4_text", .class_prefix = "Llama4", .vocabulary = 202048, .hidden = 5120, .ffn = 8192,
     .layers = 48, .heads = 40, .kv_heads = 8, .head_dim = 128, .positions = 131072,
     .refine = refine_llama4},
    {.model_type = "gpt_oss", .class_prefix = "GptOss", .vocabulary = 201088, .hidden = 2880, .ffn = 2880,
     .layers = 36, .heads = 64, .kv_heads = 8, .head_dim = 64, .positions = 131072,
     .attention_bias = {"attention_bias", true, true}, .refine = refine_gpt_oss},
    {.model_type = "glm4_moe", .class_prefix = "Glm4Moe", .vocabulary = 151552, .hidden = 4096, .ffn = 10944,
     .layers = 46, .heads = 96, .kv_heads = 8, .positions = 131072,
     .attention_bias = {"attention_bias", false, false}, .refine = refine_glm4_moe},
    {.model_type = "phi3", .class_prefix = "Phi3", .vocabulary = 32064, .hidden = 3072, .ffn = 8192, .layers = 32,
     .heads = 32, .positions = 4096,
     .attention_bias = never, .refine = refine_mistral},
    {.model_type = "phi", .class_prefix = "Phi", .vocabulary = 51200, .hidden = 2048, .ffn = 8192, .layers = 24,
     .heads = 32, .positions = 2048,
     .norm = NormKind::layer_norm, .wiring = LayerWiring::parallel_shared_norm, .gated = false,
     .attention_bias = always, .mlp_bias = always, .refine = refine_phi},
    {.model_type = "gpt2", .class_prefix = "GPT2", .vocabulary = 50257, .hidden = 768, .layers = 12, .heads = 12,
     .positions = 1024, .tied = true,
     .norm = NormKind::layer_norm, .gated = false, .rotary = false, .attention_bias = always, .mlp_bias = always,
     .dropout = {0.1, 0.1, 0.1}, .refine = refine_gpt2},
    {.model_type = "gpt_neox", .class_prefix = "GPTNeoX", .vocabulary = 50432, .hidden = 6144, .ffn = 24576,
     .layers = 44, .heads = 64, .positions = 2048,
     .norm = NormKind::layer_norm, .gated = false, .attention_bias = {"attention_bias", true, true},
     .mlp_bias = always, .refine = refine_gpt_neox},
    {.model_type = "opt", .class_prefix = "OPT", .vocabulary = 50272, .hidden = 768, .ffn = 3072, .layers = 12,
     .heads = 12, .positions = 2048, .tied = true,
     .norm = NormKind::layer_norm, .gated = false, .rotary = false, .attention_bias = {"enable_bias", true, true},
     .mlp_bias = {"enable_bias", true, true}, .dropout = {0.0, 0.1, 0.0}, .refine = refine_opt},
    {.model_type = "bloom", .class_prefix = "Bloom", .vocabulary = 250880, .hidden = 64, .layers = 2, .heads = 8,
     .positions = 2048, .tied = true,
     .norm = NormKind::layer_norm, .gated = false, .rotary = false, .attention_bias = always, .mlp_bias = always,
     .refine = refine_bloom},
    {.model_type = "falcon", .class_prefix = "Falcon", .vocabulary = 65024, .hidden = 4544, .layers = 32,
     .heads = 71, .positions = 2048, .tied = true,
     .norm = NormKind::layer_norm, .gated = false, .attention_bias = {"bias", false, true},
     .mlp_bias = {"bias", false, true}, .refine = refine_falcon},
    {.model_type = "bert", .class_prefix = "Bert", .vocabulary = 30522, .hidden = 768, .ffn = 3072, .layers = 12,
     .heads = 12, .positions = 512, .tied = true,
     .norm = NormKind::layer_norm, .wiring = LayerWiring::post_norm, .gated = false, .rotary = false,
     .attention_bias = always, .mlp_bias = always, .dropout = {0.1, 0.1, 0.1}, .refine = refine_bert},
};
// clang-format on

}  // namespace

std::span<const Architecture> architectures() { return rows; }

}  // namespace plumbline
