# The builds of RNIC_BUILDS: devices with the sizes that the user asks for.
#
#   -DRNIC_BUILDS="deep:sq_slots=8,sq_prefetch=64;narrow:num_qps=64"
#
# A size that a build does not name has the value of the default build.
#
#   rnic_parse_builds("${RNIC_BUILDS}")    sets RNIC_BUILD_NAMES and, for each name, the list
#                                          RNIC_BUILD_<name> of SIZE=VALUE; each mistake is an
#                                          error of one line
#   rnic_build_package(deep FILE)          writes FILE: rtl/gen/rnic_pkg.sv with these sizes
#   rnic_build_rows(FILE)                  writes FILE: one RNIC_BUILD() for each build, in C++
#
# A message starts with a space, so that CMake does not break its line.
#
#   cmake -DRNIC_BUILDS="..." -P sim/backend/builds.cmake    checks and prints the builds
include_guard(GLOBAL)
cmake_policy(VERSION 3.25)
get_filename_component(RNIC_BUILDS_ROOT ${CMAKE_CURRENT_LIST_DIR}/../.. ABSOLUTE)
set(RNIC_BUILDS_SIZES ${RNIC_BUILDS_ROOT}/model/gen/sizes.hpp)   # printed from docs/spec/sizes.yaml
set(RNIC_BUILDS_PACKAGE ${RNIC_BUILDS_ROOT}/rtl/gen/rnic_pkg.sv)

# Sets NAMES and, for each name, LIMITS_<name>: minimum;maximum;true if a power of two. A row of the
# file: {"num_qps", &Sizes::num_qps, 1024U, 8U, 8U, 2U, 8192U, true, ... The limits are the last two
# numbers and the flag.
macro(rnic_read_sizes)
  file(READ ${RNIC_BUILDS_SIZES} text)
  string(REGEX MATCHALL "{\"[a-z_]+\", &Sizes::[a-z_]+,( [0-9]+U,)+ (true|false)" rows "${text}")
  set(NAMES "")
  foreach(row ${rows})
    string(REGEX MATCH "\"([a-z_]+)\".* ([0-9]+)U, ([0-9]+)U, (true|false)" row "${row}")
    list(APPEND NAMES ${CMAKE_MATCH_1})
    set(LIMITS_${CMAKE_MATCH_1} ${CMAKE_MATCH_2} ${CMAKE_MATCH_3} ${CMAKE_MATCH_4})
  endforeach()
  if(NOT NAMES)
    message(FATAL_ERROR " RNIC_BUILDS: no size found in ${RNIC_BUILDS_SIZES}")
  endif()
endmacro()

function(rnic_check_size build name value)
  if(NOT name IN_LIST NAMES)
    list(JOIN NAMES ", " known)
    message(FATAL_ERROR " RNIC_BUILDS: ${build}: no size \"${name}\"; one of ${known}")
  endif()
  set(what "RNIC_BUILDS: ${build}: ${name}=${value}")
  list(GET LIMITS_${name} 0 min)
  list(GET LIMITS_${name} 1 max)
  list(GET LIMITS_${name} 2 is_power)
  if(NOT value MATCHES "^(0|[1-9][0-9]*)$")
    message(FATAL_ERROR " ${what}: not a whole number (${min} to ${max})")
  endif()
  string(LENGTH "${value}" digits)
  if(digits GREATER 10 OR value LESS min OR value GREATER max)
    message(FATAL_ERROR " ${what}: not from ${min} to ${max}")
  endif()
  math(EXPR rest "${value} & (${value} - 1)")
  if(is_power AND NOT rest EQUAL 0)
    message(FATAL_ERROR " ${what}: not a power of two (${min} to ${max})")
  endif()
endfunction()

