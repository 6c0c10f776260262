/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What no sequence of commands may break, tried with random ones on every part at random corners
 * and times. A guard watches from outside, by the facts and by what the array holds:
 *
 *   - bytes change only inside what a work covers that was begun in time, enabled and unprotected,
 *     and only when its time is over or it was cut off;
 *   - a program sets no bit, unless the part erases first; an erase leaves FFh;
 *   - a busy time never shrinks, unless a reset, a suspend or a loss of power ends it;
 *   - a command that broke a rule begins nothing and changes nothing;
 *   - every reply is written to its end and no further.
 *
 *     test_properties [SECONDS [SEED]]
 *
 * goes on for SECONDS, from SEED up; without them it is a bounded run from a fixed seed.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "map_zeros.h"
#include "model/chip.h"

#define ROUNDS_DEFAULT 40
#define STEPS 400
#define WORKS_MAX 64 /* more than are begun while an erase is suspended */
#define COMMAND_BYTES_MAX 300
#define REPLY_BYTES_MAX 300
#define CANARY 0xC7

/* What is compared after each step: where the addresses of all commands lie. */
#define WINDOW_BYTES 1024
#define WINDOW_COUNT 3

struct span {
	uint32_t address;
	uint32_t size_bytes;
	enum chip_work work;
	bool replaces;
	bool open; /* still to be done, or just cut off */
};

struct counts {
	uint64_t steps;
	uint64_t works;
	uint64_t resumes;
	uint64_t violations;
	uint64_t power_cuts;
	uint64_t changes;
};

struct guard {
	const struct part *part;
	struct chip chip;
	void *memory;
	uint64_t seed;
	uint64_t random;
	uint64_t now_ns;
	unsigned int step;
	struct span works[WORKS_MAX]; /* a ring of the last ones */
	size_t work_count;
	uint8_t *touched; /* granules that some work covered, a byte each */
	uint8_t before[WINDOW_COUNT][WINDOW_BYTES];
	uint8_t command[COMMAND_BYTES_MAX];
	size_t command_len;
	uint8_t reply[REPLY_BYTES_MAX + 1];
	struct chip_facts facts;
	struct counts *counts;
};

static uint64_t next(struct guard *guard)
{
	guard->random ^= guard->random << 13;
	guard->random ^= guard->random >> 7;
	guard->random ^= guard->random << 17;
	return guard->random * UINT64_C(0x2545F4914F6CDD1D) >> 16;
}

static uint64_t below(struct guard *guard, uint64_t limit)
{
	return next(guard) % limit;
}

static bool one_in(struct guard *guard, uint64_t n)
{
	return below(guard, n) == 0;
}

static void check(const struct guard *guard, bool holds, const char *what)
{
	if (holds)
		return;
	fprintf(stderr,
		"%s, step %u, command %02X (%s), rule %s: %s\n"
		"again: test_properties 1 %llu\n",
		guard->part->name, guard->step, guard->command[0], guard->facts.name,
		guard->facts.rule ? chip_rule_name(guard->facts.rule) : "none", what,
		(unsigned long long)guard->seed);
	exit(1);
}

/* The content. */

static uint32_t window_address(const struct guard *guard, size_t index)
{
	switch (index) {
	case 0:
		return 0;
	case 1:
		return guard->part->size_bytes / 2 - WINDOW_BYTES / 2;
	default:
		return guard->part->size_bytes - WINDOW_BYTES;
	}
}

static uint32_t random_address(struct guard *guard)
{
	return window_address(guard, below(guard, WINDOW_COUNT)) +
	       (uint32_t)below(guard, WINDOW_BYTES);
}

static void remember(struct guard *guard)
{
	for (size_t i = 0; i < WINDOW_COUNT; i++)
		array_read(&guard->chip.array, window_address(guard, i), guard->before[i],
			WINDOW_BYTES);
}

static bool covers(const struct span *work, uint32_t address)
{
	return work->open && address - work->address < work->size_bytes;
}

