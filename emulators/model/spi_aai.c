/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * SST25VF parts: single bytes by 02h, or words one after the other by ADh, whose address counts up
 * until 04h (auto address increment). Their status register is volatile and changes at once.
 */
#include <string.h>

#include "spi_command.h"

#define STATUS_AAI 0x40
#define WORD_BYTES 2u

static void program(struct chip *chip, uint32_t address, const struct spi_request *request)
{
	struct chip_pending work = {.work = CHIP_WORK_PROGRAM, .address = address};

	memcpy(chip_latch(chip, address, (uint32_t)request->data_len, false), request->data,
		request->data_len);
	chip_start_work(chip, request->transfer->end_ns, &work, &chip->part->spi->page_program,
		request->facts);
}

static void run_byte_program(struct chip *chip, const struct spi_request *request)
{
	if (!spi_refuses(chip, request->facts->address, 1, request->facts))
		program(chip, request->facts->address, request);
}

static void program_word(struct chip *chip, uint32_t address, const struct spi_request *word)
{
	word->facts->has_address = true;
	word->facts->address = address;
	if (spi_refuses(chip, address, WORD_BYTES, word->facts)) {
		chip->spi.aai = false;
		return;
	}
	program(chip, address, word);
	chip->spi.aai = true;
	chip->spi.aai_address = address + WORD_BYTES;
}

/* The first word comes with its address, which is even; the others come without. */
static void run_first_word(struct chip *chip, const struct spi_request *request)
{
	struct spi_request word = *request;
	uint32_t address;

	if (request->data_len != 3 + WORD_BYTES) {
		request->facts->rule = CHIP_RULE_LENGTH;
		return;
	}
	address = (uint32_t)request->data[0] << 16 | (uint32_t)request->data[1] << 8 |
		  request->data[2];
	if (address % WORD_BYTES != 0) {
		request->facts->rule = CHIP_RULE_AAI;
		return;
	}
	word.data += 3;
	word.data_len = WORD_BYTES;
	program_word(chip, address % chip->part->size_bytes, &word);
}

static void run_aai_program(struct chip *chip, const struct spi_request *request)
{
	if (!chip->spi.aai)
		run_first_word(chip, request);
	else if (request->data_len != WORD_BYTES)
		request->facts->rule = CHIP_RULE_LENGTH;
	else
		program_word(chip, chip->spi.aai_address, request);
}

static void run_write_disable(struct chip *chip, const struct spi_request *request)
{
	spi_run_write_enable(chip, request);
	chip->spi.aai = false;
}

static uint8_t status(const struct chip *chip)
{
	return spi_status(chip) | (chip->spi.aai ? STATUS_AAI : 0);
}

#define WRITES SPI_NEEDS_WRITE_ENABLE
#define ANY SPI_DATA_ANY

/* Opcode, name, address and dummy bytes, when, part_has, fewest and most data bytes, reply, run. */
static const struct spi_command commands[] = {
	{0x9F, "RDID", 0, 0, 0, spi_has_rdid, 0, ANY, spi_reply_rdid, NULL},
	{0x90, "REMS", 3, 0, 0, spi_has_rems, 0, ANY, spi_reply_rems, NULL},
	{0xAB, "RES", 3, 0, 0, spi_has_rems, 0, ANY, spi_reply_rems, NULL},
	{0x05, "RDSR", 0, 0, SPI_WHILE_BUSY | SPI_WHILE_AAI, NULL, 0, ANY, spi_reply_family_status,
		NULL},
	{0x50, "EWSR", 0, 0, SPI_BEGINS_WRITE, NULL, 0, 0, NULL, spi_run_status_enable},
	{0x01, "WRSR", 0, 0, SPI_NEEDS_STATUS_ENABLE, NULL, 1, 1, NULL, spi_run_write_status},
	{0x06, "WREN", 0, 0, SPI_BEGINS_WRITE, NULL, 0, 0, NULL, spi_run_write_enable},
	{0x04, "WRDI", 0, 0, SPI_WHILE_AAI, NULL, 0, 0, NULL, run_write_disable},
	/* EBSY makes the SO pin show the end of a word program, which is not modelled. */
	{0x70, "EBSY", 0, 0, 0, NULL, 0, 0, NULL, NULL},
	{0x80, "DBSY", 0, 0, 0, NULL, 0, 0, NULL, NULL},
	{0x03, "READ", 3, 0, 0, NULL, 0, ANY, spi_reply_array, NULL},
	{0x0B, "FAST_READ", 3, 1, 0, NULL, 0, ANY, spi_reply_array, NULL},
	{0x02, "BP", 3, 0, WRITES, NULL, 1, 1, NULL, run_byte_program},
	{0xAD, "AAI", 0, 0, WRITES | SPI_WHILE_AAI, NULL, WORD_BYTES, ANY, NULL, run_aai_program},
	{0x20, "SE", 3, 0, WRITES, part_has_erase, 0, 0, NULL, spi_run_erase},
	{0x52, "BE32", 3, 0, WRITES, part_has_erase, 0, 0, NULL, spi_run_erase},
	{0xD8, "BE64", 3, 0, WRITES, part_has_erase, 0, 0, NULL, spi_run_erase},
	{0xC7, "CE", 0, 0, WRITES, part_has_erase, 0, 0, NULL, spi_run_erase},
	{0x60, "CE", 0, 0, WRITES, part_has_erase, 0, 0, NULL, spi_run_erase},
};

/* WEL stays set from word to word; the last word of the part clears it. */
static void finish(struct chip *chip, bool cut_off)
{
	if (chip->spi.aai && !cut_off && chip->spi.aai_address < chip->part->size_bytes)
		return;
	chip->spi.aai = false;
	chip->spi.write_enabled = false;
}

const struct family family_spi_aai = {
	.init = spi_init,
	.power_up = spi_power_up,
	.opens_status_once = true,
	.commands = commands,
	.command_count = sizeof(commands) / sizeof(commands[0]),
	.finish = finish,
	.status = status,
};
