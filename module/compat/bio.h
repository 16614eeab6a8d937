/* SPDX-License-Identifier: GPL-2.0 */
/* What is read of a bio. */
#ifndef _WAITPROF_COMPAT_BIO_H
#define _WAITPROF_COMPAT_BIO_H

#include <linux/bio.h>
#include "compat/version.h"

/**
 * waitprof_bio_last_put() - will this bio_put() give the bio back?
 * @bio: its argument
 *
 * Two that put the last two references at one time may both be taken for the
 * last but one.
 */
static inline bool waitprof_bio_last_put(struct bio *bio)
{
	return !bio_flagged(bio, BIO_REFFED) ||
	       atomic_read(&bio->__bi_cnt) == 1;
}

#endif /* _WAITPROF_COMPAT_BIO_H */