static bool explains(const struct span *work, uint8_t before, uint8_t after, bool cut_off)
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
	for (size_t i = 0; i < WORKS_MAX; i++) {
		const struct span *work = &guard->works[i];

		if (covers(work, address) && explains(work, before, after, cut_off))
			return;
	}
	check(guard, false, "a byte changed that no work in hand explains");
}

static bool check_content(struct guard *guard, bool cut_off)
{
	bool changed = false;

	for (size_t i = 0; i < WINDOW_COUNT; i++) {
		uint8_t after[WINDOW_BYTES];

		array_read(&guard->chip.array, window_address(guard, i), after, WINDOW_BYTES);
		if (memcmp(after, guard->before[i], WINDOW_BYTES) == 0)
			continue;
		changed = true;
		for (size_t j = 0; j < WINDOW_BYTES; j++) {
			if (after[j] != guard->before[i][j])
				check_byte(guard, window_address(guard, i) + (uint32_t)j,
					guard->before[i][j], after[j], cut_off);
		}
	}
	guard->counts->changes += changed;
	return changed;
}

/* Nothing was ever put where no work was. */
static void check_untouched(struct guard *guard)
{
	const struct array *array = &guard->chip.array;

	for (uint32_t at = 0; at < array->size_bytes; at += ARRAY_GRANULE_BYTES) {
		if (!array_granule_is_erased(array, at))
			check(guard, guard->touched[at / ARRAY_GRANULE_BYTES],
				"a granule was written that no work covered");
	}
}

/* Works. */

static bool replaces(const struct guard *guard)
{
	switch (guard->part->family) {
	case PART_SPI_EEPROM:
	case PART_SPI_DATAFLASH:
	case PART_JEDEC_PAGE:
		return true;
	default:
		return false;
	}
}

static struct span span_of(const struct guard *guard)
{
	const struct part *part = guard->part;
	struct span span = {.work = guard->facts.work, .open = true, .replaces = replaces(guard)};
	const struct part_erase *erase = part_erase_find(part, guard->facts.opcode);
	struct part_block block = {.size_bytes = part->size_bytes};

	span.address = guard->facts.address - guard->facts.address % part->page_bytes;
	span.size_bytes = part->family == PART_SPI_AAI ? 2 : part->page_bytes;
	if (span.work == CHIP_WORK_PROGRAM)
		return span;
	check(guard, erase != NULL, "an erase by an opcode that is none");
	check(guard, part_erase_block(erase, guard->facts.address, &block), "an erase of no block");
	span.address = block.address;
	span.size_bytes = block.size_bytes;
	return span;
}

static void touch(struct guard *guard, const struct span *span)
{
	uint32_t first = span->address / ARRAY_GRANULE_BYTES;
	uint32_t last = (span->address + span->size_bytes - 1) / ARRAY_GRANULE_BYTES;

	memset(guard->touched + first, 1, last - first + 1);
}

static bool is_locked(const struct guard *guard, uint32_t address)
{
	const struct part_protection *protection = &guard->part->spi->protection;
	const struct part_flag *flag = &protection->locks_flag;
	struct part_block block;

	if (flag->mask && !(guard->chip.spi.status[flag->index] & flag->mask))
		return false;
	return region_find_block(
		       protection->lock_regions, protection->lock_region_count, address, &block) &&
	       guard->chip.spi.locks[block.index / 8] >> block.index % 8 & 1;
}

static bool ranges_count(const struct guard *guard)
{
	const struct part_flag *flag = &guard->part->spi->protection.locks_flag;

	return !(guard->chip.spi.status[flag->index] & flag->mask);
}

static void check_unprotected(const struct guard *guard, const struct span *span)
{
	const struct part_spi *spi = guard->part->spi;

	if (!spi)
		return;
	check(guard, !is_locked(guard, span->address), "a work began in a locked block");
	check(guard,
		!ranges_count(guard) ||
			!protection_covers(&spi->protection, guard->part->size_bytes,
				guard->chip.spi.status, span->address, 1),
		"a work began where protection is on");
}

