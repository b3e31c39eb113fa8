# Unity builds: several source files are compiled as one, so that the headers they share are parsed once. Two thirds of a
# file's compile time are headers; in batches a build from nothing takes a fifth of the
# processor time (docs/decisions/0083-unity-batches.md).

# From CMake 3.29 on batches name their files relatively, so that the compiler cache serves another clone at once.
set(CMAKE_UNITY_BUILD_RELOCATABLE ON)

# A batch is closed when its files hold this many bytes: about 2 000 lines.
set(PLUMBLINE_UNITY_BYTES 120000)

# plumbline_unity(<target> [JOINED <folders>...]): batches the target's sources in the order of their paths, so that files of a folder stand
# together. A batch also ends with its folder when it is a quarter full, so that an added file moves few others.
# JOINED: folders whose own folders end no batch: those of verbs hold a few files each. "." is the target's folder.
# Names of anonymous namespaces must differ within a batch; generated files and those with flags of their own stay alone.
function(plumbline_unity target)
  if(NOT PLUMBLINE_UNITY)
    return()
  endif()
  cmake_parse_arguments(ARG "" "" "JOINED" ${ARGN})
  get_target_property(sources ${target} SOURCES)
  list(FILTER sources INCLUDE REGEX "\\.cpp$")
  list(SORT sources)
  set(batch 1)
  set(bytes 0)
  set(last_folder "")
  math(EXPR least "${PLUMBLINE_UNITY_BYTES} / 4")
  foreach(source IN LISTS sources)
    get_filename_component(path ${source} ABSOLUTE)
    if(NOT EXISTS ${path} OR path MATCHES "^${PROJECT_BINARY_DIR}/")
      continue()
    endif()
    file(SIZE ${path} size)
    get_filename_component(folder ${path} DIRECTORY)
    foreach(joined IN LISTS ARG_JOINED)
      get_filename_component(joined ${joined} ABSOLUTE BASE_DIR ${CMAKE_CURRENT_SOURCE_DIR})
      cmake_path(IS_PREFIX joined ${folder} is_below)
      if(is_below)
        set(folder ${joined})
      endif()
    endforeach()
    math(EXPR sum "${bytes} + ${size}")
    if(bytes GREATER 0 AND (sum GREATER PLUMBLINE_UNITY_BYTES OR (bytes GREATER least AND NOT folder STREQUAL last_folder)))
      math(EXPR batch "${batch} + 1")
      set(sum ${size})
    endif()
    set(bytes ${sum})
    set(last_folder ${folder})
    set_source_files_properties(${source} PROPERTIES UNITY_GROUP batch_${batch})
  endforeach()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
endfunction()

# The standard headers that most files include, precompiled once for each level of optimization, which must be the same
# for a precompiled header and what includes it.
set(PLUMBLINE_STANDARD_HEADERS <algorithm> <array> <cmath> <cstdint> <functional> <map> <memory> <numeric> <optional> <set>
                               <span> <string> <string_view> <tuple> <utility> <variant> <vector>)

# plumbline_optimize(<target> <O1 or O2>): of a release build; of others, as their preset says.
function(plumbline_optimize target level)
  target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-${level}>)
  if(NOT PLUMBLINE_UNITY)
    return()
  endif()
  if(NOT TARGET plumbline_headers_${level})
    file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/headers.cpp CONTENT "")  # leaves what is there as it is
    add_library(plumbline_headers_${level} OBJECT ${PROJECT_BINARY_DIR}/headers.cpp)
    target_compile_features(plumbline_headers_${level} PRIVATE cxx_std_20)
    target_compile_options(plumbline_headers_${level} PRIVATE $<$<CONFIG:Release>:-${level}>)
    target_link_libraries(plumbline_headers_${level} PRIVATE plumbline_warnings)
    target_precompile_headers(plumbline_headers_${level} PRIVATE ${PLUMBLINE_STANDARD_HEADERS})
  endif()
  target_precompile_headers(${target} REUSE_FROM plumbline_headers_${level})
endfunction()
