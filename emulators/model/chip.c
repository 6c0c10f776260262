/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "chip.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

#include "family.h"
#include "shared/number.h"

#define PERCENT 100u
#define POWER_CUT_PERCENT_DEFAULT 50

static const struct family *const families[] = {
	[PART_SPI_NOR] = &family_spi_nor,
	[PART_SPI_AAI] = &family_spi_aai,
	[PART_SPI_EEPROM] = &family_spi_eeprom,
	[PART_SPI_DATAFLASH] = &family_spi_dataflash,
	[PART_JEDEC_BYTE] = &family_jedec_byte,
	[PART_JEDEC_PAGE] = &family_jedec_page,
	[PART_FWH] = &family_fwh,
};

/* The memory holds the cells, then the map of erased granules, then the counts of uses. */
size_t chip_memory_bytes(const struct part *part)
{
	return part->size_bytes + array_map_bytes(part->size_bytes) + uses_bytes(part);
}

void chip_init(
	struct chip *chip, const struct part *part, const struct corner *corner, void *memory)
{
	uint8_t *bytes = (uint8_t *)memory;
	uint8_t *map = bytes + part->size_bytes;

	memset(chip, 0, sizeof(*chip));
	chip->part = part;
	chip->family = families[part->family];
	chip->corner = *corner;
	chip->noise_seed = corner->seed;
	chip->power.reported = true;
	array_init(&chip->array, part->size_bytes, bytes, map);
	uses_init(&chip->uses, part, map + array_map_bytes(part->size_bytes));
	chip->family->init(chip);
	chip->family->power_up(chip, 0);
	chip->debt.open = false;
	chip->write_debt.open = false;
}

void chip_stick_from(struct chip *chip, uint64_t nth)
{
	chip->stuck_from = nth;
}

static bool is_stuck(const struct chip *chip)
{
	return chip->stuck_from > 0 && chip->work_count >= chip->stuck_from;
}

uint8_t *chip_latch(struct chip *chip, uint32_t address, uint32_t len, bool replaces)
{
	struct chip_latch *latch = &chip->latch;

	assert(len <= sizeof(latch->bytes));
	latch->address = address;
	latch->size_bytes = len;
	latch->replaces = replaces;
	if (replaces)
		array_read(&chip->array, address, latch->bytes, len);
	else
		memset(latch->bytes, 0xFF, len);
	return latch->bytes;
}

static void take_latch(struct chip *chip)
{
	const struct chip_latch *latch = &chip->latch;

	if (latch->replaces)
		array_load(&chip->array, latch->address, latch->bytes, latch->size_bytes);
	else
		array_program(&chip->array, latch->address, latch->bytes, latch->size_bytes);
}

static void lose(struct chip *chip, uint64_t at_ns)
{
	chip_abort_work(chip, at_ns);
	if (chip->family->power_off)
		chip->family->power_off(chip);
	chip->debt.open = false;
	chip->write_debt.open = false;
	chip->wire.is_silent = chip->wire.command_len > 0;
	chip->power.off = true;
	chip->power.at_ns = at_ns;
	chip->power.reported = false;
}

void chip_power_off(struct chip *chip, uint64_t at_ns)
{
	chip_settle(chip, at_ns);
	if (!chip->power.off)
		lose(chip, at_ns);
}

void chip_power_on(struct chip *chip, uint64_t at_ns)
{
	chip->power.off = false;
	chip->family->power_up(chip, at_ns);
}

void chip_power_cycle(struct chip *chip, uint64_t at_ns)
{
	chip_power_off(chip, at_ns);
	chip_power_on(chip, at_ns);
}

int power_cut_parse(const char *text, struct power_cut *cut)
{
	struct power_cut parsed = {.is_percent = true, .after = POWER_CUT_PERCENT_DEFAULT};
	uint64_t nth;

	if (!number_begins(text, 10, UINT32_MAX, &text, &nth) || nth == 0)
		return -EINVAL;
	parsed.nth = (uint32_t)nth;
	if (*text == ',') {
		if (!number_begins(text + 1, 10, UINT64_MAX, &text, &parsed.after))
			return -EINVAL;
		parsed.is_percent = *text == '%';
		text += parsed.is_percent;
		if (parsed.is_percent && parsed.after > PERCENT)
			return -EINVAL;
	}
	if (*text == ',' && !number_begins(text + 1, 10, UINT64_MAX, &text, &parsed.off_ns))
		return -EINVAL;
	if (*text != '\0')
		return -EINVAL;
	*cut = parsed;
	return 0;
}

