/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cycle.h"

#include <assert.h>
#include <string.h>

#include "shared/noise.h"

/* The address bit of an LPC or FWH part that is set for the array, clear for its registers. */
#define SELECTS_ARRAY UINT32_C(0x400000)

/*
 * The registers of LPC and FWH parts, 4 MiB below their array: a lock register for each block, the
 * identity, and the general-purpose inputs. 82802AB, M50FW040 and SST49LF004B have this layout. Bit
 * 2 of a lock register, which hides a block from reads, is stored but has no effect.
 */
#define LOCK_OFFSET 0x0002 /* in each block */
#define LOCK_WRITES 0x01
#define LOCK_DOWN 0x02 /* the register cannot change until the next reset */
#define LOCK_BITS 0x07

/* FFBC0000h and FFBC0001h in a PC, for a part of 512 KiB. */
#define MAKER_OFFSET 0x40000
#define DEVICE_OFFSET 0x40001

void cycle_init(struct chip *chip)
{
	chip->parallel.write_protected = chip->part->parallel->load.protected_at_start;
}

/* No source gives power-up times for these parts. */
void cycle_power_up(struct chip *chip, uint64_t at_ns)
{
	const struct part_parallel *part = chip->part->parallel;
	struct parallel_state *state = &chip->parallel;
	bool write_protected = state->write_protected;

	(void)at_ns;
	memset(state, 0, sizeof(*state));
	state->write_protected = write_protected;
	memset(state->locks, part->registers.lock_at_start, sizeof(state->locks));
}

void cycle_start_work(struct chip *chip, uint64_t start_ns, const struct chip_pending *work,
	const struct busy_time *busy, struct chip_facts *facts)
{
	chip_start_work(chip, start_ns, work, busy, facts);
	chip->parallel.work = (struct figure){.ns = facts->work_ns, .grade = facts->work_grade};
}

void cycle_defer_work(struct chip *chip, uint64_t start_ns, struct chip_facts *facts)
{
	struct chip_pending work = chip->pending;

	chip_start_fixed_work(chip, start_ns, &work, chip->parallel.work, CHIP_RULE_BUSY, facts);
	chip_replan_power_cut(chip);
}

void cycle_owe(struct chip *chip, const struct cycle *cycle, struct figure wait)
{
	if (wait.ns > 0)
		chip_owe(chip, cycle->end_ns, wait, CHIP_RULE_ID_ACCESS);
}

void cycle_forget_work(struct chip *chip, const struct cycle *cycle)
{
	chip->pending.work = CHIP_WORK_NONE;
	chip->busy_until_ns = cycle->start_ns;
	chip->debt.open = false;
	chip->parallel.sectors = 0;
}

enum chip_rule cycle_check_write(
	struct chip *chip, const struct cycle *cycle, struct chip_facts *facts)
{
	facts->rule = chip_check_debt(&chip->debt, cycle->start_ns, facts);
	return facts->rule;
}

void cycle_came_late(
	uint64_t until_ns, enum grade grade, const struct cycle *cycle, struct chip_facts *facts)
{
	facts->rule = CHIP_RULE_WINDOW;
	facts->owed = true;
	facts->grade = grade;
	facts->margin_ns = (int64_t)(until_ns - cycle->start_ns);
}

uint8_t cycle_noise(const struct chip *chip, uint32_t address, uint32_t nth)
{
	return (uint8_t)noise_bits(chip->noise_seed, address, nth);
}

/*
 * In ID mode the low byte of the address selects the maker (0) or the device (1). Any other address
 * reads 0, which means that the block is not protected.
 */
uint8_t cycle_read_content(
	const struct chip *chip, const struct cycle *cycle, struct chip_facts *facts)
{
	uint8_t value;

	facts->name = chip->parallel.id_mode ? "ID" : "READ";
	if (!chip->parallel.id_mode) {
		array_read(&chip->array, cycle->address, &value, 1);
		return value;
	}
	switch (cycle->address & 0xFF) {
	case 0:
		return chip->part->parallel->maker;
	case 1:
		return chip->part->parallel->device;
	default:
		return 0x00;
	}
}

static bool is_lock(const struct chip *chip, uint32_t address)
{
	uint32_t block_bytes = chip->part->parallel->registers.lock_block_bytes;

	return block_bytes > 0 && address % block_bytes == LOCK_OFFSET;
}

static size_t block_of(const struct chip *chip, uint32_t address)
{
	return address / chip->part->parallel->registers.lock_block_bytes;
}

static void registers_write(struct chip *chip, const struct cycle *cycle, struct chip_facts *facts)
{
	uint8_t *lock;

	facts->name = "REGISTER";
	if (!is_lock(chip, cycle->address))
		return;
	lock = &chip->parallel.locks[block_of(chip, cycle->address)];
	facts->name = "LOCK";
	if (*lock & LOCK_DOWN)
		facts->rule = CHIP_RULE_PROTECTED;
	else
		*lock = cycle->value & LOCK_BITS;
}

static uint8_t registers_read(
	struct chip *chip, const struct cycle *cycle, struct chip_facts *facts)
{
	facts->name = "REGISTER";
	if (is_lock(chip, cycle->address))
		return chip->parallel.locks[block_of(chip, cycle->address)];
	switch (cycle->address) {
	case MAKER_OFFSET:
		return chip->part->parallel->maker;
	case DEVICE_OFFSET:
		return chip->part->parallel->device;
	default:
		return 0x00;
	}
}