static void add_work(struct guard *guard)
{
	struct span span = span_of(guard);

	check_unprotected(guard, &span);
	touch(guard, &span);
	guard->works[guard->work_count++ % WORKS_MAX] = span;
	guard->counts->works++;
}

/* Once nothing is in hand or suspended, no work may change anything any more. */
static void close_works(struct guard *guard)
{
	const struct chip *chip = &guard->chip;

	if (chip->pending.work != CHIP_WORK_NONE || chip->spi.suspended.open)
		return;
	for (size_t i = 0; i < WORKS_MAX; i++)
		guard->works[i].open = false;
}

/* Commands. */

static bool needs_write_enable(const struct guard *guard)
{
	return guard->part->spi && guard->part->family != PART_SPI_DATAFLASH;
}

static bool is_reset(const struct guard *guard)
{
	uint8_t opcode = guard->command[0];

	return opcode == 0x99 || opcode == 0xF0 || guard->facts.lost_power;
}

static bool is_suspend(const struct guard *guard)
{
	return guard->facts.work == CHIP_WORK_SUSPEND;
}

/* 29F parts forget an erase whose window something else came into. */
static bool is_forgotten(const struct guard *guard, uint64_t since_ns)
{
	return guard->part->family == PART_JEDEC_BYTE && guard->now_ns < since_ns;
}

struct moment {
	uint64_t busy_until_ns;
	uint64_t busy_since_ns;
	bool busy;
	bool enabled;
};

static struct moment moment_before(struct guard *guard)
{
	const struct chip *chip = &guard->chip;

