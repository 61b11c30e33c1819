/* category.h: what a block is for: the bands of reports, curves and the viewer, bottom to top.
 * The Chinese names are those of the viewer. Order and meaning: docs/viewer.md. */
#ifndef CATEGORY_H
#define CATEGORY_H

/* id, key in JSON and CSV, English, Chinese */
#define CATEGORIES(X)                                                                              \
    X(OUTSIDE, "outside", "context, libraries", "上下文与库")                                      \
    X(PARAMETER, "parameter", "parameters", "模型参数")                                            \
    X(OPTIMIZER, "optimizer_state", "optimizer states", "优化器状态")                              \
    X(GRADIENT, "gradient", "gradients", "梯度")                                                   \
    X(INPUT, "input", "inputs", "输入数据")                                                        \
    X(ACTIVATION, "activation", "activations", "激活值")                                           \
    X(KV_CACHE, "kv_cache", "KV cache", "KV 缓存")                                                 \
    X(TEMPORARY, "temporary", "temporary buffers", "临时缓冲区")                                   \
    X(WORKSPACE, "workspace", "library workspaces", "库工作区")                                    \
    X(COMMUNICATION, "communication", "communication", "通信缓冲区")                               \
    X(UNKNOWN, "unknown", "unknown", "未知")

enum category {
#define X(id, key, english, chinese) CATEGORY_##id,
    CATEGORIES(X)
#undef X
        CATEGORY_COUNT
};

const char *category_key(enum category category);
const char *category_english(enum category category);
const char *category_chinese(enum category category);
enum category category_find(const char *key); /* CATEGORY_UNKNOWN when there is none */

#endif
