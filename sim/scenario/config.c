/* config.c: see config.h. JSON is read by Jansson, which is named in this file alone. */
#include "config.h"

#include <jansson.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "file.h"
#include "host.h"

enum {
    MAX_CONFIG_BYTES = 1024 * 1024,
    MAX_DEPTH = 64,
    HEAD_BYTES = 64 * 1024, /* where the keys that tell a config are looked for */
};

/* A key that only a config of Transformers or PEFT has. */
static bool has_model_key(const char *head) {
    static const char *const keys[] = {"\"model_type\"", "\"architectures\"", "\"peft_type\""};
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
        if (strstr(head, keys[i]))
            return true;
    return false;
}

static bool ends_with(const char *text, const char *end) {
    size_t n = strlen(text), m = strlen(end);
    return n >= m && strcmp(text + n - m, end) == 0;
}

bool scenario_is_config(const char *path) {
    if (ends_with(path, ".lua"))
        return false;
    FILE *f = fopen(path, "rb");
    char *head = f ? xcalloc(1, HEAD_BYTES + 1) : NULL;
    bool is_config = false;
    if (head && fread(head, 1, HEAD_BYTES, f) > 0) {
        const char *first = head + strspn(head, " \t\r\n");
        is_config = *first == '{' && (has_model_key(first) || ends_with(path, "config.json"));
    }
    xfree(head);
    if (f)
        fclose(f);
    return is_config;
}

static void refuse(lua_State *L, struct host *host) {
    host->stopped = true;
    luaL_error(L, "%s", host->error.text);
}

/* Jansson's words name what it found near the place; the place goes in front. */
static void parse(struct host *host, const char *path) {
    char *text;
    size_t length;
    if (!file_read(path, MAX_CONFIG_BYTES, &text, &length, &host->error))
        return;
    json_error_t wrong;
    json_decref(host->config);
    host->config = json_loadb(text, length, JSON_REJECT_DUPLICATES, &wrong);
    xfree(text);
    if (host->config)
        return;
    if (json_error_code(&wrong) == json_error_out_of_memory)
        error_host_memory(&host->error);
    else
        error_set(&host->error, ERROR_BAD_SCENARIO, "%s:%d:%d: no JSON: %s", path, wrong.line,
                  wrong.column, wrong.text);
}

/* Pushes a value; null is the value at `null`. Tables are closed: no tensor is ever in one. */
static void push_value(lua_State *L, struct host *host, json_t *value, int null, unsigned depth) {
    luaL_checkstack(L, 8, "the config nests too deep");
    if (depth > MAX_DEPTH)
        luaL_error(L, "%s: values nest more than %d deep", host->path, MAX_DEPTH);
    switch (json_typeof(value)) {
    case JSON_OBJECT: {
        const char *key;
        json_t *member;
        lua_createtable(L, 0, 8);
        json_object_foreach(value, key, member) {
            push_value(L, host, member, null, depth + 1);
            lua_setfield(L, -2, key);
        }
        sandbox_close_table(L);
        return;
    }
    case JSON_ARRAY:
        lua_createtable(L, 4, 0);
        for (size_t i = 0; i < json_array_size(value); i++) {
            push_value(L, host, json_array_get(value, i), null, depth + 1);
            lua_rawseti(L, -2, (lua_Integer)i + 1);
        }
        sandbox_close_table(L);
        return;
    case JSON_STRING:
        lua_pushlstring(L, json_string_value(value), json_string_length(value));
        return;
    case JSON_INTEGER:
        lua_pushinteger(L, json_integer_value(value));
        return;
    case JSON_REAL:
        lua_pushnumber(L, json_real_value(value));
        return;
    case JSON_TRUE:
    case JSON_FALSE:
        lua_pushboolean(L, json_is_true(value));
        return;
    case JSON_NULL:
        lua_pushvalue(L, null);
        return;
    }
}

/* Pushes the config in a file. */
static void load(lua_State *L, struct host *host, const char *path, int null) {
    parse(host, path);
    if (!host->config)
        refuse(L, host);
    if (!json_is_object(host->config)) {
        error_set(&host->error, ERROR_BAD_SCENARIO, "%s: expected a JSON object, a config", path);
        refuse(L, host);
    }
    push_value(L, host, host->config, null, 0);
    config_fini(host);
}

/* The config of the model that an adapter is for lies beside it, or in the folder that it names,
 * from here or from the adapter's folder. Pushes it and its path. */
static void load_base(lua_State *L, struct host *host, int adapter, int null) {
    char paths[3][HOST_PATH_BYTES];
    size_t count = 0;
    lua_getfield(L, adapter, "base_model_name_or_path");
    const char *name = lua_type(L, -1) == LUA_TSTRING ? lua_tostring(L, -1) : "";
    snprintf(paths[count++], HOST_PATH_BYTES, "%s/config.json", host->directory);
    if (*name && strlen(name) < 1024 && *name != '/') {
        int n = snprintf(paths[count], HOST_PATH_BYTES, "%s/%s/config.json", host->directory, name);
        count += n > 0 && n < HOST_PATH_BYTES;
    }
    if (*name && strlen(name) < 1024)
        snprintf(paths[count++], HOST_PATH_BYTES, "%s/config.json", name);
    lua_pop(L, 1);
    for (size_t i = 0; i < count; i++) {
        struct stat st;
        if (stat(paths[i], &st) != 0 || !S_ISREG(st.st_mode)) /* a pipe would wait */
            continue;
        load(L, host, paths[i], null);
        lua_pushstring(L, paths[i]);
        return;
    }
    error_set(&host->error, ERROR_BAD_SCENARIO,
              "%s: the config of the adapter's base model is needed: put its config.json beside it "
              "(there is neither %s nor %s)",
              host->path, paths[0], count > 1 ? paths[count - 1] : paths[0]);
    refuse(L, host);
}

/* The text that from_config.write returned, on top of the stack. */
static void take_text(lua_State *L, struct host *host) {
    size_t length;
    const char *text = luaL_checklstring(L, -1, &length);
    text_add_bytes(host->options->as_lua, text, length);
    if (host->options->as_lua->failed)
        host_fail_memory(L, host);
}

void config_run(lua_State *L, struct host *host) {
    bool writes = host->options->as_lua != NULL;
    lua_getglobal(L, "use");
    lua_pushliteral(L, "from_config");
    lua_call(L, 1, 1);
    int library = lua_gettop(L);
    lua_getfield(L, library, "null");
    int null = lua_gettop(L);
    lua_getfield(L, library, writes ? "write" : "run");
    load(L, host, host->path, null);
    int config = lua_gettop(L), arguments = 2;
    lua_pushstring(L, host->path);
    if (lua_getfield(L, config, "peft_type") != LUA_TNIL) {
        lua_pop(L, 1);
        load_base(L, host, config, null);
        arguments = 4;
    } else {
        lua_pop(L, 1);
    }
    lua_call(L, arguments, writes ? 1 : 0);
    if (writes)
        take_text(L, host);
}

void config_fini(struct host *host) {
    json_decref(host->config);
    host->config = NULL;
}
