/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The rig's request: functions, and the marks by which the plugin recognises their calls when QEMU
 * translates the code. The parser is pure.
 *
 * The text has a line for each function and mark, with numbers in hexadecimal without 0x:
 *
 *	function ADDRESS SIZE ARGUMENT BITS JUMPS TEXT_BEGIN TEXT_END
 *	sleep ADDRESS ARGUMENT SECONDS_BYTES PART_BYTES PART_NS JUMPS TEXT_BEGIN TEXT_END
 *	entry|return|site|call FUNCTION ADDRESS BACK WINDOW
 *
 * A sleep is one call of a function of the C library; ADDRESS is that of the call instruction. Its
 * ARGUMENT points to seconds and a part of a second in units of PART_NS, or is a number if
 * SECONDS_BYTES is 0.
 *
 * FUNCTION counts lines of functions and of sleeps from 0. WINDOW is the file's content around
 * ADDRESS, from BACK bytes before it. It is within one page, because the guest may not have loaded
 * the next page yet.
 */
#ifndef EMULATORS_DELAY_PLUGIN_REQUEST_H
#define EMULATORS_DELAY_PLUGIN_REQUEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define REQUEST_FUNCTIONS_MAX 64 /* functions and sleeps together */
#define REQUEST_MARKS_MAX 4096
#define REQUEST_WINDOW_BYTES 32
#define REQUEST_PAGE_BYTES 4096

struct request_function {
	uint64_t address;
	uint64_t size; /* 0: unknown */
	unsigned int argument;
	unsigned int argument_bits;
	bool may_jump;                 /* it may end with a jump, so its calls end at their sites */
	uint64_t text_begin, text_end; /* the code of its file, where callers are */
	bool is_sleep;                 /* one call of a function of the C library, not a function */
	unsigned int seconds_bytes, part_bytes, part_ns; /* 0: the argument is a number */
};

enum request_mark_kind {
	REQUEST_ENTRY,  /* the first instruction of a function */
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
	/* The number, from 1, of the next mark at the same offset in a page; 0: none */
	unsigned int next;
};

struct request {
	size_t function_count;
	struct request_function functions[REQUEST_FUNCTIONS_MAX];
	size_t mark_count;
	struct request_mark marks[REQUEST_MARKS_MAX];
	unsigned int first[REQUEST_PAGE_BYTES]; /* the first mark at each offset; 0: none */
};

/* Returns 0, or -EINVAL with the first bad line, from 1, in *@line. An empty text is valid. */
int request_parse(const char *text, struct request *request, size_t *line);

/* Returns the first mark at that offset in a page, or NULL. */
const struct request_mark *request_first(const struct request *request, uint64_t address);

/* Returns the next mark at the same offset, or NULL. */
const struct request_mark *request_next(
	const struct request *request, const struct request_mark *mark);

/*
 * The file with the rig's request. The rig rewrites it for each cell, because a reset QEMU runs
 * another subject, and only while QEMU is paused (rig/delayrig/machine/plugins.py). The file is
 * mapped, so that a check for a new request needs no system call.
 */
struct request_file {
	const char *mapped; /* the number of the cell (uint64_t), then a text and a zero */
	uint64_t known;     /* the number of the cell that was read last */
	uint64_t size;
};

/* Maps the file. Returns 0 or a negative errno; -EINVAL: it is too short. */
int request_file_open(struct request_file *file, const char *path);

/* Returns true if the file is for another cell than at the last call. */
bool request_file_has_changed(struct request_file *file);

/* Returns the text, or NULL if it does not end with a zero. */
const char *request_file_text(const struct request_file *file);

#endif
