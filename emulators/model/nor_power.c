/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <string.h>

#include "spi_nor.h"

#define OP_RESET_F0 0xF0

void nor_run_reset_enable(struct chip *chip, const struct spi_request *request)
{
	(void)request;
	chip->spi.reset_enabled = true;
}

static struct figure reset_wait(const struct part_spi *part, enum chip_work cut_off)
{
	switch (cut_off) {
	case CHIP_WORK_PROGRAM:
		return part->soft_reset_during_program;
	case CHIP_WORK_ERASE:
		return part->soft_reset_during_erase;
	case CHIP_WORK_WRITE_STATUS:
		return part->soft_reset_during_write_status;
	default:
		return part->soft_reset;
	}
}

/*
 * Resets registers and modes as power-up does, without its waits. Locks beside ranges are set again
 * (Winbond); other locks stay (SST26).
 */
static void forget_modes(struct chip *chip)
{
	struct spi_state fresh = {.locks_held = chip->spi.locks_held};

	memcpy(fresh.status, chip->spi.status_stored, sizeof(fresh.status));
	memcpy(fresh.status_stored, chip->spi.status_stored, sizeof(fresh.status_stored));
	memcpy(fresh.locks, chip->spi.locks, sizeof(fresh.locks));
	chip->spi = fresh;
	if (chip->part->spi->protection.kind == PROTECTION_RANGES)
		spi_lock_all(chip, true);
}

static void reset(struct chip *chip, uint64_t end_ns)
{
	struct figure wait = reset_wait(chip->part->spi, chip->pending.work);

	chip_abort_work(chip, end_ns);
	nor_drop_suspended(chip);
	forget_modes(chip);
	chip_owe(chip, end_ns, wait, CHIP_RULE_RESET);
}

/* 99h needs 66h before it, F0h nothing. */
void nor_run_reset(struct chip *chip, const struct spi_request *request)
{
	if (chip->spi.reset_enabled || request->facts->opcode == OP_RESET_F0)
		reset(chip, request->transfer->end_ns);
}

bool nor_has_power_down(const struct part *part, uint8_t opcode)
{
	(void)opcode;
	return part->spi->deep_power_down.ns > 0;
}

bool nor_has_release(const struct part *part, uint8_t opcode)
{
	return part->spi->has_res || nor_has_power_down(part, opcode);
}

bool nor_has_reset(const struct part *part, uint8_t opcode)
{
	(void)opcode;
	return part->spi->soft_reset.ns > 0 && !(part->spi->features & SPI_HAS_RESET_F0);
}
