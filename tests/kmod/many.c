// SPDX-License-Identifier: GPL-2.0
/* Forty call sites that differ in nothing but their names. */
#include <linux/delay.h>

#include "fixture.h"

#define WP_MANY(n)						\
static noinline __noclone void wp_fx_many_##n(struct wp_ctx *c)	\
{								\
	msleep(c->ms);						\
}

#define WP_MANY_ROW(n)						\
{								\
	.name = "many",						\
	.function = "wp_fx_many_" #n,				\
	.class = "D",						\
	.sleep = wp_fx_many_##n,				\
}

WP_MANY(00)
WP_MANY(01)
WP_MANY(02)
WP_MANY(03)
WP_MANY(04)
WP_MANY(05)
WP_MANY(06)
WP_MANY(07)
WP_MANY(08)
WP_MANY(09)
WP_MANY(10)
WP_MANY(11)
WP_MANY(12)
WP_MANY(13)
WP_MANY(14)
WP_MANY(15)
WP_MANY(16)
WP_MANY(17)
WP_MANY(18)
WP_MANY(19)
WP_MANY(20)
WP_MANY(21)
WP_MANY(22)
WP_MANY(23)
WP_MANY(24)
WP_MANY(25)
WP_MANY(26)
WP_MANY(27)
WP_MANY(28)
WP_MANY(29)
WP_MANY(30)
WP_MANY(31)
WP_MANY(32)
WP_MANY(33)
WP_MANY(34)
WP_MANY(35)
WP_MANY(36)
WP_MANY(37)
WP_MANY(38)
WP_MANY(39)

const struct wp_fixture wp_many[WP_MANY_MAX] = {
	WP_MANY_ROW(00), WP_MANY_ROW(01), WP_MANY_ROW(02), WP_MANY_ROW(03),
	WP_MANY_ROW(04), WP_MANY_ROW(05), WP_MANY_ROW(06), WP_MANY_ROW(07),
	WP_MANY_ROW(08), WP_MANY_ROW(09), WP_MANY_ROW(10), WP_MANY_ROW(11),
	WP_MANY_ROW(12), WP_MANY_ROW(13), WP_MANY_ROW(14), WP_MANY_ROW(15),
	WP_MANY_ROW(16), WP_MANY_ROW(17), WP_MANY_ROW(18), WP_MANY_ROW(19),
	WP_MANY_ROW(20), WP_MANY_ROW(21), WP_MANY_ROW(22), WP_MANY_ROW(23),
	WP_MANY_ROW(24), WP_MANY_ROW(25), WP_MANY_ROW(26), WP_MANY_ROW(27),
	WP_MANY_ROW(28), WP_MANY_ROW(29), WP_MANY_ROW(30), WP_MANY_ROW(31),
	WP_MANY_ROW(32), WP_MANY_ROW(33), WP_MANY_ROW(34), WP_MANY_ROW(35),
	WP_MANY_ROW(36), WP_MANY_ROW(37), WP_MANY_ROW(38), WP_MANY_ROW(39),
};
