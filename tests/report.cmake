# Tests of sim/analysis and sim/report.
vs_test(peak USES analysis)
vs_test(steps USES analysis)
vs_test(curve USES analysis)
vs_test(pools USES analysis)
vs_test(compare USES analysis)
vs_test(report USES report)
vs_test(validate USES report)
