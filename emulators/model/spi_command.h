/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A family on an SPI bus is a table of commands: this finds the one that came, checks whether the
 * part obeys it now, and runs it. Only the model includes this.
 */
#ifndef EMULATORS_MODEL_SPI_COMMAND_H
#define EMULATORS_MODEL_SPI_COMMAND_H

#include "family.h"

/* When a command is obeyed. */
enum spi_when {
	SPI_WHILE_BUSY = 1 << 0,
	SPI_WHILE_POWERED_DOWN = 1 << 1,
	SPI_WHILE_ERROR = 1 << 2,
	SPI_WHILE_AAI = 1 << 3,
	SPI_NOT_WHILE_SUSPENDED = 1 << 4,
	SPI_NEEDS_WRITE_ENABLE = 1 << 5,
	SPI_NEEDS_STATUS_ENABLE = 1 << 6, /* 06h, or what else opens the status register */
	SPI_BEGINS_WRITE = 1 << 7,        /* no write itself, and as early after power came */
	SPI_KEEPS_RESET_ENABLED = 1 << 8,
	/* Asked of parts that nobody knows yet, some with an address of another length. */
	SPI_ANY_ADDRESS = 1 << 9,
};

#define SPI_DATA_ANY SIZE_MAX
#define SPI_ADDRESS_BY_MODE 0xFF /* three bytes, or four in that mode */

/* A command that the part obeys, cut into its pieces. */
struct spi_request {
	const struct chip_transfer *transfer;
	const uint8_t *data; /* after address and dummies */
	size_t data_len;
};

struct spi_command {
	uint8_t opcode;
	const char *name;
	uint8_t address_bytes;
	uint8_t dummy_bytes;
	unsigned int when;
	/* For a part of the family that may lack it; NULL: they all have it. */
	bool (*part_has)(const struct part *part, uint8_t opcode);
	/* Data bytes that follow the dummies; any other number and the part does nothing. */
	size_t data_len_min;
	size_t data_len_max;
	void (*run)(struct chip *chip, const struct spi_request *request, struct chip_facts *facts);
};

struct spi_table {
	const struct spi_command *commands;
	size_t command_count;
};

/* What family->transfer is for a family with that table. */
void spi_transfer(struct chip *chip, const struct spi_table *table,
	const struct chip_transfer *transfer, struct chip_facts *facts);

/* What family->init and family->power_up are for the state that SPI parts share. */
void spi_init(struct chip *chip);
void spi_power_up(struct chip *chip, uint64_t at_ns);

/* Refuses the command where any of [address, address + len) is protected. */
bool spi_refuses(const struct chip *chip, uint32_t address, uint32_t len, struct chip_facts *facts);

/* Fills the whole reply with @pattern over and over, beginning with its byte @skip. */
void spi_reply_repeating(
	const struct spi_request *request, const uint8_t *pattern, size_t pattern_len, size_t skip);

/* Commands that families share. */
void spi_run_rdid(struct chip *chip, const struct spi_request *request, struct chip_facts *facts);
void spi_run_rems(struct chip *chip, const struct spi_request *request, struct chip_facts *facts);
void spi_run_read(struct chip *chip, const struct spi_request *request, struct chip_facts *facts);
void spi_run_erase(struct chip *chip, const struct spi_request *request, struct chip_facts *facts);
void spi_run_write_enable(
	struct chip *chip, const struct spi_request *request, struct chip_facts *facts);
void spi_run_write_disable(
	struct chip *chip, const struct spi_request *request, struct chip_facts *facts);

bool spi_has_rdid(const struct part *part, uint8_t opcode);
bool spi_has_rems(const struct part *part, uint8_t opcode);
bool spi_has_erase(const struct part *part, uint8_t opcode);

#endif
