/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef FWH_H
#define FWH_H

#include "flash.h"

/* Firmware hubs with Intel's commands: 82802AB, M50FW040 and similar parts. */

extern const struct chip_driver fwh_driver;

/** 90h: manufacturer and device (0x89ad). It ends in read-array mode, also after an error. */
extern const struct identify_method fwh_id;

/*
 * The lock register of each 64 KiB block of an FWH part, with any commands: write lock, read lock,
 * and lock-down, which keeps both as they are until the next reset. After a reset every block is
 * write-locked.
 *
 * Read locks are lifted from open to close, because a write must read what it restores around its
 * range. Write locks are lifted only for a write. Both are restored from `flash->protection`.
 */
int fwh_locks_open(struct flash *flash);
int fwh_locks_close(struct flash *flash);
int fwh_unprotect(struct flash *flash, bool force);
int fwh_reprotect(struct flash *flash);

#endif
