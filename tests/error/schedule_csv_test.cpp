#include "core/io/schedule_csv.h"

#include "core/base/errors.h"
#include "tests/catch.h"

namespace plumbline::schedule_csv_test {
namespace {

/// What the reader says about a text, or "accepted".
std::string refusal(std::string_view text) {
  try {
    (void)read_schedule_csv(text, "s.csv");
  } catch (const InputError& error) {
    return error.what();
  }
  return "accepted";
}

TEST_CASE("a schedule of two ranks is read with either line end, spaces, idle cells and no last line end") {
  CHECK(refusal("0F0,0B0\n1F0,1B0\n") == "accepted");
  CHECK(refusal("0F0,0B0\r\n1F0,1B0\r\n") == "accepted");
  CHECK(refusal("0F0,,, 0I0 ,0W0\n,1F0,1B0") == "accepted");
}

TEST_CASE("what is written reads back, overlapped pairs and V placement included") {
  for (const auto& [schedule, v] : {std::pair{Schedule::interleaved, 3}, std::pair{Schedule::dualpipev, 2},
                                    std::pair{Schedule::v_half, 2}, std::pair{Schedule::zb_h1, 1}}) {
    const ComputeSchedule made = compute_schedule(schedule, {4, v, 8});
    CHECK(read_schedule_csv(to_schedule_csv(made), "written") == made);
  }
  CHECK(to_schedule_csv(read_schedule_csv("0F0,(0F1;0B0)OVERLAP_F_B,0B1", "x")) == "0F0,(0F1;0B0)OVERLAP_F_B,0B1\n");
}

TEST_CASE("a wrong cell is refused with line and column") {
  CHECK(refusal("0F0,0B0\n1F0,1X0\n") ==
        "s.csv:2:5: \"1X0\"; expected stage, F, B, I or W, and micro-batch, such as 0F3");
  CHECK(refusal("0F0, 0B\n").starts_with("s.csv:1:6: \"0B\"; expected stage"));
  CHECK(refusal("F0").starts_with("s.csv:1:1: \"F0\"; expected stage"));
  CHECK(refusal("0F0x").starts_with("s.csv:1:3: \"0x\"; expected a number"));
  CHECK(refusal("0F-1").starts_with("s.csv:1:1: \"0F-1\""));
  CHECK(refusal("0F9999999").starts_with("s.csv:1:3: \"9999999\"; expected a number below 1048576"));
  CHECK(refusal("0F99999999999999999999").starts_with("s.csv:1:3: "));
  CHECK(refusal("(0F0;0F1)OVERLAP_F_B").find("expected a forward paired with a backward") != std::string::npos);
  CHECK(refusal("(0F0;0B1)BOTH").find("expected a pair such as (0F8;7B0)OVERLAP_F_B") != std::string::npos);
  CHECK(refusal("(;)OVERLAP_F_B").starts_with("s.csv:1:2: "));
}

TEST_CASE("communication actions are refused by name") {
  CHECK(refusal("0F0,0SEND_F0") ==
        "s.csv:1:5: \"0SEND_F0\" is a communication action; expected a compute-only schedule: F, B, I, W");
  CHECK(refusal("0UNSHARD,0F0").starts_with("s.csv:1:1: \"0UNSHARD\" is a communication action"));
}

TEST_CASE("schedules that are not one step are refused") {
  CHECK(refusal("") == "s.csv: an empty schedule; expected one line per rank");
  CHECK(refusal("0F0,0B0\n\n1F0,1B0\n") == "s.csv:2:1: a rank without actions; expected 0F0,...");
  CHECK(refusal("0F0,0B0,2F0,2B0\n1F0,1B0\n") == "s.csv: 3 stages on 2 ranks; expected as many stages on each rank");
  CHECK(refusal("1F0,1B0\n0F0,0B0\n") ==
        "s.csv:1:1: stage 1 on rank 0; expected stage chunk x ranks + rank, or two chunks placed as a V");
  CHECK(refusal("0F0,0F1,0B0\n1F0,1F1,1B0,1B1\n").starts_with("s.csv:1:1: 3 actions; expected at least 4"));
  CHECK(refusal("0F0,0F0,0B0,0B1\n").starts_with("s.csv:1:5: rank 0: forward 0 is there twice"));
  CHECK(refusal("0F0,0F1,0I0,0W0,0I1\n").starts_with("s.csv:1:1: rank 0: backward-weight 1 is missing"));
  CHECK(refusal("0F0,0F1048575,0B0\n").starts_with("s.csv:1:1: 3 actions; expected at least 2097152"));
}

TEST_CASE("orders that wait for ever are refused with the cycle") {
  CHECK(refusal("0B0,0F0\n").starts_with("s.csv:1:1: rank 0 waits at backward 0 for forward 0 of rank 0; expected"));
  CHECK(refusal("0F0,0F1,0B1,0B0\n1F0,1B0,1F1,1B1\n") == "accepted");
  CHECK(refusal("0F0,0B0,0F1,0B1\n1F1,1F0,1B0,1B1\n") ==
        "s.csv:1:5: rank 0 waits at backward 0 for backward 0 of rank 1, which waits at forward 1 for forward 1 of "
        "rank 0; "
        "expected an order in which no rank waits for ever");
}

/// Against a shape of 2 ranks, 1 virtual stage and 2 micro-batches.
std::string refusal_of_shape(std::string_view text) {
  try {
    (void)read_schedule_csv(text, "s.csv", PipelineShape{2, 1, 2});
  } catch (const InputError& error) {
    return error.what();
  }
  return "accepted";
}

TEST_CASE("an order that is not of the shape asked for is refused at the first cell that does not belong") {
  CHECK(refusal_of_shape("0F0,0F1,0B0,0B1\n1F0,1B0,1F1,1B1\n") == "accepted");
  CHECK(refusal_of_shape("0F0,0F1,0B0,0B1\n") == "s.csv:1:1: 1 row in the file; expected 2 pipeline ranks, a row each");
  CHECK(refusal_of_shape("").starts_with("s.csv:1:1: 0 rows in the file; expected 2 pipeline ranks"));
  CHECK(refusal_of_shape("0F0,0F1,0B0,0B1\n1F0,1B0,3F1,1B1\n") ==
        "s.csv:2:9: stage 3; expected below 2, the stages of 2 pipeline ranks with 1 virtual stage each");
  CHECK(refusal_of_shape("0F0,0F1,0F2,0B0,0B1,0B2\n1F0,1B0,1F1,1B1\n") ==
        "s.csv:1:9: micro-batch 2; expected below 2, the micro-batches of a step");
  CHECK(refusal_of_shape("0F0,0B0\n1F0,1B0\n").starts_with("s.csv:1:1: 2 actions; expected at least 4"));
  CHECK(refusal_of_shape("1F0,1F1,1B0,1B1\n0F0,0B0,0F1,0B1\n").starts_with("s.csv:1:1: stage 1 on rank 0; expected"));
}

TEST_CASE("a text over 64 MiB and more than four million actions are refused", "[long]") {
  CHECK(refusal(std::string((std::size_t{64} << 20) + 1, ',')).starts_with("s.csv: larger than 64 MiB"));
  std::string text;
  for (int i = 0; i < 4'000'001; ++i) text += "0F0,";
  CHECK(refusal(text).find("more than 4000000 actions") != std::string::npos);
}

}  // namespace
}  // namespace plumbline::schedule_csv_test
