# MPI as a second way for ranks to speak. Sets PLUMBLINE_MPI_FOUND, and PLUMBLINE_MPI_LIBRARIES as paths: an installed
# Plumbline then asks nobody for CMake's MPI package.
set(PLUMBLINE_MPI AUTO CACHE STRING "Ranks as processes of MPI: AUTO, ON or OFF")
set_property(CACHE PLUMBLINE_MPI PROPERTY STRINGS AUTO ON OFF)
set(PLUMBLINE_MPI_FOUND FALSE)
if(NOT PLUMBLINE_MPI MATCHES "^(AUTO|ON|OFF)$")
  message(FATAL_ERROR "PLUMBLINE_MPI is '${PLUMBLINE_MPI}'; expected AUTO, ON or OFF")
elseif(NOT PLUMBLINE_MPI STREQUAL "OFF")
  set(MPI_CXX_SKIP_MPICXX TRUE)  # the C calls only; the C++ bindings left the standard in 2012
  find_package(MPI 3.0 QUIET COMPONENTS CXX)
  if(MPI_CXX_FOUND)
    set(PLUMBLINE_MPI_FOUND TRUE)
    set(PLUMBLINE_MPI_LIBRARIES ${MPI_CXX_LIBRARIES})
    list(FILTER PLUMBLINE_MPI_LIBRARIES EXCLUDE REGEX "mpi_cxx")
  elseif(PLUMBLINE_MPI STREQUAL "ON")
    message(FATAL_ERROR "PLUMBLINE_MPI=ON, but no MPI of version 3 was found (Debian: libopenmpi-dev)")
  endif()
endif()

function(plumbline_link_mpi target)
  target_include_directories(${target} SYSTEM PRIVATE ${MPI_CXX_INCLUDE_DIRS})
  target_compile_definitions(${target} PRIVATE ${MPI_CXX_COMPILE_DEFINITIONS})
  target_link_libraries(${target} PRIVATE ${PLUMBLINE_MPI_LIBRARIES})
endfunction()
