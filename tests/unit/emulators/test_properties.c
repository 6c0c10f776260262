/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tries the properties of guard.h with random commands on every part, at random corners and with
 * power cuts.
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

#define ROUNDS_DEFAULT 40
#define STEPS 400
#define COMMAND_BYTES_MAX 300
#define START_NS 1000000000 /* long after power-up */

/* Random numbers from a seed: the same seed gives the same numbers. */
struct draws {
	uint64_t state;
};

static struct draws draws_of(uint64_t seed)
{
	return (struct draws){.state = seed * UINT64_C(0x9E3779B97F4A7C15) + 1};
}

/* Returns a number of 48 bits. */
static uint64_t next(struct draws *draws)
{
	draws->state ^= draws->state << 13;
	draws->state ^= draws->state >> 7;
	draws->state ^= draws->state << 17;
	return draws->state * UINT64_C(0x2545F4914F6CDD1D) >> 16;
}

/* Returns a number from 0 to @limit - 1. */
static uint64_t below(struct draws *draws, uint64_t limit)
{
	return next(draws) % limit;
}

static bool one_in(struct draws *draws, uint64_t n)
{
	return below(draws, n) == 0;
}

/*
 * A client that sends random commands, or cycles on buses of cycles, at random times to a chip that
 * a guard watches. Parts know most of the commands, so that works begin. The client reads the
 * chip's state to find works that it can wait for, suspend or resume. For the same part, the same
 * draws make the same commands at the same times.
 */
struct client {
	struct chip *chip;
	const struct part *part; /* the chip's part */
	struct guard *guard;
	struct draws *draws;
	uint64_t now_ns;
	uint8_t command[COMMAND_BYTES_MAX];
	size_t command_len;
	struct chip_facts facts;
};

static uint32_t random_address(struct client *client)
{
	return guard_window_address(client->part, below(client->draws, GUARD_WINDOW_COUNT)) +
	       (uint32_t)below(client->draws, GUARD_WINDOW_BYTES);
}

/* Random commands on SPI. */

static const uint8_t spi_opcodes[] = {0x01, 0x02, 0x02, 0x02, 0x03, 0x04, 0x05, 0x05, 0x06, 0x06,
	0x06, 0x0B, 0x11, 0x12, 0x13, 0x15, 0x16, 0x17, 0x20, 0x20, 0x20, 0x21, 0x30, 0x31, 0x35,
	0x36, 0x39, 0x3C, 0x3D, 0x42, 0x50, 0x52, 0x53, 0x5A, 0x5C, 0x60, 0x66, 0x70, 0x72, 0x75,
	0x7A, 0x7E, 0x81, 0x82, 0x83, 0x84, 0x87, 0x88, 0x8D, 0x90, 0x98, 0x99, 0x9F, 0xAB, 0xAD,
	0xB0, 0xB7, 0xB9, 0xC5, 0xC7, 0xC8, 0xD2, 0xD7, 0xD8, 0xDC, 0xE8, 0xE9, 0xF0, 0xFF};

/* Chance alone seldom suspends a work and resumes it. */
static uint8_t random_opcode(struct client *client)
{
	const struct part_suspend *suspend = &client->part->spi->suspend;

	if (client->chip->spi.suspended.open && one_in(client->draws, 5))
		return suspend->resume_opcode;
	if (client->chip->pending.work != CHIP_WORK_NONE && suspend->opcode &&
		one_in(client->draws, 5))
		return suspend->opcode;
	if (one_in(client->draws, 50))
		return (uint8_t)next(client->draws);
	return spi_opcodes[below(client->draws, sizeof(spi_opcodes))];
}

static size_t random_tail(struct client *client)
{
	switch (below(client->draws, 4)) {
	case 0:
		return 0;
	case 1:
		return 1 + below(client->draws, 3);
	case 2:
		return below(client->draws, 18);
	default:
		return one_in(client->draws, 4) ? below(client->draws, 280) : 1;
	}
}

