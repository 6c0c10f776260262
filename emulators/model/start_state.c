/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "start_state.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

#include "shared/units.h"
#include "spi_command.h"

enum opcode {
	OP_PAGE_PROGRAM = 0x02,
	OP_WRITE_ENABLE = 0x06,
	OP_RESET_ENABLE = 0x66,
	OP_RESET = 0x99,
	OP_POWER_DOWN = 0xB9,
	OP_RESET_F0 = 0xF0,
};

#define ADDRESS_BYTES_MAX 4

/* An earlier client, whose commands at @now_ns leave the part in the start state. */
struct session {
	struct chip *chip;
	uint64_t now_ns;
	uint64_t ramp_ms;
	struct chip_facts *facts;
};

static void send(struct session *session, const uint8_t *command, size_t len)
{
	struct chip_transfer transfer = {
		.start_ns = session->now_ns,
		.end_ns = session->now_ns,
		.command = command,
		.command_len = len,
	};

	chip_transfer(session->chip, &transfer, session->facts);
	assert(session->facts->rule == CHIP_RULE_NONE);
}

static void send_opcode(struct session *session, uint8_t opcode)
{
	send(session, &opcode, 1);
}

static const struct part_erase *smallest_erase(const struct part *part)
{
	const struct part_erase *smallest = &part->erases[0];

	for (size_t i = 1; i < part->erase_count; i++) {
		if (part->erases[i].size_bytes < smallest->size_bytes)
			smallest = &part->erases[i];
	}
	return smallest;
}

/* Sends three address bytes, as after power-up, unless the opcode always has four. */
static void start_erasing(struct session *session)
{
	const struct part_erase *smallest = smallest_erase(session->chip->part);
	const uint8_t command[1 + ADDRESS_BYTES_MAX] = {smallest->opcode};

	send_opcode(session, OP_WRITE_ENABLE);
	send(session, command, 1 + (nor_erase_has_four_bytes(smallest->opcode) ? 4 : 3));
}

/* Programs a byte of ones, which changes nothing, whether the program ends or not. */
static void program(struct session *session)
{
	static const uint8_t command[] = {OP_PAGE_PROGRAM, 0, 0, 0, 0xFF};

	send_opcode(session, OP_WRITE_ENABLE);
	send(session, command, sizeof(command));
}

/* Ends the suspend latency at once, as if the part had been suspended long ago. */
static void end_suspending(struct session *session)
{
	struct chip *chip = session->chip;

	chip->busy_until_ns = session->now_ns;
	chip->debt.open = false;
	chip_settle(chip, session->now_ns);
	session->facts->work = CHIP_WORK_NONE;
}

static void start_fresh(struct session *session)
{
	chip_power_cycle(session->chip, session->now_ns);
	session->chip->power.reported = true;
}

static void start_ramp(struct session *session)
{
	struct chip_power *power = &session->chip->power;

	chip_power_off(session->chip, session->now_ns);
	power->reported = true;
	power->ramp_until_ns = session->now_ns + session->ramp_ms * NS_PER_MS;
}

static void start_resetting(struct session *session)
{
	if (session->chip->part->spi->features & SPI_HAS_RESET_F0) {
		send_opcode(session, OP_RESET_F0);
		return;
	}
	send_opcode(session, OP_RESET_ENABLE);
	send_opcode(session, OP_RESET);
}

static void start_asleep(struct session *session)
{
	send_opcode(session, OP_POWER_DOWN);
	session->chip->debt.open = false;
}

static void start_suspending(struct session *session)
{
	start_erasing(session);
	send_opcode(session, session->chip->part->spi->suspend.opcode);
}

static void start_erase_suspended(struct session *session)
{
	start_suspending(session);
	end_suspending(session);
}

static void start_program_suspended(struct session *session)
{
	program(session);
	send_opcode(session, session->chip->part->spi->suspend.opcode);
	end_suspending(session);
}

static void start_deaf_suspended(struct session *session)
{
	start_program_suspended(session);
	session->chip->spi.suspended.is_deaf = true;
}

static void start_write_enabled(struct session *session)
{
	send_opcode(session, OP_WRITE_ENABLE);
}

static uint8_t protection_mask(const struct part *part)
{
	const struct part_protection *protection = &part->spi->protection;
	uint8_t mask = 0;

	for (size_t i = 0; i < protection->bit_count; i++)
		mask |= (uint8_t)(1u << protection->bits[i]);
	return mask;
}

