/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "spi_nor.h"

/* The bank register of S25FL-S. */
#define BANK_FOUR_BYTE 0x80 /* EXTADD */
#define BANK_ADDRESS 0x03   /* A25 and A24 */

void nor_run_enter_four_byte(
	struct chip *chip, const struct spi_request *request, struct chip_facts *facts)
{
	(void)request;
	(void)facts;
	chip->spi.four_byte_mode = true;
}

void nor_run_exit_four_byte(
	struct chip *chip, const struct spi_request *request, struct chip_facts *facts)
{
	(void)request;
	(void)facts;
	chip->spi.four_byte_mode = false;
}

void nor_run_read_extended(
	struct chip *chip, const struct spi_request *request, struct chip_facts *facts)
{
	(void)facts;
	spi_reply_repeating(request, &chip->spi.address_high, 1, 0);
}

static uint8_t high_mask(const struct part *part)
{
	return (uint8_t)((part->size_bytes - 1) >> 24);
}

/* Volatile, and at once. */
void nor_run_write_extended(
	struct chip *chip, const struct spi_request *request, struct chip_facts *facts)
{
	(void)facts;
	chip->spi.address_high = request->data[0] & high_mask(chip->part);
	chip->spi.write_enabled = false;
}

void nor_run_read_bank(
	struct chip *chip, const struct spi_request *request, struct chip_facts *facts)
{
	uint8_t bank = chip->spi.address_high;

	(void)facts;
	if (chip->spi.four_byte_mode)
		bank |= BANK_FOUR_BYTE;
	spi_reply_repeating(request, &bank, 1, 0);
}

void nor_run_write_bank(
	struct chip *chip, const struct spi_request *request, struct chip_facts *facts)
{
	if (request->data_len != 1) {
		facts->rule = CHIP_RULE_LENGTH;
		return;
	}
	chip->spi.four_byte_mode = request->data[0] & BANK_FOUR_BYTE;
	chip->spi.address_high = request->data[0] & BANK_ADDRESS;
}

void nor_run_bank_access(
	struct chip *chip, const struct spi_request *request, struct chip_facts *facts)
{
	(void)request;
	(void)facts;
	chip->spi.bank_access = true;
}

bool nor_has_four_byte_mode(const struct part *part, uint8_t opcode)
{
	(void)opcode;
	return part->spi->features & SPI_HAS_FOUR_BYTE_MODE;
}

bool nor_has_extended_address(const struct part *part, uint8_t opcode)
{
	(void)opcode;
	return part->spi->features & SPI_HAS_EXTENDED_ADDRESS;
}

bool nor_has_bank_register(const struct part *part, uint8_t opcode)
{
	(void)opcode;
	return part->spi->features & SPI_HAS_BANK_REGISTER;
}
