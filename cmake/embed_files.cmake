# suture_embed_files(OUT): generates embedded.cc with every shipped rule and patch file (suture::embedded_files(),
# read/catalog.h) and sets OUT to its path. Written again when a file changes, appears or goes.
function(suture_embed_files out)
  set(root ${CMAKE_CURRENT_SOURCE_DIR})
  file(GLOB_RECURSE files CONFIGURE_DEPENDS RELATIVE ${root} ${root}/rules/*.yaml ${root}/patches/*.yaml
       ${root}/patches/*.py ${root}/patches/*.md)
  list(SORT files)
  set(paths ${files})
  list(TRANSFORM paths PREPEND ${root}/)
  set(target ${CMAKE_CURRENT_BINARY_DIR}/embedded.cc)
  # The list goes through a file, so that a file that went away (same newest time stamp) changes the output too.
  string(REPLACE ";" "\n" listing "${files}")
  set(list_file ${CMAKE_CURRENT_BINARY_DIR}/embedded.list)
  file(CONFIGURE OUTPUT ${list_file} CONTENT "${listing}" @ONLY)
  add_custom_command(
    OUTPUT ${target}
    COMMAND ${CMAKE_COMMAND} -DROOT=${root} -DLIST=${list_file} -DOUT=${target} -P ${root}/cmake/embed.cmake
    DEPENDS ${paths} ${list_file} ${root}/cmake/embed.cmake
    COMMENT "Embedding rules and patches"
    VERBATIM)
  set(${out} ${target} PARENT_SCOPE)
endfunction()
