/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Fuzzes the chip model: any part at any corner gets any command at any time.
 *
 * An input is the part, the corner, and steps: each has an action, a time before it, and its data.
 */
#include <string.h>

#include "chip_memory.h"

#define STEPS_MAX 512
#define ARRAY_ADDRESS 0xC00000 /* above the register addresses of any part */

struct bench {
	struct chip chip;
	struct fuzz_input input;
	uint64_t now_ns;
};

/* Advances the time by 1 ns to 8.6 s, or to the end of the busy time, or to 1 ns before it. */
static void let_time_pass(struct bench *bench)
{
	uint8_t how = fuzz_u8(&bench->input);
	uint64_t ready_ns = bench->chip.busy_until_ns;

	if (how >= 0xC0 && ready_ns > bench->now_ns)
		bench->now_ns = ready_ns - (how & 1);
	else
		bench->now_ns += UINT64_C(1) << how % 34;
}

/* Checks that the margin is negative if and only if a rule about time was broken. */
static void check_margin(const struct chip_facts *facts)
{
	if (facts->rule >= CHIP_RULE_BUSY && facts->rule <= CHIP_RULE_WINDOW)
		FUZZ_CHECK(facts->owed && facts->margin_ns < 0);
	else if (facts->owed)
		FUZZ_CHECK(facts->margin_ns >= 0);
	FUZZ_CHECK(grade_name(facts->grade) != NULL && grade_name(facts->work_grade) != NULL);
}

/* Checks the facts of a transaction: a refused command must start no work. */
static void check_facts(const struct bench *bench, const struct chip_facts *facts)
{
	FUZZ_CHECK(facts->name != NULL);
	FUZZ_CHECK((facts->rule == CHIP_RULE_NONE) == (chip_rule_name(facts->rule) == NULL));
	FUZZ_CHECK((facts->work == CHIP_WORK_NONE) == (chip_work_name(facts->work) == NULL));
	FUZZ_CHECK(facts->busy_until_ns == bench->chip.busy_until_ns);
	if (facts->rule != CHIP_RULE_NONE)
		FUZZ_CHECK(facts->work == CHIP_WORK_NONE);
	check_margin(facts);
}

static void send(struct bench *bench, const uint8_t *command, size_t command_len, size_t reply_len)
{
	struct chip_transfer transfer = {
		.start_ns = bench->now_ns,
		.end_ns = bench->now_ns + command_len,
		.command = command,
		.command_len = command_len,
		.reply = malloc(reply_len),
		.reply_len = reply_len,
	};
	struct chip_facts facts;

	chip_transfer(&bench->chip, &transfer, &facts);
	check_facts(bench, &facts);
	bench->now_ns = transfer.end_ns;
	free(transfer.reply);
}

/* Sends the command byte by byte; time passes before each eighth byte. */
static void stream(struct bench *bench, const uint8_t *bytes, size_t len)
{
	struct chip_facts facts;

	chip_select(&bench->chip, bench->now_ns);
	for (size_t i = 0; i < len; i++) {
		if (i % 8 == 7)
			let_time_pass(bench);
		chip_exchange(&bench->chip, bench->now_ns, bytes[i]);
	}
	FUZZ_CHECK(chip_deselect(&bench->chip, bench->now_ns, &facts) == (len > 0));
	if (len > 0)
		check_facts(bench, &facts);
}

/* Sends a command; if @kind is odd, after a write enable, which many commands need. */
static void transfer(struct bench *bench, uint8_t kind)
{
	static const uint8_t write_enable = 0x06;
	size_t command_len = 1u + fuzz_u8(&bench->input);
	size_t reply_len = fuzz_u8(&bench->input);
	const uint8_t *command = fuzz_bytes(&bench->input, &command_len);
	uint8_t *copy;

	if (command_len == 0)
		return;
	if (kind & 1)
		send(bench, &write_enable, 1, 0);
	copy = malloc(command_len); /* on the heap, so that ASan sees a read beyond it */
	memcpy(copy, command, command_len);
	if (kind & 2)
		stream(bench, copy, command_len);
	else
		send(bench, copy, command_len, reply_len);
	free(copy);
}

static void cycle(struct bench *bench, uint32_t address, uint8_t value)
{
	uint64_t end_ns = bench->now_ns + bench->chip.part->parallel->cycle_ns;
	struct chip_facts facts;

	chip_write_cycle(&bench->chip, bench->now_ns, end_ns, address, value, &facts);
	check_facts(bench, &facts);
	bench->now_ns = end_ns;
}

/* Writes AAh, 55h and a command to their addresses, which random input would hardly ever do. */
static void unlock(struct bench *bench)
{
	const uint32_t *addresses = bench->chip.part->parallel->unlock.addresses;

	cycle(bench, ARRAY_ADDRESS | addresses[0], 0xAA);
	cycle(bench, ARRAY_ADDRESS | addresses[1], 0x55);
	cycle(bench, ARRAY_ADDRESS | addresses[0], fuzz_u8(&bench->input));
}

/* Writes a run of bytes, like those of a page. */
static void write_cycles(struct bench *bench)
{
	uint32_t address = fuzz_u24(&bench->input);
	uint8_t count = fuzz_u8(&bench->input);

	for (uint32_t i = 0; i <= count && bench->input.left > 0; i++)
		cycle(bench, address + i, fuzz_u8(&bench->input));
}

static void read_cycles(struct bench *bench)
{
	uint32_t address = fuzz_u24(&bench->input);
	size_t len = 1u + fuzz_u8(&bench->input);
	uint8_t *out = malloc(len);
	struct chip_facts facts;

	chip_read_cycles(&bench->chip, bench->now_ns, address, out, len, &facts);
	bench->now_ns += len * bench->chip.part->parallel->cycle_ns;
	check_facts(bench, &facts);
	free(out);
}

static void send_anything(struct bench *bench, uint8_t kind)
{
	if (bench->chip.part->spi)
		transfer(bench, kind);
	else if (kind % 3 == 0)
		write_cycles(bench);
	else if (kind % 3 == 1)
		unlock(bench);
	else
		read_cycles(bench);
}

static void step(struct bench *bench)
{
	uint8_t kind = fuzz_u8(&bench->input);

	let_time_pass(bench);
	if (kind == 0xFF)
		chip_power_cycle(&bench->chip, bench->now_ns);
	else if (kind == 0xFE)
		chip_settle(&bench->chip, bench->now_ns);
	else
		send_anything(bench, kind);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct bench bench = {.input = {.data = data, .left = size}, .now_ns = 1000000000};
	const struct part *part = fuzz_part(&bench.input);
	struct corner corner = fuzz_corner(&bench.input);
	struct fuzz_chip_memory memory;

	fuzz_chip_memory_init(&memory, part);
	chip_init(&bench.chip, part, &corner, memory.memory);
	for (int i = 0; i < STEPS_MAX && bench.input.left > 0; i++)
		step(&bench);
	chip_settle(&bench.chip, UINT64_MAX);
	FUZZ_CHECK(bench.chip.pending.work == CHIP_WORK_NONE);
	fuzz_chip_memory_deinit(&memory);
	return 0;
}
