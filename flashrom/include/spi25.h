/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SPI25_H
#define SPI25_H

#include <stddef.h>
#include <stdint.h>

#include "flash.h"

/*
 * SPI NOR parts of the 25 series, and what other SPI drivers share with them.
 *
 * Busy times are never waited out blindly: every write, erase and program is followed by status
 * reads until the part is ready, and none but a status read is sent before that.
 */

extern const struct chip_driver spi25_driver;

/** Parts that protect their blocks one by one: SST26VF, and AT25DF with its sector registers. */
extern const struct chip_driver sst26_driver;
extern const struct chip_driver at25df_driver;

/** RDID (9Fh): manufacturer, type and capacity, 0xef4018. Wakes a part that sleeps. */
extern const struct identify_method spi25_rdid;

/**
 * The same with the bytes after it, where only those tell parts apart: manufacturer, capacity and
 * the last two of six bytes, 0x01180080.
 */
extern const struct identify_method spi25_rdid_extended;

/** REMS (90h): manufacturer and device, 0xbf44. For parts that know no RDID. */
extern const struct identify_method spi25_rems;

/**
 * RES (ABh): the electronic signature, 0x10. For parts that know neither; any other signature than
 * the chip's counts as silence.
 */
extern const struct identify_method spi25_res;

/** The part's own tables (SFDP, JESD216): what a part is like of which nothing else is known. */
extern const struct identify_method spi25_sfdp;
#define SPI25_SFDP_ID UINT32_C(0x50444653)

/** Returns true if such an answer is that of a bus that nothing drives. */
bool spi25_is_silence(uint32_t jedec_id);

/** Release from power-down (tRES1, tRES2): the longest of all parts, for one that is unknown. */
#define SPI25_WAKE_US_MAX 100

/** The longest page program of any part, and what a bus without a part shows. */
#define SPI25_PAGE_BYTES_MAX 512
#define SPI25_FLOATING 0xff

/** One chip-select cycle. */
int spi_command(
	struct flash *flash, const uint8_t *tx, size_t tx_bytes, uint8_t *rx, size_t rx_bytes);

/** A command of nothing but its opcode. */
int spi_simple_command(struct flash *flash, uint8_t opcode);

/** The same, sent together with the next command where the programmer can do that. */
int spi_hold_command(struct flash *flash, uint8_t opcode);

/** A register that one opcode reads. */
int spi25_register_read(struct flash *flash, uint8_t opcode, uint8_t *value);

/** The first status register. */
int spi25_status_read(struct flash *flash, uint8_t *status);

/** A question for busy_wait(): the busy bit of the first status register alone. */
int spi25_ask_ready(struct flash *flash, uint32_t address, bool *ready);

/**
 * Write enable, the command itself, and the wait for its end. `what` names it in messages ("an
 * erase"). -EIO, logged, if the part says that it failed.
 */
int spi25_busy_command(struct flash *flash, const uint8_t *tx, size_t tx_bytes,
	const struct busy_time *busy, const char *what);

/** An erase of the whole chip, which is over when each of its dies says so. */
int spi25_erase_dies(struct flash *flash, const struct chip_erase *erase);

/** Opcode and address as the part wants them, in `tx` of that size; the length is returned. */
#define SPI25_HEADER_BYTES_MAX 5
size_t spi25_header_bytes(const struct flash_chip *chip);
size_t spi25_header(const struct flash_chip *chip, uint8_t *tx, uint8_t opcode, uint32_t address);

/** The driver's operations, for those that differ in how they protect. */
int spi25_open(struct flash *flash);
int spi25_close(struct flash *flash);
int spi25_read(struct flash *flash, uint32_t address, uint8_t *data, size_t bytes);
int spi25_program(struct flash *flash, uint32_t address, const uint8_t *data, size_t bytes);
int spi25_erase(struct flash *flash, const struct chip_erase *erase, uint32_t address);
int spi25_unprotect(struct flash *flash, bool force);
int spi25_reprotect(struct flash *flash);

/**
 * Bring the first status register to `status`, leaving the others. Protection and other
 * non-volatile bits have taken effect when this returns.
 */
int spi25_status_write(struct flash *flash, uint8_t status);

/** All status registers that the part's protection sits in, read and written as a whole. */
struct spi25_status {
	uint8_t first;
	uint8_t second;
	uint8_t third;
};

int spi25_status_read_all(struct flash *flash, struct spi25_status *status);

/** Goes from `before` to `after`, touching no register that stays as it is. */
int spi25_status_write_all(
	struct flash *flash, const struct spi25_status *before, const struct spi25_status *after);

/** Reads `bits` into `set`. `known` is false, and `set` too, if no such register answers. */
int spi25_bits_read(struct flash *flash, struct spi25_bits bits, bool *set, bool *known);

/** Makes all sectors alike where the part has small ones beside others, and undoes that. */
int spi25_make_sectors_uniform(struct flash *flash);
int spi25_restore_sectors(struct flash *flash);

/** Forget a failure of an earlier operation. */
int spi25_clear_failed(struct flash *flash);

/** -EPERM, or 0 with `force`: tells that protection could not be lifted. */
int spi25_report_protected(const struct flash *flash, uint8_t status, bool force);

#endif
