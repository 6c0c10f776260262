/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Ways to identify a part of the 25 series. All but RDID are for parts that RDID does not identify.
 * They send RDID first, which also waits for the end of an earlier operation and wakes the part.
 */
#include "spi25.h"

enum opcode {
	OP_JEDEC_ID = 0x9f,
	OP_RELEASE_POWER_DOWN = 0xab, /* with three more bytes: RES */
};

#define ID_LOW UINT32_C(0x000000)
#define ID_HIGH UINT32_C(0xffffff)

#define ID_BYTES_MAX 6

#define STATUS_BUSY 0x01

/* The longest operation of an unknown part: a chip erase takes minutes. */
static const struct busy_time unknown_operation = {.typ_us = 800000, .max_us = 250000000};

/*
 * In AAI mode a part accepts only status reads, words and WRDI. On parts without that mode its
 * status bit has another meaning; there WRDI only clears a write enable of an earlier session.
 */
static int settle_spi25(struct flash *flash, uint8_t status)
{
	int error = 0;

	if ((status & STATUS_BUSY) != 0) {
		log_info(flash->log,
			"The chip is busy with an earlier operation, waiting for its end.\n");
		error = busy_wait(flash, &unknown_operation, "this session", spi25_ask_ready, 0);
	}
	if (error == 0 && (status & AAI_STATUS_MODE) != 0)
		error = aai_leave(flash);
	return error;
}

/*
 * Makes a part that is not known yet ready for an ID command: a busy part ignores everything but
 * status reads. It does not end power-down. A missing part is no error.
 */
static int spi_settle(struct flash *flash)
{
	uint8_t status;
	const int error = spi25_status_read(flash, &status);

	if (error != 0 || status == SPI25_FLOATING)
		return error;
	return settle_spi25(flash, status);
}

static uint32_t join(const uint8_t *bytes, size_t count)
{
	uint32_t value = 0;

	for (size_t i = 0; i < count; i++)
		value = value << 8 | bytes[i];
	return value;
}

static int read_id(struct flash *flash, uint32_t *id)
{
	const uint8_t opcode = OP_JEDEC_ID;
	uint8_t bytes[3];
	const int error = spi_command(flash, &opcode, 1, bytes, sizeof(bytes));

	if (error == 0)
		*id = join(bytes, sizeof(bytes));
	return error;
}

bool spi25_is_silence(uint32_t id)
{
	return id == ID_LOW || id == ID_HIGH;
}

/* A part in power-down does not even answer status reads, so this wait cannot be polled. */
static int wake(struct flash *flash)
{
	const int error = spi_simple_command(flash, OP_RELEASE_POWER_DOWN);

	return error == 0 ? flash_wait_us(flash, SPI25_WAKE_US_MAX) : error;
}

static int ask_rdid(struct flash *flash, const struct flash_chip *chip, uint32_t *id)
{
	int error = spi_settle(flash);

	(void)chip;
	if (error == 0)
		error = read_id(flash, id);
	if (error != 0 || !spi25_is_silence(*id))
		return error;
	error = wake(flash);
	return error == 0 ? read_id(flash, id) : error;
}

/*
 * An ID has room for four bytes, so the type and the length are left out. A programmer that cannot
 * receive six bytes reports silence.
 */
static int ask_rdid_extended(struct flash *flash, const struct flash_chip *chip, uint32_t *id)
{
	const uint8_t opcode = OP_JEDEC_ID;
	uint8_t bytes[ID_BYTES_MAX];
	int error = ask_rdid(flash, chip, id);

	if (error != 0 || flash->programmer->read_bytes_max < sizeof(bytes))
		*id = 0;
	if (error != 0 || spi25_is_silence(*id))
		return error;
	error = spi_command(flash, &opcode, 1, bytes, sizeof(bytes));
	if (error == 0)
		*id = (uint32_t)bytes[0] << 24 | (uint32_t)bytes[2] << 16 | join(bytes + 4, 2);
	return error;
}

/*
 * If the part answers RDID, or its signature is not the one of `chip`, the ID is 0 (silence). A
 * signature of one byte is weak evidence: many parts share it, and a bad line yields a value, too.
 */
static int ask_res(struct flash *flash, const struct flash_chip *chip, uint32_t *id)
{
	const uint8_t tx[] = {OP_RELEASE_POWER_DOWN, 0, 0, 0};
	uint8_t signature = 0;
	int error = ask_rdid(flash, chip, id);

	if (error == 0 && spi25_is_silence(*id))
		error = spi_command(flash, tx, sizeof(tx), &signature, 1);
	if (error == 0)
		*id = signature == chip->id ? signature : 0;
	return error;
}

static bool is_same_signature(const struct flash_chip *a, const struct flash_chip *b)
{
	return a->id == b->id;
}

const struct identify_method spi25_rdid = {
	.ask = ask_rdid,
};

const struct identify_method spi25_rdid_extended = {
	.ask = ask_rdid_extended,
};

const struct identify_method spi25_res = {
	.same_question = is_same_signature,
	.ask = ask_res,
};
