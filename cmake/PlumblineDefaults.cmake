# What every target of this project is built with.
if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Build type" FORCE)
endif()
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
# Nothing replaces our functions when a program is loaded, so that the compiler may inline them in spite of -fPIC.
add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-fno-semantic-interposition>)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)

find_program(CCACHE_PROGRAM ccache)
if(CCACHE_PROGRAM)
  # Without these sloppinesses ccache caches nothing that uses a precompiled header. Paths are hashed relative to the
  # source folder, so that a fresh clone or another worktree finds what was compiled in this one.
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime
                                  CCACHE_BASEDIR=${PROJECT_SOURCE_DIR} CCACHE_NOHASHDIR=1 ${CCACHE_PROGRAM})
endif()

if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  # Or ccache never finds what was compiled with a precompiled header.
  add_compile_options("$<$<COMPILE_LANGUAGE:CXX>:SHELL:-Xclang -fno-pch-timestamp>")
endif()

# Results are compared byte for byte, so a fused multiply-add must not change them between machines.
add_library(plumbline_warnings INTERFACE)
target_compile_options(plumbline_warnings INTERFACE -ffp-contract=off -Wall -Wextra -Wpedantic -Wnon-virtual-dtor
                       -Woverloaded-virtual -Wcast-align -Wunused)
# In a batch a local name may be that of another file's function, which is no fault; clang-tidy reads files one by one.
if(NOT PLUMBLINE_UNITY)
  target_compile_options(plumbline_warnings INTERFACE -Wshadow)
elseif(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
  target_compile_options(plumbline_warnings INTERFACE -Wshadow=local)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  target_compile_options(plumbline_warnings INTERFACE -Wno-restrict)  # GCC bug 105651: std::string + std::string
endif()
if(PLUMBLINE_WERROR)
  target_compile_options(plumbline_warnings INTERFACE -Werror)
endif()
