/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef WIRE_H
#define WIRE_H

#include <string.h>

#include "captured_log.h"
#include "cmocka_headers.h"
#include "flash.h"

#define WIRE_COMMANDS_MAX 64
#define WIRE_HEAD_BYTES 8

/*
 * A programmer whose part the test writes command by command, with a clock that advances by 1 us a
 * command. It records what is sent; reads float high unless the test's `answer` sets them.
 */
struct wire {
	struct programmer base; /* must be the first field */
	struct clock clock;
	uint64_t now_ns;
	struct captured_log captured;
	struct log log;
	struct flash flash;
	int (*answer)(struct wire *wire, const uint8_t *tx, size_t tx_bytes, uint8_t *rx,
		size_t rx_bytes);

	/* Fields for the test's own use. */
	uint8_t status;
	uint64_t busy_until_ns;
	unsigned int sent_while_busy;

	struct {
		uint8_t head[WIRE_HEAD_BYTES];
		size_t bytes;
	} sent[WIRE_COMMANDS_MAX];
	size_t sent_count;
};

static inline int wire_spi_command(struct programmer *programmer, const uint8_t *tx,
	size_t tx_bytes, uint8_t *rx, size_t rx_bytes)
{
	struct wire *wire = (struct wire *)programmer;

	assert_true(wire->sent_count < WIRE_COMMANDS_MAX);
	memcpy(wire->sent[wire->sent_count].head, tx,
		tx_bytes < WIRE_HEAD_BYTES ? tx_bytes : WIRE_HEAD_BYTES);
	wire->sent[wire->sent_count++].bytes = tx_bytes;
	wire->now_ns += NS_PER_US;
	if (rx_bytes > 0)
		memset(rx, 0xff, rx_bytes);
	return wire->answer(wire, tx, tx_bytes, rx, rx_bytes);
}

static inline uint64_t wire_now_ns(void *context)
{
	return ((struct wire *)context)->now_ns;
}

static inline void wire_delay_us(void *context, unsigned int us)
{
	((struct wire *)context)->now_ns += us * NS_PER_US;
}

static inline void wire_start(struct wire *wire, const char *chip,
	int (*answer)(struct wire *wire, const uint8_t *tx, size_t tx_bytes, uint8_t *rx,
		size_t rx_bytes))
{
	static const struct programmer_ops ops = {.spi_command = wire_spi_command};

	*wire = (struct wire){
		.base = {.name = "wire",
			.ops = &ops,
			.buses = BUS_SPI,
			.write_bytes_max = 4096,
			.read_bytes_max = 4096},
		.clock = {.now_ns = wire_now_ns, .delay_us = wire_delay_us, .context = wire},
		.answer = answer,
	};
	wire->log = captured_log(&wire->captured);
	flash_init(&wire->flash, &wire->base, &wire->clock, &wire->log);
	wire->flash.chip = chip_by_name(chip_lists, chip);
	assert_non_null(wire->flash.chip);
}

static inline size_t wire_count(const struct wire *wire, uint8_t opcode)
{
	size_t count = 0;

	for (size_t i = 0; i < wire->sent_count; i++)
		count += wire->sent[i].head[0] == opcode;
	return count;
}

/* Checks the n-th command that begins with the opcode. */
static inline void assert_wire_sent(
	const struct wire *wire, size_t nth, uint8_t opcode, const uint8_t *expected, size_t bytes)
{
	for (size_t i = 0; i < wire->sent_count; i++) {
		if (wire->sent[i].head[0] != opcode || nth-- > 0)
			continue;
		assert_int_equal(wire->sent[i].bytes, bytes);
		assert_memory_equal(wire->sent[i].head, expected, bytes);
		return;
	}
	fail_msg("no such command %02x", opcode);
}

#define ASSERT_WIRE_SENT(wire, nth, ...)                                                           \
	do {                                                                                       \
		const uint8_t expected_[] = {__VA_ARGS__};                                         \
                                                                                                   \
		assert_wire_sent((wire), (nth), expected_[0], expected_, sizeof(expected_));       \
	} while (0)

#endif
