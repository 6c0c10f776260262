/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef FAKE_REGISTERS_H
#define FAKE_REGISTERS_H

#include <stdbool.h>

#include "../cases.h"
#include "captured_log.h"
#include "flash.h"
#include "spi25.h"

#define FAKE_ANSWER_BYTES 24

/*
 * A programmer with a part that has only registers. It answers each opcode with the test's bytes,
 * and keeps a transcript of the commands. Its clock advances by 1 us a command and by each delay.
 */
struct fake_registers {
	struct programmer base; /* must be the first field */
	struct clock clock;
	uint64_t now_ns;
	uint8_t answers[256][FAKE_ANSWER_BYTES]; /* by opcode; at first 0xff, status 0 */

	/* Called for the effect of a command, unless NULL. */
	void (*obey)(struct fake_registers *fake, const uint8_t *tx, size_t tx_bytes);

	/* Before this time 05h answers "busy", and all other commands are mistakes. */
	uint64_t busy_until_ns;
	unsigned int sent_while_busy;

	uint64_t write_enabled_ns; /* the beginning of the first 06h */

	/* Before this time all commands are mistakes. */
	uint64_t deaf_until_ns;
	unsigned int sent_while_deaf;

	/* The bytes that 5Ah reads, from address 0 on; 0xff beyond them. */
	const uint8_t *sfdp;
	size_t sfdp_bytes;

	unsigned int fail_countdown; /* the n-th command from now fails with -EIO; 0 for none */
	uint64_t waited_us;          /* total of the delays */
	char sent[4096];             /* "06; 01 00; 05; " */

	struct captured_log captured;
	struct log log;
	struct flash flash;
	struct flash_chip chip; /* a copy of the part's built-in entry */
};

/* Starts with no part found. */
void fake_registers_start(struct fake_registers *fake);

/* Starts anew, with the built-in part of that name as found. */
void fake_part(struct fake_registers *fake, const char *name);

/* Starts anew, at 1 ms, when the part has just got its power. */
void fake_part_just_powered(struct fake_registers *fake, const char *name);

/* Fails the test unless the first write enable came after the part began to accept writes. */
void assert_write_power_awaited(const struct fake_registers *fake);

/* Operations of the part's driver. A status write changes only the first register. */
int fake_write_status(struct fake_registers *fake, uint8_t first);
int fake_erase(struct fake_registers *fake, size_t nth, uint32_t address);
int fake_unprotect(struct fake_registers *fake, bool force);
int fake_reprotect(struct fake_registers *fake);

/* Fails the test unless the transcript equals `expected`; begins a new one. */
void assert_sent(struct fake_registers *fake, const char *expected);

#endif
