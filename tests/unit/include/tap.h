/* SPDX-License-Identifier: GPL-2.0 */
/* TAP: "ok 1 - name", the plan at the end. */
#ifndef _TAP_H
#define _TAP_H

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

static int tap_count, tap_failed;

static __attribute__((format(printf, 2, 3))) int tap_ok(int good,
							 const char *fmt, ...)
{
	va_list ap;

	printf("%sok %d - ", good ? "" : "not ", ++tap_count);
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	printf("\n");
	tap_failed += !good;
	fflush(stdout);
	return good;
}

/* ok(condition, name): and where and what, if it does not hold. */
#define ok(cond, ...) do {						\
	if (!tap_ok(!!(cond), __VA_ARGS__))				\
		printf("#   %s:%d: %s\n", __FILE__, __LINE__, #cond);	\
} while (0)

/* A known limit: shown, and no failure. */
#define todo(cond, why, ...) do {					\
	int _good = !!(cond);						\
									\
	printf("%sok %d - ", _good ? "" : "not ", ++tap_count);		\
	printf(__VA_ARGS__);						\
	printf(" # TODO %s\n", why);					\
} while (0)

/* is(got, wanted, name): two numbers. */
#define is(got, want, ...) do {						\
	unsigned long long _got = (got), _want = (want);		\
	if (!tap_ok(_got == _want, __VA_ARGS__))			\
		printf("#   %s:%d: %s: got %llu, wanted %llu\n",	\
		       __FILE__, __LINE__, #got, _got, _want);		\
} while (0)

#define is_str(got, want, ...) do {					\
	const char *_got = (got), *_want = (want);			\
	if (!tap_ok(!strcmp(_got, _want), __VA_ARGS__))			\
		printf("#   %s:%d: %s: got \"%s\", wanted \"%s\"\n",	\
		       __FILE__, __LINE__, #got, _got, _want);		\
} while (0)

static int tap_done(void)
{
	printf("1..%d\n", tap_count);
	return tap_failed != 0;
}

/* Numbers that look random and are the same in every run. */
static unsigned int tap_random(unsigned int *state)
{
	*state = *state * 1664525u + 1013904223u;
	return *state >> 8;
}

#endif /* _TAP_H */
