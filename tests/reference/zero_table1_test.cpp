// Model states against ZeRO's published table and against every precision recipe and optimizer written out.

#include <cstdint>

#include "core/cost/rank_parameters.h"
#include "tests/catch.h"
#include "tests/test_rows.h"

namespace plumbline {
namespace {

/// `count` matrix parameters, all dense and trained.
RankParameters dense(std::int64_t count) {
  RankParameters p;
  p.dense = p.dense_trained = {count, 0};
  return p;
}

double bytes_per_parameter(const PrecisionFormats& formats, int zero_stage, std::int64_t ranks) {
  constexpr std::int64_t parameters = 1'000'000'000'000;
  const ModelState state = model_state(dense(parameters), formats, Optimizer::adamw, zero_stage, {ranks, ranks});
  return static_cast<double>(state.total().value()) / static_cast<double>(parameters);
}

/// One unit of the last digit of a printed number: "41.3" is 0.1, "513" is 1.
double last_digit(const std::string& printed) {
  const std::size_t point = printed.find('.');
  return point == std::string::npos ? 1.0 : std::pow(10.0, -static_cast<double>(printed.size() - point - 1));
}

// Stage 1: 2 + 2 + 12/N bytes per parameter. Stage 2: 2 + 14/N. Stage 3: 16/N.
double table_formula(std::int64_t zero_stage, double ranks) {
  if (zero_stage == 1) return 4 + 12 / ranks;
  return zero_stage == 2 ? 2 + 14 / ranks : 16 / ranks;
}

TEST_CASE("model states are those of ZeRO's table 1") {
  TestRows file("zero_table1.json");
  REQUIRE(file.rows().size() == 54);
  for (JsonObject& row : file.rows()) {
    const std::int64_t parameters = count_at(row, "parameters");
    const std::int64_t ranks = count_at(row, "ranks");
    const auto stage = static_cast<std::int32_t>(count_at(row, "zero_stage"));
    const std::string printed = row.at("printed_gb").string();
    const PrecisionFormats formats = precision_formats(PrecisionRecipe::fp16);
    const ModelState state = model_state(dense(parameters), formats, Optimizer::adam, stage, {ranks, ranks});
    const double predicted = static_cast<double>(state.total().value()) / 1e9;
    const double formula = static_cast<double>(parameters) * table_formula(stage, static_cast<double>(ranks)) / 1e9;
    INFO(row.where() << ": predicted " << predicted << " GB, published " << printed << ", error "
                     << predicted / std::stod(printed) - 1);
    CHECK(std::abs(predicted - std::stod(printed)) <= last_digit(printed));
    CHECK(predicted == Approx(formula).epsilon(1e-6));
    // The file holds three digits of the formula.
    CHECK(std::abs(predicted - number_at(row, "formula_gb")) <= 0.0005 + 1e-6);
  }
}

TEST_CASE("plain fp32 Adam keeps 16 bytes per parameter and ZeRO divides gradients, moments and weights in turn") {
  const PrecisionFormats formats = precision_formats(PrecisionRecipe::fp32);
  for (const std::int64_t ranks : {1, 2, 8, 64, 1000}) {
    const auto n = static_cast<double>(ranks);
    CAPTURE(ranks);
    CHECK(bytes_per_parameter(formats, 0, ranks) == 16);
    CHECK(bytes_per_parameter(formats, 1, ranks) == Approx(8 + 8 / n).epsilon(1e-10));
    CHECK(bytes_per_parameter(formats, 2, ranks) == Approx(4 + 12 / n).epsilon(1e-10));
    CHECK(bytes_per_parameter(formats, 3, ranks) == Approx(16 / n).epsilon(1e-10));
  }
}

TEST_CASE("fp32 gradients make mixed precision 18 bytes per parameter instead of 16") {
  for (const PrecisionRecipe recipe :
       {PrecisionRecipe::bf16, PrecisionRecipe::fp16, PrecisionRecipe::fp8, PrecisionRecipe::nvfp4}) {
    CHECK(bytes_per_parameter(precision_formats(recipe), 0, 1) == 16);
    CHECK(bytes_per_parameter(precision_formats(recipe, NumberFormat::fp32), 0, 1) == 18);
    // Stage 1 of Megatron's distributed optimizer: 6 + 12/N.
    CHECK(bytes_per_parameter(precision_formats(recipe, NumberFormat::fp32), 1, 4) == 6 + 12 / 4.0);
    // Megatron-Core's precision-aware optimizer: both moments in bf16.
    CHECK(bytes_per_parameter(precision_formats(recipe, {}, NumberFormat::bf16), 1, 4) == 4 + 8 / 4.0);
  }
}

/// Bytes per parameter.
struct RecipeBytes {
  PrecisionRecipe recipe;
  std::int64_t weight;
  std::int64_t gradient;
  std::int64_t master;
  std::int64_t state;  ///< per value that the optimizer keeps
};
constexpr RecipeBytes recipe_bytes[] = {
    {PrecisionRecipe::fp32, 4, 4, 0, 4},      {PrecisionRecipe::tf32, 4, 4, 0, 4},
    {PrecisionRecipe::fp16, 2, 2, 4, 4},      {PrecisionRecipe::bf16, 2, 2, 4, 4},
    {PrecisionRecipe::bf16_pure, 2, 2, 0, 2}, {PrecisionRecipe::fp16_pure, 2, 2, 0, 2},
    {PrecisionRecipe::fp8, 2, 2, 4, 4},       {PrecisionRecipe::fp8_delayed, 2, 2, 4, 4},
    {PrecisionRecipe::fp8_row, 2, 2, 4, 4},   {PrecisionRecipe::fp8_block, 2, 2, 4, 4},
    {PrecisionRecipe::mxfp8, 2, 2, 4, 4},     {PrecisionRecipe::nvfp4, 2, 2, 4, 4},
};

/// Values kept per parameter of a matrix inside the layers and of anything else.
struct OptimizerValues {
  Optimizer optimizer;
  std::int64_t matrix;
  std::int64_t other;
};
constexpr OptimizerValues optimizer_values[] = {
    {Optimizer::sgd, 0, 0},
    {Optimizer::momentum, 1, 1},
    {Optimizer::adagrad, 1, 1},
    {Optimizer::rmsprop, 1, 1},
    {Optimizer::adam, 2, 2},
    {Optimizer::adamw, 2, 2},
    {Optimizer::lion, 1, 1},
    {Optimizer::muon, 1, 2},
    {Optimizer::adamw_8bit, 2, 2},  // of parameters that are not quantized
    {Optimizer::paged_adamw_8bit, 2, 2},
    {Optimizer::adafactor, 0, 0},  // but means of rows and columns, below
};

// Of a matrix (r x c) 4 (r + c) bytes and of a vector 4 for each element, which no rank divides.
TEST_CASE("Adafactor keeps means by row and column, the same under every ZeRO stage") {
  RankParameters p;
  p.dense = p.dense_trained = {360, 7, 12 + 30 + 7};
  for (const int stage : {0, 1, 2, 3})
    CHECK(
        model_state(p, precision_formats(PrecisionRecipe::bf16), Optimizer::adafactor, stage, {8, 8}).optimizer_state ==
        Bytes(std::int64_t{4} * (12 + 30 + 7)));
}

// Dettmers et al., arXiv:2110.02861: 8-bit states take two bytes for each parameter where 32-bit ones take eight; a
// scale of four bytes for each state and 256 elements comes on top.
TEST_CASE("8-bit AdamW keeps 2 bytes and 8 / 256 for each quantized parameter, in place of 8") {
  RankParameters p;
  p.dense = p.dense_trained = {256'000, 0, 0, 256'000};
  const auto states = [&](Optimizer optimizer) {
    return model_state(p, precision_formats(PrecisionRecipe::bf16), optimizer, 0, {}).optimizer_state;
  };
  CHECK(states(Optimizer::adamw) == Bytes(std::int64_t{8} * 256'000));
  CHECK(states(Optimizer::adamw_8bit) == Bytes(std::int64_t{2} * 256'000 + std::int64_t{8} * 1'000));
  CHECK(states(Optimizer::paged_adamw_8bit) == states(Optimizer::adamw_8bit));
}

TEST_CASE("every recipe and optimizer keeps the bytes of this table, component by component") {
  STATIC_REQUIRE(std::size(recipe_bytes) == all_precision_recipes.size());
  STATIC_REQUIRE(std::size(optimizer_values) == optimizer_table.size());
  constexpr std::int64_t matrix = 7'000;
  constexpr std::int64_t other = 300;
  RankParameters p;
  p.dense = p.dense_trained = {matrix, other};
  for (const RecipeBytes& r : recipe_bytes) {
    for (const OptimizerValues& o : optimizer_values) {
      INFO(to_text(r.recipe) << " " << to_text(o.optimizer));
      const ModelState state = model_state(p, precision_formats(r.recipe), o.optimizer, 0, {});
      CHECK(state.weights == Bytes((matrix + other) * r.weight));
      CHECK(state.gradients == Bytes((matrix + other) * r.gradient));
      CHECK(state.master_weights == Bytes((matrix + other) * r.master));
      CHECK(state.optimizer_state == Bytes((matrix * o.matrix + other * o.other) * r.state));
      CHECK(state.total() == state.weights + state.gradients + state.master_weights + state.optimizer_state);
    }
  }
}

}  // namespace
}  // namespace plumbline
