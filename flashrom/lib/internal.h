/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIB_INTERNAL_H
#define LIB_INTERNAL_H

#include "flash.h"
#include "layout.h"
#include "libflashrom.h"
#include "libflashrom_rig.h"
#include "log.h"
#include "programmer.h"

/** A log that passes messages to the log callback that is currently set. */
extern const struct log caller_log;

struct flashrom_programmer {
	struct programmer *base;
};

struct flashrom_layout {
	struct layout base;
};

#define FLAGS_COUNT (FLASHROM_FLAG_SKIP_UNWRITABLE_REGIONS + 1)

/** The receiver of progress: either kind of callback, or none. */
struct progress_listener {
	flashrom_progress_callback *callback;
	struct flashrom_progress *state;
	flashrom_progress_callback_v2 *callback_v2;
	void *user_data;
};

struct flashrom_flashctx {
	struct flash flash;
	struct progress progress;
	struct progress_listener listener;
	const struct flashrom_layout *layout; /* NULL: the whole chip */
	bool flags[FLAGS_COUNT];
	bool realtime;
};

#endif
