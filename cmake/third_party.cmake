# What suture is built on. The parser's C sources and simdjson come from scripts/fetch_sources.sh (PyPI source distributions,
# checked by SHA-256); everything else is a Debian or Ubuntu package (scripts/install_deps.sh lists them).
#
# Targets: third_party (all that suture_core links), suture_static (flags of a static executable).
set(default_cache ${CMAKE_CURRENT_SOURCE_DIR}/.cache)
if(DEFINED ENV{SUTURE_CACHE})
  set(default_cache $ENV{SUTURE_CACHE})
endif()
set(SUTURE_CACHE ${default_cache} CACHE PATH "Where scripts/fetch_sources.sh keeps what it fetched")
set(TREE_SITTER_DIR ${SUTURE_CACHE}/src/tree-sitter CACHE PATH "The runtime: a folder with lib/src/lib.c and lib/include")
set(TREE_SITTER_PYTHON_DIR ${SUTURE_CACHE}/src/tree-sitter-python CACHE PATH
    "The Python grammar: a folder with src/parser.c, src/scanner.c and src/tree_sitter/*.h")
set(SIMDJSON_DIR ${SUTURE_CACHE}/simdjson-3.12.3 CACHE PATH "simdjson 3.12.3: a folder with simdjson.h and simdjson.cpp")

# `pip install .` in a fresh checkout has nobody else to fetch them.
if(SKBUILD AND NOT EXISTS ${TREE_SITTER_DIR})
  execute_process(COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/scripts/fetch_sources.sh ${SUTURE_CACHE})
endif()
foreach(file IN ITEMS ${TREE_SITTER_DIR}/lib/src/lib.c ${TREE_SITTER_PYTHON_DIR}/src/parser.c
                      ${TREE_SITTER_PYTHON_DIR}/src/scanner.c ${SIMDJSON_DIR}/simdjson.cpp)
  if(NOT EXISTS ${file})
    message(FATAL_ERROR "${file} is not there. Run scripts/fetch_sources.sh (`make` does), or give "
                        "-DTREE_SITTER_DIR=, -DTREE_SITTER_PYTHON_DIR= and -DSIMDJSON_DIR=.")
  endif()
endforeach()

# C, not C++: the parser does not compile as C++. Always optimised: it is most of the time of a diff, and nobody
# debugs it here. Its warnings are not ours.
add_library(tree_sitter_core STATIC ${TREE_SITTER_DIR}/lib/src/lib.c)
target_include_directories(tree_sitter_core SYSTEM PUBLIC ${TREE_SITTER_DIR}/lib/include PRIVATE ${TREE_SITTER_DIR}/lib/src)
# For fdopen, which strict C11 hides.
target_compile_definitions(tree_sitter_core PRIVATE _POSIX_C_SOURCE=200112L _DEFAULT_SOURCE)
target_compile_options(tree_sitter_core PRIVATE -w -O2)
add_library(tree_sitter_python STATIC ${TREE_SITTER_PYTHON_DIR}/src/parser.c ${TREE_SITTER_PYTHON_DIR}/src/scanner.c)
target_include_directories(tree_sitter_python PRIVATE ${TREE_SITTER_PYTHON_DIR}/src)
target_compile_options(tree_sitter_python PRIVATE -w -O2)

# It picks its kernel at run time (AVX-512, AVX2, SSE, none), so the executable runs on every machine of the architecture.
add_library(simdjson STATIC ${SIMDJSON_DIR}/simdjson.cpp)
target_include_directories(simdjson SYSTEM PUBLIC ${SIMDJSON_DIR})
target_compile_options(simdjson PRIVATE -w -O3)

# Libraries without a CMake package that Debian and Ubuntu share: header, archive or shared object by name.
# SUTURE_LIBS_static / SUTURE_LIBS_shared collect both, and one of them is chosen below.
foreach(entry IN ITEMS "yaml-cpp|yaml-cpp/yaml.h|libyaml-cpp-dev" "re2|re2/re2.h|libre2-dev"
                       "sodium|sodium.h|libsodium-dev" "minizip|minizip/unzip.h|libminizip-dev" "z|zlib.h|zlib1g-dev")
  string(REPLACE "|" ";" entry "${entry}")
  list(GET entry 0 name)
  list(GET entry 1 header)
  list(GET entry 2 package)
  find_path(SUTURE_INCLUDE_${name} ${header})
  find_library(SUTURE_ARCHIVE_${name} NAMES lib${name}.a)
  find_library(SUTURE_SHARED_${name} NAMES ${name})
  if(NOT SUTURE_INCLUDE_${name} OR NOT SUTURE_SHARED_${name})
    message(FATAL_ERROR "${name} is not there: install ${package} (`make install-deps` installs all that is needed).")
  endif()
  list(APPEND SUTURE_INCLUDES ${SUTURE_INCLUDE_${name}})
  list(APPEND SUTURE_LIBS_static ${SUTURE_ARCHIVE_${name}})
  list(APPEND SUTURE_LIBS_shared ${SUTURE_SHARED_${name}})
