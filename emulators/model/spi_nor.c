/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The commands of SPI NOR flash, as the six datasheets in chips/ agree on them.
 */
#include <assert.h>
#include <string.h>

#include "family.h"

/* The longest page of any part here; the generator refuses longer ones. */
#define PAGE_BYTES_MAX 512

static void fill_repeating(const struct chip_transfer *transfer, const uint8_t *pattern,
	size_t pattern_len, size_t skip)
{
	for (size_t i = 0; i < transfer->reply_len; i++)
		transfer->reply[i] = pattern[(i + skip) % pattern_len];
}

static void run_rdid(
	struct chip *chip, const struct chip_transfer *transfer, struct chip_facts *facts)
{
	(void)facts;
	fill_repeating(transfer, chip->part->rdid, sizeof(chip->part->rdid), 0);
}

/* Bit 0 of the address chooses which of the two bytes comes first. */
static void run_rems(
	struct chip *chip, const struct chip_transfer *transfer, struct chip_facts *facts)
{
	fill_repeating(transfer, chip->part->rems, sizeof(chip->part->rems), facts->address & 1);
}

/* ABh with its three dummy bytes reads the ID; it wakes a sleeping part either way. */
static void run_release(
	struct chip *chip, const struct chip_transfer *transfer, struct chip_facts *facts)
{
	bool with_id = transfer->command_len >= 4 && transfer->reply_len > 0;

	(void)facts;
	if (with_id)
		fill_repeating(transfer, &chip->part->res, 1, 0);
	if (!chip->powered_down)
		return;
	chip->powered_down = false;
	chip_owe(chip, transfer,
		with_id ? chip->part->release_power_down_with_id : chip->part->release_power_down,
		CHIP_RULE_RELEASE);
}

static void run_power_down(
	struct chip *chip, const struct chip_transfer *transfer, struct chip_facts *facts)
{
	(void)facts;
	chip->powered_down = true;
	chip_owe(chip, transfer, chip->part->deep_power_down, CHIP_RULE_DEEP_POWER_DOWN);
}

static size_t status_index(const struct part *part, uint8_t opcode)
{
	size_t index = 0;

	while (index < part->status_count && part->status[index].read_opcode != opcode &&
		part->status[index].write_opcode != opcode)
		index++;
	return index;
}

static void run_read_status(
	struct chip *chip, const struct chip_transfer *transfer, struct chip_facts *facts)
{
	uint8_t status = chip_status(chip, status_index(chip->part, facts->opcode));

	fill_repeating(transfer, &status, 1, 0);
}

/* 01h takes the following registers as further bytes; 31h and 11h write one. */
static void run_write_status(
	struct chip *chip, const struct chip_transfer *transfer, struct chip_facts *facts)
{
	const struct part *part = chip->part;
	struct chip_pending work = {.work = CHIP_WORK_WRITE_STATUS};
	size_t first = status_index(part, facts->opcode);
	size_t data_len = transfer->command_len - 1;

	if (data_len > (first == 0 ? part->wrsr_bytes_max : 1)) {
		facts->rule = CHIP_RULE_LENGTH;
		return;
	}
	memcpy(work.status, chip->status, sizeof(work.status));
	for (size_t i = 0; i < data_len; i++) {
		uint8_t mask = part->status[first + i].writable_mask;

		work.status[first + i] = (uint8_t)((chip->status[first + i] & ~mask) |
						   (transfer->command[1 + i] & mask));
	}
	chip_start_work(chip, transfer, &work, part->write_status.at[chip->corner], facts);
}

static void run_write_enable(
	struct chip *chip, const struct chip_transfer *transfer, struct chip_facts *facts)
{
	(void)transfer;
	(void)facts;
	chip->write_enabled = true;
}

static void run_write_disable(
	struct chip *chip, const struct chip_transfer *transfer, struct chip_facts *facts)
{
	(void)transfer;
	(void)facts;
	chip->write_enabled = false;
}

static void run_read(
	struct chip *chip, const struct chip_transfer *transfer, struct chip_facts *facts)
{
	array_read(&chip->array, facts->address, transfer->reply, transfer->reply_len);
}

/* A part that gives times for single bytes needs no whole page time for a few of them. */
static struct figure program_time(const struct chip *chip, size_t len)
{
	struct figure page = chip->part->page_program.at[chip->corner];
	struct figure first = chip->part->byte_program_first.at[chip->corner];
	struct figure next = chip->part->byte_program_next.at[chip->corner];
	struct figure bytes = {
		.ns = first.ns + (len - 1) * next.ns,
		.grade = first.grade > next.grade ? first.grade : next.grade,
	};

	if (first.ns == 0 || len >= chip->part->page_bytes || bytes.ns > page.ns)
		return page;
	return bytes;
}

/* The page latch: bytes past the page's end go to its beginning, later ones replace earlier. */
static void run_page_program(
	struct chip *chip, const struct chip_transfer *transfer, struct chip_facts *facts)
{
	struct chip_pending work = {.work = CHIP_WORK_PROGRAM, .address = facts->address};
	uint8_t latch[PAGE_BYTES_MAX];
	uint32_t page_bytes = chip->part->page_bytes;
	uint32_t offset = facts->address % page_bytes;
	size_t data_len = transfer->command_len - 4;

