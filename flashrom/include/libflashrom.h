/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The public interface of flashrom 1.x as a shared library: names, values and calling conventions
 * are flashrom's (its 1.4, and what later versions added for logging and progress), so that a
 * program built for one library runs with the other. What stands behind it is this tree.
 *
 * Calls that concern one programmer, and the contexts found through it, belong to one thread at a
 * time. Different programmers may be used from different threads. The log callback is one for the
 * whole process, since neither flashrom_init() nor flashrom_programmer_init() takes one: set it
 * before any other thread calls in, and let it cope with several threads if there are several.
 *
 * The library installs no signal handler, starts no thread and no process, and changes nothing of
 * its host's scheduling. Signals that the host handles neither shorten a wait nor fail a call.
 */
#ifndef LIBFLASHROM_H
#define LIBFLASHROM_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Begin and end */

/**
 * To be called first. With `perform_selfcheck` not 0 it tests the chip table and makes one short
 * wait, which must not end early. 0, or 1 if a check fails.
 */
int flashrom_init(int perform_selfcheck);

/** To be called last; forgets the log callback. Returns 0. */
int flashrom_shutdown(void);

/* Messages */

enum flashrom_log_level {
	FLASHROM_MSG_ERROR = 0,
	FLASHROM_MSG_WARN = 1,
	FLASHROM_MSG_INFO = 2,
	FLASHROM_MSG_DEBUG = 3,
	FLASHROM_MSG_DEBUG2 = 4,
	FLASHROM_MSG_SPEW = 5,
};

/** Gets a message as vprintf() does. A line may come in several; what it returns is not used. */
typedef int(flashrom_log_callback)(enum flashrom_log_level, const char *format, va_list);

/** Gets a message as text, which is gone once it returns. */
typedef void(flashrom_log_callback_v2)(
	enum flashrom_log_level, const char *message, void *user_data);

/** Where messages go; NULL: nowhere, as in the beginning. The last of both setters counts. */
void flashrom_set_log_callback(flashrom_log_callback *log_callback);
void flashrom_set_log_callback_v2(flashrom_log_callback_v2 *log_callback, void *user_data);

/** Only messages up to this level from now on; all of them if it is never called. */
void flashrom_set_log_level(enum flashrom_log_level level);

/* The lists of supported parts */

enum flashrom_test_state {
	FLASHROM_TESTED_OK = 0,
	FLASHROM_TESTED_NT = 1,
	FLASHROM_TESTED_BAD = 2,
	FLASHROM_TESTED_DEP = 3,
	FLASHROM_TESTED_NA = 4,
};

struct flashrom_flashchip_info {
	const char *vendor;
	const char *name;
	unsigned int total_size; /* in KiB */
	struct flashrom_tested {
		enum flashrom_test_state probe;
		enum flashrom_test_state read;
		enum flashrom_test_state erase;
		enum flashrom_test_state write;
		enum flashrom_test_state wp;
	} tested; /* on real parts: all NT here, the rig has emulated ones only; wp is NA */
};

struct flashrom_board_info {
	const char *vendor;
	const char *name;
	enum flashrom_test_state working;
};

struct flashrom_chipset_info {
	const char *vendor;
	const char *chipset;
	uint16_t vendor_id;
	uint16_t chipset_id;
	enum flashrom_test_state status;
};

/** Not to be freed. */
const char *flashrom_version_info(void);

/**
 * Lists that end with an entry of zeros, or NULL. NULL if out of memory; to be given back with
 * flashrom_data_free(). There are no boards and no chipsets here: those lists are empty.
 */
const char **flashrom_supported_programmers(void);
struct flashrom_flashchip_info *flashrom_supported_flash_chips(void);
struct flashrom_board_info *flashrom_supported_boards(void);
struct flashrom_chipset_info *flashrom_supported_chipsets(void);

/** Frees what a function above has returned; NULL is fine. Returns 0. */
int flashrom_data_free(void *p);

/* Programmers */

struct flashrom_programmer;

/**
 * Open a programmer: "serprog" with parameters "ip=localhost:2000", as after the colon of the
 * command line's -p; NULL for none. 0 and the programmer, or 1. There may be several at a time.
 */
int flashrom_programmer_init(
	struct flashrom_programmer **flashprog, const char *prog_name, const char *prog_params);

/** Let go of it, once all its contexts are released. NULL is fine. Returns 0. */
int flashrom_programmer_shutdown(struct flashrom_programmer *flashprog);

/* Chips */

struct flashrom_flashctx;

