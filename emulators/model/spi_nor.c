/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The commands of SPI NOR flash on which the datasheets behind chips/ agree. */
#include <string.h>

#include "spi_nor.h"

#define ERROR_ERASE 0x20   /* E_ERR of S25FL-S, in status register 1 */
#define ERROR_PROGRAM 0x40 /* P_ERR */

#define FLAG_READY 0x80 /* flag status register of Micron parts */
#define FLAG_ERASE_SUSPENDED 0x40
#define FLAG_ERASE_FAILED 0x20
#define FLAG_PROGRAM_FAILED 0x10
#define FLAG_PROGRAM_SUSPENDED 0x04
#define FLAG_PROTECTED 0x02
#define FLAG_FOUR_BYTE 0x01

/* Sets the register bits that show a refused write, if the part has them. */
static void note_refusal(struct chip *chip, uint8_t error, uint8_t flag)
{
	if (chip->part->spi->features & SPI_HAS_ERROR_BITS)
		chip->spi.error_bits |= error;
	if (chip->part->spi->features & SPI_HAS_FLAG_STATUS)
		chip->spi.flag_errors |= FLAG_PROTECTED | flag;
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

/*
 * Returns the time of a program of @len bytes. If the part has times for the first and for further
 * bytes, a few bytes take less than a page. If it has that of the first only, two take a page's.
 */
static struct busy_time program_time(const struct part *part, size_t len)
{
	const struct busy_time *page = &part->spi->page_program;
	const struct busy_time *first = &part->spi->byte_program_first;
	const struct busy_time *next = &part->spi->byte_program_next;

	if (first->max.ns == 0 || len >= part->page_bytes || (next->max.ns == 0 && len > 1))
		return *page;
	return (struct busy_time){
		.min = shorter(bytes_figure(first->min, next->min, len), page->min),
		.typ = shorter(bytes_figure(first->typ, next->typ, len), page->typ),
		.max = shorter(bytes_figure(first->max, next->max, len), page->max),
	};
}

/* Fills the page latch. Bytes past the end wrap to its beginning; later ones replace earlier. */
static void fill_page(struct chip *chip, uint32_t address, const struct spi_request *request)
{
	uint32_t page_bytes = chip->part->page_bytes;
	uint32_t offset = address % page_bytes;
	uint8_t *latch = chip_latch(chip, address - offset, page_bytes, false);

	if (request->data_len <= page_bytes - offset) {
		memcpy(latch + offset, request->data, request->data_len);
		return;
	}
	for (size_t i = 0; i < request->data_len; i++)
		latch[(offset + i) % page_bytes] = request->data[i];
}

/* Returns true if the address is in a block of a suspended erase, or if a program is suspended. */
static bool meets_suspended(const struct chip *chip, uint32_t address)
{
	const struct spi_suspended *suspended = &chip->spi.suspended;

	if (!suspended->open)
		return false;
	return !suspended->is_erase || address - suspended->address < suspended->size_bytes;
}

static void run_page_program(struct chip *chip, const struct spi_request *request)
{
	struct chip_pending work = {.work = CHIP_WORK_PROGRAM, .address = request->facts->address};
	struct busy_time busy = program_time(chip->part, request->data_len);

	if (meets_suspended(chip, request->facts->address)) {
		request->facts->rule = CHIP_RULE_SUSPENDED;
		return;
	}
	if (spi_refuses(chip, request->facts->address, 1, request->facts)) {
		note_refusal(chip, ERROR_PROGRAM, FLAG_PROGRAM_FAILED);
		return;
	}
	fill_page(chip, request->facts->address, request);
	chip_start_work(chip, request->transfer->end_ns, &work, &busy, request->facts);
	nor_occupy_dies(chip, request);
}

/* Returns true if the part ignores this erase of small sectors, because all are alike. */
static bool lacks_small_sectors(const struct chip *chip, uint8_t opcode)
{
	return spi_is_uniform(chip) && part_erase_find(chip->part, opcode)->region_count > 0;
}

/*
 * A chip erase that block protection forbids sets no E_ERR (S25FL128S, bulk erase), but the bits of
 * the flag status (MT25QL256ABA, "ERASE Operations").
 */
static void run_erase(struct chip *chip, const struct spi_request *request)
{
	const struct part_erase *erase = part_erase_find(chip->part, request->facts->opcode);
	bool is_whole = erase->size_bytes == chip->part->size_bytes;

	if (lacks_small_sectors(chip, request->facts->opcode)) {
		request->facts->rule = CHIP_RULE_REGION;
		return;
	}
	spi_run_erase(chip, request);
	nor_occupy_dies(chip, request);
	if (request->facts->rule == CHIP_RULE_PROTECTED)
		note_refusal(chip, is_whole ? 0 : ERROR_ERASE, FLAG_ERASE_FAILED);
}

static uint8_t flag_status(const struct chip *chip)
{
	const struct spi_suspended *suspended = &chip->spi.suspended;
	uint8_t flags = chip->spi.flag_errors;

	if (chip->pending.work == CHIP_WORK_NONE)
		flags |= FLAG_READY;
	if (suspended->open)
		flags |= suspended->is_erase ? FLAG_ERASE_SUSPENDED : FLAG_PROGRAM_SUSPENDED;
	if (chip->spi.four_byte_mode)
		flags |= FLAG_FOUR_BYTE;
	return flags;
}

static void reply_flags(struct chip *chip, const struct spi_request *request)
{
	uint8_t flags = flag_status(chip);

	spi_reply_repeating(request, &flags, 1, 0);
}

static void run_clear_flags(struct chip *chip, const struct spi_request *request)
{
	(void)request;
	chip->spi.flag_errors = 0;
}

static void run_clear_errors(struct chip *chip, const struct spi_request *request)
{
	(void)request;
	chip->spi.error_bits = 0;
}

static void reply_sfdp(struct chip *chip, const struct spi_request *request)
{
	const struct chip_transfer *transfer = request->transfer;
	uint32_t address = request->facts->address + (uint32_t)request->replied_len;

	sfdp_read(chip->part, address, transfer->reply, transfer->reply_len);
}

/* After BRAC (B9h), 01h writes the bank register. */
static void run_write_status(struct chip *chip, const struct spi_request *request)
{
	if (chip->spi.bank_access)
		nor_run_write_bank(chip, request);
	else
		spi_run_write_status(chip, request);
	nor_occupy_dies(chip, request);
}

#define WRITES SPI_NEEDS_WRITE_ENABLE
#define ERASES (SPI_NEEDS_WRITE_ENABLE | SPI_NOT_WHILE_SUSPENDED)
#define WRITES_STATUS (SPI_NEEDS_STATUS_ENABLE | SPI_NOT_WHILE_SUSPENDED)
#define POLLS (SPI_WHILE_BUSY | SPI_WHILE_ERROR)
#define MODE SPI_ADDRESS_BY_MODE
#define ANY SPI_DATA_ANY

/* Opcode, name, address and dummy bytes, when, part_has, fewest and most data bytes, reply, run. */
static const struct spi_command commands[] = {
	/* The commands of each page come first: the table is searched in order. */
	{0x05, "RDSR", 0, 0, POLLS, NULL, 0, ANY, spi_reply_status, NULL},
	{0x06, "WREN", 0, 0, SPI_BEGINS_WRITE, NULL, 0, 0, NULL, spi_run_write_enable},
	{0x02, "PP", MODE, 0, WRITES, NULL, 1, ANY, NULL, run_page_program},
	{0x03, "READ", MODE, 0, 0, NULL, 0, ANY, spi_reply_array, NULL},
	/* Commands that read the identity. */
	{0x9F, "RDID", 0, 0, 0, spi_has_rdid, 0, ANY, spi_reply_rdid, NULL},
	{0x90, "REMS", 3, 0, 0, spi_has_rems, 0, ANY, spi_reply_rems, NULL},
	{0x5A, "RDSFDP", 3, 1, SPI_HAS_SFDP, NULL, 0, ANY, reply_sfdp, NULL},
	/* Power and resets. */
	{0xAB, "RES", 0, 0, SPI_WHILE_POWERED_DOWN, nor_has_release, 0, ANY, spi_reply_release,
		spi_run_release},
	{0xB9, "DP", 0, 0, SPI_NOT_WHILE_SUSPENDED, nor_has_power_down, 0, 0, NULL,
		spi_run_power_down},
	{0x66, "RSTEN", 0, 0, POLLS | SPI_KEEPS_RESET_ENABLED, nor_has_reset, 0, 0, NULL,
		nor_run_reset_enable},
	{0x99, "RST", 0, 0, POLLS, nor_has_reset, 0, 0, NULL, nor_run_reset},
	{0xF0, "RESET", 0, 0, SPI_HAS_RESET_F0 | POLLS, NULL, 0, 0, NULL, nor_run_reset},
	/* Registers. */
	{0x35, "RDSR2", 0, 0, POLLS, spi_has_status, 0, ANY, spi_reply_status, NULL},
	{0x15, "RDSR3", 0, 0, POLLS, spi_has_status, 0, ANY, spi_reply_status, NULL},
	{0x07, "RDSR2V", 0, 0, POLLS, spi_has_status, 0, ANY, spi_reply_status, NULL},
	{0x2B, "RDSCUR", 0, 0, POLLS, spi_has_status, 0, ANY, spi_reply_status, NULL},
	{0x33, "RDCR3", 0, 0, POLLS, spi_has_status, 0, ANY, spi_reply_status, NULL},
	{0x04, "WRDI", 0, 0, 0, NULL, 0, 0, NULL, spi_run_write_enable},
	{0x50, "VSREN", 0, 0, SPI_HAS_VOLATILE_STATUS | SPI_BEGINS_WRITE, NULL, 0, 0, NULL,
		spi_run_status_enable},
	{0x01, "WRSR", 0, 0, WRITES_STATUS, NULL, 1, ANY, NULL, run_write_status},
	{0x31, "WRSR2", 0, 0, WRITES_STATUS, spi_has_status, 1, ANY, NULL, run_write_status},
	{0x11, "WRSR3", 0, 0, WRITES_STATUS, spi_has_status, 1, ANY, NULL, run_write_status},
	{0x70, "RDFSR", 0, 0, SPI_HAS_FLAG_STATUS | POLLS, NULL, 0, ANY, reply_flags, NULL},
	{0x50, "CLFSR", 0, 0, SPI_HAS_FLAG_STATUS, NULL, 0, 0, NULL, run_clear_flags},
	{0x30, "CLSR", 0, 0, SPI_HAS_ERROR_BITS | POLLS, NULL, 0, 0, NULL, run_clear_errors},
	{0x65, "RDAR", MODE, 1, SPI_HAS_ANY_REGISTER | POLLS, NULL, 0, ANY, nor_reply_register,
		NULL},
	{0x71, "WRAR", MODE, 0, SPI_HAS_ANY_REGISTER | ERASES, NULL, 1, 1, NULL,
		nor_run_write_register},
	{0x36, "LOCK", MODE, 0, WRITES, nor_has_lock, 0, 0, NULL, nor_run_lock},
	{0x39, "UNLOCK", MODE, 0, WRITES, nor_has_lock, 0, 0, NULL, nor_run_lock},
	{0x3C, "RDLOCK", MODE, 0, 0, nor_has_lock, 0, ANY, nor_reply_lock, NULL},
	{0x3D, "RDLOCK", MODE, 0, 0, nor_has_lock, 0, ANY, nor_reply_lock, NULL},
	{0x7E, "LOCK_ALL", 0, 0, WRITES, nor_has_lock, 0, 0, NULL, nor_run_lock_all},
	{0x98, "UNLOCK_ALL", 0, 0, WRITES, nor_has_lock, 0, 0, NULL, nor_run_lock_all},
	{0x72, "RBPR", 0, 0, 0, nor_has_lock, 0, ANY, nor_reply_locks, NULL},
	{0x42, "WBPR", 0, 0, WRITES, nor_has_lock, 18, 18, NULL, nor_run_write_locks},
	{0x8D, "LBPR", 0, 0, WRITES, nor_has_lock, 0, 0, NULL, nor_run_hold_locks},
	{0xC2, "DIE", 0, 0, POLLS, nor_has_dies, 1, 1, NULL, nor_run_select_die},
	/* Addresses of parts above 16 MiB. */
	{0xB7, "EN4B", 0, 0, SPI_HAS_FOUR_BYTE_MODE, NULL, 0, 0, NULL, nor_run_four_byte},
	{0xE9, "EX4B", 0, 0, SPI_HAS_FOUR_BYTE_MODE, NULL, 0, 0, NULL, nor_run_four_byte},
	{0xC8, "RDEAR", 0, 0, SPI_HAS_EXTENDED_ADDRESS, NULL, 0, ANY, nor_reply_extended, NULL},
	{0xC5, "WREAR", 0, 0, SPI_HAS_EXTENDED_ADDRESS | WRITES, NULL, 1, 1, NULL,
		nor_run_write_extended},
	{0x16, "BRRD", 0, 0, SPI_HAS_BANK_REGISTER, NULL, 0, ANY, nor_reply_bank, NULL},
	{0x17, "BRWR", 0, 0, SPI_HAS_BANK_REGISTER, NULL, 1, 1, NULL, nor_run_write_bank},
	{0xB9, "BRAC", 0, 0, SPI_HAS_BANK_REGISTER, NULL, 0, 0, NULL, nor_run_bank_access},
	/* The array. */
	{0x0B, "FAST_READ", MODE, 1, 0, NULL, 0, ANY, spi_reply_array, NULL},
	{0x13, "READ4", 4, 0, SPI_HAS_FOUR_BYTE_OPCODES, NULL, 0, ANY, spi_reply_array, NULL},
	{0x0C, "FAST_READ4", 4, 1, SPI_HAS_FOUR_BYTE_OPCODES, NULL, 0, ANY, spi_reply_array, NULL},
	{0x12, "PP4", 4, 0, SPI_HAS_FOUR_BYTE_OPCODES | WRITES, NULL, 1, ANY, NULL,
		run_page_program},
	{0x81, "PE", MODE, 0, ERASES, part_has_erase, 0, 0, NULL, run_erase},
	{0x20, "SE", MODE, 0, ERASES, part_has_erase, 0, 0, NULL, run_erase},
	{0xD7, "SE", MODE, 0, ERASES, part_has_erase, 0, 0, NULL, run_erase},
	{0x52, "BE32", MODE, 0, ERASES, part_has_erase, 0, 0, NULL, run_erase},
	{0xD8, "BE64", MODE, 0, ERASES, part_has_erase, 0, 0, NULL, run_erase},
	{0x21, "SE4", 4, 0, ERASES, part_has_erase, 0, 0, NULL, run_erase},
	{0x53, "BE32_4", 4, 0, ERASES, part_has_erase, 0, 0, NULL, run_erase},
	{0x5C, "BE32_4", 4, 0, ERASES, part_has_erase, 0, 0, NULL, run_erase},
	{0xDC, "BE64_4", 4, 0, ERASES, part_has_erase, 0, 0, NULL, run_erase},
	{0xC7, "CE", 0, 0, ERASES, part_has_erase, 0, 0, NULL, run_erase},
	{0x60, "CE", 0, 0, ERASES, part_has_erase, 0, 0, NULL, run_erase},
	{0x75, "SUSPEND", 0, 0, POLLS, nor_has_suspend, 0, 0, NULL, nor_run_suspend},
	{0xB0, "SUSPEND", 0, 0, POLLS, nor_has_suspend, 0, 0, NULL, nor_run_suspend},
	{0x7A, "RESUME", 0, 0, 0, nor_has_resume, 0, 0, NULL, nor_run_resume},
	{0x30, "RESUME", 0, 0, 0, nor_has_resume, 0, 0, NULL, nor_run_resume},
};

static void finish(struct chip *chip, bool cut_off)
{
	if (chip->pending.work == CHIP_WORK_WRITE_STATUS)
		spi_status_finish(chip, cut_off);
	chip->spi.write_enabled = false;
}

const struct family family_spi_nor = {
	.init = spi_init,
	.power_up = spi_power_up,
	.power_off = nor_drop_suspended,
	.commands = commands,
	.command_count = sizeof(commands) / sizeof(commands[0]),
	.finish = finish,
	.status = spi_status,
};
