/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The rig's request: functions, and the marks by which their calls are recognised when QEMU
 * translates them. Pure: a text in, values out.
 *
 * The text has a line for each, numbers in hexadecimal without 0x:
 *
 *	function ADDRESS SIZE ARGUMENT BITS JUMPS TEXT_BEGIN TEXT_END
 *	sleep ADDRESS ARGUMENT SECONDS_BYTES PART_BYTES PART_NS JUMPS TEXT_BEGIN TEXT_END
 *	entry|return|site|call FUNCTION ADDRESS BACK WINDOW
 *
 * A sleep is one call of a function of the C library, identified by its call site. Its ARGUMENT
 * points to seconds and a part of a second, or is a number if SECONDS_BYTES is 0.
 *
 * FUNCTION counts lines of functions and of sleeps from 0. WINDOW is the file's content around
 * ADDRESS, from BACK bytes before it, all within one page: the guest may not have loaded another
 * one yet.
 */
#ifndef EMULATORS_DELAYS_WISH_H
#define EMULATORS_DELAYS_WISH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define WISH_FUNCTIONS_MAX 64 /* and sleeps */
#define WISH_MARKS_MAX 4096
#define WISH_WINDOW_BYTES 32
#define WISH_PAGE_BYTES 4096

struct wish_function {
	uint64_t address;
	uint64_t size; /* 0: unknown */
	unsigned int argument;
	unsigned int argument_bits;
	bool may_jump; /* it may end in another function, so that its calls end at their sites */
	uint64_t text_begin, text_end; /* the code of its file, where callers are */
	bool is_sleep;                 /* no function, but a call of one in another file */
	unsigned int seconds_bytes, part_bytes, part_ns; /* 0: the argument is a number */
};

enum wish_mark_kind {
	WISH_ENTRY,  /* its first instruction */
	WISH_RETURN, /* a return instruction */
	WISH_SITE,   /* the return address of a call */
	WISH_CALL,   /* a call or jump instruction: where a sleep begins */
};

struct wish_mark {
	enum wish_mark_kind kind;
	unsigned int function;
	uint64_t address;
	unsigned int back;
	uint8_t window[WISH_WINDOW_BYTES];
	/* The number, from 1, of the next one at the same place in a page; 0: none */
	unsigned int next;
};

struct wish {
	size_t function_count;
	struct wish_function functions[WISH_FUNCTIONS_MAX];
	size_t mark_count;
	struct wish_mark marks[WISH_MARKS_MAX];
	unsigned int first[WISH_PAGE_BYTES]; /* number from 1 of the first mark there; 0: none */
};

/* -EINVAL: *@line is the first bad one, from 1. An empty text is a wish for nothing. */
int wish_parse(const char *text, struct wish *wish, size_t *line);

/* The first mark at that place in its page; NULL: there is none. */
const struct wish_mark *wish_first(const struct wish *wish, uint64_t address);

/* The next one at the same place; NULL: there is none. */
const struct wish_mark *wish_next(const struct wish *wish, const struct wish_mark *mark);

/*
 * The file in which the rig writes what it wants to see, for one cell after another: QEMU may be
 * reset, and goes on with another subject. It is mapped, so that a look at it costs nothing.
 *
 * The rig writes while QEMU is paused (rig/delayrig/machine/delay_watch.py).
 */
struct wish_file {
	const char *mapped; /* the number of its cell (uint64_t), then a text and a zero */
	uint64_t known;     /* the number that was read last */
	uint64_t size;
};

/* A negative errno: it cannot be mapped. -EINVAL: it is too short. */
int wish_file_open(struct wish_file *file, const char *path);

/* Returns true if it has become another cell's; remembers that cell. */
bool wish_file_has_changed(struct wish_file *file);

/* Returns the text; NULL: it has no end. */
const char *wish_file_text(const struct wish_file *file);

#endif
