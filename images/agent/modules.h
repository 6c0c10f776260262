/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Parts of the guest's kernel that are files. */
#ifndef AGENT_MODULES_H
#define AGENT_MODULES_H

/* Loads all of a folder in the order of their names; there may be no such folder. 0 or -errno. */
int modules_load(const char *folder);

#endif
