/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fake_chip.h"

#include <assert.h>
#include <errno.h>

#define BUSY 0x01
#define WRITE_ENABLED 0x02
#define COMMAND_NS 1000

const struct flash_chip small_chip = {
	.vendor = "Test",
	.name = "SMALL",
	.id = 0x112233,
	.size_bytes = 262144,
	.page_bytes = 256,
	.buses = BUS_SPI,
	.identify = &spi25_rdid,
	.driver = &spi25_driver,
	.program = {700, 3000},
	.spi25 = {.status_write = {10000, 15000},
		.wake_us_max = 30,
		.protect_mask = 0x1c,
		.status_two_bytes = true},
	.erase = {{0x20, 4096, {45000, 400000}}, {0x52, 32768, {120000, 1600000}},
		{0xd8, 65536, {150000, 2000000}}, {0xc7, 262144, {500000, 4000000}}},
};

const struct flash_chip sector_chip = {
	.vendor = "Test",
	.name = "SECTOR",
	.id = 0x112244,
	.size_bytes = 262144,
	.page_bytes = 256,
	.buses = BUS_SPI,
	.identify = &spi25_rdid,
	.driver = &spi25_driver,
	.program = {1400, 5000},
	.spi25 = {.status_write = {5000, 15000}, .wake_us_max = 100, .protect_mask = 0x1c},
	.erase = {{0xd8, 65536, {1000000, 3000000}}, {0xc7, 262144, {10000000, 20000000}}},
};

static uint32_t address_of(const uint8_t *tx)
{
	return (uint32_t)tx[1] << 16 | (uint32_t)tx[2] << 8 | tx[3];
}

static void become_busy(struct fake_chip *fake, uint32_t typ_us)
{
	const uint64_t busy_ns =
		fake->busy_ns_override != 0 ? fake->busy_ns_override : typ_us * NS_PER_US;

	fake->busy_until_ns = fake->now_ns + busy_ns;
	fake->write_enabled = false;
}

static void program_byte(struct fake_chip *fake, uint32_t address, uint8_t value)
{
	if (fake->has_stuck_cell && fake->stuck_cell == address)
		return;
	fake->memory[address] &= value;
	fake->programmed_bytes++;
	fake->programmed_blank_bytes += value == 0xff;
}

/* Wraps around at the end of the page, as a real part does. */
static void page_program(struct fake_chip *fake, const uint8_t *tx, size_t tx_bytes)
{
	const uint32_t page_bytes = fake->chip->page_bytes;
	const uint32_t address = address_of(tx);
	const uint32_t page = address - address % page_bytes;

	fake->crossed_pages += address % page_bytes + tx_bytes - 4 > page_bytes;
	for (size_t i = 4; i < tx_bytes; i++)
		program_byte(fake, page + (address + (uint32_t)i - 4) % page_bytes, tx[i]);
	become_busy(fake, fake->chip->program.typ_us);
}

static void start_erase(struct fake_chip *fake, const struct chip_erase *erase, const uint8_t *tx)
{
	const bool whole = erase->block_bytes == fake->chip->size_bytes;
	const uint32_t address =
		whole ? 0 : address_of(tx) / erase->block_bytes * erase->block_bytes;

	assert(fake->erase_count < FAKE_ERASES_MAX);
	fake->erases[fake->erase_count].opcode = erase->opcode;
	fake->erases[fake->erase_count++].address = address;
	memset(fake->memory + address, 0xff, erase->block_bytes);
	become_busy(fake, erase->busy.typ_us);
}

static void status_write(struct fake_chip *fake, const uint8_t *tx, size_t tx_bytes)
{
	if (!fake->protection_stuck)
		fake->status = tx[1];
	fake->status_2 = tx_bytes > 2 ? tx[2] : 0;
	become_busy(fake, fake->chip->spi25.status_write.typ_us);
}

static const struct chip_erase *erase_by_opcode(const struct flash_chip *chip, uint8_t opcode)
{
	for (size_t i = 0; i < chip_erase_count(chip); i++) {
		if (chip->erase[i].opcode == opcode)
			return &chip->erase[i];
	}
	return NULL;
}