/* Divides before it multiplies, so that no product exceeds 64 bits. */
uint64_t power_cut_after_ns(const struct power_cut *cut, uint64_t work_ns)
{
	if (!cut->is_percent)
		return cut->after;
	return work_ns / PERCENT * cut->after + work_ns % PERCENT * cut->after / PERCENT;
}

void chip_plan_power_cut(struct chip *chip, const struct power_cut *cut)
{
	chip->power = (struct chip_power){
		.cut = *cut,
		.works_before = chip->work_count,
		.reported = true,
	};
}

void chip_replan_power_cut(struct chip *chip)
{
	uint64_t work_ns = chip->busy_until_ns - chip->busy_since_ns;

	if (chip->power.planned)
		chip->power.at_ns =
			chip->busy_since_ns + power_cut_after_ns(&chip->power.cut, work_ns);
}

static void count_work(struct chip *chip)
{
	if (chip->work_count - chip->power.works_before == chip->power.cut.nth)
		chip->power.planned = true;
	chip_replan_power_cut(chip);
}

static void lose_as_planned(struct chip *chip)
{
	uint64_t at_ns = chip->power.at_ns;

	chip->power.planned = false;
	if (chip->busy_until_ns < at_ns)
		chip_settle(chip, at_ns);
	lose(chip, at_ns);
}

/*
 * tVSL and tPUW begin when the supply reaches its minimum. No client can see when that is, so after
 * a ramp the client owes neither wait.
 */
static void end_ramp(struct chip *chip)
{
	chip_power_on(chip, chip->power.ramp_until_ns);
	chip->power.ramp_until_ns = 0;
	chip->debt.open = false;
	chip->write_debt.open = false;
}

static void settle_power(struct chip *chip, uint64_t now_ns)
{
	const struct chip_power *power = &chip->power;

	if (power->planned && power->at_ns <= now_ns)
		lose_as_planned(chip);
	if (power->off && power->ramp_until_ns > 0 && now_ns >= power->ramp_until_ns)
		end_ramp(chip);
	if (power->off && power->cut.off_ns > 0 && now_ns - power->at_ns >= power->cut.off_ns)
		chip_power_on(chip, power->at_ns + power->cut.off_ns);
}

bool chip_is_off(struct chip *chip, struct chip_facts *facts)
{
	struct chip_power *power = &chip->power;

	facts->lost_power = !power->reported;
	facts->lost_power_ns = power->reported ? 0 : power->at_ns;
	power->reported = true;
	if (power->off)
		facts->name = "OFF";
	return power->off;
}

void chip_settle(struct chip *chip, uint64_t now_ns)
{
	const struct chip_pending *pending = &chip->pending;

	settle_power(chip, now_ns);
	if (pending->work == CHIP_WORK_NONE || now_ns < chip->busy_until_ns || is_stuck(chip))
		return;
	if (pending->work == CHIP_WORK_ERASE)
		array_erase(&chip->array, pending->address, pending->size_bytes);
	else if (pending->work == CHIP_WORK_PROGRAM)
		take_latch(chip);
	if (chip->family->finish)
		chip->family->finish(chip, false);
	chip->pending.work = CHIP_WORK_NONE;
}

static uint32_t erased_bytes(const struct chip *chip, uint64_t now_ns)
{
	uint64_t size_bytes = chip->pending.size_bytes;
	uint64_t work_ns = chip->busy_until_ns - chip->busy_since_ns;
	uint64_t done_ns = now_ns - chip->busy_since_ns;

	if (done_ns >= work_ns)
		return 0; /* the zero corner, or stuck work: nothing counts as done */
	/*
	 * Counts in units of 16 bytes and 1024 ns, so that the product fits into 64 bits, even for
	 * an erase of 64 MiB in an hour that CORNER_SLOW makes 1000 times longer.
	 */
	return 16 * (uint32_t)(size_bytes / 16 * (done_ns >> 10) / ((work_ns >> 10) + 1));
}

void chip_leave_halfway(struct chip *chip, const struct chip_pending *work, uint32_t erased_bytes)
{
	const struct chip_latch *latch = &chip->latch;

	if (work->work == CHIP_WORK_ERASE)
		halfway_erase(&chip->array, work->address, work->size_bytes, erased_bytes,
			chip->noise_seed);
	else if (work->work == CHIP_WORK_PROGRAM)
		halfway_program(&chip->array, latch->address, latch->bytes, latch->size_bytes,
			latch->replaces, chip->noise_seed);
}

