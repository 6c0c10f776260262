/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * From the start of an operation until FFh is written, every read returns the status register. So
 * each operation of the driver ends with FFh.
 */

#include <assert.h>
#include <errno.h>
#include <inttypes.h>

#include "memory.h"

#define BLOCK_BYTES UINT32_C(65536)
#define REGISTER_OFFSET 2

#define WRITE_LOCK 0x01
#define LOCK_DOWN 0x02
#define READ_LOCK 0x04

static uint32_t block_count(const struct flash *flash)
{
	const uint32_t count = flash->chip->size_bytes / BLOCK_BYTES;

	assert(count <= PROTECTION_BLOCK_BYTES_MAX);
	return count;
}

static uint32_t register_of(uint32_t block)
{
	return MEMORY_REGISTERS + block * BLOCK_BYTES + REGISTER_OFFSET;
}

static int read_lock(struct flash *flash, uint32_t block, uint8_t *lock)
{
	return memory_read_byte(flash, flash->chip, register_of(block), lock);
}

static int write_lock(struct flash *flash, uint32_t block, uint8_t lock)
{
	return memory_write_byte(flash, flash->chip, register_of(block), lock);
}

/* Runs a function for each block until one fails; `bits` and `force` are passed to it. */
static int for_each_block(struct flash *flash, uint8_t bits, bool force,
	int (*run)(struct flash *flash, uint32_t block, uint8_t bits, bool force))
{
	int error = 0;

	for (uint32_t block = 0; block < block_count(flash) && error == 0; block++)
		error = run(flash, block, bits, force);
	return error;
}

static const char *remedy(uint8_t lock, bool force)
{
	if (force)
		return "; going on";
	if ((lock & LOCK_DOWN) != 0)
		return ": it is locked down until the next reset of the chip";
	return ": release the chip's TBL# and WP# pins, or add --force";
}

static int report_stays(const struct flash *flash, uint32_t block, uint8_t lock, bool force)
{
	log_emit(flash->log, force ? LOG_WARNING : LOG_ERROR,
		"The block at 0x%06" PRIx32 " stays locked (register 0x%02x)%s.\n",
		block * BLOCK_BYTES, lock, remedy(lock, force));
	return force ? 0 : -EPERM;
}

static int lift(struct flash *flash, uint32_t block, uint8_t bits, bool force)
{
	uint8_t lock;
	int error = read_lock(flash, block, &lock);

	if (error != 0 || (lock & bits) == 0)
		return error;
	if ((lock & LOCK_DOWN) == 0)
		error = write_lock(flash, block, lock & (uint8_t)~bits);
	if (error == 0)
		error = read_lock(flash, block, &lock);
	if (error != 0)
		return error;
	return (lock & bits) == 0 ? 0 : report_stays(flash, block, lock, force);
}

/* Restores those of `bits` that were set; a locked-down register cannot have changed. */
static int restore(struct flash *flash, uint32_t block, uint8_t bits, bool force)
{
	const uint8_t before = flash->protection.blocks[block];

	(void)force;
	if ((before & bits) == 0 || (before & LOCK_DOWN) != 0)
		return 0;
	return write_lock(flash, block, before & bits);
}

static int restore_all(struct flash *flash, uint8_t bits)
{
	const int error = for_each_block(flash, bits, false, restore);

	return error == 0 ? flash_flush(flash) : error;
}

static int remember(struct flash *flash, uint32_t block, uint8_t bits, bool force)
{
	(void)bits;
	(void)force;
	return read_lock(flash, block, &flash->protection.blocks[block]);
}

/* Remembers all locks and clears read locks. One that stays is a warning: the rest can be read. */
int fwh_locks_open(struct flash *flash)
{
	const int error = for_each_block(flash, 0, false, remember);

	return error == 0 ? for_each_block(flash, READ_LOCK, true, lift) : error;
}

