/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "spi_command.h"

#include <string.h>

/* The bits that show and change the locks of PROTECTION_GLOBAL (AT25DF641, "global protect"). */
#define GLOBAL_LOCKED 0x0C
#define GLOBAL_SOME_LOCKED 0x04
#define GLOBAL_MASK 0x3C
#define GLOBAL_REGISTER_LOCK 0x80

#define LOCKS_HELD 0x10 /* WPLD of SST26 */

static size_t index_of(const struct part_spi *part, uint8_t opcode)
{
	size_t index = 0;

	while (index < part->status_count && part->status[index].read_opcode != opcode &&
		part->status[index].write_opcode != opcode)
		index++;
	return index;
}

bool spi_has_status(const struct part *part, uint8_t opcode)
{
	return index_of(part->spi, opcode) < part->spi->status_count;
}

static uint8_t flag_bits(const struct part_flag *flag, size_t index, bool on)
{
	return on && flag->index == index ? flag->mask : 0;
}

static uint8_t suspend_bits(const struct chip *chip, size_t index)
{
	const struct part_suspend *part = &chip->part->spi->suspend;
	const struct spi_suspended *suspended = &chip->spi.suspended;
	bool on = suspended->open && chip->pending.work != CHIP_WORK_SUSPEND;

	return flag_bits(&part->erase_flag, index, on && suspended->is_erase) |
	       flag_bits(&part->program_flag, index, on && !suspended->is_erase);
}

static uint8_t lock_bits(const struct chip *chip)
{
	bool all;

	switch (chip->part->spi->protection.kind) {
	case PROTECTION_GLOBAL:
		if (!spi_some_locked(chip, &all))
			return 0;
		return all ? GLOBAL_LOCKED : GLOBAL_SOME_LOCKED;
	case PROTECTION_UNLOCK:
		return chip->spi.locks_held ? LOCKS_HELD : 0;
	default:
		return 0;
	}
}

/* A part shows itself as busy until its error bits are cleared. */
static uint8_t first_register_bits(const struct chip *chip)
{
	const struct part_spi *part = chip->part->spi;
	uint8_t bits = chip->spi.error_bits;

	if ((chip->pending.work != CHIP_WORK_NONE && !chip->spi.die_ready) || chip->spi.error_bits)
		bits |= part->busy_mask;
	if (chip->spi.write_enabled && !chip->spi.die_ready)
		bits |= SPI_STATUS_WEL;
	return bits | lock_bits(chip);
}

uint8_t spi_status_register(const struct chip *chip, size_t index)
{
	const struct part_spi *part = chip->part->spi;
	uint8_t status = chip->spi.status[index];

	status |= flag_bits(&part->four_byte_flag, index, chip->spi.four_byte_mode);
	status |= suspend_bits(chip, index);
	return index == 0 ? status | first_register_bits(chip) : status;
}

uint8_t spi_status(const struct chip *chip)
{
	return spi_status_register(chip, 0);
}

bool spi_lost_wel(const struct chip *chip, uint64_t now_ns)
{
	return chip->pending.work != CHIP_WORK_NONE && now_ns >= chip->spi.wel_until_ns;
}

bool spi_die_is_ready(const struct chip *chip, uint8_t die, uint64_t now_ns)
{
	return chip->part->spi->dies.count > 0 && chip->pending.work != CHIP_WORK_NONE &&
	       now_ns >= chip->spi.die_until_ns[die];
}

/*
 * Weakens the grade of the wait to that of the source which says that WEL, or the busy bit of one
 * die, is cleared before the work ends. A client that polls them may send its next command too
 * early, and that finding is only as certain as this source.
 */
static void weaken_debt(struct chip *chip, uint64_t now_ns)
{
	const struct part_spi *part = chip->part->spi;

	if (spi_lost_wel(chip, now_ns))
		chip->debt.grade = grade_weaker(chip->debt.grade, part->early_wel.grade);
	if (chip->spi.die_ready)
		chip->debt.grade = grade_weaker(chip->debt.grade, part->dies.grade);
}

void spi_reply_status(struct chip *chip, const struct spi_request *request)
{
	size_t index = index_of(chip->part->spi, request->facts->opcode);

	weaken_debt(chip, request->transfer->end_ns);
	spi_reply_octet(request, spi_status_register(chip, index));
}

bool spi_holds_global_locks(const struct chip *chip)
{
	return chip->part->spi->protection.kind == PROTECTION_GLOBAL &&
	       chip->spi.status[0] & GLOBAL_REGISTER_LOCK;
}

static void set_pending_locks(struct chip *chip, uint8_t data)
{
	bool is_global = chip->part->spi->protection.kind == PROTECTION_GLOBAL &&
			 !spi_holds_global_locks(chip);

	chip->spi.lock_all_pending = is_global && (data & GLOBAL_MASK) == GLOBAL_MASK;
	chip->spi.unlock_all_pending = is_global && (data & GLOBAL_MASK) == 0;
}

void spi_set_bits(uint8_t *value, uint8_t mask, uint8_t data)
{
	*value = (uint8_t)((*value & ~mask) | (data & mask));
}

void spi_prepare_pending(struct chip *chip)
{
	struct spi_state *spi = &chip->spi;

	memcpy(spi->status_pending, spi->status, sizeof(spi->status));
	memcpy(spi->stored_pending, spi->status_stored, sizeof(spi->status_stored));
}

static void set_pending(struct chip *chip, size_t first, const struct spi_request *request)
{
	spi_prepare_pending(chip);
	for (size_t i = 0; i < request->data_len; i++) {
		uint8_t mask = chip->part->spi->status[first + i].writable_mask;

		spi_set_bits(&chip->spi.status_pending[first + i], mask, request->data[i]);
		spi_set_bits(&chip->spi.stored_pending[first + i], mask, request->data[i]);
	}
	set_pending_locks(chip, first == 0 ? request->data[0] : GLOBAL_SOME_LOCKED);
}

static void take_pending(struct chip *chip)
{
	memcpy(chip->spi.status, chip->spi.status_pending, sizeof(chip->spi.status));
	if (chip->spi.lock_all_pending || chip->spi.unlock_all_pending)
		spi_lock_all(chip, chip->spi.lock_all_pending);
}

/* Returns true if the write takes no time: after 50h, or if the part has no busy time for it. */
static bool is_immediate(const struct chip *chip)
{
	return chip->spi.status_enabled || chip->part->spi->write_status.max.ns == 0;
}

/* 01h also writes the following registers, from further data bytes; 31h and 11h write one. */
void spi_run_write_status(struct chip *chip, const struct spi_request *request)
{
	const struct part_spi *part = chip->part->spi;
	struct chip_pending work = {.work = CHIP_WORK_WRITE_STATUS};
	size_t first = index_of(part, request->facts->opcode);

	if (request->data_len > (first == 0 ? part->wrsr_bytes_max : 1)) {
		request->facts->rule = CHIP_RULE_LENGTH;
		return;
	}
	set_pending(chip, first, request);
	if (!is_immediate(chip)) {
		chip_start_work(chip, request->transfer->end_ns, &work, &part->write_status,
			request->facts);
		return;
	}
	take_pending(chip);
	chip->spi.status_enabled = false;
	chip->spi.write_enabled = false;
}

void spi_run_status_enable(struct chip *chip, const struct spi_request *request)
{
	(void)request;
	chip->spi.status_enabled = true;
}

void spi_status_finish(struct chip *chip, bool cut_off)
{
	if (cut_off)
		return;
	take_pending(chip);
	memcpy(chip->spi.status_stored, chip->spi.stored_pending, sizeof(chip->spi.status_stored));
}
