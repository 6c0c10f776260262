/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The moment at which the subject opens a file that leads to its programmer, such as /dev/mem. The
 * agent is above the subject on its core, so that the subject goes on when the agent is done.
 */
#ifndef AGENT_OPENING_H
#define AGENT_OPENING_H

/*
 * A descriptor that has something to read once one of the files was opened; @paths has a line for
 * each, and is taken apart in place. A negative errno: -ENOENT where one is not there.
 */
int opening_watch(char *paths);

#endif
