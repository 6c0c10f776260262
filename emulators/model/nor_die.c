/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Dies behind one chip select. Their addresses follow each other, and commands without an address
 * go to all of them. The status is that of one die: the last one that began work alone, or the one
 * that C2h chose. Where each die has a chip select, chip_select_die() chooses.
 */
#include <string.h>

#include "spi_nor.h"

static uint32_t die_bytes(const struct part *part)
{
	return part->size_bytes / part->spi->dies.count;
}

static void occupy_one(struct chip *chip, uint32_t address)
{
	struct spi_state *spi = &chip->spi;

	memset(spi->die_until_ns, 0, sizeof(spi->die_until_ns));
	spi->die = (uint8_t)(address / die_bytes(chip->part));
	spi->die_until_ns[spi->die] = UINT64_MAX;
}

/* Each die erases by itself. All but the last one end earlier, at a drawn moment. */
static void occupy_all(struct chip *chip, uint8_t opcode)
{
	uint64_t work_ns = chip->busy_until_ns - chip->busy_since_ns;
	uint8_t last = chip->part->spi->dies.count - 1;

	for (uint8_t die = 0; die < last; die++) {
		const struct corner_use use = {
			.opcode = opcode,
			.address = die * die_bytes(chip->part),
			.count = (uint32_t)chip->work_count,
		};

		chip->spi.die_until_ns[die] =
			chip->busy_since_ns + corner_moment_ns(chip->noise_seed, &use, work_ns);
	}
	chip->spi.die_until_ns[last] = UINT64_MAX;
}

/* A status register write keeps all dies busy to its end. */
void nor_occupy_dies(struct chip *chip, const struct spi_request *request)
{
	const struct chip_pending *pending = &chip->pending;

	if (chip->part->spi->dies.count == 0 || request->facts->work == CHIP_WORK_NONE)
		return;
	if (pending->work == CHIP_WORK_WRITE_STATUS)
		memset(chip->spi.die_until_ns, 0xFF, sizeof(chip->spi.die_until_ns));
	else if (pending->size_bytes == chip->part->size_bytes)
		occupy_all(chip, request->facts->opcode);
	else
		occupy_one(chip, pending->address);
}

void nor_run_select_die(struct chip *chip, const struct spi_request *request)
{
	if (request->data[0] < chip->part->spi->dies.count)
		chip->spi.die = request->data[0];
}

void chip_select_die(struct chip *chip, uint32_t address)
{
	if (chip->part->spi && chip->part->spi->dies.by_chip_select)
		chip->spi.die = (uint8_t)(address % chip->part->size_bytes / die_bytes(chip->part));
}

bool nor_has_dies(const struct part *part, uint8_t opcode)
{
	(void)opcode;
	return part->spi->dies.count > 0 && !part->spi->dies.by_chip_select;
}