/* Work that waits for further bytes or sectors has not begun, and leaves nothing half done. */
void chip_abort_work(struct chip *chip, uint64_t now_ns)
{
	if (chip->pending.work == CHIP_WORK_NONE)
		return;
	if (now_ns >= chip->busy_since_ns)
		chip_leave_halfway(chip, &chip->pending, erased_bytes(chip, now_ns));
	chip->busy_until_ns = now_ns;
	if (chip->family->finish)
		chip->family->finish(chip, true);
	chip->pending.work = CHIP_WORK_NONE;
}

uint64_t chip_busy_left_ns(const struct chip *chip, uint64_t now_ns)
{
	bool busy = chip->pending.work != CHIP_WORK_NONE && now_ns < chip->busy_until_ns;

	return busy ? chip->busy_until_ns - now_ns : 0;
}

static struct corner_use next_use(
	struct chip *chip, const struct chip_pending *work, uint8_t opcode)
{
	switch (work->work) {
	case CHIP_WORK_PROGRAM:
		return uses_next_program(&chip->uses, opcode, work->address);
	case CHIP_WORK_ERASE:
		return uses_next_erase(&chip->uses, opcode, work->address);
	default:
		return uses_next(&chip->uses, opcode);
	}
}

static bool has_early_wel(const struct chip *chip)
{
	return chip->part->spi && chip->part->spi->early_wel.known;
}

/* Only draws use the counts of uses; without draws, their memory is never touched. */
static bool has_draws(const struct chip *chip)
{
	return chip->corner.kind == CORNER_DRAW || has_early_wel(chip);
}

void chip_start_work(struct chip *chip, uint64_t end_ns, const struct chip_pending *work,
	const struct busy_time *busy, struct chip_facts *facts)
{
	struct corner_use use = {0};
	struct figure figure;

	if (has_draws(chip))
		use = next_use(chip, work, facts->opcode);
	figure = corner_figure(&chip->corner, busy, &use);
	chip->work_count++;
	chip_start_fixed_work(chip, end_ns, work, figure, CHIP_RULE_BUSY, facts);
	if (has_early_wel(chip))
		chip->spi.wel_until_ns =
			end_ns + corner_moment_ns(chip->noise_seed, &use, figure.ns);
	count_work(chip);
}

void chip_start_fixed_work(struct chip *chip, uint64_t end_ns, const struct chip_pending *work,
	struct figure figure, enum chip_rule rule, struct chip_facts *facts)
{
	chip->pending = *work;
	chip->busy_since_ns = end_ns;
	chip->busy_until_ns = end_ns + figure.ns;
	chip->spi.wel_until_ns = UINT64_MAX;
	chip_owe(chip, end_ns, figure, rule);
	chip->debt.endless = is_stuck(chip);
	facts->stuck_nth = chip->debt.endless ? chip->work_count : 0;
	facts->work = work->work;
	facts->work_ns = figure.ns;
	facts->work_grade = figure.grade;
}

void chip_owe(struct chip *chip, uint64_t end_ns, struct figure wait, enum chip_rule rule)
{
	chip->debt.ready_ns = end_ns + wait.ns;
	chip->debt.rule = rule;
	chip->debt.grade = wait.grade;
	chip->debt.open = true;
	chip->debt.endless = false;
}

enum chip_rule chip_check_debt(struct chip_debt *debt, uint64_t now_ns, struct chip_facts *facts)
{
	if (!debt->open)
		return CHIP_RULE_NONE;
	if (debt->endless && now_ns >= debt->ready_ns)
		return CHIP_RULE_STUCK;
	facts->owed = true;
	facts->grade = debt->grade;
	facts->margin_ns = (int64_t)(now_ns - debt->ready_ns);
	if (now_ns < debt->ready_ns)
		return debt->rule;
	debt->open = false;
	return CHIP_RULE_NONE;
}

#define NAME(id_, name_) name_,

const char *chip_rule_name(enum chip_rule rule)
{
	static const char *const names[] = {CHIP_RULES(NAME)};

	assert((size_t)rule < sizeof(names) / sizeof(names[0]));
	return names[rule];
}

const char *chip_work_name(enum chip_work work)
{
	static const char *const names[] = {CHIP_WORKS(NAME)};

	assert((size_t)work < sizeof(names) / sizeof(names[0]));
	return names[work];
}
