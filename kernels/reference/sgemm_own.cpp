#include "kernels/reference/sgemm.h"

namespace plumbline::reference {

void sgemm(const Sgemm& product) { naive_sgemm(product); }
std::string_view sgemm_library() { return "own loops"; }

}  // namespace plumbline::reference
