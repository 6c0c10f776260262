/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Registers of a 25-series part: its busy and failure bits, and writes of status registers.
 */
#include <errno.h>

#include "spi25.h"

enum opcode {
	OP_STATUS_WRITE = 0x01,
	OP_WRITE_DISABLE = 0x04,
	OP_STATUS_READ = 0x05,
	OP_WRITE_ENABLE = 0x06,
	OP_STATUS_3_WRITE = 0x11,
	OP_STATUS_3_READ = 0x15,
	OP_STATUS_2_WRITE = 0x31,
	OP_STATUS_2_READ = 0x35,
	OP_STATUS_WRITE_ENABLE = 0x50,
};

#define STATUS_BUSY 0x01
#define STATUS_WRITE_ENABLED 0x02

int spi_command(
	struct flash *flash, const uint8_t *tx, size_t tx_bytes, uint8_t *rx, size_t rx_bytes)
{
	return flash->programmer->ops->spi_command(flash->programmer, tx, tx_bytes, rx, rx_bytes);
}

int spi_simple_command(struct flash *flash, uint8_t opcode)
{
	return spi_command(flash, &opcode, 1, NULL, 0);
}

int spi_hold_command(struct flash *flash, uint8_t opcode)
{
	struct programmer *programmer = flash->programmer;

	return programmer->ops->spi_hold != NULL ? programmer->ops->spi_hold(programmer, &opcode, 1)
						 : spi_simple_command(flash, opcode);
}

static int spi25_register_read(struct flash *flash, uint8_t opcode, uint8_t *value)
{
	return spi_command(flash, &opcode, 1, value, 1);
}

int spi25_status_read(struct flash *flash, uint8_t *status)
{
	return spi25_register_read(flash, OP_STATUS_READ, status);
}

int spi25_bits_read(struct flash *flash, struct spi25_bits bits, bool *set, bool *known)
{
	uint8_t value = SPI25_FLOATING;
	const int error = bits.opcode == 0 ? 0 : spi25_register_read(flash, bits.opcode, &value);

	*known = error == 0 && value != SPI25_FLOATING;
	*set = *known && (value & bits.mask) != 0;
	return error;
}

int spi25_ask_ready(struct flash *flash, uint32_t address, bool *ready)
{
	uint8_t status;
	const int error = spi25_status_read(flash, &status);

	(void)address;
	if (error == 0)
		*ready = (status & STATUS_BUSY) == 0;
	return error;
}

/* A part with busy_after_failure stays busy after a failure, so a failure ends the wait, too. */
static int ask_ended(struct flash *flash, uint32_t address, bool *ready)
{
	const struct spi25_traits *traits = &flash->chip->spi25;
	uint8_t status;
	const int error = spi25_status_read(flash, &status);

	(void)address;
	if (error != 0)
		return error;
	*ready = (status & STATUS_BUSY) == 0;
	if (traits->busy_after_failure && (status & traits->failed.mask) != 0)
		*ready = true;
	return 0;
}

/* After a failure the write enable latch may still be set, so WRDI follows. */
static int clear_failed(struct flash *flash)
{
	const uint8_t opcode = flash->chip->spi25.clear_failed_opcode;
	int error = 0;

	if (opcode != 0)
		error = spi_simple_command(flash, opcode);
	if (error == 0)
		error = spi_simple_command(flash, OP_WRITE_DISABLE);
	return error;
}

int spi25_clear_failed(struct flash *flash)
{
	bool failed, known;
	const int error = spi25_bits_read(flash, flash->chip->spi25.failed, &failed, &known);

	return error == 0 && failed ? clear_failed(flash) : error;
}

static int report_failed(struct flash *flash, const char *what)
{
	const int error = clear_failed(flash);

	log_error(flash->log,
		"The chip reports that %s failed: it is write-protected there, or worn out.\n",
		what);
	return error != 0 ? error : -EIO;
}

static int check_failed(struct flash *flash, const char *what)
{
	bool failed, known;
	const int error = spi25_bits_read(flash, flash->chip->spi25.failed, &failed, &known);

	return error == 0 && failed ? report_failed(flash, what) : error;
}

