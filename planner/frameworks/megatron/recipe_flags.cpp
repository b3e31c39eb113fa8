#include <array>

#include "planner/frameworks/launch/launch_recipe.h"
#include "planner/frameworks/megatron/flag_rows.h"
#include "planner/frameworks/megatron/values.h"

namespace plumbline::megatron {
namespace {

using Settings = LaunchSettings;
using Value = std::optional<Json>;

bool is(const Settings& s, PrecisionRecipe recipe) { return s.precision == recipe; }

bool in_fp8(const Settings& s) { return s.precision && is_fp8(*s.precision); }
/// What a launch gets that asks for fp8 and names no recipe.
void read_fp8(const Json&, Settings& s) {
  if (!in_fp8(s)) s.precision = PrecisionRecipe::fp8_delayed;
}

/// What runs in bf16 outside of its products.
bool is_bf16(const Settings& s) { return is(s, PrecisionRecipe::bf16) || in_fp8(s) || is(s, PrecisionRecipe::nvfp4); }

Value word_where(bool holds, const char* text) { return holds ? Value(text) : std::nullopt; }
Value on_where(bool holds) { return holds ? Value(true) : std::nullopt; }

struct NamedScales {
  PrecisionRecipe recipe;
  std::string_view name;
};
/// The recipes of Transformer Engine under their names; delayed is what a launch that names none gets.
constexpr std::array named_scales{
    NamedScales{PrecisionRecipe::fp8, "tensorwise"}, NamedScales{PrecisionRecipe::fp8_delayed, "delayed"},
    NamedScales{PrecisionRecipe::fp8_block, "blockwise"}, NamedScales{PrecisionRecipe::mxfp8, "mxfp8"}};

Value scales(const Settings& s) {
  for (const NamedScales& one : named_scales)
    if (is(s, one.recipe)) return Value(one.name);
  return std::nullopt;
}

void read_scales(const Json& value, Settings& s) {
  const std::string name = word(value);
  for (const NamedScales& one : named_scales)
    if (name == one.name) {
      s.precision = one.recipe;
      return;
    }
  throw InputError({"", "found '" + name.substr(0, 40) + "'", "delayed, tensorwise, blockwise or mxfp8", ""});
}

bool keeps_bf16_moments(const Settings& s) {
  return s.precision != PrecisionRecipe::fp32 && s.optimizer_format == NumberFormat::bf16;
}

LaunchKey moments_flag(std::string_view flag) {
  return {.path = flag,
          .source = arguments_source,
          .write = [](const Settings& s) { return word_where(keeps_bf16_moments(s), "bf16"); },
          .read =
              [](const Json& value, Settings& s) {
                const auto format = number_format_from_text(word(value));
                if (!format) throw InputError({"", "found '" + word(value) + "'", "fp32, fp16, bf16 or fp8", ""});
                s.optimizer_format = format;
              }};
}

std::vector<LaunchKey> precision_flags() {
  return {{.path = "--bf16",
           .source = model_parallel_source,
           .write = [](const Settings& s) { return on_where(is_bf16(s)); },
           .read =
               [](const Json& value, Settings& s) {
                 if (is_on(value)) s.precision = PrecisionRecipe::bf16;
               }},
          {.path = "--fp16",
           .source = model_parallel_source,
           .write = [](const Settings& s) { return on_where(is(s, PrecisionRecipe::fp16)); },
           .read =
               [](const Json& value, Settings& s) {
                 if (is_on(value)) s.precision = PrecisionRecipe::fp16;
               }},
          {.path = "--fp8-format",
           .source = transformer_source,
           .write = [](const Settings& s) { return word_where(in_fp8(s), "hybrid"); },
           .read = read_fp8},
          {.path = "--fp8-recipe", .source = transformer_source, .write = scales, .read = read_scales},
          {.path = "--fp8-hybrid", .source = "megatron/training/arguments.py of 2022 to 2023", .read = read_fp8},
          {.path = "--fp4-format",
           .source = transformer_source,
           .write = [](const Settings& s) { return word_where(is(s, PrecisionRecipe::nvfp4), "e2m1"); },
           .read = [](const Json&, Settings& s) { s.precision = PrecisionRecipe::nvfp4; }},
          {.path = "--fp4-recipe",
           .source = transformer_source,
           .write = [](const Settings& s) { return word_where(is(s, PrecisionRecipe::nvfp4), "nvfp4"); },
           .read = [](const Json&, Settings&) {}},
          {.path = "--grad-reduce-in-bf16",
           .source = arguments_source,
           .write = [](const Settings& s) { return on_where(is_bf16(s) && s.gradient_format == NumberFormat::bf16); },
           .read =
               [](const Json& value, Settings& s) {
                 if (is_on(value)) s.gradient_format = NumberFormat::bf16;
               }},
          {.path = "--accumulate-allreduce-grads-in-fp32",
           .source = arguments_source,
           .write =
               [](const Settings& s) {
                 return on_where(is(s, PrecisionRecipe::fp16) && s.gradient_format == NumberFormat::fp32);
               },
           .read =
               [](const Json& value, Settings& s) {
                 if (is_on(value)) s.gradient_format = NumberFormat::fp32;
               }},
          {.path = "--use-precision-aware-optimizer",
           .source = arguments_source,
           .write = [](const Settings& s) { return on_where(keeps_bf16_moments(s)); },
           .read = [](const Json&, Settings&) {}},
          moments_flag("--exp-avg-dtype"),
          moments_flag("--exp-avg-sq-dtype")};
}

Value optimizer(const Settings& s) {
  switch (s.optimizer.value_or(Optimizer::adamw)) {
    case Optimizer::sgd:
    case Optimizer::momentum: return Value("sgd");
    case Optimizer::lion: return Value("lion");
    case Optimizer::muon: return Value("muon");
    default: return std::nullopt;  // adam, with decoupled weight decay
  }
}

void read_optimizer(const Json& value, Settings& s) {
  const std::string text = word(value);
  if (text == "adam")
    s.optimizer = Optimizer::adamw;
  else if (text == "sgd")
    s.optimizer = Optimizer::momentum;
  else if (text == "lion")
    s.optimizer = Optimizer::lion;
  else if (text == "muon" || text == "dist_muon" || text == "adaptive_muon")
    s.optimizer = Optimizer::muon;
  else
    throw InputError({"", "'" + text + "' is not modelled", "adam, sgd, lion or muon", ""});
}

template <class Number>
LaunchKey carried(std::string_view flag, std::string_view source, std::optional<Number> LaunchRecipe::*field) {
  return {.path = flag,
          .source = source,
          .write = [field](const Settings& s) { return s.recipe.*field ? Value(*(s.recipe.*field)) : std::nullopt; },
          .read =
              [field](const Json& value, Settings& s) {
                const double number = real(value);
                constexpr double most = 1e15;  // whole numbers of doubles
                if (std::is_integral_v<Number> && !(number >= -most && number <= most))
                  throw InputError({"", "found " + word(value).substr(0, 40), "a number of at most 15 digits", ""});
                s.recipe.*field = static_cast<Number>(number);
              }};
}

bool is_fused_by_transformer_engine(const Settings& s) { return s.choices.loss == "fused"; }

/// "native": functions that torch.jit fuses; "te": Transformer Engine's kernel, which writes the gradient over the
/// logits. Without the first flag the second says nothing.
std::vector<LaunchKey> loss_flags() {
  return {{.path = "--cross-entropy-loss-fusion",
           .source = model_parallel_source,
           .write =
               [](const Settings& s) {
                 return on_where(s.choices.loss == "vocab_parallel_jit" || is_fused_by_transformer_engine(s));
               },
           .read =
               [](const Json& value, Settings& s) {
                 if (is_on(value)) s.choices.loss = "vocab_parallel_jit";
               }},
          {.path = "--cross-entropy-fusion-impl",
           .source = model_parallel_source,
           .write = [](const Settings& s) { return word_where(is_fused_by_transformer_engine(s), "te"); },
           .read =
               [](const Json& value, Settings& s) {
                 if (word(value) == "te" && s.choices.loss == "vocab_parallel_jit") s.choices.loss = "fused";
               },
           .understands = [](const Json& value) { return word(value) == "native" || word(value) == "te"; },
           .effect = KeyEffect::memory_and_time}};
}

}  // namespace

std::vector<LaunchKey> recipe_flags() {
  std::vector<LaunchKey> all = precision_flags();
  for (const LaunchKey& row : loss_flags()) all.push_back(row);
  all.push_back(
      {.path = "--seq-length",
       .source = arguments_source,
       .write = [](const Settings& s) { return s.sequence_length ? Value(*s.sequence_length) : std::nullopt; },
       .read = [](const Json& value, Settings& s) { s.sequence_length = degree(value); }});
  all.push_back({.path = "--optimizer", .source = arguments_source, .write = optimizer, .read = read_optimizer});
  all.push_back({.path = "--sgd-momentum",
                 .source = arguments_source,
                 .write = [](const Settings& s) -> Value {
                   if (s.optimizer == Optimizer::sgd) return Value(0);
                   return s.optimizer == Optimizer::momentum && s.recipe.momentum ? Value(*s.recipe.momentum)
                                                                                  : std::nullopt;
                 },
                 .read =
                     [](const Json& value, Settings& s) {
                       if (s.optimizer != Optimizer::momentum) return;
                       if (real(value) == 0)
                         s.optimizer = Optimizer::sgd;
                       else
                         s.recipe.momentum = real(value);
                     }});
  all.push_back(carried("--train-iters", training_source, &LaunchRecipe::steps));
  all.push_back(carried("--lr", arguments_source, &LaunchRecipe::learning_rate));
  all.push_back(carried("--min-lr", arguments_source, &LaunchRecipe::final_learning_rate));
  all.push_back(recipe_shape("--lr-decay-style", arguments_source,
                             {{LearningRateShape::constant, "constant"},
                              {LearningRateShape::linear, "linear"},
                              {LearningRateShape::cosine, "cosine"},
                              {LearningRateShape::inverse_square_root, "inverse-square-root"}}));
  all.push_back(carried("--lr-decay-iters", arguments_source, &LaunchRecipe::schedule_steps));
  all.push_back(carried("--lr-warmup-iters", arguments_source, &LaunchRecipe::warmup_steps));
  all.push_back(carried("--clip-grad", arguments_source, &LaunchRecipe::clip));
  all.push_back(carried("--adam-beta1", arguments_source, &LaunchRecipe::beta1));
  all.push_back(carried("--adam-beta2", arguments_source, &LaunchRecipe::beta2));
  all.push_back(carried("--adam-eps", arguments_source, &LaunchRecipe::epsilon));
  all.push_back(carried("--weight-decay", arguments_source, &LaunchRecipe::weight_decay));
  all.push_back(carried("--seed", arguments_source, &LaunchRecipe::seed));
  all.push_back(recipe_folder("--save", checkpoint_source));
  // A folder without checkpoints is begun from the start.
  all.push_back({.path = "--load", .source = checkpoint_source, .write = recipe_folder("", checkpoint_source).write});
  all.push_back(recipe_interval("--save-interval", checkpoint_source));
  return all;
}

}  // namespace plumbline::megatron
