/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "spi_nor.h"

#define OP_ENTER_FOUR_BYTE 0xB7

/* The bank register of S25FL-S. */
#define BANK_FOUR_BYTE 0x80 /* EXTADD */
#define BANK_ADDRESS 0x03   /* A25 and A24 */

void nor_run_four_byte(struct chip *chip, const struct spi_request *request)
{
	chip->spi.four_byte_mode = request->facts->opcode == OP_ENTER_FOUR_BYTE;
}

void nor_reply_extended(struct chip *chip, const struct spi_request *request)
{
	spi_reply_repeating(request, &chip->spi.address_high, 1, 0);
}

static uint8_t high_mask(const struct part *part)
{
	return (uint8_t)((part->size_bytes - 1) >> 24);
}

/* The register is volatile and changes at once. */
void nor_run_write_extended(struct chip *chip, const struct spi_request *request)
{
	chip->spi.address_high = request->data[0] & high_mask(chip->part);
	chip->spi.write_enabled = false;
}

void nor_reply_bank(struct chip *chip, const struct spi_request *request)
{
	uint8_t bank = chip->spi.address_high;

	if (chip->spi.four_byte_mode)
		bank |= BANK_FOUR_BYTE;
	spi_reply_repeating(request, &bank, 1, 0);
}

void nor_run_write_bank(struct chip *chip, const struct spi_request *request)
{
	if (request->data_len != 1) {
		request->facts->rule = CHIP_RULE_LENGTH;
		return;
	}
	chip->spi.four_byte_mode = request->data[0] & BANK_FOUR_BYTE;
	chip->spi.address_high = request->data[0] & BANK_ADDRESS;
}

void nor_run_bank_access(struct chip *chip, const struct spi_request *request)
{
	(void)request;
	chip->spi.bank_access = true;
}