static int busy_command(struct flash *flash, uint8_t enable_opcode, const uint8_t *tx,
	size_t tx_bytes, const struct busy_time *busy, const char *what)
{
	int error = flash_await_power(flash, POWER_UP_WRITE_US_MAX);

	if (error == 0)
		error = spi_hold_command(flash, enable_opcode);
	if (error == 0)
		error = spi_command(flash, tx, tx_bytes, NULL, 0);
	if (error == 0)
		error = busy_wait(flash, busy, what, ask_ended, 0);
	if (error == 0)
		error = check_failed(flash, what);
	return error;
}

int spi25_busy_command(struct flash *flash, const uint8_t *tx, size_t tx_bytes,
	const struct busy_time *busy, const char *what)
{
	return busy_command(flash, OP_WRITE_ENABLE, tx, tx_bytes, busy, what);
}

static int write_register(struct flash *flash, const uint8_t *tx, size_t tx_bytes)
{
	const struct spi25_traits *traits = &flash->chip->spi25;

	return busy_command(flash,
		traits->status_write_enable2 ? OP_STATUS_WRITE_ENABLE : OP_WRITE_ENABLE, tx,
		tx_bytes, &traits->status_write, "a status register write");
}

int spi25_status_read_all(struct flash *flash, struct spi25_status *status)
{
	const struct spi25_traits *traits = &flash->chip->spi25;
	int error = spi25_status_read(flash, &status->first);

	if (error != 0)
		return error;
	status->first &= (uint8_t)~(STATUS_BUSY | STATUS_WRITE_ENABLED);
	status->second = SPI25_FLOATING;
	status->third = SPI25_FLOATING;
	if (traits->status_two_bytes || traits->protect_mask_2 != 0)
		error = spi25_register_read(flash, OP_STATUS_2_READ, &status->second);
	if (error == 0 && traits->protect_mask_3 != 0)
		error = spi25_register_read(flash, OP_STATUS_3_READ, &status->third);
	return error;
}

/*
 * A second register that reads as FFh counts as missing and is not written: if it exists after all,
 * FFh would lock OTP areas.
 */
static int write_both(struct flash *flash, const struct spi25_status *status)
{
	const uint8_t tx[] = {OP_STATUS_WRITE, status->first, status->second};

	return write_register(flash, tx, status->second != SPI25_FLOATING ? 3 : 2);
}

static int write_one(struct flash *flash, uint8_t opcode, uint8_t before, uint8_t after)
{
	const uint8_t tx[] = {opcode, after};

	return before == after ? 0 : write_register(flash, tx, sizeof(tx));
}

static int write_one_by_one(
	struct flash *flash, const struct spi25_status *before, const struct spi25_status *after)
{
	const int error = write_one(flash, OP_STATUS_WRITE, before->first, after->first);

	if (error != 0 || !flash->chip->spi25.status_2_apart)
		return error;
	return write_one(flash, OP_STATUS_2_WRITE, before->second, after->second);
}

static bool first_two_differ(const struct spi25_status *a, const struct spi25_status *b)
{
	return a->first != b->first || a->second != b->second;
}

/*
 * Writes the registers one by one. If that did not change a register, or even cleared the second,
 * writes both with one command.
 */
static int write_either_way(
	struct flash *flash, const struct spi25_status *before, const struct spi25_status *after)
{
	struct spi25_status now;
	int error = write_one_by_one(flash, before, after);

	if (error == 0)
		error = spi25_status_read_all(flash, &now);
	return error == 0 && first_two_differ(&now, after) ? write_both(flash, after) : error;
}

static int write_first_two(
	struct flash *flash, const struct spi25_status *before, const struct spi25_status *after)
{
	const struct spi25_traits *traits = &flash->chip->spi25;

	if (!first_two_differ(before, after))
		return 0;
	if (!traits->status_two_bytes)
		return write_one_by_one(flash, before, after);
	return traits->status_2_apart ? write_either_way(flash, before, after)
				      : write_both(flash, after);
}

int spi25_status_write_all(
	struct flash *flash, const struct spi25_status *before, const struct spi25_status *after)
{
	const int error = write_first_two(flash, before, after);

	return error == 0 ? write_one(flash, OP_STATUS_3_WRITE, before->third, after->third)
			  : error;
}
