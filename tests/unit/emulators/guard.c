/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "guard.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CANARY 0xC7

static void check(const struct guard *guard, bool holds, const char *what)
{
	if (holds)
		return;
	fprintf(stderr,
		"%s, step %u, command %02X (%s), rule %s: %s\n"
		"repeat with: test_properties 1 %llu\n",
		guard->chip->part->name, guard->step, guard->opcode, guard->facts.name,
		guard->facts.rule ? chip_rule_name(guard->facts.rule) : "none", what,
		(unsigned long long)guard->seed);
	exit(1);
}

/* Checks of the content. */

uint32_t guard_window_address(const struct part *part, size_t index)
{
	switch (index) {
	case 0:
		return 0;
	case 1:
		return part->size_bytes / 2 - GUARD_WINDOW_BYTES / 2;
	default:
		return part->size_bytes - GUARD_WINDOW_BYTES;
	}
}

static uint32_t window_address(const struct guard *guard, size_t index)
{
	return guard_window_address(guard->chip->part, index);
}

static void remember(struct guard *guard)
{
	for (size_t i = 0; i < GUARD_WINDOW_COUNT; i++)
		array_read(&guard->chip->array, window_address(guard, i), guard->content[i],
			GUARD_WINDOW_BYTES);
}

static bool covers(const struct guard_span *work, uint32_t address)
{
	return work->open && address - work->address < work->size_bytes;
}

static bool explains(const struct guard_span *work, uint8_t before, uint8_t after, bool cut_off)
{
	if (cut_off)
		return work->work == CHIP_WORK_ERASE || work->replaces || !(after & ~before);
	if (work->work == CHIP_WORK_ERASE)
		return after == 0xFF;
	return work->replaces || !(after & ~before);
}

static void check_byte(
	struct guard *guard, uint32_t address, uint8_t before, uint8_t after, bool cut_off)
{
	for (size_t i = 0; i < GUARD_WORKS_MAX; i++) {
		const struct guard_span *work = &guard->works[i];

		if (covers(work, address) && explains(work, before, after, cut_off))
			return;
	}
	check(guard, false, "a byte changed that no open work explains");
}

static bool check_content(struct guard *guard, bool cut_off)
{
	bool changed = false;

	for (size_t i = 0; i < GUARD_WINDOW_COUNT; i++) {
		uint8_t after[GUARD_WINDOW_BYTES];

		array_read(
			&guard->chip->array, window_address(guard, i), after, GUARD_WINDOW_BYTES);
		if (memcmp(after, guard->content[i], GUARD_WINDOW_BYTES) == 0)
			continue;
		changed = true;
		for (size_t j = 0; j < GUARD_WINDOW_BYTES; j++) {
			if (after[j] != guard->content[i][j])
				check_byte(guard, window_address(guard, i) + (uint32_t)j,
					guard->content[i][j], after[j], cut_off);
		}
	}
	guard->counts->changes += changed;
	return changed;
}

void guard_check_untouched(const struct guard *guard)
{
	const struct array *array = &guard->chip->array;

	for (uint32_t at = 0; at < array->size_bytes; at += ARRAY_GRANULE_BYTES) {
		if (!array_granule_is_erased(array, at))
			check(guard, guard->touched[at / ARRAY_GRANULE_BYTES],
				"a granule was written that no work covered");
	}
}

/* Checks of works. */

static bool replaces(const struct guard *guard)
{
	switch (guard->chip->part->family) {
	case PART_SPI_EEPROM:
	case PART_SPI_DATAFLASH:
	case PART_JEDEC_PAGE:
		return true;
	default:
		return false;
	}
}

static struct guard_span span_of(const struct guard *guard)
{
	const struct part *part = guard->chip->part;
	struct guard_span span = {
		.work = guard->facts.work, .open = true, .replaces = replaces(guard)};
	const struct part_erase *erase = part_erase_find(part, guard->facts.opcode);
	struct part_block block = {.size_bytes = part->size_bytes};

