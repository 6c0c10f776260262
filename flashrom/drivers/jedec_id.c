/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <inttypes.h>

#include "jedec.h"
#include "memory.h"

enum opcode {
	OP_ID_SIX_BYTES = 0x60,
	OP_SIX_BYTES = 0x80,
	OP_ID = 0x90,
	OP_ID_LEAVE = 0xf0,
	OP_READ_ARRAY = 0xff, /* for FWH parts like Intel's, which 90h puts into ID mode, too */
};

#define CONTINUATION 0x7f
#define CONTINUED_AT 0x100

/* The operation of a part that is busy before it is known; 29F parts erase for a minute. */
static const struct busy_time unknown_operation = {.typ_us = 100000, .max_us = 64000000};

static int ask_still(
	struct flash *flash, const struct flash_chip *chip, uint32_t address, bool *still)
{
	uint8_t first, second;
	int error = memory_read_byte(flash, chip, address, &first);

	if (error == 0)
		error = memory_read_byte(flash, chip, address, &second);
	*still = error == 0 && ((first ^ second) & JEDEC_TOGGLE) == 0;
	return error;
}

/* Any address serves. The last one of the bus lies in every part. */
static int ask_unknown_ready(struct flash *flash, uint32_t address, bool *ready)
{
	static const struct flash_chip smallest = {.size_bytes = 1};

	return ask_still(flash, &smallest, address, ready);
}

/* A part that is still erasing ignores all commands; reads disturb no part. */
static int wait_for_earlier_operation(struct flash *flash)
{
	bool ready;
	const int error = ask_unknown_ready(flash, 0, &ready);

	if (error != 0 || ready)
		return error;
	log_info(flash->log, "The chip is busy with an earlier operation, waiting for its end.\n");
	return busy_wait(flash, &unknown_operation, "this session", ask_unknown_ready, 0);
}

static uint32_t id_wait_us(const struct flash *flash, const struct flash_chip *chip)
{
	if (flash->is_named)
		return chip->jedec.id_wait_us;
	return (chip->buses & BUS_PARALLEL) != 0 ? JEDEC_ID_US_MAX_PARALLEL : JEDEC_ID_US_MAX;
}

static int enter(struct flash *flash, const struct flash_chip *chip)
{
	int error = 0;

	if (chip->jedec.id_six_bytes)
		error = jedec_command(flash, chip, OP_SIX_BYTES);
	if (error == 0)
		error = jedec_command(
			flash, chip, chip->jedec.id_six_bytes ? OP_ID_SIX_BYTES : OP_ID);
	return error == 0 ? flash_wait_us(flash, id_wait_us(flash, chip)) : error;
}

static int leave(struct flash *flash, const struct flash_chip *chip)
{
	int error = jedec_command(flash, chip, OP_ID_LEAVE);

	if (error == 0)
		error = flash_wait_us(flash, id_wait_us(flash, chip));
	if (error == 0 && (chip->buses & BUS_FWH) != 0)
		error = memory_write_byte(flash, chip, 0, OP_READ_ARRAY);
	return error;
}

/* Appends a code of one byte, or of two if the first is the continuation code. */
static int read_code(
	struct flash *flash, const struct flash_chip *chip, uint32_t address, uint32_t *id)
{
	uint8_t code = 0;
	int error = memory_read_byte(flash, chip, address, &code);

	*id = *id << 8 | code;
	if (error != 0 || code != CONTINUATION)
		return error;
	error = memory_read_byte(flash, chip, address + CONTINUED_AT, &code);
	*id = *id << 8 | code;
	return error;
}

static int read_id(struct flash *flash, const struct flash_chip *chip, uint32_t *id)
{
	uint32_t codes = 0;
	int error = read_code(flash, chip, 0, &codes);

	if (error == 0)
		error = read_code(flash, chip, 1, &codes);
	if (error == 0)
		*id = codes;
	return error;
}

/* First leaves ID mode, in which an earlier session may have left the part. */
static int ask_id(struct flash *flash, const struct flash_chip *chip, uint32_t *id)
{
	int error = wait_for_earlier_operation(flash);
	int leave_error;

	if (error == 0)
		error = leave(flash, chip);
	if (error == 0)
		error = enter(flash, chip);
	if (error == 0)
		error = read_id(flash, chip, id);
	leave_error = leave(flash, chip);
	if (error == 0 && leave_error == 0)
		log_spew(flash->log, "A part of %" PRIu32 " kB would have ID %04" PRIx32 ".\n",
			chip->size_bytes / 1024, *id);
	return error != 0 ? error : leave_error;
}

/* Command addresses depend on the size, since the part ends at the end of the bus. */
static bool is_same_question(const struct flash_chip *a, const struct flash_chip *b)
{
	return a->size_bytes == b->size_bytes && a->jedec.id_six_bytes == b->jedec.id_six_bytes;
}

const struct identify_method jedec_id = {
	.same_question = is_same_question,
	.ask = ask_id,
};
