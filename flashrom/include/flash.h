/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef FLASH_H
#define FLASH_H

#include <stdbool.h>
#include <stdint.h>

#include "chip.h"
#include "clock.h"
#include "log.h"
#include "programmer.h"
#include "range.h"

enum progress_stage {
	PROGRESS_READ,
	PROGRESS_WRITE,
	PROGRESS_ERASE,
};

/**
 * The receiver of progress reports. A step begins with `done` 0 and ends, unless it fails, with
 * `done` equal to `total`; in between `done` only grows and `total` stays. Erasing and writing are
 * two steps that take turns; a step without anything to do is not reported.
 */
struct progress {
	void (*report)(
		void *sink, enum progress_stage stage, uint32_t done_bytes, uint32_t total_bytes);
	void *sink;
};

#define BUSY_LENGTHS_MAX 8

/** The duration of an operation, as far as queries could tell. */
struct busy_length {
	uint32_t above_us; /* when it was last seen busy, 0 if it never was */
	uint32_t below_us; /* when it was first seen ready */
};

/** The recent durations of operations of one kind. Starts as {0}, and belongs to one part. */
struct busy_history {
	const struct busy_time *of; /* NULL: not in use */
	struct busy_length lengths[BUSY_LENGTHS_MAX];
	unsigned int count;      /* the number of all lengths so far; the newest are kept */
	uint32_t lead_us;        /* from the end of the last wait to its first query */
	unsigned int never_busy; /* operations in a row that were ready at the first query */
};

/**
 * Returns the wait before the first query. While no length is known, it is half the typical time.
 * While fewer than BUSY_LENGTHS_MAX are known, it is at most 7/8 of the typical time, and after
 * that at most `of->max_us`.
 *
 * Each length is an interval. While they have a point in common, the part is considered steady: the
 * interval is halved until the query comes just after the part gets ready. Otherwise lengths vary,
 * and the wait is 7/8 of the shortest, so that queries find the end.
 */
uint32_t busy_history_wait_us(const struct busy_history *history);

/** Adds a length. The first query followed a wait of `waited_us`, at `first_asked_us`. */
void busy_history_add(struct busy_history *history, struct busy_length length, uint32_t waited_us,
	uint32_t first_asked_us);

struct flash;

/** The number of kinds of operations whose past durations are kept for one part. */
#define BUSY_OPERATIONS_MAX 8

/** Asks the part whether it is ready. Returns 0, or -errno with the cause logged. */
typedef int (*busy_ask_fn)(struct flash *flash, uint32_t address, bool *ready);

/**
 * Waits for the end of the operation that has just begun. `what` names it in messages ("an
 * erase"), `address` is passed to `ask`.
 *
 * The first query comes after busy_history_wait_us(), the next ones every busy_poll_us() until the
 * part is ready. The address of `busy` identifies the kind of operation. Returns 0, -ETIMEDOUT
 * (logged) after busy_timeout_ns(), or the error of `ask` or of the programmer.
 */
int busy_wait(struct flash *flash, const struct busy_time *busy, const char *what, busy_ask_fn ask,
	uint32_t address);

/** Returns the time between two queries: a fraction of the typical time, or 0 if it is short. */
uint32_t busy_poll_us(uint32_t typ_us);

/** Returns the time after which busy_wait() reports a timeout. */
uint64_t busy_timeout_ns(const struct busy_time *busy);

/**
 * The operations of a kind of part. `flash->chip` is set. Functions return 0, or -errno with the
 * cause logged. None returns while the part is busy or in a mode in which it cannot be read.
 */
struct chip_driver {
	/** Prepare the part for the other functions, and restore its state. Both may be NULL. */
	int (*open)(struct flash *flash);
	int (*close)(struct flash *flash);

	/** Reads any range. */
	int (*read)(struct flash *flash, uint32_t address, uint8_t *data, size_t bytes);

	/**
	 * Programs within one page (`page_bytes`). Bits only go from 1 to 0, unless the part
	 * `overwrites`.
	 */
	int (*program)(struct flash *flash, uint32_t address, const uint8_t *data, size_t bytes);

	/** Runs one of the chip's erase commands on the block at `address`. NULL: it has none. */
	int (*erase)(struct flash *flash, const struct chip_erase *erase, uint32_t address);

	/**
	 * `unprotect` clears write protection. It returns -EPERM if some stays; with `force` it
	 * warns and returns 0. `reprotect` restores `flash->protection`, also after a failed
	 * `unprotect`. Both may be NULL.
	 */
	int (*unprotect)(struct flash *flash, bool force);
	int (*reprotect)(struct flash *flash);
};

/** A way to identify a part. */
struct identify_method {
	/**
	 * Returns true if one query serves for both chips: the command addresses and waits that it
	 * needs are the same. NULL: they always are.
	 */
	bool (*same_question)(const struct flash_chip *a, const struct flash_chip *b);

	/**
	 * Reads the ID with the commands and waits that `chip` needs; `flash->chip` is not set yet.
	 * Returns 0 and the ID, which may be the value of a bus without a part; or -errno with the
	 * cause logged.
	 */
	int (*ask)(struct flash *flash, const struct flash_chip *chip, uint32_t *id);

	/**
	 * Completes a copy of the table's entry with what the part reports about itself. NULL: the
	 * entry is complete. Returns 0, or -errno with the cause logged.
	 */
	int (*describe)(struct flash *flash, struct flash_chip *chip);

