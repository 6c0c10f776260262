/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "spi_nor.h"

static bool can_suspend(const struct chip *chip)
{
	if (chip->spi.suspended.open)
		return false;
	if (chip->pending.work == CHIP_WORK_PROGRAM)
		return chip->part->spi->suspend.programs;
	return chip->pending.work == CHIP_WORK_ERASE &&
	       chip->pending.size_bytes < chip->part->size_bytes;
}

static void put_aside(struct chip *chip, uint64_t now_ns)
{
	chip->spi.suspended = (struct spi_suspended){
		.open = true,
		.is_erase = chip->pending.work == CHIP_WORK_ERASE,
		.address = chip->pending.address,
		.size_bytes = chip->pending.size_bytes,
		.left = {.ns = chip->busy_until_ns - now_ns, .grade = chip->debt.grade},
	};
}

/* Has no effect on work other than a program or the erase of a block. */
void nor_run_suspend(struct chip *chip, const struct spi_request *request)
{
	struct chip_pending work = {.work = CHIP_WORK_SUSPEND};
	uint64_t end_ns = request->transfer->end_ns;

	if (!can_suspend(chip) || end_ns >= chip->busy_until_ns)
		return;
	put_aside(chip, end_ns);
	chip->spi.write_enabled = false;
	chip_start_fixed_work(chip, end_ns, &work, chip->part->spi->suspend_latency,
		CHIP_RULE_SUSPEND, request->facts);
}

static struct chip_pending work_of(const struct spi_suspended *suspended)
{
	return (struct chip_pending){
		.work = suspended->is_erase ? CHIP_WORK_ERASE : CHIP_WORK_PROGRAM,
		.address = suspended->address,
		.size_bytes = suspended->size_bytes,
	};
}

void nor_run_resume(struct chip *chip, const struct spi_request *request)
{
	struct spi_suspended *suspended = &chip->spi.suspended;
	struct chip_pending work = work_of(suspended);

	if (!suspended->open || suspended->is_deaf)
		return;
	suspended->open = false;
	chip_start_fixed_work(chip, request->transfer->end_ns, &work, suspended->left,
		CHIP_RULE_BUSY, request->facts);
}

void nor_drop_suspended(struct chip *chip)
{
	struct chip_pending work = work_of(&chip->spi.suspended);

	if (chip->spi.suspended.open)
		chip_leave_halfway(chip, &work, 0);
	chip->spi.suspended.open = false;
}

bool nor_has_suspend(const struct part *part, uint8_t opcode)
{
	return part->spi->suspend.opcode == opcode;
}

bool nor_has_resume(const struct part *part, uint8_t opcode)
{
	return part->spi->suspend.resume_opcode == opcode;
}
