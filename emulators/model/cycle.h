/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Bus cycles inside the model: what the families of parallel.h have in common. Only they include
 * this; callers have chip_write_cycle() and chip_read_cycle().
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

/* Their family.init and family.power_up. */
void cycle_init(struct chip *chip);
void cycle_power_up(struct chip *chip, uint64_t at_ns);

/*
 * The part is busy from @start_ns on, and the client owes it that wait: the end of the cycle, or of
 * the window in which more may follow.
 */
void cycle_start_work(struct chip *chip, uint64_t start_ns, const struct chip_pending *work,
	const struct busy_time *busy, struct chip_facts *facts);

/* The work in hand begins at @start_ns only. */
void cycle_defer_work(struct chip *chip, uint64_t start_ns, struct chip_facts *facts);

/* The client owes the part @wait, if it is not 0. */
void cycle_owe(struct chip *chip, const struct cycle *cycle, struct figure wait);

/* The work in hand is as if it had never been asked for. */
void cycle_forget_work(struct chip *chip, const struct cycle *cycle);

/* The cycle came after @until_ns, when the part had stopped waiting for it. */
void cycle_came_late(
	uint64_t until_ns, enum grade grade, const struct cycle *cycle, struct chip_facts *facts);

/* The rule that a write breaks by coming too early; settles the wait that is over. */
enum chip_rule cycle_check_write(
	struct chip *chip, const struct cycle *cycle, struct chip_facts *facts);

/* The array, or in ID mode the identity. */
uint8_t cycle_read_content(
	const struct chip *chip, const struct cycle *cycle, struct chip_facts *facts);

/* Returns true if a block that [address, address + len) touches is locked against writes. */
bool registers_forbid(const struct chip *chip, uint32_t address, uint32_t len);

/* A byte that the part promises nothing about; the same at each run. @nth tells uses apart. */
uint8_t cycle_noise(const struct chip *chip, uint32_t address, uint32_t nth);

/* The cycles before a command of the JEDEC families (unlock.c): AAh 55h, or AAh 55h 80h AAh 55h. */
enum unlock_result {
	UNLOCK_OTHER,         /* it belongs to no sequence */
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
	bool anywhere; /* at the address it is meant for, not at the command address */
	const char *name;
	bool (*part_has)(const struct part *part, uint8_t opcode); /* NULL: they all do */
	void (*run)(struct chip *chip, const struct cycle *cycle, struct chip_facts *facts);
};

struct unlock_table {
	const struct unlock_command *commands;
	size_t count;
};

/* Runs the command that the cycle is, if it is one. In ID mode only entering and leaving it work.
 */
void unlock_run(struct chip *chip, const struct unlock_table *table, enum unlock_result result,
	const struct cycle *cycle, struct chip_facts *facts);

bool unlock_has_id_entry(const struct part *part, uint8_t opcode);
bool unlock_has_erase(const struct part *part, uint8_t opcode);
void unlock_enter_id(struct chip *chip, const struct cycle *cycle, struct chip_facts *facts);
void unlock_leave_id(struct chip *chip, const struct cycle *cycle, struct chip_facts *facts);
uint8_t unlock_read(struct chip *chip, const struct cycle *cycle, struct chip_facts *facts);

#endif
