#include "runtime/cuda/refused_products.h"

#include <mutex>
#include <set>

namespace plumbline {
namespace {

struct Refused {
  std::mutex mutex;
  std::set<ProductShape> shapes;
  std::string first;
};
Refused& refused() {
  static Refused all;
  return all;
}

}  // namespace

void remember_refused(const RefusedProduct& product) {
  Refused& all = refused();
  const std::lock_guard lock(all.mutex);
  if (all.shapes.empty()) all.first = to_text(product.shape) + ": " + product.reason;
  all.shapes.insert(product.shape);
}

std::string refused_products_text() {
  Refused& all = refused();
  const std::lock_guard lock(all.mutex);
  if (all.shapes.empty()) return "";
  const std::size_t count = all.shapes.size();
  return "cuBLASLt refused " + std::to_string(count) + (count == 1 ? " shape" : " shapes") +
         " of matrix products, which our own kernels multiplied in more time; the first was " + all.first;
}

void forget_refused_products() {
  const std::lock_guard lock(refused().mutex);
  refused().shapes.clear();
}

}  // namespace plumbline