/* Runs a command that changes something, and so needs the write enable latch. */
static void modify(struct fake_chip *fake, const uint8_t *tx, size_t tx_bytes)
{
	const struct chip_erase *by_opcode = erase_by_opcode(fake->chip, tx[0]);

	if (!fake->write_enabled) {
		fake->without_write_enable++;
		return;
	}
	if (tx[0] == 0x02)
		page_program(fake, tx, tx_bytes);
	else if (tx[0] == 0x01)
		status_write(fake, tx, tx_bytes);
	else if (by_opcode != NULL)
		start_erase(fake, by_opcode, tx);
}

static uint8_t status_now(const struct fake_chip *fake)
{
	const bool busy = fake->now_ns < fake->busy_until_ns;

	return (uint8_t)(fake->status | (busy ? BUSY : 0) |
			 (fake->write_enabled ? WRITE_ENABLED : 0));
}

static void answer_id(const struct fake_chip *fake, uint8_t *rx, size_t rx_bytes)
{
	for (size_t i = 0; i < rx_bytes && i < 3; i++)
		rx[i] = (uint8_t)(fake->jedec_id >> (16 - 8 * i));
}

static void obey(
	struct fake_chip *fake, const uint8_t *tx, size_t tx_bytes, uint8_t *rx, size_t rx_bytes)
{
	switch (tx[0]) {
	case 0x03:
		memcpy(rx, fake->memory + address_of(tx), rx_bytes);
		break;
	case 0x05:
		memset(rx, status_now(fake), rx_bytes);
		fake->now_ns += fake->answer_stall_ns;
		fake->answer_stall_ns = 0;
		break;
	case 0x06:
		fake->write_enabled = true;
		break;
	case 0x35:
		memset(rx, fake->status_2, rx_bytes);
		break;
	case 0x9f:
		answer_id(fake, rx, rx_bytes);
		break;
	case 0xab:
		break;
	default:
		modify(fake, tx, tx_bytes);
	}
}

static bool is_deaf(struct fake_chip *fake, uint8_t opcode)
{
	if (fake->now_ns < fake->awake_from_ns) {
		fake->sent_while_waking++;
		return true;
	}
	if (fake->now_ns < fake->busy_until_ns && opcode != 0x05) {
		fake->sent_while_busy++;
		return true;
	}
	return false;
}

static int fake_spi_command(struct programmer *programmer, const uint8_t *tx, size_t tx_bytes,
	uint8_t *rx, size_t rx_bytes)
{
	struct fake_chip *fake = (struct fake_chip *)programmer;

	assert(tx_bytes <= programmer->write_bytes_max && rx_bytes <= programmer->read_bytes_max);
	if (fake->fail_countdown > 0 && --fake->fail_countdown == 0)
		return -EIO;
	fake->now_ns += COMMAND_NS;
	fake->counts[tx[0]]++;
	if (rx_bytes > 0)
		memset(rx, 0xff, rx_bytes);
	if (!is_deaf(fake, tx[0]))
		obey(fake, tx, tx_bytes, rx, rx_bytes);
	return 0;
}

static void fake_destroy(struct programmer *programmer)
{
	(void)programmer;
}

static const struct programmer_ops fake_ops = {
	.spi_command = fake_spi_command,
	.destroy = fake_destroy,
};

static uint64_t fake_now_ns(void *context)
{
	return ((struct fake_chip *)context)->now_ns;
}

static void fake_delay_us(void *context, unsigned int us)
{
	struct fake_chip *fake = context;

	fake->delays++;
	fake->now_ns += us * NS_PER_US + fake->stall_ns;
	fake->stall_ns = 0;
}

void fake_chip_init(struct fake_chip *fake, const struct flash_chip *chip)
{
	*fake = (struct fake_chip){
		.base = {.name = "fake",
			.ops = &fake_ops,
			.buses = BUS_SPI,
			.write_bytes_max = 1024,
			.read_bytes_max = 65536},
		.chip = chip,
		.clock = {.now_ns = fake_now_ns, .delay_us = fake_delay_us, .context = fake},
		.memory = malloc(chip->size_bytes),
		.jedec_id = chip->id,
		.status_2 = 0x02,
		.now_ns = 1,
	};
	assert(fake->memory != NULL);
	memset(fake->memory, 0xff, chip->size_bytes);
}

void fake_chip_deinit(struct fake_chip *fake)
{
	free(fake->memory);
}

bool fake_chip_is_content(const struct fake_chip *fake)
{
	return fake->sent_while_busy == 0 && fake->sent_while_waking == 0 &&
	       fake->crossed_pages == 0 && fake->without_write_enable == 0;
}
