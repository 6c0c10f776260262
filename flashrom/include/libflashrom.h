/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The public interface of flashrom 1.x as a shared library: names, values and calling conventions
 * are flashrom's (its 1.4, and what later versions added for logging and progress), so that a
 * program built for one library runs with the other. The implementation is this tree's.
 *
 * Calls that concern one programmer, and the contexts found through it, belong to one thread at a
 * time. Different programmers may be used from different threads. The process has one log callback,
 * since neither flashrom_init() nor flashrom_programmer_init() takes one: set it before other
 * threads use the library, and make it safe for several threads if several use the library.
 *
 * The library installs no signal handler, starts no thread and no process, and changes the
 * scheduling only if flashrom_rig_set_realtime() asks for it. Signals that the application handles
 * neither shorten a wait nor fail a call.
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
 * Must be called first. Unless `perform_selfcheck` is 0, tests the chip table and one short wait,
 * which must not end early. Returns 0, or 1 if a check fails.
 */
int flashrom_init(int perform_selfcheck);

/** Must be called last. Removes the log callback. Returns 0. */
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

/** Gets a message as vprintf() does. A line may take several calls. The result is ignored. */
typedef int(flashrom_log_callback)(enum flashrom_log_level, const char *format, va_list);

/** Gets a message as text, which is valid only during the call. */
typedef void(flashrom_log_callback_v2)(
	enum flashrom_log_level, const char *message, void *user_data);

/** Set the receiver of messages; NULL, as at first: none. Either call replaces what both set. */
void flashrom_set_log_callback(flashrom_log_callback *log_callback);
void flashrom_set_log_callback_v2(flashrom_log_callback_v2 *log_callback, void *user_data);

/** Passes on only messages up to this level from now on. At first all are passed on. */
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
	} tested; /* NT (not tested), since the rig only emulates these parts; `wp`: NA */
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

/** Returns the version, which must not be freed. */
const char *flashrom_version_info(void);

/**
 * Return lists that end with NULL or an entry of zeros; NULL if out of memory. Free them with
 * flashrom_data_free(). The lists of boards and chipsets are empty here.
 */
const char **flashrom_supported_programmers(void);
struct flashrom_flashchip_info *flashrom_supported_flash_chips(void);
struct flashrom_board_info *flashrom_supported_boards(void);
struct flashrom_chipset_info *flashrom_supported_chipsets(void);

/** Frees a list of a function above, or NULL. Returns 0. */
int flashrom_data_free(void *p);

/* Programmers */

struct flashrom_programmer;

/**
 * Opens a programmer, such as "serprog" with the parameters "ip=localhost:2000" (NULL: none), as in
 * -p serprog:ip=localhost:2000. Several may be open at a time. Returns 0 and the programmer, or 1.
 */
int flashrom_programmer_init(
	struct flashrom_programmer **flashprog, const char *prog_name, const char *prog_params);

/** Closes a programmer, or NULL. Release its contexts before. Returns 0. */
int flashrom_programmer_shutdown(struct flashrom_programmer *flashprog);

/* Chips */

struct flashrom_flashctx;

/**
 * Looks for the chip `chip_name`, or for any with NULL. Returns 0 and a context, which must be
 * released with flashrom_flash_release(); 3 if several chips match, 2 if none does (or none has
 * that name), 1 on any other error.
 */
int flashrom_flash_probe(struct flashrom_flashctx **flashctx,
	const struct flashrom_programmer *flashprog, const char *chip_name);

/** Returns the chip's size in bytes. */
size_t flashrom_flash_getsize(const struct flashrom_flashctx *flashctx);

/**
 * Erases the chip, or the included regions of its layout, and verifies that. Returns 0, or 1 on any
 * error.
 */
int flashrom_flash_erase(struct flashrom_flashctx *flashctx);

/** Frees a context, or NULL. */
void flashrom_flash_release(struct flashrom_flashctx *flashctx);