function(rnic_parse_builds builds)
  rnic_read_sizes()
  set(all "")
  foreach(build IN LISTS builds)
    if(build STREQUAL "")
      continue()
    endif()
    if(NOT build MATCHES "^([^:]*):(.+)$")
      message(FATAL_ERROR " RNIC_BUILDS: \"${build}\" is not NAME:SIZE=VALUE,SIZE=VALUE")
    endif()
    set(name "${CMAKE_MATCH_1}")
    string(REPLACE "," ";" sizes "${CMAKE_MATCH_2}")
    if(NOT name MATCHES "^[a-z0-9_]+$")
      message(FATAL_ERROR " RNIC_BUILDS: name \"${name}\": only a-z, 0-9 and _")
    endif()
    if(name MATCHES "^(default|minimum|stall)$")
      message(FATAL_ERROR
        " RNIC_BUILDS: name \"${name}\": this build always exists, choose another name")
    endif()
    if(name IN_LIST all)
      message(FATAL_ERROR " RNIC_BUILDS: name \"${name}\" twice")
    endif()
    list(APPEND all ${name})
    set(known "")
    foreach(size IN LISTS sizes)
      if(NOT size MATCHES "^([^=]+)=(.*)$")
        message(FATAL_ERROR " RNIC_BUILDS: ${name}: \"${size}\" is not SIZE=VALUE")
      endif()
      rnic_check_size(${name} "${CMAKE_MATCH_1}" "${CMAKE_MATCH_2}")
      string(REGEX REPLACE "=.*" "" size_name "${size}")
      if(size_name IN_LIST known)
        message(FATAL_ERROR " RNIC_BUILDS: ${name}: ${size_name} twice")
      endif()
      list(APPEND known ${size_name})
    endforeach()
    set(RNIC_BUILD_${name} ${sizes} PARENT_SCOPE)
  endforeach()
  set(RNIC_BUILD_NAMES ${all} PARENT_SCOPE)
endfunction()

# In the package a size is `localparam int unsigned SqSlots = 4;`, once for each of the three
# builds. The replacement below changes all three; a build of RNIC_BUILDS defines neither
# RNIC_MINIMUM nor RNIC_STALL, so it reads only the last, the default's.
function(rnic_build_package build out)
  file(READ ${RNIC_BUILDS_PACKAGE} text)
  foreach(size IN LISTS RNIC_BUILD_${build})
    string(REGEX MATCH "^(.*)=(.*)$" size ${size})
    set(value ${CMAKE_MATCH_2})
    set(name "")
    string(REPLACE "_" ";" words ${CMAKE_MATCH_1})
    foreach(word IN LISTS words)
      string(SUBSTRING ${word} 0 1 first)
      string(SUBSTRING ${word} 1 -1 others)
      string(TOUPPER ${first} first)
      string(APPEND name ${first}${others})
    endforeach()
    if(NOT text MATCHES " ${name} = [0-9]+;")
      message(FATAL_ERROR " RNIC_BUILDS: no ${name} in ${RNIC_BUILDS_PACKAGE}")
    endif()
    string(REGEX REPLACE " ${name} = [0-9]+;" " ${name} = ${value};" text "${text}")
  endforeach()
  file(CONFIGURE OUTPUT ${out} CONTENT "${text}" @ONLY)  # leaves an equal file as it is
endfunction()

function(rnic_build_rows out)
  set(text "// Printed from RNIC_BUILDS by builds.cmake; do not edit.\n")
  foreach(build IN LISTS RNIC_BUILD_NAMES)
    list(JOIN RNIC_BUILD_${build} ", " given)
    list(TRANSFORM RNIC_BUILD_${build} REPLACE "(.+)=(.+)" "{&spec::Sizes::\\1, \\2U}"
      OUTPUT_VARIABLE sizes)
    list(JOIN sizes ", " sizes)
    string(APPEND text "RNIC_BUILD(${build}, \"${given}\", ${sizes})\n")
  endforeach()
  file(CONFIGURE OUTPUT ${out} CONTENT "${text}" @ONLY)
endfunction()

if(CMAKE_SCRIPT_MODE_FILE STREQUAL CMAKE_CURRENT_LIST_FILE)
  rnic_parse_builds("${RNIC_BUILDS}")
  foreach(build IN LISTS RNIC_BUILD_NAMES)
    list(JOIN RNIC_BUILD_${build} ", " given)
    message("${build}: ${given}")
  endforeach()
  if(OUT)  # a folder: also the files that a configuration writes
    foreach(build IN LISTS RNIC_BUILD_NAMES)
      rnic_build_package(${build} ${OUT}/${build}/rnic_pkg.sv)
    endforeach()
    rnic_build_rows(${OUT}/rtl_builds.inc)
  endif()
endif()
