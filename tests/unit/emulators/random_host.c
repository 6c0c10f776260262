/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "random_host.h"

#define START_NS 1000000000 /* long after power-up */

static uint64_t next(struct random_host *host)
{
	return draws_next(host->draws);
}

static uint64_t below(struct random_host *host, uint64_t limit)
{
	return draws_below(host->draws, limit);
}

static bool one_in(struct random_host *host, uint64_t n)
{
	return draws_one_in(host->draws, n);
}

static uint32_t random_address(struct random_host *host)
{
	return guard_window_address(host->part, below(host, GUARD_WINDOW_COUNT)) +
	       (uint32_t)below(host, GUARD_WINDOW_BYTES);
}

/* Random commands, most of which parts know, so that many are legal. */

static const uint8_t spi_opcodes[] = {0x01, 0x02, 0x02, 0x02, 0x03, 0x04, 0x05, 0x05, 0x06, 0x06,
	0x06, 0x0B, 0x11, 0x12, 0x13, 0x15, 0x16, 0x17, 0x20, 0x20, 0x20, 0x21, 0x30, 0x31, 0x35,
	0x36, 0x39, 0x3C, 0x3D, 0x42, 0x50, 0x52, 0x53, 0x5A, 0x5C, 0x60, 0x66, 0x70, 0x72, 0x75,
	0x7A, 0x7E, 0x81, 0x82, 0x83, 0x84, 0x87, 0x88, 0x8D, 0x90, 0x98, 0x99, 0x9F, 0xAB, 0xAD,
	0xB0, 0xB7, 0xB9, 0xC5, 0xC7, 0xC8, 0xD2, 0xD7, 0xD8, 0xDC, 0xE8, 0xE9, 0xF0, 0xFF};

/* Chance alone seldom suspends a work and resumes it. */
static uint8_t random_opcode(struct random_host *host)
{
	const struct part_suspend *suspend = &host->part->spi->suspend;

	if (host->chip->spi.suspended.open && one_in(host, 5))
		return suspend->resume_opcode;
	if (host->chip->pending.work != CHIP_WORK_NONE && suspend->opcode && one_in(host, 5))
		return suspend->opcode;
	if (one_in(host, 50))
		return (uint8_t)next(host);
	return spi_opcodes[below(host, sizeof(spi_opcodes))];
}

static size_t random_tail(struct random_host *host)
{
	switch (below(host, 4)) {
	case 0:
		return 0;
	case 1:
		return 1 + below(host, 3);
	case 2:
		return below(host, 18);
	default:
		return one_in(host, 4) ? below(host, 280) : 1;
	}
}

/* Makes an opcode, often with an address of three or four bytes, sometimes with data. */
static void make_command(struct random_host *host)
{
	uint32_t address = random_address(host);
	size_t address_len = below(host, 4) ? 3 + one_in(host, 5) : 0;
	uint8_t *at = host->command;

	*at++ = random_opcode(host);
	if (one_in(host, 4)) {
		host->command_len = 1;
		return;
	}
	for (size_t i = address_len; i > 0; i--)
		*at++ = (uint8_t)(address >> 8 * (i - 1));
	for (size_t i = random_tail(host); i > 0; i--)
		*at++ = one_in(host, 2) ? 0x00 : (uint8_t)next(host);
	host->command_len = (size_t)(at - host->command);
}

static void send(struct random_host *host, uint64_t end_ns)
{
	size_t reply_len = one_in(host, 8) ? below(host, GUARD_REPLY_BYTES_MAX) : below(host, 8);
	struct chip_transfer transfer = {
		.start_ns = host->now_ns,
		.end_ns = end_ns,
		.command = host->command,
		.command_len = host->command_len,
		.reply = guard_reply(host->guard, reply_len),
		.reply_len = reply_len,
	};

	chip_transfer(host->chip, &transfer, &host->facts);
}

/* Gives a busy part its time, or nearly that, or hardly any. */
static void let_time_pass(struct random_host *host)
{
	uint64_t until_ns = host->chip->busy_until_ns;
	uint64_t left_ns = until_ns > host->now_ns ? until_ns - host->now_ns : 0;

	switch (below(host, 6)) {
	case 0:
		host->now_ns += left_ns + below(host, 100);
		break;
	case 1:
		host->now_ns += left_ns > 0 ? left_ns - 1 : 0;
		break;
	case 2:
		host->now_ns += left_ns / 2;
		break;
	case 3:
		host->now_ns += below(host, 50000);
		break;
	default:
		host->now_ns += below(host, 100);
		break;
	}
}

