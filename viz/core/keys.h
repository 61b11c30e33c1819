/* keys.h: one table of keys: it drives dispatch, the help page, scripts and the test that presses
 * them all. */
#ifndef KEYS_H
#define KEYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "i18n.h"

/* id, English, Chinese; in the order of the help page */
/* clang-format off */
#define ACTIONS(X) \
    X(PEAK, "go to the peak", "转到峰值") \
    X(NEXT_PEAK, "next local peak", "下一个局部峰值") \
    X(PREVIOUS_PEAK, "previous local peak", "上一个局部峰值") \
    X(CURSOR_LEFT, "cursor left by a hundredth of the view", "光标左移视图的百分之一") \
    X(CURSOR_RIGHT, "cursor right", "光标右移") \
    X(CURSOR_LEFT_PIXEL, "cursor left by a pixel", "光标左移一个像素") \
    X(CURSOR_RIGHT_PIXEL, "cursor right by a pixel", "光标右移一个像素") \
    X(PREVIOUS_EVENT, "one event back", "后退一个事件") \
    X(NEXT_EVENT, "one event on", "前进一个事件") \
    X(PREVIOUS_PHASE, "previous step or phase", "上一个步骤或阶段") \
    X(NEXT_PHASE, "next step or phase", "下一个步骤或阶段") \
    X(GO_TO, "go to: peak, oom, event, time, step 2 backward", "转到：peak、oom、事件、时间、step 2 backward") \
    X(SEARCH, "search: text, size>1MiB, cat:gradient, module:mlp", "搜索：文本、size>1MiB、cat:gradient、module:mlp") \
    X(NEXT_MATCH, "next match", "下一个匹配") \
    X(PREVIOUS_MATCH, "previous match", "上一个匹配") \
    X(ONLY_MATCHES, "list matches alone, or all", "仅列出匹配项，或全部") \
    X(SEARCH_NONE, "no search", "清除搜索") \
    X(PAN_LEFT, "pan left by a tenth", "左移十分之一") \
    X(PAN_RIGHT, "pan right by a tenth", "右移十分之一") \
    X(ZOOM_IN, "zoom in about the cursor", "以光标为中心放大") \
    X(ZOOM_OUT, "zoom out", "缩小") \
    X(ZOOM_BYTES_IN, "zoom bytes in", "放大字节轴") \
    X(ZOOM_BYTES_OUT, "zoom bytes out", "缩小字节轴") \
    X(WHOLE, "whole trace", "显示全部") \
    X(FIT_BYTES, "fit bytes to what is visible", "字节轴适配可见部分") \
    X(AXIS, "time or event order", "时间轴或事件顺序") \
    X(COMPARE, "overlay, one over the other, off", "叠加、上下对照、关闭") \
    X(NEXT_SECOND, "of several files: the next as the second", "多个文件：下一个作为第二文件") \
    X(NEXT_FIRST, "the next as the first", "下一个作为第一文件") \
    X(ALIGN, "align two files by phases, requests, peaks, time", "两文件按阶段、请求、峰值、时间对齐") \
    X(FIRST_DIFFERENCE, "to where two files first differ", "转到两文件首个差异处") \
    X(NUDGE_LEFT, "second file to the left by a hundredth of the view", "第二文件左移视图的百分之一") \
    X(NUDGE_RIGHT, "to the right", "右移") \
    X(NUDGE_LEFT_EVENT, "to the left by an event", "左移一个事件") \
    X(NUDGE_RIGHT_EVENT, "to the right by an event", "右移一个事件") \
    X(STRETCH_MORE, "stretch the second file about the cursor", "以光标为中心拉伸第二文件") \
    X(STRETCH_LESS, "compress it", "压缩") \
    X(ALIGN_RESET, "neither moved nor stretched", "撤销移动与拉伸") \
    X(NEXT_GROUPING, "next grouping of the owners", "下一种占用者分组") \
    X(PREVIOUS_GROUPING, "previous grouping", "上一种分组") \
    X(NEXT_BANDS, "next grouping of the bands", "下一种图层分组") \
    X(PREVIOUS_BANDS, "previous grouping", "上一种分组") \
    X(NEXT_TAB, "next tab", "下一个标签页") \
    X(PREVIOUS_TAB, "previous tab", "上一个标签页") \
    X(CHOOSE, "choose the row; without one: pin the event's block", "选择该行；没有则固定事件的块") \
    X(PIN_ALLOC, "to the pinned block's allocation", "转到固定块的分配") \
    X(PIN_FREE, "to the pinned block's free", "转到固定块的释放") \
    X(MARK, "second cursor here; again: none", "在此设第二光标；再按取消") \
    X(RANGE, "range between the cursors", "两光标之间的区间") \
    X(FIT_SELECTION, "fit the range, or the pinned block's life", "适配区间或固定块的生命期") \
    X(ROW_UP, "table up", "表格上移") \
    X(ROW_DOWN, "table down", "表格下移") \
    X(SORT, "sort the table by its next column", "按下一列排序表格") \
    X(SORT_REVERSE, "the other way round", "反向排序") \
    X(PAGE_UP, "table page up", "表格上翻页") \
    X(PAGE_DOWN, "table page down", "表格下翻页") \
    X(ISOLATE_1, "only the n-th band from the bottom; again: all", "仅显示自下第 n 层；再按显示全部") \
    X(ISOLATE_2, "", "") \
    X(ISOLATE_3, "", "") \
    X(ISOLATE_4, "", "") \
    X(ISOLATE_5, "", "") \
    X(ISOLATE_6, "", "") \
    X(ISOLATE_7, "", "") \
    X(ISOLATE_8, "", "") \
    X(ISOLATE_9, "", "") \
    X(FOLLOW, "light what the pinned block's owner holds; again: all", "点亮固定块所有者的全部块；再按取消") \
    X(FOLLOW_ROW, "light what the chosen row of the owners holds; again: all", "点亮所选占用者行的全部块；再按取消") \
    X(EVENTS, "events on or off", "显示或隐藏事件") \
    X(OWNERS, "owners on or off", "显示或隐藏占用者") \
    X(LIFETIMES, "lifetimes of blocks, on or off", "显示或隐藏块的生命期") \
    X(ICICLE, "icicle, on or off", "显示或隐藏冰柱图") \
    X(ICICLE_UP, "out of a part of the icicle", "退出冰柱图的一层") \
    X(PARAMETERS, "parameters of the scenario, on or off", "显示或隐藏场景参数") \
    X(PARAMETER_LESS, "the chosen parameter: less by one (Left: by a step)", "所选参数减一（左键按步减小）") \
    X(PARAMETER_MORE, "more by one (Right: by a step)", "加一（右键按步增大）") \
    X(PARAMETER_HALF, "its half", "减半") \
    X(PARAMETER_TWICE, "its double", "加倍") \
    X(PARAMETER_UNDO, "take the last change of a parameter back", "撤销上一次参数修改") \
    X(DIFFERENCE, "what differs, on or off", "显示或隐藏差异") \
    X(RANGE_TAB, "what went on in the range, on or off", "显示或隐藏区间统计") \
    X(STRIP, "fragmentation, difference, neither", "碎片、差值、都不显示") \
    X(LEVEL, "compare allocated, reserved, device", "比较已分配、已保留、设备") \
    X(MAP, "address map on or off", "显示或隐藏地址图") \
    X(MAP_UP, "address map up by a row", "地址图上移一行") \
    X(MAP_DOWN, "address map down by a row", "地址图下移一行") \
    X(MAP_IN, "address map larger", "放大地址图") \
    X(MAP_OUT, "address map smaller", "缩小地址图") \
    X(SIDE, "legend on or off", "显示或隐藏图例") \
    X(PLAY, "play or pause", "播放或暂停") \
    X(SLOWER, "slower", "减速") \
    X(FASTER, "faster", "加速") \
    X(COPY, "copy the table as text", "复制表格文本") \
    X(EXPORT, "save the table as CSV", "将表格存为 CSV") \
    X(COPY_STATE, "copy what is shown, as --state takes it", "复制当前视图（供 --state 使用）") \
    X(SAVE_PNG, "save a PNG picture", "保存 PNG 图片") \
    X(SAVE_SVG, "save an SVG picture", "保存 SVG 图片") \
    X(THEME, "dark, light, high contrast", "深色、浅色、高对比") \
    X(LANGUAGE, "English or Chinese", "中文或英文") \
    X(SCALE_UP, "larger", "放大界面") \
    X(SCALE_DOWN, "smaller", "缩小界面") \
    X(SCALE_RESET, "usual size", "恢复界面大小") \
    X(FULL_SCREEN, "full screen", "全屏") \
    X(RELOAD, "read the files again", "重新读取文件") \
    X(HELP, "this page", "本页") \
    X(CLEAR, "close, or clear the innermost", "关闭或清除") \
    X(QUIT, "quit", "退出")
/* clang-format on */

enum action {
    ACTION_NONE,
#define X(id, english, chinese) ACTION_##id,
    ACTIONS(X)
#undef X
        ACTION_COUNT
};

struct binding {
    uint32_t key;
    unsigned mods;
    enum action action;
};

enum { KEY_NAME_BYTES = 32 };

const struct binding *keys_binding(size_t index); /* NULL after the last */
enum action keys_find(uint32_t key, unsigned mods);
const char *keys_doc(enum action action, enum language language); /* "": told by a row before it */
/* "Ctrl+Shift+S", "Page up", "p" */
const char *keys_name(const struct binding *binding, char out[KEY_NAME_BYTES]);
/* The reverse, for scripts; letters in either case. */
bool keys_parse(const char *name, uint32_t *key, unsigned *mods);

#endif
