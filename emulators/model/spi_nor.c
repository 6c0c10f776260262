/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The commands of SPI NOR flash: first those that only some parts have, in groups, then those on
 * which the datasheets behind chips/ agree.
 */
#include <string.h>

#include "spi_command.h"

#define OP_ENTER_FOUR_BYTE 0xB7

/* The bank register of S25FL-S. */
#define BANK_FOUR_BYTE 0x80 /* EXTADD */
#define BANK_ADDRESS 0x03   /* A25 and A24 */

static void nor_run_four_byte(struct chip *chip, const struct spi_request *request)
{
	chip->spi.four_byte_mode = request->facts->opcode == OP_ENTER_FOUR_BYTE;
}

static void nor_reply_extended(struct chip *chip, const struct spi_request *request)
{
	spi_reply_octet(request, chip->spi.address_high);
}

static uint8_t high_mask(const struct part *part)
{
	return (uint8_t)((part->size_bytes - 1) >> 24);
}

/* The register is volatile and changes at once. */
static void nor_run_write_extended(struct chip *chip, const struct spi_request *request)
{
	chip->spi.address_high = request->data[0] & high_mask(chip->part);
	chip->spi.write_enabled = false;
}

static void nor_reply_bank(struct chip *chip, const struct spi_request *request)
{
	uint8_t mode = chip->spi.four_byte_mode ? BANK_FOUR_BYTE : 0;

	spi_reply_octet(request, chip->spi.address_high | mode);
}

static void nor_run_write_bank(struct chip *chip, const struct spi_request *request)
{
	if (request->data_len != 1) {
		request->facts->rule = CHIP_RULE_LENGTH;
		return;
	}
	chip->spi.four_byte_mode = request->data[0] & BANK_FOUR_BYTE;
	chip->spi.address_high = request->data[0] & BANK_ADDRESS;
}

static void nor_run_bank_access(struct chip *chip, const struct spi_request *request)
{
	(void)request;
	chip->spi.bank_access = true;
}

/* Registers by address (S25FS-S). A volatile one is 800000h above its non-volatile one. */
#define IN_FORCE 0x800000u

/* Returns the index of the register at @address, or status_count if there is none. */
static size_t register_at(const struct part_spi *part, uint32_t address)
{
	size_t index = 0;

	while (index < part->status_count && part->status[index].address != (address & ~IN_FORCE))
		index++;
	return index;
}

/* Replies zeros where there is no register. */
static void nor_reply_register(struct chip *chip, const struct spi_request *request)
{
	uint32_t address = request->facts->address;
	size_t index = register_at(chip->part->spi, address);
	uint8_t value = 0;

	if (index < chip->part->spi->status_count)
		value = address & IN_FORCE ? spi_status_register(chip, index)
					   : chip->spi.status_stored[index];
	spi_reply_octet(request, value);
}

/*
 * Writes a volatile register at once. A write of a non-volatile one takes time, and its value is in
 * force after the next reset.
 */
static void nor_run_write_register(struct chip *chip, const struct spi_request *request)
{
	const struct part_spi *part = chip->part->spi;
	struct chip_pending work = {.work = CHIP_WORK_WRITE_STATUS};
	size_t index = register_at(part, request->facts->address);

	if (index == part->status_count) {
		request->facts->rule = CHIP_RULE_REGION;
		return;
	}
	if (request->facts->address & IN_FORCE) {
		spi_set_bits(&chip->spi.status[index], part->status[index].writable_mask,
			request->data[0]);
		chip->spi.write_enabled = false;
		return;
	}
	spi_prepare_pending(chip);
	spi_set_bits(&chip->spi.stored_pending[index], part->status[index].writable_mask,
		request->data[0]);
	chip_start_work(
		chip, request->transfer->end_ns, &work, &part->write_status, request->facts);
}

/*
 * Dies behind one chip select. Their addresses follow each other, and commands without an address
 * go to all of them. The status is that of one die: the last one that began work alone, or the one
 * that C2h chose. Where each die has a chip select, chip_select_die() chooses.
 */
static uint32_t die_bytes(const struct part *part)
{
	return part->size_bytes / part->spi->dies.count;
}

static void occupy_one(struct chip *chip, uint32_t address)
{
	struct spi_state *spi = &chip->spi;

	memset(spi->die_until_ns, 0, sizeof(spi->die_until_ns));
	spi->die = (uint8_t)(address / die_bytes(chip->part));
	spi->die_until_ns[spi->die] = UINT64_MAX;
}

