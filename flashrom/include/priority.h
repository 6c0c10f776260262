/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef PRIORITY_H
#define PRIORITY_H

#include "log.h"
#include "realtime.h"

/**
 * Asks for realtime priority, and logs if that is refused, which is no error. A build that polls
 * long enough to block other programs does not ask. `found` is for priority_restore(). Callers are
 * the command line, and the library if its user asked for it.
 */
void priority_raise(const struct log *log, struct realtime *found);

/** Restores the priority that was found, in the same thread. */
void priority_restore(const struct log *log, const struct realtime *found);

#endif
