/* replay_rank.h: `vramsim replay FILE --all`: the settings that people reach for, each tried, the
 * best first. */
#ifndef REPLAY_RANK_H
#define REPLAY_RANK_H

struct cli;
struct source_result;

/* Prints and writes; the exit code: whether the best of them fits. */
int replay_rank(const struct cli *cli, const struct source_result *base);

#endif
