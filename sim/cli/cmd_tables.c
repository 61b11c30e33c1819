/* cmd_tables.c: the tables that the program knows. */
#include <stdio.h>

#include "cli.h"
#include "framework.h"
#include "op.h"
#include "units.h"

/* GB/s; how many times the device's memory is faster than the host's */
static void print_rates(void) {
    printf("\nNominal rates in GB/s; a copy between host and device takes the slower of link and "
           "RAM.\n"
           "%-12s %8s %8s %8s %10s  %s\n",
           "NAME", "VRAM", "LINK", "RAM", "VRAM/RAM", "LINK IS");
    for (size_t i = 0; device_preset(i); i++) {
        const struct device *d = device_preset(i);
        printf("%-12s %8.1f %8.1f %8.1f %10.0f  PCI Express %u.0, 16 lanes, one direction\n",
               d->name, (double)d->bandwidth_bytes_per_s / 1e9, (double)d->link_bytes_per_s / 1e9,
               (double)d->host_memory_bytes_per_s / 1e9,
               (double)d->bandwidth_bytes_per_s / (double)d->host_memory_bytes_per_s,
               d->link_generation);
    }
    printf("RAM: one channel of DDR5-6400. --device NAME:link=25GB,ram=80GB sets both.\n");
}

int cmd_devices(struct cli *cli) {
    char total[UNITS_TEXT_BYTES], context[UNITS_TEXT_BYTES];
    (void)cli;
    printf("%-12s %-24s %12s %12s %4s %4s  %s\n", "NAME", "PRODUCT", "TOTAL", "CONTEXT", "SM",
           "SMS", "SOURCE");
    for (size_t i = 0; device_preset(i); i++) {
        const struct device *d = device_preset(i);
        printf("%-12s %-24s %12s %12s %4u %4u  %s\n", d->name, d->product,
               units_format_bytes(d->total_bytes, total),
               units_format_bytes(d->context_bytes, context), d->compute_capability,
               d->multiprocessors, d->source);
        printf("%82s  context: %s\n", "", d->context_source);
    }
    print_rates();
    return EXIT_FITS;
}

int cmd_frameworks(struct cli *cli) {
    (void)cli;
    for (size_t i = 0; framework_row(i); i++)
        printf("%-14s %s%s\n", framework_row(i)->name, framework_row(i)->doc,
               i == 0 ? " (default)" : "");
    return EXIT_FITS;
}

int cmd_allocators(struct cli *cli) {
    (void)cli;
    for (size_t i = 0; alloc_row(i); i++)
        printf("%-16s %s%s\n", alloc_row(i)->name, alloc_row(i)->doc, i == 0 ? " (default)" : "");
    return EXIT_FITS;
}

int cmd_ops(struct cli *cli) {
    static const char *const policies[] = {"-", "low", "fp32", "promote"};
    (void)cli;
    printf("%-30s %-8s %-60s %s\n", "OP", "AUTOCAST", "ARGUMENTS", "WHAT IT DOES");
    for (size_t i = 0; op_row(i); i++)
        printf("%-30s %-8s %-60s %s\n", op_row(i)->name, policies[op_row(i)->autocast],
               op_row(i)->signature, op_row(i)->doc);
    return EXIT_FITS;
}
