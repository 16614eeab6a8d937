/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _WAITPROF_PRIMITIVES_H
#define _WAITPROF_PRIMITIVES_H

#include <linux/types.h>

/* Names that skip= may add. */
#define WAITPROF_SKIP_MAX	32u

bool waitprof_primitive(char *symbol);
bool waitprof_polls(const char *symbol);
bool waitprof_primitive_skip(const char *names);

#endif /* _WAITPROF_PRIMITIVES_H */
