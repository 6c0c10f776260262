/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Fuzzes the reader of SFDP: any bytes must give a chip that the drivers can use, or an error.
 *
 * An input is the programmer's longest read, and the bytes that 5Ah reads from address 0 on.
 * The same bytes are then parsed as a table.
 */
#include "chip_checks.h"
#include "flash.h"
#include "fakes.h"
#include "sfdp.h"

struct part {
	struct programmer base; /* must be the first field */
	uint64_t now_ns;
	const uint8_t *bytes;
	size_t size;
};

static int part_command(struct programmer *programmer, const uint8_t *tx, size_t tx_bytes,
	uint8_t *rx, size_t rx_bytes)
{
	const struct part *part = (const struct part *)programmer;
	size_t address = 0;

	memset(rx, tx[0] == 0x9f ? 0x12 : 0x00, rx_bytes);
	if (tx[0] != 0x5a)
		return 0;
	FUZZ_CHECK(tx_bytes == 5 && rx_bytes <= programmer->read_bytes_max);
	address = (size_t)tx[1] << 16 | (size_t)tx[2] << 8 | tx[3];
	for (size_t i = 0; i < rx_bytes; i++)
		rx[i] = address + i < part->size ? part->bytes[address + i] : 0xff;
	return 0;
}

static void describe(struct part *part)
{
	const struct clock clock = fake_clock(&part->now_ns);
	const struct log log = fake_log();
	const struct flash_chip generic = {.driver = &spi25_driver, .identify = &spi25_sfdp};
	struct flash flash;
	uint32_t id;

	flash_init(&flash, &part->base, &clock, &log);
	flash.described = generic;
	if (spi25_sfdp.ask(&flash, &generic, &id) != 0 || id != SPI25_SFDP_ID)
		return;
	if (spi25_sfdp.describe(&flash, &flash.described) == 0)
		check_sfdp_chip(&flash.described);
}

/* Parses a heap copy of the bytes: ASan sees any read beyond it. */
static void parse(const uint8_t *data, size_t size)
{
	struct flash_chip chip = {0};
	const char *why = NULL;
	uint8_t *table = malloc(size);

	if (size > 0)
		memcpy(table, data, size);
	if (sfdp_parse_table(table, size, &chip, &why) == 0)
		check_sfdp_chip(&chip);
	else
		FUZZ_CHECK(why != NULL);
	free(table);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct programmer_ops ops = {.spi_command = part_command};
	struct fuzz_input input = {.data = data, .left = size};
	size_t read_bytes_max = 1u + fuzz_u8(&input);
	struct part part = {
		.base = {.name = "fuzz", .ops = &ops, .buses = BUS_SPI, .write_bytes_max = 5},
		.bytes = input.data,
		.size = input.left,
	};

	part.base.read_bytes_max = read_bytes_max;
	describe(&part);
	parse(input.data, input.left < SFDP_TABLE_BYTES_MAX ? input.left : SFDP_TABLE_BYTES_MAX);
	return 0;
}
