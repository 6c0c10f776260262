/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef EMULATORS_DELAY_PLUGIN_RECORD_H
#define EMULATORS_DELAY_PLUGIN_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "shared/json_line.h"

/*
 * The open calls, which have begun and not ended, and the stacks that they came from. Finds the
 * calls that end at an instruction. Pure.
 *
 * A call ends at a return instruction of its function, or at its site (the address to which it
 * returns), if the place there is the one at which it began. The plugin does not see longjmp(): a
 * call that longjmp() ends stays open until another call of the same function has the same place.
 */

#define CALLS_OPEN_MAX 256
#define CALLS_SITES_MAX 2048

/*
 * The identity of a call: its process, its thread and its place on the stack. Two open calls share
 * it only if one is a tail call of the other.
 */
struct place {
	uint64_t space;  /* the process: the register of the page table, such as CR3 */
	uint64_t thread; /* the thread: the register of thread-local storage, such as FS base */
	uint64_t sp;     /* the same at the first instruction and at the return instruction */
};

static inline bool place_equal(const struct place *one, const struct place *other)
{
	return one->space == other->space && one->thread == other->thread && one->sp == other->sp;
}

struct call {
	struct place place;
	uint64_t site;
	unsigned int function;
	uint64_t number; /* from 1 */
	bool has_begun;  /* the first instruction is done; until then a page fault may repeat it */
};

/* All zeros at first. */
struct calls {
	size_t count;
	struct call open[CALLS_OPEN_MAX];
	uint64_t last_number;
	uint64_t lost; /* calls for which there was no room */
	size_t site_count;
	uint64_t sites[CALLS_SITES_MAX]; /* the sites of functions that may end by a jump */
};

struct calls_entered {
	uint64_t number;    /* the number of this call; a repeated first instruction keeps it */
	uint64_t abandoned; /* the number of an open call that had the same place; 0: none */
};

/* Adds the site of a call. Returns -ENOSPC, and counts the call as lost, if there is no room. */
int calls_add_site(struct calls *calls, uint64_t site);
bool calls_has_site(const struct calls *calls, uint64_t site);

/* Adds an open call. Returns -ENOSPC, and counts the call as lost, if there is no room. */
int calls_enter(struct calls *calls, const struct place *place, unsigned int function,
	uint64_t site, struct calls_entered *entered);

/* Notes that the first instruction of that call is done. */
void calls_begin(struct calls *calls, uint64_t number);

/* Returns the number of the call that ends at a return of @function; 0: none. */
uint64_t calls_return(struct calls *calls, const struct place *place, unsigned int function);

/* Returns how many calls end at that site, at most @max, with their @numbers, innermost first. */
size_t calls_arrive(struct calls *calls, const struct place *place, uint64_t site,
	uint64_t *numbers, size_t max);

/*
 * The stacks seen so far. A stack is recorded once: it is long, and most calls come from a few
 * places. Two stacks are the same if their words that may be return addresses are the same.
 */
#define STACKS_MAX 4096
#define STACK_WORDS_MAX 128

struct stack {
	unsigned int function;
	uint64_t base; /* the load address of the function's file */
	uint64_t sp, fp, lr;
	size_t word_count;
	uint64_t words[STACK_WORDS_MAX]; /* from sp up */
};

/* All zeros at first. */
struct stacks {
	size_t count;
	uint64_t keys[STACKS_MAX];
};

/* Pushes the return address @site, as a call instruction does. */
void stack_push(struct stack *stack, size_t word_bytes, uint64_t site);

/*
 * Returns the number of the stack, from 1, or 0 if there are too many. Sets @is_new if it was not
 * seen before. Words from base + @text_begin to base + @text_end may be return addresses.
 */
unsigned int stacks_number(struct stacks *stacks, const struct stack *stack, uint64_t text_begin,
	uint64_t text_end, bool *is_new);

/*
 * The plugin's output to the rig, one JSON line for each event. Pure: each function writes into
 * @line and returns it. rig/delayrig/lanes/delay_record.py reads these lines.
 */
#define RECORD_SCHEMA 2

/* The time of an event. QEMU counts the instructions of a block before it runs them. */
struct moment {
	int64_t t_ns;
	uint64_t late_insns; /* instructions that t_ns includes, but that have not run yet */
	unsigned int cpu;
};

struct entry {
	uint64_t call;
	unsigned int function;
	uint64_t asked; /* the requested time, in the function's unit */
	struct place place;
	unsigned int stack; /* its number; 0: unknown */
};

#define RECORD_ARGUMENTS 5

/* The arguments of a sleep, which struct entry does not have. */
struct asking {
	bool is_known; /* true if the requested time could be read */
	uint64_t arguments[RECORD_ARGUMENTS];
};

const struct json_line *record_start(struct json_line *line);
const struct json_line *record_stack(
	struct json_line *line, unsigned int number, const struct stack *stack);
const struct json_line *record_enter(
	struct json_line *line, const struct moment *moment, const struct entry *entry);

/* Writes the arguments of the sleep that was just entered. */
const struct json_line *record_asking(
	struct json_line *line, uint64_t call, const struct asking *asking);

/* @by is "return" or "site"; @result is the content of the result register. */
const struct json_line *record_leave(struct json_line *line, const struct moment *moment,
	uint64_t call, const char *by, uint64_t result);

/* Writes that the end of the call was not seen, and that another call has its place now. */
const struct json_line *record_abandon(struct json_line *line, uint64_t call);

/* Writes that @calls calls or more were not recorded for lack of room. */
const struct json_line *record_lost(struct json_line *line, uint64_t calls);

/*
 * A file that holds all that was written, even if QEMU is killed. The window at its end is mapped.
 * Its content ends before the first zero byte.
 */

#define MAPPED_FILE_BYTES_MAX ((size_t)256 << 20)

struct mapped_file {
	int file;
	char *window; /* MAPPED_FILE_WINDOW_BYTES, mapped; NULL before the first line */
	size_t begin; /* the window's offset in the file */
	size_t used;  /* the used bytes of the window */
};

/* Opens the file and empties it; it stays open. Returns 0 or a negative errno. */
int mapped_file_init(struct mapped_file *mapped_file, const char *path);

/* Empties the file. Returns 0 or a negative errno. */
int mapped_file_clear(struct mapped_file *mapped_file);

/*
 * Appends @line. Returns 0 or a negative errno. -EFBIG: less than @spare bytes would be left below
 * the limit, and nothing was written. After other errors the file may have a part of @line.
 */
int mapped_file_write(struct mapped_file *mapped_file, const char *line, size_t len, size_t spare);

#endif
