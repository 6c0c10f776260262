/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One session with the library, from flashrom_init() to flashrom_shutdown(). */
#ifndef LIBRARY_CLIENT_SESSION_H
#define LIBRARY_CLIENT_SESSION_H

#include "options.h"

/*
 * Does the job, then asks the delay function where it is told to. What the library says goes to
 * standard output, and so does what failed. Returns 0, or -EIO where a call of the library failed.
 */
int session_run(const struct options *options);

#endif
