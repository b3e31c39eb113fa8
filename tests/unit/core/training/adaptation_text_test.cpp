#include "core/training/adaptation_text.h"

#include "core/base/errors.h"
#include "tests/catch.h"

namespace plumbline {
namespace {

Adaptation frozen(std::string_view text) {
  Adaptation adaptation;
  freeze_from_text(text, "--freeze", adaptation);
  return adaptation;
}

TEST_CASE("embeddings, one layer and ranges can be frozen, alone and together") {
  CHECK(frozen("embeddings").freeze_embeddings);
  CHECK(frozen("layers:3").frozen_layers == std::vector<LayerRange>{{3, 3}});
  const Adaptation both = frozen("embeddings,layers:0-15,layers:20-21");
  CHECK(both.freeze_embeddings);
  CHECK(both.frozen_layers == std::vector<LayerRange>{{0, 15}, {20, 21}});
}

TEST_CASE("what is frozen is written as it is read") {
  CHECK(freeze_text(frozen("embeddings,layers:0-15")) == "embeddings,layers:0-15");
  CHECK(freeze_text({}).empty());
}

TEST_CASE("what names nothing to freeze is refused with the part and the flag") {
  for (const char* text :
       {"", "embedding", "layers:", "layers:a", "layers:5-2", "layers:-1", "layers:0-", "embeddings,"})
    CHECK_THROWS_AS(frozen(text), InputError);
  CHECK_THROWS_WITH(frozen("embedings"),
                    Catch::Matchers::ContainsSubstring("--freeze: \"embedings\" names nothing to freeze") &&
                        Catch::Matchers::ContainsSubstring("nearest: embeddings"));
}

}  // namespace
}  // namespace plumbline