/* Each die erases independently. All but the last one finish earlier, at a random time. */
static void occupy_all(struct chip *chip, uint8_t opcode)
{
	uint64_t work_ns = chip->busy_until_ns - chip->busy_since_ns;
	uint8_t last = chip->part->spi->dies.count - 1;

	for (uint8_t die = 0; die < last; die++) {
		const struct corner_use use = {
			.opcode = opcode,
			.address = die * die_bytes(chip->part),
			.count = (uint32_t)chip->work_count,
		};

		chip->spi.die_until_ns[die] =
			chip->busy_since_ns + corner_moment_ns(chip->noise_seed, &use, work_ns);
	}
	chip->spi.die_until_ns[last] = UINT64_MAX;
}

/* A status register write keeps all dies busy to its end. */
static void nor_occupy_dies(struct chip *chip, const struct spi_request *request)
{
	const struct chip_pending *pending = &chip->pending;

	if (chip->part->spi->dies.count == 0 || request->facts->work == CHIP_WORK_NONE)
		return;
	if (pending->work == CHIP_WORK_WRITE_STATUS)
		memset(chip->spi.die_until_ns, 0xFF, sizeof(chip->spi.die_until_ns));
	else if (pending->size_bytes == chip->part->size_bytes)
		occupy_all(chip, request->facts->opcode);
	else
		occupy_one(chip, pending->address);
}

static void nor_run_select_die(struct chip *chip, const struct spi_request *request)
{
	if (request->data[0] < chip->part->spi->dies.count)
		chip->spi.die = request->data[0];
}

void chip_select_die(struct chip *chip, uint32_t address)
{
	if (chip->part->spi && chip->part->spi->dies.by_chip_select)
		chip->spi.die = (uint8_t)(address % chip->part->size_bytes / die_bytes(chip->part));
}

static bool nor_has_dies(const struct part *part, uint8_t opcode)
{
	(void)opcode;
	return part->spi->dies.count > 0 && !part->spi->dies.by_chip_select;
}

/*
 * Locks of single blocks, a volatile bit each, all set at power-up. Their commands depend on the
 * kind of protection: AT25DF (36h, 39h, 3Ch), Winbond (36h, 39h, 3Dh, 7Eh, 98h) and SST26 (72h,
 * 42h, 8Dh, 98h). Read locks of SST26 are not modelled and read as clear.
 */
#define OP_LOCK 0x36
#define OP_LOCK_ALL 0x7E
#define LOCKED_BYTE 0xFF /* the value that 3Ch reads */

/*
 * The block protection register of SST26VF064B: two bits for each of its eight 8 KiB blocks, then
 * one bit for each other block.
 */
#define REGISTER_BYTES 18u
#define REGISTER_SMALL 128u      /* the first bit of the first 8 KiB block */
#define REGISTER_BOTTOM_32K 126u /* the bit of the top 32 KiB block follows */
#define SMALL_PER_END 4u

static bool refuses_changes(const struct chip *chip, struct chip_facts *facts)
{
	if (!chip->spi.locks_held && !spi_holds_global_locks(chip))
		return false;
	facts->rule = CHIP_RULE_PROTECTED;
	return true;
}

static void nor_run_lock(struct chip *chip, const struct spi_request *request)
{
	struct part_block block;

	if (!refuses_changes(chip, request->facts) &&
		spi_find_lock(chip, request->facts->address, &block))
		spi_set_lock(chip, block.index, request->facts->opcode == OP_LOCK);
	chip->spi.write_enabled = false;
}

static void nor_run_lock_all(struct chip *chip, const struct spi_request *request)
{
	if (!refuses_changes(chip, request->facts))
		spi_lock_all(chip, request->facts->opcode == OP_LOCK_ALL);
	chip->spi.write_enabled = false;
}

static void nor_reply_lock(struct chip *chip, const struct spi_request *request)
{
	bool is_global = chip->part->spi->protection.kind == PROTECTION_GLOBAL;
	struct part_block block;
	uint8_t octet = 0x00;

	if (spi_find_lock(chip, request->facts->address, &block) &&
		spi_is_locked(chip, block.index))
		octet = is_global ? LOCKED_BYTE : 0x01;
	spi_reply_octet(request, octet);
}

