/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef FWH_LOCKS_H
#define FWH_LOCKS_H

#include <stdbool.h>

#include "flash.h"

/*
 * The lock register of each 64 KiB block of an FWH part: write lock, read lock, and lock-down,
 * which keeps both as they are until the next reset. After a reset every block is write-locked.
 *
 * Read locks are lifted from open to close, because a write must read what it restores around its
 * range. Write locks are lifted only for a write. Both are restored from `flash->protection`.
 */

int fwh_locks_open(struct flash *flash);
int fwh_locks_close(struct flash *flash);
int fwh_unprotect(struct flash *flash, bool force);
int fwh_reprotect(struct flash *flash);

#endif
