/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Locks of single blocks, numbered from 0 in the order of their addresses; where a part has none,
 * none is set. nor_lock.c has the commands. Only the model includes this.
 */
#ifndef EMULATORS_MODEL_SPI_LOCKS_H
#define EMULATORS_MODEL_SPI_LOCKS_H

#include "chip.h"

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
