/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Transfers on an SPI bus: byte by byte while chip select is low, or a whole transfer at once. */
#include <assert.h>
#include <string.h>

#include "spi_command.h"

void chip_select(struct chip *chip, uint64_t now_ns)
{
	struct spi_wire *wire = &chip->wire;

	chip_settle(chip, now_ns);
	memset(wire, 0, offsetof(struct spi_wire, bytes));
	wire->start_ns = now_ns;
	wire->head_len = 1;
	wire->facts.busy_left_ns = chip_busy_left_ns(chip, now_ns);
}

static void begin(struct chip *chip, uint8_t opcode)
{
	struct spi_wire *wire = &chip->wire;

	wire->facts.opcode = opcode;
	wire->is_silent = chip_is_off(chip, &wire->facts);
	if (!wire->is_silent)
		spi_begin(chip);
}

uint32_t spi_page_bytes(const struct chip *chip)
{
	return chip->dataflash.binary_pages ? chip->part->dataflash->binary_page_bytes
					    : chip->part->page_bytes;
}

/*
 * Drops the first whole pages of data: a program wraps at the end of its page, so later bytes
 * replace these. The rest is still too long for each command whose length is limited.
 */
static void drop_replaced(struct chip *chip)
{
	struct spi_wire *wire = &chip->wire;
	size_t drop = CHIP_LATCH_BYTES_MAX - CHIP_LATCH_BYTES_MAX % spi_page_bytes(chip);
	uint8_t *data = wire->bytes + wire->head_len;

	wire->command_len -= drop;
	memmove(data, data + drop, wire->command_len - wire->head_len);
}

/* Takes bytes that the client drives. */
static void take(struct chip *chip, const uint8_t *bytes, size_t len)
{
	struct spi_wire *wire = &chip->wire;

	if (wire->clocked_len == 0)
		begin(chip, bytes[0]);
	wire->clocked_len += len;
	while (len > 0) {
		size_t room = sizeof(wire->bytes) - wire->command_len;
		size_t part = len < room ? len : room;

		memcpy(wire->bytes + wire->command_len, bytes, part);
		wire->command_len += part;
		bytes += part;
		len -= part;
		if (wire->command_len == sizeof(wire->bytes))
			drop_replaced(chip);
	}
}

static uint8_t drive(struct chip *chip, uint64_t now_ns)
{
	const struct spi_wire *wire = &chip->wire;
	uint8_t reply = BUS_FLOATING;

	chip_settle(chip, now_ns);
	if (!wire->is_silent && wire->clocked_len >= wire->head_len)
		spi_reply(chip, now_ns, &reply, 1);
	return reply;
}

uint8_t chip_exchange(struct chip *chip, uint64_t now_ns, uint8_t value)
{
	uint8_t reply = drive(chip, now_ns);

	take(chip, &value, 1);
	return reply;
}

uint8_t chip_preview(struct chip *chip, uint64_t now_ns)
{
	struct spi_wire *wire = &chip->wire;
	const struct chip_facts facts = wire->facts;
	const size_t replied_len = wire->replied_len;
	const bool has_address = wire->has_address;
	uint8_t reply = drive(chip, now_ns);

	if (wire->facts.owed && !facts.owed)
		chip->debt.open = true; /* only the exchange of the byte settles the wait */
	wire->facts = facts;
	wire->replied_len = replied_len;
	wire->has_address = has_address;
	return reply;
}

void chip_cut_short(struct chip *chip)
{
	struct spi_wire *wire = &chip->wire;

	if (wire->command && !wire->command->reply && wire->facts.rule == CHIP_RULE_NONE)
		wire->facts.rule = CHIP_RULE_LENGTH;
}

static void finish(struct chip *chip, uint64_t now_ns, struct chip_facts *facts)
{
	if (!chip->wire.is_silent)
		spi_end(chip, now_ns);
	*facts = chip->wire.facts;
	facts->busy_until_ns = chip->busy_until_ns;
	facts->status = chip->family->status(chip);
}

bool chip_deselect(struct chip *chip, uint64_t now_ns, struct chip_facts *facts)
{
	chip_settle(chip, now_ns);
	if (chip->wire.clocked_len == 0)
		return false;
	finish(chip, now_ns, facts);
	return true;
}

size_t chip_passed_len(const struct chip *chip, size_t *reply_len)
{
	*reply_len = chip->wire.replied_len;
	return chip->wire.clocked_len;
}

/*
 * A reply that may change is read byte by byte, each byte at its own time. The first byte shows the
 * part when the command began: the time of the command's own bytes is left out.
 */
static void listen_by_bytes(struct chip *chip, const struct chip_transfer *transfer)
{
	uint64_t byte_ns = (transfer->end_ns - transfer->start_ns) /
			   (transfer->command_len + transfer->reply_len);

	for (size_t i = 0; i < transfer->reply_len; i++) {
		uint64_t now_ns = transfer->start_ns + i * byte_ns;

		chip_settle(chip, now_ns);
		spi_listen(chip, now_ns, transfer->reply + i, 1);
	}
}

/* Power is never cut within a whole transfer, only between transfers. */
void chip_transfer(
	struct chip *chip, const struct chip_transfer *transfer, struct chip_facts *facts)
{
	assert(transfer->command_len > 0 && transfer->start_ns <= transfer->end_ns);
	chip_select(chip, transfer->start_ns);
	take(chip, transfer->command, transfer->command_len);
	if (transfer->reply_len > 0 && chip->wire.is_silent)
		memset(transfer->reply, BUS_FLOATING, transfer->reply_len);
	else if (transfer->reply_len > 1 && !chip->power.planned && spi_reply_may_change(chip))
		listen_by_bytes(chip, transfer);
	else if (transfer->reply_len > 0)
		spi_listen(chip, transfer->start_ns, transfer->reply, transfer->reply_len);
	finish(chip, transfer->end_ns, facts);
}
