/* SPDX-License-Identifier: GPL-2.0 */
/* Language, arithmetic, atomics, memory. */
#ifndef _SHIM_BASE_H
#define _SHIM_BASE_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/types.h>

#define KERNEL_VERSION(a, b, c)	((a) * 65536 + (b) * 256 + (c))
#ifndef LINUX_VERSION_CODE
#define LINUX_VERSION_CODE	KERNEL_VERSION(6, 1, 0)
#endif

#define CONFIG_KPROBES		1
#ifndef SHIM_KPROBES_ALONE
#define CONFIG_KPROBES_ON_FTRACE 1
#endif
#if LINUX_VERSION_CODE >= KERNEL_VERSION(5, 18, 0)
#define CONFIG_KRETPROBE_ON_RETHOOK 1
#endif
#define CONFIG_TRACEPOINTS	1
#define CONFIG_SCHED_INFO	1
#define CONFIG_SWAP		1
#ifndef CONFIG_ARM64		/* a test may be for that */
#define CONFIG_X86		1
#define CONFIG_X86_64		1
#define CONFIG_HAVE_UNSTABLE_SCHED_CLOCK 1
#define CONFIG_UNWINDER_ORC	1
#endif
#define CONFIG_SMP		1
#define KBUILD_MODNAME		"waitprof"
/* Options that are set are 1, others are no macro at all. */
#define SHIM_IS_SET_1		0,
#define SHIM_SECOND(a, b, ...)	b
#define SHIM_IS_SET(junk)	SHIM_SECOND(junk 1, 0, 0)
#define SHIM_IS_ENABLED(value)	SHIM_IS_SET(SHIM_IS_SET_##value)
#define IS_ENABLED(option)	SHIM_IS_ENABLED(option)

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef int s32;
typedef long long s64;

#undef __always_inline
#define __always_inline		inline __attribute__((always_inline))
#define noinline		__attribute__((noinline))
#define notrace
#define fallthrough		__attribute__((__fallthrough__))
#define __maybe_unused		__attribute__((unused))
#define __aligned(n)		__attribute__((aligned(n)))
#define ____cacheline_aligned	__aligned(64)
#define likely(x)		__builtin_expect(!!(x), 1)
#define unlikely(x)		__builtin_expect(!!(x), 0)
#define __user
#define __percpu
#define __init
#define __exit
/* At the top level, where a semicolon follows. */
#define SHIM_NOTHING		_Static_assert(1, "")
#define NOKPROBE_SYMBOL(f)	SHIM_NOTHING

#define BIT(n)			(1ul << (n))
#define BIT_ULL(n)		(1ull << (n))
#define GENMASK(h, l)		(~0ul >> (63 - (h)) & ~0ul << (l))
#define GENMASK_ULL(h, l)	(~0ull >> (63 - (h)) & ~0ull << (l))
#define BITS_PER_LONG		((int)(8 * sizeof(long)))
#define ARRAY_SIZE(a)		(sizeof(a) / sizeof((a)[0]))
#define NSEC_PER_SEC		1000000000L
#define NSEC_PER_USEC		1000L

/* As strict as the kernels before 6.7: both of one type. */
#define SHIM_CMP(x, op, y) ({						\
	__typeof__(x) _x = (x);						\
	__typeof__(y) _y = (y);						\
	(void)(&_x == &_y);						\
	_x op _y ? _x : _y;						\
})
#define min(x, y)		SHIM_CMP(x, <, y)
#define max(x, y)		SHIM_CMP(x, >, y)
#define min_t(type, x, y)	SHIM_CMP((type)(x), <, (type)(y))
#define max_t(type, x, y)	SHIM_CMP((type)(x), >, (type)(y))
#define clamp_t(type, x, lo, hi) min_t(type, max_t(type, x, lo), hi)
#define container_of(p, type, member) ({				\
	__typeof__(((type *)0)->member) *_p = (p);			\
	(type *)((char *)_p - offsetof(type, member));			\
})
#define swap(a, b) do {							\
	__typeof__(a) _swap = (a);					\
	(a) = (b);							\
	(b) = _swap;							\
} while (0)

static inline u64 div_u64_rem(u64 n, u32 d, u32 *rest)
{
	*rest = n % d;
	return n / d;
}

static inline u64 div_u64(u64 n, u32 d)
{
	return n / d;
}

/* Number of the highest bit set; there must be one. */
static inline unsigned long __fls(unsigned long x)
{
	return BITS_PER_LONG - 1 - __builtin_clzl(x);
}

#define hash_ptr(p, bits)	hash_long((unsigned long)(p), bits)
#define ilog2(x)		((int)__fls(x))

static inline unsigned long roundup_pow_of_two(unsigned long x)
{
	return x > 1 ? 2ul << __fls(x - 1) : 1;
}

