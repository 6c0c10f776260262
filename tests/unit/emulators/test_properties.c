/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tries the properties of guard.h with random commands (random_host.h) on every part, at random
 * corners and with power cuts.
 *
 *     test_properties [SECONDS [SEED]]
 *
 * It runs for SECONDS, with the seeds from SEED up. Without arguments it runs ROUNDS_DEFAULT seeds
 * from 1 up.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "guard.h"
#include "map_zeros.h"
#include "model/chip.h"
#include "random_host.h"

#define ROUNDS_DEFAULT 40
#define STEPS 400

static void choose_corner(struct draws *draws, struct corner *corner)
{
	static const enum corner_kind kinds[] = {
		CORNER_MIN, CORNER_TYP, CORNER_MAX, CORNER_ZERO, CORNER_DRAW, CORNER_SLOW};

	*corner = (struct corner){
		.kind = kinds[draws_below(draws, sizeof(kinds) / sizeof(kinds[0]))],
		.seed = draws_next(draws),
		.factor = 1 + (uint32_t)draws_below(draws, 5),
	};
}

static void plan_power_cut(struct chip *chip, struct draws *draws)
{
	struct power_cut cut = {
		.nth = 1 + (uint32_t)draws_below(draws, 8),
		.is_percent = draws_one_in(draws, 2),
		.after = draws_below(draws, 101),
		.off_ns = 1 + draws_below(draws, 1000000),
	};

	if (draws_one_in(draws, 2))
		chip_plan_power_cut(chip, &cut);
}

/* Some parts begin locked or protected: no byte of them would ever be written. */
static void unlock(struct chip *chip)
{
	memset(chip->spi.locks, 0, sizeof(chip->spi.locks));
	memset(chip->spi.status, 0, sizeof(chip->spi.status));
	memset(chip->spi.status_stored, 0, sizeof(chip->spi.status_stored));
	if (chip->part->parallel)
		memset(chip->parallel.locks, 0, sizeof(chip->parallel.locks));
}

/* Returns a digest of all replies. */
static uint64_t drive(struct chip *chip, struct draws *draws, uint64_t seed, uint8_t fill,
	struct guard_counts *counts)
{
	struct random_host host;
	struct guard guard;

	guard_init(&guard, chip, seed, fill, counts);
	random_host_init(&host, chip, &guard, draws);
	for (guard.step = 0; guard.step < STEPS; guard.step++)
		random_host_step(&host);
	guard_check_untouched(&guard);
	guard_deinit(&guard);
	return guard.replies;
}

static uint64_t run_part(
	const struct part *part, uint64_t seed, uint8_t fill, struct guard_counts *counts)
{
	void *memory = map_zeros(chip_memory_bytes(part));
	struct draws draws = draws_of(seed);
	struct corner corner;
	struct chip chip;
	uint64_t replies;

	choose_corner(&draws, &corner);
	chip_init(&chip, part, &corner, memory);
	unlock(&chip);
	plan_power_cut(&chip, &draws);
	replies = drive(&chip, &draws, seed, fill, counts);
	munmap(memory, chip_memory_bytes(part));
	return replies;
}

/* A byte of a reply that nothing wrote would be the fill. */
static void run_part_twice(const struct part *part, uint64_t seed, struct guard_counts *counts)
{
	if (run_part(part, seed, 0x00, counts) == run_part(part, seed, 0xA5, counts))
		return;
	fprintf(stderr, "%s: a reply is not written in full\nagain: test_properties 1 %llu\n",
		part->name, (unsigned long long)seed);
	exit(1);
}

static uint64_t number(const char *text)
{
	return strtoull(text, NULL, 0);
}

int main(int argc, char *argv[])
{
	time_t end = argc > 1 ? time(NULL) + (time_t)number(argv[1]) : 0;
	uint64_t first = argc > 2 ? number(argv[2]) : 1;
	struct guard_counts counts = {0};
	uint64_t seed = first;

	do {
		for (size_t i = 0; i < part_table_count; i++)
			run_part_twice(&part_table[i], seed, &counts);
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
