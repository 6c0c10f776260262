/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "spi25.h"

#include <assert.h>

enum opcode {
	OP_BYTE_PROGRAM = 0x02,
	OP_WRITE_DISABLE = 0x04,
	OP_WORD_PROGRAM = 0xad,
};

#define WORD_BYTES 2

/*
 * A longer gap of blank bytes ends a run. To leave the mode and enter it again behind the gap costs
 * three additional commands; to program a blank word costs two, the word and a status read.
 */
#define GAP_BYTES_MAX WORD_BYTES

/* After WRDI the part may be busy again, for the time of one word. */
static const struct busy_time mode_exit = {.typ_us = 7, .max_us = 10};

int aai_leave(struct flash *flash)
{
	const int error = spi_simple_command(flash, OP_WRITE_DISABLE);

	if (error != 0)
		return error;
	return busy_wait(flash, &mode_exit, "the AAI mode's end", spi25_ask_ready, 0);
}

static bool is_blank_word(const uint8_t *data)
{
	return data[0] == 0xff && data[1] == 0xff;
}

static int program_byte(struct flash *flash, uint32_t address, uint8_t value)
{
	const uint8_t tx[] = {OP_BYTE_PROGRAM, (uint8_t)(address >> 16), (uint8_t)(address >> 8),
		(uint8_t)address, value};

	if (value == 0xff)
		return 0;
	return spi25_busy_command(flash, tx, sizeof(tx), &flash->chip->program, "a byte program");
}

/* The first word turns the mode on and sets the address. */
static int program_first_word(struct flash *flash, uint32_t address, const uint8_t *data)
{
	const uint8_t tx[] = {OP_WORD_PROGRAM, (uint8_t)(address >> 16), (uint8_t)(address >> 8),
		(uint8_t)address, data[0], data[1]};

	return spi25_busy_command(flash, tx, sizeof(tx), &flash->chip->program, "a word program");
}

static int program_next_word(struct flash *flash, const uint8_t *data)
{
	const uint8_t tx[] = {OP_WORD_PROGRAM, data[0], data[1]};
	const int error = spi_command(flash, tx, sizeof(tx), NULL, 0);

	if (error != 0)
		return error;
	return busy_wait(flash, &flash->chip->program, "a word program", spi25_ask_ready, 0);
}

static int program_run(struct flash *flash, uint32_t address, const uint8_t *data, size_t bytes)
{
	int error = program_first_word(flash, address, data);

	for (size_t at = WORD_BYTES; error == 0 && at < bytes; at += WORD_BYTES)
		error = program_next_word(flash, data + at);
	return error == 0 ? aai_leave(flash) : error;
}

static size_t blank_bytes(const uint8_t *data, size_t bytes)
{
	size_t at = 0;

	while (at < bytes && is_blank_word(data + at))
		at += WORD_BYTES;
	return at;
}

/* Returns the bytes up to the first gap that is worth skipping, or to the end. */
static size_t run_bytes(const uint8_t *data, size_t bytes)
{
	size_t at = 0;

	while (at < bytes) {
		const size_t gap = blank_bytes(data + at, bytes - at);

		if (gap > GAP_BYTES_MAX || gap == bytes - at)
			return at;
		at += gap + WORD_BYTES;
	}
	return at;
}

static int program_words(struct flash *flash, uint32_t address, const uint8_t *data, size_t bytes)
{
	size_t at = blank_bytes(data, bytes);

	while (at < bytes) {
		const size_t run = run_bytes(data + at, bytes - at);
		const int error = program_run(flash, address + (uint32_t)at, data + at, run);

		if (error != 0)
			return error;
		at += run;
		at += blank_bytes(data + at, bytes - at);
	}
	return 0;
}

/* Words lie at even addresses, so one byte before and one after them may remain. */
static int program_bytes(struct flash *flash, uint32_t address, const uint8_t *data, size_t bytes)
{
	const size_t head = address % WORD_BYTES;
	const size_t words = (bytes - head) / WORD_BYTES * WORD_BYTES;
	const size_t tail = head + words;
	int error = 0;

	if (head > 0)
		error = program_byte(flash, address, data[0]);
	if (error == 0)
		error = program_words(flash, address + (uint32_t)head, data + head, words);
	if (error == 0 && tail < bytes)
		error = program_byte(flash, address + (uint32_t)tail, data[tail]);
	return error;
}

/*
 * Leaves the mode after an error, because the part cannot be read in it. Waits first, because the
 * part may still be programming a word, and then ignores WRDI.
 */
static void recover(struct flash *flash)
{
	const int error = flash_wait_us(flash, flash->chip->program.max_us);

	if (error == 0)
		(void)aai_leave(flash);
}

static int aai_program(struct flash *flash, uint32_t address, const uint8_t *data, size_t bytes)
{
	int error;

	assert(bytes > 0);
	error = program_bytes(flash, address, data, bytes);
	if (error != 0)
		recover(flash);
	return error;
}

const struct chip_driver aai_driver = {
	.read = spi25_read,
	.program = aai_program,
	.erase = spi25_erase,
	.unprotect = spi25_unprotect,
	.reprotect = spi25_reprotect,
};
