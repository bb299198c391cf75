# Options of the build, and the flags that every target of ours shares (suture_options).
option(SUTURE_TESTS "Build the tests" ON)
option(SUTURE_STATIC "Link a static executable where the archives are there" ON)
option(SUTURE_TIDY "Run clang-tidy on every source of ours as it compiles" OFF)
option(SUTURE_FUZZ "Build the fuzzers of tests/fuzz (clang), and the core with their coverage" OFF)
set(SUTURE_SANITIZE "" CACHE STRING "Sanitizers, as -fsanitize= takes them: address,undefined")
include(werror)

get_property(multi_config GLOBAL PROPERTY GENERATOR_IS_MULTI_CONFIG)
if(NOT CMAKE_BUILD_TYPE AND NOT multi_config)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Debug, Release, RelWithDebInfo or MinSizeRel" FORCE)
endif()

set(CMAKE_CXX_FLAGS_RELEASE "-O2 -DNDEBUG")
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_C_STANDARD 11)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

add_library(suture_options INTERFACE)
target_compile_options(suture_options INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wconversion)
# GCC 12 sees an overlap in std::string's operator+ where there is none (its bug 105651, fixed in 13).
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  target_compile_options(suture_options INTERFACE -Wno-restrict)
endif()
if(SUTURE_WERROR)
  target_compile_options(suture_options INTERFACE -Werror)
endif()

if(SUTURE_FUZZ)
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()

# Sanitizers go into the C sources of tree-sitter too: what we hand to the parser is checked on both sides.
if(SUTURE_SANITIZE)
  add_compile_options(-fsanitize=${SUTURE_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${SUTURE_SANITIZE})
  set(SUTURE_STATIC OFF)
endif()
