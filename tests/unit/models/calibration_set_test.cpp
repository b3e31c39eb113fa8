#include "models/calibration_set.h"

#include <algorithm>
#include <set>

#include "core/base/errors.h"
#include "core/cost/calibration_fields.h"
#include "core/io/output_file.h"
#include "core/io/stack_json.h"
#include "models/calibration_numbers.h"
#include "models/embedded.h"
#include "models/machine_catalog.h"
#include "models/parameter_priors.h"
#include "models/stack_composition.h"
#include "tests/catch.h"
#include "tests/temporary_folder.h"

namespace plumbline {
namespace {

Device device_of(std::string_view machine) { return find_machine(machine).groups.front().node.device; }

Coefficient number(double value) { return {value, 0.1, "fitted", "a test"}; }

ParameterId id_of(std::string_view path) { return parameter_id_from_text(path).value(); }

}  // namespace

// Decision 0082: their source says so.
TEST_CASE("shipped numbers that the fit holds are what their priors say, or as far from their centres") {
  const CalibrationSet& set = CalibrationSet::shipped();
  const PriorTable priors = shipped_priors();
  int of_priors = 0;
  int of_centres = 0;
  for (const ParameterId& id : parameters_of(set)) {
    const Coefficient number = set.at(id);
    if (number.source.find("is as good with it") == std::string::npos) continue;
    CAPTURE(to_text(id));
    const ParameterPrior* prior = prior_of(priors, id);
    REQUIRE(prior != nullptr);
    CHECK(number.kind == "assumed");
    CHECK(number.source.starts_with(prior->source));
    if (!prior->around || *prior->around == id) {
      CHECK(number.value == Approx(prior->value).epsilon(1e-3));
      ++of_priors;
      continue;
    }
    const std::string like = id.kind == ParameterKind::stack ? set.software_stack(id.owner).like : "";
    const bool is_like_another = !like.empty() && set.has(id.with_stack(like));
    const double centre = set.at(is_like_another ? id.with_stack(like) : *prior->around).value;
    CHECK(number.value / centre == Approx(prior->value).epsilon(2e-3));
    ++of_centres;
  }
  CHECK(of_priors > 20);
  CHECK(of_centres > 50);
}

TEST_CASE("what the shipped set writes is what it was read from, byte for byte") {
  const std::vector<CalibrationFile> files = calibration_files(CalibrationSet::shipped());
  std::size_t compared = 0;
  for (const embedded::EmbeddedFile& file : embedded::calibrations()) {
    const auto same = std::find_if(files.begin(), files.end(), [&](const CalibrationFile& written) {
      return written.name == std::string(file.name) + ".json";
    });
    if (same == files.end()) continue;  // files of other formats
    CAPTURE(file.name);
    CHECK(same->text == file.text);
    ++compared;
  }
  CHECK(compared == files.size());
}

TEST_CASE("every coefficient of every stack is decided by one number of the set, and by its value") {
  const CalibrationSet& set = CalibrationSet::shipped();
  const Device device = device_of("dgx-h100");
  for (const std::string& stack : set.stack_names()) {
    CAPTURE(stack);
    std::set<std::string> decided;
    const StackCalibration composed = set.stack(stack);
    for (const ParameterId& id : parameters_of(set, device, stack)) {
      if (id.is_of_device()) continue;
      CHECK(decided.insert(id.field).second);
      CHECK(set.at(id).value == find_field(stack_fields, id.field)->of(composed).value);
    }
    CHECK(decided.size() == stack_fields.size());
  }
}

TEST_CASE("gradients are kept in the format of the framework, where it has one for the recipe") {
  const CalibrationSet& set = CalibrationSet::shipped();
  const auto format = [&](std::string_view stack, PrecisionRecipe recipe) {
    return set.gradient_format(stack, recipe);
  };
  CHECK(format("megatron-core-0.12", PrecisionRecipe::bf16) == NumberFormat::fp32);
  CHECK(format("megatron-core-0.12", PrecisionRecipe::fp8) == NumberFormat::fp32);
  CHECK(format("megatron-core-0.12", PrecisionRecipe::mxfp8) == NumberFormat::fp32);
  // What a stack leaves open is that of the stack it is like, over two steps here.
  CHECK(format("megatron-deepspeed-2021-v100", PrecisionRecipe::bf16) == NumberFormat::fp32);
  CHECK(format("megatron-core-0.12", PrecisionRecipe::bf16_pure) == std::nullopt);
  CHECK(format("megatron-core-0.12", PrecisionRecipe::fp32) == std::nullopt);
  CHECK(format("megatron-lm-2021", PrecisionRecipe::fp16) == std::nullopt);
  CHECK(format("torchtitan", PrecisionRecipe::bf16) == std::nullopt);
  CHECK(format("plumbline", PrecisionRecipe::bf16) == std::nullopt);
}

TEST_CASE("stacks that mix precisions by torch.autocast keep 32-bit gradients") {
  const CalibrationSet& set = CalibrationSet::shipped();
  for (const std::string& name : set.stack_names()) {
    if (set.stack(name).features.mixed_precision == MixedPrecision::of_weights) continue;
    CAPTURE(name);
    for (const PrecisionRecipe recipe : {PrecisionRecipe::fp16, PrecisionRecipe::bf16})
      CHECK(set.gradient_format(name, recipe) == NumberFormat::fp32);
    CHECK(set.gradient_format(name, PrecisionRecipe::bf16_pure) == std::nullopt);
  }
  CHECK(set.stack("pytorch").features.mixed_precision == MixedPrecision::by_autocast);
}

TEST_CASE("a stack may be asked for with another value of a trait") {
  const CalibrationSet& set = CalibrationSet::shipped();
  const StackCalibration eager = set.stack("pytorch");
  const StackCalibration chunked = set.stack("pytorch+loss=chunked");
  CHECK(eager.memory.logit_bytes == 12);
  CHECK(chunked.memory.logit_bytes == set.stack("nemo-automodel+loss=chunked").memory.logit_bytes);
  CHECK(chunked.memory.logit_bytes < 2);
  CHECK(chunked.compute.step_factor == eager.compute.step_factor.value);
  CHECK(chunked.features.mixed_precision == MixedPrecision::by_autocast);
  CHECK(chunked.name == "pytorch+loss=chunked");
  CHECK(set.axis_value("pytorch+loss=chunked+attention=unfused", "loss") == "chunked");
  CHECK(set.axis_value("pytorch+loss=chunked+attention=unfused", "attention") == "unfused");
  CHECK(set.axis_value("megatron-lm-v100", "attention") == "unfused");  // of the stack that it is like
  CHECK_THROWS_WITH(set.stack("pytorch+los=chunked"),
                    Catch::Matchers::ContainsSubstring("\"los\" is no trait or feature of stacks") &&
                        Catch::Matchers::ContainsSubstring("nearest: loss"));
  CHECK_THROWS_WITH(set.stack("pytorch+loss=chunks"), Catch::Matchers::ContainsSubstring("nearest: chunked"));
}

TEST_CASE("a stack with choices is that stack where numbers and runs of its own are looked for") {
  CHECK(without_choices("pytorch+loss=chunked+attention=unfused") == "pytorch");
  CHECK(without_choices("pytorch") == "pytorch");
  CHECK(without_choices("folder+a=b/mine.json") == "folder+a=b/mine.json");
  const CalibrationSet& set = CalibrationSet::shipped();
  const std::string chosen = "megatron-bridge-26.02+moe=flex";
  for (const ParameterId& id : parameters_of(set, find_machine("dgx-h100").groups.front().node.device, chosen))
    CHECK(set.has(id));
}

TEST_CASE("a stack may be asked for with another choice of a feature") {
  const CalibrationSet& set = CalibrationSet::shipped();
  const StackCalibration stated = set.stack("nemo-fp8");
  CHECK(stated.features.fp8_copies == QuantizedCopies::one);
  const StackCalibration chosen = set.stack("nemo-fp8+fp8_copies=none+gathered_inputs=kept");
  CHECK(chosen.features.fp8_copies == QuantizedCopies::none);
  CHECK(chosen.features.kept.gathered_inputs == GatheredInputs::kept);
  CHECK(chosen.features.fp8_parameters == QuantizedWeights::alone);
  CHECK(chosen.compute.step_factor == stated.compute.step_factor.value);
  CHECK(set.stack("nemo-fp8+loss=chunked+fp8_copies=none").features.fp8_copies == QuantizedCopies::none);
  CHECK_THROWS_WITH(set.stack("nemo-fp8+fp8_copie=none"), Catch::Matchers::ContainsSubstring("nearest: fp8_copies"));
  CHECK_THROWS_WITH(set.stack("nemo-fp8+fp8_copies=three"),
                    Catch::Matchers::ContainsSubstring("\"three\" is no choice of the feature fp8_copies") &&
                        Catch::Matchers::ContainsSubstring("none, one, two"));
}

TEST_CASE("a stack's file may bring the calibration of the device that it was measured on") {
  const TemporaryFolder folder;
  const std::string path = (folder.path() / "mine.json").string();
  const CalibrationSet& set = CalibrationSet::shipped();
  SoftwareStack stack{"mine",      {}, "Plumbline", std::nullopt, "",
                      "plumbline", {}, {},          std::nullopt, set.device(device_of("cpu"))};
  stack.device->bandwidth_fraction = number(0.123);
  write_output_file(path, to_json_text(software_stack_json(stack)));
  CHECK(set.of(device_of("cpu"), path).device.bandwidth_fraction == 0.123);
  CHECK(set.of(device_of("cpu"), "plumbline").device.bandwidth_fraction != 0.123);
  CHECK(set.of(device_of("dgx-h100"), path).device.name == set.device(device_of("dgx-h100")).name);  // another device
}

TEST_CASE("a moved number moves what it decides and nothing else") {
  const CalibrationSet& shipped = CalibrationSet::shipped();
  const Device h100 = device_of("dgx-h100");
  for (const ParameterId& id : parameters_of(shipped, h100, "torchtitan")) {
    CAPTURE(to_text(id));
    CalibrationSet moved = shipped;
    const double value = shipped.at(id).value;
    moved.set(id, number(value * (0.99 * value >= range_of(id)->first ? 0.99 : 1.01)));
    const Calibration before = shipped.of(h100, "torchtitan");
    const Calibration after = moved.of(h100, "torchtitan");
    int changed = 0;
    for (const auto& field : stack_fields) changed += field.of(before.stack).value != field.of(after.stack).value;
    for (const auto& field : device_fields) changed += field.of(before.device).value != field.of(after.device).value;
    for (std::size_t i = 0; i < before.device.products.size(); ++i)
      for (const auto& field : product_fields)
        changed += field.of(before.device.products[i]).value != field.of(after.device.products[i]).value;
    CHECK(changed == (value == 0 ? 0 : 1));
  }
}

TEST_CASE("a trait's number is shared by the stacks that have it") {
  CalibrationSet set = CalibrationSet::shipped();
  const Device h100 = device_of("dgx-h100");
  set.set(id_of("trait/fusion/compiled/memory_bound_factor"), number(0.5));
  CHECK(set.stack("torchtitan-2024.12").compute.memory_bound_factor == 0.5);
  CHECK(set.stack("torchtitan-2025.06").compute.memory_bound_factor == 0.5);
  CHECK(set.of(h100, "megatron-core-0.12").stack.compute.memory_bound_factor != 0.5);
}

TEST_CASE("what is nearer to a stack decides: its own trait goes before the number of the stack that it is like") {
  CalibrationSet set = CalibrationSet::shipped();
  set.set(ParameterId::of_stack("megatron-lm-2021", "memory_bound_factor"), number(3));
  SoftwareStack child;
  child.name = "child";
  child.like = "megatron-lm-2021";
  set.add(child);
  CHECK(set.stack("child").compute.memory_bound_factor == 3);
  child.axis_choices = {{"fusion", "compiled"}};
  set.add(child);
  CHECK(set.stack("child").compute.memory_bound_factor ==
        set.at(id_of("trait/fusion/compiled/memory_bound_factor")).value);
  child.coefficients = {{"memory_bound_factor", number(2)}};
  set.add(child);
  CHECK(set.stack("child").compute.memory_bound_factor == 2);
  const auto choices = axis_choices_of(set, child);
  CHECK(choices.size() == set.axis_table().axes.size());
}

TEST_CASE("every feature of every stack is decided by one place of the set, and is no path of it") {
  const CalibrationSet& set = CalibrationSet::shipped();
  for (const std::string& name : set.stack_names()) {
    CAPTURE(name);
    const StackFeatures composed = set.stack(name).features;
    const std::vector<DecidedFeature> decided = decided_features(set, set.software_stack(name));
    REQUIRE(decided.size() == stack_feature_fields().size());
    for (std::size_t i = 0; i < decided.size(); ++i) {
      const FeatureField& field = stack_feature_fields()[i];
      CHECK(decided[i].feature.name == field.key);
      CHECK(decided[i].feature.choice == field.choices[field.index(composed)].word);
      CHECK_FALSE(decided[i].feature.source.empty());
      const auto id = parameter_id_from_text(decided[i].place + "/" + decided[i].feature.name);
      REQUIRE(id.has_value());
      CHECK_FALSE(set.has(*id));
    }
  }
}

TEST_CASE("a feature is decided as numbers are: own choice, own trait, the stack that it is like") {
  CalibrationSet set = CalibrationSet::shipped();
  SoftwareStack child;
  child.name = "child";
  child.like = "torchtitan-2024.12";
  set.add(child);
  CHECK(set.stack("child").features.norms == OperatorKernels::fused);
  CHECK(set.stack("child").features.rotations == Rotations::complex);
  child.axis_choices = {{"fusion", "primitive"}};
  set.add(child);
  CHECK(set.stack("child").features.norms == OperatorKernels::primitive);
  child.features = {{"norms", "fused", "a test"}, {"logits", "own_backward", "a test"}};
  set.add(child);
  CHECK(set.stack("child").features.norms == OperatorKernels::fused);
  CHECK(set.stack("child").features.logits == LogitLifetime::own_backward);
  CHECK(decided_features(set, child).front().place == "stack/child");
}

TEST_CASE("a stack's file whose features are still numbers composes as one that spells them") {
  const CalibrationSet& set = CalibrationSet::shipped();
  const auto read = [&](const std::string& rest) {
    const Json json = parse_json(R"({"format": "plumbline.stack/1", "name": "own", "framework": "own",
        "description": "own", "like": "megatron-core-0.12", "traits": {}, )" +
                                     rest + "}",
                                 "own.json");
    CalibrationSet with = set;
    with.add(software_stack_from_json(JsonPlace(json, "own.json"), set.axis_table(), set.stack_names()));
    return with.stack("own").features;
  };
  const std::string number = R"(, "relative_sigma": 0, "kind": "assumed", "source": "a test"})";
  const StackFeatures spelled = read(R"("features": {"fp8_inputs": {"choice": "shared", "source": "a test"},
      "fp8_copies": {"choice": "one", "source": "a test"}})");
  const StackFeatures numbered = read(R"("coefficients": {"fp8_inputs": {"value": 2)" + number +
                                      R"(, "fp8_copies": {"value": 1.0)" + number + "}");
  CHECK(spelled.kept.product_inputs == ProductInputs::shared);
  for (const FeatureField& field : stack_feature_fields()) CHECK(field.index(spelled) == field.index(numbered));
}

