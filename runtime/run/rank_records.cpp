#include "runtime/run/rank_records.h"

#include <algorithm>

#include "core/io/run_record_json.h"

namespace plumbline {

std::int64_t nanoseconds_behind(Communicator& everyone, std::int64_t begin_ns) {
  std::vector<std::int64_t> begins(static_cast<std::size_t>(everyone.rank_set().size()));
  everyone.all_gather(std::as_bytes(std::span(&begin_ns, 1)), std::as_writable_bytes(std::span(begins)),
                      ElementFormat::bytes);
  return begin_ns - *std::min_element(begins.begin(), begins.end());
}

std::vector<RankRecord> gathered(Communicator& everyone, const RankRecord& own) {
  constexpr std::int32_t size_tag = 0;
  constexpr std::int32_t text_tag = 1;
  if (everyone.index() != 0) {
    const std::string text = to_json_text(to_json(own), -1);
    const std::size_t size = text.size();
    everyone.send(std::as_bytes(std::span(&size, 1)), 0, size_tag);
    everyone.send(std::as_bytes(std::span(text)), 0, text_tag);
    return {};
  }
  std::vector<RankRecord> all{own};
  for (std::int32_t rank = 1; rank < everyone.rank_set().size(); ++rank) {
    std::size_t size = 0;
    everyone.receive(std::as_writable_bytes(std::span(&size, 1)), rank, size_tag);
    std::string text(size, ' ');
    everyone.receive(std::as_writable_bytes(std::span(text)), rank, text_tag);
    const std::string source = "record of rank " + std::to_string(rank);
    const Json json = parse_json(text, source);
    all.push_back(rank_record_from_json(JsonPlace(json, source + ":"), rank));
  }
  return all;
}

}  // namespace plumbline