	span.address = guard->facts.address - guard->facts.address % part->page_bytes;
	span.size_bytes = part->family == PART_SPI_AAI ? 2 : part->page_bytes;
	if (span.work == CHIP_WORK_PROGRAM)
		return span;
	check(guard, erase != NULL, "an erase by an opcode that does not erase");
	check(guard, part_erase_block(erase, guard->facts.address, &block),
		"an erase outside all blocks");
	span.address = block.address;
	span.size_bytes = block.size_bytes;
	return span;
}

static void touch(struct guard *guard, const struct guard_span *span)
{
	uint32_t first = span->address / ARRAY_GRANULE_BYTES;
	uint32_t last = (span->address + span->size_bytes - 1) / ARRAY_GRANULE_BYTES;

	memset(guard->touched + first, 1, last - first + 1);
}

static bool is_locked(const struct guard *guard, uint32_t address)
{
	const struct part_protection *protection = &guard->chip->part->spi->protection;
	const struct part_flag *flag = &protection->locks_flag;
	struct part_block block;

	if (flag->mask && !(guard->chip->spi.status[flag->index] & flag->mask))
		return false;
	return region_find_block(
		       protection->lock_regions, protection->lock_region_count, address, &block) &&
	       guard->chip->spi.locks[block.index / 8] >> block.index % 8 & 1;
}

static bool ranges_count(const struct guard *guard)
{
	const struct part_flag *flag = &guard->chip->part->spi->protection.locks_flag;

	return !(guard->chip->spi.status[flag->index] & flag->mask);
}

static void check_unprotected(const struct guard *guard, const struct guard_span *span)
{
	const struct part_spi *spi = guard->chip->part->spi;

	if (!spi)
		return;
	check(guard, !is_locked(guard, span->address), "a work began in a locked block");
	check(guard,
		!ranges_count(guard) ||
			!protection_covers(&spi->protection, guard->chip->part->size_bytes,
				guard->chip->spi.status, span->address, 1),
		"a work began where protection is on");
}

static void add_work(struct guard *guard)
{
	struct guard_span span = span_of(guard);

	check_unprotected(guard, &span);
	touch(guard, &span);
	guard->works[guard->work_count++ % GUARD_WORKS_MAX] = span;
	guard->counts->works++;
}

/* Closes all works if none is pending or suspended: none may change a byte any more. */
static void close_works(struct guard *guard)
{
	const struct chip *chip = guard->chip;

	if (chip->pending.work != CHIP_WORK_NONE || chip->spi.suspended.open)
		return;
	for (size_t i = 0; i < GUARD_WORKS_MAX; i++)
		guard->works[i].open = false;
}

/* Checks of commands. */

static bool needs_write_enable(const struct guard *guard)
{
	return guard->chip->part->spi && guard->chip->part->family != PART_SPI_DATAFLASH;
}

static bool is_reset(const struct guard *guard)
{
	uint8_t opcode = guard->opcode;

	return opcode == 0x99 || opcode == 0xF0 || guard->facts.lost_power;
}

static bool is_suspend(const struct guard *guard)
{
	return guard->facts.work == CHIP_WORK_SUSPEND;
}

/* 29F parts forget an erase if another command comes during its window. */
static bool is_forgotten(const struct guard *guard, uint64_t since_ns)
{
	return guard->chip->part->family == PART_JEDEC_BYTE && guard->now_ns < since_ns;
}

static struct guard_state state_of(const struct guard *guard)
{
	const struct chip *chip = guard->chip;

	return (struct guard_state){
		.busy_until_ns = chip->busy_until_ns,
		.busy_since_ns = chip->busy_since_ns,
		.busy = chip->pending.work != CHIP_WORK_NONE && chip->busy_until_ns > guard->now_ns,
		.enabled = chip->spi.write_enabled,
	};
}

