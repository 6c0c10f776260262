/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The commands of SPI NOR flash, as the datasheets behind chips/ agree on them.
 */
#include <assert.h>
#include <string.h>

#include "spi_command.h"

#define STATUS_WIP 0x01
#define STATUS_WEL 0x02

/* The longest page of any part here; the generator refuses longer ones. */
#define PAGE_BYTES_MAX 512

static void run_rdid(struct chip *chip, const struct spi_request *request, struct chip_facts *facts)
{
	const struct part_spi *part = chip->part->spi;

	(void)facts;
	spi_reply_repeating(request, part->rdid, part->rdid_len, 0);
}

/* Bit 0 of the address chooses which of the two bytes comes first. */
static void run_rems(struct chip *chip, const struct spi_request *request, struct chip_facts *facts)
{
	const uint8_t *rems = chip->part->spi->rems;

	spi_reply_repeating(request, rems, sizeof(chip->part->spi->rems), facts->address & 1);
}

/* ABh with its three dummy bytes reads the ID; it wakes a sleeping part either way. */
static void run_release(
	struct chip *chip, const struct spi_request *request, struct chip_facts *facts)
{
	const struct part_spi *part = chip->part->spi;
	const struct chip_transfer *transfer = request->transfer;
	bool with_id = request->data_len >= 3 && transfer->reply_len > 0;

	(void)facts;
	if (with_id)
		spi_reply_repeating(request, &part->res, 1, 0);
	if (!chip->spi.powered_down)
		return;
	chip->spi.powered_down = false;
	chip_owe(chip, transfer->end_ns,
		with_id ? part->release_power_down_with_id : part->release_power_down,
		CHIP_RULE_RELEASE);
}

static void run_power_down(
	struct chip *chip, const struct spi_request *request, struct chip_facts *facts)
{
	(void)facts;
	chip->spi.powered_down = true;
	chip_owe(chip, request->transfer->end_ns, chip->part->spi->deep_power_down,
		CHIP_RULE_DEEP_POWER_DOWN);
}

static size_t status_index(const struct part_spi *part, uint8_t opcode)
{
	size_t index = 0;

	while (index < part->status_count && part->status[index].read_opcode != opcode &&
		part->status[index].write_opcode != opcode)
		index++;
	return index;
}

/* Status register @index as a host reads it. */
static uint8_t status_read(const struct chip *chip, size_t index)
{
	uint8_t status = chip->spi.status[index];

	if (index > 0)
		return status;
	if (chip->pending.work != CHIP_WORK_NONE)
		status |= STATUS_WIP;
	if (chip->spi.write_enabled)
		status |= STATUS_WEL;
	return status;
}

static void run_read_status(
	struct chip *chip, const struct spi_request *request, struct chip_facts *facts)
{
	uint8_t status = status_read(chip, status_index(chip->part->spi, facts->opcode));

	spi_reply_repeating(request, &status, 1, 0);
}

/* 01h takes the following registers as further bytes; 31h and 11h write one. */
static void run_write_status(
	struct chip *chip, const struct spi_request *request, struct chip_facts *facts)
{
	const struct part_spi *part = chip->part->spi;
	struct chip_pending work = {.work = CHIP_WORK_WRITE_STATUS};
	size_t first = status_index(part, facts->opcode);
	uint8_t *pending = chip->spi.status_pending;

	if (request->data_len > (first == 0 ? part->wrsr_bytes_max : 1)) {
		facts->rule = CHIP_RULE_LENGTH;
		return;
	}
	memcpy(pending, chip->spi.status, sizeof(chip->spi.status));
	for (size_t i = 0; i < request->data_len; i++) {
		uint8_t mask = part->status[first + i].writable_mask;

		pending[first + i] = (uint8_t)((chip->spi.status[first + i] & ~mask) |
					       (request->data[i] & mask));
	}
	chip_start_work(chip, request->transfer->end_ns, &work, &part->write_status, facts);
}

static void run_write_enable(
	struct chip *chip, const struct spi_request *request, struct chip_facts *facts)
{
	(void)request;
	(void)facts;
	chip->spi.write_enabled = true;
}

