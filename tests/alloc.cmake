vs_test(alloc USES alloc)
vs_test(alloc_cases USES alloc)
vs_test(alloc_oom USES alloc)
vs_test(alloc_paths USES alloc)
vs_test(alloc_settings USES alloc)
vs_test(caching_prop DIR prop USES alloc PRIVATE m) # `test_caching_prop OPERATIONS SEED` for a longer run
vs_test(bfc USES alloc)
vs_test(cuda_async USES alloc)
vs_test(ideal USES alloc)
