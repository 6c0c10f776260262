/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A card that grants its bus, with a part that answers byte N with A0h + N. */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "../cases.h"
#include "captured_log.h"
#include "programmers.h"

#define EECD 0x10
#define FLA 0x1C
#define CLOCK 0x01
#define DESELECT 0x02
#define OUT 0x04
#define REPLY 0x08
#define REQUEST 0x10
#define GRANT 0x20
#define GRANTS_AFTER_READS 3
#define BYTES 8

struct card {
	uint32_t eecd;
	uint32_t fla;
	uint64_t now_us;
	bool refuses;
	unsigned int requested_reads;
	unsigned int bits; /* since chip select fell */
	uint8_t received[BYTES];
	uint64_t changed_us;       /* when clock or chip select changed */
	uint64_t shortest_us;      /* the shortest time between two such changes */
	unsigned int select_count; /* the number of times that chip select fell */
	unsigned int unmap_count;
	struct programmer *programmer;
};

static uint8_t answer_at(unsigned int bit)
{
	return (uint8_t)(bit / 8 + 0xA0) >> (7 - bit % 8) & 1;
}

static uint32_t read_register(void *context, size_t at)
{
	struct card *card = context;
	uint32_t fla = card->fla | (answer_at(card->bits) ? REPLY : 0);

	if (at == EECD)
		return card->eecd;
	assert_int_equal(at, FLA);
	if (fla & REQUEST && ++card->requested_reads > GRANTS_AFTER_READS && !card->refuses)
		fla |= GRANT;
	return fla;
}

static void take_bit(struct card *card)
{
	uint8_t *received = &card->received[card->bits / 8];

	*received = (uint8_t)(*received << 1 | (card->fla & OUT ? 1 : 0));
	card->bits++;
}

static void note_change(struct card *card)
{
	const uint64_t passed_us = card->now_us - card->changed_us;

	if (card->bits > 0 && passed_us < card->shortest_us)
		card->shortest_us = passed_us;
	card->changed_us = card->now_us;
}

static void write_register(void *context, size_t at, uint32_t value)
{
	struct card *card = context;
	const uint32_t changed = card->fla ^ value;

	if (at == EECD) {
		card->eecd = value;
		return;
	}
	if (changed & (CLOCK | DESELECT))
		note_change(card);
	card->fla = value;
	if (changed & DESELECT && !(value & DESELECT)) {
		card->bits = 0;
		card->select_count++;
	}
	if (changed & CLOCK && value & CLOCK)
		take_bit(card);
}

static void count_unmap(void *context)
{
	((struct card *)context)->unmap_count++;
}

static void pass(void *context, unsigned int us)
{
	((struct card *)context)->now_us += us;
}

static void attach(struct card *card)
{
	static struct clock clock;
	static struct captured_log captured;
	static const struct log log = {.emit = captured_emit, .sink = &captured};
	const struct nicintel_spi_registers registers = {
		read_register, write_register, count_unmap, card};

	*card = (struct card){.eecd = 0x110, .fla = DESELECT, .shortest_us = UINT64_MAX};
	clock = (struct clock){.delay_us = pass, .context = card};
	assert_int_equal(nicintel_spi_attach(&registers, &clock, &log, &card->programmer), 0);
}

static void detach(struct card *card)
{
	programmer_destroy(card->programmer);
	assert_int_equal(card->unmap_count, 1);
	assert_int_equal(card->eecd, 0x110);
}

FIXTURE(card, attach, detach);

static int send(struct card *card, uint8_t *rx, size_t rx_bytes)
{
	static const uint8_t tx[] = {0x9F, 0x01};

	return card->programmer->ops->spi_command(card->programmer, tx, sizeof(tx), rx, rx_bytes);
}

static void flash_writes_are_enabled_while_attached(struct card *card)
{
	assert_int_equal(card->eecd, 0x120);
	assert_int_equal(card->programmer->buses, BUS_SPI);
}

static void command_is_sent_and_its_answer_is_received(struct card *card)
{
	uint8_t rx[2];

	assert_int_equal(send(card, rx, sizeof(rx)), 0);
	assert_memory_equal(card->received, ((const uint8_t[]){0x9F, 0x01, 0, 0}), 4);
	assert_memory_equal(rx, ((const uint8_t[]){0xA2, 0xA3}), 2);
	assert_int_equal(card->select_count, 1);
	assert_int_equal(card->bits, 32);
}

static void bus_is_released_after_a_command(struct card *card)
{
	assert_int_equal(send(card, NULL, 0), 0);
	assert_int_equal(card->fla, DESELECT);
}

static void half_a_clock_period_lasts_a_microsecond(struct card *card)
{
	assert_int_equal(send(card, NULL, 0), 0);
	assert_int_equal(card->shortest_us, 1);
}

static void request_for_the_bus_times_out_after_a_second(struct card *card)
{
	card->refuses = true;
	assert_int_equal(send(card, NULL, 0), -ETIMEDOUT);
	assert_int_equal(card->now_us, 1000000);
	assert_int_equal(card->select_count, 0);
	assert_int_equal(card->fla, DESELECT);
}

static const struct CMUnitTest tests[] = {
	CASE_ON(card, flash_writes_are_enabled_while_attached),
	CASE_ON(card, command_is_sent_and_its_answer_is_received),
	CASE_ON(card, bus_is_released_after_a_command),
	CASE_ON(card, half_a_clock_period_lasts_a_microsecond),
	CASE_ON(card, request_for_the_bus_times_out_after_a_second),
};

RUN_CASES(tests)
