/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef FAKE_REGISTERS_H
#define FAKE_REGISTERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "captured_log.h"
#include "cmocka_headers.h"
#include "flash.h"
#include "spi25.h"

#define FAKE_ANSWER_BYTES 24

/**
 * A programmer with a part that is nothing but registers: it answers each opcode with what the test
 * put there, and keeps a transcript of what it was sent. Its clock moves by 1 us a command and by
 * each delay.
 */
struct fake_registers {
	struct programmer base; /* first */
	struct clock clock;
	uint64_t now_ns;
	uint8_t answers[256][FAKE_ANSWER_BYTES]; /* by opcode; 0xff to begin with, status 0 */

	/* The effect of a command; NULL for none. */
	void (*obey)(struct fake_registers *fake, const uint8_t *tx, size_t tx_bytes);

	/* Until then 05h answers busy, and all else is a mistake. */
	uint64_t busy_until_ns;
	unsigned int sent_while_busy;

	/* Until then anything is. */
	uint64_t deaf_until_ns;
	unsigned int sent_while_deaf;

	/* The bytes that 5Ah reads, from address 0 on; 0xff beyond them. */
	const uint8_t *sfdp;
	size_t sfdp_bytes;

	unsigned int fail_countdown; /* fail the n-th command from now with -EIO; 0 is never */
	uint64_t waited_us;          /* by delays */
	char sent[4096];             /* "06; 01 00; 05; " */

	struct captured_log captured;
	struct log log;
	struct flash flash;
};

/** Starts with `chip` as the one found; NULL is fine. */
void fake_registers_init(struct fake_registers *fake, const struct flash_chip *chip);

/** Fails the test unless the transcript is `expected`, and begins a new one. */
void assert_sent(struct fake_registers *fake, const char *expected);

/** A copy of the built-in entry of that name. */
struct flash_chip chip_named(const char *name);

#endif