/** In a new context all flags are off, so a write is not verified. */
enum flashrom_flag {
	FLASHROM_FLAG_FORCE,               /* continue if write protection stays */
	FLASHROM_FLAG_FORCE_BOARDMISMATCH, /* stored, without effect: there are no boards */
	FLASHROM_FLAG_VERIFY_AFTER_WRITE,
	FLASHROM_FLAG_VERIFY_WHOLE_CHIP,       /* also the rest of the regions' erase blocks */
	FLASHROM_FLAG_SKIP_UNREADABLE_REGIONS, /* stored, without effect: all regions can be read */
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

/** The library sets the first three fields before each call. */
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
 * Set a function that gets the progress of a call, in bytes. A stage begins with 0 and ends, unless
 * the call fails, with `total`; `current` only grows and `total` stays. A write reads, erases and
 * writes by turns, and reads again if it verifies; a stage with nothing to do is not reported. The
 * function runs within the call and must not use its context. Either call replaces what both set;
 * NULL ends the reports.
 */
void flashrom_set_progress_callback(struct flashrom_flashctx *flashctx,
	flashrom_progress_callback *progress_callback, struct flashrom_progress *progress_state);
void flashrom_set_progress_callback_v2(struct flashrom_flashctx *flashctx,
	flashrom_progress_callback_v2 *progress_callback, void *user_data);

/* Images. All buffers have the size of the whole chip, even if a layout includes only a part. */

/**
 * Reads the chip, or the included regions; the rest of the buffer stays as it is. Returns 0; 2 if
 * the buffer is too small, 1 on any other error.
 */
int flashrom_image_read(struct flashrom_flashctx *flashctx, void *buffer, size_t buffer_len);

/**
 * Erases and programs what differs. `refbuffer` is the present content of the chip, if it is known,
 * which is then not read; else NULL. `buffer` is not changed.
 *
 * Returns 0; 4 if `buffer_len` is not the size of the chip; 3 if the chip is write-protected and
 * unchanged; 2 if the write or its verification failed and the chip has changed; 1 on any other
 * error, with the chip unchanged.
 */
int flashrom_image_write(
	struct flashrom_flashctx *flashctx, void *buffer, size_t buffer_len, const void *refbuffer);

/** Returns 0; 3 if the contents differ, 2 if the size is wrong, 1 on any other error. */
int flashrom_image_verify(
	struct flashrom_flashctx *flashctx, const void *buffer, size_t buffer_len);

/* Layouts: the part of a chip that a call covers. */

struct flashrom_layout;

/** Returns 0 and an empty layout for flashrom_layout_release(), or 1 if out of memory. */
int flashrom_layout_new(struct flashrom_layout **layout);

/** Adds a region; `end` is its last address. Returns 0; 1 if out of memory or not a valid range. */
int flashrom_layout_add_region(
	struct flashrom_layout *layout, size_t start, size_t end, const char *name);

/** At first no region is included. Return 0, or 1 if there is none of that name. */
int flashrom_layout_include_region(struct flashrom_layout *layout, const char *name);
int flashrom_layout_exclude_region(struct flashrom_layout *layout, const char *name);

/** Returns 0, or 1 if there is none of that name. */
int flashrom_layout_get_region_range(
	struct flashrom_layout *layout, const char *name, unsigned int *start, unsigned int *len);

/** Not implemented here: logs that and returns 6. */
int flashrom_layout_read_from_ifd(struct flashrom_layout **layout,
	struct flashrom_flashctx *flashctx, const void *dump, size_t len);

/** Not implemented here: log that and return 3. */
int flashrom_layout_read_fmap_from_rom(struct flashrom_layout **layout,
	struct flashrom_flashctx *flashctx, size_t offset, size_t length);
int flashrom_layout_read_fmap_from_buffer(struct flashrom_layout **layout,
	struct flashrom_flashctx *flashctx, const uint8_t *buffer, size_t len);

/** Frees a layout that no context uses, or NULL. */
void flashrom_layout_release(struct flashrom_layout *layout);

/**
 * Limits calls to the included regions; if none is included, they do nothing. NULL selects the
 * whole chip again.
 */
void flashrom_layout_set(struct flashrom_flashctx *flashctx, const struct flashrom_layout *layout);

/*
 * Write protection. A configuration is a value that can be set and read. The library does not know
 * which bits protect which range of a chip, so the three calls that need a chip leave it alone and
 * return FLASHROM_WP_ERR_CHIP_UNSUPPORTED.
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

/** Creates a disabled configuration of no range, or returns FLASHROM_WP_ERR_OTHER. */
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

/** No list is ever created here; these functions take NULL for an empty one. */
size_t flashrom_wp_ranges_get_count(const struct flashrom_wp_ranges *ranges);
enum flashrom_wp_result flashrom_wp_ranges_get_range(
	size_t *start, size_t *len, const struct flashrom_wp_ranges *ranges, unsigned int index);
void flashrom_wp_ranges_release(struct flashrom_wp_ranges *ranges);

#ifdef __cplusplus
}
#endif

#endif
