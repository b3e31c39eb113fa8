// Of a module that may need no library: oneDNN is loaded where it is installed, as the programs of this build are
// linked to it; elsewhere Eigen multiplies, or our own loops in a build without Eigen. dnnl_sgemm is the same C call in
// versions 2 and 3, and row-major.
#include <dlfcn.h>

#include <string>

#include "core/base/errors.h"
#include "kernels/reference/eigen_sgemm.h"
#include "kernels/reference/sgemm.h"

namespace plumbline::reference {
namespace {

using Product = int (*)(char, char, std::int64_t, std::int64_t, std::int64_t, float, const float*, std::int64_t,
                        const float*, std::int64_t, float, float*, std::int64_t);
using SetThreads = void (*)(int);

struct OneDnn {
  Product product = nullptr;
  SetThreads set_threads = nullptr;  ///< of the OpenMP library that it brought
};

OneDnn loaded() {
  OneDnn found;
  void* const library = dlopen(PLUMBLINE_DNNL_NAME, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return found;
  found.product = reinterpret_cast<Product>(dlsym(library, "dnnl_sgemm"));
  found.set_threads = reinterpret_cast<SetThreads>(dlsym(library, "omp_set_num_threads"));
  return found;
}

const OneDnn& one_dnn() {
  static const OneDnn library = loaded();
  return library;
}

char loaded_letter(Transpose transpose) { return transpose == Transpose::no ? 'N' : 'T'; }

void sgemm_without_one_dnn(const Sgemm& p) {
#if __has_include(<Eigen/Core>)
  by_eigen::sgemm(p);
#else
  naive_sgemm(p);
#endif
}

/// A setting of the calling thread: a rank is one thread, and its products must not depend on how many others compute.
bool use_one_thread() {
  if (one_dnn().set_threads != nullptr) one_dnn().set_threads(1);
  return true;
}

}  // namespace

void sgemm(const Sgemm& p) {
  if (one_dnn().product == nullptr) return sgemm_without_one_dnn(p);
  if (p.k == 0) return naive_sgemm(p);  // an empty sum still scales c by beta, which oneDNN 2.6 leaves undone
  thread_local const bool is_ready = use_one_thread();
  check(is_ready, "the thread is set up on its first product");
  const int status = one_dnn().product(loaded_letter(p.transpose_a), loaded_letter(p.transpose_b), p.m, p.n, p.k,
                                       p.alpha, p.a, p.lda, p.b, p.ldb, p.beta, p.c, p.ldc);
  if (status != 0) throw EnvironmentError("oneDNN: dnnl_sgemm answered status " + std::to_string(status));
}

std::string_view sgemm_library() {
  if (one_dnn().product != nullptr) return "oneDNN";
#if __has_include(<Eigen/Core>)
  return "Eigen";
#else
  return "own loops";
#endif
}

}  // namespace plumbline::reference
