/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The kernel's own tracing, set up word for word as the cell asks for it.
 *
 * Source: Linux Documentation/trace/ftrace and Documentation/trace/uprobetracer.
 */
#ifndef AGENT_TRACING_H
#define AGENT_TRACING_H

#include "spec.h"

/*
 * Writes what the spec asks for to the files of tracefs, in its order. Then TRACING_CHILDREN
 * processes call the functions below TRACING_CALLS times each: a probe on one tells what a probe
 * costs, and what the first one in a process does.
 * Returns 0, also where nothing was asked for, or a negative errno; `failed` is then the file's
 * name.
 */
#define TRACING_CHILDREN 8
#define TRACING_CALLS 8
int tracing_start(const struct spec *spec, const char **failed);

/*
 * Ends tracing, and copies what was recorded to the new file `path`; 0 or a negative errno.
 * Does nothing where nothing was asked for.
 */
int tracing_save(const struct spec *spec, const char *path);

/*
 * Return at once. The first begins with an instruction that a probe steps over, the second with one
 * that the kernel emulates, which costs less; the cell has the one probed that its subject's delay
 * function is like. Elsewhere than on x86-64 they are the same.
 */
void tracing_nothing(unsigned int us);
void tracing_nothing_pushed(unsigned int us);

#endif
