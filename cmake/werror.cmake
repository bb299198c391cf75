# SUTURE_WERROR: on with the compilers that the code is kept free of warnings with (g++ 12 of Debian 12, g++ 13 of Ubuntu
# 24.04, clang 14). What a later one warns of nobody has read yet, and it must not keep a user from building.
set(warnings_are_read OFF)
if((CMAKE_CXX_COMPILER_ID STREQUAL GNU AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 14) OR
   (CMAKE_CXX_COMPILER_ID STREQUAL Clang AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 15))
  set(warnings_are_read ON)
endif()
option(SUTURE_WERROR "Warnings are errors (in our own code)" ${warnings_are_read})