bool registers_forbid(const struct chip *chip, uint32_t address, uint32_t len)
{
	uint32_t block_bytes = chip->part->parallel->registers.lock_block_bytes;

	if (block_bytes == 0)
		return false;
	for (size_t i = block_of(chip, address); i <= block_of(chip, address + len - 1); i++) {
		if (chip->parallel.locks[i] & LOCK_WRITES)
			return true;
	}
	return false;
}

static bool is_for_registers(const struct part *part, uint32_t address)
{
	return part->parallel->bus != PARALLEL_BUS_PARALLEL && !(address & SELECTS_ARRAY);
}

/* Begins the facts of a cycle. Returns false if the part has no power. */
static bool begin(struct chip *chip, const struct cycle *cycle, struct chip_facts *facts)
{
	assert(cycle->start_ns <= cycle->end_ns);
	memset(facts, 0, sizeof(*facts));
	chip_settle(chip, cycle->start_ns);
	facts->busy_left_ns = chip_busy_left_ns(chip, cycle->start_ns);
	facts->name = "UNKNOWN";
	facts->opcode = cycle->value;
	facts->has_address = true;
	facts->address = cycle->address;
	return !chip_is_off(chip, facts);
}

void chip_write_cycle(struct chip *chip, uint64_t start_ns, uint64_t end_ns, uint32_t address,
	uint8_t value, struct chip_facts *facts)
{
	struct cycle cycle = {start_ns, end_ns, address % chip->part->size_bytes, value};

	if (!begin(chip, &cycle, facts))
		return;
	if (is_for_registers(chip->part, address))
		registers_write(chip, &cycle, facts);
	else
		chip->family->write_cycle(chip, &cycle, facts);
	facts->busy_until_ns = chip->busy_until_ns;
}

/* A read of a busy part breaks no rule: clients poll this way. */
static uint8_t read_now(
	struct chip *chip, uint32_t address, const struct cycle *cycle, struct chip_facts *facts)
{
	if (is_for_registers(chip->part, address))
		return registers_read(chip, cycle, facts);
	if (chip->debt.rule != CHIP_RULE_BUSY)
		facts->rule = chip_check_debt(&chip->debt, cycle->start_ns, facts);
	if (facts->rule == CHIP_RULE_NONE)
		return chip->family->read_cycle(chip, cycle, facts);
	facts->name = "READ";
	return cycle_noise(chip, cycle->address, (uint32_t)cycle->start_ns);
}

uint8_t chip_read_cycle(struct chip *chip, uint64_t start_ns, uint64_t end_ns, uint32_t address,
	struct chip_facts *facts)
{
	struct cycle cycle = {start_ns, end_ns, address % chip->part->size_bytes, 0};

	facts->status =
		begin(chip, &cycle, facts) ? read_now(chip, address, &cycle, facts) : BUS_FLOATING;
	facts->busy_until_ns = chip->busy_until_ns;
	return facts->status;
}

/* Returns how many of @len reads from @address on read the array, at whatever time they come. */
static size_t plain_reads(const struct chip *chip, uint32_t address, size_t len)
{
	size_t room = SELECTS_ARRAY - address % SELECTS_ARRAY;
	bool owed = chip->debt.open && chip->debt.rule != CHIP_RULE_BUSY;

	if (owed || chip->power.off || chip->power.planned ||
		chip->pending.work != CHIP_WORK_NONE || chip->parallel.id_mode ||
		chip->parallel.status_mode || is_for_registers(chip->part, address))
		return 0;
	return len < room ? len : room;
}

static uint64_t read_one(struct chip *chip, uint64_t start_ns, uint32_t address, uint8_t *out,
	struct chip_facts *facts)
{
	uint64_t end_ns = start_ns + chip->part->parallel->cycle_ns;
	struct chip_facts now;

	*out = chip_read_cycle(chip, start_ns, end_ns, address, &now);
	now.lost_power |= facts->lost_power;
	now.lost_power_ns |= facts->lost_power_ns; /* at most one read reports a loss: one is 0 */
	if (!facts->name || (facts->rule == CHIP_RULE_NONE && now.rule != CHIP_RULE_NONE))
		*facts = now;
	facts->lost_power = now.lost_power;
	facts->lost_power_ns = now.lost_power_ns;
	return end_ns;
}

/* Copies most bytes at once: in a slow guest, a model cycle for each byte takes too long. */
void chip_read_cycles(struct chip *chip, uint64_t start_ns, uint32_t address, uint8_t *out,
	size_t len, struct chip_facts *facts)
{
	size_t done = 0;

	assert(len > 0);
	*facts = (struct chip_facts){.name = NULL};
	while (done < len) {
		uint32_t at = (uint32_t)(address + done);
		size_t plain;

		start_ns = read_one(chip, start_ns, at, out + done++, facts);
		plain = plain_reads(chip, ++at, len - done);
		array_read(&chip->array, at % chip->part->size_bytes, out + done, plain);
		start_ns += plain * chip->part->parallel->cycle_ns;
		done += plain;
	}
	facts->status = out[len - 1];
}
