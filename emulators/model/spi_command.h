/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A family on an SPI bus is a table of commands. spi_command.c finds the received command, checks
 * whether the part obeys it now, and runs it. Only the model includes this header.
 */
#ifndef EMULATORS_MODEL_SPI_COMMAND_H
#define EMULATORS_MODEL_SPI_COMMAND_H

#include "family.h"

/*
 * When a part obeys a command, and what the command does to the part's states. enum spi_feature
 * says which parts have the command.
 */
enum spi_when {
	SPI_WHILE_BUSY = 1 << 16,
	SPI_WHILE_POWERED_DOWN = 1 << 17,
	SPI_WHILE_ERROR = 1 << 18,
	SPI_WHILE_AAI = 1 << 19,
	SPI_NOT_WHILE_SUSPENDED = 1 << 20,
	SPI_NEEDS_WRITE_ENABLE = 1 << 21,
	SPI_NEEDS_STATUS_ENABLE = 1 << 22, /* after 06h or 50h; after B9h for the bank register */
	SPI_BEGINS_WRITE = 1 << 23,        /* tPUW applies to it, though it needs no write enable */
	SPI_KEEPS_RESET_ENABLED = 1 << 24,
	/* A probe, which clients also send with a shorter address. */
	SPI_ANY_ADDRESS = 1 << 25,
};

#define SPI_FEATURES 0xFFFFu /* the features among the bits of spi_command.when */
#define SPI_DATA_ANY SIZE_MAX
#define SPI_ADDRESS_BY_MODE 0xFF /* three bytes, or four in four-byte mode */

/* The parts of a command that is obeyed. */
struct spi_request {
	const struct chip_transfer *transfer;
	struct chip_facts *facts;
	const uint8_t *data; /* after address and dummies */
	size_t data_len;
	size_t clocked_len; /* the bytes clocked after the dummies, whoever drove the bus */
	size_t replied_len; /* the number of these bytes that were replies */
};

struct spi_command {
	uint8_t opcode;
	const char *name;
	uint8_t address_bytes;
	uint8_t dummy_bytes;
	/* Bits of enum spi_when, and of enum spi_feature, all of which the part must have. */
	unsigned int when;
	/* Returns true if the part has the command; NULL: every part of the family has it. */
	bool (*part_has)(const struct part *part, uint8_t opcode);
	/* The fewest and most data bytes after the dummies; the part ignores any other number. */
	size_t data_len_min;
	size_t data_len_max;
	/*
	 * Fills the next bytes of the reply, at transfer->end_ns, while chip select is low. Called
	 * with no bytes if chip select rises before any. NULL: there is no reply.
	 */
	void (*reply)(struct chip *chip, const struct spi_request *request);
	/* Acts when chip select rises, at transfer->end_ns. NULL: nothing is left to do. */
	void (*run)(struct chip *chip, const struct spi_request *request);
};

/* Begins a command after its first byte: finds it, and checks if the part obeys it now. */
void spi_begin(struct chip *chip);

/* Fills @reply with what the part drives at @now_ns; FFh where it drives nothing. */
void spi_reply(struct chip *chip, uint64_t now_ns, uint8_t *reply, size_t len);

/* Processes the clocks of @len bytes that the client reads: it drives nothing meanwhile. */
void spi_listen(struct chip *chip, uint64_t now_ns, uint8_t *reply, size_t len);

/* Returns true for a command that polls: its reply may change while chip select is low. */
bool spi_reply_may_change(const struct chip *chip);

/* Ends the command when chip select rises at @now_ns. A command that is obeyed acts then. */
void spi_end(struct chip *chip, uint64_t now_ns);

/* The functions family->init and family->power_up for the state that SPI parts share. */
void spi_init(struct chip *chip);
void spi_power_up(struct chip *chip, uint64_t at_ns);

/* Returns the size of a page; DataFlash has two configurations. */
uint32_t spi_page_bytes(const struct chip *chip);

/* Returns true if the part's uniform_flag is set, so that all sectors have the same size. */
bool spi_is_uniform(const struct chip *chip);

