/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * SPI EEPROM (M95M02-DR): it has no erase, a write replaces bytes inside one page, and the client
 * reads an identification page instead of RDID.
 */
#include "spi_command.h"

static void run_write(struct chip *chip, const struct spi_request *request)
{
	struct chip_pending work = {.work = CHIP_WORK_PROGRAM, .address = request->facts->address};
	uint32_t page_bytes = chip->part->page_bytes;
	uint32_t offset = request->facts->address % page_bytes;
	uint8_t *latch;

	if (spi_refuses(chip, request->facts->address, 1, request->facts))
		return;
	latch = chip_latch(chip, request->facts->address - offset, page_bytes, true);
	for (size_t i = 0; i < request->data_len; i++)
		latch[(offset + i) % page_bytes] = request->data[i];
	chip_start_work(chip, request->transfer->end_ns, &work, &chip->part->spi->page_program,
		request->facts);
}

/* Replies with the identification page of a new part: RDID of the chip file, then erased bytes. */
static void reply_ident(struct chip *chip, const struct spi_request *request)
{
	const struct part_spi *part = chip->part->spi;
	const struct chip_transfer *transfer = request->transfer;

	for (size_t i = 0; i < transfer->reply_len; i++) {
		size_t offset = (request->facts->address + request->replied_len + i) %
				chip->part->page_bytes;

		if (offset < part->rdid_len)
			transfer->reply[i] = part->rdid[offset];
	}
}

#define ANY SPI_DATA_ANY

/* Opcode, name, address and dummy bytes, when, part_has, fewest and most data bytes, reply, run. */
static const struct spi_command commands[] = {
	{0x83, "RDID", 3, 0, SPI_ANY_ADDRESS, NULL, 0, ANY, reply_ident, NULL},
	{0x05, "RDSR", 0, 0, SPI_WHILE_BUSY, NULL, 0, ANY, spi_reply_status, NULL},
	{0x01, "WRSR", 0, 0, SPI_NEEDS_WRITE_ENABLE, NULL, 1, 1, NULL, spi_run_write_status},
	{0x06, "WREN", 0, 0, SPI_BEGINS_WRITE, NULL, 0, 0, NULL, spi_run_write_enable},
	{0x04, "WRDI", 0, 0, 0, NULL, 0, 0, NULL, spi_run_write_enable},
	{0x03, "READ", 3, 0, 0, NULL, 0, ANY, spi_reply_array, NULL},
	{0x02, "WRITE", 3, 0, SPI_NEEDS_WRITE_ENABLE, NULL, 1, ANY, NULL, run_write},
};

static void finish(struct chip *chip, bool cut_off)
{
	if (chip->pending.work == CHIP_WORK_WRITE_STATUS)
		spi_status_finish(chip, cut_off);
	chip->spi.write_enabled = false;
}

const struct family family_spi_eeprom = {
	.init = spi_init,
	.power_up = spi_power_up,
	.commands = commands,
	.command_count = sizeof(commands) / sizeof(commands[0]),
	.finish = finish,
	.status = spi_status,
};