static bool is_array_work(enum chip_work work)
{
	return work == CHIP_WORK_PROGRAM || work == CHIP_WORK_ERASE;
}

static bool is_resume(const struct guard *guard)
{
	return guard->chip->part->family == PART_SPI_NOR &&
	       guard->facts.opcode == guard->chip->part->spi->suspend.resume_opcode;
}

static bool continues(const struct guard *guard, const struct guard_state *before)
{
	return is_resume(guard) || (guard->chip->part->parallel && before->busy);
}

static void check_facts(struct guard *guard, const struct guard_state *before)
{
	const struct chip_facts *facts = &guard->facts;

	check(guard, facts->name != NULL, "a command without a name");
	if (facts->rule != CHIP_RULE_NONE)
		check(guard, facts->work == CHIP_WORK_NONE, "a refused command began a work");
	if (!is_reset(guard) && !is_suspend(guard) && !is_forgotten(guard, before->busy_since_ns) &&
		before->busy)
		check(guard, facts->busy_until_ns >= before->busy_until_ns,
			"the busy time became shorter");
	if (facts->rule == CHIP_RULE_BUSY)
		check(guard, facts->owed && facts->margin_ns < 0,
			"rule busy without a negative margin");
	if (!is_array_work(facts->work) || continues(guard, before))
		return;
	check(guard, !before->busy || facts->lost_power,
		"a work began while another was under way");
	if (needs_write_enable(guard))
		check(guard, before->enabled, "a work began without write enable");
}

static void count(struct guard *guard)
{
	const struct chip_facts *facts = &guard->facts;

	guard->counts->steps++;
	guard->counts->violations += facts->rule != CHIP_RULE_NONE;
	guard->counts->power_cuts += facts->lost_power;
	guard->counts->resumes += is_array_work(facts->work) && is_resume(guard);
}

uint8_t *guard_reply(struct guard *guard, size_t len)
{
	assert(len <= GUARD_REPLY_BYTES_MAX);
	guard->reply_len = len;
	memset(guard->reply, guard->fill, len);
	guard->reply[len] = CANARY;
	return guard->reply;
}

static void digest_reply(struct guard *guard)
{
	for (size_t i = 0; i < guard->reply_len; i++)
		guard->replies = (guard->replies ^ guard->reply[i]) * UINT64_C(0x100000001B3);
}

void guard_before(struct guard *guard, uint64_t now_ns)
{
	guard->now_ns = now_ns;
	guard->before = state_of(guard);
	remember(guard);
}

void guard_after(
	struct guard *guard, uint8_t opcode, const struct chip_facts *facts, uint64_t now_ns)
{
	const struct guard_state *before = &guard->before;
	bool cut_off;
	bool changed;

	guard->now_ns = now_ns;
	guard->opcode = opcode;
	guard->facts = *facts;
	count(guard);
	digest_reply(guard);
	check(guard, guard->reply[guard->reply_len] == CANARY, "a reply was written past its end");
	check_facts(guard, before);
	cut_off = is_reset(guard) || facts->lost_power;
	changed = check_content(guard, cut_off);
	check(guard, !changed || cut_off || before->busy_until_ns <= now_ns,
		"bytes changed before their time was over");
	if (is_array_work(facts->work) && guard->chip->pending.work == facts->work &&
		!is_resume(guard))
		add_work(guard);
	close_works(guard);
}

void guard_init(struct guard *guard, const struct chip *chip, uint64_t seed, uint8_t fill,
	struct guard_counts *counts)
{
	*guard = (struct guard){
		.chip = chip,
		.counts = counts,
		.seed = seed,
		.fill = fill,
		.touched = calloc(1, chip->part->size_bytes / ARRAY_GRANULE_BYTES),
	};
	if (!guard->touched)
		abort();
	guard_reply(guard, 0);
}

void guard_deinit(struct guard *guard)
{
	free(guard->touched);
}
