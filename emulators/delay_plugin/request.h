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
#ifndef EMULATORS_DELAYS_REQUEST_H
#define EMULATORS_DELAYS_REQUEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define REQUEST_FUNCTIONS_MAX 64 /* and sleeps */
#define REQUEST_MARKS_MAX 4096
#define REQUEST_WINDOW_BYTES 32
#define REQUEST_PAGE_BYTES 4096

struct request_function {
	uint64_t address;
	uint64_t size; /* 0: unknown */
	unsigned int argument;
	unsigned int argument_bits;
	bool may_jump; /* it may end in another function, so that its calls end at their sites */
	uint64_t text_begin, text_end; /* the code of its file, where callers are */
	bool is_sleep;                 /* no function, but a call of one in another file */
	unsigned int seconds_bytes, part_bytes, part_ns; /* 0: the argument is a number */
};

enum request_mark_kind {
	REQUEST_ENTRY,  /* its first instruction */
	REQUEST_RETURN, /* a return instruction */
	REQUEST_SITE,   /* the return address of a call */
	REQUEST_CALL,   /* a call or jump instruction: where a sleep begins */
};

struct request_mark {
	enum request_mark_kind kind;
	unsigned int function;
	uint64_t address;
	unsigned int back;
	uint8_t window[REQUEST_WINDOW_BYTES];
	/* The number, from 1, of the next one at the same place in a page; 0: none */
	unsigned int next;
};

struct request {
	size_t function_count;
	struct request_function functions[REQUEST_FUNCTIONS_MAX];
	size_t mark_count;
	struct request_mark marks[REQUEST_MARKS_MAX];
	unsigned int first[REQUEST_PAGE_BYTES]; /* number from 1 of the first mark there; 0: none */
};

/* -EINVAL: *@line is the first bad one, from 1. An empty text is a request for nothing. */
int request_parse(const char *text, struct request *request, size_t *line);

/* The first mark at that place in its page; NULL: there is none. */
const struct request_mark *request_first(const struct request *request, uint64_t address);

/* The next one at the same place; NULL: there is none. */
const struct request_mark *request_next(
	const struct request *request, const struct request_mark *mark);

/*
 * The file in which the rig writes what it wants to see, for one cell after another: QEMU may be
 * reset, and goes on with another subject. It is mapped, so that a look at it costs nothing.
 *
 * The rig writes while QEMU is paused (rig/delayrig/machine/delay_watch.py).
 */
struct request_file {
	const char *mapped; /* the number of its cell (uint64_t), then a text and a zero */
	uint64_t known;     /* the number that was read last */
	uint64_t size;
};

/* A negative errno: it cannot be mapped. -EINVAL: it is too short. */
int request_file_open(struct request_file *file, const char *path);

/* Returns true if it has become another cell's; remembers that cell. */
bool request_file_has_changed(struct request_file *file);

/* Returns the text; NULL: it has no end. */
const char *request_file_text(const struct request_file *file);

#endif