/* Returns the bit of the SST26 register that write-locks block @index, counted from address 0. */
static uint32_t register_bit(uint32_t index, uint32_t count)
{
	uint32_t from_top = count - 1 - index;

	if (index < SMALL_PER_END)
		return REGISTER_SMALL + 2 * index;
	if (from_top < SMALL_PER_END)
		return REGISTER_SMALL + 2 * (2 * SMALL_PER_END - 1 - from_top);
	if (index == SMALL_PER_END)
		return REGISTER_BOTTOM_32K;
	if (from_top == SMALL_PER_END)
		return REGISTER_BOTTOM_32K + 1;
	return index - SMALL_PER_END - 1;
}

/* Returns the byte that holds @bit. The highest bit of the register is sent first. */
static uint8_t *register_octet(uint8_t octets[REGISTER_BYTES], uint32_t bit)
{
	return &octets[REGISTER_BYTES - 1 - bit / 8];
}

static void nor_reply_locks(struct chip *chip, const struct spi_request *request)
{
	uint32_t count = spi_lock_count(chip);
	uint8_t octets[REGISTER_BYTES] = {0};

	for (uint32_t i = 0; i < count; i++) {
		uint32_t bit = register_bit(i, count);

		if (spi_is_locked(chip, i))
			*register_octet(octets, bit) |= (uint8_t)(1u << bit % 8);
	}
	spi_reply_repeating(request, octets, sizeof(octets), 0);
}

static void nor_run_write_locks(struct chip *chip, const struct spi_request *request)
{
	uint32_t count = spi_lock_count(chip);
	uint8_t octets[REGISTER_BYTES];

	chip->spi.write_enabled = false;
	if (refuses_changes(chip, request->facts))
		return;
	memcpy(octets, request->data, sizeof(octets));
	for (uint32_t i = 0; i < count; i++) {
		uint32_t bit = register_bit(i, count);

		spi_set_lock(chip, i, *register_octet(octets, bit) >> bit % 8 & 1);
	}
}

static void nor_run_hold_locks(struct chip *chip, const struct spi_request *request)
{
	(void)request;
	chip->spi.locks_held = true;
	chip->spi.write_enabled = false;
}

static bool nor_has_lock(const struct part *part, uint8_t opcode)
{
	const struct part_protection *protection = &part->spi->protection;
	enum protection_kind kind = protection->kind;

	if (protection->lock_region_count == 0)
		return false;
	switch (opcode) {
	case 0x36:
	case 0x39:
		return kind != PROTECTION_UNLOCK;
	case 0x3C:
		return kind == PROTECTION_GLOBAL;
	case 0x3D:
	case 0x7E:
		return kind == PROTECTION_RANGES;
	case 0x98:
		return kind != PROTECTION_GLOBAL;
	default: /* 72h, 42h and 8Dh */
		return kind == PROTECTION_UNLOCK;
	}
}

/*
 * Suspend and resume. A suspended program or block erase keeps its remaining time. A part can hold
 * only one suspended operation.
 */
static bool can_suspend(const struct chip *chip)
{
	if (chip->spi.suspended.open)
		return false;
	if (chip->pending.work == CHIP_WORK_PROGRAM)
		return chip->part->spi->suspend.programs;
	return chip->pending.work == CHIP_WORK_ERASE &&
	       chip->pending.size_bytes < chip->part->size_bytes;
}

static void put_aside(struct chip *chip, uint64_t now_ns)
{
	chip->spi.suspended = (struct spi_suspended){
		.open = true,
		.is_erase = chip->pending.work == CHIP_WORK_ERASE,
		.address = chip->pending.address,
		.size_bytes = chip->pending.size_bytes,
		.left = {.ns = chip->busy_until_ns - now_ns, .grade = chip->debt.grade},
	};
}

/* Suspends a program or the erase of a block. Has no effect on other work. */
static void nor_run_suspend(struct chip *chip, const struct spi_request *request)
{
	struct chip_pending work = {.work = CHIP_WORK_SUSPEND};
	uint64_t end_ns = request->transfer->end_ns;

	if (!can_suspend(chip) || end_ns >= chip->busy_until_ns)
		return;
	put_aside(chip, end_ns);
	chip->spi.write_enabled = false;
	chip_start_fixed_work(chip, end_ns, &work, chip->part->spi->suspend_latency,
		CHIP_RULE_SUSPEND, request->facts);
}

static struct chip_pending work_of(const struct spi_suspended *suspended)
{
	return (struct chip_pending){
		.work = suspended->is_erase ? CHIP_WORK_ERASE : CHIP_WORK_PROGRAM,
		.address = suspended->address,
		.size_bytes = suspended->size_bytes,
	};
}

