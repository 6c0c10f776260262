/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef PRIORITY_H
#define PRIORITY_H

#include "log.h"
#include "realtime.h"

/**
 * Ask for realtime priority, and say so if that may not be: nothing depends on it. Not in a build
 * that polls long enough to shut others out. `found` is for priority_restore(). For those who were
 * told to: the command line, and users of the library who asked for it.
 */
void priority_raise(const struct log *log, struct realtime *found);

/** Back to what was found, from the same thread. */
void priority_restore(const struct log *log, const struct realtime *found);

#endif
