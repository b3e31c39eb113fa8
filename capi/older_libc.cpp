// Functions that the library asks of a C library no newer than 2.34, which RHEL 9 and Ubuntu 22.04 have: the linker
// puts these in place of what a newer one would be asked for (--wrap in CMakeLists.txt).
#include <sys/random.h>

#include <cstdint>
#include <cstdlib>

// The same function as hypot@GLIBC_2.35, which no longer sets errno.
__asm__(".symver plumbline_older_hypot, hypot@GLIBC_2.2.5");

extern "C" {

double plumbline_older_hypot(double x, double y);

// NOLINTNEXTLINE(bugprone-reserved-identifier,readability-identifier-naming): so the linker calls it
double __wrap_hypot(double x, double y) { return plumbline_older_hypot(x, y); }

// std::random_device, for names of files that are not there yet.
// NOLINTNEXTLINE(bugprone-reserved-identifier,readability-identifier-naming): so the linker calls it
std::uint32_t __wrap_arc4random() {
  std::uint32_t value = 0;
  if (getrandom(&value, sizeof value, 0) != static_cast<ssize_t>(sizeof value)) std::abort();
  return value;
}
}
