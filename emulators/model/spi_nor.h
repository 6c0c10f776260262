/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Groups of commands that SPI NOR flash may have, each in a file of its own: nor_power.c,
 * nor_address.c, nor_die.c, nor_register.c, nor_lock.c, nor_suspend.c. Only the model includes this
 * header.
 */
#ifndef EMULATORS_MODEL_SPI_NOR_H
#define EMULATORS_MODEL_SPI_NOR_H

#include "spi_command.h"

/* Resets; and the checks whether a part has resets, deep power-down and the release. */
void nor_run_reset_enable(struct chip *chip, const struct spi_request *request);
void nor_run_reset(struct chip *chip, const struct spi_request *request);

bool nor_has_power_down(const struct part *part, uint8_t opcode);
bool nor_has_release(const struct part *part, uint8_t opcode);
bool nor_has_reset(const struct part *part, uint8_t opcode);

/* The fourth address byte: the mode, and the registers that stand in for it. */
void nor_run_four_byte(struct chip *chip, const struct spi_request *request);
void nor_reply_extended(struct chip *chip, const struct spi_request *request);
void nor_run_write_extended(struct chip *chip, const struct spi_request *request);
void nor_reply_bank(struct chip *chip, const struct spi_request *request);
void nor_run_write_bank(struct chip *chip, const struct spi_request *request);
void nor_run_bank_access(struct chip *chip, const struct spi_request *request);

/* Stacked dies: the choice of the one whose status is read, and the busy time of each. */
void nor_run_select_die(struct chip *chip, const struct spi_request *request);
void nor_occupy_dies(struct chip *chip, const struct spi_request *request);

bool nor_has_dies(const struct part *part, uint8_t opcode);

/* Registers by their address. */
void nor_reply_register(struct chip *chip, const struct spi_request *request);
void nor_run_write_register(struct chip *chip, const struct spi_request *request);

/* Locks of single blocks. */
void nor_run_lock(struct chip *chip, const struct spi_request *request);
void nor_run_lock_all(struct chip *chip, const struct spi_request *request);
void nor_reply_lock(struct chip *chip, const struct spi_request *request);
void nor_reply_locks(struct chip *chip, const struct spi_request *request);
void nor_run_write_locks(struct chip *chip, const struct spi_request *request);
void nor_run_hold_locks(struct chip *chip, const struct spi_request *request);

bool nor_has_lock(const struct part *part, uint8_t opcode);

/* Suspending an erase or a program, and resuming it. */
void nor_run_suspend(struct chip *chip, const struct spi_request *request);
void nor_run_resume(struct chip *chip, const struct spi_request *request);

/* Drops suspended work, which never resumes and stays half done. */
void nor_drop_suspended(struct chip *chip);

bool nor_has_suspend(const struct part *part, uint8_t opcode);
bool nor_has_resume(const struct part *part, uint8_t opcode);

/* Returns true for an erase whose address always has four bytes. */
bool nor_erase_has_four_bytes(uint8_t opcode);

/*
 * Reads @len bytes of a part's SFDP (5Ah) from @address on: a header and a basic flash parameter
 * table of JESD216 (nine words, no times), made from the facts of the part. Bytes after the table
 * are FFh.
 */
void sfdp_read(const struct part *part, uint32_t address, uint8_t *out, size_t len);

#endif
