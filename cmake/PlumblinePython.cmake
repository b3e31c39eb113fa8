# The Python module stands on the C library (capi/) by ctypes: it needs no headers of Python, and the interpreter only to
# write its stub and its wheel. Sets PLUMBLINE_PYTHON_FOUND, and where it is not, PLUMBLINE_PYTHON_MISSING; everything else
# is built as ever then.
set(PLUMBLINE_PYTHON AUTO CACHE STRING "The Python module: AUTO, ON or OFF")
set_property(CACHE PLUMBLINE_PYTHON PROPERTY STRINGS AUTO ON OFF)
set(PLUMBLINE_PYTHON_FOUND FALSE)
set(PLUMBLINE_PYTHON_MISSING "PLUMBLINE_PYTHON=OFF")

if(NOT PLUMBLINE_PYTHON MATCHES "^(AUTO|ON|OFF)$")
  message(FATAL_ERROR "PLUMBLINE_PYTHON is '${PLUMBLINE_PYTHON}'; expected AUTO, ON or OFF")
elseif(NOT PLUMBLINE_PYTHON STREQUAL "OFF")
  find_package(Python3 3.9 QUIET COMPONENTS Interpreter)
  if(NOT PLUMBLINE_CAPI)
    set(PLUMBLINE_PYTHON_MISSING "PLUMBLINE_CAPI=OFF, on which it stands")
  elseif(NOT Python3_Interpreter_FOUND)
    set(PLUMBLINE_PYTHON_MISSING "no Python 3.9 or later was found; Debian: python3")
  else()
    set(PLUMBLINE_PYTHON_FOUND TRUE)
  endif()
  if(PLUMBLINE_PYTHON STREQUAL "ON" AND NOT PLUMBLINE_PYTHON_FOUND)
    message(FATAL_ERROR "PLUMBLINE_PYTHON=ON, but ${PLUMBLINE_PYTHON_MISSING}")
  endif()
endif()
