/* config.h: a Hugging Face config (config.json, adapter_config.json) as a Lua table. Private to the
 * folder. What the keys mean is known to scenarios/lib/from_config.lua alone.
 *
 * Limits: 1 MiB of text, 64 levels; memory of the table counts as Lua's. */
#ifndef CONFIG_H
#define CONFIG_H

#include <lua.h>
#include <stdbool.h>

struct host;

/* Runs the config at host->path: use "from_config".run(config, path), or, with options->as_lua, takes
 * the text that .write returns. Raises Lua errors; what is wrong with the file is in host->error. */
void config_run(lua_State *L, struct host *host);
/* Frees what an error left behind. */
void config_fini(struct host *host);

#endif
