/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Text files that a test plays: a line has what happens, `|`, and the whole reaction of the code
 * under test, which is compared byte by byte. A comment above says what the lines show. Only the
 * tests include this.
 */
#ifndef TESTS_UNIT_EMULATORS_DIALOGUE_H
#define TESTS_UNIT_EMULATORS_DIALOGUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/chip.h"

#define DIALOGUE_LINE_BYTES_MAX 1024
#define DIALOGUE_BYTES_MAX 4096

/* The line that is being played. */
struct dialogue {
	char reaction[DIALOGUE_LINE_BYTES_MAX];
	size_t reaction_len;
};

/* Does what the line says that begins with @first. Returns false if it says nothing known. */
typedef bool (*dialogue_run_fn)(void *context, const char *first);

/*
 * The main() of a test: plays each FILE of its arguments, and returns 0 if every line is the same.
 * With `--print FILE` it prints the file as the code under test writes it. @dialogue is part of
 * @context.
 */
int dialogue_main(
	int argc, char *argv[], struct dialogue *dialogue, dialogue_run_fn run, void *context);

/* Words that are left of the line, NULL or false at its end. Addresses are hexadecimal. */
char *next_word(void);
bool take_number(uint64_t *number);
bool take_address(uint32_t *address);

/* An address, and a number of bytes from 1 to DIALOGUE_BYTES_MAX. */
bool take_range(uint32_t *address, size_t *len);

/*
 * Sets *@now_ns to what @at says: +NS or -NS from there, or `end`, `end-NS`, `end+NS`, of which
 * @end_ns is the end.
 */
bool take_moment(const char *at, uint64_t end_ns, uint64_t *now_ns);

/*
 * The bytes of a line, each a hexadecimal number or BYTE*FACTOR; rN, the number of bytes that are
 * expected; and tNS, a time.
 */
struct transfer {
	uint8_t bytes[DIALOGUE_BYTES_MAX];
	size_t len;
	size_t reply_len;
	uint64_t wire_ns;
};

void take_transfer(struct transfer *transfer);

/* Puts the bytes that the line has behind an address into the array. */
bool load_array(struct array *array);

/* Appends a word to the reaction. */
__attribute__((format(printf, 2, 3))) void put(struct dialogue *dialogue, const char *format, ...);

/* Prints equal ones in a row as BYTE*FACTOR. */
void put_bytes(struct dialogue *dialogue, const uint8_t *bytes, size_t len);

/*
 * Prints what is not the usual: a grade if it is not datasheet, the time for which the part was
 * still busy (`left`) if it is not a margin, and so on.
 */
void put_facts(struct dialogue *dialogue, const struct chip_facts *facts, uint64_t now_ns);

#endif
