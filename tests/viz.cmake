# The viewer's tests: model, draw lists, pixels, events; a real window where there is an Xvfb.
add_executable(viz_pictures EXCLUDE_FROM_ALL viz/viz_pictures.c)
vs_quote_dir(viz_pictures PRIVATE ${CMAKE_SOURCE_DIR}/tests/support)
target_link_libraries(viz_pictures PRIVATE vs_viz_core vs_flags)
set_target_properties(viz_pictures PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)

add_executable(viz_pixels viz/viz_pixels.c)
target_link_libraries(viz_pixels PRIVATE PkgConfig::PNG PkgConfig::ZLIB vs_flags)
set_target_properties(viz_pixels PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)

if(TARGET vs_viz_window)
  add_executable(viz_window viz/viz_window.c)
  vs_quote_dir(viz_window PRIVATE ${CMAKE_SOURCE_DIR}/tests/support)
  target_link_libraries(viz_window PRIVATE vs_viz_window vs_viz_core vs_flags)
  set_target_properties(viz_window PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
  add_test(NAME viz_xvfb COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/viz/xvfb.sh $<TARGET_FILE:viz_window>)
  set_tests_properties(viz_xvfb PROPERTIES SKIP_RETURN_CODE 77 TIMEOUT 120
    ENVIRONMENT "ASAN_OPTIONS=detect_leaks=0") # of the display's libraries
endif()

if(TARGET vs_viz_window)
  vs_test(viz_x11 PROGRAM DIR viz USES viz_window viz_core timeline PRIVATE PkgConfig::SDL2)
  add_test(NAME viz_x11 COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/viz/with_xvfb.sh $<TARGET_FILE:test_viz_x11>)
  set_tests_properties(viz_x11 PROPERTIES SKIP_RETURN_CODE 77 TIMEOUT 300
    ENVIRONMENT "ASAN_OPTIONS=detect_leaks=0:handle_segv=2") # leaks: of the display's libraries
endif()

vs_test(viz_lod USES viz_core timeline)
vs_test(viz_view USES viz_core timeline PRIVATE m)
vs_test(viz_blocks USES viz_core timeline)
vs_test(viz_plot USES viz_core timeline)
vs_test(viz_bands USES viz_core timeline)
vs_test(viz_strip USES viz_core analysis timeline)
vs_test(viz_marks USES viz_core timeline)
vs_test(viz_map USES viz_core analysis timeline)
vs_test(viz_owners USES viz_core timeline)
vs_test(viz_compare USES viz_core timeline)
vs_test(viz_lives USES viz_core timeline)
vs_test(viz_align USES viz_core timeline)
vs_test(viz_settings USES viz_core timeline)
vs_test(viz_parameters USES viz_core timeline)
vs_test(viz_rows USES viz_core timeline)
vs_test(viz_app USES viz_core timeline)
add_test(NAME viz_font_han COMMAND ${CMAKE_SOURCE_DIR}/viz/core/font_han --check)
vs_test(viz_state USES viz_core timeline)
vs_test(viz_palette USES viz_core timeline PRIVATE m)
vs_test(viz_find USES viz_core timeline)
vs_test(viz_events USES viz_core timeline)
vs_test(viz_tree USES viz_core timeline)
vs_test(viz_picture USES viz_core timeline PRIVATE PkgConfig::PNG)
if(TARGET vs_viz_window)
  vs_test(viz_sdl USES viz_window viz_core timeline PRIVATE PkgConfig::SDL2)
endif()

if(TARGET vs_viz_session)
  vs_test(viz_session USES viz_session vrt PRIVATE PkgConfig::SDL2)
endif()
if(TARGET vramsim-view)
  set(viz_scenario ${CMAKE_SOURCE_DIR}/scenarios/llama7b.lua)
  add_test(NAME viz_program_xvfb COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/viz/xvfb.sh
    $<TARGET_FILE:vramsim-view> ${viz_scenario} --no-remember)
  add_test(NAME viz_program_script COMMAND vramsim-view ${viz_scenario}
    --script ${CMAKE_CURRENT_SOURCE_DIR}/viz/llama7b.script)
  add_test(NAME viz_program_replay COMMAND vramsim-view ${viz_scenario} --replay --alloc expandable_segments:True
    --script ${CMAKE_CURRENT_SOURCE_DIR}/viz/llama7b.script)
  add_test(NAME viz_program_remembers COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/viz/remembers.sh
    $<TARGET_FILE:vramsim-view> ${CMAKE_SOURCE_DIR}/scenarios/mlp.lua)
  add_test(NAME viz_program_parameters COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/viz/parameters.sh
    $<TARGET_FILE:vramsim-view> ${viz_scenario})
  add_test(NAME viz_program_rows COMMAND vramsim-view ${CMAKE_SOURCE_DIR}/scenarios/mlp.lua
    ${CMAKE_SOURCE_DIR}/scenarios/small_gpt.lua ${CMAKE_SOURCE_DIR}/scenarios/lstm.lua
    --script ${CMAKE_CURRENT_SOURCE_DIR}/viz/rows.script)
  add_test(NAME viz_program_no_display COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/viz/no_display.sh
    $<TARGET_FILE:vramsim-view> ${viz_scenario})
  add_test(NAME viz_documents COMMAND ${CMAKE_SOURCE_DIR}/docs/pictures/make --check $<TARGET_FILE:vramsim-view> $<TARGET_FILE:viz_pixels>)
  set_tests_properties(viz_program_xvfb PROPERTIES SKIP_RETURN_CODE 77 TIMEOUT 120)
  set_tests_properties(viz_program_xvfb viz_program_script viz_program_replay viz_program_remembers
    viz_program_parameters viz_program_rows viz_program_no_display viz_documents
    PROPERTIES
    ENVIRONMENT "ASAN_OPTIONS=detect_leaks=0") # of the display's libraries
endif()

foreach(what model browser) # the page of `render -o F.html`
  add_test(NAME viz_page_${what} COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/viz/page.sh $<TARGET_FILE:vramsim> ${CMAKE_SOURCE_DIR} ${what})
  set_tests_properties(viz_page_${what} PROPERTIES SKIP_RETURN_CODE 77 TIMEOUT 300)
endforeach()