/* The power of two that @x is rounded up to. */
static inline int order_base_2(unsigned long x)
{
	return x > 1 ? ilog2(x - 1) + 1 : 0;
}

#define GOLDEN_RATIO_32		0x61c88647u
#define GOLDEN_RATIO_64		0x61c8864680b583ebull

/* Multiplicative hashing by the golden ratio, the upper bits taken. */
static inline u32 hash_32(u32 x, unsigned int bits)
{
	return x * 0x61c88647u >> (32 - bits);
}

static inline u32 hash_long(unsigned long x, unsigned int bits)
{
	return x * 0x61c8864680b583ebul >> (64 - bits);
}

/* Up to 32 bits, as many as are wanted of the upper ones. */
static inline u32 hash_64(u64 x, unsigned int bits)
{
	return x * 0x61c8864680b583ebull >> (64 - bits);
}

/* Atomics. Plain volatile would do, but tsan would not know it. */
#define READ_ONCE(x)		__atomic_load_n(&(x), __ATOMIC_RELAXED)
#define READ_ONCE_NOCHECK(x)	READ_ONCE(x)
#define WRITE_ONCE(x, v)	__atomic_store_n(&(x), v, __ATOMIC_RELAXED)
#define smp_load_acquire(p)	__atomic_load_n(p, __ATOMIC_ACQUIRE)
#define smp_store_release(p, v)	__atomic_store_n(p, v, __ATOMIC_RELEASE)
/* Something that another CPU does just before. */
static void (*shim_on_cmpxchg)(void) __maybe_unused;

#define cmpxchg(p, old, new) ({						\
	__typeof__(*(p)) _old = (old);					\
	if (shim_on_cmpxchg)						\
		shim_on_cmpxchg();					\
	__atomic_compare_exchange_n(p, &_old, new, false,		\
				    __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);	\
	_old;								\
})
#define xchg(p, new)		__atomic_exchange_n(p, new, __ATOMIC_SEQ_CST)
#define try_cmpxchg(p, old, new) \
	__atomic_compare_exchange_n(p, old, new, false, __ATOMIC_SEQ_CST, \
				    __ATOMIC_SEQ_CST)
#define cmpxchg64(p, old, new)	({					\
	_Static_assert(sizeof(*(p)) == 8, "cmpxchg64");			\
	cmpxchg(p, old, new);						\
})
#ifdef __SANITIZE_THREAD__	/* which does not know fences */
#define smp_rmb()		__asm__ volatile("" : : : "memory")
#define smp_wmb()		__asm__ volatile("" : : : "memory")
#else
#define smp_rmb()		__atomic_thread_fence(__ATOMIC_ACQUIRE)
#define smp_wmb()		__atomic_thread_fence(__ATOMIC_RELEASE)
#endif
#define cpu_relax()		do { } while (0)
#define OPTIMIZER_HIDE_VAR(x)	__asm__ volatile("" : "+r"(x))

typedef struct {
	int counter;
} atomic_t;

static inline int atomic_read(const atomic_t *a)
{
	return READ_ONCE(a->counter);
}

static inline void atomic_inc(atomic_t *a)
{
	__atomic_fetch_add(&a->counter, 1, __ATOMIC_RELAXED);
}

static inline void atomic_dec(atomic_t *a)
{
	__atomic_fetch_sub(&a->counter, 1, __ATOMIC_RELAXED);
}

typedef struct {
	long counter;
} atomic_long_t;

static inline long atomic_long_read(const atomic_long_t *a)
{
	return READ_ONCE(a->counter);
}

static inline void atomic_long_add(long n, atomic_long_t *a)
{
	__atomic_fetch_add(&a->counter, n, __ATOMIC_RELAXED);
}

static inline void atomic_long_inc(atomic_long_t *a)
{
	atomic_long_add(1, a);
}

typedef struct {
	s64 counter;
} atomic64_t;

static inline s64 atomic64_read(const atomic64_t *a)
{
	return READ_ONCE(a->counter);
}

static inline void atomic64_set(atomic64_t *a, s64 v)
{
	WRITE_ONCE(a->counter, v);
}

static inline s64 atomic64_add_return(s64 n, atomic64_t *a)
{
	return __atomic_add_fetch(&a->counter, n, __ATOMIC_SEQ_CST);
}

static inline void atomic64_add(s64 n, atomic64_t *a)
{
	__atomic_fetch_add(&a->counter, n, __ATOMIC_RELAXED);
}

