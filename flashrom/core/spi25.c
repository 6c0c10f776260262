/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#include "spi25.h"

enum opcode {
	OP_STATUS_WRITE = 0x01,
	OP_PAGE_PROGRAM = 0x02,
	OP_READ = 0x03,
	OP_STATUS_READ = 0x05,
	OP_WRITE_ENABLE = 0x06,
	OP_STATUS_2_READ = 0x35,
	OP_JEDEC_ID = 0x9f,
	OP_RELEASE_POWER_DOWN = 0xab,
};

#define STATUS_BUSY 0x01
#define STATUS_FLOATING 0xff

#define ADDRESS_BYTES 3
#define HEADER_BYTES (1 + ADDRESS_BYTES)
#define PAGE_BYTES_MAX 512

/* An eighth of the typical time: a part is noticed 1/8 late at worst, for about nine polls. */
#define POLLS_PER_TYP 8
#define POLL_US_MIN 10
#define POLL_US_MAX 100000

/* What a part found busy before it is known may have been doing; a chip erase takes minutes. */
static const struct busy_time unknown_operation = {.typ_us = 800000, .max_us = 250000000};

static int command(
	const struct spi25 *flash, const uint8_t *tx, size_t tx_bytes, uint8_t *rx, size_t rx_bytes)
{
	return flash->programmer->ops->spi_command(flash->programmer, tx, tx_bytes, rx, rx_bytes);
}

static int simple_command(const struct spi25 *flash, uint8_t opcode)
{
	return command(flash, &opcode, 1, NULL, 0);
}

static void put_header(uint8_t *tx, uint8_t opcode, uint32_t address)
{
	tx[0] = opcode;
	tx[1] = (uint8_t)(address >> 16);
	tx[2] = (uint8_t)(address >> 8);
	tx[3] = (uint8_t)address;
}

static size_t min_size(size_t a, size_t b)
{
	return a < b ? a : b;
}

uint32_t spi25_poll_interval_us(uint32_t typ_us)
{
	const uint32_t interval_us = typ_us / POLLS_PER_TYP;

	if (interval_us < POLL_US_MIN)
		return POLL_US_MIN;
	return interval_us > POLL_US_MAX ? POLL_US_MAX : interval_us;
}

/* Twice the datasheet's maximum, and a second for a host that was busy elsewhere. */
uint64_t spi25_timeout_ns(const struct busy_time *busy)
{
	return 2 * NS_PER_US * busy->max_us + 1000 * NS_PER_MS;
}

int spi25_status_read(const struct spi25 *flash, uint8_t *status)
{
	const uint8_t opcode = OP_STATUS_READ;

	return command(flash, &opcode, 1, status, 1);
}

#ifdef CONFIG_SPI25_TEST_FIXED_WAITS
/*
 * A driver that trusts its delays, for those who test whether short ones get caught: nothing but
 * the wait keeps the next command from a part that is still busy.
 */
static int wait_ready(const struct spi25 *flash, const struct busy_time *busy, const char *what)
{
	(void)what;
	clock_delay_us(flash->clock, (uint32_t)busy->max_us);
	return 0;
}
#else
static int report_stuck(const struct spi25 *flash, const char *what, uint64_t timeout_ns)
{
	log_error(flash->log,
		"The chip is still busy %" PRIu64 " ms after the start of %s: check its supply and "
		"wiring, and that -c names the right chip.\n",
		timeout_ns / NS_PER_MS, what);
	return -ETIMEDOUT;
}

static int report_ready(
	const struct spi25 *flash, const char *what, uint32_t polls, uint32_t interval_us)
{
	log_spew(flash->log,
		"Ready from %s at status read %" PRIu32 ", each %" PRIu32 " us apart.\n", what,
		polls, interval_us);
	return 0;
}

/*
 * Poll until ready. The deadline is looked at before the status, so that the last status read comes
 * after it: a host that slept through the deadline still learns that the part got ready in time.
 */
static int wait_ready(const struct spi25 *flash, const struct busy_time *busy, const char *what)
{
	const uint64_t timeout_ns = spi25_timeout_ns(busy);
	const uint64_t start_ns = clock_now_ns(flash->clock);
	const uint32_t interval_us = spi25_poll_interval_us(busy->typ_us);

	for (uint32_t polls = 1;; polls++) {
		const bool last = clock_now_ns(flash->clock) - start_ns >= timeout_ns;
		uint8_t status;
		const int error = spi25_status_read(flash, &status);

		if (error != 0)
			return error;
		if ((status & STATUS_BUSY) == 0)
			return report_ready(flash, what, polls, interval_us);
		if (last)
			return report_stuck(flash, what, timeout_ns);
		clock_delay_us(flash->clock, interval_us);
	}
}
#endif

/* Write enable, the command itself, and its end. */
static int busy_command(const struct spi25 *flash, const uint8_t *tx, size_t tx_bytes,
	const struct busy_time *busy, const char *what)
{
	int error = simple_command(flash, OP_WRITE_ENABLE);

	if (error == 0)
		error = command(flash, tx, tx_bytes, NULL, 0);
	if (error == 0)
		error = wait_ready(flash, busy, what);
	return error;
}

