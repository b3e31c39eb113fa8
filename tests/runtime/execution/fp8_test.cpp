// fp8 recipes: PyTorch with the same casts, the predicted bytes, the same bits twice; and tf32 rounds what it
// multiplies.
#include "kernels/elementwise.h"
#include "runtime/device/cpu_kernels.h"
#include "runtime/execution/product_operands.h"
#include "tests/random_strategies.h"
#include "tests/training_golden.h"

namespace plumbline {
namespace {

/// Products of whole layers have sides of 256; those of tensor-parallel ranks are smaller and stay in bf16.
Graph fp8_llama() {
  return llama({.layers = 4, .hidden = 256, .heads = 8, .kv_heads = 4, .head_dim = 32, .width = 256, .vocabulary = 64});
}

Training fp8_recipe() {
  Training training = recipe(Optimizer::adamw);
  training.precision = PrecisionRecipe::fp8;
  return training;
}

TEST_CASE("a Llama in fp8 trains as PyTorch with the same casts, on one rank and on several", "[long]") {
  const TrainingGolden golden("wide_llama");
  for (const Strategy& s : {spread(1, 1, 1, 0), spread(1, 2, 2, 0), spread(2, 1, 1, 1), spread(2, 1, 1, 3)}) {
    INFO(to_text(s));
    const Results results = train(golden, golden.network().constants, s, PrecisionRecipe::fp8);
    require_as_pytorch(golden, results, PrecisionRecipe::fp8);
    // e4m3 rounds 16 times as coarsely as bf16: a run in bf16 would miss by far less than PyTorch in fp8.
    for (const std::string key :
         {"logits", "gradient/layers.0.attention.qkv.v.weight", "gradient/output.head.weight"}) {
      INFO(key);
      CHECK(miss_ratio(golden, results, PrecisionRecipe::fp8, key) >= 1 / same_order);
    }
  }
}

/// Two steps from weights of which no column is small beside others.
RunOptions two_steps_from_large_weights() {
  RunOptions two_steps = options(2);
  two_steps.first_weights = [](const LocalParameter& p, std::int64_t index) {
    if (p.dimensions == 1) return 1.0F;
    const auto bits = static_cast<std::uint32_t>(index + 1) * 2654435769U;  // Knuth's multiplicative hash
    return 0.1F * static_cast<float>(bits >> 8) / 0x1p24F - 0.05F;
  };
  return two_steps;
}

TEST_CASE("strategies drawn at random hold and send the predicted bytes in fp8, and repeat bit for bit", "[long]") {
  const RunOptions two_steps = two_steps_from_large_weights();
  const RunRecord exact = train(LoweredPlan(fp8_llama(), single(), recipe(Optimizer::adamw)).job(), two_steps);
  RandomStrategies random(fp8_llama(), fp8_recipe());
  for (int n = 0; n < 10; ++n) {
    const Strategy s = random.next();
    INFO(to_text(s));
    const LoweredPlan plan(fp8_llama(), s, fp8_recipe());
    const RunRecord run = train(plan.job(), two_steps);
    require_bytes(plan, run);
    // e4m3 has four bits of significand, and the errors of 128 tokens are not of one sign.
    CHECK(run.steps.front().loss == Approx(exact.steps.front().loss).epsilon(0x1p-4 / std::sqrt(128.0)));
    CHECK(run.steps.front().gradient_norm == Approx(exact.steps.front().gradient_norm).epsilon(0x1p-4));
    if (n % 4 != 0) continue;
    const RunRecord again = train(plan.job(), two_steps);
    CHECK(again.steps.back().loss == run.steps.back().loss);
    CHECK(again.steps.back().gradient_norm == run.steps.back().gradient_norm);
  }
}

TEST_CASE(
    "operands are e4m3 or e5m2 with the largest magnitude at the format's end, weights alongside their transpose") {
  CpuDevice device;
  Backend backend(device);
  ProductOperands operands(backend, cpu_kernels());
  const std::vector<float> values{1.0F, -3.5F, 0.3F, 0.0F, 7.0F, 2.2F};
  const ConstTensorView weight = dense_view(static_cast<const void*>(values.data()), NumberFormat::fp32, 2, 3);
  const auto widened = [](const ConstTensorView& view) {
    std::vector<float> wide(static_cast<std::size_t>(view.size()));
    reference::cast({view, dense_view(static_cast<void*>(wide.data()), NumberFormat::fp32, view.rows, view.columns)});
    return wide;
  };
  // Scales 7 / 448 = 2^-6 and 7 / 57344 = 2^-13: codes are the values with 3 and 2 bits behind the leading one.
  const std::vector<float> e4m3{1.0F, -3.5F, 0.3125F, 0.0F, 7.0F, 2.25F};
  const std::vector<float> e5m2{1.0F, -3.5F, 0.3125F, 0.0F, 7.0F, 2.0F};
  CHECK(widened(operands.cast(weight, NumberFormat::fp8_e4m3, ScratchUse::input, ScaleOf::row)) == e4m3);
  CHECK(widened(operands.cast(weight, NumberFormat::fp8_e4m3, ScratchUse::gradient, ScaleOf::row)) == e5m2);
  const Bytes before = backend.live().live().device_total();
  operands.keep({0, 0}, weight, NumberFormat::fp8_e4m3);
  CHECK(backend.live().live().device_total() - before == Bytes(12));
  CHECK(widened(operands.weight({0, 0}, weight, NumberFormat::fp8_e4m3)) == e4m3);
  const ProductOperands::Oriented turned = operands.weight_of_gradient({0, 0}, weight, NumberFormat::fp8_e4m3);
  CHECK(turned.transpose == Transpose::yes);
  CHECK(widened(turned.view) == std::vector<float>{1.0F, 0.0F, -3.5F, 7.0F, 0.3125F, 2.25F});
}

/// Rows' scales 3.5 / 448 = 2^-7 and 7 / 448 = 2^-6, columns' 1 / 448, 7 / 448 = 2^-6 and 2.25 / 448: 0.3 is now
/// nearest to 0.3125 in rows (codes are whole below 448 / 2^3) and 0.3 * 448 / 2.25 = 59.7 to 60, 60 * 2.25 / 448 in
/// columns.
TEST_CASE(
    "with scales of rows operands have one for what each product does not sum over, and weights two copies of codes") {
  CpuDevice device;
  Backend backend(device);
  ProductOperands operands(backend, cpu_kernels(), Fp8Scaling::row);
  const std::vector<float> values{1.0F, -3.5F, 0.3F, 0.0F, 7.0F, 2.25F};
  const ConstTensorView weight = dense_view(static_cast<const void*>(values.data()), NumberFormat::fp32, 2, 3);
  const auto widened = [](const ConstTensorView& view) {
    std::vector<float> wide(static_cast<std::size_t>(view.size()));
    reference::cast({view, dense_view(static_cast<void*>(wide.data()), NumberFormat::fp32, view.rows, view.columns)});
    return wide;
  };
  const std::vector<float> by_rows{1.0F, -3.5F, 0.3125F, 0.0F, 7.0F, 2.25F};
  const float nearest = 60 * (2.25F / 448);
  const ConstTensorView rows = operands.cast(weight, NumberFormat::fp8_e4m3, ScratchUse::input, ScaleOf::row);
  CHECK((rows.scale_of == ScaleOf::row && rows.scale[0] == 0x1p-7F && rows.scale[1] == 0x1p-6F));
  CHECK(widened(rows) == by_rows);
  const ConstTensorView columns = operands.cast(weight, NumberFormat::fp8_e4m3, ScratchUse::gradient, ScaleOf::column);
  CHECK((columns.scale_of == ScaleOf::column && columns.format == NumberFormat::fp8_e5m2));
  CHECK(columns.scale[1] == 7.0F / 57344);
  const Bytes before = backend.live().live().device_total();
  operands.keep({0, 0}, weight, NumberFormat::fp8_e4m3);
  CHECK(backend.live().live().device_total() - before == Bytes(12));
  CHECK(widened(operands.weight({0, 0}, weight, NumberFormat::fp8_e4m3)) == by_rows);
  const ProductOperands::Oriented turned = operands.weight_of_gradient({0, 0}, weight, NumberFormat::fp8_e4m3);
  CHECK((turned.transpose == Transpose::yes && turned.view.scale_of == ScaleOf::row));
  const std::vector<float> kept = widened(turned.view);
  const std::vector<float> by_columns{1.0F, 0.0F, -3.5F, 7.0F, nearest, 2.25F};
  for (std::size_t i = 0; i < kept.size(); ++i) CHECK(kept[i] == Approx(by_columns[i]).epsilon(1e-6));
  // A weight that is not kept has the same numbers.
  const ProductOperands::Oriented other = operands.weight_of_gradient({9, 9}, weight, NumberFormat::fp8_e4m3);
  CHECK((other.transpose == Transpose::no && other.view.scale_of == ScaleOf::column));
  CHECK(widened(other.view)[2] == Approx(nearest).epsilon(1e-6));
}

TEST_CASE("steps with scales of rows hold and send what is predicted, learn the same, and repeat bit for bit") {
  const RunOptions two_steps = two_steps_from_large_weights();
  const auto run = [&](const LoweredPlan& plan, Fp8Scaling scaling) {
    TrainingJob job = plan.job();
    job.fp8_scaling = scaling;
    return train(job, two_steps);
  };
  const RunRecord exact =
      train(LoweredPlan(fp8_llama(), spread(1, 1, 1, 0), recipe(Optimizer::adamw)).job(), two_steps);
  for (const Strategy& s : {spread(1, 1, 1, 0), spread(1, 2, 2, 0), spread(2, 1, 1, 3)}) {
    INFO(to_text(s));
    const LoweredPlan plan(fp8_llama(), s, fp8_recipe());
    const RunRecord of_rows = run(plan, Fp8Scaling::row);
    require_bytes(plan, of_rows);
    CHECK(of_rows.steps.front().loss == Approx(exact.steps.front().loss).epsilon(0x1p-4 / std::sqrt(128.0)));
    CHECK(of_rows.steps.front().gradient_norm == Approx(exact.steps.front().gradient_norm).epsilon(0x1p-4));
    const RunRecord again = run(plan, Fp8Scaling::row);
    CHECK(again.steps.back().loss == of_rows.steps.back().loss);
    CHECK(again.steps.back().gradient_norm == of_rows.steps.back().gradient_norm);
    CHECK(run(plan, Fp8Scaling::tensor).steps.back().gradient_norm != of_rows.steps.back().gradient_norm);
  }
}

TEST_CASE("tf32 rounds what it multiplies") {
  const Executed exact = execute(LoweredPlan(network(Net::llama), single(), recipe()).job(), options(1));
  Training training = recipe();
  training.precision = PrecisionRecipe::tf32;
  const Executed rounded = execute(LoweredPlan(network(Net::llama), single(), training).job(), options(1));
  const std::string name = "layers.1.mlp.down.weight";
  const double difference =
      relative_difference(rounded.gradients.at(name), exact.gradients.at(name), usual_size(exact.gradients));
  CHECK(difference > 1e-5);    // fp32 alone: 1e-6
  CHECK(difference < 0x1p-8);  // 11 bits of significand
}

}  // namespace
}  // namespace plumbline