static inline bool atomic64_try_cmpxchg(atomic64_t *a, s64 *old, s64 new)
{
	return __atomic_compare_exchange_n(&a->counter, old, new, false,
					   __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
}

/* Odd while it is being written. */
typedef struct {
	unsigned int sequence;
} seqcount_t;

static inline void seqcount_init(seqcount_t *s)
{
	s->sequence = 0;
}

static inline void raw_write_seqcount_begin(seqcount_t *s)
{
	WRITE_ONCE(s->sequence, s->sequence + 1);
	smp_wmb();
}

static inline void raw_write_seqcount_end(seqcount_t *s)
{
	smp_wmb();
	WRITE_ONCE(s->sequence, s->sequence + 1);
}

static inline unsigned int raw_read_seqcount_begin(const seqcount_t *s)
{
	unsigned int seq;

	while ((seq = READ_ONCE(s->sequence)) & 1)
		cpu_relax();
	smp_rmb();
	return seq;
}

/* Something that the writer does before the reader looks again. */
static void (*shim_on_retry)(void) __maybe_unused;

static inline bool read_seqcount_retry(const seqcount_t *s, unsigned int seq)
{
	if (shim_on_retry)
		shim_on_retry();
	smp_rmb();
	return READ_ONCE(s->sequence) != seq;
}

static inline bool test_and_set_bit_lock(int bit, unsigned long *p)
{
	unsigned long mask = 1ul << bit;

	return __atomic_fetch_or(p, mask, __ATOMIC_ACQUIRE) & mask;
}

static inline void clear_bit_unlock(int bit, unsigned long *p)
{
	__atomic_fetch_and(p, ~(1ul << bit), __ATOMIC_RELEASE);
}

/* Memory. */
#define PAGE_SHIFT		12
#define PAGE_SIZE		(1ul << PAGE_SHIFT)
#define SZ_64K			0x10000
#define GFP_KERNEL		0

#define array_size(n, size)	((size_t)(n) * (size))
#define IS_ERR_OR_NULL(p)	(!(p) || (unsigned long)(p) >= -4095ul)
#define struct_size(p, member, n) \
	(sizeof(*(p)) + (size_t)(n) * sizeof(*(p)->member))

/* How many allocations will succeed; < 0: all. */
static int shim_alloc_left __maybe_unused = -1;
static unsigned long shim_allocs __maybe_unused;
static unsigned long shim_totalram_pages __maybe_unused;

static inline void *shim_alloc(size_t size, int fill)
{
	void *p;

	if (!shim_alloc_left)
		return NULL;
	if (shim_alloc_left > 0)
		shim_alloc_left--;
	if (posix_memalign(&p, 64, size))
		abort();
	shim_allocs++;
	return memset(p, fill, size);
}

static inline void shim_free(const void *p)
{
	if (!p)
		return;
	shim_allocs--;
	free((void *)p);
}

#define vzalloc(size)			shim_alloc(size, 0)
#define vzalloc_node(size, node)	((void)(node), shim_alloc(size, 0))
#define kvzalloc(size, gfp)		shim_alloc(size, 0)
#define kvcalloc(n, size, gfp)		shim_alloc(array_size(n, size), 0)
/* Not zeroed, and that shows. */
#define kvmalloc_array(n, size, gfp)	shim_alloc(array_size(n, size), 0xa5)
#define vfree(p)			shim_free(p)
#define kvfree(p)			shim_free(p)
#define totalram_pages()		shim_totalram_pages

/* The kernel's keeps no order among equals, the C library's does: so turn the
 * array round before.
 */
static inline void sort(void *base, size_t n, size_t size,
			int (*cmp)(const void *, const void *), void *swap_fn)
{
	char *p = base, tmp[64];
	size_t i;

	if (size > sizeof(tmp))
		abort();
	for (i = 0; i < n / 2; i++) {
		memcpy(tmp, p + i * size, size);
		memcpy(p + i * size, p + (n - 1 - i) * size, size);
		memcpy(p + (n - 1 - i) * size, tmp, size);
	}
	qsort(base, n, size, cmp);
}

static inline ssize_t strscpy(char *to, const char *from, size_t size)
{
	size_t len = strnlen(from, size);

	if (!size)
		return -E2BIG;
	if (len == size) {
		memcpy(to, from, size - 1);
		to[size - 1] = '\0';
		return -E2BIG;
	}
	memcpy(to, from, len + 1);
	return len;
}

static inline int match_string(const char * const *array, size_t n,
			       const char *string)
{
	size_t i;

	for (i = 0; i < n && array[i]; i++)
		if (!strcmp(array[i], string))
			return i;
	return -EINVAL;
}

/* The kernel's knows the letters of Latin-1. */
static inline bool shim_isalnum(unsigned char c)
{
	return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') ||
	       (c >= 'a' && c <= 'z') ||
	       (c >= 0xc0 && c != 0xd7 && c != 0xf7);
}

#define isalnum(c)		shim_isalnum(c)
#define isascii(c)		((unsigned char)(c) <= 0x7f)

#endif /* _SHIM_BASE_H */
