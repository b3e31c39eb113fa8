# Test executables: Catch2 2 or 3, one precompiled header for all of them, one ctest entry each.
find_package(Catch2 REQUIRED)
find_package(Python3 REQUIRED COMPONENTS Interpreter)

get_property(libraries GLOBAL PROPERTY PLUMBLINE_LIBRARIES)

# The flags that every test shares, so that all of them can use the one precompiled header.
add_library(plumbline_test_base INTERFACE)
target_include_directories(plumbline_test_base INTERFACE ${PROJECT_SOURCE_DIR})
target_compile_features(plumbline_test_base INTERFACE cxx_std_20)
# What is tested is optimized as it ships; of the tests themselves, -O1 takes a third less time to compile than -O3.
target_compile_options(plumbline_test_base INTERFACE $<$<CONFIG:Release>:-O1>)
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  # GCC bug 105329: std::string against a literal, where a whole test is inlined.
  target_compile_options(plumbline_test_base INTERFACE -Wno-array-bounds -Wno-stringop-overread)
endif()
target_link_libraries(plumbline_test_base INTERFACE Catch2::Catch2 Threads::Threads plumbline_warnings)

# Holds the precompiled header. The compiler refuses one whose position independence is not that of the executables.
add_library(plumbline_test_header OBJECT ${PROJECT_SOURCE_DIR}/tests/catch.cpp)
target_link_libraries(plumbline_test_header PUBLIC plumbline_test_base)
target_precompile_headers(plumbline_test_header PRIVATE ${PROJECT_SOURCE_DIR}/tests/catch.h)
set_target_properties(plumbline_test_header PROPERTIES POSITION_INDEPENDENT_CODE OFF)

# Catch2 2 wants its main() compiled, and asked for before the header; Catch2 3 brings a library.
add_library(plumbline_test_main OBJECT ${PROJECT_SOURCE_DIR}/tests/catch_main.cpp
            ${PROJECT_SOURCE_DIR}/tests/source_folder.cpp)
# Of this file alone: a path in the flags of all would keep the compiler cache from serving another clone.
set_source_files_properties(${PROJECT_SOURCE_DIR}/tests/source_folder.cpp PROPERTIES
                            COMPILE_DEFINITIONS PLUMBLINE_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
target_link_libraries(plumbline_test_main PUBLIC plumbline_test_base)
if(Catch2_VERSION VERSION_GREATER_EQUAL 3)
  target_link_libraries(plumbline_test_main PUBLIC Catch2::Catch2WithMain)
endif()

# `cmake --build --target tests_sanitize` (or tests_threads) builds just what a sanitizer preset runs.
add_custom_target(tests_sanitize)
add_custom_target(tests_threads)

# plumbline_test(<name> SOURCES ... LABELS ... [LIBRARIES ...] [PER_FILE | PER_FOLDER]): an executable of Catch2 tests that
# links all our libraries, or those that are named. PER_FILE, PER_FOLDER: an entry of ctest for each source file, or for each
# folder two levels below the executable's own (unit_tests.core_cost), which runs its tests by the tags that Catch2 makes of
# files' names (-#), so that entries run side by side; else one for all.
# Tests tagged [long] run only in Release. Hidden ones run by name: an exclusion alone brings them back in Catch2 2.
function(plumbline_test name)
  cmake_parse_arguments(ARG "PER_FILE;PER_FOLDER" "" "SOURCES;LABELS;LIBRARIES" ${ARGN})
  if(NOT ARG_SOURCES)
    return()
  endif()
  if(NOT ARG_LIBRARIES)
    set(ARG_LIBRARIES ${libraries})
  endif()
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE plumbline_test_main plumbline_test_base)
  foreach(library IN LISTS ARG_LIBRARIES)
    target_link_libraries(${name} PRIVATE ${library})
  endforeach()
  set_target_properties(${name} PROPERTIES POSITION_INDEPENDENT_CODE OFF)
  target_precompile_headers(${name} REUSE_FROM plumbline_test_header)
  plumbline_unity(${name})
  set(chosen "$<$<NOT:$<CONFIG:Release>>:~[long]~[.]>")
  set(options)
  if(Catch2_VERSION VERSION_GREATER_EQUAL 3)
    list(APPEND options --allow-running-no-tests)  # version 2 does: an executable may hold only long tests
  endif()
  set(entries)
  if(ARG_PER_FILE OR ARG_PER_FOLDER)
    set(parts)
    foreach(source IN LISTS ARG_SOURCES)
      get_filename_component(file ${source} NAME_WE)
      set(part ${file})
      if(ARG_PER_FOLDER)
        file(RELATIVE_PATH path ${CMAKE_CURRENT_SOURCE_DIR} ${source})
        string(REGEX MATCHALL "[^/]+/" folders ${path})
        list(SUBLIST folders 1 2 folders)
        list(JOIN folders "" part)
        string(REGEX REPLACE "/(.)" "_\\1" part ${part})
        string(REPLACE "/" "" part ${part})
      endif()
      list(APPEND parts ${part})
      # Hidden tests have the tag too.
      list(APPEND tests_of_${part} "[#${file}]~[.]$<$<NOT:$<CONFIG:Release>>:~[long]>")
    endforeach()
    list(REMOVE_DUPLICATES parts)
    # A tag that names no test fails: version 3 says so by itself.
    if(Catch2_VERSION VERSION_GREATER_EQUAL 3)
      set(options "$<$<NOT:$<CONFIG:Release>>:--allow-running-no-tests>")
    else()
      set(options "$<$<CONFIG:Release>:-w;NoTests>")
    endif()
    foreach(part IN LISTS parts)
      list(JOIN tests_of_${part} "," chosen)
      add_test(NAME ${name}.${part} COMMAND ${name} "-#" "${chosen}" "${options}" COMMAND_EXPAND_LISTS)
      list(APPEND entries ${name}.${part})
    endforeach()
  else()
    add_test(NAME ${name} COMMAND ${name} ${chosen} ${options} COMMAND_EXPAND_LISTS)
    set(entries ${name})
  endif()
  set_tests_properties(${entries} PROPERTIES LABELS "${ARG_LABELS}" SKIP_RETURN_CODE 77)
  foreach(label IN ITEMS sanitize threads)
    if(label IN_LIST ARG_LABELS)
      add_dependencies(tests_${label} ${name})
    endif()
  endforeach()
  set_property(GLOBAL APPEND PROPERTY PLUMBLINE_TESTS_BUILT ${name})
endfunction()
