/* bench_process.c: how long a whole process takes and how much memory it holds at most.
 * usage: bench_process RUNS PROGRAM [ARGUMENT...]; prints "MEDIAN_MS FASTEST_MS PEAK_KIB"; the program's output is dropped.
 * Exit 1 when the program cannot be started or is killed; its own exit code does not matter. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MAX_RUNS = 1000 };

static double now_ms(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static void become(char **argv) {
    int null = open("/dev/null", O_WRONLY);
    if (null >= 0) {
        dup2(null, STDOUT_FILENO);
        dup2(null, STDERR_FILENO);
    }
    execvp(argv[0], argv);
    _exit(127);
}

/* Milliseconds from fork to exit; < 0: it did not run to an end of its own. */
static double run_once(char **argv) {
    int status;
    double start = now_ms();
    pid_t child = fork();
    if (child == 0)
        become(argv);
    if (child < 0 || waitpid(child, &status, 0) != child)
        return -1;
    if (!WIFEXITED(status) || WEXITSTATUS(status) == 127)
        return -1;
    return now_ms() - start;
}

static int compare_doubles(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

int main(int argc, char **argv) {
    double ms[MAX_RUNS];
    struct rusage usage;
    long runs = argc > 2 ? strtol(argv[1], NULL, 10) : 0;
    if (runs < 1 || runs > MAX_RUNS) {
        fprintf(stderr, "usage: bench_process RUNS PROGRAM [ARGUMENT...]\n");
        return 2;
    }
    for (long i = 0; i < runs; i++) {
        ms[i] = run_once(argv + 2);
        if (ms[i] < 0)
            return 1;
    }
    qsort(ms, (size_t)runs, sizeof ms[0], compare_doubles);
    getrusage(RUSAGE_CHILDREN, &usage); /* ru_maxrss: of the largest child, in KiB */
    printf("%.2f %.2f %ld\n", ms[runs / 2], ms[0], usage.ru_maxrss);
    return 0;
}