/* Makes an opcode, often with an address of three or four bytes, sometimes with data. */
static void make_command(struct client *client)
{
	uint32_t address = random_address(client);
	size_t address_len = below(client->draws, 4) ? 3 + one_in(client->draws, 5) : 0;
	uint8_t *at = client->command;

	*at++ = random_opcode(client);
	if (one_in(client->draws, 4)) {
		client->command_len = 1;
		return;
	}
	for (size_t i = address_len; i > 0; i--)
		*at++ = (uint8_t)(address >> 8 * (i - 1));
	for (size_t i = random_tail(client); i > 0; i--)
		*at++ = one_in(client->draws, 2) ? 0x00 : (uint8_t)next(client->draws);
	client->command_len = (size_t)(at - client->command);
}

static void send(struct client *client, uint64_t end_ns)
{
	size_t reply_len = one_in(client->draws, 8) ? below(client->draws, GUARD_REPLY_BYTES_MAX)
						    : below(client->draws, 8);
	struct chip_transfer transfer = {
		.start_ns = client->now_ns,
		.end_ns = end_ns,
		.command = client->command,
		.command_len = client->command_len,
		.reply = guard_reply(client->guard, reply_len),
		.reply_len = reply_len,
	};

	chip_transfer(client->chip, &transfer, &client->facts);
}

/* Gives a busy part its time, or nearly that, or hardly any. */
static void let_time_pass(struct client *client)
{
	uint64_t until_ns = client->chip->busy_until_ns;
	uint64_t left_ns = until_ns > client->now_ns ? until_ns - client->now_ns : 0;

	switch (below(client->draws, 6)) {
	case 0:
		client->now_ns += left_ns + below(client->draws, 100);
		break;
	case 1:
		client->now_ns += left_ns > 0 ? left_ns - 1 : 0;
		break;
	case 2:
		client->now_ns += left_ns / 2;
		break;
	case 3:
		client->now_ns += below(client->draws, 50000);
		break;
	default:
		client->now_ns += below(client->draws, 100);
		break;
	}
}

static void step_spi(struct client *client)
{
	uint64_t end_ns = client->now_ns + below(client->draws, 2000);

	make_command(client);
	guard_before(client->guard, client->now_ns);
	send(client, end_ns);
	client->now_ns = end_ns; /* bytes of a reply pass until then */
	guard_after(client->guard, client->command[0], &client->facts, end_ns);
}

/* Random cycles, mostly in whole sequences. */

static uint32_t bus_address(const struct client *client, uint32_t address)
{
	if (client->part->parallel->bus == PARALLEL_BUS_PARALLEL)
		return address;
	return 0x1000000 - client->part->size_bytes + address;
}

static void write_one(struct client *client, uint32_t address, uint8_t value)
{
	uint64_t end_ns = client->now_ns + client->part->parallel->cycle_ns;

	guard_before(client->guard, client->now_ns);
	chip_write_cycle(client->chip, client->now_ns, end_ns, address, value, &client->facts);
	guard_after(client->guard, value, &client->facts, client->now_ns);
	client->now_ns = end_ns;
}

static void read_some(struct client *client)
{
	size_t len = 1 + below(client->draws, one_in(client->draws, 8) ? GUARD_REPLY_BYTES_MAX : 4);
	uint32_t address = bus_address(client, random_address(client));

	guard_before(client->guard, client->now_ns);
	chip_read_cycles(client->chip, client->now_ns, address, guard_reply(client->guard, len),
		len, &client->facts);
	client->now_ns += len * client->part->parallel->cycle_ns;
	guard_after(client->guard, 0, &client->facts, client->now_ns);
}

/* Writes @value after AAh and 55h. */
static void write_unlocked(struct client *client, uint32_t address, uint8_t value)
{
	const struct part_unlock *unlock = &client->part->parallel->unlock;

	write_one(client, bus_address(client, unlock->addresses[0]), 0xAA);
	if (one_in(client->draws, 20))
		let_time_pass(client);
	write_one(client, bus_address(client, unlock->addresses[1]), 0x55);
	write_one(client, bus_address(client, address), value);
}