/* Returns true, and sets facts->rule, if any of [address, address + len) is protected. */
bool spi_refuses(const struct chip *chip, uint32_t address, uint32_t len, struct chip_facts *facts);

/* Replies with @pattern again and again, beginning with its byte @skip. */
void spi_reply_repeating(
	const struct spi_request *request, const uint8_t *pattern, size_t pattern_len, size_t skip);

/* Replies with the same byte again and again. */
void spi_reply_octet(const struct spi_request *request, uint8_t octet);

/* Replies with the status of the family. */
void spi_reply_family_status(struct chip *chip, const struct spi_request *request);

void spi_reply_rdid(struct chip *chip, const struct spi_request *request);
void spi_reply_rems(struct chip *chip, const struct spi_request *request);
void spi_reply_array(struct chip *chip, const struct spi_request *request);
void spi_run_erase(struct chip *chip, const struct spi_request *request);
void spi_run_write_enable(struct chip *chip, const struct spi_request *request);
void spi_run_power_down(struct chip *chip, const struct spi_request *request);
void spi_reply_release(struct chip *chip, const struct spi_request *request);
void spi_run_release(struct chip *chip, const struct spi_request *request);

bool spi_has_rdid(const struct part *part, uint8_t opcode);
bool spi_has_rems(const struct part *part, uint8_t opcode);

#define SPI_STATUS_WEL 0x02

/* The function family->status of families with nothing to add. */
uint8_t spi_status(const struct chip *chip);

/* Returns true if the work still goes on, but the part has already cleared WEL. */
bool spi_lost_wel(const struct chip *chip, uint64_t now_ns);

/* Returns true if that die has finished its part of the work while others still work. */
bool spi_die_is_ready(const struct chip *chip, uint8_t die, uint64_t now_ns);

/* Run 05h and the other reads of a status register, 01h and the other writes. */
void spi_reply_status(struct chip *chip, const struct spi_request *request);
void spi_run_write_status(struct chip *chip, const struct spi_request *request);

/* Runs 50h: the next status register write changes the volatile copy, at once. */
void spi_run_status_enable(struct chip *chip, const struct spi_request *request);

bool spi_has_status(const struct part *part, uint8_t opcode);

/* Sets the bits of @mask in a register to those of @data. */
void spi_set_bits(uint8_t *value, uint8_t mask, uint8_t data);

/* Copies the registers to the pending ones, so that a write changes only its own bits. */
void spi_prepare_pending(struct chip *chip);

/* Returns the value of the status register number @index, as a client reads it. */
uint8_t spi_status_register(const struct chip *chip, size_t index);

/* Returns true if the status register (AT25DF) forbids changes of the locks. */
bool spi_holds_global_locks(const struct chip *chip);

/* The function family->finish for a status register write. */
void spi_status_finish(struct chip *chip, bool cut_off);

/*
 * Locks of single blocks, numbered from 0 in the order of their addresses. In a part without locks
 * none is set. spi_nor.c has the commands. spi_some_locked() sets @all if every lock is set.
 */
void spi_lock_all(struct chip *chip, bool locked);
bool spi_some_locked(const struct chip *chip, bool *all);
bool spi_has_locks_in_force(const struct chip *chip);
bool spi_locks_cover(const struct chip *chip, uint32_t address, uint32_t len);

uint32_t spi_lock_count(const struct chip *chip);
bool spi_is_locked(const struct chip *chip, uint32_t index);
void spi_set_lock(struct chip *chip, uint32_t index, bool locked);

/* Finds the block with the lock for @address. Returns false if there is none. */
bool spi_find_lock(const struct chip *chip, uint32_t address, struct part_block *block);

bool nor_has_power_down(const struct part *part, uint8_t opcode);

/* Returns true for an erase whose address always has four bytes. */
bool nor_erase_has_four_bytes(uint8_t opcode);

/*
 * Reads @len bytes of a part's SFDP (5Ah) from @address on: a header and a basic flash parameter
 * table of JESD216 (nine words, no times), made from the facts of the part. Bytes after the table
 * are FFh.
 */
void sfdp_read(const struct part *part, uint32_t address, uint8_t *out, size_t len);

#endif
