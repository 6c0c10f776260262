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
	SPI_NEEDS_WRITE_ENABLE = 1 << 2,
	SPI_KEEPS_RESET_ENABLED = 1 << 3,
};

#define SPI_DATA_ANY SIZE_MAX

struct spi_command;

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

/* What family->transfer is for a family with that table. */
void spi_transfer(struct chip *chip, const struct spi_command *commands, size_t command_count,
	const struct chip_transfer *transfer, struct chip_facts *facts);

/* Fills the whole reply with @pattern over and over, beginning with its byte @skip. */
void spi_reply_repeating(
	const struct spi_request *request, const uint8_t *pattern, size_t pattern_len, size_t skip);

#endif
