# SUTURE_WERROR: on with the compilers that the code is kept free of warnings with. What another one warns of nobody has read
# yet (GCC 13 sees writes out of bounds in std::vector's copy where there are none), and it must not keep a user from building.
set(read_warnings OFF)
if((CMAKE_CXX_COMPILER_ID STREQUAL GNU AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13) OR
   (CMAKE_CXX_COMPILER_ID STREQUAL Clang AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 15))
  set(read_warnings ON)
endif()
option(SUTURE_WERROR "Warnings are errors (in our own code)" ${read_warnings})
