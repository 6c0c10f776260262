/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The status registers of SPI parts with 05h and 01h, and the locks of single blocks. Only the
 * model includes this.
 */
#ifndef EMULATORS_MODEL_SPI_STATUS_H
#define EMULATORS_MODEL_SPI_STATUS_H

#include "spi_command.h"

#define SPI_STATUS_WEL 0x02

/* What family->status is for them. */
uint8_t spi_status(const struct chip *chip);

/* 05h and the others that read one, 01h and the others that write some. */
void spi_run_read_status(struct chip *chip, const struct spi_request *request);
void spi_run_write_status(struct chip *chip, const struct spi_request *request);

/* 50h: the next status register write is for the volatile copy, and at once. */
void spi_run_status_enable(struct chip *chip, const struct spi_request *request);

bool spi_has_status(const struct part *part, uint8_t opcode);

/* AT25DF: its status register forbids that the locks of its sectors change. */
bool spi_holds_global_locks(const struct chip *chip);

/* Locks of single blocks, numbered from 0 in the order of their addresses; nor_lock.c has them. */
enum spi_locked {
	SPI_LOCKED_NONE, /* also where a part has no locks */
	SPI_LOCKED_SOME,
	SPI_LOCKED_ALL,
};

void spi_lock_all(struct chip *chip, bool locked);
enum spi_locked spi_how_locked(const struct chip *chip);
bool spi_has_locks_in_force(const struct chip *chip);
bool spi_locks_cover(const struct chip *chip, uint32_t address, uint32_t len);

/* What family->finish is for a status register write. */
void spi_status_finish(struct chip *chip, bool cut_off);

#endif