static void run_write_disable(
	struct chip *chip, const struct spi_request *request, struct chip_facts *facts)
{
	(void)request;
	(void)facts;
	chip->spi.write_enabled = false;
}

static void run_read(struct chip *chip, const struct spi_request *request, struct chip_facts *facts)
{
	const struct chip_transfer *transfer = request->transfer;

	array_read(&chip->array, facts->address, transfer->reply, transfer->reply_len);
}

static bool is_protected(const struct chip *chip)
{
	const struct part_spi *part = chip->part->spi;

	for (size_t i = 0; i < part->status_count; i++) {
		if (chip->spi.status[i] & part->status[i].protect_mask)
			return true;
	}
	return false;
}

static bool refuses(const struct chip *chip, struct chip_facts *facts)
{
	if (!is_protected(chip))
		return false;
	facts->rule = CHIP_RULE_PROTECTED;
	return true;
}

static struct figure bytes_figure(struct figure first, struct figure next, size_t len)
{
	return (struct figure){
		.ns = first.ns + (len - 1) * next.ns,
		.grade = grade_weaker(first.grade, next.grade),
	};
}

static struct figure shorter(struct figure a, struct figure b)
{
	return a.ns < b.ns ? a : b;
}

/* A part that gives times for single bytes needs no whole page time for a few of them. */
static struct busy_time program_time(const struct part *part, size_t len)
{
	const struct busy_time *page = &part->spi->page_program;
	const struct busy_time *first = &part->spi->byte_program_first;
	const struct busy_time *next = &part->spi->byte_program_next;

	if (first->max.ns == 0 || len >= part->page_bytes)
		return *page;
	return (struct busy_time){
		.min = shorter(bytes_figure(first->min, next->min, len), page->min),
		.typ = shorter(bytes_figure(first->typ, next->typ, len), page->typ),
		.max = shorter(bytes_figure(first->max, next->max, len), page->max),
	};
}

/* The page latch: bytes past the page's end go to its beginning, later ones replace earlier. */
static void run_page_program(
	struct chip *chip, const struct spi_request *request, struct chip_facts *facts)
{
	struct chip_pending work = {.work = CHIP_WORK_PROGRAM, .address = facts->address};
	struct busy_time busy = program_time(chip->part, request->data_len);
	uint8_t latch[PAGE_BYTES_MAX];
	uint32_t page_bytes = chip->part->page_bytes;
	uint32_t offset = facts->address % page_bytes;

	if (refuses(chip, facts))
		return;
	assert(page_bytes <= PAGE_BYTES_MAX);
	memset(latch, 0xFF, page_bytes);
	for (size_t i = 0; i < request->data_len; i++)
		latch[(offset + i) % page_bytes] = request->data[i];
	array_program(&chip->array, facts->address - offset, latch, page_bytes);
	chip_start_work(chip, request->transfer->end_ns, &work, &busy, facts);
}

static void run_erase(
	struct chip *chip, const struct spi_request *request, struct chip_facts *facts)
{
	const struct part_erase *erase = part_erase_find(chip->part, facts->opcode);
	struct chip_pending work = {
		.work = CHIP_WORK_ERASE,
		.address = facts->address - facts->address % erase->size_bytes,
		.size_bytes = erase->size_bytes,
	};

	if (refuses(chip, facts))
		return;
	chip_start_work(chip, request->transfer->end_ns, &work, &erase->busy, facts);
}

static void run_reset_enable(
	struct chip *chip, const struct spi_request *request, struct chip_facts *facts)
{
	(void)request;
	(void)facts;
	chip->spi.reset_enabled = true;
}

static void run_reset(
	struct chip *chip, const struct spi_request *request, struct chip_facts *facts)
{
	const struct part_spi *part = chip->part->spi;
	bool erasing = chip->pending.work == CHIP_WORK_ERASE;
	uint64_t end_ns = request->transfer->end_ns;

	(void)facts;
	if (!chip->spi.reset_enabled)
		return;
	chip_abort_work(chip, end_ns);
	chip->spi.write_enabled = false;
	chip_owe(chip, end_ns, erasing ? part->soft_reset_during_erase : part->soft_reset,
		CHIP_RULE_RESET);
}

