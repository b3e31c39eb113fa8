# The command asks for many small pieces of memory: with gperftools' allocator a search takes a tenth less time than with
# the C library's (docs/search-scaling.md). Where it is not installed, or a sanitizer watches memory, the C library's serves.
set(PLUMBLINE_ALLOCATOR AUTO CACHE STRING "AUTO: gperftools' tcmalloc where it is installed; SYSTEM: the C library's")
set_property(CACHE PLUMBLINE_ALLOCATOR PROPERTY STRINGS AUTO SYSTEM)
if(NOT PLUMBLINE_ALLOCATOR MATCHES "^(AUTO|SYSTEM)$")
  message(FATAL_ERROR "PLUMBLINE_ALLOCATOR is '${PLUMBLINE_ALLOCATOR}'; expected AUTO or SYSTEM")
endif()
# The second name is what is there without the package for developers: no header is needed.
find_library(PLUMBLINE_TCMALLOC NAMES tcmalloc_minimal libtcmalloc_minimal.so.4)
mark_as_advanced(PLUMBLINE_TCMALLOC)
set(PLUMBLINE_USES_TCMALLOC OFF)
if(PLUMBLINE_ALLOCATOR STREQUAL "AUTO" AND PLUMBLINE_TCMALLOC AND NOT CMAKE_CXX_FLAGS MATCHES "-fsanitize")
  set(PLUMBLINE_USES_TCMALLOC ON)
endif()

# Links what replaces malloc into an executable, which names nothing of it.
function(plumbline_link_allocator target)
  if(PLUMBLINE_USES_TCMALLOC)
    target_link_options(${target} PRIVATE -Wl,--no-as-needed ${PLUMBLINE_TCMALLOC} -Wl,--as-needed)
  endif()
endfunction()