endforeach()

# Header only.
foreach(pair IN ITEMS "CLI/CLI.hpp|libcli11-dev" "dtl/dtl.hpp|libdtl-dev" "nlohmann/json.hpp|nlohmann-json3-dev")
  string(REPLACE "|" ";" pair "${pair}")
  list(GET pair 0 header)
  list(GET pair 1 package)
  find_path(SUTURE_INCLUDE_${package} ${header})
  if(NOT SUTURE_INCLUDE_${package})
    message(FATAL_ERROR "${header} is not there: install ${package} (`make install-deps` installs all that is needed).")
  endif()
  list(APPEND SUTURE_INCLUDES ${SUTURE_INCLUDE_${package}})
endforeach()
list(REMOVE_DUPLICATES SUTURE_INCLUDES)

find_package(Threads REQUIRED)

# One file that runs on any Linux of the same architecture, and starts without a dynamic linker. Tried, not assumed: where
# an archive is missing, the executable is linked dynamically. Newer RE2 stands on Abseil: pkg-config says on what of it.
function(suture_try_static result)
  include(CheckCXXSourceCompiles)
  set(CMAKE_REQUIRED_LIBRARIES ${ARGN} Threads::Threads)
  set(CMAKE_REQUIRED_LINK_OPTIONS -static)
  set(CMAKE_REQUIRED_INCLUDES ${SUTURE_INCLUDES})
  set(CMAKE_REQUIRED_FLAGS -std=c++20)
  check_cxx_source_compiles("
    #include <minizip/unzip.h>
    #include <re2/re2.h>
    #include <sodium.h>
    #include <yaml-cpp/yaml.h>
    int main() { return sodium_init() + (unzOpen64(\"a\") != nullptr ? 1 : 0) + RE2::FullMatch(\"a\", \"a\") + static_cast<int>(YAML::Load(\"a\").size()); }"
    ${result})
endfunction()

set(SUTURE_LIBS ${SUTURE_LIBS_shared})
add_library(suture_static INTERFACE)
if(SUTURE_STATIC)
  suture_try_static(SUTURE_STATIC_LINKS ${SUTURE_LIBS_static})
  if(NOT SUTURE_STATIC_LINKS)
    find_package(PkgConfig)
    if(PKG_CONFIG_FOUND)
      pkg_check_modules(RE2 re2)
      list(APPEND SUTURE_LIBS_static ${RE2_STATIC_LIBRARIES})
      suture_try_static(SUTURE_STATIC_LINKS_BY_PKG_CONFIG ${SUTURE_LIBS_static})
    endif()
  endif()
  if(SUTURE_STATIC_LINKS OR SUTURE_STATIC_LINKS_BY_PKG_CONFIG)
    set(SUTURE_LIBS ${SUTURE_LIBS_static})
    # -s: symbols are a seventh of the file, and it travels over ssh.
    target_link_options(suture_static INTERFACE -static $<$<CONFIG:Release>:-s>)
  elseif(SKBUILD)
    message(FATAL_ERROR "No static link here, and the wheel's tags promise an executable that needs no library.")
  else()
    message(STATUS "No static link here: the executable is linked dynamically")
  endif()
endif()

# Decompression of traces (read/inflate.cc) beside zlib: zstd where it is, and ISA-L, which inflates twice as fast, where the
# executable is linked dynamically (Debian has no archive of it).
find_path(SUTURE_INCLUDE_zstd zstd.h)
find_library(SUTURE_ARCHIVE_zstd NAMES libzstd.a)
find_library(SUTURE_SHARED_zstd NAMES zstd)
find_path(SUTURE_INCLUDE_isal isa-l/igzip_lib.h)
find_library(SUTURE_SHARED_isal NAMES isal)
option(SUTURE_ISAL "Inflate with ISA-L where it is there and the build is dynamic" ON)
set(inflate_definitions)
set(zstd_library ${SUTURE_SHARED_zstd})
if(SUTURE_STATIC AND SUTURE_STATIC_LINKS)
  set(zstd_library ${SUTURE_ARCHIVE_zstd})
elseif(SUTURE_ISAL AND SUTURE_INCLUDE_isal AND SUTURE_SHARED_isal)
  list(APPEND SUTURE_LIBS ${SUTURE_SHARED_isal})
  list(APPEND inflate_definitions SUTURE_WITH_ISAL)
endif()
if(SUTURE_INCLUDE_zstd AND zstd_library)
  list(APPEND SUTURE_LIBS ${zstd_library})
  list(APPEND inflate_definitions SUTURE_WITH_ZSTD)
endif()
set_source_files_properties(src/read/inflate.cc PROPERTIES COMPILE_DEFINITIONS "${inflate_definitions}")

add_library(third_party INTERFACE)
target_link_libraries(third_party INTERFACE tree_sitter_python tree_sitter_core simdjson ${SUTURE_LIBS} Threads::Threads)
# As system headers: their warnings are not ours.
target_include_directories(third_party SYSTEM INTERFACE ${SUTURE_INCLUDES})
