/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The plugin's own thread: writes the trace, a window at a time, and takes commands.
 *
 * Commands come to a unix datagram socket, one a datagram. A sender with an address of its own is
 * answered `ok T_NS`, the moment of the change, or `error TEXT`.
 */
#ifndef EMULATORS_CPU_SERVICE_H
#define EMULATORS_CPU_SERVICE_H

#include "core.h"
#include "options.h"
#include "trace.h"

struct service;

/*
 * Opens what the options name and starts the thread; @cores and @options must stay. On failure
 * negative errno, and @error (OPTIONS_ERROR_BYTES) says which file it is.
 */
int service_create(struct service **service, struct core *cores, const struct trace_host *host,
	const struct options *options, uint64_t start_ns, char *error);

/* Ends the thread, and the trace with a last window. */
void service_destroy(struct service *service);

#endif