static int read_id(const struct spi25 *flash, uint32_t *jedec_id)
{
	const uint8_t opcode = OP_JEDEC_ID;
	uint8_t id[3];
	const int error = command(flash, &opcode, 1, id, sizeof(id));

	if (error == 0)
		*jedec_id = (uint32_t)id[0] << 16 | (uint32_t)id[1] << 8 | id[2];
	return error;
}

static bool is_silence(uint32_t jedec_id)
{
	return jedec_id == 0 || jedec_id == SPI25_ID_NOTHING;
}

/* A part that an interrupted session left erasing ignores everything but status reads. */
static int wait_for_earlier_operation(const struct spi25 *flash)
{
	uint8_t status;
	const int error = spi25_status_read(flash, &status);

	if (error != 0 || status == STATUS_FLOATING || (status & STATUS_BUSY) == 0)
		return error;
	log_info(flash->log, "The chip is busy with an earlier operation, waiting for its end.\n");
	return wait_ready(flash, &unknown_operation, "this session");
}

/* Powered down, a part answers to nothing, not even status reads: only here is a wait blind. */
static int wake(const struct spi25 *flash, uint32_t wake_us)
{
	const int error = simple_command(flash, OP_RELEASE_POWER_DOWN);

	if (error == 0)
		clock_delay_us(flash->clock, wake_us);
	return error;
}

int spi25_identify(const struct spi25 *flash, uint32_t wake_us, uint32_t *jedec_id)
{
	uint32_t id;
	int error = wait_for_earlier_operation(flash);

	if (error == 0)
		error = read_id(flash, &id);
	if (error == 0 && is_silence(id)) {
		error = wake(flash, wake_us);
		if (error == 0)
			error = read_id(flash, &id);
	}
	if (error != 0)
		return error;
	if (is_silence(id))
		return -ENODEV;
	*jedec_id = id;
	return 0;
}

int spi25_read(const struct spi25 *flash, uint32_t address, uint8_t *data, size_t bytes)
{
	while (bytes > 0) {
		const size_t chunk = min_size(bytes, flash->programmer->read_bytes_max);
		uint8_t tx[HEADER_BYTES];
		int error;

		put_header(tx, OP_READ, address);
		error = command(flash, tx, sizeof(tx), data, chunk);
		if (error != 0)
			return error;
		address += (uint32_t)chunk;
		data += chunk;
		bytes -= chunk;
	}
	return 0;
}

static int program_within_page(
	const struct spi25 *flash, uint32_t address, const uint8_t *data, size_t bytes)
{
	uint8_t tx[HEADER_BYTES + PAGE_BYTES_MAX];

	put_header(tx, OP_PAGE_PROGRAM, address);
	memcpy(tx + HEADER_BYTES, data, bytes);
	return busy_command(
		flash, tx, HEADER_BYTES + bytes, &flash->chip->page_program, "a page program");
}

int spi25_program(const struct spi25 *flash, uint32_t address, const uint8_t *data, size_t bytes)
{
	const size_t page_bytes = flash->chip->page_bytes;

	assert(page_bytes <= PAGE_BYTES_MAX);
	while (bytes > 0) {
		const size_t room = page_bytes - address % page_bytes;
		const size_t most = flash->programmer->write_bytes_max - HEADER_BYTES;
		const size_t chunk = min_size(bytes, min_size(room, most));
		const int error = program_within_page(flash, address, data, chunk);

		if (error != 0)
			return error;
		address += (uint32_t)chunk;
		data += chunk;
		bytes -= chunk;
	}
	return 0;
}

int spi25_erase(const struct spi25 *flash, const struct chip_erase *erase, uint32_t address)
{
	const bool whole_chip = erase->block_bytes == flash->chip->size_bytes;
	uint8_t tx[HEADER_BYTES];

	assert(address % erase->block_bytes == 0);
	put_header(tx, erase->opcode, address);
	log_debug(flash->log, "Erasing 0x%06" PRIx32 "-0x%06" PRIx32 " with opcode %02x.\n",
		address, address + erase->block_bytes - 1, erase->opcode);
	return busy_command(flash, tx, whole_chip ? 1 : HEADER_BYTES, &erase->busy, "an erase");
}

int spi25_status_write(const struct spi25 *flash, uint8_t status)
{
	const uint8_t opcode = OP_STATUS_2_READ;
	uint8_t tx[3] = {OP_STATUS_WRITE, status};
	size_t tx_bytes = 2;

	if (flash->chip->flags & CHIP_STATUS_TWO_BYTES) {
		const int error = command(flash, &opcode, 1, &tx[2], 1);

		if (error != 0)
			return error;
		tx_bytes = 3;
	}
	return busy_command(
		flash, tx, tx_bytes, &flash->chip->status_write, "a status register write");
}
