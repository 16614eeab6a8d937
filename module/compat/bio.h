/* SPDX-License-Identifier: GPL-2.0 */
/* What is read of a bio. */
#ifndef _WAITPROF_COMPAT_BIO_H
#define _WAITPROF_COMPAT_BIO_H

#include <linux/bio.h>
#include "compat/version.h"

/**
 * waitprof_bio_refs() - how many references to a bio there are
 * @bio: the bio
 */
static inline int waitprof_bio_refs(struct bio *bio)
{
	return bio_flagged(bio, BIO_REFFED) ? atomic_read(&bio->__bi_cnt) : 1;
}

#endif /* _WAITPROF_COMPAT_BIO_H */