static void write_jedec(struct client *client)
{
	static const uint8_t commands[] = {0xA0, 0xA0, 0xA0, 0x80, 0x80, 0x90, 0xF0, 0xB0, 0x30};
	static const uint8_t setups[] = {0x30, 0x30, 0x50, 0x10, 0x60, 0x20, 0xA0};
	uint8_t command = commands[below(client->draws, sizeof(commands))];
	const struct part_unlock *unlock = &client->part->parallel->unlock;
	uint32_t address = random_address(client);

	write_unlocked(client, unlock->addresses[0], command);
	if (command == 0xA0) {
		for (size_t i = 1 + below(client->draws, 20); i > 0; i--)
			write_one(client, bus_address(client, address + (uint32_t)i % 64),
				(uint8_t)next(client->draws));
	} else if (command == 0x80) {
		write_unlocked(client, one_in(client->draws, 4) ? unlock->addresses[0] : address,
			setups[below(client->draws, sizeof(setups))]);
	}
}

static void write_fwh(struct client *client)
{
	static const uint8_t commands[] = {0x40, 0x10, 0x20, 0x20, 0x70, 0x50, 0x90, 0xFF, 0xB0};
	uint8_t command = commands[below(client->draws, sizeof(commands))];
	uint32_t address = bus_address(client, random_address(client));

	write_one(client, address, command);
	if (command == 0x40 || command == 0x10)
		write_one(client, address, (uint8_t)next(client->draws));
	else if (command == 0x20)
		write_one(client, address, one_in(client->draws, 4) ? 0x00 : 0xD0);
}

static void step_cycles(struct client *client)
{
	static const uint8_t bare[] = {0xF0, 0x30, 0xAA, 0x00, 0xD0, 0xB0};
	uint32_t lock = 0xB80002 + 0x10000 * (uint32_t)below(client->draws, 8);

	switch (below(client->draws, 8)) {
	case 0:
	case 1:
		read_some(client);
		break;
	case 2:
		write_one(client, bus_address(client, random_address(client)),
			bare[below(client->draws, sizeof(bare))]);
		break;
	case 3:
		if (client->part->parallel->bus != PARALLEL_BUS_PARALLEL) {
			write_one(client, lock, one_in(client->draws, 8) ? 0x01 : 0x00);
			break;
		}
		/* fall through */
	default:
		if (client->part->family == PART_FWH)
			write_fwh(client);
		else
			write_jedec(client);
	}
}

/*
 * Makes one transfer, or one read or sequence of cycles, and lets time pass. The guard checks after
 * each transfer and each write cycle, but only once after several reads in a row.
 */
static void step(struct client *client)
{
	if (client->part->parallel)
		step_cycles(client);
	else
		step_spi(client);
	let_time_pass(client);
}

static void choose_corner(struct draws *draws, struct corner *corner)
{
	static const enum corner_kind kinds[] = {
		CORNER_MIN, CORNER_TYP, CORNER_MAX, CORNER_ZERO, CORNER_DRAW, CORNER_SLOW};

	*corner = (struct corner){
		.kind = kinds[below(draws, sizeof(kinds) / sizeof(kinds[0]))],
		.seed = next(draws),
		.factor = 1 + (uint32_t)below(draws, 5),
	};
}

static void plan_power_cut(struct chip *chip, struct draws *draws)
{
	struct power_cut cut = {
		.nth = 1 + (uint32_t)below(draws, 8),
		.is_percent = one_in(draws, 2),
		.after = below(draws, 101),
		.off_ns = 1 + below(draws, 1000000),
	};

	if (one_in(draws, 2))
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
	struct guard guard;
	struct client client = {
		.chip = chip,
		.part = chip->part,
		.guard = &guard,
		.draws = draws,
		.now_ns = START_NS,
	};

	guard_init(&guard, chip, seed, fill, counts);
	for (guard.step = 0; guard.step < STEPS; guard.step++)
		step(&client);
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
	fprintf(stderr, "%s: a reply is not written in full\nrepeat with: test_properties 1 %llu\n",
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
	       "%llu power cuts\n",
		(unsigned long long)(seed - first), (unsigned long long)counts.steps,
		(unsigned long long)counts.works, (unsigned long long)counts.resumes,
		(unsigned long long)counts.changes, (unsigned long long)counts.violations,
		(unsigned long long)counts.power_cuts);
	return counts.works && counts.resumes && counts.changes && counts.violations &&
			       counts.power_cuts
		       ? 0
		       : 1;
}
