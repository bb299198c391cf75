# ctest -L kernels. The GPU tests count as skipped where there is no GPU that can run them, never as passed.
add_test(NAME verify_kernels.fp8 COMMAND fp8_test)

# kernels_test(NAME EXIT SAYS ARGUMENT...): the exit code, and a regular expression that the output matches.
function(kernels_test name exit says)
  add_test(NAME verify_kernels.${name} COMMAND ${CMAKE_COMMAND} -DEXPECT=${exit} "-DSAYS=${says}"
           -P ${CMAKE_CURRENT_SOURCE_DIR}/expect_exit.cmake -- $<TARGET_FILE:verify_kernels> ${ARGN})
  list(APPEND kernels_tests verify_kernels.${name})
  set(kernels_tests ${kernels_tests} PARENT_SCOPE)
endfunction()

kernels_test(cpu 0 "50 cases, 770 comparisons: all hold" --only cpu)
kernels_test(cpu.seeds 0 "150 cases, 2310 comparisons: all hold" --only cpu --quiet --seed 20 --seeds 3)
set(plants off-by-one stale-index stale-count wrong-scale compact-under-graph missing-slot)
foreach(plant IN LISTS plants)
  kernels_test(plant.${plant} 4 "caught in [1-9]" --only cpu --quiet --plant ${plant})
endforeach()

# What is in the way of the GPU part, each with its exit code, and what to do.
kernels_test(pretend.not-built 3 "skipped.*make verify-kernels" --only gpu --pretend not-built)
kernels_test(pretend.no-driver 3 "skipped.*--gpus all" --only gpu --pretend no-driver)
kernels_test(pretend.no-gpu 3 "skipped.*CUDA_VISIBLE_DEVICES" --only gpu --pretend no-gpu)
kernels_test(pretend.driver-too-old 6 "skipped.*CUDA 11.4.*update the driver" --only gpu --pretend driver-too-old)
kernels_test(pretend.gpu-too-old 9 "skipped.*A100 or newer" --only gpu --pretend gpu-too-old)
kernels_test(pretend.out-of-memory 7 "1141 MB.*--slots" --only gpu --pretend out-of-memory)
kernels_test(pretend.cuda-failed 8 "illegal memory access.*nvidia-smi" --only gpu --pretend cuda-failed)
# A GPU part that did not run is no pass, though the CPU part passed.
kernels_test(pretend.after-cpu 3 "all hold.*GPU part skipped" --quiet --pretend no-driver)
kernels_test(usage.plant 2 "off-by-one, stale-index" --plant nothing)
kernels_test(usage.slots 2 "8192 to 29000000" --slots 5)
kernels_test(usage.option 2 "--help lists" --no-such-option)
kernels_test(usage.bench 2 "leaves it out" --only cpu --bench)
kernels_test(json 0 "\"program\": \"verify_kernels\".*\"share_of_bound\"" --only cpu --json)
set_tests_properties(${kernels_tests} verify_kernels.fp8 PROPERTIES LABELS kernels TIMEOUT 300)

# On a GPU: every check, and every planted error.
add_test(NAME verify_kernels.gpu COMMAND verify_kernels --only gpu --quiet)
set(gpu_tests verify_kernels.gpu)
foreach(plant IN LISTS plants)
  add_test(NAME verify_kernels.gpu.plant.${plant}
           COMMAND ${CMAKE_COMMAND} -DEXPECT=4 "-DSAYS=caught in [1-9]" -P ${CMAKE_CURRENT_SOURCE_DIR}/expect_exit.cmake --
                   $<TARGET_FILE:verify_kernels> --only gpu --quiet --plant ${plant})
  list(APPEND gpu_tests verify_kernels.gpu.plant.${plant})
endforeach()
set_tests_properties(${gpu_tests} PROPERTIES LABELS kernels TIMEOUT 600 RUN_SERIAL ON SKIP_RETURN_CODE 3
                     SKIP_REGULAR_EXPRESSION "GPU part skipped")
