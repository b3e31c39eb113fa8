#include "core/cost/calibration.h"

#include "core/base/errors.h"

namespace plumbline {

const ProductEfficiency& DeviceCalibration::product(NumberFormat format) const {
  check(!products.empty(), "readers refuse a calibration without matrix products");
  for (const ProductEfficiency& p : products)
    if (p.format == format) return p;
  return products.front();
}

const OperatorTraffic* DeviceCalibration::traffic(OpKind kind) const {
  for (const OperatorTraffic& traffic : operators)
    if (traffic.kind == kind) return &traffic;
  return nullptr;
}

}  // namespace plumbline