TEST_CASE("a number outside its range is moved to the range's end") {
  CalibrationSet set = CalibrationSet::shipped();
  set.set(id_of("device/h100/products/bf16/peak_fraction"), number(1.7));
  CHECK(set.at(id_of("device/h100/products/bf16/peak_fraction")) == 1);
  CHECK(range_of(id_of("device/h100/products/bf16/peak_fraction")) == std::pair(0.001, 1.0));
  CHECK(range_of(ParameterId::of_stack("plumbline", "overlap_slowdown")) == std::pair(0.0, 1.0));
}

TEST_CASE("a path that names no number is refused with the nearest") {
  CalibrationSet set = CalibrationSet::shipped();
  for (const char* path : {"device/h100/wave_exponnet", "device/h100", "base", "", "trait/fusion/compiled/step_factor",
                           "stack/nobody/step_factor", "stack/plumbline/step_facto", "base/memory_bound_factor"}) {
    CAPTURE(path);
    const auto id = parameter_id_from_text(path);
    if (!id) continue;
    CHECK_FALSE(set.has(*id));
    CHECK_THROWS_AS(set.at(*id), InputError);
    if (id->kind != ParameterKind::stack) CHECK_THROWS_AS(set.set(*id, number(1)), InputError);
  }
  CHECK_THROWS_AS(set.set(ParameterId::of_stack("nobody", "step_factor"), number(1)), InputError);
  CHECK_THROWS_AS(set.set(ParameterId::of_stack("plumbline", "step_facto"), number(1)), InputError);
  try {
    (void)set.at(id_of("device/h100/wave_exponnet"));
  } catch (const InputError& error) {
    CHECK(std::string(error.what()).find("nearest: device/h100/wave_exponent") != std::string::npos);
  }
}

