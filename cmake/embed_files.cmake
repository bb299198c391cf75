# suture_embed(OUT FUNCTION HEADER PATTERN...): generates FUNCTION.cc with every file that the patterns (relative to the
# checkout) name, as suture::FUNCTION(), declared in HEADER, and sets OUT to its path. Written again when a file changes, appears or goes.
function(suture_embed out function header)
  set(root ${CMAKE_CURRENT_SOURCE_DIR})
  list(TRANSFORM ARGN PREPEND ${root}/ OUTPUT_VARIABLE patterns)
  file(GLOB_RECURSE files CONFIGURE_DEPENDS RELATIVE ${root} ${patterns})
  list(SORT files)
  set(paths ${files})
  list(TRANSFORM paths PREPEND ${root}/)
  set(target ${CMAKE_CURRENT_BINARY_DIR}/${function}.cc)
  # The list goes through a file, so that a file that went away (same newest time stamp) changes the output too.
  string(REPLACE ";" "\n" listing "${files}")
  set(list_file ${CMAKE_CURRENT_BINARY_DIR}/${function}.list)
  file(CONFIGURE OUTPUT ${list_file} CONTENT "${listing}" @ONLY)
  add_custom_command(
    OUTPUT ${target}
    COMMAND ${CMAKE_COMMAND} -DROOT=${root} -DLIST=${list_file} -DFUNCTION=${function} -DHEADER=${header} -DOUT=${target}
            -P ${root}/cmake/embed.cmake
    DEPENDS ${paths} ${list_file} ${root}/cmake/embed.cmake
    COMMENT "Embedding ${function}"
    VERBATIM)
  set(${out} ${target} PARENT_SCOPE)
endfunction()
