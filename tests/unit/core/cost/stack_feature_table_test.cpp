#include "core/cost/stack_feature_table.h"

#include <set>

#include "core/cost/calibration_fields.h"
#include "tests/catch.h"

namespace plumbline {

TEST_CASE("no key of a feature stands for two, nor for an efficiency; no choice has two words") {
  std::set<std::string_view> keys;
  std::set<std::string_view> old_keys;
  for (const FeatureField& field : stack_feature_fields()) {
    CAPTURE(field.key);
    CHECK(keys.insert(field.key).second);
    CHECK(old_keys.insert(field.old_key).second);
    CHECK(find_field(stack_fields, field.key) == nullptr);
    CHECK(find_field(stack_fields, field.old_key) == nullptr);
    CHECK(find_feature(field.key) == &field);
    CHECK(feature_of_number(field.old_key) == &field);
    const std::vector<std::string> words = field.words();
    CHECK(std::set<std::string>(words.begin(), words.end()).size() == field.choices.size());
    CHECK(field.choices.size() >= 2);
  }
}

TEST_CASE("a choice of one feature changes this feature alone, and its word finds it") {
  const auto fields = stack_feature_fields();
  for (const FeatureField& chosen : fields)
    for (std::size_t choice = 0; choice < chosen.choices.size(); ++choice) {
      CAPTURE(chosen.key, choice);
      StackFeatures features;
      apply({std::string(chosen.key), std::string(chosen.choices[choice].word), "a test"}, features);
      for (const FeatureField& field : fields) CHECK(field.index(features) == (&field == &chosen ? choice : 0));
    }
}

TEST_CASE("what is unknown is found nowhere") {
  CHECK(find_feature("norm") == nullptr);
  CHECK(feature_of_number("norms") == nullptr);
  CHECK(stack_feature_fields().front().find("joined") == nullptr);
}

}  // namespace plumbline