static void nor_run_resume(struct chip *chip, const struct spi_request *request)
{
	struct spi_suspended *suspended = &chip->spi.suspended;
	struct chip_pending work = work_of(suspended);

	if (!suspended->open || suspended->is_deaf)
		return;
	suspended->open = false;
	chip_start_fixed_work(chip, request->transfer->end_ns, &work, suspended->left,
		CHIP_RULE_BUSY, request->facts);
}

/* Drops suspended work, which never resumes and stays half done. */
static void nor_drop_suspended(struct chip *chip)
{
	struct chip_pending work = work_of(&chip->spi.suspended);

	if (chip->spi.suspended.open)
		chip_leave_halfway(chip, &work, 0);
	chip->spi.suspended.open = false;
}

static bool nor_has_suspend(const struct part *part, uint8_t opcode)
{
	return part->spi->suspend.opcode == opcode;
}

static bool nor_has_resume(const struct part *part, uint8_t opcode)
{
	return part->spi->suspend.resume_opcode == opcode;
}

/* Software reset: cuts off the work, drops what is suspended, and leaves all modes. */
#define OP_RESET_F0 0xF0

static void nor_run_reset_enable(struct chip *chip, const struct spi_request *request)
{
	(void)request;
	chip->spi.reset_enabled = true;
}

static struct figure reset_wait(const struct part_spi *part, enum chip_work cut_off)
{
	switch (cut_off) {
	case CHIP_WORK_PROGRAM:
		return part->soft_reset_during_program;
	case CHIP_WORK_ERASE:
		return part->soft_reset_during_erase;
	case CHIP_WORK_WRITE_STATUS:
		return part->soft_reset_during_write_status;
	default:
		return part->soft_reset;
	}
}

/*
 * Resets registers and modes as power-up does, without its waits. Sets all locks of a part that
 * also has ranges (Winbond); other locks stay as they are (SST26).
 */
static void forget_modes(struct chip *chip)
{
	struct spi_state fresh = {.locks_held = chip->spi.locks_held};

	memcpy(fresh.status, chip->spi.status_stored, sizeof(fresh.status));
	memcpy(fresh.status_stored, chip->spi.status_stored, sizeof(fresh.status_stored));
	memcpy(fresh.locks, chip->spi.locks, sizeof(fresh.locks));
	chip->spi = fresh;
	if (chip->part->spi->protection.kind == PROTECTION_RANGES)
		spi_lock_all(chip, true);
}

static void reset(struct chip *chip, uint64_t end_ns)
{
	struct figure wait = reset_wait(chip->part->spi, chip->pending.work);

	chip_abort_work(chip, end_ns);
	nor_drop_suspended(chip);
	forget_modes(chip);
	chip_owe(chip, end_ns, wait, CHIP_RULE_RESET);
}

/* 99h needs 66h just before it; F0h does not. */
static void nor_run_reset(struct chip *chip, const struct spi_request *request)
{
	if (chip->spi.reset_enabled || request->facts->opcode == OP_RESET_F0)
		reset(chip, request->transfer->end_ns);
}

bool nor_has_power_down(const struct part *part, uint8_t opcode)
{
	(void)opcode;
	return part->spi->deep_power_down.ns > 0;
}

static bool nor_has_release(const struct part *part, uint8_t opcode)
{
	return part->spi->has_res || nor_has_power_down(part, opcode);
}

static bool nor_has_reset(const struct part *part, uint8_t opcode)
{
	(void)opcode;
	return part->spi->soft_reset.ns > 0 && !(part->spi->features & SPI_HAS_RESET_F0);
}

/* The commands that most parts have: program, erase, status and its flags, SFDP. */
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
 * Returns the time to program @len bytes. If the part has times for the first and for each further
 * byte, it is their sum, at most the time of a page. If the part has only the time of the first
 * byte, two or more bytes take the time of a page.
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

/* Fills the page latch. Bytes past its end wrap to its beginning and replace earlier bytes. */
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

/* Returns true if this is an erase of small sectors, and the part is configured without them. */
static bool lacks_small_sectors(const struct chip *chip, uint8_t opcode)
{
	return spi_is_uniform(chip) && part_erase_find(chip->part, opcode)->region_count > 0;
}

/*
 * Runs an erase. If block protection forbids a chip erase, that does not set E_ERR (S25FL128S, bulk
 * erase), but it sets the bits of the flag status register (MT25QL256ABA, "ERASE Operations").
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
	spi_reply_octet(request, flag_status(chip));
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
	/* The commands that program and verify a page come first, since the search is linear. */
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