TEST_CASE("no stack is like itself, over any number of steps") {
  CalibrationSet set = CalibrationSet::shipped();
  SoftwareStack parent = set.software_stack("torchtitan-2024.12");
  parent.like = "torchtitan-2025.06";
  CHECK_THROWS_AS(set.add(parent), InputError);
}

TEST_CASE("names without a release stay valid") {
  const CalibrationSet& set = CalibrationSet::shipped();
  for (const char* name : {"deepspeed", "llm-c", "llm-foundry", "megatron-bridge", "megatron-core",
                           "megatron-deepspeed", "megatron-lm-2021", "megatron-lm-v100", "megatron-zero-bubble",
                           "nemo-automodel", "torchtitan", "torchtitan-async-tp", "torchtitan-eager"}) {
    CAPTURE(name);
    CHECK_NOTHROW(set.stack(name));
  }
}

TEST_CASE("no name or alias stands for two stacks") {
  std::set<std::string> names;
  for (const SoftwareStack& stack : CalibrationSet::shipped().stacks()) {
    CHECK(names.insert(stack.name).second);
    for (const std::string& alias : stack.aliases) CHECK(names.insert(alias).second);
  }
}

TEST_CASE("this program's own runtime has nothing in memory alongside tensors") {
  const StackCalibration stack = CalibrationSet::shipped().stack("plumbline");
  CHECK(stack.memory.context_bytes == 0);
  CHECK(stack.memory.communicator_bytes == 0);
  CHECK(stack.memory.workspace_bytes == 0);
  CHECK(stack.memory.fragmentation_fraction == 0);
  CHECK(stack.memory.logit_bytes == 0);
}

}  // namespace plumbline
