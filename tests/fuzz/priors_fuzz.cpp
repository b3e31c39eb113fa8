// Whatever the bytes: a table of priors is refused in one line, or every entry has what a fit divides by.
#include "models/parameter_priors.h"
#include "tests/fuzz/fuzz.h"

using namespace plumbline;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  require_accepted_or_refused([&] {
    const Json json = parse_json(text_of(data, size), "priors");
    const PriorTable table = priors_from_json(JsonPlace(json, "priors"));
    for (const ParameterPrior& prior : table) {
      require(prior.value > 0 && prior.relative_sigma > 0 && !prior.paths.empty());
      for (const std::string& path : prior.paths) (void)matches_path(path, "device/h100/bandwidth_fraction");
    }
  });
  return 0;
}