	/** Such chips are tried only if no other chip of the lists was found. */
	bool last_resort;
};

/** The largest size of a part's block locks, in bytes. */
#define PROTECTION_BLOCK_BYTES_MAX 18

/** Write protection as it was found. */
struct protection {
	bool lifted;
	uint8_t status;
	uint8_t status_2;
	uint8_t status_3;
	uint8_t blocks[PROTECTION_BLOCK_BYTES_MAX]; /* for parts that protect blocks one by one */
};

/** The settings that the driver for parts of the 25 series has to undo. */
struct spi25_state {
	bool address_mode_entered;
	bool sectors_made_uniform;
};

/** The effect of the last write (or erase) on the part, whether it failed or not. */
enum write_state {
	WRITE_UNTOUCHED, /* nothing was erased or programmed */
	WRITE_BEGUN,     /* it broke off in the middle */
	WRITE_DONE,      /* all was written; a later step, such as verification, may have failed */
};

/** A part behind a programmer. `chip` is NULL until it is known. */
struct flash {
	struct programmer *programmer;
	const struct clock *clock;
	const struct log *log;
	const struct flash_chip *chip;
	uint8_t bus;                     /* the bus on which the chip was found */
	const struct progress *progress; /* NULL: not reported */
	enum write_state written;
	bool is_named; /* the user named the chip, so queries for its ID may rely on its facts */

	struct flash_chip described; /* `chip` points here if the part described itself */
	struct spi25_state spi25;

	struct protection protection;
	uint8_t polled_value; /* the value that a driver's query waits for, or saw last */
	struct busy_history history[BUSY_OPERATIONS_MAX];
};

/** Initialises `flash` for a part behind `programmer` that is yet to be found. */
void flash_init(struct flash *flash, struct programmer *programmer, const struct clock *clock,
	const struct log *log);

/** Sends all that the programmer held back. Returns 0, or -errno with the cause logged. */
int flash_flush(struct flash *flash);

/**
 * Waits for `us` after all that was sent has reached the part. Returns 0, or -errno with the cause
 * logged.
 */
int flash_wait_us(struct flash *flash, uint32_t us);

/**
 * Waits until `us` have passed since the programmer turned its pins on, which may supply the part.
 * Does not wait if that was long ago. Returns 0, or -errno with the cause logged.
 */
int flash_await_power(struct flash *flash, uint32_t us);

/** The longest time of any SPI part from power-up to the first command (tVSL) and write (tPUW). */
#define POWER_UP_US_MAX 5000
#define POWER_UP_WRITE_US_MAX 10000

/** The ranges of a chip that an operation covers; never empty. */
struct selection {
	const struct range *ranges;
	size_t count;
};

enum verify_scope {
	VERIFY_NOTHING,
	VERIFY_SELECTED, /* the selected regions */
	VERIFY_TOUCHED,  /* and the rest of the erase blocks in which they lie */
};

/**
 * Finds the chip behind `flash` and sets `flash->chip` and `flash->bus`. `name` is the only chip
 * to look for, or NULL; with `force` it is used even if the ID is another. Returns 0, or -errno
 * with the cause logged: -EINVAL for an unknown name, -ENODEV if the chip (or any) was not found,
 * -ENOTUNIQ if several match.
 */
int flash_probe(
	struct flash *flash, const struct chip_list *const *lists, const char *name, bool force);

/** Call flash_open() after flash_probe(), flash_close() at the end, also if no chip was found. */
int flash_open(struct flash *flash);
int flash_close(struct flash *flash);

/* `image` always covers the whole chip; only its selected ranges are read or written. */

int flash_read(struct flash *flash, struct selection selection, uint8_t *image);

/** Compares, and reports the first difference. Returns 0, -EILSEQ or another -errno. */
int flash_verify(struct flash *flash, struct selection selection, const uint8_t *image);

/**
 * Writes the selected ranges of `image`: reads, erases as little as needed, programs what differs,
 * and verifies. The rest of an erased block is restored. With `force` it continues if write
 * protection stays. After a failure it logs the state of the part, too; see `flash->written`.
 * `held` is an image of the present content, which is then not read, or NULL.
 */
int flash_write(struct flash *flash, struct selection selection, const uint8_t *image,
	const uint8_t *held, enum verify_scope verify, bool force);

/** Writes blank bytes (FFh) to the selected ranges. */
int flash_erase(
	struct flash *flash, struct selection selection, enum verify_scope verify, bool force);

enum job_action {
	JOB_READ,
	JOB_WRITE,
	JOB_VERIFY,
	JOB_ERASE,
};

/** A request of the command line, or of a caller of the library, for a chip that was found. */
struct job {
	enum job_action action;
	struct selection selection; /* a count of 0 stands for the whole chip */
	uint8_t *into;              /* JOB_READ: stays as it is outside the selection */
	const uint8_t *image;       /* JOB_WRITE, JOB_VERIFY */
	const uint8_t *held;        /* JOB_WRITE: what the chip holds, if known; else NULL */
	enum verify_scope verify;   /* JOB_WRITE, JOB_ERASE */
	bool force;                 /* JOB_WRITE, JOB_ERASE: continue if protection stays */
};

/**
 * Opens the chip, does the job, and closes the chip, also after a failure. Returns 0 or the first
 * error.
 */
int job_run(struct flash *flash, const struct job *job);

#endif
