# Data files become part of the binary, so that it needs nothing beside it.
#
# plumbline_embed(<library> NAMESPACE <name> DIRECTORY <dir> [FILES <pattern>]): defines
# `std::span<const EmbeddedFile> plumbline::embedded::<name>()` (see models/embedded.h) with every file of <dir> whose path
# in it matches the pattern, *.json where nothing is said, sorted by name. A changed, added or removed file rebuilds it.
set(PLUMBLINE_EMBED_SCRIPT ${CMAKE_CURRENT_LIST_DIR}/embed.cmake)

function(plumbline_embed library)
  cmake_parse_arguments(ARG "" "NAMESPACE;DIRECTORY;FILES" "" ${ARGN})
  if(NOT ARG_FILES)
    set(ARG_FILES *.json)
  endif()
  get_filename_component(directory ${ARG_DIRECTORY} ABSOLUTE)
  file(GLOB files CONFIGURE_DEPENDS ${directory}/${ARG_FILES})
  set(output ${CMAKE_CURRENT_BINARY_DIR}/embedded_${ARG_NAMESPACE}.cpp)
  add_custom_command(
    OUTPUT ${output}
    COMMAND ${CMAKE_COMMAND} -DNAMESPACE=${ARG_NAMESPACE} -DDIRECTORY=${directory} -DFILES=${ARG_FILES} -DOUTPUT=${output}
            -P ${PLUMBLINE_EMBED_SCRIPT}
    DEPENDS ${files} ${PLUMBLINE_EMBED_SCRIPT}
    COMMENT "Embedding ${ARG_NAMESPACE}"
    VERBATIM)
  target_sources(plumbline_${library} PRIVATE ${output})
endfunction()
