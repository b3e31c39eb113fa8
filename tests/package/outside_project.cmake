# cmake -P: install BUILD_DIR under WORK_DIR/prefix, build outside/ against it, run it and check what it prints.
cmake_minimum_required(VERSION 3.25)
file(REMOVE_RECURSE ${WORK_DIR})

function(run_or_fail)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT status EQUAL 0)
    list(JOIN ARGN " " command)
    message(FATAL_ERROR "${command}\nended with ${status}:\n${output}")
  endif()
  set(output "${output}" PARENT_SCOPE)
endfunction()

run_or_fail(${CMAKE_COMMAND} --install ${BUILD_DIR} --prefix ${WORK_DIR}/prefix)
run_or_fail(${CMAKE_COMMAND} -G ${GENERATOR} -S ${CMAKE_CURRENT_LIST_DIR}/outside -B ${WORK_DIR}/build
            -D CMAKE_PREFIX_PATH=${WORK_DIR}/prefix -D CMAKE_CXX_COMPILER=${COMPILER} -D WANTED_VERSION=${VERSION})
run_or_fail(${CMAKE_COMMAND} --build ${WORK_DIR}/build)
run_or_fail(${WORK_DIR}/build/outside)

set(expected "80 GiB over 2 TB/s takes 42.9 ms\n")
if(NOT output STREQUAL expected)
  message(FATAL_ERROR "the outside project printed\n${output}instead of\n${expected}")
endif()
message(STATUS "outside project printed: ${output}")

run_or_fail(${WORK_DIR}/build/outside_c)
if(NOT output STREQUAL "a plan of llama-3-8b\n")
  message(FATAL_ERROR "the outside project in C printed\n${output}")
endif()

# The same without CMake.
find_program(PKG_CONFIG pkg-config)
find_program(CC cc)
if(PKG_CONFIG AND CC)
  file(GLOB_RECURSE found ${WORK_DIR}/prefix/plumbline.pc)
  get_filename_component(folder ${found} DIRECTORY)
  set(ENV{PKG_CONFIG_PATH} ${folder})
  run_or_fail(${PKG_CONFIG} --cflags --libs plumbline)
  string(STRIP "${output}" flags)
  separate_arguments(flags)
  get_filename_component(libraries ${folder} DIRECTORY)
  run_or_fail(${CC} ${CMAKE_CURRENT_LIST_DIR}/outside/ask.c ${flags} -Wl,-rpath,${libraries} -o ${WORK_DIR}/by_hand)
  run_or_fail(${WORK_DIR}/by_hand)
endif()
