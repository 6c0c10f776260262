/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "fake_registers.h"

#define COMMAND_NS 1000

static void note(struct fake_registers *fake, const uint8_t *tx, size_t tx_bytes)
{
	size_t length = strlen(fake->sent);

	for (size_t i = 0; i < tx_bytes && length + 8 < sizeof(fake->sent); i++)
		length += (size_t)sprintf(fake->sent + length, i == 0 ? "%02x" : " %02x", tx[i]);
	strcpy(fake->sent + length, "; ");
}

static void answer_sfdp(
	const struct fake_registers *fake, const uint8_t *tx, uint8_t *rx, size_t rx_bytes)
{
	const size_t address = (size_t)tx[1] << 16 | (size_t)tx[2] << 8 | tx[3];

	for (size_t i = 0; i < rx_bytes; i++)
		rx[i] = address + i < fake->sfdp_bytes ? fake->sfdp[address + i] : 0xff;
}

static void answer(
	const struct fake_registers *fake, const uint8_t *tx, uint8_t *rx, size_t rx_bytes)
{
	if (tx[0] == 0x5a && fake->sfdp != NULL) {
		answer_sfdp(fake, tx, rx, rx_bytes);
		return;
	}
	if (rx_bytes == 0)
		return;
	assert(rx_bytes <= FAKE_ANSWER_BYTES);
	memcpy(rx, fake->answers[tx[0]], rx_bytes);
	if (tx[0] == 0x05 && fake->now_ns < fake->busy_until_ns)
		rx[0] |= 0x01;
}

/*
 * Returns true, and counts the mistake, if the part ignores the command. That is decided when the
 * command begins; the effect of a command starts when it ends.
 */
static bool is_deaf(struct fake_registers *fake, uint8_t opcode)
{
	const bool deaf = fake->now_ns < fake->deaf_until_ns;
	const bool busy = fake->now_ns < fake->busy_until_ns && opcode != 0x05;

	fake->sent_while_deaf += deaf;
	fake->sent_while_busy += busy;
	return deaf || busy;
}

static int fake_spi_command(struct programmer *programmer, const uint8_t *tx, size_t tx_bytes,
	uint8_t *rx, size_t rx_bytes)
{
	struct fake_registers *fake = (struct fake_registers *)programmer;
	bool deaf;

	assert(tx_bytes <= programmer->write_bytes_max && rx_bytes <= programmer->read_bytes_max);
	if (fake->fail_countdown > 0 && --fake->fail_countdown == 0)
		return -EIO;
	note(fake, tx, tx_bytes);
	if (rx_bytes > 0)
		memset(rx, 0xff, rx_bytes);
	deaf = is_deaf(fake, tx[0]);
	if (tx[0] == 0x06 && fake->write_enabled_ns == 0)
		fake->write_enabled_ns = fake->now_ns;
	fake->now_ns += COMMAND_NS;
	if (deaf)
		return 0;
	answer(fake, tx, rx, rx_bytes);
	if (fake->obey != NULL)
		fake->obey(fake, tx, tx_bytes);
	return 0;
}

static const struct programmer_ops fake_ops = {.spi_command = fake_spi_command};

static uint64_t fake_now_ns(void *context)
{
	return ((struct fake_registers *)context)->now_ns;
}

static void fake_delay_us(void *context, unsigned int us)
{
	struct fake_registers *fake = context;

	fake->now_ns += us * NS_PER_US;
	fake->waited_us += us;
}

void fake_registers_start(struct fake_registers *fake)
{
	memset(fake, 0, sizeof(*fake));
	memset(fake->answers, 0xff, sizeof(fake->answers));
	memset(fake->answers[0x05], 0, FAKE_ANSWER_BYTES);
	fake->base = (struct programmer){.name = "fake",
		.ops = &fake_ops,
		.buses = BUS_SPI,
		.write_bytes_max = 1024,
		.read_bytes_max = 65536};
	fake->clock =
		(struct clock){.now_ns = fake_now_ns, .delay_us = fake_delay_us, .context = fake};
	fake->log = captured_log(&fake->captured);
	flash_init(&fake->flash, &fake->base, &fake->clock, &fake->log);
}

void fake_part(struct fake_registers *fake, const char *name)
{
	const struct flash_chip *chip = chip_by_name(chip_lists, name);

	assert_non_null(chip);
	fake_registers_start(fake);
	fake->chip = *chip;
	fake->flash.chip = &fake->chip;
}

void fake_part_just_powered(struct fake_registers *fake, const char *name)
{
	fake_part(fake, name);
	fake->now_ns = NS_PER_MS;
	fake->base.powered_ns = NS_PER_MS;
}

void assert_write_power_awaited(const struct fake_registers *fake)
{
	assert_in_range(
		fake->write_enabled_ns, NS_PER_MS + POWER_UP_WRITE_US_MAX * NS_PER_US, UINT64_MAX);
}

int fake_write_status(struct fake_registers *fake, uint8_t first)
{
	struct spi25_status before, after;
	const int error = spi25_status_read_all(&fake->flash, &before);

	after = before;
	after.first = first;
	return error == 0 ? spi25_status_write_all(&fake->flash, &before, &after) : error;
}

int fake_erase(struct fake_registers *fake, size_t nth, uint32_t address)
{
	return fake->chip.driver->erase(&fake->flash, &fake->chip.erase[nth], address);
}

int fake_unprotect(struct fake_registers *fake, bool force)
{
	return fake->chip.driver->unprotect(&fake->flash, force);
}

int fake_reprotect(struct fake_registers *fake)
{
	return fake->chip.driver->reprotect(&fake->flash);
}

void assert_sent(struct fake_registers *fake, const char *expected)
{
	assert_string_equal(fake->sent, expected);
	fake->sent[0] = '\0';
}
