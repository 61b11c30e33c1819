# Combinations of llama7b.lua's parameters, some of them here; tests/grid/run alone runs 200.
add_test(NAME grid COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/grid/run 24)
set_tests_properties(grid PROPERTIES TIMEOUT 300 SKIP_RETURN_CODE 77 ENVIRONMENT "VRAMSIM=$<TARGET_FILE:vramsim>")