/**
 * Look for a chip, the one called `chip_name` or, with NULL, any. 0 and a context, to be given back
 * with flashrom_flash_release(); 3 if several chips answer alike, 2 if none does (or none has that
 * name), 1 on any other error.
 */
int flashrom_flash_probe(struct flashrom_flashctx **flashctx,
	const struct flashrom_programmer *flashprog, const char *chip_name);

/** In bytes. */
size_t flashrom_flash_getsize(const struct flashrom_flashctx *flashctx);

/**
 * Blank the chip, or the included regions of its layout, and see that it is blank. 0 or another
 * value.
 */
int flashrom_flash_erase(struct flashrom_flashctx *flashctx);

/** NULL is fine. */
void flashrom_flash_release(struct flashrom_flashctx *flashctx);

/** All are off in a new context, which therefore does not verify by itself after a write. */
enum flashrom_flag {
	FLASHROM_FLAG_FORCE,               /* go on where write protection stays */
	FLASHROM_FLAG_FORCE_BOARDMISMATCH, /* kept, without effect: there are no boards */
	FLASHROM_FLAG_VERIFY_AFTER_WRITE,
	FLASHROM_FLAG_VERIFY_WHOLE_CHIP,       /* also what shares erase blocks with the regions */
	FLASHROM_FLAG_SKIP_UNREADABLE_REGIONS, /* kept, without effect: all regions can be read */
	FLASHROM_FLAG_SKIP_UNWRITABLE_REGIONS, /* the same for writing */
};

void flashrom_flag_set(struct flashrom_flashctx *flashctx, enum flashrom_flag flag, bool value);
bool flashrom_flag_get(const struct flashrom_flashctx *flashctx, enum flashrom_flag flag);

/* Progress */

enum flashrom_progress_stage {
	FLASHROM_PROGRESS_READ,
	FLASHROM_PROGRESS_WRITE,
	FLASHROM_PROGRESS_ERASE,
	FLASHROM_PROGRESS_NR,
};

/** The first three are set before each call. */
struct flashrom_progress {
	enum flashrom_progress_stage stage;
	size_t current;
	size_t total;
	void *user_data;
};

typedef void(flashrom_progress_callback)(struct flashrom_flashctx *flashctx);
typedef void(flashrom_progress_callback_v2)(
	enum flashrom_progress_stage stage, size_t current, size_t total, void *user_data);

/**
 * Be told how far a call is, in bytes. A stage begins with 0 and ends, unless the call fails, with
 * `total`; in between `current` grows and `total` stays. A write reads, then erases and writes by
 * turns, then reads again where it verifies; a stage with nothing to do is left out. Called from
 * within the call, whose context it must not use. The last of both setters counts; NULL ends it.
 */
void flashrom_set_progress_callback(struct flashrom_flashctx *flashctx,
	flashrom_progress_callback *progress_callback, struct flashrom_progress *progress_state);
void flashrom_set_progress_callback_v2(struct flashrom_flashctx *flashctx,
	flashrom_progress_callback_v2 *progress_callback, void *user_data);

/* Images. All buffers are of the whole chip, also where a layout includes but a part of it. */

/**
 * 0; 2 if the buffer is too small, 1 on any other error. Outside the included regions the buffer
 * keeps what it has.
 */
int flashrom_image_read(struct flashrom_flashctx *flashctx, void *buffer, size_t buffer_len);

/**
 * Erase and program what differs. `refbuffer` is what the chip holds, if that is known, and saves
 * reading it; else NULL. `buffer` is left as it is.
 *
 * 0; 4 if `buffer_len` is not the size of the chip; 3 if the chip refused and holds what it held; 2
 * if the write or its verification failed and the chip has changed; 1 on any other error, before
 * which nothing was changed.
 */
int flashrom_image_write(
	struct flashrom_flashctx *flashctx, void *buffer, size_t buffer_len, const void *refbuffer);

/** 0; 3 if the chip holds something else, 2 if the size is wrong, 1 on any other error. */
int flashrom_image_verify(
	struct flashrom_flashctx *flashctx, const void *buffer, size_t buffer_len);

/* Layouts: which part of a chip a call is about. */

struct flashrom_layout;

/** 0 and an empty layout, to be given back with flashrom_layout_release(), or 1. */
int flashrom_layout_new(struct flashrom_layout **layout);

/** `end` is the last address. 0, or 1 if out of memory or if it lies before `start`. */
int flashrom_layout_add_region(
	struct flashrom_layout *layout, size_t start, size_t end, const char *name);

