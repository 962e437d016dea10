/* The settings of a TLB as text. */
#ifndef TOOLS_CACHE_TLB_SETTINGS_H
#define TOOLS_CACHE_TLB_SETTINGS_H

#include "tools/cache/study/tlb.h"

/* Sets "l1d=64,l1d-ways=4,l2-2M=1024,walk=50,...": doc/bustap-cache.1. 0 or BT_USAGE. */
int tlb_settings_take(struct tlb_settings *settings, const char *words, struct bt_error *error);

/* Adds "2M", or "2M@LOW-HIGH" for a range. 0 or BT_USAGE. */
int tlb_settings_take_pages(struct tlb_settings *settings, const char *text,
                            struct bt_error *error);

#endif
