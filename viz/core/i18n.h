/* i18n.h: every text on the screen, in English and Chinese. Numbers and units are the same in both.
 */
#ifndef I18N_H
#define I18N_H

#include "category.h"

enum language { LANGUAGE_ENGLISH, LANGUAGE_CHINESE };

/* id, English, Chinese */
/* clang-format off */
#define TEXTS(X) \
    X(UNKNOWN, "unknown", "未知") \
    X(PEAK, "peak", "峰值") \
    X(PEAK_ALLOCATED, "peak allocated", "已分配峰值") \
    X(PEAK_RESERVED, "peak reserved", "已保留峰值") \
    X(PEAK_DEVICE_USE, "peak used of device", "设备占用峰值") \
    X(ALLOCATED, "allocated", "已分配") \
    X(RESERVED, "reserved", "已保留") \
    X(DEVICE_USE, "used of device", "设备占用") \
    X(CAPACITY, "capacity", "容量") \
    X(HEADROOM, "headroom", "余量") \
    X(OVER_BY, "over by", "超出") \
    X(FREE_IN_RESERVED, "reserved, not in use", "已保留未使用") \
    X(EVENT, "event", "事件") \
    X(EVENTS, "events", "个事件") \
    X(OF, "of", "/") \
    X(START, "start", "起始") \
    X(TIME_UNKNOWN, "time unknown: event order", "时间未知：按事件顺序") \
    X(AT_CURSOR, "at the cursor", "光标处") \
    X(AT_PEAK, "at the peak", "峰值处") \
    X(OWNERS, "who holds it", "占用者") \
    X(BY_MODULE, "module", "模块") \
    X(BY_PATH, "module path", "模块路径") \
    X(BY_CATEGORY, "category", "类别") \
    X(BY_OP, "operation", "算子") \
    X(BY_NAME, "tensor", "张量") \
    X(BY_STACK, "stack frame", "调用栈") \
    X(BY_DTYPE, "data type", "数据类型") \
    X(BY_STREAM, "stream", "流") \
    X(BY, ", by ", "，按") \
    X(BY_SIZE, "size", "大小") \
    X(STREAM, "stream", "流") \
    X(BYTES, "size", "大小") \
    X(SHARE, "share", "占比") \
    X(BLOCKS, "blocks", "块数") \
    X(LARGEST, "largest", "最大块") \
    X(KEPT, "never freed", "未释放") \
    X(OTHERS, "others", "其他") \
    X(AGE, "oldest", "最早") \
    X(TAB_OWNERS, "owners", "占用者") \
    X(TAB_EVENTS, "events", "事件") \
    X(ACTION, "action", "操作") \
    X(TIME, "time", "时间") \
    X(FREED, "freed", "释放") \
    X(NET, "net", "净变化") \
    X(DETAILS, "pinned block", "固定的块") \
    X(REQUESTED, "requested", "请求") \
    X(ROUNDING, "rounding loss", "取整损失") \
    X(LIFETIME, "lifetime", "生命期") \
    X(ALLOCATED_AT, "allocated", "分配于") \
    X(FREED_AT, "freed", "释放于") \
    X(BEFORE_START, "before the recording", "记录开始之前") \
    X(NEVER, "never", "从未") \
    X(ADDRESS, "address", "地址") \
    X(SEGMENT, "segment", "段") \
    X(POOL, "pool", "池") \
    X(SMALL_POOL, "small", "小块池") \
    X(LARGE_POOL, "large", "大块池") \
    X(DEVICE, "device", "设备") \
    X(NOT_IN_TRACE, "not in this trace", "此记录中没有") \
    X(FRAGMENTATION, "fragmentation", "碎片") \
    X(SCATTERED, "scattered", "分散") \
    X(NO_HOST_MEMORY, "out of host memory", "主机内存不足") \
    X(GAVE_BACK, "cache given back", "缓存已归还") \
    X(ALLOCATED_ABOVE, "allocated above reserved", "已分配超过已保留") \
    X(RESERVED_ABOVE, "above the capacity", "超过容量") \
    X(BUILDING, "being read:", "读取中：") \
    X(PRIVATE_POOL, "private", "私有池") \
    X(MAP, "address map", "地址图") \
    X(PIXEL_IS, "1 px =", "1 像素 =") \
    X(NO_ADDRESSES, "not in this trace: addresses", "此记录没有地址") \
    X(SEGMENTS, "segments", "个段") \
    X(PENDING, "freed, not yet back", "已释放待归还") \
    X(FREE, "free", "空闲") \
    X(FREE_RUN, "free run", "空闲区") \
    X(LARGEST_FREE, "largest run", "最大空闲区") \
    X(LARGEST_REQUEST, "largest request", "最大可满足请求") \
    X(FROM_CACHE, "from a free run", "来自空闲区") \
    X(FROM_CACHE_ALONE, "without the driver", "不经驱动") \
    X(FROM_DRIVER, "from the driver", "来自驱动") \
    X(HOLE, "nothing mapped", "未映射") \
    X(FROM_TO, "addresses", "地址范围") \
    X(KEPT_BY, "kept by", "被占住") \
    X(BLOCKS_OF, "blocks", "个块") \
    X(BLOCK_OF, "block", "个块") \
    X(ONE_EVENT, "event", "个事件") \
    X(NOTHING_KEEPS, "nothing: a retry gives it back", "无：重试时归还") \
    X(CHEAPEST, "cheapest to free", "最小释放量") \
    X(CATEGORY, "category", "类别") \
    X(PHASE, "phase", "阶段") \
    X(STACK, "stack", "调用栈") \
    X(GO_TO, "go to", "转到") \
    X(SEARCH, "search", "搜索") \
    X(MATCHES, "matches", "匹配") \
    X(HERE, "at the cursor", "光标处") \
    X(GO_TO_HINT, "peak   oom   start   end   1200   406 ms   step 2 backward   divergence", "peak   oom   start   end   1200   406 ms   step 2 backward   divergence") \
    X(SEARCH_HINT, "text   size>1MiB   life<2ms   cat:gradient   module:mlp   op:mm   phase:backward   alive   never   ~regex", "文本   size>1MiB   life<2ms   cat:gradient   module:mlp   op:mm   phase:backward   alive   never   ~regex") \
    X(MARK, "mark", "标记") \
    X(RANGE, "range", "区间") \
    X(DIFFERENCE, "difference", "差值") \
    X(ALIGNED, "aligned by", "对齐依据") \
    X(ALIGN_PHASES, "phases", "阶段") \
    X(ALIGN_REQUESTS, "requests", "请求") \
    X(ALIGN_PEAKS, "peaks", "峰值") \
    X(ALIGN_TIME, "time", "时间") \
    X(FIRST_DIFFERENCE, "first divergence", "首个差异") \
    X(DIFFERS_NONE, "none", "无") \
    X(DIFFERS_SIZE, "size", "大小") \
    X(DIFFERS_STREAM, "stream", "流") \
    X(DIFFERS_FREES, "free set", "释放集合") \
    X(DIFFERS_SEGMENT, "segment", "段") \
    X(DIFFERS_OFFSET, "offset", "偏移") \
    X(DIFFERS_MISSING, "missing", "缺少") \
    X(DIFFERS_EXTRA, "extra", "多出") \
    X(DIFFERS_OOM, "oom", "显存不足") \
    X(EQUAL, "all requests equal", "所有请求相同") \
    X(REQUEST, "request", "请求") \
    X(NO_FURTHER_REQUEST, "no further request", "没有后续请求") \
    X(TAB_PARAMETERS, "parameters", "参数") \
    X(VALUE, "value", "值") \
    X(USUAL, "default", "默认") \
    X(POSSIBLE, "possible", "可取") \
    X(NO_PARAMETERS, "no parameters: the first file is not a scenario", "无参数：第一个文件不是场景") \
    X(PARAMETERS_HINT, "what if: choose a row, Left and Right change it; Ctrl+Z takes it back", "假设：选择一行，左右键修改，Ctrl+Z 撤销") \
    X(TAB_DIFFERENCE, "difference", "差异") \
    X(NOW, "now", "现在") \
    X(THEN, "before", "之前") \
    X(ADDED, "appeared", "新增") \
    X(REMOVED, "gone", "消失") \
    X(CHANGED, "changed", "变化") \
    X(SAME, "same", "相同") \
    X(KIND, "what", "状态") \
    X(CURSOR, "cursor", "光标") \
    X(NOTHING_TO_COMPARE, "m sets a mark: what changes between it and the cursor stands here; so does a second file", "按 m 设标记：此处显示标记与光标之间的变化；也可打开第二个文件") \
    X(TAB_LIFETIMES, "lifetimes", "生命期") \
    X(NEVER_FREED, "never freed", "未释放") \
    X(BLOCKS_AT_CURSOR, "blocks at the cursor", "光标处的块") \
    X(BLOCKS_IN_RANGE, "blocks in the range", "区间内的块") \
    X(TAB_ICICLE, "icicle", "冰柱图") \
    X(ICICLE_BY_PATH, "by module path", "按模块路径") \
    X(ICICLE_BY_STACK, "by stack", "按调用栈") \
    X(BLOCKS_UNIT, "blocks", "个块") \
    X(TAB_RANGE, "range", "区间") \
    X(WHOLE_RUN, "whole run", "整个过程") \
    X(ALLOCATED_IN, "allocated", "分配") \
    X(FREED_IN, "freed", "释放") \
    X(LEAKED, "kept at its end", "结束时仍在") \
    X(MAX, "max", "最大") \
    X(CHURN, "churn", "周转") \
    X(ALLOCATIONS, "requests", "请求数") \
    X(OUT_OF_MEMORY, "out of memory", "显存不足") \
    X(WARNINGS, "records repaired or skipped", "条记录已修复或跳过") \
    X(NO_EVENTS, "no events: a single state", "无事件：单一状态") \
    X(WORKING, "out of host memory: no owners", "主机内存不足：无法列出占用者") \
    X(READING, "reading", "正在读取") \
    X(CANCELLED, "cancelled", "已取消") \
    X(NOT_READ, "cannot be read", "无法读取") \
    X(ESC_CANCELS, "Esc cancels", "按 Esc 取消") \
    X(TRY_AGAIN, "F5 tries again; a file can be dropped here", "按 F5 重试，或将文件拖放到此处") \
    X(HINT, "? help   p peak   drag or arrows scrub   wheel zooms", "? 帮助   p 峰值   拖动或方向键移动   滚轮缩放") \
    X(HELP, "keys and mouse", "按键与鼠标") \
    X(HELP_WHEEL, "wheel", "滚轮") \
    X(HELP_WHEEL_DOES, "zoom time at the pointer (Ctrl finer, Shift bytes)", "以指针为中心缩放时间（Ctrl 精细，Shift 字节）") \
    X(HELP_DRAG, "drag", "拖动") \
    X(HELP_DRAG_DOES, "scrub; pans when zoomed in (on the phases: always scrubs)", "移动光标；放大后平移（在阶段条上始终移动光标）") \
    X(HELP_CLICK, "click, double click", "单击、双击") \
    X(HELP_CLICK_DOES, "set the cursor, pin the block (Ctrl: light its owner's); fit the whole trace", "设置光标并固定块（Ctrl：点亮其所有者）；显示全部") \
    X(HELP_LEGEND, "click on the legend", "单击图例") \
    X(HELP_LEGEND_DOES, "a band alone, or all (Ctrl: light it); on its head: next grouping", "仅显示该层或全部（Ctrl：点亮）；单击首行：下一种分组") \
    X(HELP_RANGE, "Shift or right drag", "Shift 或右键拖动") \
    X(HELP_RANGE_DOES, "choose a range", "选择区间") \
    X(HELP_MIDDLE, "middle drag", "中键拖动") \
    X(HELP_MIDDLE_DOES, "zoom to a range", "缩放到所选区间") \
    X(HELP_OVERVIEW, "drag on the overview", "在概览上拖动") \
    X(HELP_OVERVIEW_DOES, "choose what is shown", "选择显示区间")
/* clang-format on */

enum text_id {
#define X(id, english, chinese) TEXT_##id,
    TEXTS(X)
#undef X
        TEXT_COUNT
};

const char *i18n_text(enum language language, enum text_id id);
const char *i18n_category(enum language language, enum category category);
/* A phase's or source's own name: those that every training loop has are translated, "step 3" too
 * (written into `out`); the rest is returned as it is. */
enum { I18N_NAME_BYTES = 32 };
const char *i18n_name(enum language language, const char *name, char out[I18N_NAME_BYTES]);
/* "en", "zh", or a locale such as "zh_CN.UTF-8"; anything else is English. */
enum language i18n_language(const char *name);

#endif
