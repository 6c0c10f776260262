/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "chip.h"

#include <assert.h>
#include <string.h>

#include "family.h"

#define STATUS_WIP 0x01
#define STATUS_WEL 0x02
#define BUS_FLOATING 0xFF

static const struct family *const families[] = {
	[PART_SPI_NOR] = &family_spi_nor,
};

size_t chip_memory_bytes(const struct part *part)
{
	return part->size_bytes + array_map_bytes(part->size_bytes);
}

void chip_init(struct chip *chip, const struct part *part, enum corner corner, void *memory)
{
	uint8_t *bytes = (uint8_t *)memory;

	memset(chip, 0, sizeof(*chip));
	chip->part = part;
	chip->family = families[part->family];
	chip->corner = corner;
	array_init(&chip->array, part->size_bytes, bytes, bytes + part->size_bytes);
}

uint8_t chip_status(const struct chip *chip, size_t index)
{
	uint8_t status = chip->status[index];

	if (index > 0)
		return status;
	if (chip->pending.work != CHIP_WORK_NONE)
		status |= STATUS_WIP;
	if (chip->write_enabled)
		status |= STATUS_WEL;
	return status;
}

static void end_work(struct chip *chip)
{
	chip->pending.work = CHIP_WORK_NONE;
	chip->write_enabled = false;
}

void chip_settle(struct chip *chip, uint64_t now_ns)
{
	const struct chip_pending *pending = &chip->pending;

	if (pending->work == CHIP_WORK_NONE || now_ns < chip->busy_until_ns)
		return;
	if (pending->work == CHIP_WORK_ERASE)
		array_erase(&chip->array, pending->address, pending->size_bytes);
	if (pending->work == CHIP_WORK_WRITE_STATUS)
		memcpy(chip->status, pending->status, sizeof(chip->status));
	end_work(chip);
}

void chip_start_work(struct chip *chip, const struct chip_transfer *transfer,
	const struct chip_pending *work, struct figure busy, struct chip_facts *facts)
{
	chip->pending = *work;
	chip->busy_until_ns = transfer->end_ns + busy.ns;
	chip_owe(chip, transfer, busy, CHIP_RULE_BUSY);
	facts->work = work->work;
	facts->work_ns = busy.ns;
	facts->work_grade = busy.grade;
}

void chip_abort_work(struct chip *chip, uint64_t now_ns)
{
	if (chip->pending.work == CHIP_WORK_NONE)
		return;
	if (chip->pending.work == CHIP_WORK_ERASE)
		array_spoil(&chip->array, chip->pending.address);
	chip->busy_until_ns = now_ns;
	end_work(chip);
}

void chip_owe(struct chip *chip, const struct chip_transfer *transfer, struct figure wait,
	enum chip_rule rule)
{
	chip->debt.ready_ns = transfer->end_ns + wait.ns;
	chip->debt.rule = rule;
	chip->debt.grade = wait.grade;
	chip->debt.open = true;
}

static const struct command *command_find(const struct chip *chip, uint8_t opcode)
{
	for (size_t i = 0; i < chip->family->command_count; i++) {
		const struct command *command = &chip->family->commands[i];

		if (command->opcode != opcode)
			continue;
		if (!command->part_has || command->part_has(chip->part, opcode))
			return command;
	}
	return NULL;
}

static bool works_when(const struct command *command, unsigned int when)
{
	return command && command->when & when;
}

/* The first command after a wait settles it, or comes too early and leaves it open. */
static enum chip_rule check_debt(
	struct chip *chip, const struct command *command, uint64_t now_ns, struct chip_facts *facts)
{
	struct chip_debt *debt = &chip->debt;

	if (!debt->open)
		return CHIP_RULE_NONE;
	if (debt->rule == CHIP_RULE_BUSY && works_when(command, COMMAND_WHILE_BUSY))
		return CHIP_RULE_NONE;
	facts->owed = true;
	facts->grade = debt->grade;
	facts->margin_ns = (int64_t)(now_ns - debt->ready_ns);
	if (now_ns < debt->ready_ns)
		return debt->rule;
	debt->open = false;
	return CHIP_RULE_NONE;
}

