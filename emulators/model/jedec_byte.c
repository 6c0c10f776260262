/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Parts that program byte by byte after unlock cycles: 39SF, 29F, 49F, and over LPC or FWH 39V and
 * 49LF.
 */
#include "cycle.h"

#define PROGRAM 0xA0
#define RESET 0xF0
#define ERASE_SECTOR 0x30

static void arm_program(struct chip *chip, const struct cycle *cycle, struct chip_facts *facts)
{
	(void)cycle;
	chip->parallel.armed = PROGRAM;
	facts->partial = true;
}

static void program(struct chip *chip, const struct cycle *cycle, struct chip_facts *facts)
{
	struct chip_pending work = {.work = CHIP_WORK_PROGRAM, .address = cycle->address};

	chip->parallel.armed = 0;
	facts->name = "PROGRAM";
	facts->opcode = PROGRAM;
	if (registers_forbid(chip, cycle->address, 1)) {
		facts->rule = CHIP_RULE_PROTECTED;
		return;
	}
	*chip_latch(chip, cycle->address, 1, false) = cycle->value;
	chip->parallel.polled_value = cycle->value;
	cycle_start_work(chip, cycle->end_ns, &work, &chip->part->parallel->program, facts);
}

/* Sets @work to erase the block at @address. Returns false if the erase has no block there. */
static bool find_sector(const struct part_erase *erase, uint32_t address, struct chip_pending *work)
{
	struct part_block block;

	if (!part_erase_block(erase, address, &block))
		return false;
	work->work = CHIP_WORK_ERASE;
	work->address = block.address;
	work->size_bytes = block.size_bytes;
	return true;
}

/* Opens the window for further sectors. Returns its end, when the part begins to erase. */
static uint64_t open_window(struct chip *chip, const struct cycle *cycle)
{
	uint64_t window_ns = chip->part->parallel->erase_window.ns;

	if (cycle->value != ERASE_SECTOR)
		window_ns = 0;
	chip->parallel.window_until_ns = cycle->end_ns + window_ns;
	return chip->parallel.window_until_ns;
}

static void erase(struct chip *chip, const struct cycle *cycle, struct chip_facts *facts)
{
	const struct part_erase *erase = part_erase_find(chip->part, cycle->value);
	struct chip_pending work;

	if (!find_sector(erase, cycle->address, &work)) {
		facts->rule = CHIP_RULE_REGION;
		return;
	}
	if (registers_forbid(chip, work.address, work.size_bytes)) {
		facts->rule = CHIP_RULE_PROTECTED;
		return;
	}
	chip->parallel.sectors = 0;
	chip->parallel.polled_value = 0xFF;
	cycle_start_work(chip, open_window(chip, cycle), &work, &erase->busy, facts);
}

/* Adds a sector to the current erase, because 30h came while the window was open. */
static void add_sector(struct chip *chip, const struct cycle *cycle, struct chip_facts *facts)
{
	struct parallel_state *state = &chip->parallel;
	const struct part_erase *erase = part_erase_find(chip->part, ERASE_SECTOR);
	struct chip_pending first = chip->pending;
	struct chip_pending more;
	struct figure sum = state->work;
	uint64_t bit;

	facts->name = "ERASE";
	if (!find_sector(erase, cycle->address, &more)) {
		facts->rule = CHIP_RULE_REGION;
		return;
	}
	bit = UINT64_C(1) << more.address / more.size_bytes;
	if (more.address != first.address && !(state->sectors & bit)) {
		cycle_start_work(chip, cycle->end_ns, &more, &erase->busy, facts);
		sum.ns += state->work.ns;
		sum.grade = grade_weaker(sum.grade, state->work.grade);
		state->sectors |= bit;
	}
	state->work = sum;
	chip->pending = first;
	cycle_defer_work(chip, open_window(chip, cycle), facts);
}

/*
 * Handles 30h without unlock cycles during an erase: adds a sector, or records that the window is
 * over. Returns false for any other cycle.
 */
static bool takes_sector(struct chip *chip, const struct cycle *cycle, struct chip_facts *facts)
{
	const struct parallel_state *state = &chip->parallel;
	struct figure window = chip->part->parallel->erase_window;

	if (chip->pending.work != CHIP_WORK_ERASE || window.ns == 0 ||
		state->step != UNLOCK_NOTHING || cycle->value != ERASE_SECTOR)
		return false;
	if (cycle->start_ns <= state->window_until_ns)
		add_sector(chip, cycle, facts);
	else if (cycle_check_write(chip, cycle, facts) != CHIP_RULE_STUCK)
		cycle_came_late(state->window_until_ns, window.grade, cycle, facts);
	return true;
}

