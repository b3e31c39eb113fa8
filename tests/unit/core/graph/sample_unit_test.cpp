// What people call a sample of a network.

#include "core/graph/sample_unit.h"

#include "models/network_catalog.h"
#include "tests/catch.h"

namespace plumbline {
namespace {

TEST_CASE("networks without sequences are trained on images, encoders on samples, the others on sequences") {
  for (const char* name : {"resnet-50", "vit-base-patch16-224"})
    CHECK(sample_unit(find_network(name).graph) == SampleUnit::image);
  for (const char* name : {"bert-base", "bert-large"})
    CHECK(sample_unit(find_network(name).graph) == SampleUnit::sample);
  for (const char* name : {"gpt2", "llama-3-8b", "gemma-3-4b", "mixtral-8x7b", "t5-small"})
    CHECK(sample_unit(find_network(name).graph) == SampleUnit::sequence);
}

TEST_CASE("every unit has a name that reads back") {
  for (const SampleUnit unit : all_sample_units) CHECK(sample_unit_from_text(to_text(unit)) == unit);
  CHECK_FALSE(sample_unit_from_text("token"));
}

}  // namespace
}  // namespace plumbline
