# Compiler flags of every target, carried by the interface library vs_flags.
add_library(vs_flags INTERFACE)
target_compile_options(vs_flags INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wstrict-prototypes -Wmissing-prototypes
  -Wvla -Wundef -Wwrite-strings -Wcast-qual -Wimplicit-fallthrough)
if(VRAMSIM_WERROR)
  target_compile_options(vs_flags INTERFACE -Werror)
endif()
if(VRAMSIM_SANITIZE)
  add_compile_options(-fsanitize=${VRAMSIM_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${VRAMSIM_SANITIZE})
endif()
if(VRAMSIM_COVERAGE)
  add_compile_options(--coverage)
  add_link_options(--coverage)
endif()
# No path of the building machine in the programs: assert() names files from the root.
add_compile_options("-fmacro-prefix-map=${CMAKE_SOURCE_DIR}/=")