static void step_spi(struct random_host *host)
{
	uint64_t end_ns = host->now_ns + below(host, 2000);

	make_command(host);
	guard_before(host->guard, host->now_ns);
	send(host, end_ns);
	host->now_ns = end_ns; /* bytes of a reply pass until then */
	guard_after(host->guard, host->command[0], &host->facts, end_ns);
}

/* Random cycles, mostly in whole sequences, so that works begin. */

static uint32_t bus_address(const struct random_host *host, uint32_t address)
{
	if (host->part->parallel->bus == PARALLEL_BUS_PARALLEL)
		return address;
	return 0x1000000 - host->part->size_bytes + address;
}

static void write_one(struct random_host *host, uint32_t address, uint8_t value)
{
	uint64_t end_ns = host->now_ns + host->part->parallel->cycle_ns;

	guard_before(host->guard, host->now_ns);
	chip_write_cycle(host->chip, host->now_ns, end_ns, address, value, &host->facts);
	guard_after(host->guard, value, &host->facts, host->now_ns);
	host->now_ns = end_ns;
}

static void read_some(struct random_host *host)
{
	size_t len = 1 + below(host, one_in(host, 8) ? GUARD_REPLY_BYTES_MAX : 4);
	uint32_t address = bus_address(host, random_address(host));

	guard_before(host->guard, host->now_ns);
	chip_read_cycles(host->chip, host->now_ns, address, guard_reply(host->guard, len), len,
		&host->facts);
	host->now_ns += len * host->part->parallel->cycle_ns;
	guard_after(host->guard, 0, &host->facts, host->now_ns);
}

/* Writes @value after AAh and 55h. */
static void write_unlocked(struct random_host *host, uint32_t address, uint8_t value)
{
	const struct part_unlock *unlock = &host->part->parallel->unlock;

	write_one(host, bus_address(host, unlock->addresses[0]), 0xAA);
	if (one_in(host, 20))
		let_time_pass(host);
	write_one(host, bus_address(host, unlock->addresses[1]), 0x55);
	write_one(host, bus_address(host, address), value);
}

static void write_jedec(struct random_host *host)
{
	static const uint8_t commands[] = {0xA0, 0xA0, 0xA0, 0x80, 0x80, 0x90, 0xF0, 0xB0, 0x30};
	static const uint8_t setups[] = {0x30, 0x30, 0x50, 0x10, 0x60, 0x20, 0xA0};
	uint8_t command = commands[below(host, sizeof(commands))];
	const struct part_unlock *unlock = &host->part->parallel->unlock;
	uint32_t address = random_address(host);

	write_unlocked(host, unlock->addresses[0], command);
	if (command == 0xA0) {
		for (size_t i = 1 + below(host, 20); i > 0; i--)
			write_one(host, bus_address(host, address + (uint32_t)i % 64),
				(uint8_t)next(host));
	} else if (command == 0x80) {
		write_unlocked(host, one_in(host, 4) ? unlock->addresses[0] : address,
			setups[below(host, sizeof(setups))]);
	}
}

static void write_fwh(struct random_host *host)
{
	static const uint8_t commands[] = {0x40, 0x10, 0x20, 0x20, 0x70, 0x50, 0x90, 0xFF, 0xB0};
	uint8_t command = commands[below(host, sizeof(commands))];
	uint32_t address = bus_address(host, random_address(host));

	write_one(host, address, command);
	if (command == 0x40 || command == 0x10)
		write_one(host, address, (uint8_t)next(host));
	else if (command == 0x20)
		write_one(host, address, one_in(host, 4) ? 0x00 : 0xD0);
}

static void step_cycles(struct random_host *host)
{
	static const uint8_t bare[] = {0xF0, 0x30, 0xAA, 0x00, 0xD0, 0xB0};
	uint32_t lock = 0xB80002 + 0x10000 * (uint32_t)below(host, 8);

	switch (below(host, 8)) {
	case 0:
	case 1:
		read_some(host);
		break;
	case 2:
		write_one(host, bus_address(host, random_address(host)),
			bare[below(host, sizeof(bare))]);
		break;
	case 3:
		if (host->part->parallel->bus != PARALLEL_BUS_PARALLEL) {
			write_one(host, lock, one_in(host, 8) ? 0x01 : 0x00);
			break;
		}
		/* fall through */
	default:
		if (host->part->family == PART_FWH)
			write_fwh(host);
		else
			write_jedec(host);
	}
}

void random_host_init(
	struct random_host *host, struct chip *chip, struct guard *guard, struct draws *draws)
{
	*host = (struct random_host){
		.chip = chip,
		.part = chip->part,
		.guard = guard,
		.draws = draws,
		.now_ns = START_NS,
	};
}

void random_host_step(struct random_host *host)
{
	if (host->part->parallel)
		step_cycles(host);
	else
		step_spi(host);
	let_time_pass(host);
}
