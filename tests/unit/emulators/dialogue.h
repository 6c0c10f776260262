/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Text files that a test plays. A line has an action, `|`, and the whole reaction of the code under
 * test, which is compared byte by byte. A comment above the lines says what they show. Only tests
 * include this.
 */
#ifndef TESTS_UNIT_EMULATORS_DIALOGUE_H
#define TESTS_UNIT_EMULATORS_DIALOGUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/chip.h"

#define DIALOGUE_LINE_BYTES_MAX 1024
#define DIALOGUE_BYTES_MAX 4097 /* the longest request of served/part.txt */

/* The line that is being played. */
struct dialogue {
	char reaction[DIALOGUE_LINE_BYTES_MAX];
	size_t reaction_len;
};

/* Runs the action of a line that begins with @first. Returns false if there is no such action. */
typedef bool (*dialogue_run_fn)(void *context, const char *first);

/*
 * Does the work of a test's main(): plays each FILE of its arguments, and returns 0 if every
 * reaction is the expected one. With `--print FILE` it prints the file with the real reactions.
 * @dialogue is part of @context.
 */
int dialogue_main(
	int argc, char *argv[], struct dialogue *dialogue, dialogue_run_fn run, void *context);

/*
 * Take the next word of the line. Return NULL or false if there is none, and false if it is not a
 * number. Addresses are hexadecimal.
 */
char *next_word(void);
bool take_number(uint64_t *number);
bool take_address(uint32_t *address);

/* Takes an address, and a number of bytes from 1 to DIALOGUE_BYTES_MAX. */
bool take_range(uint32_t *address, size_t *len);

/*
 * Sets *@now_ns to the time @at: +NS or -NS from *@now_ns, or `end`, `end-NS` or `end+NS`, where
 * `end` is @end_ns. Returns false if @at is none of these.
 */
bool take_time(const char *at, uint64_t end_ns, uint64_t *now_ns);

/*
 * The rest of a line: bytes, each a hexadecimal number or BYTE*FACTOR; rN, the length of the reply;
 * and tNS, the time on the wire.
 */
struct transfer {
	uint8_t bytes[DIALOGUE_BYTES_MAX];
	size_t len;
	uint64_t reply_len;
	uint64_t wire_ns;
};

/* Return false if a word is none of these, or there are too many bytes. */
bool take_transfer(struct transfer *transfer);

/* Does the same for the word @first and all words after it. */
bool transfer_parse(const char *first, struct transfer *transfer);

/* Takes an address and bytes, and loads them into the array. Returns false if any is missing. */
bool load_array(struct array *array);

/* Appends a word to the reaction. */
__attribute__((format(printf, 2, 3))) void put(struct dialogue *dialogue, const char *format, ...);

/* Appends bytes. Four or more equal ones in a row become BYTE*FACTOR. */
void put_bytes(struct dialogue *dialogue, const uint8_t *bytes, size_t len);

/*
 * Appends the facts that are not the usual ones. For example, it appends a grade only if it is not
 * datasheet, and the rest of the busy time (`left`) only if there is no margin.
 */
void put_facts(struct dialogue *dialogue, const struct chip_facts *facts, uint64_t now_ns);

#endif
