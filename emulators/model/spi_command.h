/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A family on an SPI bus is a table of commands: this finds the one that came, checks whether the
 * part obeys it now, and runs it. Only the model includes this.
 */
#ifndef EMULATORS_MODEL_SPI_COMMAND_H
#define EMULATORS_MODEL_SPI_COMMAND_H

#include "family.h"

/* When a command is obeyed: together with enum spi_feature, which says by what parts. */
enum spi_when {
	SPI_WHILE_BUSY = 1 << 16,
	SPI_WHILE_POWERED_DOWN = 1 << 17,
	SPI_WHILE_ERROR = 1 << 18,
	SPI_WHILE_AAI = 1 << 19,
	SPI_NOT_WHILE_SUSPENDED = 1 << 20,
	SPI_NEEDS_WRITE_ENABLE = 1 << 21,
	SPI_NEEDS_STATUS_ENABLE = 1 << 22, /* 06h, or what else opens the status register */
	SPI_BEGINS_WRITE = 1 << 23,        /* no write itself, and as early after power came */
	SPI_KEEPS_RESET_ENABLED = 1 << 24,
	/* Asked of parts that nobody knows yet, some with an address of another length. */
	SPI_ANY_ADDRESS = 1 << 25,
};

#define SPI_FEATURES 0xFFFFu /* the features among the bits of spi_command.when */
#define SPI_DATA_ANY SIZE_MAX
#define SPI_ADDRESS_BY_MODE 0xFF /* three bytes, or four in that mode */

/* A command that the part obeys, cut into its pieces. */
struct spi_request {
	const struct chip_transfer *transfer;
	struct chip_facts *facts;
	const uint8_t *data; /* after address and dummies */
	size_t data_len;
	size_t clocked_len; /* the bytes that passed after the dummies, whoever drove the bus */
	size_t replied_len; /* those of them that were replies */
};

struct spi_command {
	uint8_t opcode;
	const char *name;
	uint8_t address_bytes;
	uint8_t dummy_bytes;
	/* Bits of enum spi_when, and the features without which a part lacks it */
	unsigned int when;
	/* For a part of the family that may lack it otherwise; NULL: none does. */
	bool (*part_has)(const struct part *part, uint8_t opcode);
	/* Data bytes that follow the dummies; any other number and the part does nothing. */
	size_t data_len_min;
	size_t data_len_max;
	/*
	 * Fills the next bytes of the reply, in the moment transfer->end_ns, while chip select is
	 * low; with no bytes where it rises before any. NULL: the command has no reply.
	 */
	void (*reply)(struct chip *chip, const struct spi_request *request);
	/* Acts when chip select rises, at transfer->end_ns. NULL: the command is its reply. */
	void (*run)(struct chip *chip, const struct spi_request *request);
};

/* Takes the first byte of a command. */
void spi_begin(struct chip *chip);

/* Fills @reply with what the part drives in the moment @now_ns; FFh where it drives nothing. */
void spi_reply(struct chip *chip, uint64_t now_ns, uint8_t *reply, size_t len);

/* Takes clocks of which nobody drives the bus but the part. */
void spi_listen(struct chip *chip, uint64_t now_ns, uint8_t *reply, size_t len);

/* Returns true for a command that polls: its reply changes while chip select is low. */
bool spi_reply_may_change(const struct chip *chip);

/* Chip select rises at @now_ns: the command acts. */
void spi_end(struct chip *chip, uint64_t now_ns);

/* The functions family->init and family->power_up for the state that SPI parts share. */
void spi_init(struct chip *chip);
void spi_power_up(struct chip *chip, uint64_t at_ns);

/* Refuses the command where any of [address, address + len) is protected. */
bool spi_refuses(const struct chip *chip, uint32_t address, uint32_t len, struct chip_facts *facts);

/* Replies @pattern over and over, beginning with its byte @skip. */
void spi_reply_repeating(
	const struct spi_request *request, const uint8_t *pattern, size_t pattern_len, size_t skip);

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
bool spi_has_erase(const struct part *part, uint8_t opcode);

#define SPI_STATUS_WEL 0x02

/* The function family->status for them. */
uint8_t spi_status(const struct chip *chip);

/* Returns true if the work in hand goes on without the write enable that began it. */
bool spi_lost_wel(const struct chip *chip, uint64_t now_ns);

/* Returns true if that die is done with its part of the work in hand, which others still do. */
bool spi_die_is_ready(const struct chip *chip, uint8_t die, uint64_t now_ns);

/* 05h and the others that read one, 01h and the others that write some. */
void spi_reply_status(struct chip *chip, const struct spi_request *request);
void spi_run_write_status(struct chip *chip, const struct spi_request *request);

/* 50h: the next status register write is for the volatile copy, and at once. */
void spi_run_status_enable(struct chip *chip, const struct spi_request *request);

bool spi_has_status(const struct part *part, uint8_t opcode);

/* Takes those bits of a register from @data. */
void spi_set_bits(uint8_t *value, uint8_t mask, uint8_t data);

/* Makes what is about to be written to the registers what they hold now. */
void spi_prepare_pending(struct chip *chip);

/* Returns the value of the status register number @index, as a client reads it. */
uint8_t spi_status_register(const struct chip *chip, size_t index);

/* AT25DF: its status register forbids that the locks of its sectors change. */
bool spi_holds_global_locks(const struct chip *chip);

/* The function family->finish for a status register write. */
void spi_status_finish(struct chip *chip, bool cut_off);

/*
 * Locks of single blocks, numbered from 0 in the order of their addresses; where a part has none,
 * none is set. nor_lock.c has the commands.
 */
void spi_lock_all(struct chip *chip, bool locked);
bool spi_some_locked(const struct chip *chip, bool *all);
bool spi_has_locks_in_force(const struct chip *chip);
bool spi_locks_cover(const struct chip *chip, uint32_t address, uint32_t len);

uint32_t spi_lock_count(const struct chip *chip);
bool spi_is_locked(const struct chip *chip, uint32_t index);
void spi_set_lock(struct chip *chip, uint32_t index, bool locked);

/* The block that has the lock for @address; false: there is none. */
bool spi_find_lock(const struct chip *chip, uint32_t address, struct part_block *block);

#endif
