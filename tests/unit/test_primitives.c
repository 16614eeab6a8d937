// SPDX-License-Identifier: GPL-2.0
/* The table of wait primitives, and what skip= adds to it. */

#include "shim.h"
#include "tap.h"
#include "primitives.c"

static bool primitive(const char *name)
{
	char symbol[KSYM_SYMBOL_LEN];

	strcpy(symbol, name);
	return waitprof_primitive(symbol);
}

static void test_sorted(void)
{
	size_t n = ARRAY_SIZE(waitprof_primitives), i, bad = 0, found = 0;
	size_t plain = 0;

	for (i = 0; i < n; i++) {
		const char *name = waitprof_primitives[i];

		if (i && strcmp(waitprof_primitives[i - 1], name) >= 0) {
			printf("# %s is not behind %s\n", name,
			       waitprof_primitives[i - 1]);
			bad++;
		}
		found += primitive(name);
		plain += !strpbrk(name, ". []+");
	}
	is(bad, 0, "sorted, nothing twice");
	is(found, n, "each name is found");
	is(plain, n, "no name has what is cut off");
}

static void test_names(void)
{
	char symbol[KSYM_SYMBOL_LEN];

	ok(!primitive("pipe_read"), "pipe_read is a site");
	ok(!primitive("jbd2_log_wait_commit"), "jbd2_log_wait_commit is a site");
	ok(!primitive("unix_wait_for_peer"), "unix_wait_for_peer is a site");
	ok(!primitive(""), "no name is no primitive");
	ok(!primitive("sched"), "nor is a part of one");
	ok(!primitive("schedule_"), "nor one with more to it");
	ok(!primitive("0xffffffff81234567"), "nor an address");
	ok(!primitive("___"), "nor what sorts before all");
	ok(!primitive("zzz"), "nor what sorts behind all");
	ok(primitive("schedule"), "schedule is one");
	/* Field case A1: names that the compiler has made. */
	ok(primitive("__mutex_lock.constprop.0"), ".constprop.0 is cut");
	ok(primitive("__mutex_lock.constprop.1"), ".constprop.1 is cut");
	ok(primitive("io_schedule.llvm.1234"), ".llvm.1234 is cut");
	ok(primitive("folio_wait_bit_common.isra.0"), ".isra.0 is cut");
	ok(primitive("__down_common.cold"), ".cold is cut");
	ok(primitive("__mutex_lock.isra.0.cold"), "two suffixes are cut");
	ok(primitive("msleep.part.0 [mod]"), "suffix and module are cut");
	ok(primitive("schedule [mod]"), "a module is cut");
	ok(!primitive("schedule+0x1"), "an offset is not");
	strcpy(symbol, "do_poll.isra.0 [mod]");
	ok(!waitprof_primitive(symbol), "do_poll is none");
	is_str(symbol, "do_poll", "its name is cut in place");
}

static void test_skip(void)
{
	static char none[] = "", commas[] = ",,", some[] = "one,,two,";
	static char many[32 * 8], more[] = "over";
	unsigned int i, found = 0;
	char name[8];

	ok(waitprof_primitive_skip(none), "skip= may be empty");
	ok(waitprof_primitive_skip(commas), "or commas alone");
	is(waitprof_skips, 0, "that is no name");
	ok(!primitive(""), "and does not skip what has none");

	ok(waitprof_primitive_skip(some), "two names");
	ok(primitive("one") && primitive("two"), "are skipped");
	ok(primitive("one.isra.0") && primitive("two [mod]"),
	   "with a suffix and a module");
	ok(!primitive("on") && !primitive("one1"), "no part, no more");
	is(waitprof_skips, 2, "the empty ones do not count");

	for (i = 2; i < WAITPROF_SKIP_MAX; i++)
		sprintf(many + strlen(many), "%sf%02u", i > 2 ? "," : "", i);
	ok(waitprof_primitive_skip(many), "32 in all are taken");
	for (i = 2; i < WAITPROF_SKIP_MAX; i++) {
		sprintf(name, "f%02u", i);
		found += primitive(name);
	}
	is(found, WAITPROF_SKIP_MAX - 2, "and each is skipped");
	ok(waitprof_primitive_skip(commas), "nothing more is no error");
	ok(!waitprof_primitive_skip(more), "one more is");
	ok(!primitive("over"), "and is not skipped");
	ok(primitive("schedule"), "the table is still there");
}

int main(void)
{
	test_sorted();
	test_names();
	test_skip();
	return tap_done();
}