	remember(guard);
	return (struct moment){
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
	return guard->part->family == PART_SPI_NOR &&
	       guard->facts.opcode == guard->part->spi->suspend.resume_opcode;
}

static bool continues(const struct guard *guard, const struct moment *before)
{
	return is_resume(guard) || (guard->part->parallel && before->busy);
}

static void check_facts(struct guard *guard, const struct moment *before)
{
	const struct chip_facts *facts = &guard->facts;

	check(guard, facts->name != NULL, "a command without a name");
	if (facts->rule != CHIP_RULE_NONE)
		check(guard, facts->work == CHIP_WORK_NONE, "a refused command began a work");
	if (!is_reset(guard) && !is_suspend(guard) && !is_forgotten(guard, before->busy_since_ns) &&
		before->busy)
		check(guard, facts->busy_until_ns >= before->busy_until_ns, "busy shrank");
	if (facts->rule == CHIP_RULE_BUSY)
		check(guard, facts->owed && facts->margin_ns < 0, "busy without a margin");
	if (!is_array_work(facts->work) || continues(guard, before))
		return;
	check(guard, !before->busy || facts->lost_power,
		"a work began while another was under way");
	if (needs_write_enable(guard))
		check(guard, before->enabled, "a work began without write enable");
}

static void check_step(struct guard *guard, const struct moment *before)
{
	const struct chip_facts *facts = &guard->facts;
	bool cut_off = is_reset(guard) || facts->lost_power;
	bool changed;

	guard->counts->steps++;
	guard->counts->violations += facts->rule != CHIP_RULE_NONE;
	guard->counts->power_cuts += facts->lost_power;
	guard->counts->resumes += is_array_work(facts->work) && is_resume(guard);
	check_facts(guard, before);
	changed = check_content(guard, cut_off);
	check(guard, !changed || cut_off || before->busy_until_ns <= guard->now_ns,
		"bytes changed before their time was over");
	if (is_array_work(facts->work) && guard->chip.pending.work == facts->work &&
		!is_resume(guard))
		add_work(guard);
	close_works(guard);
}

/* Random input, mostly of what a part knows, so that much of it is legal. */

static const uint8_t spi_opcodes[] = {0x01, 0x02, 0x02, 0x02, 0x03, 0x04, 0x05, 0x05, 0x06, 0x06,
	0x06, 0x0B, 0x11, 0x12, 0x13, 0x15, 0x16, 0x17, 0x20, 0x20, 0x20, 0x21, 0x30, 0x31, 0x35,
	0x36, 0x39, 0x3C, 0x3D, 0x42, 0x50, 0x52, 0x53, 0x5A, 0x5C, 0x60, 0x66, 0x70, 0x72, 0x75,
	0x7A, 0x7E, 0x81, 0x82, 0x83, 0x84, 0x87, 0x88, 0x8D, 0x90, 0x98, 0x99, 0x9F, 0xAB, 0xAD,
	0xB0, 0xB7, 0xB9, 0xC5, 0xC7, 0xC8, 0xD2, 0xD7, 0xD8, 0xDC, 0xE8, 0xE9, 0xF0, 0xFF};

/* Chance alone seldom finds its way into a suspended work and out of it. */
static uint8_t random_opcode(struct guard *guard)
{
	const struct part_suspend *suspend = &guard->part->spi->suspend;

	if (guard->chip.spi.suspended.open && one_in(guard, 5))
		return suspend->resume_opcode;
	if (guard->chip.pending.work != CHIP_WORK_NONE && suspend->opcode && one_in(guard, 5))
		return suspend->opcode;
	if (one_in(guard, 50))
		return (uint8_t)next(guard);
	return spi_opcodes[below(guard, sizeof(spi_opcodes))];
}

static size_t random_tail(struct guard *guard)
{
	switch (below(guard, 4)) {
	case 0:
		return 0;
	case 1:
		return 1 + below(guard, 3);
	case 2:
		return below(guard, 18);
	default:
		return one_in(guard, 4) ? below(guard, 280) : 1;
	}
}

/* Opcode, often an address of three or four bytes, sometimes data. */
static void make_command(struct guard *guard)
{
	uint32_t address = random_address(guard);
	size_t address_len = below(guard, 4) ? 3 + one_in(guard, 5) : 0;
	uint8_t *at = guard->command;

	*at++ = random_opcode(guard);
	if (one_in(guard, 4)) {
		guard->command_len = 1;
		return;
	}
	for (size_t i = address_len; i > 0; i--)
		*at++ = (uint8_t)(address >> 8 * (i - 1));
	for (size_t i = random_tail(guard); i > 0; i--)
		*at++ = one_in(guard, 2) ? 0x00 : (uint8_t)next(guard);
	guard->command_len = (size_t)(at - guard->command);
}

static void send(struct guard *guard, uint64_t end_ns)
{
	size_t reply_len = one_in(guard, 8) ? below(guard, REPLY_BYTES_MAX) : below(guard, 8);
	struct chip_transfer transfer = {
		.start_ns = guard->now_ns,
		.end_ns = end_ns,
		.command = guard->command,
		.command_len = guard->command_len,
		.reply = guard->reply,
		.reply_len = reply_len,
	};

	guard->reply[reply_len] = CANARY;
	chip_transfer(&guard->chip, &transfer, &guard->facts);
	check(guard, guard->reply[reply_len] == CANARY, "a reply was written past its end");
}

/* A busy part is given its time, or nearly, or hardly any. */
static void let_time_pass(struct guard *guard)
{
	uint64_t until_ns = guard->chip.busy_until_ns;
	uint64_t left_ns = until_ns > guard->now_ns ? until_ns - guard->now_ns : 0;

	switch (below(guard, 6)) {
	case 0:
		guard->now_ns += left_ns + below(guard, 100);
		break;
	case 1:
		guard->now_ns += left_ns > 0 ? left_ns - 1 : 0;
		break;
	case 2:
		guard->now_ns += left_ns / 2;
		break;
	case 3:
		guard->now_ns += below(guard, 50000);
		break;
	default:
		guard->now_ns += below(guard, 100);
		break;
	}
}

static void step_spi(struct guard *guard)
{
	uint64_t end_ns = guard->now_ns + below(guard, 2000);
	struct moment before;

	make_command(guard);
	before = moment_before(guard);
	send(guard, end_ns);
	check_step(guard, &before);
	guard->now_ns = end_ns;
}

/* Cycles: sequences that are often whole, so that works begin. */

static uint32_t bus_address(const struct guard *guard, uint32_t address)
{
	if (guard->part->parallel->bus == PARALLEL_BUS_PARALLEL)
		return address;
	return 0x1000000 - guard->part->size_bytes + address;
}

static void write_one(struct guard *guard, uint32_t address, uint8_t value)
{
	uint64_t end_ns = guard->now_ns + guard->part->parallel->cycle_ns;
	struct moment before = moment_before(guard);

	guard->command[0] = value;
	guard->command_len = 1;
	chip_write_cycle(&guard->chip, guard->now_ns, end_ns, address, value, &guard->facts);
	check_step(guard, &before);
	guard->now_ns = end_ns;
}

static void read_some(struct guard *guard)
{
	size_t len = 1 + below(guard, one_in(guard, 8) ? REPLY_BYTES_MAX : 4);
	struct moment before = moment_before(guard);

	guard->command[0] = 0;
	guard->reply[len] = CANARY;
	chip_read_cycles(&guard->chip, guard->now_ns, bus_address(guard, random_address(guard)),
		guard->reply, len, &guard->facts);
	check(guard, guard->reply[len] == CANARY, "a reply was written past its end");
	guard->now_ns += len * guard->part->parallel->cycle_ns;
	check_step(guard, &before);
}

static void write_unlock(struct guard *guard, uint8_t value)
{
	const struct part_unlock *unlock = &guard->part->parallel->unlock;

	write_one(guard, bus_address(guard, unlock->addresses[0]), 0xAA);
	if (one_in(guard, 20))
		let_time_pass(guard);
	write_one(guard, bus_address(guard, unlock->addresses[1]), 0x55);
	write_one(guard, bus_address(guard, unlock->addresses[0]), value);
}

static void write_jedec(struct guard *guard)
{
	static const uint8_t commands[] = {0xA0, 0xA0, 0xA0, 0x80, 0x80, 0x90, 0xF0, 0xB0, 0x30};
	static const uint8_t setups[] = {0x30, 0x30, 0x50, 0x10, 0x60, 0x20, 0xA0};
	uint8_t command = commands[below(guard, sizeof(commands))];
	const struct part_unlock *unlock = &guard->part->parallel->unlock;
	uint32_t address = random_address(guard);

	write_unlock(guard, command);
	if (command == 0xA0) {
		for (size_t i = 1 + below(guard, 20); i > 0; i--)
			write_one(guard, bus_address(guard, address + (uint32_t)i % 64),
				(uint8_t)next(guard));
	} else if (command == 0x80) {
		write_one(guard, bus_address(guard, unlock->addresses[0]), 0xAA);
		write_one(guard, bus_address(guard, unlock->addresses[1]), 0x55);
		write_one(guard,
			bus_address(guard, one_in(guard, 4) ? unlock->addresses[0] : address),
			setups[below(guard, sizeof(setups))]);
	}
}

static void write_fwh(struct guard *guard)
{
	static const uint8_t commands[] = {0x40, 0x10, 0x20, 0x20, 0x70, 0x50, 0x90, 0xFF, 0xB0};
	uint8_t command = commands[below(guard, sizeof(commands))];
	uint32_t address = bus_address(guard, random_address(guard));

	write_one(guard, address, command);
	if (command == 0x40 || command == 0x10)
		write_one(guard, address, (uint8_t)next(guard));
	else if (command == 0x20)
		write_one(guard, address, one_in(guard, 4) ? 0x00 : 0xD0);
}

static void step_cycles(struct guard *guard)
{
	static const uint8_t bare[] = {0xF0, 0x30, 0xAA, 0x00, 0xD0, 0xB0};
	uint32_t lock = 0xB80002 + 0x10000 * (uint32_t)below(guard, 8);

	switch (below(guard, 8)) {
	case 0:
	case 1:
		read_some(guard);
		break;
	case 2:
		write_one(guard, bus_address(guard, random_address(guard)),
			bare[below(guard, sizeof(bare))]);
		break;
	case 3:
		if (guard->part->parallel->bus != PARALLEL_BUS_PARALLEL) {
			write_one(guard, lock, one_in(guard, 8) ? 0x01 : 0x00);
			break;
		}
		/* fall through */
	default:
		if (guard->part->family == PART_FWH)
			write_fwh(guard);
		else
			write_jedec(guard);
	}
}

static void step_one(struct guard *guard)
{
	if (guard->part->parallel)
		step_cycles(guard);
	else
		step_spi(guard);
	let_time_pass(guard);
}

/* Rounds. */

static void choose_corner(struct guard *guard, struct corner *corner)
{
	static const enum corner_kind kinds[] = {
		CORNER_MIN, CORNER_TYP, CORNER_MAX, CORNER_ZERO, CORNER_DRAW, CORNER_SLOW};

	*corner = (struct corner){
		.kind = kinds[below(guard, sizeof(kinds) / sizeof(kinds[0]))],
		.seed = next(guard),
		.factor = 1 + (uint32_t)below(guard, 5),
	};
}

static void plan_power_cut(struct guard *guard)
{
	struct power_cut cut = {
		.nth = 1 + (uint32_t)below(guard, 8),
		.is_percent = one_in(guard, 2),
		.after = below(guard, 101),
		.off_ns = 1 + below(guard, 1000000),
	};

	if (one_in(guard, 2))
		chip_plan_power_cut(&guard->chip, &cut);
}

/* Most parts begin locked: then nothing would ever be written. */
static void unlock(struct guard *guard)
{
	memset(guard->chip.spi.locks, 0, sizeof(guard->chip.spi.locks));
	memset(guard->chip.spi.status, 0, sizeof(guard->chip.spi.status));
	memset(guard->chip.spi.status_stored, 0, sizeof(guard->chip.spi.status_stored));
	if (guard->part->parallel)
		memset(guard->chip.parallel.locks, 0, sizeof(guard->chip.parallel.locks));
}

static void run_round(struct guard *guard)
{
	struct corner corner;

	choose_corner(guard, &corner);
	chip_init(&guard->chip, guard->part, &corner, guard->memory);
	unlock(guard);
	plan_power_cut(guard);
	for (guard->step = 0; guard->step < STEPS; guard->step++)
		step_one(guard);
	check_untouched(guard);
}

static void run_part(const struct part *part, uint64_t seed, struct counts *counts)
{
	struct guard guard = {
		.part = part,
		.seed = seed,
		.random = seed * UINT64_C(0x9E3779B97F4A7C15) + 1,
		.now_ns = 1000000000,
		.memory = map_zeros(chip_memory_bytes(part)),
		.touched = calloc(1, part->size_bytes / ARRAY_GRANULE_BYTES),
		.counts = counts,
	};

	if (!guard.touched)
		abort();
	run_round(&guard);
	munmap(guard.memory, chip_memory_bytes(part));
	free(guard.touched);
}

static uint64_t number(const char *text)
{
	return strtoull(text, NULL, 0);
}

int main(int argc, char *argv[])
{
	time_t end = argc > 1 ? time(NULL) + (time_t)number(argv[1]) : 0;
	uint64_t first = argc > 2 ? number(argv[2]) : 1;
	struct counts counts = {0};
	uint64_t seed = first;

	do {
		for (size_t i = 0; i < part_table_count; i++)
			run_part(&part_table[i], seed, &counts);
		seed++;
	} while (end ? time(NULL) < end : seed < first + ROUNDS_DEFAULT);
	printf("%llu seeds, %llu steps, %llu works, %llu resumes, %llu changes, %llu violations, "
	       "%llu power "
	       "cuts\n",
		(unsigned long long)(seed - first), (unsigned long long)counts.steps,
		(unsigned long long)counts.works, (unsigned long long)counts.resumes,
		(unsigned long long)counts.changes, (unsigned long long)counts.violations,
		(unsigned long long)counts.power_cuts);
	return counts.works && counts.resumes && counts.changes && counts.violations &&
			       counts.power_cuts
		       ? 0
		       : 1;
}
