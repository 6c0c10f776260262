/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Parts that take the bytes of a page one after the other, then erase and write it by themselves:
 * 29C, 29EE and W29.
 *
 * The model does not take the cycles of a broken unlock sequence as data. A real part may do so if
 * its software protection is off.
 */
#include "cycle.h"

#define PROTECT 0xA0

static void wait_for_next(struct chip *chip, const struct cycle *cycle)
{
	chip->parallel.window_until_ns = cycle->end_ns + chip->part->parallel->load.window.ns;
}

/* Opens the window for the bytes of a page. */
static void open_load(struct chip *chip, const struct cycle *cycle)
{
	struct parallel_state *state = &chip->parallel;

	state->loading = true;
	wait_for_next(chip, cycle);
}

/* A0h turns the protection on, but lets the client write one page. */
static void protect(struct chip *chip, const struct cycle *cycle, struct chip_facts *facts)
{
	facts->partial = true;
	chip->parallel.write_protected = true;
	open_load(chip, cycle);
}

static void unprotect(struct chip *chip, const struct cycle *cycle, struct chip_facts *facts)
{
	(void)facts;
	chip->parallel.write_protected = false;
	open_load(chip, cycle);
}

static void erase_chip(struct chip *chip, const struct cycle *cycle, struct chip_facts *facts)
{
	const struct part_erase *erase = part_erase_find(chip->part, cycle->value);
	struct chip_pending work = {
		.work = CHIP_WORK_ERASE,
		.size_bytes = chip->part->size_bytes,
	};

	chip->parallel.polled_value = 0xFF;
	cycle_start_work(chip, cycle->end_ns, &work, &erase->busy, facts);
}

static const struct unlock_command commands[] = {
	{PROTECT, UNLOCK_COMMAND, false, "PAGE_WRITE", NULL, protect},
	{0x90, UNLOCK_COMMAND, false, "ID_ENTRY", unlock_has_id_entry, unlock_enter_id},
	{0xF0, UNLOCK_COMMAND, false, "ID_EXIT", NULL, unlock_leave_id},
	{0x60, UNLOCK_SETUP_COMMAND, false, "ID_ENTRY", unlock_has_id_entry, unlock_enter_id},
	{0x20, UNLOCK_SETUP_COMMAND, false, "UNPROTECT", NULL, unprotect},
	{0x10, UNLOCK_SETUP_COMMAND, false, "CHIP_ERASE", part_has_erase, erase_chip},
};

static const struct unlock_table table = {commands, sizeof(commands) / sizeof(commands[0])};

static uint32_t page_of(const struct chip *chip, uint32_t address)
{
	return address - address % chip->part->page_bytes;
}

static bool is_loaded(const struct chip *chip)
{
	return chip->parallel.loading && chip->pending.work == CHIP_WORK_PROGRAM;
}

/* Fills the latch of a whole page: bytes that nobody loads become FFh or noise. */
static void fill_page(struct chip *chip, uint32_t page)
{
	uint32_t page_bytes = chip->part->page_bytes;
	uint8_t *latch = chip_latch(chip, page, page_bytes, true);
	bool unloaded_erased = chip->part->parallel->load.unloaded_erased;

	for (uint32_t i = 0; i < page_bytes; i++)
		latch[i] = unloaded_erased ? 0xFF
					   : cycle_noise(chip, page + i, chip->parallel.page_count);
}

/* Loads a byte. The write of the page begins when no further byte comes within the window. */
static void load_byte(struct chip *chip, const struct cycle *cycle, struct chip_facts *facts)
{
	const struct part_parallel *part = chip->part->parallel;
	struct parallel_state *state = &chip->parallel;
	uint64_t start_ns = cycle->end_ns + part->load.window.ns;
	struct chip_pending work = {
		.work = CHIP_WORK_PROGRAM, .address = page_of(chip, cycle->address)};

	facts->name = "PAGE_WRITE";
	facts->opcode = PROTECT;
	wait_for_next(chip, cycle);
	if (is_loaded(chip) && chip->latch.address != work.address) {
		facts->rule = CHIP_RULE_PAGE;
		return;
	}
	if (is_loaded(chip)) {
		cycle_defer_work(chip, start_ns, facts);
	} else {
		fill_page(chip, work.address);
		cycle_start_work(chip, start_ns, &work, &part->program, facts);
	}
	facts->address = work.address;
	chip->latch.bytes[cycle->address % chip->part->page_bytes] = cycle->value;
	state->polled_value = cycle->value;
}

