// What the shape of a product leaves of the peak, by hand.

#include "core/cost/product_shapes.h"

#include <cstdint>

#include "models/calibration_set.h"
#include "tests/catch.h"
#include "tests/machines.h"

namespace plumbline {
namespace {

/// One tile of 128 x 128 at the full rate, halves of the inner dimension from 512 on at 0.9.
ProductShapes one_tile() {
  ProductShapes shapes = round_shapes();
  shapes.tiles = {{128, 128, 1.0}};
  shapes.splits = {{2}, 512, 0.9};
  return shapes;
}

}  // namespace

// 16 tiles on 8 multiprocessors: two full waves. 9 tiles on 8: two waves, 9 of 16 places.
TEST_CASE("a last wave that is not full costs its idle multiprocessors") {
  CHECK(tile_efficiency({1, 512, 512, 64}, 8, one_tile()) == 1);
  CHECK(tile_efficiency({1, 384, 384, 64}, 8, one_tile()) == Approx(9.0 / 16));
}

// 4 tiles on 8 multiprocessors: half. Split in two, 8 tiles: full, at 0.9 of the rate.
TEST_CASE("a split inner dimension fills a wave where its parts are long enough") {
  CHECK(tile_efficiency({1, 256, 256, 1023}, 8, one_tile()) == Approx(0.5));
  CHECK(tile_efficiency({1, 256, 256, 1024}, 8, one_tile()) == Approx(0.9));
}

// One tile on 8 multiprocessors: halves keep 2 of 8 busy; as many parts as there are, all of them.
TEST_CASE("weight gradients of convolutions are split until the device is full") {
  const ProductShapes shapes = one_tile();
  CHECK(tile_efficiency({1, 128, 128, std::int64_t{8} * 512}, 8, shapes) == Approx(0.9 * 2 / 8));
  CHECK(tile_efficiency({1, 128, 128, std::int64_t{8} * 512}, 8, shapes, DepthParts::any) == Approx(0.9));
  CHECK(tile_efficiency({1, 128, 128, std::int64_t{8} * 512 - 1}, 8, shapes, DepthParts::any) == Approx(0.9 * 4 / 8));
}

TEST_CASE("the output's or the inner dimension's alignment holds, whichever is worse") {
  const ProductShapes shapes = round_shapes();
  CHECK(alignment_factor({1, 7, 64, 128}, shapes) == 1);
  CHECK(alignment_factor({1, 64, 96, 128}, shapes) == 0.956);
  CHECK(alignment_factor({1, 64, 96, 129}, shapes) == 0.775);
  CHECK(head_alignment_factor(128, shapes) == 1);
  CHECK(head_alignment_factor(72, shapes) == 0.773);
  CHECK(head_alignment_factor(81, shapes) == 0.107);
}

TEST_CASE("a device that states no shapes has those of the generic GPU, which are the round machine's") {
  const CalibrationSet& set = CalibrationSet::shipped();
  for (const DeviceCalibration& each : set.devices()) {
    Device device;
    device.name = each.devices.front();
    const ProductShapes shapes = set.device(device).shapes.value();
    CHECK(shapes.tiles.size() == round_shapes().tiles.size());
    for (const MatrixProduct& p : {MatrixProduct{1, 4096, 4096, 4096}, MatrixProduct{8, 100, 333, 8192}}) {
      CHECK(tile_efficiency(p, 108, shapes) == tile_efficiency(p, 108, round_shapes()));
      CHECK(alignment_factor(p, shapes) == alignment_factor(p, round_shapes()));
    }
    CHECK(head_alignment_factor(72, shapes) == head_alignment_factor(72, round_shapes()));
    CHECK_FALSE(shapes.tiles_source.source.empty());
  }
}

}  // namespace plumbline
