/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * JESD216 gives times from revision A on (double words 10 and 11). Older parts get slow times,
 * which is harmless, because operations are polled.
 */
#include "sfdp.h"

#include <errno.h>
#include <string.h>

#include "spi25.h"

#define DWORD_BYTES 4
#define DWORDS_MIN 9 /* in the first revision */

#define SIZE_3_BYTE_ADDRESSES (UINT32_C(16) << 20)
#define SIZE_UNIT_BYTES 4096
#define PAGE_BYTES 256

#define ID_BASIC 0xff00
#define MAJOR 1

/* A table, whose double words count from 1, as in the standard. */
struct reader {
	const uint8_t *table;
	size_t bytes;
};

static uint32_t dword(const struct reader *reader, unsigned int number)
{
	const size_t at = (size_t)(number - 1) * DWORD_BYTES;
	uint32_t value = 0;

	if (at + DWORD_BYTES > reader->bytes)
		return 0;
	for (size_t i = DWORD_BYTES; i-- > 0;)
		value = value << 8 | reader->table[at + i];
	return value;
}

static bool has_dword(const struct reader *reader, unsigned int number)
{
	return (size_t)number * DWORD_BYTES <= reader->bytes;
}

static uint32_t bits(uint32_t value, unsigned int high, unsigned int low)
{
	return value >> low & ((UINT32_C(1) << (high - low + 1)) - 1);
}

unsigned int sfdp_header_count(const uint8_t header[SFDP_HEADER_BYTES])
{
	if (memcmp(header, "SFDP", 4) != 0 || header[5] != MAJOR)
		return 0;
	return header[6] + 1u;
}

int sfdp_parse_header(const uint8_t header[SFDP_HEADER_BYTES], struct sfdp_table *table)
{
	const unsigned int id = (unsigned int)header[7] << 8 | header[0];
	const size_t bytes = (size_t)header[3] * DWORD_BYTES;

	if (id != ID_BASIC || header[2] != MAJOR)
		return -ENOENT;
	table->address = (uint32_t)header[6] << 16 | (uint32_t)header[5] << 8 | header[4];
	table->bytes = bytes < SFDP_TABLE_BYTES_MAX ? bytes : SFDP_TABLE_BYTES_MAX;
	return 0;
}

/* Returns 0 if the size is not a whole number of bytes, or exceeds 32 bits. */
static uint32_t size_bytes_of(uint32_t density)
{
	const uint32_t exponent = bits(density, 30, 0);

	if (bits(density, 31, 31) != 0)
		return exponent >= 3 && exponent <= 34 ? UINT32_C(1) << (exponent - 3) : 0;
	return density % 8 == 7 ? density / 8 + 1 : 0;
}

static struct busy_time with_multiplier(uint32_t typ_us, uint32_t multiplier)
{
	return (struct busy_time){typ_us, typ_us * 2 * (multiplier + 1)};
}

static uint32_t counted_us(uint32_t count, const uint32_t *units_us, uint32_t unit)
{
	return (count + 1) * units_us[unit];
}

/* Each type has five bits of count and two of unit, the first type from bit 4 on. */
static struct busy_time erase_time(const struct reader *reader, unsigned int type)
{
	static const uint32_t units_us[] = {1000, 16000, 128000, 1000000};
	const uint32_t times = dword(reader, 10);
	const unsigned int low = 4 + 7 * type;
	const uint32_t typ_us =
		counted_us(bits(times, low + 4, low), units_us, bits(times, low + 6, low + 5));

	return with_multiplier(typ_us, bits(times, 3, 0));
}

/* Returns the time of slow parts, for a part that gives none. Larger blocks take longer. */
static struct busy_time erase_time_guess(uint32_t block_bytes)
{
	const uint32_t typ_us = 100000 + block_bytes / 4096 * 40000;

	return (struct busy_time){typ_us, 10 * typ_us};
}

/* The chip erase (C7h) is no erase type; its time is in the next double word. */
static struct busy_time chip_erase_time(const struct reader *reader, uint32_t size_bytes)
{
	static const uint32_t units_us[] = {16000, 256000, 4000000, 64000000};
	const uint32_t times = dword(reader, 11);
	const uint32_t typ_us = counted_us(bits(times, 28, 24), units_us, bits(times, 30, 29));
	const uint32_t blocks = size_bytes / 65536 + 1;
	const uint64_t max_us = (uint64_t)typ_us * 2 * (bits(dword(reader, 10), 3, 0) + 1);

	if (!has_dword(reader, 11))
		return (struct busy_time){blocks * 500000, blocks * 3000000};
	return (struct busy_time){typ_us, max_us < UINT32_MAX ? (uint32_t)max_us : UINT32_MAX};
}