static bool has_rems(const struct part *part, uint8_t opcode)
{
	(void)opcode;
	return part->spi->has_rems;
}

static bool has_reset(const struct part *part, uint8_t opcode)
{
	(void)opcode;
	return part->spi->soft_reset.ns > 0;
}

static bool has_status(const struct part *part, uint8_t opcode)
{
	return status_index(part->spi, opcode) < part->spi->status_count;
}

static bool has_erase(const struct part *part, uint8_t opcode)
{
	return part_erase_find(part, opcode) != NULL;
}

#define WRITES SPI_NEEDS_WRITE_ENABLE
#define RESETS (SPI_WHILE_BUSY | SPI_KEEPS_RESET_ENABLED)
#define ANY SPI_DATA_ANY

/* Opcode, name, address and dummy bytes, when, which parts, data bytes from and to, what to do. */
static const struct spi_command commands[] = {
	{0x9F, "RDID", 0, 0, 0, NULL, 0, ANY, run_rdid},
	{0x90, "REMS", 3, 0, 0, has_rems, 0, ANY, run_rems},
	{0xAB, "RES", 0, 0, SPI_WHILE_POWERED_DOWN, NULL, 0, ANY, run_release},
	{0xB9, "DP", 0, 0, 0, NULL, 0, 0, run_power_down},
	{0x05, "RDSR", 0, 0, SPI_WHILE_BUSY, NULL, 0, ANY, run_read_status},
	{0x35, "RDSR2", 0, 0, SPI_WHILE_BUSY, has_status, 0, ANY, run_read_status},
	{0x15, "RDSR3", 0, 0, SPI_WHILE_BUSY, has_status, 0, ANY, run_read_status},
	{0x06, "WREN", 0, 0, 0, NULL, 0, ANY, run_write_enable},
	{0x04, "WRDI", 0, 0, 0, NULL, 0, ANY, run_write_disable},
	{0x01, "WRSR", 0, 0, WRITES, NULL, 1, ANY, run_write_status},
	{0x31, "WRSR2", 0, 0, WRITES, has_status, 1, ANY, run_write_status},
	{0x11, "WRSR3", 0, 0, WRITES, has_status, 1, ANY, run_write_status},
	{0x03, "READ", 3, 0, 0, NULL, 0, ANY, run_read},
	{0x0B, "FAST_READ", 3, 1, 0, NULL, 0, ANY, run_read},
	{0x02, "PP", 3, 0, WRITES, NULL, 1, ANY, run_page_program},
	{0x20, "SE", 3, 0, WRITES, has_erase, 0, 0, run_erase},
	{0x52, "BE32", 3, 0, WRITES, has_erase, 0, 0, run_erase},
	{0xD8, "BE64", 3, 0, WRITES, has_erase, 0, 0, run_erase},
	{0xC7, "CE", 0, 0, WRITES, has_erase, 0, 0, run_erase},
	{0x60, "CE", 0, 0, WRITES, has_erase, 0, 0, run_erase},
	{0x66, "RSTEN", 0, 0, RESETS, has_reset, 0, 0, run_reset_enable},
	{0x99, "RST", 0, 0, SPI_WHILE_BUSY, has_reset, 0, 0, run_reset},
};

static void power_up(struct chip *chip)
{
	memset(&chip->spi, 0, sizeof(chip->spi));
}

static void transfer_one(
	struct chip *chip, const struct chip_transfer *transfer, struct chip_facts *facts)
{
	spi_transfer(chip, commands, sizeof(commands) / sizeof(commands[0]), transfer, facts);
}

static void finish(struct chip *chip, bool cut_off)
{
	if (chip->pending.work == CHIP_WORK_WRITE_STATUS && !cut_off)
		memcpy(chip->spi.status, chip->spi.status_pending, sizeof(chip->spi.status));
	chip->spi.write_enabled = false;
}

static uint8_t status(const struct chip *chip)
{
	return status_read(chip, 0);
}

const struct family family_spi_nor = {
	.power_up = power_up,
	.transfer = transfer_one,
	.finish = finish,
	.status = status,
};