/* Checks the wait. A cycle in the window that adds no sector drops the erase (29F datasheets). */
static void check_busy(struct chip *chip, const struct cycle *cycle, struct chip_facts *facts)
{
	if (cycle_check_write(chip, cycle, facts) == CHIP_RULE_BUSY &&
		chip->pending.work == CHIP_WORK_ERASE &&
		cycle->start_ns < chip->parallel.window_until_ns)
		cycle_forget_work(chip, cycle);
}

static void forget_sequence(struct chip *chip)
{
	chip->parallel.step = UNLOCK_NOTHING;
	chip->parallel.armed = 0;
}

static const struct unlock_command commands[] = {
	{0xA0, UNLOCK_COMMAND, false, "PROGRAM", NULL, arm_program},
	{0x90, UNLOCK_COMMAND, false, "ID_ENTRY", unlock_has_id_entry, unlock_enter_id},
	{0xF0, UNLOCK_COMMAND, false, "ID_EXIT", NULL, unlock_leave_id},
	{0x60, UNLOCK_SETUP_COMMAND, false, "ID_ENTRY", unlock_has_id_entry, unlock_enter_id},
	{0x30, UNLOCK_SETUP_COMMAND, true, "ERASE", part_has_erase, erase},
	{0x50, UNLOCK_SETUP_COMMAND, true, "ERASE", part_has_erase, erase},
	{0x10, UNLOCK_SETUP_COMMAND, false, "CHIP_ERASE", part_has_erase, erase},
};

static const struct unlock_table table = {commands, sizeof(commands) / sizeof(commands[0])};

/* F0h alone, at any address and after anything but A0h, ends a sequence and ID mode. */
static void reset(struct chip *chip, const struct cycle *cycle, struct chip_facts *facts)
{
	forget_sequence(chip);
	facts->name = chip->parallel.id_mode ? "ID_EXIT" : "RESET";
	unlock_leave_id(chip, cycle, facts);
}

static void write_cycle(struct chip *chip, const struct cycle *cycle, struct chip_facts *facts)
{
	enum unlock_result result;

	if (takes_sector(chip, cycle, facts))
		return;
	check_busy(chip, cycle, facts);
	if (facts->rule != CHIP_RULE_NONE) {
		forget_sequence(chip);
		return;
	}
	if (chip->parallel.armed == PROGRAM) {
		program(chip, cycle, facts);
		return;
	}
	if (cycle->value == RESET) {
		reset(chip, cycle, facts);
		return;
	}
	result = unlock_feed(&chip->parallel.step, &chip->part->parallel->unlock, cycle);
	facts->partial = result == UNLOCK_PREFIX;
	unlock_run(chip, &table, result, cycle, facts);
}

/* Erases the sectors one after the other (MBM29F400TA, "Sector Erase"), as far as @done_ns goes. */
static void erase_sectors(struct chip *chip, uint64_t done_ns)
{
	uint64_t *sectors = &chip->parallel.sectors;
	uint64_t share_ns =
		chip->parallel.work.ns / (1u + (unsigned int)__builtin_popcountll(*sectors));
	struct chip_pending sector = chip->pending;
	uint64_t granules;

	for (; done_ns >= share_ns; done_ns -= share_ns) {
		array_erase(&chip->array, sector.address, sector.size_bytes);
		if (*sectors == 0)
			return;
		sector.address = (uint32_t)__builtin_ctzll(*sectors) * sector.size_bytes;
		*sectors &= *sectors - 1;
	}
	granules = done_ns / (share_ns / (sector.size_bytes / ARRAY_GRANULE_BYTES) + 1);
	chip_leave_halfway(chip, &sector, (uint32_t)granules * ARRAY_GRANULE_BYTES);
}

/*
 * Erases the further sectors, as far as the time sufficed. There are two cases in which none is
 * erased: power was lost in the window, before the erase began (done_ns wraps around), or stuck
 * work was cut off after the time at which it should have ended.
 */
static void finish(struct chip *chip, bool cut_off)
{
	uint64_t done_ns = chip->busy_until_ns - chip->busy_since_ns;

	if (chip->parallel.sectors && (!cut_off || done_ns < chip->parallel.work.ns))
		erase_sectors(chip, done_ns);
	chip->parallel.sectors = 0;
}

const struct family family_jedec_byte = {
	.init = cycle_init,
	.power_up = cycle_power_up,
	.write_cycle = write_cycle,
	.read_cycle = unlock_read,
	.finish = finish,
};
