/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>

#include "sfdp.h"
#include "spi25.h"

#define OP_SFDP_READ 0x5a

/* Parts have three or four parameter headers; the first is that of a basic table. */
#define HEADERS_MAX 16

/* Eight clocks come between the address and the first byte. */
static int sfdp_read_once(struct flash *flash, uint32_t address, uint8_t *data, size_t bytes)
{
	const uint8_t tx[] = {OP_SFDP_READ, (uint8_t)(address >> 16), (uint8_t)(address >> 8),
		(uint8_t)address, 0};

	return spi_command(flash, tx, sizeof(tx), data, bytes);
}

static int sfdp_read(struct flash *flash, uint32_t address, uint8_t *data, size_t bytes)
{
	const size_t most = flash->programmer->read_bytes_max;
	int error = 0;

	for (size_t at = 0; at < bytes && error == 0; at += most) {
		const size_t chunk = bytes - at < most ? bytes - at : most;

		error = sfdp_read_once(flash, address + (uint32_t)at, data + at, chunk);
	}
	return error;
}

/* RDID comes first because it also waits for the part, and wakes it. */
static int ask_sfdp(struct flash *flash, const struct flash_chip *chip, uint32_t *id)
{
	uint8_t header[SFDP_HEADER_BYTES];
	int error = spi25_rdid.ask(flash, chip, id);

	if (error == 0)
		error = sfdp_read(flash, 0, header, sizeof(header));
	if (error == 0)
		*id = sfdp_header_count(header) > 0 ? SPI25_SFDP_ID : 0;
	return error;
}

static int report_no_use(const struct flash *flash, int error, const char *why)
{
	log_error(flash->log, "The chip describes itself (SFDP), but %s. Name it with -c.\n", why);
	return error;
}

/* Finds the longest basic table. A part may have several, for old and for new readers. */
static int find_table(struct flash *flash, struct sfdp_table *longest)
{
	uint8_t header[SFDP_HEADER_BYTES];
	int error = sfdp_read(flash, 0, header, sizeof(header));
	const unsigned int count = error == 0 ? sfdp_header_count(header) : 0;

	*longest = (struct sfdp_table){0};
	for (unsigned int i = 0; i < count && i < HEADERS_MAX && error == 0; i++) {
		struct sfdp_table table;

		error = sfdp_read(flash, (i + 1) * SFDP_HEADER_BYTES, header, sizeof(header));
		if (error == 0 && sfdp_parse_header(header, &table) == 0 &&
			table.bytes > longest->bytes)
			*longest = table;
	}
	return error;
}

static int describe(struct flash *flash, struct flash_chip *chip)
{
	uint8_t bytes[SFDP_TABLE_BYTES_MAX];
	struct sfdp_table table;
	const char *why;
	int error = find_table(flash, &table);

	if (error == 0 && table.bytes > 0)
		error = sfdp_read(flash, table.address, bytes, table.bytes);
	if (error != 0)
		return error;
	error = sfdp_parse_table(bytes, table.bytes, chip, &why);
	return error == 0 ? 0 : report_no_use(flash, error, why);
}

const struct identify_method spi25_sfdp = {
	.ask = ask_sfdp,
	.describe = describe,
	.last_resort = true,
};
