/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The status registers of SPI parts with 05h and 01h. Only the model includes this.
 */
#ifndef EMULATORS_MODEL_SPI_STATUS_H
#define EMULATORS_MODEL_SPI_STATUS_H

#include "spi_command.h"

#define SPI_STATUS_WEL 0x02

/* Register @index as a client reads it. */
uint8_t spi_status_read(const struct chip *chip, size_t index);

/* 05h and the others that read one, 01h and the others that write some. */
void spi_run_read_status(
	struct chip *chip, const struct spi_request *request, struct chip_facts *facts);
void spi_run_write_status(
	struct chip *chip, const struct spi_request *request, struct chip_facts *facts);

/* 50h: the next status register write is for the volatile copy, and at once. */
void spi_run_status_enable(
	struct chip *chip, const struct spi_request *request, struct chip_facts *facts);

bool spi_has_status(const struct part *part, uint8_t opcode);

/* AT25DF: its status register forbids that the locks of its sectors change. */
bool spi_holds_global_locks(const struct chip *chip);

/* What family->finish is for a status register write. */
void spi_status_finish(struct chip *chip, bool cut_off);

#endif
