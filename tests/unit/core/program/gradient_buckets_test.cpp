// Which gradients leave while a segment is at work, and which after it, by hand.

#include "core/program/gradient_buckets.h"

#include "tests/catch.h"

namespace plumbline {
namespace {

// Of 100 bytes in buckets of 30, counted from the last: full at 10, 40, 70 and 100.
TEST_CASE("single units send a bucket when it is full, after their work") {
  GradientBuckets<Bytes> buckets(Bytes(100), Bytes(30));
  for (const std::int64_t sent : {10, 30, 30, 30}) {
    const GradientBuckets<Bytes>::Ready ready = buckets.add(Bytes(25), 1);
    CHECK(ready.overlapped == Bytes(0));
    CHECK(ready.after == Bytes(sent));
  }
}

// Three of four units are done before the segment is: 75 bytes, of which 70 are in full buckets.
TEST_CASE("a segment of several units sends all but the last bucket alongside its work") {
  GradientBuckets<Bytes> buckets(Bytes(100), Bytes(30));
  const GradientBuckets<Bytes>::Ready ready = buckets.add(Bytes(100), 4);
  CHECK(ready.overlapped == Bytes(70));
  CHECK(ready.after == Bytes(30));
}

TEST_CASE("a bucket smaller than a unit is as large as the unit") {
  GradientBuckets<Bytes> buckets(Bytes(100), Bytes(10));
  const GradientBuckets<Bytes>::Ready ready = buckets.add(Bytes(100), 4);
  CHECK(ready.overlapped == Bytes(75));
  CHECK(ready.after == Bytes(25));
}

TEST_CASE("one bucket for all leaves when all is made") {
  GradientBuckets<Bytes> buckets(Bytes(100), Bytes(100));
  CHECK(buckets.add(Bytes(60), 3).after == Bytes(0));
  CHECK(buckets.add(Bytes(40), 2).after == Bytes(100));
}

}  // namespace
}  // namespace plumbline
