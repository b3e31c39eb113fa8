// dnnl_sgemm is the same C call in versions 2 and 3, and row-major.
#include <dlfcn.h>
#include <dnnl.h>

#include <string>

#include "core/base/errors.h"
#include "kernels/reference/sgemm.h"

namespace plumbline::reference {
namespace {

/// A rank is one thread, and its products must not depend on how many others compute. The number of OpenMP threads is
/// a setting of the calling thread; it is looked up because only oneDNN knows which OpenMP library it brought.
void use_one_thread() {
  using SetThreads = void (*)(int);
  if (void* found = dlsym(RTLD_DEFAULT, "omp_set_num_threads"); found != nullptr)
    reinterpret_cast<SetThreads>(found)(1);
}

char letter(Transpose transpose) { return transpose == Transpose::no ? 'N' : 'T'; }

}  // namespace

void sgemm(const Sgemm& p) {
  if (p.k == 0) return naive_sgemm(p);  // an empty sum still scales c by beta, which oneDNN 2.6 leaves undone
  thread_local const bool is_ready = (use_one_thread(), true);
  check(is_ready, "the thread is set up on its first product");
  const dnnl_status_t status = dnnl_sgemm(letter(p.transpose_a), letter(p.transpose_b), p.m, p.n, p.k, p.alpha, p.a,
                                          p.lda, p.b, p.ldb, p.beta, p.c, p.ldc);
  if (status != dnnl_success)
    throw EnvironmentError("oneDNN: dnnl_sgemm answered status " + std::to_string(static_cast<int>(status)));
}

std::string_view sgemm_library() { return "oneDNN"; }

}  // namespace plumbline::reference
