/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cycle.h"

/*
 * The status bits that a read of a busy part returns; the other bits have no meaning. The toggle
 * bit works at any address.
 */
#define POLL_DATA 0x80    /* the complement of this bit of the data */
#define POLL_TOGGLE 0x40  /* changes at each read */
#define POLL_ERASING 0x08 /* the part accepts no further sector */

static bool is_at(const struct part_unlock *unlock, size_t which, uint32_t address)
{
	return ((address ^ unlock->addresses[which]) & unlock->mask) == 0;
}

bool unlock_goes_on(
	enum unlock_step step, const struct part_unlock *unlock, const struct cycle *cycle)
{
	static const struct {
		size_t which;
		uint8_t value;
	} wanted[] = {
		[UNLOCK_NOTHING] = {0, 0xAA},
		[UNLOCK_FIRST] = {1, 0x55},
		[UNLOCK_SECOND] = {0, 0x80},
		[UNLOCK_SETUP] = {0, 0xAA},
		[UNLOCK_SETUP_FIRST] = {1, 0x55},
	};

	return step < UNLOCK_SETUP_SECOND && cycle->value == wanted[step].value &&
	       is_at(unlock, wanted[step].which, cycle->address);
}

enum unlock_result unlock_feed(
	enum unlock_step *step, const struct part_unlock *unlock, const struct cycle *cycle)
{
	enum unlock_step before = *step;

	if (unlock_goes_on(before, unlock, cycle)) {
		*step = before + 1;
		return UNLOCK_PREFIX;
	}
	*step = UNLOCK_NOTHING;
	if (before == UNLOCK_SECOND)
		return UNLOCK_COMMAND;
	if (before == UNLOCK_SETUP_SECOND)
		return UNLOCK_SETUP_COMMAND;
	if (!unlock_goes_on(UNLOCK_NOTHING, unlock, cycle))
		return UNLOCK_OTHER;
	*step = UNLOCK_FIRST;
	return UNLOCK_PREFIX;
}

bool unlock_has_id_entry(const struct part *part, uint8_t opcode)
{
	const uint8_t *entry = part->parallel->id_entry;

	return opcode == entry[0] || opcode == entry[1];
}

void unlock_enter_id(struct chip *chip, const struct cycle *cycle, struct chip_facts *facts)
{
	(void)facts;
	chip->parallel.id_mode = true;
	cycle_owe(chip, cycle, chip->part->parallel->id_entry_wait);
}

void unlock_leave_id(struct chip *chip, const struct cycle *cycle, struct chip_facts *facts)
{
	(void)facts;
	if (chip->parallel.id_mode)
		cycle_owe(chip, cycle, chip->part->parallel->id_exit_wait);
	chip->parallel.id_mode = false;
}

static bool is_command(const struct unlock_command *command, const struct part *part,
	enum unlock_result result, const struct cycle *cycle)
{
	if (command->opcode != cycle->value || command->after != result)
		return false;
	if (!command->anywhere && !is_at(&part->parallel->unlock, 0, cycle->address))
		return false;
	return !command->part_has || command->part_has(part, command->opcode);
}

static const struct unlock_command *command_find(const struct unlock_table *table,
	const struct part *part, enum unlock_result result, const struct cycle *cycle)
{
	for (size_t i = 0; i < table->count; i++) {
		if (is_command(&table->commands[i], part, result, cycle))
			return &table->commands[i];
	}
	return NULL;
}

void unlock_run(struct chip *chip, const struct unlock_table *table, enum unlock_result result,
	const struct cycle *cycle, struct chip_facts *facts)
{
	const struct unlock_command *command = command_find(table, chip->part, result, cycle);

	if (!command)
		return;
	facts->name = command->name;
	if (chip->parallel.id_mode && command->run != unlock_enter_id &&
		command->run != unlock_leave_id)
		facts->rule = CHIP_RULE_ID_MODE;
	else
		command->run(chip, cycle, facts);
}

/* Returns true if @address is in a sector that is being erased, or is being programmed. */
static bool works_at(const struct chip *chip, uint32_t address)
{
	const struct chip_pending *work = &chip->pending;

	if (work->work != CHIP_WORK_ERASE)
		return address == work->address;
	if (chip->parallel.sectors >> address / work->size_bytes & 1)
		return true;
	return address - work->address < work->size_bytes;
}

static uint8_t read_dq7(const struct chip *chip, uint32_t address)
{
	uint8_t value = (uint8_t)~chip->parallel.polled_value;

	if (chip->part->parallel->dq7_in_place && !works_at(chip, address))
		array_read(&chip->array, address, &value, 1);
	return value & POLL_DATA;
}

static uint8_t read_polling(struct chip *chip, const struct cycle *cycle)
{
	struct parallel_state *state = &chip->parallel;
	uint8_t status = read_dq7(chip, cycle->address);

	state->toggle = !state->toggle;
	if (state->toggle)
		status |= POLL_TOGGLE;
	if (chip->part->parallel->erase_window.ns > 0 && chip->pending.work == CHIP_WORK_ERASE &&
		cycle->start_ns > state->window_until_ns)
		status |= POLL_ERASING;
	return status;
}

uint8_t unlock_read(struct chip *chip, const struct cycle *cycle, struct chip_facts *facts)
{
	if (chip->pending.work != CHIP_WORK_NONE) {
		facts->name = "STATUS";
		return read_polling(chip, cycle);
	}
	return cycle_read_content(chip, cycle, facts);
}
