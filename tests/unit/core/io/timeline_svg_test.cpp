// The picture of a small step: lanes, labels, the axis in milliseconds, the peak.

#include "core/io/timeline_svg.h"

#include "core/io/svg.h"
#include "tests/catch.h"

namespace plumbline {
namespace {

std::int64_t count(const std::string& text, std::string_view what) {
  std::int64_t found = 0;
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++found;
  return found;
}

/// `ranks` ranks under ZB-H1 with as many micro-batches: forward, input and weight gradient of 10 ms each.
std::string picture(std::int32_t ranks, Bytes capacity) {
  LoweringInput input;
  input.schedule = compute_schedule(Schedule::zb_h1, {ranks, 1, ranks});
  SegmentSizes segment;
  segment.memory.saved = Bytes(std::int64_t{1} << 30);
  RankSizes rank;
  rank.chunks = {{{segment}, Bytes(4)}};
  rank.persistent = {{MemoryClass::weights, Bytes(std::int64_t{4} << 30)}};
  input.ranks.assign(static_cast<std::size_t>(ranks), rank);
  const Program program = lower(input);
  ActionTimes times;
  for (const RankProgram& lowered : program.ranks) {
    std::vector<Picoseconds>& row = times.of_rank.emplace_back();
    for (const Action& action : lowered.actions)
      row.push_back(
          Picoseconds(action.stream() == Stream::compute && action.pass() != Pass::step ? 10'000'000'000 : 0));
  }
  return timeline_svg(program, simulate(program, times, 0), {"a < b & c", "below", capacity});
}

TEST_CASE("numbers of a picture have two digits at most and no zeros at the end") {
  CHECK(svg_number(12.5) == "12.5");
  CHECK(svg_number(100) == "100");
  CHECK(svg_number(1.0 / 3) == "0.33");
  CHECK(svg_number(-0.001) == "0");
  CHECK(box_path({1, 2, 3.5, 4}) == "M1 2h3.5v4h-3.5z");
}

// ZB-H1 on 2 ranks with 2 micro-batches: every action of a lane is wide enough for its number: 6 on each of 2 lanes.
TEST_CASE("a picture has a lane and a label per stage, and numbers on actions that have the room") {
  const std::string svg = picture(2, Bytes(0));
  CHECK(svg.starts_with("<svg "));
  CHECK(svg.ends_with("</svg>\n"));
  CHECK(svg.find("a &lt; b &amp; c") != std::string::npos);
  CHECK(svg.find(">stage 0<") != std::string::npos);
  CHECK(svg.find(">stage 1<") != std::string::npos);
  CHECK(count(svg, ">0</text>") == 2 * 3 + 1);  // and the axis begins at 0
  CHECK(count(svg, ">1</text>") == 6);
  CHECK(svg.find(">weight gradient<") != std::string::npos);
  CHECK(svg.find(">recompute<") == std::string::npos);
}

// 4 GiB of states and, at most, 2 activations of 1 GiB on rank 0.
TEST_CASE("peaks are written alongside the curves, and the capacity where it is known") {
  const std::string svg = picture(2, Bytes(0));
  CHECK(svg.find(">6.0 GiB<") != std::string::npos);
  CHECK(count(svg, "<circle") == 1);
  CHECK(count(svg, "stroke-dasharray") == 0);
  CHECK(picture(2, Bytes(std::int64_t{8} << 30)).find("a device holds 8.0 GiB") != std::string::npos);
}

TEST_CASE("beyond sixteen stages, evenly chosen ones from the first to the last are drawn") {
  const std::string svg = picture(40, Bytes(0));
  CHECK(count(svg, ">stage ") == 16);
  CHECK(svg.find(">stage 39<") != std::string::npos);
  CHECK(svg == picture(40, Bytes(0)));
}

// Four segments of 10 ms whose activations leave by 30 ms each: what is beneath compute is painted first.
TEST_CASE("copies to the host are shown where no compute hides them") {
  LoweringInput input;
  input.schedule = compute_schedule(Schedule::none, {1, 1, 1});
  SegmentSizes segment;
  segment.memory.saved = segment.offloaded = Bytes(std::int64_t{1} << 30);
  RankSizes rank;
  rank.chunks = {{{segment, segment, segment, segment}, Bytes(4)}};
  input.ranks = {rank};
  const Program program = lower(input);
  ActionTimes times;
  for (const Action& action : program.ranks[0].actions) {
    if (times.of_rank.empty()) times.of_rank.emplace_back();
    const bool copies = action.kind() == ActionKind::offload || action.kind() == ActionKind::fetch;
    const bool computes = action.stream() == Stream::compute && action.pass() != Pass::step;
    times.of_rank[0].push_back(Picoseconds(copies ? 30'000'000'000 : computes ? 10'000'000'000 : 0));
  }
  const std::string svg = timeline_svg(program, simulate(program, times, 0), {"offload", "", Bytes(0)});
  CHECK(svg.find(">exposed host copies<") != std::string::npos);
  CHECK(svg.find(">exposed communication<") == std::string::npos);
  const std::size_t copies = svg.find(" fill=\"#e8a8b2\"");
  const std::size_t forward = svg.find(" fill=\"#2f6fbe\"");
  REQUIRE(copies != std::string::npos);
  REQUIRE(forward != std::string::npos);
  CHECK(copies < forward);
}

}  // namespace
}  // namespace plumbline
