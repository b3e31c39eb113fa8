#include "core/cost/stack_feature_table.h"

#include <algorithm>
#include <array>

#include "core/base/errors.h"

namespace plumbline {
namespace {

constexpr std::array kernels{
    FeatureChoice{"fused", "one kernel, or counted with its neighbours"},
    FeatureChoice{"primitive", "one kernel for each primitive operator (core/cost/primitive_operators.h)"}};
constexpr std::array rotary{
    FeatureChoice{"fused", "one kernel, or counted with its neighbours"},
    FeatureChoice{"primitive", "products of complex numbers, each a kernel (core/cost/primitive_operators.h)"},
    FeatureChoice{"by_halves", "products with cosines and sines, of the whole and of its halves exchanged"}};
constexpr std::array mixing{
    FeatureChoice{"weights", "16-bit weights and activations"},
    FeatureChoice{"autocast", "torch.autocast: parameters, residuals and norms in 32 bits, casts around products"},
    FeatureChoice{"compiled_autocast", "the same, its casts of activations joined with their neighbours"}};
constexpr std::array heads{
    FeatureChoice{"shared", "attention reads each key and value once for all query heads that share it"},
    FeatureChoice{"repeated", "they are written once for every query head, and travel so around a ring"}};
constexpr std::array gathered{FeatureChoice{"sequence", "sequences are exchanged in place"},
                              FeatureChoice{"batch", "PyTorch's DTensor: whole tensors are copied into order"}};
constexpr std::array gathered_inputs{
    FeatureChoice{"again", "gathered again; this rank's part is kept"},
    FeatureChoice{"kept", "kept with the rows of all ranks, in the format of activations"}};
constexpr std::array pace{FeatureChoice{"runs_ahead", "the host launches on while the device works"},
                          FeatureChoice{"waits", "the host waits for the device"}};
constexpr std::array inputs{FeatureChoice{"as_read", "the tensor that the product read"},
                            FeatureChoice{"fp8", "the fp8 copy that it multiplied"},
                            FeatureChoice{"shared", "the fp8 copy, unless attention keeps the tensor anyway"}};
constexpr std::array gathers{FeatureChoice{"as_read", "the tensor, in the format of activations"},
                             FeatureChoice{"fp8", "the fp8 copy, where it can be cast before"}};
constexpr std::array weighting{FeatureChoice{"outputs", "what experts return, which is kept"},
                               FeatureChoice{"activations", "what their activation makes; returns are not kept"}};
constexpr std::array weights{FeatureChoice{"with_16_bit", "16-bit weights, with fp8 copies"},
                             FeatureChoice{"alone", "fp8 weights alone"}};
constexpr std::array fp8_copies{FeatureChoice{"none", "weights are cast in every pass"},
                                FeatureChoice{"one", "in one orientation"},
                                FeatureChoice{"two", "row- and column-wise"}};
constexpr std::array states{FeatureChoice{"of_recipe", "weights, gradients and optimizer states of the recipe"},
                            FeatureChoice{"masters", "parameters and gradients in 32 bits alone"}};
constexpr std::array gradients{
    FeatureChoice{"held", "in memory of their own"},
    FeatureChoice{"freed", "made by the backward, where one micro-batch is a step and no rank shares them"}};
constexpr std::array checkpoints{FeatureChoice{"device", "on the device"}, FeatureChoice{"host", "in host memory"}};
constexpr std::array checks{
    FeatureChoice{"before_update", "every rank waits for the gradients of all stages"},
    FeatureChoice{"after_update", "ranks update at once and validate afterwards (arXiv:2401.10241, section 4)"}};
constexpr std::array outputs{FeatureChoice{"freed", "freed when it was sent"},
                             FeatureChoice{"kept", "held until its backward"}};
constexpr std::array lifetimes{FeatureChoice{"own_backward", "until their backward ends"},
                               FeatureChoice{"next_backward", "until the backward of the block before them begins"}};
constexpr std::array head_products{
    FeatureChoice{"whole", "of all tokens of a micro-batch"},
    FeatureChoice{"by_chunks",
                  "of a few tokens at a time, with their loss and its gradients (core/cost/chunked_head.h)"}};
constexpr std::array tokens{FeatureChoice{"one_per_expert", "once for each of its experts"},
                            FeatureChoice{"one_per_rank", "once, however many of its experts are there"}};

constexpr std::array limited{FeatureChoice{"fused", "in the gate's kernel"},
                             FeatureChoice{"copied", "in kernels of their own, joined in a copy that is kept"}};
constexpr std::array gate_inputs{FeatureChoice{"as_read", "the tensors that it read"},
                                 FeatureChoice{"fp8", "copies in 8 bits, cast back in the backward pass"}};
constexpr std::array bias_values{
    FeatureChoice{"fused", "by their products"},
    FeatureChoice{"second_by_expert", "those of the second product expert by expert, scaled by the router's weights"},
    FeatureChoice{"by_expert", "those of both products expert by expert"}};

constexpr std::array expert_casts{
    FeatureChoice{"joined", "joined with their neighbours, as those of other products"},
    FeatureChoice{"own", "kernels of their own"},
    FeatureChoice{"padded", "kernels of their own, on rows that are copied to multiples of a tile, and back after"}};

constexpr std::array exchanges{FeatureChoice{"overlapped", "alongside the other pass"},
                               FeatureChoice{"in_order", "between the kernels of their own"}};

constexpr std::array scratch{
    FeatureChoice{"none", "nothing that grows with the sequence"},
    FeatureChoice{"parts_by_keys", "16 bits for every query, key and head (cuDNN 9, deterministic)"}};

constexpr std::array overlaps{
    FeatureChoice{"both", "reductions beside the last backward, gathered updates beside the first forward"},
    FeatureChoice{"reductions", "reductions alone; updates are gathered before the first forward"},
    FeatureChoice{"none", "neither: gradients are reduced when their backward has ended"}};

constexpr std::array update_waits{
    FeatureChoice{"next_pass", "whatever their rank runs next; the first unit of a chunk leaves during the one before"},
    FeatureChoice{"own_chunk", "the first forward of their chunk; a chunk leaves during the first forward before"}};

constexpr std::array bucket_owners{
    FeatureChoice{"of_rank", "filled over all chunks of a rank; a share of all leaves after the last backward"},
    FeatureChoice{"of_chunk", "a chunk is one that leaves behind its last backward, a rank's first chunk several"}};

constexpr std::array divided_gradients{
    FeatureChoice{"every_backward", "reduced behind every backward"},
    FeatureChoice{"last_backward", "whole until the last backward of their chunk in the step, and reduced behind it"}};

constexpr std::array batch_norms{
    FeatureChoice{"alone", "kernels of their own"},
    FeatureChoice{"with_activation", "with the addition and the activation behind them (core/cost/joined_norms.h)"}};

/// Members: the way from the features to the choice.
template <auto... Members>
constexpr FeatureField field(std::string_view key, std::string_view old_key, std::string_view meaning,
                             std::span<const FeatureChoice> choices) {
  return {key,
          old_key,
          meaning,
          choices,
          [](const StackFeatures& f) { return static_cast<std::size_t>((f.*....*Members)); },
          [](StackFeatures& f, std::size_t index) {
            auto& choice = (f.*....*Members);
            choice = static_cast<std::remove_reference_t<decltype(choice)>>(index);
          }};
}

constexpr FeatureField moving_collectives(FeatureField field) {
  field.moves_collectives = true;
  return field;
}

constexpr std::array fields{
    field<&StackFeatures::norms>("norms", "primitive_norms", "root-mean-square norms", kernels),
    field<&StackFeatures::gates>("gates", "primitive_operators",
                                 "gates, and sums of the gradients of an input that several products read", kernels),
    field<&StackFeatures::rotations>("rotations", "primitive_rotations", "rotary embeddings", rotary),
    field<&StackFeatures::mixed_precision>("mixed_precision", "autocast",
                                           "how 16-bit products are mixed with 32-bit parameters", mixing),
    field<&StackFeatures::scaled_rotations>("scaled_rotations", "scaled_rotations",
                                            "rotary embeddings that scale what they turn (YaRN)", kernels),
    field<&StackFeatures::key_value_heads>("key_value_heads", "repeated_heads",
                                           "keys and values that query heads share, before attention", heads),
    field<&StackFeatures::tensor_parallelism>("tensor_parallelism", "distributed_tensors",
                                              "the dimension that tensor-parallel ranks gather and scatter", gathered),
    field<&StackFeatures::kept, &KeptForms::gathered_inputs>(
        "gathered_inputs", "gathered_inputs",
        "what weight gradients read of an input that tensor-parallel ranks gathered (sequence parallelism)",
        gathered_inputs),
    field<&StackFeatures::at_transfers>("at_transfers", "transfer_synchronisation",
                                        "the host at messages between pipeline stages", pace),
    field<&StackFeatures::at_passes>("at_passes", "pass_synchronisation",
                                     "the host at the end of a forward or backward pass", pace),
    field<&StackFeatures::kept, &KeptForms::product_inputs>(
        "fp8_inputs", "fp8_inputs", "what an fp8 product keeps of its input for its weight gradient", inputs),
    field<&StackFeatures::kept, &KeptForms::expert_weighting>("expert_weighting", "weighted_activations",
                                                              "what the router's weights scale", weighting),
    field<&StackFeatures::fp8_parameters>("fp8_parameters", "fp8_parameters", "weights of fp8 products", weights),
    field<&StackFeatures::fp8_copies>("fp8_copies", "fp8_copies",
                                      "fp8 copies of such a weight, kept over the micro-batches of a step", fp8_copies),
    field<&StackFeatures::fp8_gathers>("fp8_gathers", "fp8_gathers",
                                       "what tensor-parallel ranks gather for an fp8 product", gathers),
    field<&StackFeatures::sharded_states>("sharded_states", "sharded_masters",
                                          "what ZeRO-3 divides of trained parameters", states),
    field<&StackFeatures::step_gradients>("step_gradients", "step_gradients", "gradients from step to step", gradients),
    field<&StackFeatures::layer_checkpoints>("layer_checkpoints", "host_checkpoints",
                                             "where what full recompute keeps of a layer waits", checkpoints),
    field<&StackFeatures::update_check>(
        "update_check", "post_validation",
        "when a zero-bubble rank hears whether gradients are finite and within the norm", checks),
    field<&StackFeatures::stage_outputs>("stage_outputs", "kept_outputs", "what a pipeline stage sends on", outputs),
    field<&StackFeatures::logits>("logits", "freed_logits", "how long logits live", lifetimes),
    field<&StackFeatures::head_products>("head_products", "head_products", "how the head's products are cut",
                                         head_products),
    field<&StackFeatures::expert_copies>("expert_copies", "expert_copies_once",
                                         "how often a token crosses to a rank or node that has several of its experts",
                                         tokens),
    field<&StackFeatures::kept, &KeptForms::limited_gates>("limited_gates", "limited_gates",
                                                           "how gates with limits are clamped", limited),
    field<&StackFeatures::kept, &KeptForms::gate_inputs>("gate_inputs", "gate_inputs",
                                                         "what a gate keeps of its inputs", gate_inputs),
    field<&StackFeatures::expert_biases>("expert_biases", "expert_biases", "how biases of experts are added",
                                         bias_values),
    field<&StackFeatures::expert_casts>("expert_casts", "expert_casts",
                                        "casts of the operands of experts' products to few bits", expert_casts),
    field<&StackFeatures::paired_exchanges>("paired_exchanges", "paired_exchanges",
                                            "when exchanges of experts run where a schedule pairs passes (DualPipe)",
                                            exchanges),
    field<&StackFeatures::attention_scratch>("attention_scratch", "attention_scratch",
                                             "what attention's backward needs beside tensors", scratch),
    moving_collectives(field<&StackFeatures::overlap>(
        "overlap", "overlap", "which reductions of gradients and gathers of updated parameters run beside passes",
        overlaps)),
    moving_collectives(field<&StackFeatures::update_waits>(
        "update_waits", "update_waits", "what waits for gathered updates beside the first forward, in a pipeline",
        update_waits)),
    moving_collectives(field<&StackFeatures::gradient_buckets>(
        "gradient_buckets", "gradient_buckets", "buckets of gradients where chunks are interleaved", bucket_owners)),
    moving_collectives(field<&StackFeatures::sharded_gradients>(
        "sharded_gradients", "sharded_gradients", "gradients that ranks divide (ZeRO-2 and 3), in a pipeline",
        divided_gradients)),
    field<&StackFeatures::batch_norms>("batch_norms", "batch_norms", "batch norms of networks of images", batch_norms),
};

template <class Is>
const FeatureField* first_that(Is is) {
  const auto* const found = std::find_if(fields.begin(), fields.end(), is);
  return found == fields.end() ? nullptr : found;
}

}  // namespace

const FeatureChoice* FeatureField::find(std::string_view word) const {
  const auto found =
      std::find_if(choices.begin(), choices.end(), [&](const FeatureChoice& c) { return c.word == word; });
  return found == choices.end() ? nullptr : &*found;
}

std::vector<std::string> FeatureField::words() const {
  std::vector<std::string> all;
  for (const FeatureChoice& choice : choices) all.emplace_back(choice.word);
  return all;
}

std::span<const FeatureField> stack_feature_fields() { return fields; }

const FeatureField* find_feature(std::string_view key) {
  return first_that([&](const FeatureField& field) { return field.key == key; });
}

const FeatureField* feature_of_number(std::string_view old_key) {
  return first_that([&](const FeatureField& field) { return field.old_key == old_key; });
}

void apply(const NamedFeature& feature, StackFeatures& features) {
  const FeatureField* field = find_feature(feature.name);
  check(field != nullptr, "readers refuse an unknown feature");
  const FeatureChoice* choice = field->find(feature.choice);
  check(choice != nullptr, "readers refuse an unknown choice");
  field->choose(features, static_cast<std::size_t>(choice - field->choices.data()));
}

}  // namespace plumbline
