# The viewer's tests: model, draw lists, pixels, events; a real window where there is an Xvfb.
add_executable(viz_pictures EXCLUDE_FROM_ALL viz/viz_pictures.c)
target_compile_options(viz_pictures PRIVATE "SHELL:-iquote ${CMAKE_SOURCE_DIR}/tests/support")
target_link_libraries(viz_pictures PRIVATE vs_viz_core vs_flags)
set_target_properties(viz_pictures PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