	assert(page_bytes <= PAGE_BYTES_MAX);
	memset(latch, 0xFF, page_bytes);
	for (size_t i = 0; i < data_len; i++)
		latch[(offset + i) % page_bytes] = transfer->command[4 + i];
	array_program(&chip->array, facts->address - offset, latch, page_bytes);
	chip_start_work(chip, transfer, &work,
		program_time(chip, data_len < page_bytes ? data_len : page_bytes), facts);
}

static const struct part_erase *erase_find(const struct part *part, uint8_t opcode)
{
	for (size_t i = 0; i < part->erase_count; i++) {
		if (part->erases[i].opcode == opcode)
			return &part->erases[i];
	}
	return NULL;
}

static void run_erase(
	struct chip *chip, const struct chip_transfer *transfer, struct chip_facts *facts)
{
	const struct part_erase *erase = erase_find(chip->part, facts->opcode);
	struct chip_pending work = {
		.work = CHIP_WORK_ERASE,
		.address = facts->address - facts->address % erase->size_bytes,
		.size_bytes = erase->size_bytes,
	};

	chip_start_work(chip, transfer, &work, erase->busy.at[chip->corner], facts);
}

static void run_reset_enable(
	struct chip *chip, const struct chip_transfer *transfer, struct chip_facts *facts)
{
	(void)transfer;
	(void)facts;
	chip->reset_enabled = true;
}

static void run_reset(
	struct chip *chip, const struct chip_transfer *transfer, struct chip_facts *facts)
{
	bool erasing = chip->pending.work == CHIP_WORK_ERASE;

	(void)facts;
	if (!chip->reset_enabled)
		return;
	chip_abort_work(chip, transfer->end_ns);
	chip->write_enabled = false;
	chip_owe(chip, transfer,
		erasing ? chip->part->soft_reset_during_erase : chip->part->soft_reset,
		CHIP_RULE_RESET);
}

static bool has_rems(const struct part *part, uint8_t opcode)
{
	(void)opcode;
	return part->has_rems;
}

static bool has_reset(const struct part *part, uint8_t opcode)
{
	(void)opcode;
	return part->soft_reset.ns > 0;
}

static bool has_status(const struct part *part, uint8_t opcode)
{
	return status_index(part, opcode) < part->status_count;
}

static bool has_erase(const struct part *part, uint8_t opcode)
{
	return erase_find(part, opcode) != NULL;
}

#define WRITES (COMMAND_NEEDS_WRITE_ENABLE | COMMAND_NEEDS_NO_PROTECTION)
#define RESETS (COMMAND_WHILE_BUSY | COMMAND_KEEPS_RESET_ENABLED)
#define ANY COMMAND_DATA_ANY

/* Opcode, name, address and dummy bytes, when, which parts, data bytes from and to, what to do. */
static const struct command commands[] = {
	{0x9F, "RDID", 0, 0, 0, NULL, 0, ANY, run_rdid},
	{0x90, "REMS", 3, 0, 0, has_rems, 0, ANY, run_rems},
	{0xAB, "RES", 0, 0, COMMAND_WHILE_POWERED_DOWN, NULL, 0, ANY, run_release},
	{0xB9, "DP", 0, 0, 0, NULL, 0, 0, run_power_down},
	{0x05, "RDSR", 0, 0, COMMAND_WHILE_BUSY, NULL, 0, ANY, run_read_status},
	{0x35, "RDSR2", 0, 0, COMMAND_WHILE_BUSY, has_status, 0, ANY, run_read_status},
	{0x15, "RDSR3", 0, 0, COMMAND_WHILE_BUSY, has_status, 0, ANY, run_read_status},
	{0x06, "WREN", 0, 0, 0, NULL, 0, ANY, run_write_enable},
	{0x04, "WRDI", 0, 0, 0, NULL, 0, ANY, run_write_disable},
	{0x01, "WRSR", 0, 0, COMMAND_NEEDS_WRITE_ENABLE, NULL, 1, ANY, run_write_status},
	{0x31, "WRSR2", 0, 0, COMMAND_NEEDS_WRITE_ENABLE, has_status, 1, ANY, run_write_status},
	{0x11, "WRSR3", 0, 0, COMMAND_NEEDS_WRITE_ENABLE, has_status, 1, ANY, run_write_status},
	{0x03, "READ", 3, 0, 0, NULL, 0, ANY, run_read},
	{0x0B, "FAST_READ", 3, 1, 0, NULL, 0, ANY, run_read},
	{0x02, "PP", 3, 0, WRITES, NULL, 1, ANY, run_page_program},
	{0x20, "SE", 3, 0, WRITES, has_erase, 0, 0, run_erase},
	{0x52, "BE32", 3, 0, WRITES, has_erase, 0, 0, run_erase},
	{0xD8, "BE64", 3, 0, WRITES, has_erase, 0, 0, run_erase},
	{0xC7, "CE", 0, 0, WRITES, has_erase, 0, 0, run_erase},
	{0x60, "CE", 0, 0, WRITES, has_erase, 0, 0, run_erase},
	{0x66, "RSTEN", 0, 0, RESETS, has_reset, 0, 0, run_reset_enable},
	{0x99, "RST", 0, 0, COMMAND_WHILE_BUSY, has_reset, 0, 0, run_reset},
};

const struct family family_spi_nor = {
	.commands = commands,
	.command_count = sizeof(commands) / sizeof(commands[0]),
};
