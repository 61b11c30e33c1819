# The program's command line: each case of cli/ in an empty folder, against its goldens (cli/run_case.sh).
file(GLOB cases CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/cli/*.sh)
list(REMOVE_ITEM cases ${CMAKE_CURRENT_SOURCE_DIR}/cli/run_case.sh)
foreach(case ${cases})
  get_filename_component(name ${case} NAME_WE)
  add_test(NAME cli_${name} COMMAND sh ${CMAKE_CURRENT_SOURCE_DIR}/cli/run_case.sh ${case})
  set_tests_properties(cli_${name} PROPERTIES TIMEOUT 120 SKIP_RETURN_CODE 77
    ENVIRONMENT "VRAMSIM=$<TARGET_FILE:vramsim>;ROOT=${CMAKE_SOURCE_DIR}")
endforeach()
