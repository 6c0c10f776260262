/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Bus cycles inside the model: the functions that the families of parallel.h share. Only these
 * families include this header; callers use chip_write_cycle() and chip_read_cycle().
 */
#ifndef EMULATORS_MODEL_CYCLE_H
#define EMULATORS_MODEL_CYCLE_H

#include "family.h"

struct cycle {
	uint64_t start_ns;
	uint64_t end_ns;  /* busy times and waits count from here */
	uint32_t address; /* inside the array */
	uint8_t value;    /* 0 for a read */
};

/* The functions family->init and family->power_up of these families. */
void cycle_init(struct chip *chip);
void cycle_power_up(struct chip *chip, uint64_t at_ns);

/*
 * Makes the part busy from @start_ns on, and makes the client owe that wait. @start_ns is the end
 * of the cycle, or of the window in which further cycles may follow.
 */
void cycle_start_work(struct chip *chip, uint64_t start_ns, const struct chip_pending *work,
	const struct busy_time *busy, struct chip_facts *facts);

/* Moves the beginning of the current work to @start_ns. */
void cycle_defer_work(struct chip *chip, uint64_t start_ns, struct chip_facts *facts);

/* Makes the client owe @wait, if it is not 0. */
void cycle_owe(struct chip *chip, const struct cycle *cycle, struct figure wait);

/* Drops the current work. The array stays as it was, and the client owes no wait for it. */
void cycle_forget_work(struct chip *chip, const struct cycle *cycle);

/* Records that the cycle came after @until_ns, when the part had stopped waiting for it. */
void cycle_came_late(
	uint64_t until_ns, enum grade grade, const struct cycle *cycle, struct chip_facts *facts);

/* Returns the rule that a write breaks if it is too early. Settles a wait that is over. */
enum chip_rule cycle_check_write(
	struct chip *chip, const struct cycle *cycle, struct chip_facts *facts);

/* Returns a byte of the array, or in ID mode of the identity. */
uint8_t cycle_read_content(
	const struct chip *chip, const struct cycle *cycle, struct chip_facts *facts);

/* Returns true if a block that [address, address + len) touches is locked against writes. */
bool registers_forbid(const struct chip *chip, uint32_t address, uint32_t len);

/* Returns a byte that no datasheet defines, the same in each run. @nth distinguishes uses. */
uint8_t cycle_noise(const struct chip *chip, uint32_t address, uint32_t nth);

/* The place of a cycle in the unlock sequences of the JEDEC families (unlock.c). */
enum unlock_result {
	UNLOCK_OTHER,         /* the cycle belongs to no sequence */
	UNLOCK_PREFIX,        /* the sequence goes on */
	UNLOCK_COMMAND,       /* the cycle after AAh 55h */
	UNLOCK_SETUP_COMMAND, /* the cycle after AAh 55h 80h AAh 55h */
};

/* Takes one write cycle. A cycle that breaks a sequence may begin the next one. */
enum unlock_result unlock_feed(
	enum unlock_step *step, const struct part_unlock *unlock, const struct cycle *cycle);

/* Returns true if the cycle is the one that a sequence at @step waits for. */
bool unlock_goes_on(
	enum unlock_step step, const struct part_unlock *unlock, const struct cycle *cycle);

struct unlock_command {
	uint8_t opcode;
	enum unlock_result after;
	bool anywhere; /* its address is that of a block, not the command address */
	const char *name;
	bool (*part_has)(const struct part *part, uint8_t opcode); /* NULL: all parts have it */
	void (*run)(struct chip *chip, const struct cycle *cycle, struct chip_facts *facts);
};

struct unlock_table {
	const struct unlock_command *commands;
	size_t count;
};

/* Runs the command of this cycle, if there is one. In ID mode only entering and leaving it work. */
void unlock_run(struct chip *chip, const struct unlock_table *table, enum unlock_result result,
	const struct cycle *cycle, struct chip_facts *facts);

bool unlock_has_id_entry(const struct part *part, uint8_t opcode);
void unlock_enter_id(struct chip *chip, const struct cycle *cycle, struct chip_facts *facts);
void unlock_leave_id(struct chip *chip, const struct cycle *cycle, struct chip_facts *facts);
uint8_t unlock_read(struct chip *chip, const struct cycle *cycle, struct chip_facts *facts);

#endif