static void fill_program(const struct reader *reader, struct flash_chip *chip)
{
	static const uint32_t units_us[] = {8, 64};
	const uint32_t times = dword(reader, 11);
	const uint32_t page_bytes = UINT32_C(1) << bits(times, 7, 4);

	chip->page_bytes = PAGE_BYTES;
	chip->program = (struct busy_time){1500, 10000};
	if (!has_dword(reader, 11))
		return;
	/* A larger page may be programmed in pieces, so PAGE_BYTES is right for it. */
	if (page_bytes < PAGE_BYTES || page_bytes == SPI25_PAGE_BYTES_MAX)
		chip->page_bytes = page_bytes;
	chip->program = with_multiplier(
		counted_us(bits(times, 12, 8), units_us, bits(times, 13, 13)), bits(times, 3, 0));
}

static size_t insert_place(const struct flash_chip *chip, uint32_t block_bytes)
{
	size_t at = 0;

	while (at < chip_erase_count(chip) && chip->erase[at].block_bytes < block_bytes)
		at++;
	return at;
}

/* Keeps block sizes in rising order, and of two commands for one size the first. */
static void insert_erase(struct flash_chip *chip, const struct chip_erase *erase)
{
	const size_t count = chip_erase_count(chip);
	const size_t at = insert_place(chip, erase->block_bytes);

	if (at < count && chip->erase[at].block_bytes == erase->block_bytes)
		return;
	memmove(&chip->erase[at + 1], &chip->erase[at], (count - at) * sizeof(*erase));
	chip->erase[at] = *erase;
}

/* Skips unused types (exponent 0), unusable sizes, and the whole part, which C7h erases. */
static void fill_erase(const struct reader *reader, unsigned int type, struct flash_chip *chip)
{
	const uint32_t field = dword(reader, 8 + type / 2) >> (16 * (type % 2));
	const uint32_t exponent = bits(field, 7, 0);
	const uint32_t block_bytes = UINT32_C(1) << exponent % 32;

	if (exponent == 0 || exponent >= 32 || block_bytes < chip->page_bytes ||
		block_bytes >= chip->size_bytes || chip->size_bytes % block_bytes != 0)
		return;
	insert_erase(chip, &(struct chip_erase){
				   .opcode = (uint8_t)bits(field, 15, 8),
				   .block_bytes = block_bytes,
				   .busy = has_dword(reader, 10) ? erase_time(reader, type)
								 : erase_time_guess(block_bytes),
			   });
}

static void fill_erases(const struct reader *reader, struct flash_chip *chip)
{
	memset(chip->erase, 0, sizeof(chip->erase));
	for (unsigned int type = 0; type < 4; type++)
		fill_erase(reader, type, chip);
	insert_erase(chip, &(struct chip_erase){
				   .opcode = 0xc7,
				   .block_bytes = chip->size_bytes,
				   .busy = chip_erase_time(reader, chip->size_bytes),
			   });
}

/* B7h is used if the table does not say how to enter the mode. A write enable is harmless. */
static int fill_addresses(const struct reader *reader, struct flash_chip *chip, const char **why)
{
	const uint32_t address_bytes = bits(dword(reader, 1), 18, 17);
	const uint32_t ways = bits(dword(reader, 16), 31, 24);
	const bool enters = !has_dword(reader, 16) || (ways & 0x03) != 0;

	chip->spi25.mode_write_enable = true;
	if (address_bytes == 2 || (ways & 0x40) != 0)
		chip->spi25.addresses = SPI25_ADDRESS_4_ALWAYS;
	else if (chip->size_bytes > SIZE_3_BYTE_ADDRESSES)
		chip->spi25.addresses = SPI25_ADDRESS_4_MODE;
	if (chip->spi25.addresses != SPI25_ADDRESS_4_MODE || (enters && address_bytes == 1))
		return 0;
	*why = "it takes addresses of four bytes in none of the ways known here";
	return -ENOTSUP;
}

/* Quad enable requirements 1, 4 and 5 put QE into a second register that 01h writes. */
static void fill_status(const struct reader *reader, struct flash_chip *chip)
{
	const uint32_t quad = bits(dword(reader, 15), 22, 20);

	chip->spi25.status_write = (struct busy_time){10000, 200000};
	chip->spi25.protect_mask = 0x3c;
	chip->spi25.status_two_bytes = quad == 1 || quad == 4 || quad == 5;
}

static int fill_size(const struct reader *reader, struct flash_chip *chip, const char **why)
{
	chip->size_bytes = size_bytes_of(dword(reader, 2));
	if (chip->size_bytes == 0 || chip->size_bytes % SIZE_UNIT_BYTES != 0) {
		*why = "its size makes no sense";
		return -EINVAL;
	}
	if (chip->size_bytes <= CHIP_BYTES_MAX)
		return 0;
	*why = "it is larger than 64 MiB";
	return -ENOTSUP;
}

int sfdp_parse_table(const uint8_t *table, size_t bytes, struct flash_chip *chip, const char **why)
{
	const struct reader reader = {table, bytes};
	int error;

	*why = "its table is too short";
	if (!has_dword(&reader, DWORDS_MIN))
		return -EINVAL;
	error = fill_size(&reader, chip, why);
	if (error == 0)
		error = fill_addresses(&reader, chip, why);
	if (error != 0)
		return error;
	fill_program(&reader, chip);
	fill_erases(&reader, chip);
	fill_status(&reader, chip);
	return 0;
}

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
