#include "kernels/reference/eigen_sgemm.h"

namespace plumbline::reference {

void sgemm(const Sgemm& product) { by_eigen::sgemm(product); }
std::string_view sgemm_library() { return "Eigen"; }

}  // namespace plumbline::reference
