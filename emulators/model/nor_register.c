/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Registers by their addresses (S25FS-S): the stored ones, and from 800000h on those in force. */
#include "spi_nor.h"

#define IN_FORCE 0x800000u

/* Returns the index of the register at @address, or status_count if there is none. */
static size_t register_at(const struct part_spi *part, uint32_t address)
{
	size_t index = 0;

	while (index < part->status_count && part->status[index].address != (address & ~IN_FORCE))
		index++;
	return index;
}

/* Replies zeros where there is no register. */
void nor_reply_register(struct chip *chip, const struct spi_request *request)
{
	uint32_t address = request->facts->address;
	size_t index = register_at(chip->part->spi, address);
	uint8_t value = 0;

	if (index < chip->part->spi->status_count)
		value = address & IN_FORCE ? spi_status_register(chip, index)
					   : chip->spi.status_stored[index];
	spi_reply_repeating(request, &value, 1, 0);
}

/* Writes a register in force at once. A stored one takes time, and effect at the next reset. */
void nor_run_write_register(struct chip *chip, const struct spi_request *request)
{
	const struct part_spi *part = chip->part->spi;
	struct chip_pending work = {.work = CHIP_WORK_WRITE_STATUS};
	size_t index = register_at(part, request->facts->address);

	if (index == part->status_count) {
		request->facts->rule = CHIP_RULE_REGION;
		return;
	}
	if (request->facts->address & IN_FORCE) {
		spi_set_bits(&chip->spi.status[index], part->status[index].writable_mask,
			request->data[0]);
		chip->spi.write_enabled = false;
		return;
	}
	spi_prepare_pending(chip);
	spi_set_bits(&chip->spi.stored_pending[index], part->status[index].writable_mask,
		request->data[0]);
	chip_start_work(
		chip, request->transfer->end_ns, &work, &part->write_status, request->facts);
}