/** In the beginning no region is included. 0, or 1 if there is none of that name. */
int flashrom_layout_include_region(struct flashrom_layout *layout, const char *name);
int flashrom_layout_exclude_region(struct flashrom_layout *layout, const char *name);

/** 0, or 1 if there is none of that name. */
int flashrom_layout_get_region_range(
	struct flashrom_layout *layout, const char *name, unsigned int *start, unsigned int *len);

/** Not implemented here, and says so: returns 6. */
int flashrom_layout_read_from_ifd(struct flashrom_layout **layout,
	struct flashrom_flashctx *flashctx, const void *dump, size_t len);

/** Not implemented here, and say so: return 3. */
int flashrom_layout_read_fmap_from_rom(struct flashrom_layout **layout,
	struct flashrom_flashctx *flashctx, size_t offset, size_t length);
int flashrom_layout_read_fmap_from_buffer(struct flashrom_layout **layout,
	struct flashrom_flashctx *flashctx, const uint8_t *buffer, size_t len);

/** NULL is fine. Not while a context uses it. */
void flashrom_layout_release(struct flashrom_layout *layout);

/**
 * Let calls be about the included regions; with none included they do nothing. NULL: about the
 * whole chip again.
 */
void flashrom_layout_set(struct flashrom_flashctx *flashctx, const struct flashrom_layout *layout);

/*
 * Write protection. A configuration is a value that can be made and asked; nothing is known here of
 * which bits protect which range of a chip, so that the three calls that reach for one return
 * FLASHROM_WP_ERR_CHIP_UNSUPPORTED and leave it alone.
 */

enum flashrom_wp_result {
	FLASHROM_WP_OK = 0,
	FLASHROM_WP_ERR_CHIP_UNSUPPORTED = 1,
	FLASHROM_WP_ERR_OTHER = 2,
	FLASHROM_WP_ERR_READ_FAILED = 3,
	FLASHROM_WP_ERR_WRITE_FAILED = 4,
	FLASHROM_WP_ERR_VERIFY_FAILED = 5,
	FLASHROM_WP_ERR_RANGE_UNSUPPORTED = 6,
	FLASHROM_WP_ERR_MODE_UNSUPPORTED = 7,
	FLASHROM_WP_ERR_RANGE_LIST_UNAVAILABLE = 8,
	FLASHROM_WP_ERR_UNSUPPORTED_STATE = 9,
};

enum flashrom_wp_mode {
	FLASHROM_WP_MODE_DISABLED,
	FLASHROM_WP_MODE_HARDWARE,
	FLASHROM_WP_MODE_POWER_CYCLE,
	FLASHROM_WP_MODE_PERMANENT,
};

struct flashrom_wp_cfg;
struct flashrom_wp_ranges;

/** Disabled, of no range. OK or FLASHROM_WP_ERR_OTHER; to be given back to the second, or NULL. */
enum flashrom_wp_result flashrom_wp_cfg_new(struct flashrom_wp_cfg **cfg);
void flashrom_wp_cfg_release(struct flashrom_wp_cfg *cfg);

void flashrom_wp_set_mode(struct flashrom_wp_cfg *cfg, enum flashrom_wp_mode mode);
enum flashrom_wp_mode flashrom_wp_get_mode(const struct flashrom_wp_cfg *cfg);
void flashrom_wp_set_range(struct flashrom_wp_cfg *cfg, size_t start, size_t len);
void flashrom_wp_get_range(size_t *start, size_t *len, const struct flashrom_wp_cfg *cfg);

enum flashrom_wp_result flashrom_wp_read_cfg(
	struct flashrom_wp_cfg *cfg, struct flashrom_flashctx *flashctx);
enum flashrom_wp_result flashrom_wp_write_cfg(
	struct flashrom_flashctx *flashctx, const struct flashrom_wp_cfg *cfg);
enum flashrom_wp_result flashrom_wp_get_available_ranges(
	struct flashrom_wp_ranges **ranges, struct flashrom_flashctx *flashctx);

/** No list comes into being here; these take NULL for an empty one. */
size_t flashrom_wp_ranges_get_count(const struct flashrom_wp_ranges *ranges);
enum flashrom_wp_result flashrom_wp_ranges_get_range(
	size_t *start, size_t *len, const struct flashrom_wp_ranges *ranges, unsigned int index);
void flashrom_wp_ranges_release(struct flashrom_wp_ranges *ranges);

#ifdef __cplusplus
}
#endif

#endif
