// Whatever the text: --fix of a search is refused in one line, or names values that a strategy can have.
#include "planner/search/space.h"
#include "tests/fuzz/fuzz.h"

using namespace plumbline;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  require_accepted_or_refused([&] {
    const SearchSpace space = space_from_text(text_of(data, size));
    for (const auto* degrees :
         {&space.pipeline_stages, &space.tensor_parallel, &space.context_parallel, &space.expert_parallel,
          &space.expert_tensor_parallel, &space.data_parallel, &space.virtual_stages})
      for (const std::int32_t degree : *degrees) require(degree >= 1);
    for (const std::int32_t stage : space.zero_stage) require(stage >= 0 && stage <= 3);
    for (const std::int64_t micro_batch : space.micro_batch) require(micro_batch >= 1);
  });
  return 0;
}