/*
 * Returns true if a cycle after the window is a late byte of the previous load: it does not begin
 * an unlock sequence, and either the part is writing the same page, or no byte was loaded and the
 * protection would refuse the cycle.
 */
static bool is_late_byte(const struct chip *chip, const struct cycle *cycle)
{
	const struct parallel_state *state = &chip->parallel;

	if (unlock_goes_on(UNLOCK_NOTHING, &chip->part->parallel->unlock, cycle))
		return false;
	return is_loaded(chip) ? chip->latch.address == page_of(chip, cycle->address)
			       : state->write_protected;
}

static bool takes_byte(struct chip *chip, const struct cycle *cycle, struct chip_facts *facts)
{
	struct parallel_state *state = &chip->parallel;
	bool late;

	if (!state->loading)
		return false;
	if (cycle->start_ns <= state->window_until_ns) {
		load_byte(chip, cycle, facts);
		return true;
	}
	late = is_late_byte(chip, cycle);
	if (!is_loaded(chip))
		state->loading = false;
	if (late) {
		facts->name = "PAGE_WRITE";
		cycle_came_late(state->window_until_ns, chip->part->parallel->load.window.grade,
			cycle, facts);
	}
	return late;
}

/* Returns true if the cycle is too late for its sequence. The window is that of a page's bytes. */
static bool breaks_sequence(struct chip *chip, const struct cycle *cycle, struct chip_facts *facts)
{
	struct parallel_state *state = &chip->parallel;
	bool expected = unlock_goes_on(state->step, &chip->part->parallel->unlock, cycle) ||
			state->step == UNLOCK_SECOND || state->step == UNLOCK_SETUP_SECOND;
	bool fresh = unlock_goes_on(UNLOCK_NOTHING, &chip->part->parallel->unlock, cycle);

	if (state->step == UNLOCK_NOTHING || cycle->start_ns <= state->window_until_ns)
		return false;
	state->step = UNLOCK_NOTHING;
	if (!expected || fresh)
		return false;
	cycle_came_late(
		state->window_until_ns, chip->part->parallel->load.window.grade, cycle, facts);
	return true;
}

static void take_data(struct chip *chip, const struct cycle *cycle, struct chip_facts *facts)
{
	facts->name = "PAGE_WRITE";
	if (chip->parallel.id_mode) {
		facts->rule = CHIP_RULE_ID_MODE;
	} else if (chip->parallel.write_protected) {
		facts->rule = CHIP_RULE_PROTECTED;
	} else {
		open_load(chip, cycle);
		load_byte(chip, cycle, facts);
	}
}

static void take_cycle(struct chip *chip, const struct cycle *cycle, struct chip_facts *facts)
{
	enum unlock_result result =
		unlock_feed(&chip->parallel.step, &chip->part->parallel->unlock, cycle);

	if (result == UNLOCK_OTHER) {
		take_data(chip, cycle, facts);
		return;
	}
	facts->partial = result == UNLOCK_PREFIX;
	wait_for_next(chip, cycle);
	unlock_run(chip, &table, result, cycle, facts);
}

static void write_cycle(struct chip *chip, const struct cycle *cycle, struct chip_facts *facts)
{
	if (takes_byte(chip, cycle, facts))
		return;
	if (cycle_check_write(chip, cycle, facts) != CHIP_RULE_NONE)
		chip->parallel.step = UNLOCK_NOTHING;
	else if (!breaks_sequence(chip, cycle, facts))
		take_cycle(chip, cycle, facts);
}

static void finish(struct chip *chip, bool cut_off)
{
	struct parallel_state *state = &chip->parallel;

	if (!is_loaded(chip) || cut_off)
		return;
	state->loading = false;
	state->page_count++;
}

const struct family family_jedec_page = {
	.init = cycle_init,
	.power_up = cycle_power_up,
	.write_cycle = write_cycle,
	.read_cycle = unlock_read,
	.finish = finish,
};
