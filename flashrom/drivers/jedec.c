/* SPDX-License-Identifier: GPL-2.0-or-later */

#include <assert.h>
#include <errno.h>
#include <inttypes.h>

#include "memory.h"

#define UNLOCK_1_ADDRESS 0x5555
#define UNLOCK_2_ADDRESS 0x2aaa
#define UNLOCK_1 0xaa
#define UNLOCK_2 0x55

enum opcode {
	OP_CHIP_ERASE = 0x10,
	OP_ID_SIX_BYTES = 0x60,
	OP_SETUP = 0x80, /* begins an erase, and the six-byte ID entry */
	OP_ID = 0x90,
	OP_PROGRAM = 0xa0, /* before a page it also opens software data protection */
	OP_ID_LEAVE = 0xf0,
	OP_READ_ARRAY = 0xff, /* for FWH parts like Intel's, which 90h puts into ID mode, too */
};

#define DATA_POLLING 0x80

/* The bit that changes from one read of a busy part to the next. */
#define TOGGLE 0x40

static int unlock(struct flash *flash, const struct flash_chip *chip)
{
	const int error = memory_write_byte(flash, chip, UNLOCK_1_ADDRESS, UNLOCK_1);

	return error == 0 ? memory_write_byte(flash, chip, UNLOCK_2_ADDRESS, UNLOCK_2) : error;
}

static int jedec_command(struct flash *flash, const struct flash_chip *chip, uint8_t opcode)
{
	const int error = unlock(flash, chip);

	return error == 0 ? memory_write_byte(flash, chip, UNLOCK_1_ADDRESS, opcode) : error;
}

/*
 * One read is enough if the part is ready and shows the value. If it shows another value that does
 * not toggle, it is ready, too: it ignored the command, which verification will report.
 */
static int ask_finished(struct flash *flash, uint32_t address, bool *ready)
{
	uint8_t first, second;
	int error = memory_read_byte(flash, flash->chip, address, &first);

	*ready = error == 0 && ((first ^ flash->polled_value) & DATA_POLLING) == 0;
	if (error != 0 || *ready)
		return error;
	error = memory_read_byte(flash, flash->chip, address, &second);
	*ready = error == 0 && ((first ^ second) & TOGGLE) == 0;
	return error;
}

static int jedec_wait(struct flash *flash, const struct busy_time *busy, const char *what,
	uint32_t address, uint8_t value)
{
	flash->polled_value = value;
	return busy_wait(flash, busy, what, ask_finished, address);
}

static int jedec_erase(struct flash *flash, const struct chip_erase *erase, uint32_t address)
{
	const struct flash_chip *chip = flash->chip;
	const uint32_t to = erase->opcode == OP_CHIP_ERASE ? UNLOCK_1_ADDRESS : address;
	int error = jedec_command(flash, chip, OP_SETUP);

	if (error == 0)
		error = unlock(flash, chip);
	if (error == 0)
		error = memory_write_byte(flash, chip, to, erase->opcode);
	return error == 0 ? jedec_wait(flash, &erase->busy, "an erase", address, 0xff) : error;
}

static int program_byte(struct flash *flash, uint32_t address, uint8_t value)
{
	int error = jedec_command(flash, flash->chip, OP_PROGRAM);

	if (error == 0)
		error = memory_write_byte(flash, flash->chip, address, value);
	if (error == 0)
		error = jedec_wait(flash, &flash->chip->program, "a byte program", address, value);
	return error;
}

/* Skips bytes of FFh, which change nothing. */
static int jedec_byte_program(
	struct flash *flash, uint32_t address, const uint8_t *data, size_t bytes)
{
	for (size_t i = 0; i < bytes; i++) {
		const int error =
			data[i] == 0xff ? 0 : program_byte(flash, address + (uint32_t)i, data[i]);

		if (error != 0)
			return error;
	}
	return 0;
}

const struct chip_driver jedec_byte_driver = {
	.read = memory_read,
	.program = jedec_byte_program,
	.erase = jedec_erase,
};

const struct chip_driver jedec_fwh_driver = {
	.open = fwh_locks_open,
	.close = fwh_locks_close,
	.read = memory_read,
	.program = jedec_byte_program,
	.erase = jedec_erase,
	.unprotect = fwh_unprotect,
	.reprotect = fwh_reprotect,
};

/*
 * Page writes. The part takes bytes while the pauses between them are shorter than its load window;
 * then it erases and programs the page by itself. Missing and late bytes are lost, so a page is
 * sent only if the programmer takes all of it at once.
 */
static int check_burst(struct flash *flash)
{
	const size_t most = flash->programmer->burst_bytes_max;

	if (most == 0 || most >= flash->chip->page_bytes)
		return 0;
	log_error(flash->log,
		"%s can send %zu bytes without a pause, but \"%s\" needs %u, a whole page. Use "
		"a programmer with a larger operation buffer.\n",
		flash->programmer->name, most, flash->chip->name,
		(unsigned int)flash->chip->page_bytes);
	return -EOPNOTSUPP;
}

static int load(struct flash *flash, uint32_t address, const uint8_t *data, size_t bytes)
{
	int error = jedec_command(flash, flash->chip, OP_PROGRAM);

	for (size_t i = 0; i < bytes && error == 0; i++)
		error = memory_write_byte(flash, flash->chip, address + (uint32_t)i, data[i]);
	return error;
}

/* The part can be polled right after the last byte, even before its load window ends. */
static int jedec_page_program(
	struct flash *flash, uint32_t address, const uint8_t *data, size_t bytes)
{
	const struct flash_chip *chip = flash->chip;
	int error = check_burst(flash);

	assert(bytes == chip->page_bytes);
	if (error == 0)
		error = load(flash, address, data, bytes);
	if (error == 0)
		error = jedec_wait(flash, &chip->program, "a page write",
			address + (uint32_t)bytes - 1, data[bytes - 1]);
	return error;
}

const struct chip_driver jedec_page_driver = {
	.read = memory_read,
	.program = jedec_page_program,
	.erase = jedec_erase,
};

#define CONTINUATION 0x7f
#define CONTINUED_AT 0x100

/* An operation of an earlier session, on a part not yet known; 29F parts erase for a minute. */
static const struct busy_time unknown_operation = {.typ_us = 100000, .max_us = 64000000};

static int ask_settled(
	struct flash *flash, const struct flash_chip *chip, uint32_t address, bool *settled)
{
	uint8_t first, second;
	int error = memory_read_byte(flash, chip, address, &first);

	if (error == 0)
		error = memory_read_byte(flash, chip, address, &second);
	*settled = error == 0 && ((first ^ second) & TOGGLE) == 0;
	return error;
}

/* Reads the last address of the bus, which lies in every part. */
static int ask_unknown_ready(struct flash *flash, uint32_t address, bool *ready)
{
	static const struct flash_chip smallest = {.size_bytes = 1};

	return ask_settled(flash, &smallest, address, ready);
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
		error = jedec_command(flash, chip, OP_SETUP);
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
