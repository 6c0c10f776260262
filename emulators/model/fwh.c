/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The command set of 82802AB and M50FW040: two write cycles for a program or an erase command, one
 * for each other command, and a status register.
 *
 * Suspend and resume (B0h, D0h) are not modelled: B0h while busy counts as a command that came too
 * early.
 */
#include "cycle.h"

#define STATUS_READY 0x80
#define STATUS_INVALID 0x7F
#define STATUS_ERASE_FAILED 0x20
#define STATUS_PROGRAM_FAILED 0x10
#define STATUS_LOCKED 0x02

#define READ_STATUS 0x70
#define PROGRAM 0x40
#define ERASE 0x20
#define CONFIRM 0xD0

struct fwh_command {
	uint8_t opcode;
	const char *name;
	void (*run)(struct chip *chip, const struct cycle *cycle, struct chip_facts *facts);
};

static void read_array(struct chip *chip, const struct cycle *cycle, struct chip_facts *facts)
{
	(void)cycle;
	(void)facts;
	chip->parallel.id_mode = false;
	chip->parallel.status_mode = false;
}

static void read_id(struct chip *chip, const struct cycle *cycle, struct chip_facts *facts)
{
	read_array(chip, cycle, facts);
	chip->parallel.id_mode = true;
}

static void read_status(struct chip *chip, const struct cycle *cycle, struct chip_facts *facts)
{
	read_array(chip, cycle, facts);
	chip->parallel.status_mode = true;
}

static void clear_status(struct chip *chip, const struct cycle *cycle, struct chip_facts *facts)
{
	(void)cycle;
	(void)facts;
	chip->parallel.status = 0;
}

static void arm(struct chip *chip, const struct cycle *cycle, struct chip_facts *facts)
{
	chip->parallel.armed = cycle->value == ERASE ? ERASE : PROGRAM;
	facts->partial = true;
	read_status(chip, cycle, facts);
}

static const struct fwh_command commands[] = {
	{0xFF, "READ_ARRAY", read_array},
	{0x90, "ID_ENTRY", read_id},
	{READ_STATUS, "READ_STATUS", read_status},
	{0x50, "CLEAR_STATUS", clear_status},
	{0x40, "PROGRAM", arm},
	{0x10, "PROGRAM", arm},
	{ERASE, "ERASE", arm},
};

static const struct fwh_command *command_find(uint8_t opcode)
{
	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
		if (commands[i].opcode == opcode)
			return &commands[i];
	}
	return NULL;
}

static void refuse(struct chip *chip, uint8_t status, struct chip_facts *facts)
{
	chip->parallel.status |= status;
	facts->rule = CHIP_RULE_PROTECTED;
}

static void program(struct chip *chip, const struct cycle *cycle, struct chip_facts *facts)
{
	struct chip_pending work = {.work = CHIP_WORK_PROGRAM, .address = cycle->address};

	facts->name = "PROGRAM";
	if (registers_forbid(chip, cycle->address, 1)) {
		refuse(chip, STATUS_PROGRAM_FAILED | STATUS_LOCKED, facts);
		return;
	}
	*chip_latch(chip, cycle->address, 1, false) = cycle->value;
	cycle_start_work(chip, cycle->end_ns, &work, &chip->part->parallel->program, facts);
}

static void erase(struct chip *chip, const struct cycle *cycle, struct chip_facts *facts)
{
	const struct part_erase *block = part_erase_find(chip->part, ERASE);
	struct chip_pending work = {
		.work = CHIP_WORK_ERASE,
		.address = cycle->address - cycle->address % block->size_bytes,
		.size_bytes = block->size_bytes,
	};

	facts->name = "ERASE";
	if (cycle->value != CONFIRM) {
		chip->parallel.status |= STATUS_ERASE_FAILED | STATUS_PROGRAM_FAILED;
		facts->rule = CHIP_RULE_SEQUENCE;
	} else if (registers_forbid(chip, work.address, work.size_bytes)) {
		refuse(chip, STATUS_ERASE_FAILED | STATUS_LOCKED, facts);
	} else {
		cycle_start_work(chip, cycle->end_ns, &work, &block->busy, facts);
	}
}

/* Runs the cycle after 40h, 10h or 20h. */
static void run_armed(struct chip *chip, const struct cycle *cycle, struct chip_facts *facts)
{
	uint8_t armed = chip->parallel.armed;

	chip->parallel.armed = 0;
	facts->opcode = armed;
	if (armed == ERASE)
		erase(chip, cycle, facts);
	else
		program(chip, cycle, facts);
}

static void write_cycle(struct chip *chip, const struct cycle *cycle, struct chip_facts *facts)
{
	const struct fwh_command *command = command_find(cycle->value);
	bool works_while_busy = cycle->value == READ_STATUS && !chip->parallel.armed;

	if (!works_while_busy && cycle_check_write(chip, cycle, facts) != CHIP_RULE_NONE)
		return;
	if (chip->parallel.armed) {
		run_armed(chip, cycle, facts);
	} else if (command) {
		facts->name = command->name;
		command->run(chip, cycle, facts);
	}
}

/*
 * A busy part answers every read with its status, of which only bit 7 is valid (M50FLW040A
 * datasheet, August 2004, "Status register"; the same in Intel's 28F320 datasheet, "Read status
 * register command").
 */
static uint8_t read_cycle(struct chip *chip, const struct cycle *cycle, struct chip_facts *facts)
{
	bool busy = chip->pending.work != CHIP_WORK_NONE;

	if (busy || chip->parallel.status_mode) {
		facts->name = "STATUS";
		return busy ? STATUS_INVALID : chip->parallel.status | STATUS_READY;
	}
	return cycle_read_content(chip, cycle, facts);
}

const struct family family_fwh = {
	.init = cycle_init,
	.power_up = cycle_power_up,
	.write_cycle = write_cycle,
	.read_cycle = read_cycle,
};
