/* SPDX-License-Identifier: GPL-2.0 */
/* A symbol table that the test makes up, and the printing of addresses. */
#ifndef _SHIM_PRINT_H
#define _SHIM_PRINT_H

#include "shim_base.h"

#define KSYM_SYMBOL_LEN		512

/**
 * struct shim_symbol - a function
 * @start: its address
 * @size: its length
 * @name: its name
 * @module: the name of its module, or NULL
 */
struct shim_symbol {
	unsigned long start;
	unsigned long size;
	const char *name;
	const char *module;
	bool no_ftrace;	/* at its entry ftrace does not call */
};

static const struct shim_symbol *shim_symbols __maybe_unused;
static int shim_nsymbols __maybe_unused;
/* What %pK prints for everything. */
static const char *shim_hidden __maybe_unused = "0000000000000000";

static inline const struct shim_symbol *shim_symbol(unsigned long addr)
{
	int i;

	for (i = 0; i < shim_nsymbols; i++)
		if (addr - shim_symbols[i].start < shim_symbols[i].size)
			return &shim_symbols[i];
	return NULL;
}

static inline int sprint_symbol_no_offset(char *buf, unsigned long addr)
{
	const struct shim_symbol *s = shim_symbol(addr);

	if (!s)
		return sprintf(buf, "0x%lx", addr);
	if (!s->module)
		return sprintf(buf, "%s", s->name);
	return sprintf(buf, "%s [%s]", s->name, s->module);
}

/* %pB: the function of the call before a return address. */
static inline void shim_backtrace(char *buf, unsigned long addr)
{
	const struct shim_symbol *s = shim_symbol(addr - 1);

	if (!s)
		sprintf(buf, "0x%lx", addr);
	else if (!s->module)
		sprintf(buf, "%s+0x%lx/0x%lx", s->name, addr - s->start,
			s->size);
	else
		sprintf(buf, "%s+0x%lx/0x%lx [%s]", s->name, addr - s->start,
			s->size, s->module);
}

/* %ps: the function at an address. */
#define shim_function(buf, addr) sprint_symbol_no_offset(buf, addr)

/* Format by format, since only the pointers are not the C library's. */
static inline int shim_vsnprintf(char *buf, size_t size, const char *fmt,
				 va_list ap)
{
	size_t len = 0;

	while (*fmt) {
		char spec[32], text[KSYM_SYMBOL_LEN + 64];
		const char *end;
		size_t n;
		int width = 0;
		bool star;

		n = strcspn(fmt, "%");
		if (n) {
			if (n >= sizeof(text))
				n = sizeof(text) - 1;
			memcpy(text, fmt, n);
			text[n] = '\0';
			end = fmt + n;
			goto out;
		}

		end = fmt + 1 + strspn(fmt + 1, "0123456789-+ #.*hlz");
		n = end - fmt + 1;
		if (n >= sizeof(spec))
			abort();
		memcpy(spec, fmt, n);
		spec[n] = '\0';
		star = memchr(spec, '*', n);
		if (star)
			width = va_arg(ap, int);
#define SHIM_PRINT(type) \
	(star ? snprintf(text, sizeof(text), spec, width, va_arg(ap, type)) : \
		snprintf(text, sizeof(text), spec, va_arg(ap, type)))
		switch (*end++) {
		case '%':
			strcpy(text, "%");
			break;
		case 'p':
			if (*end == 'B') {
				shim_backtrace(text,
					       (unsigned long)va_arg(ap, void *));
			} else if (*end == 's') {
				shim_function(text,
					      (unsigned long)va_arg(ap, void *));
			} else if (*end == 'K') {
				(void)va_arg(ap, void *);
				strcpy(text, shim_hidden);
			} else {
				abort();
			}
			end++;
			break;
		case 's':
			SHIM_PRINT(char *);
			break;
		case 'c':
			SHIM_PRINT(int);
			break;
		case 'd':
		case 'u':
		case 'x':
			if (strstr(spec, "ll"))
				SHIM_PRINT(long long);
			else if (strpbrk(spec, "lz"))
				SHIM_PRINT(long);
			else
				SHIM_PRINT(int);
			break;
		default:
			abort();
		}
#undef SHIM_PRINT
out:
		n = strlen(text);
		if (len < size) {
			size_t room = size - len - 1;

			memcpy(buf + len, text, n < room ? n : room);
			buf[len + (n < room ? n : room)] = '\0';
		}
		len += n;
		fmt = end;
	}
	return len;
}

static inline int shim_snprintf(char *buf, size_t size, const char *fmt, ...)
{
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = shim_vsnprintf(buf, size, fmt, ap);
	va_end(ap);
	return n;
}

#define snprintf shim_snprintf

static inline __attribute__((format(printf, 1, 2))) void pr_err(const char *fmt,
								...)
{
}

#endif /* _SHIM_PRINT_H */
