#include "runtime/run/rank_records.h"

#include <algorithm>

#include "core/io/run_record_json.h"

namespace plumbline {

void add_sent(RankRecord& record, const std::string& name, const SentByKind& sent, std::int64_t steps) {
  for (std::size_t kind = 0; kind < collective_count; ++kind)
    if (sent.bytes[kind].value() != 0)
      record.sent.push_back({name, std::string(to_text(static_cast<Collective>(kind))), sent.calls[kind] / steps,
                             sent.bytes[kind] / steps});
}

void add_copies(RankRecord& record, const HostCopies& copied, std::int64_t steps) {
  if (copied.copies == 0) return;
  const auto add = [&](ActionKind kind, Bytes bytes) {
    record.sent.push_back({"host", std::string(to_text(kind)), copied.copies / steps, bytes / steps});
  };
  add(ActionKind::offload, copied.to_host);
  add(ActionKind::fetch, copied.from_host);
  record.memory.on_host = copied.most_on_host;
}

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
