/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The moment at which the subject opens a file that leads to its programmer, such as /dev/mem. The
 * agent has a higher priority on the same core, so the subject continues after the agent is done.
 */
#ifndef AGENT_OPENING_H
#define AGENT_OPENING_H

/*
 * Returns a descriptor that becomes readable when one of the files is opened, or a negative errno.
 * @paths has one path a line, and is changed. -ENOENT: a file does not exist.
 */
int opening_watch(char *paths);

#endif
