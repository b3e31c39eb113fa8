# The Python module needs the headers of pybind11 and of the Python that cmake finds. Sets PLUMBLINE_PYTHON_FOUND, and
# where it is not, PLUMBLINE_PYTHON_MISSING; everything else is built as ever then.
set(PLUMBLINE_PYTHON AUTO CACHE STRING "The Python module, with pybind11: AUTO, ON or OFF")
set_property(CACHE PLUMBLINE_PYTHON PROPERTY STRINGS AUTO ON OFF)
set(PLUMBLINE_PYTHON_FOUND FALSE)
set(PLUMBLINE_PYTHON_MISSING "PLUMBLINE_PYTHON=OFF")

# pybind11 supports each Python from some release on; what it does not support does not compile.
function(plumbline_try_pybind11 result)
  include(CheckCXXSourceCompiles)
  set(CMAKE_REQUIRED_LIBRARIES Python3::Module)
  set(CMAKE_REQUIRED_INCLUDES ${PLUMBLINE_PYBIND11_INCLUDE})
  set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY)  # a module's symbols come from the interpreter
  set(CMAKE_REQUIRED_QUIET TRUE)
  check_cxx_source_compiles("#include <pybind11/pybind11.h>\nPYBIND11_MODULE(probe, m) { m.doc() = \"\"; }"
                            PLUMBLINE_PYBIND11_COMPILES)
  set(${result} ${PLUMBLINE_PYBIND11_COMPILES} PARENT_SCOPE)
endfunction()

if(NOT PLUMBLINE_PYTHON MATCHES "^(AUTO|ON|OFF)$")
  message(FATAL_ERROR "PLUMBLINE_PYTHON is '${PLUMBLINE_PYTHON}'; expected AUTO, ON or OFF")
elseif(NOT PLUMBLINE_PYTHON STREQUAL "OFF")
  find_package(Python3 3.9 QUIET COMPONENTS Interpreter OPTIONAL_COMPONENTS Development.Module)
  find_path(PLUMBLINE_PYBIND11_INCLUDE pybind11/pybind11.h)
  mark_as_advanced(PLUMBLINE_PYBIND11_INCLUDE)
  if(NOT Python3_Development.Module_FOUND)
    set(PLUMBLINE_PYTHON_MISSING "no headers of Python 3.9 or later were found; Debian: python3-dev")
  elseif(NOT PLUMBLINE_PYBIND11_INCLUDE)
    set(PLUMBLINE_PYTHON_MISSING "no pybind11 was found; Debian: pybind11-dev")
  else()
    plumbline_try_pybind11(PLUMBLINE_PYTHON_FOUND)
    set(PLUMBLINE_PYTHON_MISSING "this pybind11 does not compile with Python ${Python3_VERSION}")
  endif()
  if(PLUMBLINE_PYTHON STREQUAL "ON" AND NOT PLUMBLINE_PYTHON_FOUND)
    message(FATAL_ERROR "PLUMBLINE_PYTHON=ON, but ${PLUMBLINE_PYTHON_MISSING}")
  endif()
endif()