static void start_protected(struct session *session)
{
	struct chip *chip = session->chip;
	const uint8_t mask = protection_mask(chip->part);

	chip->spi.status[0] |= mask;
	chip->spi.status_stored[0] |= mask;
}

static bool has_power_up(const struct part *part)
{
	return part->spi->power_up_to_select.ns > 0 || part->spi->power_up_to_write.ns > 0;
}

static bool has_power_down(const struct part *part)
{
	return nor_has_power_down(part, OP_POWER_DOWN);
}

static bool has_reset(const struct part *part)
{
	return part->spi->soft_reset.ns > 0;
}

/* Returns false if all locks are set at power-up: no write has an effect then. */
static bool is_unlocked(const struct part *part)
{
	enum protection_kind kind = part->spi->protection.kind;

	return kind != PROTECTION_GLOBAL && kind != PROTECTION_UNLOCK;
}

/* Returns true if the part can suspend erases, and a status flag lets a client see that. */
static bool suspends_erases(const struct part *part)
{
	return part->spi->suspend.opcode != 0 && part->spi->suspend.erase_flag.mask != 0 &&
	       is_unlocked(part);
}

static bool suspends_programs(const struct part *part)
{
	const struct part_suspend *suspend = &part->spi->suspend;

	return suspend->opcode != 0 && suspend->programs && suspend->program_flag.mask != 0 &&
	       is_unlocked(part);
}

static bool suspends_and_resets(const struct part *part)
{
	return suspends_programs(part) && has_reset(part);
}

static bool has_protection(const struct part *part)
{
	return protection_mask(part) != 0;
}

struct row {
	const char *name;
	enum start_moment moment;
	bool (*fits)(const struct part *part); /* NULL: every SPI NOR */
	void (*begin)(struct session *session);
	uint64_t ramp_ms; /* the time in which the supply rises */
};

static const struct row rows[] = {
	[START_READY] = {"ready", START_AT_CONNECT, NULL, NULL},
	[START_FRESH] = {"fresh", START_AT_PINS, has_power_up, start_fresh},
	[START_RAMP_1MS] = {"ramp-1ms", START_AT_PINS, NULL, start_ramp, 1},
	[START_RAMP_10MS] = {"ramp-10ms", START_AT_PINS, NULL, start_ramp, 10},
	[START_RAMP_100MS] = {"ramp-100ms", START_AT_PINS, NULL, start_ramp, 100},
	[START_RESETTING] = {"resetting", START_AT_PINS, has_reset, start_resetting},
	[START_ASLEEP] = {"asleep", START_AT_CONNECT, has_power_down, start_asleep},
	[START_ERASING] = {"erasing", START_AT_CONNECT, is_unlocked, start_erasing},
	[START_SUSPENDING] = {"suspending", START_AT_COMMAND, suspends_erases, start_suspending},
	[START_ERASE_SUSPENDED] = {"erase-suspended", START_AT_CONNECT, suspends_erases,
		start_erase_suspended},
	[START_PROGRAM_SUSPENDED] = {"program-suspended", START_AT_CONNECT, suspends_programs,
		start_program_suspended},
	[START_DEAF_SUSPENDED] = {"deaf-suspended", START_AT_CONNECT, suspends_and_resets,
		start_deaf_suspended},
	[START_WRITE_ENABLED] = {"write-enabled", START_AT_CONNECT, NULL, start_write_enabled},
	[START_PROTECTED] = {"protected", START_AT_CONNECT, has_protection, start_protected},
};

#define ROW_COUNT (sizeof(rows) / sizeof(rows[0]))

int start_state_parse(const char *text, enum start_state *state)
{
	for (size_t i = 0; i < ROW_COUNT; i++) {
		if (strcmp(rows[i].name, text) == 0) {
			*state = (enum start_state)i;
			return 0;
		}
	}
	return -EINVAL;
}

const char *start_state_name(enum start_state state)
{
	return rows[state].name;
}

enum start_moment start_state_moment(enum start_state state)
{
	return rows[state].moment;
}

bool start_state_fits(enum start_state state, const struct part *part)
{
	if (state == START_READY)
		return true;
	return part->family == PART_SPI_NOR && (!rows[state].fits || rows[state].fits(part));
}

void chip_start_in(
	struct chip *chip, enum start_state state, uint64_t now_ns, struct chip_facts *facts)
{
	struct session session = {chip, now_ns, rows[state].ramp_ms, facts};

	assert(start_state_fits(state, chip->part));
	memset(facts, 0, sizeof(*facts));
	chip_settle(chip, now_ns);
	if (rows[state].begin)
		rows[state].begin(&session);
}