/* Restores read locks, and write locks once more in case fwh_reprotect() failed halfway. */
int fwh_locks_close(struct flash *flash)
{
	return restore_all(flash, READ_LOCK | WRITE_LOCK);
}

int fwh_unprotect(struct flash *flash, bool force)
{
	return for_each_block(flash, WRITE_LOCK, force, lift);
}

int fwh_reprotect(struct flash *flash)
{
	return restore_all(flash, WRITE_LOCK);
}

enum opcode {
	OP_BLOCK_ERASE = 0x20,
	OP_PROGRAM = 0x40,
	OP_STATUS_CLEAR = 0x50,
	OP_ID = 0x90,
	OP_ERASE_CONFIRM = 0xd0,
	OP_READ_ARRAY = 0xff,
};

#define STATUS_READY 0x80
#define STATUS_ERASE_FAILED 0x20
#define STATUS_PROGRAM_FAILED 0x10
#define STATUS_SUPPLY_LOW 0x08
#define STATUS_LOCKED 0x02
#define STATUS_ERRORS                                                                              \
	(STATUS_ERASE_FAILED | STATUS_PROGRAM_FAILED | STATUS_SUPPLY_LOW | STATUS_LOCKED)

/* The interval and the number of queries for the end of an operation of an earlier session. */
#define EARLIER_POLL_US 100000
#define EARLIER_POLLS_MAX 200
#define SAMPLES 64

static int ask_status(struct flash *flash, uint32_t address, bool *ready)
{
	const int error = memory_read_byte(flash, flash->chip, address, &flash->polled_value);

	*ready = (flash->polled_value & STATUS_READY) != 0;
	return error;
}

static int read_array(struct flash *flash, const struct flash_chip *chip)
{
	return memory_write_byte(flash, chip, 0, OP_READ_ARRAY);
}

static const char *cause_of(uint8_t status)
{
	if ((status & STATUS_LOCKED) != 0)
		return "the block is locked: release the chip's TBL# and WP# pins";
	if ((status & STATUS_SUPPLY_LOW) != 0)
		return "the programming supply (VPP) is too low";
	return "a cell did not change: the chip may be worn out";
}

static int report_failure(struct flash *flash, const char *what, uint32_t address)
{
	log_error(flash->log, "The chip reports that %s at 0x%06x failed (status 0x%02x): %s.\n",
		what, (unsigned int)address, flash->polled_value, cause_of(flash->polled_value));
	return -EIO;
}

/* Waits for the end and reports a failure. `polled_value` is the last status that was read. */
static int wait_and_check(
	struct flash *flash, const struct busy_time *busy, const char *what, uint32_t address)
{
	int error;

	flash->polled_value = STATUS_READY;
	error = busy_wait(flash, busy, what, ask_status, address);
	if (error != 0 || (flash->polled_value & STATUS_ERRORS) == 0)
		return error;
	error = report_failure(flash, what, address);
	(void)memory_write_byte(flash, flash->chip, address, OP_STATUS_CLEAR);
	return error;
}

/* Writes two cycles to one address and waits for the end. Later reads still return the status. */
static int run(struct flash *flash, uint8_t first, uint8_t second, uint32_t address,
	const struct busy_time *busy, const char *what)
{
	int error = memory_write_byte(flash, flash->chip, address, first);

	if (error == 0)
		error = memory_write_byte(flash, flash->chip, address, second);
	if (error == 0)
		error = wait_and_check(flash, busy, what, address);
	return error;
}

/* Ends an operation with FFh. Returns `error`, or if that is 0, the error of this write. */
static int end_with_array(struct flash *flash, int error)
{
	const int array_error = read_array(flash, flash->chip);

	return error != 0 ? error : array_error;
}

