#!/usr/bin/env bash
# Installs what is missing to build Plumbline on Debian 12, 13 and Ubuntu 24.04, and says what it does.
# Usage: setup_debian.sh [bench] [fuzz] [lint] [mpi] [gui] [python] [deb]   (what to be able to do besides building and testing)
set -euo pipefail

# command or header that shows it is there : package that brings it
needed=(
  g++:g++ cmake:cmake ninja:ninja-build ccache:ccache git:git python3:python3 jsonschema:python3-jsonschema
  boost/graph/adjacency_list.hpp:libboost-dev
  # stacks of the fibers that run CUDA kernels in tests
  libboost_context:libboost-context-dev
  nlohmann/json.hpp:nlohmann-json3-dev
  CLI/CLI.hpp:libcli11-dev
  catch2/:catch2
  ./xxhash.h:libxxhash-dev
  eigen3/Eigen/Core:libeigen3-dev
  # matrix products on the CPU; without it Eigen's
  oneapi/dnnl/dnnl.h:libdnnl-dev
  yaml-cpp/parser.h:libyaml-cpp-dev
  toml++/toml.h:libtomlplusplus-dev
  # what `plan` takes memory from; without it from the C library, and a search takes a tenth longer
  "libtcmalloc_minimal:libtcmalloc-minimal4|libtcmalloc-minimal4t64"
)
for purpose in "$@"; do
  case "$purpose" in
    bench) needed+=(benchmark/benchmark.h:libbenchmark-dev) ;;
    fuzz) needed+=(clang++:clang libclang-rt:libclang-rt-dev) ;;
    lint) needed+=(clang++:clang clang-format:clang-format clang-tidy:clang-tidy) ;;
    mpi) needed+=(mpirun:openmpi-bin mpi.h:libopenmpi-dev) ;;
    # what the module's wheel is tried with
    python) needed+=(venv:python3-venv) ;;
    deb) needed+=(dpkg-shlibdeps:dpkg-dev file:file) ;;
    gui) needed+=(qt6/QtWidgets/QWidget:qt6-base-dev "qt6/QtSvg/QSvgGenerator:qt6-svg-dev|libqt6svg6-dev") ;;
    *) echo "setup: unknown purpose '$purpose' (bench, fuzz, lint, mpi, gui, python, deb)" >&2; exit 2 ;;
  esac
done

is_there() {
  case "$1" in
    libclang-rt) compgen -G '/usr/lib/llvm-*/lib/clang/*/lib/linux/libclang_rt.fuzzer-*.a' >/dev/null ;;
    libboost_context) compgen -G "/usr/lib/*/libboost_context.*" >/dev/null ;;
    libtcmalloc_minimal) compgen -G '/usr/lib/*/libtcmalloc_minimal.so*' >/dev/null ;;
    mpi.h) compgen -G '/usr/lib/*/openmpi/include/mpi.h' >/dev/null ;;
    venv) python3 -c 'import ensurepip' 2>/dev/null ;;
    qt6/*) compgen -G "/usr/include/*/$1" >/dev/null || [ -e "/usr/include/$1" ] ;;
    */*) [ -e "/usr/include/$1" ] || [ -e "/usr/local/include/$1" ] ;;
    *) command -v "$1" >/dev/null ;;
  esac
}

missing=()
for entry in "${needed[@]}"; do
  is_there "${entry%%:*}" || missing+=("${entry#*:}")
done
if [ "${#missing[@]}" -eq 0 ]; then
  echo "setup: nothing is missing"
  exit 0
fi

if ! command -v apt-get >/dev/null; then
  echo "setup: no apt-get here; install the equivalents of: ${missing[*]}" >&2
  exit 3
fi
as_root=()
if [ "$(id -u)" -ne 0 ]; then
  if ! command -v sudo >/dev/null; then
    echo "setup: missing: ${missing[*]}; run as root: apt-get install ${missing[*]}" >&2
    exit 3
  fi
  as_root=(sudo)
fi
log=$(mktemp)
trap 'rm -f "$log"' EXIT
quietly() { "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive "$@" >"$log" 2>&1 || { cat "$log" >&2; exit 3; }; }
echo "setup: installing ${missing[*]}"
quietly apt-get update -q
# A package that releases call by different names: the first that there is.
for i in "${!missing[@]}"; do
  for name in ${missing[$i]//|/ }; do
    if [ -n "$(apt-cache madison "$name")" ]; then missing[i]=$name; break; fi
  done
done
quietly apt-get install -y -q --no-install-recommends "${missing[@]}"
