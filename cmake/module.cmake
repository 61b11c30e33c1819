# vs_quote_dir(TARGET VISIBILITY DIR): "name.h" is looked for in DIR too. -iquote, in one word so that a path may hold
# spaces, keeps names such as error.h from hijacking system headers.
function(vs_quote_dir target visibility dir)
  target_compile_options(${target} ${visibility} "-iquote${dir}")
endfunction()

# vs_module(NAME SOURCES a.c ... [USES base ...] [PRIVATE libs] [POSIX])
# One static library per folder. Only the folders named in USES (and those they use) can be included.
function(vs_module name)
  cmake_parse_arguments(M "POSIX" "" "SOURCES;USES;PRIVATE" ${ARGN})
  add_library(vs_${name} STATIC ${M_SOURCES})
  vs_quote_dir(vs_${name} PUBLIC ${CMAKE_CURRENT_SOURCE_DIR})
  list(TRANSFORM M_USES PREPEND vs_)
  target_link_libraries(vs_${name} PUBLIC ${M_USES} PRIVATE vs_flags ${M_PRIVATE})
  if(M_POSIX)
    target_compile_definitions(vs_${name} PRIVATE _POSIX_C_SOURCE=200809L)
  endif()
endfunction()