static int fwh_program(struct flash *flash, uint32_t address, const uint8_t *data, size_t bytes)
{
	int error = 0;

	for (size_t i = 0; i < bytes && error == 0; i++) {
		if (data[i] == 0xff)
			continue;
		error = run(flash, OP_PROGRAM, data[i], address + (uint32_t)i,
			&flash->chip->program, "a byte program");
	}
	return end_with_array(flash, error);
}

static int fwh_erase(struct flash *flash, const struct chip_erase *erase, uint32_t address)
{
	const int error =
		run(flash, erase->opcode, OP_ERASE_CONFIRM, address, &erase->busy, "an erase");

	return end_with_array(flash, error);
}

/* Samples go down from the last 16 bytes, where a CPU starts and a BIOS is never empty. */
static uint32_t sample_address(const struct flash_chip *chip, uint32_t nth)
{
	return chip->size_bytes - 16 - nth * (chip->size_bytes / SAMPLES);
}

/* A busy part shows its status at every address; content is hardly ever so uniform. */
static int ask_seems_busy(struct flash *flash, const struct flash_chip *chip, bool *busy)
{
	uint8_t first, sample;
	int error = memory_read_byte(flash, chip, sample_address(chip, 0), &first);

	*busy = error == 0 && (first & STATUS_READY) == 0;
	for (uint32_t nth = 1; nth < SAMPLES && *busy; nth++) {
		error = memory_read_byte(flash, chip, sample_address(chip, nth), &sample);
		*busy = error == 0 && sample == first;
	}
	return error;
}

/* If the part seems busy at each query, its content looks so by chance, which is no error. */
static int wait_for_earlier_operation(struct flash *flash, const struct flash_chip *chip)
{
	for (unsigned int polls = 0; polls < EARLIER_POLLS_MAX; polls++) {
		bool busy;
		int error = ask_seems_busy(flash, chip, &busy);

		if (error != 0 || !busy)
			return error;
		if (polls == 0)
			log_info(flash->log, "The chip seems to be busy with an earlier operation, "
					     "waiting for its end.\n");
		error = flash_wait_us(flash, EARLIER_POLL_US);
		if (error != 0)
			return error;
	}
	return 0;
}

static int read_id(struct flash *flash, const struct flash_chip *chip, uint32_t *id)
{
	uint8_t manufacturer, device;
	int error = memory_read_byte(flash, chip, 0, &manufacturer);

	if (error == 0)
		error = memory_read_byte(flash, chip, 1, &device);
	if (error == 0)
		*id = (uint32_t)manufacturer << 8 | device;
	return error;
}

/*
 * Writes FFh first. If an earlier session was interrupted before the data of a program command, the
 * part takes FFh as that data, which changes no byte.
 */
static int ask_id(struct flash *flash, const struct flash_chip *chip, uint32_t *id)
{
	int error = wait_for_earlier_operation(flash, chip);
	int array_error;

	if (error == 0)
		error = read_array(flash, chip);
	if (error == 0)
		error = memory_write_byte(flash, chip, 0, OP_ID);
	if (error == 0)
		error = read_id(flash, chip, id);
	array_error = read_array(flash, chip);
	return error != 0 ? error : array_error;
}

static bool is_same_question(const struct flash_chip *a, const struct flash_chip *b)
{
	return a->size_bytes == b->size_bytes;
}

const struct identify_method fwh_id = {
	.same_question = is_same_question,
	.ask = ask_id,
};

/* Clears the error bits of an earlier session, which would be taken for errors of this one. */
static int fwh_open(struct flash *flash)
{
	int error = memory_write_byte(flash, flash->chip, 0, OP_STATUS_CLEAR);

	if (error == 0)
		error = read_array(flash, flash->chip);
	return error == 0 ? fwh_locks_open(flash) : error;
}

const struct chip_driver fwh_driver = {
	.open = fwh_open,
	.close = fwh_locks_close,
	.read = memory_read,
	.program = fwh_program,
	.erase = fwh_erase,
	.unprotect = fwh_unprotect,
	.reprotect = fwh_reprotect,
};