static bool is_protected(const struct chip *chip)
{
	for (size_t i = 0; i < chip->part->status_count; i++) {
		if (chip->status[i] & chip->part->status[i].protect_mask)
			return true;
	}
	return false;
}

static enum chip_rule check_length(const struct command *command, size_t command_len)
{
	size_t head = 1u + command->address_bytes + command->dummy_bytes;

	if (command_len < head + command->data_len_min)
		return CHIP_RULE_LENGTH;
	return command_len - head > command->data_len_max ? CHIP_RULE_LENGTH : CHIP_RULE_NONE;
}

static enum chip_rule check_command(
	const struct chip *chip, const struct command *command, size_t command_len)
{
	if (chip->powered_down && !works_when(command, COMMAND_WHILE_POWERED_DOWN))
		return CHIP_RULE_POWER_DOWN;
	if (!command)
		return CHIP_RULE_NONE;
	if (command->when & COMMAND_NEEDS_WRITE_ENABLE && !chip->write_enabled)
		return CHIP_RULE_WEL;
	if (command->when & COMMAND_NEEDS_NO_PROTECTION && is_protected(chip))
		return CHIP_RULE_PROTECTED;
	return check_length(command, command_len);
}

/* The part decodes only as many address bits as it has. */
static void decode_address(const struct chip *chip, const struct command *command,
	const struct chip_transfer *transfer, struct chip_facts *facts)
{
	uint32_t address = 0;

	if (command->address_bytes == 0 || transfer->command_len < 1u + command->address_bytes)
		return;
	for (size_t i = 1; i <= command->address_bytes; i++)
		address = address << 8 | transfer->command[i];
	facts->has_address = true;
	facts->address = address % chip->part->size_bytes;
}

void chip_transfer(
	struct chip *chip, const struct chip_transfer *transfer, struct chip_facts *facts)
{
	const struct command *command;

	assert(transfer->command_len > 0 && transfer->start_ns <= transfer->end_ns);
	memset(transfer->reply, BUS_FLOATING, transfer->reply_len);
	memset(facts, 0, sizeof(*facts));
	chip_settle(chip, transfer->start_ns);
	if (chip->pending.work != CHIP_WORK_NONE)
		facts->busy_left_ns = chip->busy_until_ns - transfer->start_ns;

	command = command_find(chip, transfer->command[0]);
	facts->opcode = transfer->command[0];
	facts->name = command ? command->name : "UNKNOWN";
	if (command)
		decode_address(chip, command, transfer, facts);
	facts->rule = check_debt(chip, command, transfer->start_ns, facts);
	if (facts->rule == CHIP_RULE_NONE)
		facts->rule = check_command(chip, command, transfer->command_len);
	if (facts->rule == CHIP_RULE_NONE && command)
		command->run(chip, transfer, facts);
	if (!works_when(command, COMMAND_KEEPS_RESET_ENABLED))
		chip->reset_enabled = false;
	facts->busy_until_ns = chip->busy_until_ns;
	facts->status = chip_status(chip, 0);
}

const char *chip_rule_name(enum chip_rule rule)
{
	static const char *const names[] = {
		[CHIP_RULE_NONE] = NULL,
		[CHIP_RULE_BUSY] = "busy",
		[CHIP_RULE_DEEP_POWER_DOWN] = "tdp",
		[CHIP_RULE_RELEASE] = "tres",
		[CHIP_RULE_RESET] = "reset",
		[CHIP_RULE_POWER_DOWN] = "power_down",
		[CHIP_RULE_WEL] = "wel",
		[CHIP_RULE_PROTECTED] = "protected",
		[CHIP_RULE_LENGTH] = "length",
	};

	assert((size_t)rule < sizeof(names) / sizeof(names[0]));
	return names[rule];
}

const char *chip_work_name(enum chip_work work)
{
	static const char *const names[] = {
		[CHIP_WORK_NONE] = NULL,
		[CHIP_WORK_PROGRAM] = "program",
		[CHIP_WORK_ERASE] = "erase",
		[CHIP_WORK_WRITE_STATUS] = "write_status",
	};

	assert((size_t)work < sizeof(names) / sizeof(names[0]));
	return names[work];
}
