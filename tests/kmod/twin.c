// SPDX-License-Identifier: GPL-2.0
/*
 * The code of gone.c under other names. Loaded where wp_gone was, it has a
 * return address in the very place where wp_gone_sleep() had one.
 */
#define wp_gone_sleep	wp_twin_sleep
#define WP_GONE_NAME	"wp_twin"

#include "gone.c"
