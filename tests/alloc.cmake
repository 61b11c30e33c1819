vs_test(alloc USES alloc)
vs_test(alloc_paths USES alloc)
vs_test(alloc_settings USES alloc)
vs_test(caching_prop DIR prop USES alloc PRIVATE m)
